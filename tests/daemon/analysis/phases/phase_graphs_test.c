/* Graphs of intervals against a plain table of all that was added, and the limits of memory. */
#include "daemon/analysis/phases/phase_graphs.h"

#include "holter/error.h"
#include "tests/daemon/analysis/regions/graphs.h"
#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)
#define RANKS 12u
#define CLASSES 3u
#define CELLS (RANKS * RANKS * 2 * CLASSES)
#define MOST_ROWS 40u
#define EVER INT64_MIN, INT64_MAX

static struct phase_graphs *create(uint32_t rows, uint32_t edges, uint32_t segments)
{
    const struct phase_graphs_params params = {rows, edges, segments, SECOND};
    struct phase_graphs *graphs;
    assert_int_equal(phase_graphs_create(&graphs, &params), 0);
    return graphs;
}

static struct phase_graphs_counts counts_of(const struct phase_graphs *graphs)
{
    struct phase_graphs_counts counts;
    phase_graphs_count(graphs, &counts);
    return counts;
}

static int add_edges(struct phase_graphs *graphs, struct phase_burst burst,
                     const struct phase_edge *edges, size_t count)
{
    static struct burst_pair pairs[1 << 15];
    assert_true(count <= sizeof(pairs) / sizeof(pairs[0]));
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct burst_pair){edges[i].source,   edges[i].destination, edges[i].size_class,
                                       edges[i].modelled, edges[i].messages,    edges[i].bytes};
    burst.pairs = pairs;
    burst.count = count;
    return phase_graphs_add(graphs, &burst);
}

static int add_at(struct phase_graphs *graphs, int64_t time_ns, const struct phase_edge *edges,
                  size_t count)
{
    const struct phase_burst burst = {
        .time_ns = time_ns, .first_ns = time_ns - 5, .last_ns = time_ns + 7};
    return add_edges(graphs, burst, edges, count);
}

static struct phase_graph read_of(struct phase_graphs *graphs, int64_t from_ns, int64_t to_ns)
{
    struct phase_graph graph = {0};
    assert_int_equal(phase_graphs_read(graphs, from_ns, to_ns, &graph), 0);
    return graph;
}

/* ---- the plain reference: a table of all there can be, for each burst -------------- */

struct cell {
    uint64_t messages, bytes;
};

struct plain {
    int64_t time_ns;
    struct phase_edge edges[MOST_ROWS];
    size_t count;
    uint64_t other_messages;
};

static size_t cell_of(const struct phase_edge *e)
{
    return ((e->source * RANKS + e->destination) * 2 + e->modelled) * CLASSES + e->size_class;
}

static struct plain make_burst(int64_t time_ns, uint64_t *random)
{
    struct plain b = {.time_ns = time_ns, .count = random_next(random) % MOST_ROWS};
    for (size_t i = 0; i < b.count; i++) {
        b.edges[i] = (struct phase_edge){random_next(random) % RANKS,
                                         random_next(random) % RANKS,
                                         (uint16_t)(random_next(random) % CLASSES),
                                         (uint16_t)(random_next(random) % 2),
                                         random_next(random) % 4,
                                         random_next(random)};
        if (random_next(random) % 512 == 0)
            b.edges[i].messages = UINT64_C(3) << 30; /* two of them need two rows */
    }
    b.other_messages = random_next(random) % 3;
    return b;
}

static int add_plain(struct phase_graphs *graphs, const struct plain *b)
{
    const struct phase_burst burst = {.time_ns = b->time_ns,
                                      .first_ns = b->time_ns - 5,
                                      .last_ns = b->time_ns + 7,
                                      .other_messages = b->other_messages};
    return add_edges(graphs, burst, b->edges, b->count);
}

static void assert_graph_is(struct phase_graphs *graphs, const struct plain *bursts, size_t count,
                            int64_t from_ns, int64_t to_ns)
{
    static struct cell cells[CELLS];
    uint64_t others = 0;
    size_t edges = 0, at = 0;
    memset(cells, 0, sizeof(cells));
    for (size_t i = 0; i < count; i++) {
        if (bursts[i].time_ns < from_ns || bursts[i].time_ns > to_ns)
            continue;
        others += bursts[i].other_messages;
        for (size_t k = 0; k < bursts[i].count; k++) {
            const struct phase_edge *e = &bursts[i].edges[k];
            struct cell *cell = &cells[cell_of(e)];
            edges += e->messages > 0 && cell->messages == 0;
            cell->messages += e->messages;
            cell->bytes += e->messages > 0 ? e->bytes : 0;
        }
    }
    struct phase_graph graph = read_of(graphs, from_ns, to_ns);
    assert_int_equal(graph.count, edges);
    assert_int_equal(graph.other_messages, others);
    for (size_t i = 0; i < graph.count; i++) {
        size_t cell = cell_of(&graph.edges[i]);
        assert_true(i == 0 || at < cell); /* by source, destination, modelled, class */
        at = cell;
        assert_true(graph.edges[i].messages == cells[cell].messages);
        assert_true(graph.edges[i].bytes == cells[cell].bytes);
    }
    phase_graph_finish(&graph);
}

/* ---- tests ------------------------------------------------------------------------- */

static void sums_are_those_of_the_plain_method(void **state)
{
    static struct plain bursts[200];
    uint64_t random = 1;
    (void)state;
    struct phase_graphs *graphs = create(1u << 16, 1024, 256);
    for (size_t i = 0; i < 200; i++) {
        bursts[i] = make_burst(random_next(&random) % 150 * SECOND, &random); /* some together */
        assert_int_equal(add_plain(graphs, &bursts[i]), 0);
    }
    assert_int_equal(counts_of(graphs).merges, 0);
    assert_graph_is(graphs, bursts, 200, EVER);
    for (int round = 0; round < 50; round++) {
        int64_t from = random_next(&random) % 150 * SECOND,
                to = random_next(&random) % 150 * SECOND;
        assert_graph_is(graphs, bursts, 200, from, to);
        assert_true(phase_graphs_segments(graphs, from, to) <= 150);
    }
    phase_graphs_destroy(graphs);
}

static bool graph_is_same(const struct phase_graph *one, const struct phase_graph *other)
{
    return one->count == other->count &&
           (one->count == 0 ||
            memcmp(one->edges, other->edges, one->count * sizeof(*one->edges)) == 0);
}

/* Two patterns take turns. A graph that is held stays as it was, whatever is read after it. */
static void equal_sums_are_equal_graphs(void **state)
{
    static struct plain bursts[40];
    struct phase_graph held[2] = {0};
    uint64_t random = 12;
    (void)state;
    struct phase_graphs *graphs = create(1u << 16, 1024, 128);
    for (size_t i = 0; i < 40; i++) {
        uint64_t same = 100 + i % 2;
        bursts[i] = make_burst((int64_t)i * SECOND, i % 20 == 19 ? &random : &same);
        assert_int_equal(add_plain(graphs, &bursts[i]), 0);
        struct phase_graph read = read_of(graphs, (int64_t)i * SECOND, (int64_t)i * SECOND);
        if (i % 20 > 3 && i % 20 < 19)
            assert_true(graph_is_same(&read, &held[i % 2]));
        if (i % 20 == 19)
            assert_false(graph_is_same(&read, &held[i % 2]));
        phase_graph_finish(&held[i % 2]);
        held[i % 2] = read;
        assert_graph_is(graphs, bursts, i + 1, (int64_t)i * SECOND, (int64_t)i * SECOND);
    }
    for (size_t k = 0; k < 2; k++) {
        int64_t time_ns = (38 + (int64_t)k) * SECOND;
        assert_graph_is(graphs, bursts, 40, EVER);
        struct phase_graph again = read_of(graphs, time_ns, time_ns);
        assert_true(graph_is_same(&again, &held[k]));
        phase_graph_finish(&again);
        phase_graph_finish(&held[k]);
    }
    phase_graphs_destroy(graphs);
}

/* Three groups of ranks whose bursts come in another order each time, alone or as one. Now and
 * then one message more is sent, or one less of another edge. */
static void sums_do_not_depend_on_how_bursts_are_cut(void **state)
{
    static struct phase_edge edges[3][700], all[2100];
    struct phase_graph held = {0};
    uint64_t random = 14;
    (void)state;
    struct phase_graphs *graphs = create(1u << 15, 4096, 24);
    for (uint32_t i = 0; i < 2100; i++)
        edges[i / 700][i % 700] = (struct phase_edge){i, i + 1, 3, 0, 2, i};
    for (int64_t t = 0; t < 120; t++) {
        uint32_t first = (uint32_t)(random_next(&random) % 3), odd = t % 10 > 7;
        uint64_t whole = random_next(&random) % 2;
        edges[0][5].messages += odd;
        edges[0][6].messages -= t % 10 == 9;
        for (uint32_t i = 0, count = 0; i < 3; i++) {
            memcpy(all + count, edges[(first + i) % 3], sizeof(edges[0]));
            count += 700;
            if (whole && i < 2)
                continue;
            assert_int_equal(add_at(graphs, t * SECOND + i, all, count), 0);
            count = 0;
        }
        struct phase_graph read = read_of(graphs, t * SECOND, t * SECOND + 2);
        for (size_t i = 0; i < 2100; i++) {
            const struct phase_edge *e = &edges[i / 700][i % 700];
            assert_memory_equal(&read.edges[i], e, sizeof(*e));
        }
        assert_int_equal(read.count, 2100);
        if (t % 10 > 2 && t % 10 < 8)
            assert_true(graph_is_same(&read, &held));
        edges[0][5].messages -= odd;
        edges[0][6].messages += t % 10 == 9;
        phase_graph_finish(&held);
        held = read;
    }
    assert_true(counts_of(graphs).merges > 20);
    phase_graph_finish(&held);
    phase_graphs_destroy(graphs);
}

/* Of many edges an interval may have a few. */
static void few_of_many_edges_are_in_order(void **state)
{
    static struct phase_edge edges[20000];
    uint64_t random = 13;
    (void)state;
    struct phase_graphs *graphs = create(1 << 17, 1 << 15, 128);
    for (uint32_t i = 0; i < 20000; i++)
        edges[i] = (struct phase_edge){(i * 7919) % 20000, i % 3, 3, 0, 1, i};
    assert_int_equal(add_at(graphs, 0, edges, 20000), 0);
    for (int64_t t = 1; t < 100; t++) {
        struct phase_edge few[40];
        size_t count = 1 + random_next(&random) % 40;
        uint64_t bytes = 0;
        for (size_t i = 0; i < count; i++) {
            few[i] = edges[random_next(&random) % 20000];
            bytes += few[i].bytes;
        }
        assert_int_equal(add_at(graphs, t * SECOND, few, count), 0);
        struct phase_graph read = read_of(graphs, t * SECOND, t * SECOND);
        assert_int_equal(read.messages, count);
        assert_int_equal(read.bytes, bytes);
        for (size_t i = 0; i < read.count; i++) {
            uint64_t told = 0;
            assert_true(i == 0 || read.edges[i - 1].source < read.edges[i].source);
            for (size_t k = 0; k < count; k++)
                told += few[k].source == read.edges[i].source;
            assert_int_equal(read.edges[i].messages, told);
        }
        phase_graph_finish(&read);
    }
    phase_graphs_destroy(graphs);
}

static void order_does_not_matter_while_nothing_merges(void **state)
{
    static struct plain bursts[100];
    uint64_t random = 2;
    (void)state;
    struct phase_graphs *one = create(1u << 16, 1024, 128), *other = create(1u << 16, 1024, 128);
    for (size_t i = 0; i < 100; i++) {
        bursts[i] = make_burst(random_next(&random) % 80 * SECOND, &random);
        assert_int_equal(add_plain(one, &bursts[i]), 0);
    }
    for (size_t i = 100; i-- > 0;)
        assert_int_equal(add_plain(other, &bursts[i]), 0);
    assert_int_equal(phase_graphs_segments(one, EVER), phase_graphs_segments(other, EVER));
    for (int64_t from = 0; from < 80; from += 7) {
        struct phase_graph a = read_of(one, from * SECOND, (from + 9) * SECOND);
        struct phase_graph b = read_of(other, from * SECOND, (from + 9) * SECOND);
        assert_int_equal(a.count, b.count);
        for (size_t i = 0; i < a.count; i++) {
            assert_int_equal(cell_of(&a.edges[i]), cell_of(&b.edges[i]));
            assert_true(a.edges[i].messages == b.edges[i].messages);
            assert_true(a.edges[i].bytes == b.edges[i].bytes);
        }
        assert_true(a.segments == b.segments && a.first_ns == b.first_ns);
        assert_true(a.last_ns == b.last_ns && a.other_messages == b.other_messages);
        phase_graph_finish(&a);
        phase_graph_finish(&b);
    }
    phase_graphs_destroy(one);
    phase_graphs_destroy(other);
}

static void merging_loses_no_message(void **state)
{
    static struct plain bursts[2000];
    uint64_t random = 3;
    (void)state;
    for (uint32_t segments = 2; segments <= 64; segments *= 4) {
        struct phase_graphs *graphs = create(6000, 1024, segments);
        for (size_t i = 0; i < 2000; i++) {
            int64_t late = random_next(&random) % 8 == 0 ? random_next(&random) % 50 : 0;
            bursts[i] = make_burst(((int64_t)i - late) * SECOND, &random);
            assert_int_equal(add_plain(graphs, &bursts[i]), 0);
            assert_true(counts_of(graphs).segments <= segments);
            assert_true(counts_of(graphs).rows <= 6000);
        }
        assert_graph_is(graphs, bursts, 2000, EVER);
        /* intervals that follow each other have everything once */
        uint64_t messages = 0, others = 0;
        for (int64_t from = -60; from < 2000; from += 13) {
            struct phase_graph g = read_of(graphs, from * SECOND, (from + 13) * SECOND - 1);
            messages += g.messages;
            others += g.other_messages;
            phase_graph_finish(&g);
        }
        struct phase_graph all = read_of(graphs, EVER);
        assert_true(messages == all.messages && others == all.other_messages);
        assert_true(messages + others == counts_of(graphs).messages);
        assert_int_equal(all.across, 0);
        phase_graph_finish(&all);
        phase_graphs_destroy(graphs);
    }
}

/* 64 neighbours in a ring; another pattern sends further. */
static void fill_ring(struct phase_edge *edges, uint32_t distance)
{
    for (uint32_t r = 0; r < 64; r++)
        edges[r] = (struct phase_edge){r, (r + distance) % 64, 10, 0, 1, 100};
}

static void detail_fades_with_age(void **state)
{
    struct phase_edge edges[64];
    (void)state;
    struct phase_graphs *graphs = create(1u << 20, 4096, 256);
    fill_ring(edges, 1);
    for (int64_t t = 0; t < 20000; t++)
        assert_int_equal(add_at(graphs, t * SECOND, edges, 64), 0);
    /* the last windows are all there, and of each octave of age about as many */
    uint32_t last = phase_graphs_segments(graphs, 19980 * SECOND, INT64_MAX), least = UINT32_MAX;
    for (int64_t age = 64; age <= 8192; age *= 2) {
        uint32_t here =
            phase_graphs_segments(graphs, (20000 - 2 * age) * SECOND, (20000 - age) * SECOND - 1);
        least = here < least ? here : least;
    }
    assert_int_equal(counts_of(graphs).segments, 256);
    assert_true(last >= 15 && least >= 10);
    phase_graphs_destroy(graphs);
}

static void phases_of_different_patterns_stay_apart(void **state)
{
    struct phase_edge edges[2][64];
    (void)state;
    struct phase_graphs *graphs = create(1u << 20, 4096, 64);
    fill_ring(edges[0], 1);
    fill_ring(edges[1], 5);
    for (int64_t t = 0; t < 2000; t++) /* every 100 windows 10 of another pattern */
        assert_int_equal(add_at(graphs, t * SECOND, edges[t % 100 >= 90], 64), 0);
    for (int64_t t = 0; t < 2000; t += 100) {
        struct phase_graph a = read_of(graphs, t * SECOND, (t + 90) * SECOND - 1);
        struct phase_graph b = read_of(graphs, (t + 90) * SECOND, (t + 100) * SECOND - 1);
        assert_true(a.count == 64 && b.count == 64);
        assert_true(a.messages == 90 * 64 && b.messages == 10 * 64);
        assert_true(a.across == 0 && b.across == 0);
        phase_graph_finish(&a);
        phase_graph_finish(&b);
    }
    phase_graphs_destroy(graphs);
}

static void bursts_from_outside_an_interval_are_counted(void **state)
{
    struct phase_edge edges[64];
    (void)state;
    struct phase_graphs *graphs = create(1u << 20, 4096, 2);
    fill_ring(edges, 1);
    for (int64_t t = 0; t < 3; t++) /* the first two are one, at the time of the first */
        assert_int_equal(add_at(graphs, (t + t / 2 * 10) * SECOND, edges, 64), 0);
    struct phase_graph in = read_of(graphs, 0, 0), both = read_of(graphs, 0, SECOND);
    struct phase_graph none = read_of(graphs, SECOND, SECOND);
    assert_true(in.segments == 1 && in.across == 1 && in.messages == 128);
    assert_true(both.segments == 1 && both.across == 0 && both.last_ns == SECOND + 7);
    assert_true(none.segments == 0 && none.messages == 0 && both.first_ns == -5);
    phase_graph_finish(&in);
    phase_graph_finish(&both);
    phase_graph_finish(&none);
    phase_graphs_destroy(graphs);
}

static void rows_are_bounded_where_nothing_is_saved(void **state)
{
    struct phase_edge edges[50];
    (void)state;
    struct phase_graphs *graphs = create(4000, 1000, 500);
    for (uint32_t t = 0; t < 2000; t++) { /* every burst has edges of its own, 2,000 in turn */
        for (uint32_t i = 0; i < 50; i++)
            edges[i] = (struct phase_edge){(t * 50 + i) % 2000, t % 40 * 50 + i, 3, 0, 2, 6};
        assert_int_equal(add_at(graphs, t * SECOND, edges, 50), 0);
        assert_true(counts_of(graphs).rows <= 4000);
    }
    struct phase_graphs_counts counts = counts_of(graphs);
    struct phase_graph all = read_of(graphs, EVER);
    assert_int_equal(counts.edges, 1000);
    assert_true(counts.messages == 2000 * 100 && counts.bytes == 2000 * 300);
    assert_true(all.messages + all.other_messages == counts.messages);
    assert_true(all.bytes + all.other_bytes == counts.bytes);
    assert_true(all.other_messages == counts.other_messages && all.other_messages == 100000);
    phase_graph_finish(&all);
    phase_graphs_destroy(graphs);
}

static void a_burst_merges_only_a_few(void **state)
{
    struct phase_edge edges[16];
    uint64_t merges = 0, most = 0;
    (void)state;
    struct phase_graphs *graphs = create(20000, 1024, 4096);
    for (uint32_t t = 0; t < 8000; t++) { /* nothing in common with the 63 bursts before */
        for (uint32_t i = 0; i < 16; i++)
            edges[i] = (struct phase_edge){t % 64 * 16 + i, 0, 3, 0, 1, 3};
        assert_int_equal(add_at(graphs, t * SECOND / 32, edges, 16), 0);
        uint64_t now = counts_of(graphs).merges;
        most = now - merges > most ? now - merges : most;
        merges = now;
        assert_true(counts_of(graphs).rows <= 20000);
    }
    assert_true(merges > 6000 && most <= 8);
    phase_graphs_destroy(graphs);
}

static void what_passes_four_rows_is_counted(void **state)
{
    const struct phase_edge edge = {1, 2, 3, 1, UINT64_C(5) << 32, UINT64_C(1) << 60};
    struct phase_graph graph;
    (void)state;
    struct phase_graphs *graphs = create(64, 16, 4);
    assert_int_equal(add_at(graphs, 0, &edge, 1), 0);
    assert_int_equal(add_at(graphs, 0, &edge, 1), 0);
    assert_int_equal(counts_of(graphs).rows, 4);
    graph = read_of(graphs, EVER);
    assert_int_equal(graph.count, 1);
    assert_true(graph.edges[0].messages == 4 * (uint64_t)UINT32_MAX);
    assert_true(graph.messages + graph.other_messages == UINT64_C(10) << 32);
    assert_true(graph.bytes + graph.other_bytes == UINT64_C(1) << 61);
    phase_graph_finish(&graph);
    phase_graphs_destroy(graphs);
}

/* The second burst has none of the edges of the first; the third has edges of both and one more. */
static void merged_sums_may_need_another_row(void **state)
{
    const uint64_t many = UINT64_C(3) << 30;
    const struct phase_edge edges[4] = {
        {1, 2, 0, 0, many, 10}, {2, 3, 0, 0, 7, 20}, {3, 4, 0, 0, many, 30}, {4, 5, 0, 0, 1, 40}};
    const struct phase_edge third[3] = {edges[0], edges[2], edges[3]};
    (void)state;
    struct phase_graphs *graphs = create(64, 16, 4);
    assert_int_equal(add_at(graphs, 0, edges, 2), 0);
    assert_int_equal(add_at(graphs, 0, edges + 2, 1), 0);
    assert_int_equal(add_at(graphs, 0, third, 3), 0);
    assert_int_equal(counts_of(graphs).rows, 6);
    struct phase_graph graph = read_of(graphs, EVER);
    assert_int_equal(graph.count, 4);
    assert_true(graph.edges[0].messages == 2 * many && graph.edges[0].bytes == 20);
    assert_true(graph.edges[1].messages == 7 && graph.edges[1].bytes == 20);
    assert_true(graph.edges[2].messages == 2 * many && graph.edges[2].bytes == 60);
    assert_true(graph.edges[3].messages == 1 && graph.edges[3].bytes == 40);
    phase_graph_finish(&graph);
    phase_graphs_destroy(graphs);
}

static void what_is_out_of_range_is_refused(void **state)
{
    struct phase_graphs *graphs = NULL;
    const struct phase_edge good = {1, 2, 3, 0, 1, UINT64_MAX}, wide = {1, 2, 992, 0, 1, 1};
    const struct phase_edge kind = {1, 2, 3, 2, 1, 1}, nothing = {1, 2, 3, 0, 0, UINT64_MAX};
    struct phase_graphs_params params = PHASE_GRAPHS_DEFAULTS;
    (void)state;
    params.edges = params.rows / 2;
    assert_int_equal(phase_graphs_create(&graphs, &params), -HOLTER_ERANGE);
    params = PHASE_GRAPHS_DEFAULTS;
    params.segments = 1;
    assert_int_equal(phase_graphs_create(&graphs, &params), -HOLTER_ERANGE);
    params = PHASE_GRAPHS_DEFAULTS;
    params.window_ns = 0;
    assert_int_equal(phase_graphs_create(&graphs, &params), -HOLTER_ERANGE);
    assert_null(graphs);
    graphs = create(64, 16, 4);
    assert_int_equal(add_at(graphs, INT64_MAX / 2, &good, 1), -HOLTER_ERANGE);
    assert_int_equal(add_at(graphs, 0, &wide, 1), -HOLTER_ERANGE);
    assert_int_equal(add_at(graphs, 0, &kind, 1), -HOLTER_ERANGE);
    const struct phase_burst turned = {.time_ns = 5, .first_ns = 6, .last_ns = 4};
    assert_int_equal(phase_graphs_add(graphs, &turned), -HOLTER_ERANGE);
    assert_int_equal(counts_of(graphs).bursts, 0);
    assert_int_equal(add_at(graphs, 0, &nothing, 1), 0); /* no message: nothing is kept */
    assert_int_equal(phase_graphs_segments(graphs, EVER), 0);
    assert_int_equal(add_at(graphs, 0, &good, 1), 0);
    assert_int_equal(add_at(graphs, 0, &good, 1), -HOLTER_ERANGE); /* bytes beyond 2^64 */
    assert_int_equal(phase_graphs_segments(graphs, 0, 0), 1);
    assert_int_equal(phase_graphs_segments(graphs, 1, 0), 0);
    struct phase_graph graph = read_of(graphs, 1, INT64_MAX);
    assert_true(graph.count == 0 && graph.segments == 0 && graph.messages == 0);
    phase_graph_finish(&graph);
    phase_graphs_destroy(graphs);
    phase_graphs_destroy(NULL);
}

static void memory_is_bounded(void **state)
{
    static struct phase_edge edges[3000];
    uint64_t random = 9;
    (void)state;
    struct phase_graphs *graphs = create(40000, 4000, 64);
    for (int64_t t = 0; t < 1000; t++) {
        for (uint32_t i = 0; i < 3000; i++)
            edges[i] = (struct phase_edge){i, random_next(&random) % 2, 3, 0, 1, 8};
        assert_int_equal(add_at(graphs, t * SECOND, edges, 3000), 0);
    }
    /* rows, what a burst borrows, edges, segments */
    size_t bytes = memory_used();
    phase_graphs_destroy(graphs);
    bytes -= memory_used();
    assert_true(bytes < 16 * (40000 + 3000) + 60 * 4000 + 200 * 64);
}

static void a_graph_of_nothing_but_others_has_no_edges(void **state)
{
    (void)state;
    struct phase_graphs *graphs = create(1 << 10, 1 << 8, 16);
    struct phase_graph graph = {0};
    const struct phase_burst burst = {
        .time_ns = 5, .first_ns = 4, .last_ns = 6, .other_messages = 7, .other_bytes = 70};
    assert_int_equal(phase_graphs_read(graphs, 0, 10, &graph), 0);
    assert_int_equal(graph.count, 0);
    assert_int_equal(phase_graphs_add(graphs, &burst), 0);
    assert_int_equal(phase_graphs_read(graphs, 0, 10, &graph), 0);
    assert_int_equal(graph.count, 0);
    assert_int_equal(graph.other_messages, 7);
    assert_int_equal(phase_graphs_rows(graphs, 0, 10), 0);
    phase_graph_finish(&graph);
    phase_graphs_destroy(graphs);
}

/* Edges that come later have their place among those that came before. */
static void edges_are_in_order_whenever_they_came(void **state)
{
    (void)state;
    struct phase_graphs *graphs = create(1 << 16, 1 << 12, 64);
    struct phase_graph graph = {0};
    for (uint32_t i = 0; i < 400; i++) {
        struct phase_edge edge = {.source = i * 7919 % 401,
                                  .destination = i * 31 % 37,
                                  .size_class = (uint16_t)(i % 3),
                                  .messages = 1,
                                  .bytes = i};
        const struct phase_burst burst = {.time_ns = i, .first_ns = i, .last_ns = i};
        assert_int_equal(add_edges(graphs, burst, &edge, 1), 0);
        if (i % 50 != 49)
            continue;
        assert_int_equal(phase_graphs_read(graphs, 0, 1000, &graph), 0);
        assert_int_equal(graph.count, i + 1);
        for (uint32_t e = 1; e < graph.count; e++)
            assert_true(graph.edges[e - 1].source < graph.edges[e].source);
    }
    assert_int_equal(phase_graphs_rows(graphs, 0, 1000), counts_of(graphs).rows);
    assert_int_equal(phase_graphs_read(graphs, 3, 3, &graph), 0);
    phase_graph_finish(&graph);
    phase_graphs_destroy(graphs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_plain_method),
        cmocka_unit_test(a_graph_of_nothing_but_others_has_no_edges),
        cmocka_unit_test(edges_are_in_order_whenever_they_came),
        cmocka_unit_test(equal_sums_are_equal_graphs),
        cmocka_unit_test(sums_do_not_depend_on_how_bursts_are_cut),
        cmocka_unit_test(few_of_many_edges_are_in_order),
        cmocka_unit_test(order_does_not_matter_while_nothing_merges),
        cmocka_unit_test(merging_loses_no_message),
        cmocka_unit_test(detail_fades_with_age),
        cmocka_unit_test(phases_of_different_patterns_stay_apart),
        cmocka_unit_test(bursts_from_outside_an_interval_are_counted),
        cmocka_unit_test(rows_are_bounded_where_nothing_is_saved),
        cmocka_unit_test(a_burst_merges_only_a_few),
        cmocka_unit_test(what_passes_four_rows_is_counted),
        cmocka_unit_test(merged_sums_may_need_another_row),
        cmocka_unit_test(what_is_out_of_range_is_refused),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
