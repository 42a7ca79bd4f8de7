/* Segments of phase_graphs.h ordered by time, and the choice of neighbours that merge. */
#include "daemon/analysis/phases/phase_graphs.h"

#include "daemon/analysis/phases/phase_burst.h"
#include "daemon/analysis/phases/phase_rows.h"
#include "daemon/analysis/phases/phase_sums.h"
#include "holter/bisect.h"
#include "holter/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Above 0, so that segments without a common edge may merge as well, but late. */
#define MINIMUM_SHARE (1.0 / 64)
#define EARLY_SHARE 8u  /* of the rows: merging begins when fewer than this fraction are free */
#define EARLY_MERGES 8u /* per burst */

struct segment {
    int64_t time_ns;                /* time of its part with most messages */
    int64_t earliest_ns, latest_ns; /* representative times of its bursts */
    int64_t first_ns, last_ns;      /* extent */
    uint64_t messages;              /* messages of unknown pairs included */
    uint64_t other_messages, other_bytes;
    struct phase_rows table; /* owned */
};

/* Between a segment and the next one: merging them costs weight / (now - since_ns). */
struct boundary {
    double weight; /* gap between their times, divided by the share of rows that merging saves */
    double since_ns;
};

struct phase_graphs {
    struct phase_graphs_params params;
    struct phase_edge_numbers numbers;
    struct segment *
        *segments; /* owned, each owned; ordered by time; one more than the maximum fits */
    struct boundary *boundaries; /* owned; element i is the boundary after segment i */
    int64_t newest_ns;
    struct phase_graphs_counts counts;
};

static bool phase_graphs_are_valid(const struct phase_graphs_params *p)
{
    return p->edges >= 1 && p->edges <= PHASE_GRAPHS_MAXIMUM_EDGES &&
           p->rows <= PHASE_GRAPHS_MAXIMUM_ROWS && p->rows / PHASE_ROWS_PER_EDGE >= p->edges &&
           p->segments >= 2 && p->segments <= PHASE_GRAPHS_MAXIMUM_SEGMENTS && p->window_ns >= 1 &&
           p->window_ns <= PHASE_GRAPHS_TIME_MAXIMUM;
}

int phase_graphs_create(struct phase_graphs **out, const struct phase_graphs_params *params)
{
    if (!phase_graphs_are_valid(params))
        return -HOLTER_ERANGE;
    struct phase_graphs *g = calloc(1, sizeof(*g));
    if (g == NULL)
        return -ENOMEM;
    size_t capacity = (size_t)params->segments + 1;
    g->params = *params;
    g->newest_ns = INT64_MIN;
    g->numbers.maximum = params->edges;
    g->segments = malloc(capacity * sizeof(struct segment *));
    g->boundaries = malloc(capacity * sizeof(*g->boundaries));
    if (g->segments == NULL || g->boundaries == NULL) {
        phase_graphs_destroy(g);
        return -ENOMEM;
    }
    *out = g;
    return 0;
}

static void segment_destroy(struct segment *segment)
{
    phase_rows_finish(&segment->table);
    free(segment);
}

void phase_graphs_destroy(struct phase_graphs *g)
{
    if (g == NULL)
        return;
    for (uint32_t i = 0; i < g->counts.segments; i++)
        segment_destroy(g->segments[i]);
    phase_edge_numbers_finish(&g->numbers);
    free(g->segments);
    free(g->boundaries);
    free(g);
}

/* ---- segments by time ----------------------------------------------------------- */

/* The first segment at or after a time. */
static uint32_t phase_graphs_find(const struct phase_graphs *g, int64_t time_ns)
{
    return BISECT(i, 0, g->counts.segments, g->segments[i]->time_ns < time_ns);
}

/* Computes the weight of the boundary between a segment and the next. */
static void phase_graphs_weigh(struct phase_graphs *g, uint32_t place)
{
    const struct segment *left = g->segments[place], *right = g->segments[place + 1];
    uint32_t rows = left->table.count + right->table.count;
    double share = rows > 0 ? 2.0 * phase_rows_common(&left->table, &right->table) / rows : 1;
    g->boundaries[place] = (struct boundary){
        (double)(right->time_ns - left->time_ns) / (share + MINIMUM_SHARE), (double)right->time_ns};
}

static void phase_graphs_weigh_around(struct phase_graphs *g, uint32_t place)
{
    if (place > 0)
        phase_graphs_weigh(g, place - 1);
    if (place + 1 < g->counts.segments)
        phase_graphs_weigh(g, place);
}

static void phase_graphs_insert(struct phase_graphs *g, uint32_t place, struct segment *segment)
{
    size_t after = g->counts.segments - place;
    memmove(g->segments + place + 1, g->segments + place, after * sizeof(struct segment *));
    memmove(g->boundaries + place + 1, g->boundaries + place, after * sizeof(*g->boundaries));
    g->segments[place] = segment;
    g->counts.segments++;
}

static void phase_graphs_remove(struct phase_graphs *g, uint32_t place)
{
    segment_destroy(g->segments[place]);
    size_t after = --g->counts.segments - place;
    memmove(g->segments + place, g->segments + place + 1, after * sizeof(struct segment *));
    memmove(g->boundaries + place, g->boundaries + place + 1, after * sizeof(*g->boundaries));
}

/* Adds a later segment to an earlier one; its table is empty afterwards. @return 0 or -ENOMEM:
 * nothing has changed */
static int phase_graphs_join(struct phase_graphs *g, struct segment *to, struct segment *from)
{
    struct phase_excess excess = {0};
    uint32_t rows = to->table.count + from->table.count;
    if (phase_rows_merge(&to->table, &from->table, &excess) != 0)
        return -ENOMEM;
    g->counts.rows -= rows - to->table.count;
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
    return 0;
}

/* ---- keeping to the limits ------------------------------------------------------ */

/* The boundary that costs least, the first among equals: weights by ages, compared without
 * dividing. */
static uint32_t phase_graphs_cheapest(const struct phase_graphs *g)
{
    const double now = (double)g->newest_ns + (double)g->params.window_ns;
    double weight = g->boundaries[0].weight, age = now - g->boundaries[0].since_ns;
    uint32_t best = 0;
    for (uint32_t i = 1; i + 1 < g->counts.segments; i++) {
        const struct boundary *b = &g->boundaries[i];
        if (b->weight * age < weight * (now - b->since_ns)) {
            weight = b->weight;
            age = now - b->since_ns;
            best = i;
        }
    }
    return best;
}

static bool phase_graphs_is_over(const struct phase_graphs *g)
{
    return g->counts.segments > g->params.segments ||
           (g->counts.rows > g->params.rows && g->counts.segments > 1);
}

/* Where neighbours have no edge in common, many merges may be needed before one saves a row. So
 * merging begins early, a few at a time, which bounds the time of every single burst. */
static bool phase_graphs_is_nearly_over(const struct phase_graphs *g)
{
    return g->counts.rows > g->params.rows - g->params.rows / EARLY_SHARE && g->counts.segments > 1;
}

/* Merges until the limits are met. @return 0, or -ENOMEM: they may be exceeded */
static int phase_graphs_keep_bounds(struct phase_graphs *g)
{
    for (uint32_t merges = 0;
         phase_graphs_is_over(g) || (merges < EARLY_MERGES && phase_graphs_is_nearly_over(g));
         merges++) {
        uint32_t place = phase_graphs_cheapest(g);
        if (phase_graphs_join(g, g->segments[place], g->segments[place + 1]) != 0)
            return -ENOMEM;
        phase_graphs_remove(g, place + 1);
        phase_graphs_weigh_around(g, place);
        g->counts.merges++;
    }
    return 0;
}

/* ---- adding --------------------------------------------------------------------- */

/* @return a segment of one burst, or NULL without memory */
static struct segment *phase_graphs_make_segment(struct phase_graphs *g,
                                                 const struct phase_burst *burst,
                                                 const struct phase_burst_sums *sums)
{
    struct phase_excess excess = {0};
    struct segment *segment = calloc(1, sizeof(*segment));
    if (segment == NULL || phase_burst_list(&g->numbers, burst, &segment->table, &excess) != 0) {
        free(segment);
        return NULL;
    }
    segment->time_ns = segment->earliest_ns = segment->latest_ns = burst->time_ns;
    segment->first_ns = burst->first_ns;
    segment->last_ns = burst->last_ns;
    segment->messages = sums->messages;
    segment->other_messages = burst->other_messages + excess.messages;
    segment->other_bytes = burst->other_bytes + excess.bytes;
    return segment;
}

/* Inserts a segment, which is owned from now on. @return 0 or -ENOMEM: it was released */
static int phase_graphs_place(struct phase_graphs *g, struct segment *segment)
{
    uint32_t place = phase_graphs_find(g, segment->time_ns), rows = segment->table.count;
    uint64_t other_messages = segment->other_messages, other_bytes = segment->other_bytes;
    int64_t time_ns = segment->time_ns;
    g->counts.rows += rows;
    if (place < g->counts.segments && g->segments[place]->time_ns == time_ns) {
        int code = phase_graphs_join(g, g->segments[place], segment);
        segment_destroy(segment);
        if (code != 0) {
            g->counts.rows -= rows;
            return code;
        }
    } else {
        phase_graphs_insert(g, place, segment);
    }
    g->newest_ns = time_ns > g->newest_ns ? time_ns : g->newest_ns;
    g->counts.other_messages += other_messages;
    g->counts.other_bytes += other_bytes;
    phase_graphs_weigh_around(g, place);
    return 0;
}

/* Merges that fail after the burst was inserted are repeated before the next burst. */
int phase_graphs_add(struct phase_graphs *g, const struct phase_burst *burst)
{
    struct phase_burst_sums sums;
    uint64_t messages, bytes;
    int code = phase_burst_check(burst, &sums);
    if (code != 0)
        return code;
    if (__builtin_add_overflow(sums.messages, g->counts.messages, &messages) ||
        __builtin_add_overflow(sums.bytes, g->counts.bytes, &bytes))
        return -HOLTER_ERANGE;
    if (sums.messages > 0 || sums.bytes > 0) {
        struct segment *segment = NULL;
        if (!phase_graphs_is_over(g) || phase_graphs_keep_bounds(g) == 0)
            segment = phase_graphs_make_segment(g, burst, &sums);
        if (segment == NULL || phase_graphs_place(g, segment) != 0)
            return -ENOMEM;
        (void)phase_graphs_keep_bounds(g);
    }
    g->counts.bursts++;
    g->counts.messages = messages;
    g->counts.bytes = bytes;
    return 0;
}

/* ---- reading -------------------------------------------------------------------- */

void phase_graph_finish(struct phase_graph *graph)
{
    free(graph->edges);
    *graph = (struct phase_graph){0};
}

static void phase_graphs_sum_segment(const struct segment *s, int64_t from_ns, int64_t to_ns,
                                     struct phase_graph *out)
{
    bool first = out->segments++ == 0;
    out->across += s->earliest_ns < from_ns || s->latest_ns > to_ns;
    out->other_messages += s->other_messages;
    out->other_bytes += s->other_bytes;
    out->first_ns = first || s->first_ns < out->first_ns ? s->first_ns : out->first_ns;
    out->last_ns = first || s->last_ns > out->last_ns ? s->last_ns : out->last_ns;
}

/* Segments from an index on, up to a time. @return how many */
static uint32_t phase_graphs_count_segments(const struct phase_graphs *g, uint32_t place,
                                            int64_t to_ns)
{
    uint32_t count = 0;
    while (place + count < g->counts.segments && g->segments[place + count]->time_ns <= to_ns)
        count++;
    return count;
}

/* Reads the edges of some segments. @return 0 or -ENOMEM */
static int phase_graphs_read_edges(struct phase_graphs *g, uint32_t first, uint32_t count,
                                   struct phase_graph *out)
{
    struct phase_sums sums;
    if (phase_sums_init(&sums, g->numbers.table.count) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        phase_sums_add(&sums, &g->segments[first + i]->table);
    int code = phase_sums_list(&sums, &g->numbers, out);
    phase_sums_finish(&sums);
    return code;
}

int phase_graphs_read(struct phase_graphs *g, int64_t from_ns, int64_t to_ns,
                      struct phase_graph *out)
{
    struct phase_graph read = {0};
    uint32_t first = phase_graphs_find(g, from_ns),
             count = phase_graphs_count_segments(g, first, to_ns);
    for (uint32_t i = 0; i < count; i++)
        phase_graphs_sum_segment(g->segments[first + i], from_ns, to_ns, &read);
    int rc = phase_graphs_read_edges(g, first, count, &read);
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
    out->edges = g->numbers.table.count;
    out->ranks = g->numbers.ranks;
}

uint64_t phase_graphs_rows(const struct phase_graphs *g, int64_t from_ns, int64_t to_ns)
{
    uint64_t rows = 0;
    for (uint32_t place = phase_graphs_find(g, from_ns); place < g->counts.segments; place++) {
        const struct segment *s = g->segments[place];
        if (s->time_ns > to_ns)
            break;
        rows += s->table.count;
    }
    return rows;
}

/* ---- state ----------------------------------------------------------------- */

void phase_graph_copy_state(struct state_bytes *b, struct phase_graph *graph)
{
    STATE_VALUE(b, *graph);
    STATE_ARRAY(b, graph->edges, graph->count, 0);
}

void phase_graphs_copy_state(struct state_bytes *b, struct phase_graphs **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct phase_graphs *g = *out;
    const size_t capacity = (size_t)g->params.segments + 1;
    key_table_copy_state(b, &g->numbers.table);
    STATE_ARRAY(b, g->numbers.order, g->numbers.ordered, 0);
    state_copy_array(b, &g->segments, sizeof(struct segment *), g->counts.segments, capacity);
    STATE_ARRAY(b, g->boundaries, g->counts.segments, capacity);
    if (g->segments == NULL)
        g->counts.segments = 0;
    for (uint32_t i = 0; i < g->counts.segments; i++) {
        struct segment **segment = &g->segments[i];
        if (STATE_OBJECT(b, *segment))
            STATE_ARRAY(b, (*segment)->table.rows, (*segment)->table.count, 0);
    }
    while (g->counts.segments > 0 && g->segments[g->counts.segments - 1] == NULL)
        g->counts.segments--; /* after an error */
}
