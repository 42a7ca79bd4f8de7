/* Communication regions: what an update costs, and how much regions move.
 *
 *   regions_bench [UPDATES]
 *
 * A box of 16 x 16 x 16 ranks, each with up to 26 partners around it, periodic or not. In each
 * update 1 % of the edges go and those that were gone come back. Printed for each graph:
 *   first          the first update, in which all edges are new
 *   update         median and longest of the later updates, passing the edges included
 *   batch          the same graph from nothing, as a program that keeps no state would do it
 *   plain          average linkage of the same R on a dense matrix: the best pair of the cached
 *                  nearest of each row merges, and rows are searched again where it is gone
 *   fast-greedy    igraph's modularity clustering of the same graph, where igraph is installed:
 *                  another measure, but the usual tool
 * and how many ranks keep their region from update to update (kept), also without hold, and how
 * near regions come to a batch clustering's strength: the sum of R - threshold over pairs within
 * regions. Then graphs that must not explode: all-to-all, and a master, in calls of bounded work.
 */
#include "daemon/analysis/regions/regions.h"
#include "holter/order.h"
#include "tests/bench/bench.h"

#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_IGRAPH
#include <igraph/igraph.h>
#endif

#define SIDE 16u
#define RANKS (SIDE * SIDE * SIDE)
#define CHANGED 100u /* one edge in so many */

struct edges {
    uint32_t (*ends)[2]; /* owned */
    bool *present;       /* owned */
    size_t count;
};

static uint32_t apart(uint32_t one, uint32_t other, bool periodic)
{
    uint32_t d = one > other ? one - other : other - one;
    return periodic && d > SIDE / 2 ? SIDE - d : d;
}

static struct edges stencil(bool periodic)
{
    struct edges e = {.ends = malloc(RANKS * 13 * sizeof(*e.ends)),
                      .present = malloc(RANKS * 13 * sizeof(*e.present))};
    for (uint32_t a = 0; a < RANKS; a++)
        for (uint32_t b = 0; b < a; b++) {
            if (apart(a % SIDE, b % SIDE, periodic) > 1 ||
                apart(a / SIDE % SIDE, b / SIDE % SIDE, periodic) > 1 ||
                apart(a / SIDE / SIDE, b / SIDE / SIDE, periodic) > 1)
                continue;
            e.present[e.count] = true;
            e.ends[e.count][0] = a;
            e.ends[e.count++][1] = b;
        }
    return e;
}

static void edges_finish(struct edges *e)
{
    free(e->ends);
    free(e->present);
}

static void tell(struct regions *regions, const struct edges *e)
{
    for (size_t i = 0; i < e->count; i++)
        bench_check(regions_edge(regions, e->ends[i][0], e->ends[i][1], e->present[i]), "edge");
}

static struct regions *create(double hold)
{
    struct regions *regions;
    struct regions_params params = REGIONS_DEFAULTS;
    params.hold = hold;
    bench_check(regions_create(&regions, &params), "create");
    return regions;
}

static double strength(const struct regions *regions, const struct edges *e)
{
    const struct correlation_params params = {RANKS, 256, 1u << 24};
    struct correlation *c;
    double sum = 0;
    bench_check(correlation_create(&c, &params), "correlation");
    for (size_t i = 0; i < e->count; i++)
        bench_check(correlation_edge(c, e->ends[i][0], e->ends[i][1], e->present[i]), "edge");
    bench_check(correlation_update(c), "correlation");
    for (uint32_t v = 0; v < RANKS; v++) {
        uint32_t count;
        const struct correlate *row = correlation_row(c, v, &count);
        for (uint32_t i = 0; i < count; i++)
            if (regions_of(regions, row[i].vertex) == regions_of(regions, v))
                sum += (double)row[i].weight / CORRELATION_ONE / 2;
    }
    correlation_destroy(c);
    struct region_info list[RANKS];
    size_t regions_count = regions_list(regions, list, RANKS);
    for (size_t i = 0; i < regions_count; i++)
        sum -= 0.5 * list[i].vertices * (list[i].vertices - 1) / 2;
    return sum;
}

/* ---- the plain reference ------------------------------------------------------- */

struct plain {
    float *mean;       /* RANKS x RANKS */
    uint32_t *nearest; /* of each row */
    uint32_t *size;
};

static void plain_look(struct plain *p, uint32_t row)
{
    uint32_t best = row;
    for (uint32_t i = 0; i < RANKS; i++)
        if (i != row && p->size[i] != 0 &&
            (best == row || p->mean[row * RANKS + i] > p->mean[row * RANKS + best]))
            best = i;
    p->nearest[row] = best;
}

static void plain_merge(struct plain *p, uint32_t a, uint32_t b)
{
    float share = (float)p->size[a] / (float)(p->size[a] + p->size[b]);
    p->size[a] += p->size[b];
    p->size[b] = 0;
    for (uint32_t i = 0; i < RANKS; i++) {
        float mean = share * p->mean[a * RANKS + i] + (1 - share) * p->mean[b * RANKS + i];
        p->mean[a * RANKS + i] = p->mean[i * RANKS + a] = mean;
    }
    for (uint32_t i = 0; i < RANKS; i++)
        if (p->size[i] != 0 && (i == a || p->nearest[i] == a || p->nearest[i] == b))
            plain_look(p, i);
}

/* @return seconds; R is given */
static double plain_cluster(const struct edges *e, double threshold)
{
    const struct correlation_params params = {RANKS, 256, 1u << 24};
    struct correlation *c;
    struct plain p = {.mean = calloc((size_t)RANKS * RANKS, sizeof(float)),
                      .nearest = calloc(RANKS, sizeof(uint32_t)),
                      .size = calloc(RANKS, sizeof(uint32_t))};
    bench_check(correlation_create(&c, &params), "correlation");
    for (size_t i = 0; i < e->count; i++)
        bench_check(correlation_edge(c, e->ends[i][0], e->ends[i][1], e->present[i]), "edge");
    double begin = bench_seconds();
    bench_check(correlation_update(c), "correlation");
    for (uint32_t v = 0; v < RANKS; v++) {
        uint32_t count;
        const struct correlate *row = correlation_row(c, v, &count);
        p.size[v] = 1;
        for (uint32_t i = 0; i < count; i++)
            p.mean[v * RANKS + row[i].vertex] = (float)row[i].weight / CORRELATION_ONE;
    }
    for (uint32_t v = 0; v < RANKS; v++)
        plain_look(&p, v);
    for (;;) {
        uint32_t best = RANKS;
        for (uint32_t v = 0; v < RANKS; v++)
            if (p.size[v] != 0 && (best == RANKS || p.mean[v * RANKS + p.nearest[v]] >
                                                        p.mean[best * RANKS + p.nearest[best]]))
                best = v;
        if (p.mean[best * RANKS + p.nearest[best]] <= (float)threshold)
            break;
        uint32_t other = p.nearest[best];
        plain_merge(&p, best < other ? best : other, best < other ? other : best);
    }
    double took = bench_seconds() - begin;
    correlation_destroy(c);
    free(p.mean);
    free(p.nearest);
    free(p.size);
    return took;
}

static double igraph_cluster(const struct edges *e)
{
#ifdef HAVE_IGRAPH
    igraph_vector_int_t ends;
    igraph_t graph;
    igraph_vector_int_init(&ends, 0);
    for (size_t i = 0; i < e->count; i++) {
        if (!e->present[i])
            continue;
        igraph_vector_int_push_back(&ends, (igraph_integer_t)e->ends[i][0]);
        igraph_vector_int_push_back(&ends, (igraph_integer_t)e->ends[i][1]);
    }
    igraph_matrix_int_t merges;
    igraph_vector_t modularity;
    igraph_vector_int_t membership;
    igraph_matrix_int_init(&merges, 0, 0);
    igraph_vector_init(&modularity, 0);
    igraph_vector_int_init(&membership, 0);
    double begin = bench_seconds();
    igraph_create(&graph, &ends, (igraph_integer_t)RANKS, IGRAPH_UNDIRECTED);
    igraph_community_fastgreedy(&graph, NULL, &merges, &modularity, &membership);
    double took = bench_seconds() - begin;
    igraph_destroy(&graph);
    igraph_matrix_int_destroy(&merges);
    igraph_vector_destroy(&modularity);
    igraph_vector_int_destroy(&membership);
    igraph_vector_int_destroy(&ends);
    return took;
#else
    (void)e;
    return 0;
#endif
}

/* ---- what is measured ----------------------------------------------------------- */

static void change(struct edges *e, uint64_t *random)
{
    for (size_t i = 0; i < e->count; i++)
        e->present[i] = bench_next(random) % CHANGED != 0;
}

static uint32_t count_kept(const struct regions *regions, uint32_t *before)
{
    uint32_t kept = 0;
    for (uint32_t v = 0; v < RANKS; v++) {
        kept += regions_of(regions, v) == before[v];
        before[v] = regions_of(regions, v);
    }
    return kept;
}

static double batch(const struct edges *e, double *strong)
{
    struct regions *regions = create(0);
    double begin = bench_seconds();
    tell(regions, e);
    bench_check(regions_update(regions, 0, NULL), "update");
    double took = bench_seconds() - begin;
    *strong = strength(regions, e);
    regions_destroy(regions);
    return took;
}

static void print_shapes(const struct regions *regions, size_t heap)
{
    struct region_info list[RANKS];
    size_t count = regions_list(regions, list, RANKS);
    uint32_t least = RANKS, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = list[i].vertices < least ? list[i].vertices : least;
        most = list[i].vertices > most ? list[i].vertices : most;
    }
    printf("  %zu regions of %u to %u ranks, %.1f MB\n", count, least, most,
           1e-6 * (double)(bench_heap() - heap));
}

static void run(const char *name, bool periodic, size_t updates)
{
    struct edges e = stencil(periodic);
    const size_t heap = bench_heap();
    struct regions *held = create(REGIONS_DEFAULTS.hold), *loose = create(0);
    double *took = calloc(updates, sizeof(*took)), kept = 0, loose_kept = 0, ratio = 0, strong;
    uint32_t *before = calloc(RANKS, sizeof(*before)),
             *loose_before = calloc(RANKS, sizeof(*before));
    uint64_t random = 1;
    double begin = bench_seconds();
    tell(held, &e);
    bench_check(regions_update(held, 0, NULL), "update");
    double first = bench_seconds() - begin;
    printf("%s: %u ranks, %zu edges\n", name, RANKS, e.count);
    print_shapes(held, heap);
    tell(loose, &e);
    bench_check(regions_update(loose, 0, NULL), "update");
    count_kept(held, before);
    count_kept(loose, loose_before);
    for (size_t i = 0; i < updates; i++) {
        change(&e, &random);
        begin = bench_seconds();
        tell(held, &e);
        bench_check(regions_update(held, i + 1, NULL), "update");
        took[i] = bench_seconds() - begin;
        kept += count_kept(held, before) / (double)RANKS / (double)updates;
        tell(loose, &e);
        bench_check(regions_update(loose, i + 1, NULL), "update");
        loose_kept += count_kept(loose, loose_before) / (double)RANKS / (double)updates;
    }
    double whole = batch(&e, &strong), plain = plain_cluster(&e, REGIONS_DEFAULTS.threshold);
    double fast_greedy = igraph_cluster(&e);
    ratio = strength(held, &e) / strong;
    print_shapes(held, heap);
    qsort(took, updates, sizeof(*took), order_doubles);
    double median = took[updates / 2];
    printf("  first %.1f ms, update %.1f ms (longest %.1f)\n", 1e3 * first, 1e3 * median,
           1e3 * took[updates - 1]);
    printf("  batch %.1f ms (%.2f x), plain %.0f ms (%.1f x)", 1e3 * whole, whole / median,
           1e3 * plain, plain / median);
    if (fast_greedy > 0)
        printf(", igraph fast-greedy %.0f ms (%.1f x)", 1e3 * fast_greedy, fast_greedy / median);
    printf("\n  kept %.2f %% of ranks, without hold %.2f %%; strength %.3f of the batch's\n",
           100 * kept, 100 * loose_kept, ratio);
    regions_destroy(held);
    regions_destroy(loose);
    edges_finish(&e);
    free(took);
    free(before);
    free(loose_before);
}

static void run_dense(const char *name, uint32_t ranks, bool master)
{
    const size_t heap = bench_heap();
    struct regions *regions = create(REGIONS_DEFAULTS.hold);
    struct region_info list[4];
    double begin = bench_seconds();
    for (uint32_t a = 1; a < ranks; a++)
        for (uint32_t b = 0; b < (master ? 1 : a); b++)
            bench_check(regions_edge(regions, a, b, 1), "edge");
    bench_check(regions_update(regions, 0, NULL), "update");
    printf("%s of %u: %zu region, %.0f ms, %.1f MB\n", name, ranks, regions_list(regions, list, 4),
           1e3 * (bench_seconds() - begin), 1e-6 * (double)(bench_heap() - heap));
    regions_destroy(regions);
}

int main(int argc, char **argv)
{
    size_t updates = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 50;
    updates = updates == 0 ? 1 : updates;
    run("box", false, updates);
    run("torus", true, updates);
    run_dense("all-to-all", 256, false);
    run_dense("all-to-all", 512, false);
    run_dense("all-to-all", 2048, false);
    run_dense("master", 4096, true);
    run_dense("master", 16384, true);
    return 0;
}
