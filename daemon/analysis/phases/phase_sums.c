#include "daemon/analysis/phases/phase_sums.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct phase_edge) == sizeof(struct key) + sizeof(struct phase_sum),
               "an edge is a key and its sum");

#define KEPT (1u << 18)  /* of so many edges the room for sums is kept: 4 MiB a tally */
#define GROUP 64u        /* edges that are looked at together */
#define SPARSE_SHARE 16u /* of all edges: where fewer were touched they are sorted */

/* ---- tallies ---------------------------------------------------------------------- */

static void tally_finish(struct phase_tally *t)
{
    free(t->of);
    free(t->touched);
    *t = (struct phase_tally){0};
}

static size_t groups_of(size_t edges)
{
    return (edges + GROUP - 1) / GROUP;
}

/* What was there is lost. */
static int tally_fit(struct phase_tally *t, size_t edges)
{
    size_t groups = groups_of(edges + edges / 8 + 1);
    if (edges <= t->room && t->of != NULL)
        return 0;
    tally_finish(t);
    t->of = calloc(groups * GROUP, sizeof(*t->of));
    t->touched = calloc(groups, sizeof(*t->touched));
    if (t->of == NULL || t->touched == NULL) {
        tally_finish(t);
        return -ENOMEM;
    }
    t->room = groups * GROUP;
    return 0;
}

static void clear_group(struct phase_tally *t, size_t group)
{
    memset(t->of + group * GROUP, 0, GROUP * sizeof(*t->of));
    t->touched[group] = false;
}

static void tally_clear(struct phase_tally *t)
{
    for (size_t i = 0, groups = groups_of(t->room); i < groups; i++)
        if (t->touched[i])
            clear_group(t, i);
}

/* Edges that have come: each row has some messages. */
static size_t tally_count(const struct phase_tally *t)
{
    size_t count = 0;
    for (size_t i = 0, groups = groups_of(t->room); i < groups; i++)
        for (size_t e = i * GROUP; t->touched[i] && e < (i + 1) * GROUP; e++)
            count += t->of[e].messages > 0;
    return count;
}

static bool tally_is_same(const struct phase_tally *a, const struct phase_tally *b)
{
    size_t groups = groups_of(a->room);
    if (a->room != b->room || memcmp(a->touched, b->touched, groups * sizeof(*a->touched)) != 0)
        return false;
    for (size_t i = 0; i < groups; i++)
        if (a->touched[i] &&
            memcmp(a->of + i * GROUP, b->of + i * GROUP, GROUP * sizeof(*a->of)) != 0)
            return false;
    return true;
}

static size_t tally_bytes(const struct phase_tally *t)
{
    return t->room * sizeof(*t->of) + groups_of(t->room) * sizeof(*t->touched);
}

/* ---- what is there ----------------------------------------------------------------- */

/* Those that there are now become those of a kept graph. */
static void keep_marks(struct phase_sums *sums, struct phase_kept *kept)
{
    struct phase_marks old = kept->marks;
    kept->marks = sums->marks;
    sums->marks = old;
}

static void finish_tallies(struct phase_sums *sums)
{
    tally_finish(&sums->now);
    phase_marks_finish(&sums->marks);
    for (uint32_t i = 0; i < PHASE_SUMS_KEPT; i++) {
        tally_finish(&sums->kept[i].tally);
        phase_marks_finish(&sums->kept[i].marks);
        phase_graph_finish(&sums->kept[i].graph);
    }
}

void phase_sums_finish(struct phase_sums *sums)
{
    finish_tallies(sums);
    phase_stretches_finish(&sums->stretches);
    free(sums->by_key);
    free(sums->place);
    *sums = (struct phase_sums){0};
}

/* ---- the order of edges ------------------------------------------------------------- */

/* As edges are ordered: by source and destination, then by what they send. */
static uint64_t phase_sums_ranks_of(const struct key *key)
{
    struct phase_edge edge;
    memcpy(&edge, key, sizeof(*key));
    return (uint64_t)edge.source << 32 | edge.destination;
}

static uint64_t phase_sums_kind_of(const struct key *key)
{
    struct phase_edge edge;
    memcpy(&edge, key, sizeof(*key));
    return (uint64_t)edge.modelled << 32 | edge.size_class;
}

static bool phase_sums_precedes(const struct key_table *edges, uint32_t left, uint32_t right)
{
    const struct key *a = &edges->keys[left], *b = &edges->keys[right];
    return a->hi != b->hi ? phase_sums_ranks_of(a) < phase_sums_ranks_of(b)
                          : phase_sums_kind_of(a) < phase_sums_kind_of(b);
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
            places[i].key = phase_sums_kind_of(&edges->keys[places[i].place]);
        struct key_place *sorted = key_order(places + from, spare + from, end - from);
        if (sorted != places + from)
            memcpy(places + from, sorted, (end - from) * sizeof(*places));
    }
}

/* Put edges that are new since the last time in their places: sorted, then merged with the others
 * from the back. @return 0 or -ENOMEM */
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
        places[i] = (struct key_place){phase_sums_ranks_of(&edges->keys[old + i]), old + i};
    sorted = key_order(places, places + fresh, fresh);
    order_kinds(sorted, sorted == places ? places + fresh : places, fresh, edges);
    for (uint32_t at = count, i = (uint32_t)fresh, j = old; i > 0;) {
        bool from_old = j > 0 && phase_sums_precedes(edges, sorted[i - 1].place, by_key[j - 1]);
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
    int code = tally_fit(&sums->now, edges->count);
    code = code != 0 ? code : order_edges(sums, edges);
    if (code != 0)
        phase_marks_clear(&sums->marks);
    return code;
}

/* ---- adding up ---------------------------------------------------------------------- */

/* In loops of their own where rows are there once, as they nearly always are, or are taken away. */
static inline __attribute__((always_inline)) void
tally_add_times(struct phase_tally t, const struct phase_row *row, uint32_t rows, uint64_t times)
{
    for (const struct phase_row *end = row + rows; row < end; row++) {
        struct phase_sum *sum = &t.of[row->edge];
        t.touched[row->edge / GROUP] = true;
        sum->messages += times * row->messages;
        sum->bytes += times * row->bytes;
    }
}

/* @param times  so often; modulo 2^64, so that they can be taken away as well */
static void tally_add(const struct phase_tally *t, const struct phase_row *row, uint32_t rows,
                      uint64_t times)
{
    if (times == 1)
        tally_add_times(*t, row, rows, 1);
    else if (times == UINT64_MAX)
        tally_add_times(*t, row, rows, UINT64_MAX);
    else
        tally_add_times(*t, row, rows, times);
}

void phase_sums_add(struct phase_sums *sums, const struct phase_pool *pool,
                    const struct phase_list *list)
{
    for (uint32_t block = list->first; block != PHASE_BLOCK_NONE;) {
        const struct phase_link *link = &pool->links[block];
        tally_add(&sums->now, phase_block(pool, block), link->rows, link->times);
        block = block == list->last ? PHASE_BLOCK_NONE : link->after;
    }
}

/* ---- listing ------------------------------------------------------------------------ */

static struct phase_edge edge_of(const struct phase_sums *sums, const struct key_table *edges,
                                 uint32_t edge)
{
    struct phase_edge out;
    memcpy(&out, &edges->keys[edge], sizeof(struct key));
    memcpy(&out.messages, &sums->now.of[edge], sizeof(struct phase_sum));
    return out;
}

/* Edges by their places. */
static void list_all(const struct phase_sums *sums, const struct key_table *edges,
                     struct phase_edge *out)
{
    for (uint32_t i = 0; i < sums->ordered; i++)
        if (sums->now.of[sums->by_key[i]].messages > 0)
            *out++ = edge_of(sums, edges, sums->by_key[i]);
}

/* The same, where it is less to sort those that came than to look at all. @return 0 or -ENOMEM */
static int list_few(const struct phase_sums *sums, const struct key_table *edges, size_t count,
                    struct phase_edge *out)
{
    struct key_place *places = malloc((2 * count + 1) * sizeof(*places)), *sorted;
    size_t at = 0;
    if (places == NULL)
        return -ENOMEM;
    for (size_t i = 0, groups = groups_of(sums->ordered); i < groups; i++)
        for (size_t e = i * GROUP; sums->now.touched[i] && e < (i + 1) * GROUP; e++)
            if (sums->now.of[e].messages > 0)
                places[at++] = (struct key_place){sums->place[e], (uint32_t)e};
    sorted = key_order(places, places + count, count);
    for (size_t i = 0; i < count; i++)
        out[i] = edge_of(sums, edges, sorted[i].place);
    free(places);
    return 0;
}

static int list_edges(const struct phase_sums *sums, const struct key_table *edges,
                      struct phase_graph *out)
{
    size_t count = tally_count(&sums->now);
    struct phase_edge *to = phase_graph_room(out, count > 0 ? count : 1);
    int code = to == NULL ? -ENOMEM : 0;
    if (code == 0 && count < sums->ordered / SPARSE_SHARE)
        code = list_few(sums, edges, count, to);
    else if (code == 0)
        list_all(sums, edges, to);
    if (code != 0)
        return code;
    out->count = count;
    out->messages = out->bytes = 0;
    for (size_t i = 0; i < count; i++) {
        out->messages += to[i].messages;
        out->bytes += to[i].bytes;
    }
    return 0;
}

/* ---- merging ------------------------------------------------------------------------ */

static void append_rows(struct phase_pool *pool, struct phase_list *out,
                        const struct phase_row *rows, size_t count)
{
    for (size_t some; count > 0; count -= some, rows += some) {
        struct phase_row *to = phase_list_extend(pool, out, count, &some);
        memcpy(to, rows, some * sizeof(*rows));
    }
}

/* Rows of a group of edges, behind those of earlier ones. @return what no row has more messages
 * than */
static uint32_t append_group(const struct phase_sum *of, size_t first, struct phase_pool *pool,
                             struct phase_list *out, struct phase_excess *excess)
{
    struct phase_row rows[GROUP];
    uint64_t bits = 0; /* as high as the highest, and not twice as high */
    size_t count = 0;
    for (size_t i = 0; i < GROUP; i++) {
        bits |= of[i].messages;
        rows[count] =
            (struct phase_row){(uint32_t)(first + i), (uint32_t)of[i].messages, of[i].bytes};
        count += of[i].messages > 0;
    }
    if (bits <= UINT32_MAX) {
        append_rows(pool, out, rows, count);
        return (uint32_t)bits;
    }
    for (size_t i = 0; i < GROUP; i++)
        if (of[i].messages > 0)
            phase_list_append(pool, out, (uint32_t)(first + i), of[i].messages, of[i].bytes,
                              excess);
    return UINT32_MAX;
}

/* Rows of all edges that have come; none has after that, cleared group by group while they are at
 * hand.
 * @return what no row has more messages than */
static uint32_t append_all(struct phase_tally *t, struct phase_pool *pool, struct phase_list *out,
                           struct phase_excess *excess)
{
    uint32_t high = 0;
    for (size_t i = 0, groups = groups_of(t->room); i < groups; i++) {
        if (!t->touched[i])
            continue;
        high |= append_group(t->of + i * GROUP, i * GROUP, pool, out, excess);
        clear_group(t, i);
    }
    return high;
}

void phase_sums_merge(struct phase_sums *sums, const struct key_table *edges,
                      struct phase_pool *pool, struct phase_list *to, struct phase_list *from,
                      struct phase_excess *excess)
{
    if (to->runs + from->runs <= 2 || edges->count > KEPT ||
        tally_fit(&sums->now, edges->count) != 0) {
        phase_list_merge(pool, to, from, excess);
        return;
    }
    phase_sums_add(sums, pool, to);
    phase_sums_add(sums, pool, from);
    phase_list_clear(pool, to); /* so that there are blocks for no fewer rows than come of them */
    phase_list_clear(pool, from);
    uint32_t high = append_all(&sums->now, pool, to, excess);
    phase_list_complete(pool, to, high);
}

/* ---- what is kept ------------------------------------------------------------------- */

/* @return the place of a graph with the sums that there are now; PHASE_SUMS_KEPT: there is none */
static uint32_t find_kept(const struct phase_sums *sums)
{
    uint32_t i = 0;
    while (i < PHASE_SUMS_KEPT &&
           (sums->kept[i].graph.owned == NULL || !tally_is_same(&sums->now, &sums->kept[i].tally)))
        i++;
    return i;
}

static void put_first(struct phase_sums *sums, uint32_t at)
{
    struct phase_kept first = sums->kept[at];
    memmove(&sums->kept[1], &sums->kept[0], at * sizeof(first));
    sums->kept[0] = first;
}

/* The sums that there are now become those of a kept graph, in place of the one that was not asked
 * for longest. Its edges' room is used again, where nobody else has them. @return 0 or -ENOMEM */
static int phase_sums_store(struct phase_sums *sums, const struct key_table *edges)
{
    put_first(sums, PHASE_SUMS_KEPT - 1);
    struct phase_kept *kept = &sums->kept[0];
    int code = list_edges(sums, edges, &kept->graph);
    if (code != 0) {
        phase_graph_finish(&kept->graph);
        return code;
    }
    struct phase_tally now = sums->now;
    sums->now = kept->tally;
    kept->tally = now;
    return 0;
}

/* Of a graph that has no edges yet; what else it tells stays. */
static void phase_sums_publish_graph(const struct phase_graph *kept, struct phase_graph *out)
{
    struct phase_graph told = {0};
    phase_graph_share(&told, kept); /* no memory is needed: they are owned */
    out->edges = told.edges;
    out->owned = told.owned;
    out->count = told.count;
    out->messages = told.messages;
    out->bytes = told.bytes;
}

void phase_sums_mark(struct phase_sums *sums, const struct phase_pool *pool,
                     const struct phase_list *list)
{
    phase_marks_add(&sums->marks, pool, list);
}

static bool has_no_sums(const struct phase_tally *t)
{
    uint64_t bits = 0;
    for (size_t i = 0, groups = groups_of(t->room); i < groups && bits == 0; i++)
        for (size_t e = i * GROUP; t->touched[i] && e < (i + 1) * GROUP; e++)
            bits |= t->of[e].messages | t->of[e].bytes;
    return bits == 0;
}

/* Do the blocks that only one of two has add up to the same in both? Sums are modulo 2^64. */
static bool have_same_sums(struct phase_sums *sums, const struct phase_store *store,
                           const struct phase_marks *one, const struct phase_marks *other)
{
    struct phase_difference d = phase_marks_compare(one, other);
    const struct key_place *block;
    int side;
    while ((block = phase_difference_next(&d, &side)) != NULL) {
        const struct phase_row *rows = phase_store_rows(store, block->place);
        tally_add(&sums->now, rows, store->places[block->place].rows, side == 1 ? UINT64_MAX : 1);
    }
    bool same = has_no_sums(&sums->now);
    if (same) /* it is as if no edge had come */
        memset(sums->now.touched, 0, groups_of(sums->now.room) * sizeof(*sums->now.touched));
    else
        tally_clear(&sums->now);
    return same;
}

/* Are the sums of what was noted those of a kept graph? Mostly not only these are the same, but the
 * rows. */
static bool do_match(struct phase_sums *sums, const struct key_table *edges,
                     const struct phase_store *store, const struct phase_marks *kept)
{
    return phase_marks_have_same_rows(&sums->stretches, store, &sums->marks, kept) ||
           (tally_fit(&sums->now, edges->count) == 0 &&
            have_same_sums(sums, store, &sums->marks, kept));
}

bool phase_sums_recall(struct phase_sums *sums, const struct key_table *edges,
                       const struct phase_pool *pool, struct phase_graph *out)
{
    const struct phase_store *store = &pool->store;
    phase_marks_sort(&sums->marks);
    for (uint32_t i = 0; edges->count <= KEPT && i < PHASE_SUMS_KEPT; i++) {
        struct phase_kept *kept = &sums->kept[i];
        if (kept->graph.owned == NULL ||
            !phase_marks_can_compare(store, &sums->marks, &kept->marks) ||
            !do_match(sums, edges, store, &kept->marks))
            continue;
        put_first(sums, i);
        keep_marks(sums, &sums->kept[0]);
        phase_marks_clear(&sums->marks);
        phase_sums_publish_graph(&sums->kept[0].graph, out);
        return true;
    }
    return false;
}

int phase_sums_end(struct phase_sums *sums, const struct key_table *edges, struct phase_graph *out)
{
    int code = 0;
    if (sums->ordered > KEPT) {
        code = list_edges(sums, edges, out);
        finish_tallies(sums);
        return code;
    }
    uint32_t at = find_kept(sums);
    if (at < PHASE_SUMS_KEPT)
        put_first(sums, at);
    else
        code = phase_sums_store(sums, edges);
    tally_clear(&sums->now);
    if (code == 0) {
        keep_marks(sums, &sums->kept[0]);
        phase_sums_publish_graph(&sums->kept[0].graph, out);
    }
    phase_marks_clear(&sums->marks);
    return code;
}

size_t phase_sums_bytes(const struct phase_sums *sums)
{
    size_t bytes = 2 * sizeof(uint32_t) * (size_t)sums->ordered + tally_bytes(&sums->now) +
                   sums->marks.room * sizeof(*sums->marks.of) +
                   sums->stretches.room * sizeof(*sums->stretches.of) +
                   sums->stretches.place_room * sizeof(*sums->stretches.places);
    for (uint32_t i = 0; i < PHASE_SUMS_KEPT; i++)
        bytes += tally_bytes(&sums->kept[i].tally) + phase_graph_bytes(&sums->kept[i].graph) +
                 sums->kept[i].marks.room * sizeof(*sums->marks.of);
    return bytes;
}
