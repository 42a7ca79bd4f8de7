/* Sums of pairs over the time of a job: what a row costs, and the memory of a long day.
 *
 *   phase_graphs_bench [WINDOWS] [BURSTS]
 *
 * 4,320 ranks; 30,000 edges a window, spread over its bursts (default 2,000 windows of 32): a halo
 * of six neighbours, and every 60 windows one in which an exchange between far ranks takes their
 * place. Printed for segments and rows as by default, and for 1,024 segments that are full of edges
 * (all of a window's in one burst):
 *
 * - add: ns for each row of a burst, merging included; microseconds a burst and the longest
 * - read: ms for all, and for each of 27 equal parts
 * - memory: bytes on the heap, and what is in them */
#include "daemon/analysis/phases/phase_graphs.h"
#include "holter/size_class.h"
#include "tests/bench/bench.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS 4320u
#define EDGES 30000u
#define WINDOW_NS INT64_C(1000000000)

/* Edges in the order of ranks, of two size classes in turn. */
static void fill(struct burst_pair *edges, int far)
{
    static const uint32_t near[] = {1, RANKS - 1, 20, RANKS - 20, 360, RANKS - 360, 380};
    for (uint32_t i = 0; i < EDGES; i++) {
        uint32_t source = i / 7, step = far ? RANKS / 2 + i % 7 : near[i % 7];
        uint64_t bytes = i % 2 ? 8000 : 20000;
        edges[i] =
            (struct burst_pair){source, (source + step) % RANKS, size_class_of(bytes), 0, 1, bytes};
    }
}

static void print_reads(struct phase_graphs *graphs, int64_t end_ns)
{
    struct phase_graph graph = {0};
    double begin = bench_seconds(), longest = 0, sum = 0;
    bench_check(phase_graphs_read(graphs, INT64_MIN, INT64_MAX, &graph), "read");
    printf("  read %.2f ms for all (%zu edges)", 1e3 * (bench_seconds() - begin), graph.count);
    for (int64_t part = 0; part < 27; part++) {
        begin = bench_seconds();
        bench_check(
            phase_graphs_read(graphs, end_ns / 27 * part, end_ns / 27 * (part + 1) - 1, &graph),
            "read");
        double took = bench_seconds() - begin;
        sum += took;
        longest = took > longest ? took : longest;
    }
    printf(", %.2f ms for each of 27 parts (longest %.2f)\n", 1e3 * sum / 27, 1e3 * longest);
    phase_graph_finish(&graph);
}

static void run(const char *name, const struct phase_graphs_params *params, int64_t windows,
                uint32_t bursts)
{
    static struct burst_pair edges[2][EDGES];
    struct phase_graphs *graphs;
    struct phase_graphs_counts counts;
    double longest = 0, sum = 0;
    size_t heap = bench_heap();
    fill(edges[0], 0);
    fill(edges[1], 1);
    bench_check(phase_graphs_create(&graphs, params), "create");
    for (int64_t w = 0; w < windows; w++)
        for (uint32_t b = 0; b < bursts; b++) {
            int64_t t = w * WINDOW_NS + (int64_t)b * (WINDOW_NS / bursts);
            uint32_t from = EDGES / bursts * b, count = EDGES / bursts;
            const struct phase_burst burst = {t, t, t, edges[w % 60 == 59] + from, count, 0, 0};
            double begin = bench_seconds();
            bench_check(phase_graphs_add(graphs, &burst), "add");
            double took = bench_seconds() - begin;
            sum += took;
            longest = took > longest ? took : longest;
        }
    heap = bench_heap() - heap;
    phase_graphs_count(graphs, &counts);
    double rows = (double)windows * (EDGES / bursts * bursts);
    printf("%s: %lld windows of %u bursts\n  add %.1f ns a row, %.1f us a burst (longest %.0f), "
           "%.2f ms a window\n",
           name, (long long)windows, bursts, 1e9 * sum / rows, 1e6 * sum / (double)windows / bursts,
           1e6 * longest, 1e3 * sum / (double)windows);
    print_reads(graphs, windows * WINDOW_NS);
    printf("  memory %.1f MiB: %llu rows, %u segments, %u edges; %llu merges\n",
           (double)heap / 1048576, (unsigned long long)counts.rows, counts.segments, counts.edges,
           (unsigned long long)counts.merges);
    phase_graphs_destroy(graphs);
}

/* A merge by itself: bursts of one row. */
static void print_merge(void)
{
    const struct phase_graphs_params params = PHASE_GRAPHS_DEFAULTS;
    const struct burst_pair edge = {0, 1, 3, 0, 1, 3};
    struct phase_graphs *graphs;
    bench_check(phase_graphs_create(&graphs, &params), "create");
    double begin = 0;
    for (int64_t t = 0; t < 54096; t++) {
        const struct phase_burst burst = {
            t * WINDOW_NS, t * WINDOW_NS, t * WINDOW_NS, &edge, 1, 0, 0};
        begin = t == 4096 ? bench_seconds() : begin;
        bench_check(phase_graphs_add(graphs, &burst), "add");
    }
    printf("one row, one merge at %u segments: %.2f us\n", params.segments,
           1e6 * (bench_seconds() - begin) / 50000);
    phase_graphs_destroy(graphs);
}

int main(int argc, char **argv)
{
    struct phase_graphs_params params = PHASE_GRAPHS_DEFAULTS;
    int64_t windows = argc > 1 ? strtoll(argv[1], NULL, 10) : 2000;
    uint32_t bursts = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 32;
    windows = windows < 60 || windows > 1000000 ? 2000 : windows;
    bursts = bursts < 1 || bursts > 1000 ? 32 : bursts;
    print_merge();
    run("default", &params, windows, bursts);
    params.segments = 1024;
    run("1,024 segments, whole windows", &params, windows, 1);
    return 0;
}
