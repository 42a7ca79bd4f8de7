/* Communities: what a cold and a warm update cost, and the modularity they reach.
 *
 *   communities_bench [FILE...]
 *
 * Printed for each graph, with igraph's fast-greedy and Leiden where igraph is installed:
 *   cold      from nothing, edges as told to result; median
 *   warm      updates in each of which 1 % of the edges change: half of these go, half get another
 *             weight, and those that were gone come back; median. With igraph: of the same graphs
 *   same      the graph once more
 * and the modularity of each: of the warm ones as the least and mean ratio to a cold start.
 * Each FILE is one more graph: lines of source rank, destination rank, bytes, as par-comm-data has
 * them. */
#include "daemon/analysis/communities/communities.h"
#include "holter/order.h"

#include "tests/bench/bench.h"
#include "tests/daemon/analysis/communities/communities_graphs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_IGRAPH
#include <igraph/igraph.h>
#endif

#define COLD_ROUNDS 5u
#define WARM_ROUNDS 15u
#define CHANGED 100u /* one edge in so many */

/* ---- graphs -------------------------------------------------------------------- */

static struct edges star(uint32_t vertices)
{
    struct edges e = {.vertices = vertices};
    for (uint32_t a = 1; a < vertices; a++)
        edges_add(&e, 0, a, 1 + a % 7);
    return e;
}

static struct edges read_edges(const char *path)
{
    struct edges e = {0};
    FILE *file = fopen(path, "r");
    uint32_t a, b;
    double bytes;
    bench_check(file == NULL, path);
    uint32_t least = UINT32_MAX;
    while (fscanf(file, "%u %u %lf%*[^\n]", &a, &b, &bytes) == 3) {
        edges_add(&e, a, b, bytes);
        least = a < least ? a : least;
        least = b < least ? b : least;
        e.vertices = a >= e.vertices ? a + 1 : e.vertices;
        e.vertices = b >= e.vertices ? b + 1 : e.vertices;
    }
    fclose(file);
    for (size_t i = 0; i < e.count; i++) {
        e.edge[i].a -= least;
        e.edge[i].b -= least;
    }
    e.vertices -= e.count > 0 ? least : 0;
    return e;
}

/* ---- the reference ------------------------------------------------------------- */

struct reference {
    double seconds, modularity, leiden_seconds, leiden;
};

static struct reference measure_igraph(const struct edges *e)
{
    struct reference r = {0};
#ifdef HAVE_IGRAPH
    igraph_vector_int_t ends, membership;
    igraph_vector_t weights, modularity, strength;
    igraph_matrix_int_t merges;
    igraph_t graph;
    igraph_vector_int_init(&ends, 0);
    igraph_vector_int_init(&membership, 0);
    igraph_vector_init(&weights, 0);
    igraph_vector_init(&modularity, 0);
    igraph_vector_init(&strength, 0);
    igraph_matrix_int_init(&merges, 0, 0);
    igraph_set_attribute_table(&igraph_cattribute_table);
    for (size_t i = 0; i < e->count; i++) {
        igraph_vector_int_push_back(&ends, (igraph_integer_t)e->edge[i].a);
        igraph_vector_int_push_back(&ends, (igraph_integer_t)e->edge[i].b);
        igraph_vector_push_back(&weights, e->edge[i].weight);
    }
    igraph_create(&graph, &ends, (igraph_integer_t)e->vertices, IGRAPH_UNDIRECTED);
    igraph_attribute_combination_t sum;
    igraph_attribute_combination(&sum, "weight", IGRAPH_ATTRIBUTE_COMBINE_SUM,
                                 IGRAPH_NO_MORE_ATTRIBUTES);
    SETEANV(&graph, "weight", &weights);
    igraph_simplify(&graph, 1, 1, &sum);
    igraph_cattribute_EANV(&graph, "weight", igraph_ess_all(IGRAPH_EDGEORDER_ID), &weights);
    double begin = bench_seconds(); /* only the algorithm, with the graph as igraph likes it */
    bench_check(igraph_community_fastgreedy(&graph, &weights, &merges, &modularity, &membership),
                "fast-greedy");
    r.seconds = bench_seconds() - begin;
    igraph_modularity(&graph, &membership, &weights, 1, IGRAPH_UNDIRECTED, &r.modularity);
    begin = bench_seconds();
    igraph_strength(&graph, &strength, igraph_vss_all(), IGRAPH_ALL, 1, &weights);
    igraph_real_t total = igraph_vector_sum(&strength);
    bench_check(igraph_community_leiden(&graph, &weights, &strength, 1 / total, 0.01, 0, 2,
                                        &membership, NULL, NULL),
                "leiden");
    r.leiden_seconds = bench_seconds() - begin;
    igraph_modularity(&graph, &membership, &weights, 1, IGRAPH_UNDIRECTED, &r.leiden);
    igraph_attribute_combination_destroy(&sum);
    igraph_destroy(&graph);
    igraph_matrix_int_destroy(&merges);
    igraph_vector_destroy(&strength);
    igraph_vector_destroy(&modularity);
    igraph_vector_destroy(&weights);
    igraph_vector_int_destroy(&membership);
    igraph_vector_int_destroy(&ends);
#else
    (void)e;
#endif
    return r;
}

/* ---- what is measured ---------------------------------------------------------- */

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), order_doubles);
    return values[count / 2];
}

static double update(struct communities *c, const struct edges *e)
{
    double begin = bench_seconds();
    bench_check(communities_update(c, e->vertices, e->edge, e->count), "update");
    return bench_seconds() - begin;
}

static struct communities *create(void)
{
    struct communities *c;
    bench_check(communities_create(&c, &COMMUNITIES_DEFAULTS), "create");
    return c;
}

static double best(const struct communities *c)
{
    return communities_modularity(c, communities_best(c));
}

static void print_cold(const struct edges *e, const struct reference *reference)
{
    const size_t heap = bench_heap();
    double took[COLD_ROUNDS], same;
    struct communities *c = NULL;
    for (uint32_t i = 0; i < COLD_ROUNDS; i++) {
        communities_destroy(c);
        c = create();
        took[i] = update(c, e);
    }
    same = update(c, e);
    double cold = median(took, COLD_ROUNDS);
    printf("  cold %.2f ms, same %.2f ms, Q %.5f in %u communities, %.1f MB\n", 1e3 * cold,
           1e3 * same, best(c), e->vertices - communities_best(c),
           1e-6 * (double)(bench_heap() - heap));
    if (reference->seconds > 0)
        printf("  igraph fast-greedy %.2f ms (%.1f x), Q %.5f%s; Leiden %.2f ms, Q %.5f\n",
               1e3 * reference->seconds, reference->seconds / cold, reference->modularity,
               best(c) < reference->modularity - 1e-9 ? " ABOVE OURS" : "",
               1e3 * reference->leiden_seconds, reference->leiden);
    communities_destroy(c);
}

static void print_warm(const struct edges *whole, const struct reference *reference)
{
    double took[WARM_ROUNDS], least = INFINITY, mean = 0;
    struct communities *c = create();
    uint64_t random = 1;
    size_t warm = 0;
    update(c, whole);
    for (uint32_t i = 0; i < WARM_ROUNDS; i++) {
        struct edges e = edges_change(whole, CHANGED, &random);
        struct communities *again = create();
        double one = update(c, &e);
        if (communities_started(c) == COMMUNITIES_WARM)
            took[warm++] = one;
        update(again, &e);
        least = fmin(least, best(c) / best(again));
        mean += best(c) / best(again) / WARM_ROUNDS;
        communities_destroy(again);
        edges_finish(&e);
    }
    printf("  warm %.2f ms (%zu of %u)", warm > 0 ? 1e3 * median(took, warm) : NAN, warm,
           WARM_ROUNDS);
    if (warm > 0 && reference->seconds > 0)
        printf(", igraph fast-greedy %.1f x", reference->seconds / median(took, warm));
    printf("; Q %.4f of cold, at least %.4f\n", mean, least);
    communities_destroy(c);
}

static void run(const char *name, struct edges e)
{
    struct reference reference = measure_igraph(&e);
    printf("%s: %u ranks, %zu edges\n", name, e.vertices, e.count);
    print_cold(&e, &reference);
    print_warm(&e, &reference);
    fflush(stdout);
    edges_finish(&e);
}

int main(int argc, char **argv)
{
    run("groups at random", edges_scatter(4320, 30000, 40, 7));
    run("random", edges_scatter(4320, 30000, 1, 7));
    run("halo 12 x 18 x 20", edges_halo(12, 18, 20, true));
    run("halo 12 x 18 x 20, faces", edges_halo(12, 18, 20, false));
    run("binary swap", edges_swap(4096, 2, 0.5));
    run("2-3 swap", edges_swap(4320, 0, 0.5));
    run("transpose", edges_transpose(60, 72, 2));
    run("star", star(4320));
    for (int i = 1; i < argc; i++)
        run(argv[i], read_edges(argv[i]));
    return 0;
}
