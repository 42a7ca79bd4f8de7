#include "daemon/analysis/phase_graphs.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/key_order.h"
#include "daemon/analysis/key_table.h"
#include "daemon/analysis/phase_rows.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_SHARE (1.0 / 64) /* so that what saves nothing merges as well, but late */
#define EARLY_SHARE 8u         /* of the rows: merging begins when so little is free */
#define EARLY_MERGES 8u        /* for each burst */
#define SUMS_KEPT (1u << 18)   /* of so many edges the room for reading is kept: 4 MiB */

struct segment {
    int64_t time_ns;                /* of its part with most messages */
    int64_t earliest_ns, latest_ns; /* representative times of its bursts */
    int64_t first_ns, last_ns;      /* extent */
    uint64_t messages;              /* others included */
    uint64_t other_messages, other_bytes;
    struct phase_list list;
};

struct sum {
    uint64_t messages, bytes;
};

/* By place of edges; only what `present` says is set counts. */
struct sums {
    struct sum *of;    /* owned */
    uint64_t *present; /* owned, bits; all 0 between reads */
    size_t room, words, count;
};

struct phase_graphs {
    struct phase_graphs_params params;
    struct key_table edges;
    uint32_t first_edge; /* of the last burst: where to look first */
    /* Edges by key, and the place of each in that order: of as many as are ordered. */
    uint32_t *by_key, *place; /* owned */
    uint32_t ordered;
    struct sums sums; /* room for reading */
    struct phase_pool pool;
    struct segment *segments; /* owned; one more than may stay */
    uint32_t *order;          /* owned; segments by time, then those that are free */
    /* Of the boundary behind each segment by time: what of its cost does not depend on age, and the
     * time that its age is counted from. */
    double *weight, *since; /* owned */
    int64_t newest_ns;
    struct phase_graphs_counts counts;
};

static void sums_finish(struct sums *sums)
{
    free(sums->of);
    free(sums->present);
    *sums = (struct sums){0};
}

static int sums_fit(struct sums *sums, size_t places)
{
    sums->words = places / 64 + 1;
    sums->count = 0;
    if (places <= sums->room && sums->present != NULL)
        return 0;
    sums_finish(sums);
    sums->of = malloc((places + 1) * sizeof(*sums->of));
    sums->present = calloc(places / 64 + 1, sizeof(*sums->present));
    sums->words = places / 64 + 1;
    if (sums->of == NULL || sums->present == NULL) {
        sums_finish(sums);
        return -ENOMEM;
    }
    sums->room = places;
    return 0;
}

static bool are_valid(const struct phase_graphs_params *p)
{
    return p->edges >= 1 && p->edges <= PHASE_GRAPHS_MOST_EDGES &&
           p->rows <= PHASE_GRAPHS_MOST_ROWS && p->rows / PHASE_ROW_SPLIT >= p->edges &&
           p->segments >= 2 && p->segments <= PHASE_GRAPHS_MOST_SEGMENTS && p->window_ns >= 1 &&
           p->window_ns <= PHASE_GRAPHS_TIME_MOST;
}

int phase_graphs_create(struct phase_graphs **out, const struct phase_graphs_params *params)
{
    if (!are_valid(params))
        return -HOLTER_ERANGE;
    struct phase_graphs *g = calloc(1, sizeof(*g));
    if (g == NULL)
        return -ENOMEM;
    size_t room = (size_t)params->segments + 1;
    g->params = *params;
    g->pool.free = PHASE_BLOCK_NONE;
    g->first_edge = KEY_NONE;
    g->newest_ns = INT64_MIN;
    key_table_init(&g->edges);
    g->segments = malloc(room * sizeof(*g->segments));
    g->order = malloc(room * sizeof(*g->order));
    g->weight = malloc(room * sizeof(*g->weight));
    g->since = malloc(room * sizeof(*g->since));
    if (g->segments == NULL || g->order == NULL || g->weight == NULL || g->since == NULL) {
        phase_graphs_destroy(g);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < room; i++)
        g->order[i] = i;
    *out = g;
    return 0;
}

void phase_graphs_destroy(struct phase_graphs *g)
{
    if (g == NULL)
        return;
    key_table_finish(&g->edges);
    free(g->by_key);
    free(g->place);
    sums_finish(&g->sums);
    phase_pool_finish(&g->pool);
    free(g->segments);
    free(g->order);
    free(g->weight);
    free(g->since);
    free(g);
}

/* ---- segments by time ----------------------------------------------------------- */

static struct segment *at(const struct phase_graphs *g, uint32_t place)
{
    return &g->segments[g->order[place]];
}

/* The first segment at or after a time. */
static uint32_t find(const struct phase_graphs *g, int64_t time_ns)
{
    uint32_t low = 0, high = g->counts.segments;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (at(g, middle)->time_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What it costs to merge a segment with the one behind it, but for its age. */
static void weigh(struct phase_graphs *g, uint32_t place)
{
    if (place + 1 >= g->counts.segments)
        return;
    const struct segment *left = at(g, place), *right = at(g, place + 1);
    uint32_t rows = left->list.rows + right->list.rows;
    double share = 1;
    if (rows > 0)
        share = 2.0 * phase_list_common(&g->pool, &left->list, &right->list) / rows;
    g->weight[place] = (double)(right->time_ns - left->time_ns) / (share + SMALL_SHARE);
    g->since[place] = (double)right->time_ns;
}

static void weigh_around(struct phase_graphs *g, uint32_t place)
{
    if (place > 0)
        weigh(g, place - 1);
    weigh(g, place);
}

static void insert(struct phase_graphs *g, uint32_t place, const struct segment *segment)
{
    size_t behind = g->counts.segments - place;
    uint32_t id = g->order[g->counts.segments];
    memmove(g->order + place + 1, g->order + place, behind * sizeof(*g->order));
    memmove(g->weight + place + 1, g->weight + place, behind * sizeof(*g->weight));
    memmove(g->since + place + 1, g->since + place, behind * sizeof(*g->since));
    g->order[place] = id;
    g->segments[id] = *segment;
    g->counts.segments++;
}

static void take_out(struct phase_graphs *g, uint32_t place)
{
    size_t behind = --g->counts.segments - place;
    uint32_t id = g->order[place];
    memmove(g->order + place, g->order + place + 1, behind * sizeof(*g->order));
    memmove(g->weight + place, g->weight + place + 1, behind * sizeof(*g->weight));
    memmove(g->since + place, g->since + place + 1, behind * sizeof(*g->since));
    g->order[g->counts.segments] = id;
}

/* Add a later segment to one. */
static void join(struct phase_graphs *g, struct segment *to, struct segment *from)
{
    struct phase_excess excess = {0};
    g->counts.rows -= to->list.rows + from->list.rows;
    phase_list_merge(&g->pool, &to->list, &from->list, &excess);
    g->counts.rows += to->list.rows;
    g->counts.other_messages += excess.messages;
    g->counts.other_bytes += excess.bytes;
    to->other_messages += from->other_messages + excess.messages;
    to->other_bytes += from->other_bytes + excess.bytes;
    if (from->messages > to->messages)
        to->time_ns = from->time_ns;
    to->messages += from->messages;
    to->earliest_ns = from->earliest_ns < to->earliest_ns ? from->earliest_ns : to->earliest_ns;
    to->latest_ns = from->latest_ns > to->latest_ns ? from->latest_ns : to->latest_ns;
    to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
    to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
}

/* The boundary that costs least: weights by ages, compared without dividing. */
static uint32_t cheapest(const struct phase_graphs *g)
{
    const double now = (double)g->newest_ns + (double)g->params.window_ns;
    const double *weight = g->weight, *since = g->since;
    double best = weight[0], best_age = now - since[0];
    uint32_t place = 0;
    for (uint32_t i = 1; i + 1 < g->counts.segments; i++)
        if (weight[i] * best_age < best * (now - since[i])) {
            best = weight[i];
            best_age = now - since[i];
            place = i;
        }
    return place;
}

static bool is_over(const struct phase_graphs *g)
{
    return g->counts.segments > g->params.segments ||
           (g->counts.rows > g->params.rows && g->counts.segments > 1);
}

/* Where neighbours have no edge in common, many merges may be needed before one saves a row. So they
 * begin early, a few at a time, lest a single burst should have to wait for all of them. */
static bool is_nearly_over(const struct phase_graphs *g)
{
    return g->counts.rows > g->params.rows - g->params.rows / EARLY_SHARE && g->counts.segments > 1;
}

static void keep_bounds(struct phase_graphs *g)
{
    for (uint32_t merges = 0; is_over(g) || (merges < EARLY_MERGES && is_nearly_over(g));
         merges++) {
        uint32_t place = cheapest(g);
        join(g, at(g, place), at(g, place + 1));
        take_out(g, place + 1);
        weigh_around(g, place);
        g->counts.merges++;
    }
}

/* ---- adding --------------------------------------------------------------------- */

static struct key key_of(const struct phase_edge *e)
{
    return (struct key){(uint64_t)e->source << 32 | e->destination,
                        (uint64_t)e->modelled << 16 | e->size_class};
}

/* Whether a burst may be taken: its values, and that no sum of the job passes 2^64. */
static int check(const struct phase_graphs *g, const struct phase_burst *b, uint64_t *messages,
                 uint64_t *bytes)
{
    const int64_t most = PHASE_GRAPHS_TIME_MOST;
    *messages = b->other_messages;
    *bytes = b->other_bytes;
    if (b->first_ns < -most || b->last_ns > most || b->first_ns > b->time_ns ||
        b->time_ns > b->last_ns)
        return -HOLTER_ERANGE;
    for (size_t i = 0; i < b->count; i++) {
        const struct phase_edge *e = &b->edges[i];
        if (e->size_class >= SIZE_CLASSES || e->modelled > 1 ||
            __builtin_add_overflow(*messages, e->messages, messages) ||
            (e->messages > 0 && __builtin_add_overflow(*bytes, e->bytes, bytes)))
            return -HOLTER_ERANGE;
    }
    uint64_t sum;
    if (__builtin_add_overflow(*messages, g->counts.messages, &sum) ||
        __builtin_add_overflow(*bytes, g->counts.bytes, &sum))
        return -HOLTER_ERANGE;
    return 0;
}

/* Number the edges of a burst; those that have no number any more become others.
 * @return how many places were filled, by edge and row */
static size_t number_edges(struct phase_graphs *g, const struct phase_burst *b,
                           struct key_place *places, struct segment *segment)
{
    uint32_t before = KEY_NONE;
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct phase_edge *e = &b->edges[i];
        const struct key key = key_of(e);
        if (e->messages == 0)
            continue;
        uint32_t edge = g->edges.count < g->params.edges
                            ? key_table_add(&g->edges, key, before, g->first_edge)
                            : key_table_find(&g->edges, key);
        if (edge == KEY_NONE) {
            segment->other_messages += e->messages;
            segment->other_bytes += e->bytes;
            continue;
        }
        if (count == 0)
            g->first_edge = edge;
        places[count++] = (struct key_place){edge, (uint32_t)i};
        before = edge;
    }
    return count;
}

static void make_list(struct phase_graphs *g, const struct phase_burst *b,
                      const struct key_place *places, size_t count, struct segment *segment)
{
    struct phase_excess excess = {0};
    for (size_t i = 0; i < count;) {
        uint64_t edge = places[i].key, messages = 0, bytes = 0;
        for (; i < count && places[i].key == edge; i++) {
            messages += b->edges[places[i].place].messages;
            bytes += b->edges[places[i].place].bytes;
        }
        phase_list_append(&g->pool, &segment->list, (uint32_t)edge, messages, bytes, &excess);
    }
    segment->other_messages += excess.messages;
    segment->other_bytes += excess.bytes;
}

static int fill(struct phase_graphs *g, const struct phase_burst *b, struct segment *segment)
{
    size_t further = g->params.edges - g->edges.count;
    uint64_t rows = b->count;
    for (size_t i = 0; i < b->count; i++)
        rows += b->edges[i].messages > UINT32_MAX ? PHASE_ROW_SPLIT : 0;
    if (b->count > PHASE_GRAPHS_MOST_ROWS)
        return -ENOMEM;
    if (key_table_reserve(&g->edges, b->count < further ? b->count : further) != 0 ||
        phase_pool_reserve(&g->pool, rows / PHASE_BLOCK + 1 + PHASE_MERGE_BLOCKS) != 0)
        return -ENOMEM;
    struct key_place *places = malloc((2 * b->count + 1) * sizeof(*places)), *sorted = places;
    if (places == NULL)
        return -ENOMEM;
    size_t count = number_edges(g, b, places, segment);
    for (size_t i = 1; i < count; i++)
        if (places[i - 1].key > places[i].key) {
            sorted = key_order(places, places + b->count, count);
            break;
        }
    make_list(g, b, sorted, count, segment);
    free(places);
    return 0;
}

static void put(struct phase_graphs *g, struct segment *segment)
{
    uint32_t place = find(g, segment->time_ns);
    g->counts.rows += segment->list.rows;
    g->newest_ns = segment->time_ns > g->newest_ns ? segment->time_ns : g->newest_ns;
    if (place < g->counts.segments && at(g, place)->time_ns == segment->time_ns)
        join(g, at(g, place), segment);
    else
        insert(g, place, segment);
    weigh_around(g, place);
    keep_bounds(g);
}

int phase_graphs_add(struct phase_graphs *g, const struct phase_burst *burst)
{
    struct segment segment = {.time_ns = burst->time_ns,
                              .earliest_ns = burst->time_ns,
                              .latest_ns = burst->time_ns,
                              .first_ns = burst->first_ns,
                              .last_ns = burst->last_ns,
                              .other_messages = burst->other_messages,
                              .other_bytes = burst->other_bytes,
                              .list = PHASE_LIST_EMPTY};
    uint64_t bytes;
    int rc = check(g, burst, &segment.messages, &bytes);
    if (rc != 0)
        return rc;
    if (segment.messages > 0 || bytes > 0) {
        rc = fill(g, burst, &segment);
        if (rc != 0)
            return rc;
        g->counts.other_messages += segment.other_messages;
        g->counts.other_bytes += segment.other_bytes;
        put(g, &segment);
    }
    g->counts.bursts++;
    g->counts.messages += segment.messages;
    g->counts.bytes += bytes;
    return 0;
}

/* ---- reading -------------------------------------------------------------------- */

static bool precedes(const struct phase_graphs *g, uint32_t left, uint32_t right)
{
    const struct key *a = &g->edges.keys[left], *b = &g->edges.keys[right];
    return a->hi != b->hi ? a->hi < b->hi : a->lo < b->lo;
}

/* Put edges that are new since the last time in their places: sorted, then merged with the others from
 * the back. @return 0 or -ENOMEM */
static int order_edges(struct phase_graphs *g)
{
    uint32_t count = g->edges.count, old = g->ordered;
    size_t fresh = count - old;
    if (fresh == 0)
        return 0;
    struct key_place *places = malloc(2 * fresh * sizeof(*places)), *sorted = places;
    uint32_t *by_key = places == NULL ? NULL : realloc(g->by_key, count * sizeof(*by_key));
    g->by_key = by_key != NULL ? by_key : g->by_key;
    uint32_t *place = by_key == NULL ? NULL : realloc(g->place, count * sizeof(*place));
    g->place = place != NULL ? place : g->place;
    if (place == NULL) {
        free(places);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < fresh; i++)
        places[i] = (struct key_place){g->edges.keys[old + i].lo, old + i};
    sorted = key_order(places, places + fresh, fresh);
    for (uint32_t i = 0; i < fresh; i++)
        sorted[i].key = g->edges.keys[sorted[i].place].hi;
    sorted = key_order(sorted, sorted == places ? places + fresh : places, fresh);
    for (uint32_t at = count, i = (uint32_t)fresh, j = old; i > 0;) {
        bool from_old = j > 0 && precedes(g, sorted[i - 1].place, by_key[j - 1]);
        by_key[--at] = from_old ? by_key[--j] : sorted[--i].place;
    }
    for (uint32_t i = 0; i < count; i++)
        place[by_key[i]] = i;
    g->ordered = count;
    free(places);
    return 0;
}

static void sum_list(const struct phase_graphs *g, const struct phase_list *list, struct sums *sums)
{
    uint32_t block = list->first;
    for (uint32_t left = list->rows; left > 0; block = g->pool.after[block]) {
        const struct phase_row *row = phase_block(&g->pool, block);
        uint32_t here = left < PHASE_BLOCK ? left : PHASE_BLOCK;
        left -= here;
        for (uint32_t i = 0; i < here; i++) {
            uint32_t place = g->place[row[i].edge];
            uint64_t bit = UINT64_C(1) << (place % 64), *word = &sums->present[place / 64];
            struct sum *sum = &sums->of[place];
            bool known = (*word & bit) != 0;
            *word |= bit;
            sums->count += !known;
            sum->messages = (known ? sum->messages : 0) + row[i].messages;
            sum->bytes = (known ? sum->bytes : 0) + row[i].bytes;
        }
    }
}

static void sum_segment(const struct segment *s, int64_t from_ns, int64_t to_ns,
                        struct phase_graph *out)
{
    bool first = out->segments++ == 0;
    out->across += s->earliest_ns < from_ns || s->latest_ns > to_ns;
    out->other_messages += s->other_messages;
    out->other_bytes += s->other_bytes;
    out->first_ns = first || s->first_ns < out->first_ns ? s->first_ns : out->first_ns;
    out->last_ns = first || s->last_ns > out->last_ns ? s->last_ns : out->last_ns;
}

/* Edges by key. @return 0 or -ENOMEM */
static int list_edges(const struct phase_graphs *g, const struct sums *sums,
                      struct phase_graph *out)
{
    size_t count = 0;
    if (array_fit(&out->edges, sizeof(*out->edges), &out->room, sums->count) != 0)
        return -ENOMEM;
    for (size_t word = 0; word < sums->words; word++) {
        for (uint64_t left = sums->present[word]; left != 0; left &= left - 1) {
            size_t place = word * 64 + (size_t)__builtin_ctzll(left);
            const struct sum *sum = &sums->of[place];
            const struct key *key = &g->edges.keys[g->by_key[place]];
            out->edges[count++] =
                (struct phase_edge){(uint32_t)(key->hi >> 32), (uint32_t)key->hi, (uint16_t)key->lo,
                                    (uint16_t)(key->lo >> 16), sum->messages,     sum->bytes};
            out->messages += sum->messages;
            out->bytes += sum->bytes;
        }
    }
    out->count = count;
    return 0;
}

int phase_graphs_read(struct phase_graphs *g, int64_t from_ns, int64_t to_ns,
                      struct phase_graph *out)
{
    struct phase_graph read = {.edges = out->edges, .room = out->room};
    int rc = sums_fit(&g->sums, g->edges.count);
    rc = rc != 0 ? rc : order_edges(g);
    if (rc != 0)
        return rc;
    for (uint32_t place = find(g, from_ns); place < g->counts.segments; place++) {
        const struct segment *s = at(g, place);
        if (s->time_ns > to_ns)
            break;
        sum_list(g, &s->list, &g->sums);
        sum_segment(s, from_ns, to_ns, &read);
    }
    rc = list_edges(g, &g->sums, &read);
    memset(g->sums.present, 0, g->sums.words * sizeof(*g->sums.present));
    if (g->sums.room > SUMS_KEPT)
        sums_finish(&g->sums);
    if (rc == 0)
        *out = read;
    return rc;
}

void phase_graph_finish(struct phase_graph *graph)
{
    free(graph->edges);
    *graph = (struct phase_graph){0};
}

uint32_t phase_graphs_segments(const struct phase_graphs *g, int64_t from_ns, int64_t to_ns)
{
    if (from_ns > to_ns)
        return 0;
    uint32_t end = to_ns == INT64_MAX ? g->counts.segments : find(g, to_ns + 1);
    return end - find(g, from_ns);
}

void phase_graphs_count(const struct phase_graphs *g, struct phase_graphs_counts *out)
{
    *out = g->counts;
    out->edges = g->edges.count;
}

uint64_t phase_graphs_rows(const struct phase_graphs *g, int64_t from_ns, int64_t to_ns)
{
    uint64_t rows = 0;
    for (uint32_t place = find(g, from_ns); place < g->counts.segments; place++) {
        const struct segment *s = at(g, place);
        if (s->time_ns > to_ns)
            break;
        rows += s->list.rows;
    }
    return rows;
}

size_t phase_graphs_bytes(const struct phase_graphs *g)
{
    size_t segment =
        sizeof(*g->segments) + sizeof(*g->order) + sizeof(*g->weight) + sizeof(*g->since);
    return sizeof(*g) + key_table_bytes(&g->edges) + 2 * sizeof(uint32_t) * (size_t)g->ordered +
           sizeof(*g->sums.of) * g->sums.room + phase_pool_bytes(&g->pool) +
           ((size_t)g->params.segments + 1) * segment;
}
