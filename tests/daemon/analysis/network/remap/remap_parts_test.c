/* Bytes between nodes against METIS' own partitions, of recorded jobs with several ranks on a node.
 */
#include "tests/daemon/analysis/network/remap/recorded_jobs.h"

#include <metis.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SEEDS 5
#define NEARLY (1 + 1e-12) /* sums may be rounded otherwise */

static double ours(const struct remap_problem *problem)
{
    struct remap *remap;
    struct remap_measures best;
    char why[128];
    assert_int_equal(remap_create(&remap, problem, why, sizeof(why)), 0);
    while (remap_step(remap) < 1)
        ;
    remap_best(remap, &best);
    remap_destroy(remap);
    return best.inter_node_bytes;
}

struct graph {
    idx_t *first, *partner, *weight, *part;
};

/* Dense first: these jobs are small. */
static struct graph make_graph(const struct remap_problem *problem)
{
    const size_t n = problem->processes;
    double *bytes = calloc(n * n, sizeof(*bytes)), sum = 1;
    struct graph g = {calloc(n + 1, sizeof(idx_t)), calloc(n * n, sizeof(idx_t)),
                      calloc(n * n, sizeof(idx_t)), calloc(n, sizeof(idx_t))};
    assert_true(bytes && g.first && g.partner && g.weight && g.part);
    for (size_t i = 0; i < problem->edge_count; i++) {
        const struct remap_edge *e = &problem->edges[i];
        bytes[e->from * n + e->to] += (double)e->bytes;
        bytes[e->to * n + e->from] += (double)e->bytes;
        sum += 2 * (double)e->bytes;
    }
    idx_t end = 0;
    for (size_t p = 0; p < n; p++) {
        for (size_t q = 0; q < n; q++)
            if (q != p && bytes[p * n + q] > 0) {
                g.partner[end] = (idx_t)q;
                g.weight[end++] = 1 + (idx_t)(bytes[p * n + q] / sum * 5e8);
            }
        g.first[p + 1] = end;
    }
    free(bytes);
    return g;
}

/* @return bytes between parts, below 0: they are not of equal size */
static double theirs(const struct remap_problem *problem, struct graph *g, idx_t parts, idx_t seed)
{
    idx_t options[METIS_NOPTIONS], n = (idx_t)problem->processes, one = 1, cut;
    int *size = calloc((size_t)parts, sizeof(*size));
    double bytes = 0;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_UFACTOR] = 1;
    options[METIS_OPTION_SEED] = seed;
    assert_int_equal(METIS_PartGraphKway(&n, &one, g->first, g->partner, NULL, NULL, g->weight,
                                         &parts, NULL, NULL, options, &cut, g->part),
                     METIS_OK);
    for (idx_t p = 0; p < n; p++)
        size[g->part[p]]++;
    for (idx_t k = 0; k < parts; k++)
        bytes = size[k] != n / parts ? -1 : bytes;
    for (size_t i = 0; bytes >= 0 && i < problem->edge_count; i++)
        if (g->part[problem->edges[i].from] != g->part[problem->edges[i].to])
            bytes += (double)problem->edges[i].bytes;
    free(size);
    return bytes;
}

static void check(const char *name, idx_t parts)
{
    struct recorded_job job;
    recorded_job(&job, name);
    job.problem.objective = REMAP_INTER_NODE;
    job.problem.effort = 0.5;
    const double reached = ours(&job.problem);
    struct graph g = make_graph(&job.problem);
    for (idx_t seed = 1; seed <= SEEDS; seed++) {
        const double bytes = theirs(&job.problem, &g, parts, seed);
        assert_true(bytes < 0 || reached <= bytes * NEARLY);
    }
    free(g.first);
    free(g.partner);
    free(g.weight);
    free(g.part);
    recorded_job_finish(&job);
}

static void a_stencil_is_cut_no_worse_than_by_metis(void **state)
{
    (void)state;
    check("MiniMD_Vesta_n128_c16_w", 128);
}

static void a_benchmark_is_cut_no_worse_than_by_metis(void **state)
{
    (void)state;
    check("IMB-MPI1_Vesta_n32_c16", 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stencil_is_cut_no_worse_than_by_metis),
        cmocka_unit_test(a_benchmark_is_cut_no_worse_than_by_metis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
