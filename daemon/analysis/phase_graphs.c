#include "daemon/analysis/phase_graphs.h"

#include "daemon/analysis/key_order.h"
#include "daemon/analysis/key_table.h"
#include "daemon/analysis/phase_rows.h"
#include "daemon/analysis/phase_sums.h"
#include "holter/error.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_SHARE (1.0 / 64) /* so that what saves nothing merges as well, but late */
#define EARLY_SHARE 8u         /* of the rows: merging begins when so little is free */
#define EARLY_MERGES 8u        /* for each burst */

struct segment {
    int64_t time_ns;                /* of its part with most messages */
    int64_t earliest_ns, latest_ns; /* representative times of its bursts */
    int64_t first_ns, last_ns;      /* extent */
    uint64_t messages;              /* others included */
    uint64_t other_messages, other_bytes;
    struct phase_list list;
};

/* Rows of a burst whose edges have numbers that follow each other. */
struct span {
    const struct burst_pair *rows;
    uint32_t edge, count; /* of the first; rows */
};

/* Room for a burst while it is taken. */
struct work {
    struct span *spans;       /* of each row at most one */
    struct key_place *places; /* two for each row */
    struct key_place *order;  /* of the spans; among places */
    size_t count;             /* spans */
};

/* What a burst adds up to. */
struct total {
    size_t rows;
    uint64_t large; /* rows that may need several */
    uint64_t messages, bytes;
    bool plain; /* all rows have messages, and no more than fit in one */
};

struct phase_graphs {
    struct phase_graphs_params params;
    struct key_table edges;
    uint32_t first_edge;    /* of the last burst: where to look first */
    struct phase_sums sums; /* room for reading */
    struct phase_pool pool;
    struct segment *segments; /* owned; one more than may stay */
    uint32_t *order;          /* owned; segments by time, then those that are free */
    /* Of the boundary behind each segment by time: rows that merging would save, what of its cost does not
     * depend on age, and the time that its age is counted from. */
    uint32_t *common;       /* owned */
    double *weight, *since; /* owned */
    int64_t newest_ns;
    struct phase_graphs_counts counts;
};

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
    key_table_finish(&g->edges);
    phase_sums_finish(&g->sums);
    phase_pool_finish(&g->pool);
    free(g->segments);
    free(g->order);
    free(g->common);
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

static uint32_t compare(const struct phase_graphs *g, const struct segment *left,
                        const struct segment *right)
{
    return phase_list_common(&g->pool, &left->list, &right->list);
}

/* What it costs to merge a segment with the one behind it, but for its age. */
static void weigh(struct phase_graphs *g, uint32_t place, uint32_t common)
{
    const struct segment *left = at(g, place), *right = at(g, place + 1);
    uint32_t rows = left->list.rows + right->list.rows;
    double share = rows > 0 ? 2.0 * common / rows : 1;
    g->common[place] = common;
    g->weight[place] = (double)(right->time_ns - left->time_ns) / (share + SMALL_SHARE);
    g->since[place] = (double)right->time_ns;
}

static void compare_around(struct phase_graphs *g, uint32_t place)
{
    if (place > 0)
        weigh(g, place - 1, compare(g, at(g, place - 1), at(g, place)));
    if (place + 1 < g->counts.segments)
        weigh(g, place, compare(g, at(g, place), at(g, place + 1)));
}

static void insert(struct phase_graphs *g, uint32_t place, const struct segment *segment)
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

static void take_out(struct phase_graphs *g, uint32_t place)
{
    size_t behind = --g->counts.segments - place;
    uint32_t id = g->order[place];
    memmove(g->order + place, g->order + place + 1, behind * sizeof(*g->order));
    memmove(g->common + place, g->common + place + 1, behind * sizeof(*g->common));
    memmove(g->weight + place, g->weight + place + 1, behind * sizeof(*g->weight));
    memmove(g->since + place, g->since + place + 1, behind * sizeof(*g->since));
    g->order[g->counts.segments] = id;
}

/* Add a later segment to one. @param apart  are they known to have no edge in common? */
static void join(struct phase_graphs *g, struct segment *to, struct segment *from, bool apart)
{
    struct phase_excess excess = {0};
    g->counts.rows -= to->list.rows + from->list.rows;
    if (!apart || !phase_list_link(&g->pool, &to->list, &from->list))
        phase_sums_merge(&g->sums, &g->edges, &g->pool, &to->list, &from->list, &excess);
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

/* Merge a segment with the next. What each neighbour has in common with what comes of them follows from what it
 * had in common with one of them where they have no edges in common, or where one of them, or the neighbour,
 * has no others: nearly always, and long lists are not gone through for it. */
static void join_next(struct phase_graphs *g, uint32_t place)
{
    struct segment *to = at(g, place), *from = at(g, place + 1);
    const struct segment *before = place > 0 ? at(g, place - 1) : NULL,
                         *behind = place + 2 < g->counts.segments ? at(g, place + 2) : NULL;
    uint32_t rows = to->list.rows, from_rows = from->list.rows;
    uint32_t left = before == NULL ? 0 : g->common[place - 1];
    uint32_t right = behind == NULL ? 0 : g->common[place + 1];
    bool apart = g->common[place] == 0;
    if (apart && before != NULL)
        left += compare(g, before, from);
    if (apart && behind != NULL)
        right += compare(g, to, behind);
    join(g, to, from, apart);
    /* No edge has fewer rows than it had in either: as many rows are the same ones. */
    if (!apart && before != NULL && to->list.rows != rows && left != before->list.rows)
        left = compare(g, before, to);
    if (!apart && behind != NULL && to->list.rows != from_rows && right != behind->list.rows)
        right = compare(g, to, behind);
    take_out(g, place + 1);
    if (before != NULL)
        weigh(g, place - 1, left);
    if (behind != NULL)
        weigh(g, place, right);
}

static void keep_bounds(struct phase_graphs *g)
{
    for (uint32_t merges = 0; is_over(g) || (merges < EARLY_MERGES && is_nearly_over(g));
         merges++) {
        uint32_t place = cheapest(g);
        join_next(g, place);
        g->counts.merges++;
    }
}

/* ---- adding --------------------------------------------------------------------- */

/* Add up rows that are plain: each has at least one message and at most 2^32. Bits of all are looked at,
 * in place of each row's: that may say no where rows are in order, but not yes where they are not.
 * @return whether they are, and no sum passes 2^64 */
static bool add_plain(const struct burst_piece *piece, struct total *total)
{
    uint64_t kinds = 0, bits = 0, messages = 0, carries = 0, bytes = total->bytes;
    for (const struct burst_pair *e = piece->rows, *end = e + piece->count; e < end; e++) {
        kinds |= (uint64_t)e->modelled << 32 | e->size_class;
        bits |= e->messages | (e->messages - 1);
        messages += e->messages;
        carries += __builtin_add_overflow(bytes, e->bytes, &bytes);
    }
    if (carries > 0 || bits > UINT32_MAX || kinds >> 33 != 0 || (uint32_t)kinds >= SIZE_CLASSES ||
        piece->count > UINT32_MAX || __builtin_add_overflow(total->messages, messages, &messages))
        return false;
    total->messages = messages;
    total->bytes = bytes;
    return true;
}

/* Each row for itself. @return 0 or -HOLTER_ERANGE */
static int add_rows(const struct burst_piece *piece, struct total *total)
{
    for (size_t i = 0; i < piece->count; i++) {
        const struct burst_pair *e = &piece->rows[i];
        if (e->size_class >= SIZE_CLASSES || e->modelled > 1 ||
            __builtin_add_overflow(total->messages, e->messages, &total->messages) ||
            (e->messages > 0 && __builtin_add_overflow(total->bytes, e->bytes, &total->bytes)))
            return -HOLTER_ERANGE;
        total->large += e->messages > UINT32_MAX;
    }
    total->plain = false;
    return 0;
}

/* Whether a burst may be taken: its values, and that no sum of the job passes 2^64. */
static int check(const struct phase_graphs *g, const struct phase_burst *b, struct total *total)
{
    const int64_t most = PHASE_GRAPHS_TIME_MOST;
    uint64_t sum;
    int code = 0;
    if (b->first_ns < -most || b->last_ns > most || b->first_ns > b->time_ns ||
        b->time_ns > b->last_ns)
        return -HOLTER_ERANGE;
    *total = (struct total){.messages = b->other_messages, .bytes = b->other_bytes, .plain = true};
    for (size_t i = 0; code == 0 && i < b->count; i++) {
        total->rows += b->pieces[i].count;
        code = add_plain(&b->pieces[i], total) ? 0 : add_rows(&b->pieces[i], total);
    }
    if (code != 0 || __builtin_add_overflow(total->messages, g->counts.messages, &sum) ||
        __builtin_add_overflow(total->bytes, g->counts.bytes, &sum))
        return -HOLTER_ERANGE;
    return 0;
}

/* How many rows have the edges from a number on, one after the other. */
static uint32_t match(const struct phase_graphs *g, uint32_t edge, const struct burst_pair *rows,
                      size_t most)
{
    uint32_t known = g->edges.count - edge;
    const struct key *there = g->edges.keys + edge;
    const struct burst_pair *row = rows, *end = rows + (most < known ? most : known);
    for (; row < end; row++, there++) {
        const struct key key = phase_edge_key(row);
        if (there->hi != key.hi || there->lo != key.lo)
            break;
    }
    return (uint32_t)(row - rows);
}

static void note_ranks(struct phase_graphs *g, const struct burst_pair *e)
{
    uint32_t highest = e->source > e->destination ? e->source : e->destination;
    g->counts.ranks = highest >= g->counts.ranks ? (uint64_t)highest + 1 : g->counts.ranks;
}

/* Number the edges of a piece; those that have no number any more become others. Edges got their numbers
 * in the order of the first burst that had them, and bursts are alike: mostly the next row has the next
 * number. @param before  edge of the row before it @return that of the last row */
static uint32_t number_edges(struct phase_graphs *g, const struct burst_piece *piece,
                             uint32_t before, struct work *work, struct segment *segment)
{
    for (size_t i = 0, count; i < piece->count; i += count) {
        const struct burst_pair *e = &piece->rows[i];
        const struct key key = phase_edge_key(e);
        count = 1;
        if (e->messages == 0)
            continue;
        note_ranks(g, e); /* of edges that are known it is */
        uint32_t edge = g->edges.count < g->params.edges
                            ? key_table_add(&g->edges, key, before, g->first_edge)
                            : key_table_find(&g->edges, key);
        if (edge == KEY_NONE) {
            segment->other_messages += e->messages;
            segment->other_bytes += e->bytes;
            continue;
        }
        if (before == KEY_NONE)
            g->first_edge = edge;
        uint32_t more = match(g, edge + 1, e + 1, piece->count - i - 1);
        work->spans[work->count++] = (struct span){e, edge, more + 1};
        before = edge + more;
        count += more;
    }
    return before;
}

/* @return whether each edge is in one span only */
static bool order_spans(struct work *work)
{
    struct key_place *order = work->places;
    bool sorted = true;
    for (size_t i = 0; i < work->count; i++) {
        order[i] = (struct key_place){work->spans[i].edge, (uint32_t)i};
        sorted = sorted && (i == 0 || order[i - 1].key < order[i].key);
    }
    if (!sorted)
        order = key_order(order, order + work->count, work->count);
    for (size_t i = 1; i < work->count; i++) {
        const struct span *before = &work->spans[order[i - 1].place];
        if (before->edge + before->count > order[i].key)
            return false;
    }
    work->order = order;
    return true;
}

static void list_spans(struct phase_graphs *g, const struct work *work, struct segment *segment)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct span *span = &work->spans[work->order[i].place];
        const struct burst_pair *e = span->rows;
        uint32_t edge = span->edge;
        for (size_t left = span->count, here; left > 0; left -= here) {
            struct phase_row *row = phase_list_extend(&g->pool, &segment->list, left, &here);
            for (struct phase_row *end = row + here; row < end; e++, row++)
                *row = (struct phase_row){edge++, (uint32_t)e->messages, e->bytes};
        }
    }
}

/* Row by row: edges may be told more than once, or need several rows. */
static void list_rows(struct phase_graphs *g, const struct work *work, struct segment *segment)
{
    struct key_place *places = work->places;
    struct phase_excess excess = {0};
    size_t count = 0;
    for (uint32_t s = 0; s < work->count; s++)
        for (uint32_t i = 0; i < work->spans[s].count; i++)
            places[count++] = (struct key_place){(uint64_t)work->spans[s].edge + i, s};
    places = key_order(places, places + count, count);
    for (size_t i = 0; i < count;) {
        uint64_t edge = places[i].key, messages = 0, bytes = 0;
        for (; i < count && places[i].key == edge; i++) {
            const struct span *span = &work->spans[places[i].place];
            const struct burst_pair *row = &span->rows[edge - span->edge];
            messages += row->messages;
            bytes += row->messages > 0 ? row->bytes : 0;
        }
        if (messages > 0)
            phase_list_append(&g->pool, &segment->list, (uint32_t)edge, messages, bytes, &excess);
    }
    segment->other_messages += excess.messages;
    segment->other_bytes += excess.bytes;
}

static int reserve(struct phase_graphs *g, const struct total *total)
{
    size_t further = g->params.edges - g->edges.count;
    uint64_t rows = total->rows + total->large * PHASE_ROW_SPLIT;
    if (total->rows > PHASE_GRAPHS_MOST_ROWS ||
        key_table_reserve(&g->edges, total->rows < further ? total->rows : further) != 0)
        return -ENOMEM;
    return phase_pool_reserve(&g->pool, rows / PHASE_BLOCK + 1 + PHASE_MERGE_BLOCKS);
}

static int fill(struct phase_graphs *g, const struct phase_burst *b, const struct total *total,
                struct segment *segment)
{
    struct key_place *places = malloc((2 * total->rows + 1) * sizeof(*places));
    struct span *spans = malloc((total->rows + 1) * sizeof(*spans));
    struct work work = {.spans = spans, .places = places};
    uint32_t before = KEY_NONE;
    int code = places == NULL || spans == NULL ? -ENOMEM : reserve(g, total);
    for (size_t i = 0; code == 0 && i < b->count; i++)
        before = number_edges(g, &b->pieces[i], before, &work, segment);
    if (code == 0 && order_spans(&work) && total->plain)
        list_spans(g, &work, segment);
    else if (code == 0)
        list_rows(g, &work, segment);
    free(places);
    free(spans);
    return code;
}

static void put(struct phase_graphs *g, struct segment *segment)
{
    uint32_t place = find(g, segment->time_ns);
    g->counts.rows += segment->list.rows;
    g->newest_ns = segment->time_ns > g->newest_ns ? segment->time_ns : g->newest_ns;
    if (place < g->counts.segments && at(g, place)->time_ns == segment->time_ns)
        join(g, at(g, place), segment, false);
    else
        insert(g, place, segment);
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
    struct total total;
    int rc = check(g, burst, &total);
    if (rc != 0)
        return rc;
    segment.messages = total.messages;
    if (total.messages > 0 || total.bytes > 0) {
        rc = fill(g, burst, &total, &segment);
        if (rc != 0)
            return rc;
        g->counts.other_messages += segment.other_messages;
        g->counts.other_bytes += segment.other_bytes;
        put(g, &segment);
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

int phase_graphs_read(struct phase_graphs *g, int64_t from_ns, int64_t to_ns,
                      struct phase_graph *out)
{
    struct phase_graph read = {0};
    int rc = phase_sums_begin(&g->sums, &g->edges);
    if (rc != 0)
        return rc;
    for (uint32_t place = find(g, from_ns); place < g->counts.segments; place++) {
        const struct segment *s = at(g, place);
        if (s->time_ns > to_ns)
            break;
        phase_sums_add(&g->sums, &g->pool, &s->list);
        sum_segment(s, from_ns, to_ns, &read);
    }
    rc = phase_sums_end(&g->sums, &g->edges, &read);
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
    size_t segment = sizeof(*g->segments) + sizeof(*g->order) + sizeof(*g->common) +
                     sizeof(*g->weight) + sizeof(*g->since);
    return sizeof(*g) + key_table_bytes(&g->edges) + phase_sums_bytes(&g->sums) +
           phase_pool_bytes(&g->pool) + ((size_t)g->params.segments + 1) * segment;
}
