#include "daemon/analysis/phases/phase_graphs.h"

#include "daemon/analysis/phases/phase_numbers.h"
#include "daemon/analysis/phases/phase_rows.h"
#include "daemon/analysis/phases/phase_sums.h"
#include "holter/bisect.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_SHARE (1.0 / 64) /* so that what saves nothing merges as well, but late */
#define EARLY_SHARE 8u         /* of the rows: merging begins when so little is free */
#define EARLY_MERGES 8u        /* for each burst */

#define SCANNED 16u /* boundaries that are compared at once */

typedef double two_numbers __attribute__((vector_size(16)));
typedef int64_t two_flags __attribute__((vector_size(16)));

struct segment {
    int64_t time_ns;                /* of its part with most messages */
    int64_t earliest_ns, latest_ns; /* representative times of its bursts */
    int64_t first_ns, last_ns;      /* extent */
    uint64_t messages;              /* others included */
    uint64_t other_messages, other_bytes;
    struct phase_list list;
    struct phase_ranges ranges; /* owned; of the list's edges */
};

struct phase_graphs {
    struct phase_graphs_params params;
    struct phase_numbers numbers; /* of the edges */
    struct phase_sums sums;       /* room for reading */
    struct phase_pool pool;
    struct segment *segments; /* owned; one more than may stay */
    uint32_t *order;          /* owned; segments by time, then those that are free */
    /* Of the boundary behind each segment by time: rows that merging would save, what of its cost
     * does not depend on age, and the time that its age is counted from. */
    uint32_t *common;       /* owned */
    double *weight, *since; /* owned */
    int64_t newest_ns;
    struct phase_graphs_counts counts;
};

static bool phase_graphs_are_valid(const struct phase_graphs_params *p)
{
    return p->edges >= 1 && p->edges <= PHASE_GRAPHS_MOST_EDGES &&
           p->rows <= PHASE_GRAPHS_MOST_ROWS && p->rows / PHASE_ROW_SPLIT >= p->edges &&
           p->segments >= 2 && p->segments <= PHASE_GRAPHS_MOST_SEGMENTS && p->window_ns >= 1 &&
           p->window_ns <= PHASE_GRAPHS_TIME_MOST;
}

int phase_graphs_create(struct phase_graphs **out, const struct phase_graphs_params *params)
{
    if (!phase_graphs_are_valid(params))
        return -HOLTER_ERANGE;
    struct phase_graphs *g = calloc(1, sizeof(*g));
    if (g == NULL)
        return -ENOMEM;
    size_t room = (size_t)params->segments + 1;
    g->params = *params;
    g->pool = PHASE_POOL_EMPTY;
    g->newest_ns = INT64_MIN;
    phase_numbers_init(&g->numbers, params->edges);
    g->segments = malloc(room * sizeof(*g->segments));
    g->order = malloc(room * sizeof(*g->order));
    g->common = malloc(room * sizeof(*g->common));
    g->weight = malloc(room * sizeof(*g->weight));
    g->since = malloc(room * sizeof(*g->since));
    if (g->segments == NULL || g->order == NULL || g->common == NULL || g->weight == NULL ||
        g->since == NULL) {
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
    phase_numbers_finish(&g->numbers);
    phase_sums_finish(&g->sums);
    phase_pool_finish(&g->pool);
    for (uint32_t i = 0; i < g->counts.segments; i++)
        phase_ranges_finish(&g->segments[g->order[i]].ranges);
    free(g->segments);
    free(g->order);
    free(g->common);
    free(g->weight);
    free(g->since);
    free(g);
}

/* ---- segments by time ----------------------------------------------------------- */

static struct segment *phase_graphs_at(const struct phase_graphs *g, uint32_t place)
{
    return &g->segments[g->order[place]];
}

/* The first segment at or after a time. */
static uint32_t phase_graphs_find(const struct phase_graphs *g, int64_t time_ns)
{
    return BISECT(i, 0, g->counts.segments, phase_graphs_at(g, i)->time_ns < time_ns);
}

/* Has no edge several rows, and are its edges known as ranges? */
static bool is_plain(const struct segment *s)
{
    return s->list.high < UINT32_MAX && phase_ranges_are_known(&s->ranges);
}

/* Rows that two segments have in common. */
static uint32_t phase_graphs_compare(const struct phase_graphs *g, const struct segment *left,
                                     const struct segment *right)
{
    return is_plain(left) && is_plain(right)
               ? phase_ranges_common(&left->ranges, &right->ranges)
               : phase_list_common(&g->pool, &left->list, &right->list);
}

/* What it costs to merge a segment with the one behind it, but for its age. */
static void phase_graphs_weigh(struct phase_graphs *g, uint32_t place, uint32_t common)
{
    const struct segment *left = phase_graphs_at(g, place), *right = phase_graphs_at(g, place + 1);
    uint32_t rows = left->list.rows + right->list.rows;
    double share = rows > 0 ? 2.0 * common / rows : 1;
    g->common[place] = common;
    g->weight[place] = (double)(right->time_ns - left->time_ns) / (share + SMALL_SHARE);
    g->since[place] = (double)right->time_ns;
}

static void compare_around(struct phase_graphs *g, uint32_t place)
{
    if (place > 0)
        phase_graphs_weigh(
            g, place - 1,
            phase_graphs_compare(g, phase_graphs_at(g, place - 1), phase_graphs_at(g, place)));
    if (place + 1 < g->counts.segments)
        phase_graphs_weigh(
            g, place,
            phase_graphs_compare(g, phase_graphs_at(g, place), phase_graphs_at(g, place + 1)));
}

static void phase_graphs_insert(struct phase_graphs *g, uint32_t place,
                                const struct segment *segment)
{
    size_t behind = g->counts.segments - place;
    uint32_t id = g->order[g->counts.segments];
    memmove(g->order + place + 1, g->order + place, behind * sizeof(*g->order));
    memmove(g->common + place + 1, g->common + place, behind * sizeof(*g->common));
    memmove(g->weight + place + 1, g->weight + place, behind * sizeof(*g->weight));
    memmove(g->since + place + 1, g->since + place, behind * sizeof(*g->since));
    g->order[place] = id;
    g->segments[id] = *segment;
    g->counts.segments++;
}

static void phase_graphs_remove_segment(struct phase_graphs *g, uint32_t place)
{
    size_t behind = --g->counts.segments - place;
    uint32_t id = g->order[place];
    memmove(g->order + place, g->order + place + 1, behind * sizeof(*g->order));
    memmove(g->common + place, g->common + place + 1, behind * sizeof(*g->common));
    memmove(g->weight + place, g->weight + place + 1, behind * sizeof(*g->weight));
    memmove(g->since + place, g->since + place + 1, behind * sizeof(*g->since));
    g->order[g->counts.segments] = id;
}

/* Add up lists of the same edges where rows repeat: the one that is in order stays. */
static bool repeat_lists(struct phase_graphs *g, struct phase_list *to, struct phase_list *from)
{
    if (from->runs == 1 && to->runs > 1) {
        struct phase_list other = *to;
        *to = *from;
        *from = other;
    }
    return phase_list_repeat(&g->pool, to, from);
}

/* Add up rows of two segments in the way that touches the fewest of them.
 * @param common  rows that they have in common */
static void join_lists(struct phase_graphs *g, struct phase_list *to, struct phase_list *from,
                       uint32_t common, struct phase_excess *excess)
{
    if (common == 0 && phase_list_link(&g->pool, to, from))
        return;
    if (common == from->rows && common == to->rows && repeat_lists(g, to, from))
        return;
    if (common == from->rows && phase_list_absorb(&g->pool, to, from))
        return;
    if (common == to->rows && phase_list_absorb(&g->pool, from, to)) {
        *to = *from;
        *from = PHASE_LIST_EMPTY;
        return;
    }
    phase_sums_merge(&g->sums, &g->numbers.edges, &g->pool, to, from, excess);
}

/* Add a later segment to one. */
static void phase_graphs_join(struct phase_graphs *g, struct segment *to, struct segment *from,
                              uint32_t common)
{
    struct phase_excess excess = {0};
    g->counts.rows -= to->list.rows + from->list.rows;
    join_lists(g, &to->list, &from->list, common, &excess);
    phase_ranges_join(&to->ranges, &from->ranges);
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

/* A boundary that may be merged, and what it costs. */
struct offer {
    double weight, age;
    uint32_t place;
};

/* Are any of SCANNED boundaries from a place on cheaper? */
static bool any_is_cheaper(const struct phase_graphs *g, uint32_t from, double now,
                           const struct offer *best)
{
    const double *weights = g->weight + from, *sinces = g->since + from;
    two_flags cheaper = {0};
#pragma GCC unroll 8
    for (size_t i = 0; i < SCANNED; i += 2) {
        two_numbers weight, since;
        memcpy(&weight, weights + i, sizeof(weight));
        memcpy(&since, sinces + i, sizeof(since));
        cheaper |= weight * best->age < best->weight * (now - since);
    }
    return (cheaper[0] | cheaper[1]) != 0;
}

/* The boundary that costs least: weights by ages, compared without dividing. One is the first among
 * equals by being compared with those before it in turn: so they are only passed over together
 * where none is cheaper. */
static uint32_t phase_graphs_cheapest(const struct phase_graphs *g)
{
    const double now = (double)g->newest_ns + (double)g->params.window_ns;
    const uint32_t count = g->counts.segments - 1;
    struct offer best = {g->weight[0], now - g->since[0], 0};
    for (uint32_t from = 0; from < count; from += SCANNED) {
        uint32_t end = count - from < SCANNED ? count : from + SCANNED;
        if (end - from == SCANNED && !any_is_cheaper(g, from, now, &best))
            continue;
        for (uint32_t i = from; i < end; i++)
            if (g->weight[i] * best.age < best.weight * (now - g->since[i]))
                best = (struct offer){g->weight[i], now - g->since[i], i};
    }
    return best.place;
}

static bool is_over(const struct phase_graphs *g)
{
    return g->counts.segments > g->params.segments ||
           (g->counts.rows > g->params.rows && g->counts.segments > 1);
}

/* Where neighbours have no edge in common, many merges may be needed before one saves a row. So
 * they begin early, a few at a time, lest a single burst should have to wait for all of them. */
static bool is_nearly_over(const struct phase_graphs *g)
{
    return g->counts.rows > g->params.rows - g->params.rows / EARLY_SHARE && g->counts.segments > 1;
}

/* Merge a segment with the next. What each neighbour has in common with what comes of them follows
 * from what it had in common with one of them where they have no edges in common, or where one of
 * them, or the neighbour, has no others: nearly always, and long lists are not gone through for it.
 */
static void join_next(struct phase_graphs *g, uint32_t place)
{
    struct segment *to = phase_graphs_at(g, place), *from = phase_graphs_at(g, place + 1);
    const struct segment *before = place > 0 ? phase_graphs_at(g, place - 1) : NULL,
                         *behind =
                             place + 2 < g->counts.segments ? phase_graphs_at(g, place + 2) : NULL;
    uint32_t rows = to->list.rows, from_rows = from->list.rows;
    uint32_t left = before == NULL ? 0 : g->common[place - 1];
    uint32_t right = behind == NULL ? 0 : g->common[place + 1];
    bool apart = g->common[place] == 0;
    if (apart && before != NULL)
        left += phase_graphs_compare(g, before, from);
    if (apart && behind != NULL)
        right += phase_graphs_compare(g, to, behind);
    phase_graphs_join(g, to, from, g->common[place]);
    /* No edge has fewer rows than it had in either: as many rows are the same ones. */
    if (!apart && before != NULL && to->list.rows != rows && left != before->list.rows)
        left = phase_graphs_compare(g, before, to);
    if (!apart && behind != NULL && to->list.rows != from_rows && right != behind->list.rows)
        right = phase_graphs_compare(g, to, behind);
    phase_graphs_remove_segment(g, place + 1);
    if (before != NULL)
        phase_graphs_weigh(g, place - 1, left);
    if (behind != NULL)
        phase_graphs_weigh(g, place, right);
}

static void keep_bounds(struct phase_graphs *g)
{
    for (uint32_t merges = 0; is_over(g) || (merges < EARLY_MERGES && is_nearly_over(g));
         merges++) {
        uint32_t place = phase_graphs_cheapest(g);
        join_next(g, place);
        g->counts.merges++;
    }
}

/* ---- adding --------------------------------------------------------------------- */

/* Whether a burst may be taken: its values, and that no sum of the job passes 2^64. */
static int phase_graphs_check(struct phase_graphs *g, const struct phase_burst *b,
                              struct phase_total *total)
{
    const int64_t most = PHASE_GRAPHS_TIME_MOST;
    uint64_t sum;
    if (b->first_ns < -most || b->last_ns > most || b->first_ns > b->time_ns ||
        b->time_ns > b->last_ns)
        return -HOLTER_ERANGE;
    *total = (struct phase_total){.messages = b->other_messages, .bytes = b->other_bytes};
    if (phase_numbers_check(&g->numbers, &g->pool, b->pieces, b->count, total) != 0 ||
        __builtin_add_overflow(total->messages, g->counts.messages, &sum) ||
        __builtin_add_overflow(total->bytes, g->counts.bytes, &sum))
        return -HOLTER_ERANGE;
    return 0;
}

/* @return 0 or -ENOMEM */
static int phase_graphs_fill(struct phase_graphs *g, const struct phase_burst *b,
                             const struct phase_total *total, struct segment *segment)
{
    struct phase_excess others = {0};
    const struct phase_listed listed = {&segment->list, &segment->ranges};
    int code =
        phase_numbers_list(&g->numbers, b->pieces, b->count, total, &g->pool, &listed, &others);
    segment->messages = total->messages;
    segment->other_messages += others.messages;
    segment->other_bytes += others.bytes;
    return code;
}

static void phase_graphs_place_segment(struct phase_graphs *g, struct segment *segment)
{
    uint32_t place = phase_graphs_find(g, segment->time_ns);
    g->counts.rows += segment->list.rows;
    g->newest_ns = segment->time_ns > g->newest_ns ? segment->time_ns : g->newest_ns;
    if (place < g->counts.segments && phase_graphs_at(g, place)->time_ns == segment->time_ns)
        phase_graphs_join(g, phase_graphs_at(g, place), segment,
                          phase_graphs_compare(g, phase_graphs_at(g, place), segment));
    else
        phase_graphs_insert(g, place, segment);
    compare_around(g, place);
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
    struct phase_total total;
    int rc = phase_graphs_check(g, burst, &total);
    if (rc != 0)
        return rc;
    if (total.messages > 0 || total.bytes > 0) {
        rc = phase_graphs_fill(g, burst, &total, &segment);
        if (rc != 0)
            return rc;
        g->counts.other_messages += segment.other_messages;
        g->counts.other_bytes += segment.other_bytes;
        phase_graphs_place_segment(g, &segment);
    }
    g->counts.bursts++;
    g->counts.messages += total.messages;
    g->counts.bytes += total.bytes;
    return 0;
}

/* ---- reading -------------------------------------------------------------------- */

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

/* Segments from a place on, none that is after a time. @return how many */
static uint32_t count_segments(const struct phase_graphs *g, uint32_t place, int64_t to_ns)
{
    uint32_t count = 0;
    while (place + count < g->counts.segments &&
           phase_graphs_at(g, place + count)->time_ns <= to_ns)
        count++;
    return count;
}

/* Edges of some segments. @return 0 or -ENOMEM */
static int read_edges(struct phase_graphs *g, uint32_t first, uint32_t count,
                      struct phase_graph *out)
{
    for (uint32_t i = 0; i < count; i++)
        phase_sums_mark(&g->sums, &g->pool, &phase_graphs_at(g, first + i)->list);
    if (phase_sums_recall(&g->sums, &g->numbers.edges, &g->pool, out))
        return 0;
    int rc = phase_sums_begin(&g->sums, &g->numbers.edges);
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < count; i++)
        phase_sums_add(&g->sums, &g->pool, &phase_graphs_at(g, first + i)->list);
    return phase_sums_end(&g->sums, &g->numbers.edges, out);
}

int phase_graphs_read(struct phase_graphs *g, int64_t from_ns, int64_t to_ns,
                      struct phase_graph *out)
{
    struct phase_graph read = {0};
    uint32_t first = phase_graphs_find(g, from_ns), count = count_segments(g, first, to_ns);
    for (uint32_t i = 0; i < count; i++)
        sum_segment(phase_graphs_at(g, first + i), from_ns, to_ns, &read);
    int rc = read_edges(g, first, count, &read);
    if (rc != 0)
        return rc;
    phase_graph_finish(out);
    *out = read;
    return 0;
}

uint32_t phase_graphs_segments(const struct phase_graphs *g, int64_t from_ns, int64_t to_ns)
{
    if (from_ns > to_ns)
        return 0;
    uint32_t end = to_ns == INT64_MAX ? g->counts.segments : phase_graphs_find(g, to_ns + 1);
    return end - phase_graphs_find(g, from_ns);
}

void phase_graphs_count(const struct phase_graphs *g, struct phase_graphs_counts *out)
{
    *out = g->counts;
    out->edges = g->numbers.edges.count;
    out->ranks = g->numbers.ranks;
}

uint64_t phase_graphs_rows(const struct phase_graphs *g, int64_t from_ns, int64_t to_ns)
{
    uint64_t rows = 0;
    for (uint32_t place = phase_graphs_find(g, from_ns); place < g->counts.segments; place++) {
        const struct segment *s = phase_graphs_at(g, place);
        if (s->time_ns > to_ns)
            break;
        rows += s->list.rows;
    }
    return rows;
}

size_t phase_graphs_bytes(const struct phase_graphs *g)
{
    size_t segment = sizeof(*g->segments) + sizeof(*g->order) + sizeof(*g->common) +
                     sizeof(*g->weight) + sizeof(*g->since);
    size_t ranges = 0;
    for (uint32_t i = 0; i < g->counts.segments; i++)
        ranges += phase_graphs_at(g, i)->ranges.count * sizeof(struct phase_range);
    return sizeof(*g) + phase_numbers_bytes(&g->numbers) + phase_sums_bytes(&g->sums) +
           phase_pool_bytes(&g->pool) + ((size_t)g->params.segments + 1) * segment + ranges;
}
