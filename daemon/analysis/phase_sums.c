#include "daemon/analysis/phase_sums.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/key_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct phase_edge) == sizeof(struct key) + sizeof(struct phase_sum),
               "an edge is a key and its sum");

#define KEPT (1u << 18) /* of so many edges the room for sums is kept: 4 MiB */
#define GROUP 64u       /* places that are looked at together */

static void finish_room(struct phase_sums *sums)
{
    free(sums->of);
    free(sums->touched);
    sums->of = NULL;
    sums->touched = NULL;
    sums->room = 0;
}

void phase_sums_finish(struct phase_sums *sums)
{
    finish_room(sums);
    free(sums->by_key);
    free(sums->place);
    *sums = (struct phase_sums){0};
}

static size_t groups_of(size_t places)
{
    return (places + GROUP - 1) / GROUP;
}

static int fit_room(struct phase_sums *sums, size_t places)
{
    size_t groups = groups_of(places);
    if (places <= sums->room && sums->of != NULL)
        return 0;
    finish_room(sums);
    sums->of = calloc(groups * GROUP + 1, sizeof(*sums->of));
    sums->touched = calloc(groups + 1, sizeof(*sums->touched));
    if (sums->of == NULL || sums->touched == NULL) {
        finish_room(sums);
        return -ENOMEM;
    }
    sums->room = groups * GROUP;
    return 0;
}

/* As edges are ordered: by source and destination, then by what they send. */
static uint64_t ranks_of(const struct key *key)
{
    struct phase_edge edge;
    memcpy(&edge, key, sizeof(*key));
    return (uint64_t)edge.source << 32 | edge.destination;
}

static uint64_t kind_of(const struct key *key)
{
    struct phase_edge edge;
    memcpy(&edge, key, sizeof(*key));
    return (uint64_t)edge.modelled << 32 | edge.size_class;
}

static bool precedes(const struct key_table *edges, uint32_t left, uint32_t right)
{
    const struct key *a = &edges->keys[left], *b = &edges->keys[right];
    return a->hi != b->hi ? ranks_of(a) < ranks_of(b) : kind_of(a) < kind_of(b);
}

/* Those between the same two ranks, by what they send. */
static void order_kinds(struct key_place *places, struct key_place *spare, size_t count,
                        const struct key_table *edges)
{
    for (size_t from = 0, end; from < count; from = end) {
        for (end = from + 1; end < count && places[end].key == places[from].key;)
            end++;
        if (end - from == 1)
            continue;
        for (size_t i = from; i < end; i++)
            places[i].key = kind_of(&edges->keys[places[i].place]);
        struct key_place *sorted = key_order(places + from, spare + from, end - from);
        if (sorted != places + from)
            memcpy(places + from, sorted, (end - from) * sizeof(*places));
    }
}

/* Put edges that are new since the last time in their places: sorted, then merged with the others from
 * the back. @return 0 or -ENOMEM */
static int order_edges(struct phase_sums *sums, const struct key_table *edges)
{
    uint32_t count = edges->count, old = sums->ordered;
    size_t fresh = count - old;
    if (fresh == 0)
        return 0;
    struct key_place *places = malloc(2 * fresh * sizeof(*places)), *sorted = places;
    uint32_t *by_key = places == NULL ? NULL : realloc(sums->by_key, count * sizeof(*by_key));
    sums->by_key = by_key != NULL ? by_key : sums->by_key;
    uint32_t *place = by_key == NULL ? NULL : realloc(sums->place, count * sizeof(*place));
    sums->place = place != NULL ? place : sums->place;
    if (place == NULL) {
        free(places);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < fresh; i++)
        places[i] = (struct key_place){ranks_of(&edges->keys[old + i]), old + i};
    sorted = key_order(places, places + fresh, fresh);
    order_kinds(sorted, sorted == places ? places + fresh : places, fresh, edges);
    for (uint32_t at = count, i = (uint32_t)fresh, j = old; i > 0;) {
        bool from_old = j > 0 && precedes(edges, sorted[i - 1].place, by_key[j - 1]);
        by_key[--at] = from_old ? by_key[--j] : sorted[--i].place;
    }
    for (uint32_t i = 0; i < count; i++)
        place[by_key[i]] = i;
    sums->ordered = count;
    free(places);
    return 0;
}

int phase_sums_begin(struct phase_sums *sums, const struct key_table *edges)
{
    sums->rows = 0;
    int code = fit_room(sums, edges->count);
    return code != 0 ? code : order_edges(sums, edges);
}

void phase_sums_add(struct phase_sums *sums, const struct phase_pool *pool,
                    const struct phase_list *list)
{
    uint32_t block = list->first;
    sums->rows += list->rows;
    for (uint32_t left = list->rows; left > 0; block = pool->after[block]) {
        const struct phase_row *row = phase_block(pool, block);
        uint32_t here = left < PHASE_BLOCK ? left : PHASE_BLOCK;
        left -= here;
        for (uint32_t i = 0; i < here; i++) {
            uint32_t place = sums->place[row[i].edge];
            sums->touched[place / GROUP] = true;
            sums->of[place].messages += row[i].messages;
            sums->of[place].bytes += row[i].bytes;
        }
    }
}

/* At least as many as there are edges, and not many more. */
static size_t most_edges(const struct phase_sums *sums)
{
    size_t groups = groups_of(sums->ordered), most = 0;
    for (size_t i = 0; i < groups; i++)
        most += sums->touched[i] ? GROUP : 0;
    return most < sums->rows ? most : (size_t)sums->rows;
}

/* List the sums of a group of places, which are 0 then. @return how many */
static size_t take_group(const struct phase_sums *sums, size_t group, const struct key_table *edges,
                         struct phase_edge *out)
{
    size_t first = group * GROUP, left = sums->ordered - first;
    struct phase_sum *sum = sums->of + first;
    struct phase_edge *to = out;
    const uint32_t *edge = sums->by_key + first, *end = edge + (left < GROUP ? left : GROUP);
    for (; edge < end; edge++, sum++) {
        if (sum->messages == 0)
            continue; /* each row has some */
        memcpy(to, &edges->keys[*edge], sizeof(struct key));
        memcpy(&to->messages, sum, sizeof(*sum));
        to++;
        *sum = (struct phase_sum){0};
    }
    sums->touched[group] = false;
    return (size_t)(to - out);
}

/* Without memory for its edges. */
static void forget_group(const struct phase_sums *sums, size_t group)
{
    memset(sums->of + group * GROUP, 0, GROUP * sizeof(*sums->of));
    sums->touched[group] = false;
}

int phase_sums_end(struct phase_sums *sums, const struct key_table *edges, struct phase_graph *out)
{
    size_t groups = groups_of(sums->ordered);
    int code = array_fit(&out->edges, sizeof(*out->edges), &out->room, most_edges(sums));
    out->count = 0;
    for (size_t i = 0; i < groups; i++) {
        if (sums->touched[i] && code == 0)
            out->count += take_group(sums, i, edges, out->edges + out->count);
        else if (sums->touched[i])
            forget_group(sums, i);
    }
    for (size_t i = 0; i < out->count; i++) {
        out->messages += out->edges[i].messages;
        out->bytes += out->edges[i].bytes;
    }
    if (sums->room > KEPT)
        finish_room(sums);
    return code;
}

size_t phase_sums_bytes(const struct phase_sums *sums)
{
    return 2 * sizeof(uint32_t) * (size_t)sums->ordered + sums->room * (sizeof(*sums->of)) +
           groups_of(sums->room);
}
