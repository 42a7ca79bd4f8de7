#include "daemon/analysis/network/remap/remap.h"

#include "holter/error.h"
#include "holter/order.h"
#include "tests/daemon/analysis/network/machines.h"
#include "tests/daemon/analysis/network/measured.h"
#include "tests/daemon/analysis/network/networks.h"
#include "tests/daemon/analysis/network/remap/recorded_jobs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 256u

static int all_jobs; /* in suite 'long' */

/* A small random job. */
struct job {
    struct remap_problem problem;
    struct topology *topology; /* owned */
    uint32_t seats[MOST];
    struct remap_edge edges[8 * MOST];
};

static void make_job(struct job *job, struct topology *topology, uint32_t processes, uint32_t edges,
                     struct noise *noise)
{
    memset(job, 0, sizeof(*job));
    job->topology = topology;
    for (uint32_t p = 0; p < processes; p++)
        job->seats[p] = (uint32_t)(noise_uint(noise) % topology_nodes(topology));
    for (uint32_t i = 0; i < edges; i++)
        job->edges[i] = (struct remap_edge){(uint32_t)(noise_uint(noise) % processes),
                                            (uint32_t)(noise_uint(noise) % processes),
                                            noise_uint(noise) % 1000, noise_uint(noise) % 10};
    job->problem = (struct remap_problem){.topology = topology,
                                          .processes = processes,
                                          .seats = job->seats,
                                          .edges = job->edges,
                                          .edge_count = edges,
                                          .seed = 7,
                                          .effort = 0.01};
}

/* Measures as others take them. */
static struct measures plain_measures(const struct remap_problem *problem, const uint32_t *seats)
{
    struct measured_pair *pairs = calloc(problem->edge_count + 1, sizeof(*pairs));
    struct measures measures;
    for (size_t i = 0; i < problem->edge_count; i++)
        pairs[i] = (struct measured_pair){problem->edges[i].from, problem->edges[i].to,
                                          problem->edges[i].bytes, problem->edges[i].messages};
    assert_int_equal(measures_of(&measures, problem->topology, seats, problem->processes, pairs,
                                 problem->edge_count),
                     0);
    free(pairs);
    return measures;
}

static double plain_objective(const struct remap_problem *problem, const struct measures *m)
{
    if (problem->objective == REMAP_HOP_BYTES)
        return m->hop_bytes;
    if (problem->objective == REMAP_MAX_LINK)
        return m->max_link;
    return problem->messages ? m->inter_node_messages : m->inter_node_bytes;
}

/* The movable processes are permuted on their nodes, the others stay. */
static void check_seats(const struct remap_problem *problem, const uint32_t *seats)
{
    const size_t size = problem->processes * sizeof(uint32_t);
    uint32_t *before = malloc(size), *after = malloc(size);
    bool *moves = calloc(problem->processes, sizeof(*moves));
    memcpy(before, problem->seats, size);
    memcpy(after, seats, size);
    qsort(before, problem->processes, sizeof(uint32_t), order_u32);
    qsort(after, problem->processes, sizeof(uint32_t), order_u32);
    assert_memory_equal(before, after, size);
    for (uint32_t i = 0; problem->selected && i < problem->selected_count; i++)
        moves[problem->selected[i]] = true;
    for (uint32_t p = 0; problem->selected && p < problem->processes; p++)
        assert_true(moves[p] || seats[p] == problem->seats[p]);
    free(before);
    free(after);
    free(moves);
}

struct outcome {
    double given, reached, bound;
    bool optimal;
    uint32_t seats[MOST];
};

/* Sums beyond 2^53 depend on their order. */
static bool nearly(double one, double other)
{
    return fabs(one - other) <= 1e-12 * fabs(other);
}

/* Run it, and check all that is always true. */
static struct outcome run(const struct remap_problem *problem)
{
    struct outcome out = {0};
    struct remap *remap;
    struct remap_measures given, best;
    char why[128] = "";
    double done = 0;
    assert_int_equal(remap_create(&remap, problem, why, sizeof(why)), 0);
    for (double last = 0; done < 1; last = done) {
        done = remap_step(remap);
        assert_true(done >= last && done <= 1);
    }
    const uint32_t *seats = remap_best(remap, &best);
    remap_given(remap, &given);
    check_seats(problem, seats);
    const struct measures plain = plain_measures(problem, seats);
    assert_true(nearly(best.hop_bytes, plain.hop_bytes));
    if (best.max_link < 0x1p60) /* where the others' integers end */
        assert_true(nearly(best.max_link, plain.max_link));
    out.given = remap_objective(remap, &given);
    out.reached = remap_objective(remap, &best);
    out.bound = remap_bound(remap, &out.optimal);
    assert_true(isfinite(out.reached) && isfinite(out.bound));
    if (problem->objective == REMAP_HOP_BYTES)
        assert_true(nearly(out.reached, plain_objective(problem, &plain)));
    assert_true(out.reached <= out.given);
    assert_true(out.bound <= out.reached * (1 + 1e-9));
    if (problem->processes <= MOST)
        memcpy(out.seats, seats, problem->processes * sizeof(*seats));
    remap_destroy(remap);
    return out;
}

/* ---- always --------------------------------------------------------------------- */

static void mappings_are_permutations_and_never_worse(void **state)
{
    (void)state;
    const char *networks[] = {"torus:3,4,2",     "mesh:5,3",
                              "hypercube:4",     "dragonfly:2,3,4",
                              "fattree:4,4/1,2", "dragonfly:groups=5,routers=2,nodes=2,global=2"};
    struct noise noise = {.state = 3};
    for (uint32_t round = 0; round < 36; round++) {
        struct job job;
        make_job(&job, network_short(networks[round % 6]), 5 + 3 * round % 40, 4 * round, &noise);
        job.problem.objective = round / 6 % 3;
        job.problem.messages = round % 5 == 0;
        const struct outcome one = run(&job.problem), again = run(&job.problem);
        assert_memory_equal(one.seats, again.seats, sizeof(one.seats));
        topology_destroy(job.topology);
    }
}

static void machines_and_graphs_are_mapped_too(void **state)
{
    (void)state;
    struct noise noise = {.state = 5};
    for (uint32_t round = 0; round < 12; round++) {
        struct job job;
        struct topology *topology =
            round % 2 ? machine_line(5, 0)
                      : network_random(round % 4 ? TOPOLOGY_GRAPH : TOPOLOGY_TREE, &noise);
        make_job(&job, topology, 20, 60, &noise);
        job.problem.objective = round % 3;
        run(&job.problem);
        topology_destroy(topology);
    }
}

static void cores_of_one_node_are_no_different_nodes(void **state)
{
    (void)state;
    struct topology *topology = machine_create(4, 2, 2);
    struct noise noise = {.state = 1};
    struct job job;
    struct remap *remap;
    struct remap_measures given;
    uint32_t *nodes = calloc(topology_vertices(topology), sizeof(*nodes));
    assert_int_equal(measures_nodes(topology, nodes), 0);
    make_job(&job, topology, 16, 80, &noise);
    for (uint32_t p = 0; p < 16; p++)
        job.seats[p] = topology_vertices(topology) - 16 + p; /* cores */
    job.problem.nodes = nodes;
    job.problem.objective = REMAP_INTER_NODE;
    assert_int_equal(remap_create(&remap, &job.problem, NULL, 0), 0);
    remap_given(remap, &given);
    const struct measures plain = plain_measures(&job.problem, job.seats);
    assert_true(given.inter_node_bytes == plain.inter_node_bytes);
    assert_true(given.inter_node_messages == plain.inter_node_messages);
    remap_destroy(remap);
    run(&job.problem);
    free(nodes);
    topology_destroy(topology);
}

/* ---- few processes -------------------------------------------------------------- */

/* The least of all permutations of the first processes' seats. */
static double brute_force(const struct remap_problem *problem, uint32_t *seats, uint32_t from,
                          uint32_t count)
{
    if (from + 1 >= count) {
        const struct measures m = plain_measures(problem, seats);
        return plain_objective(problem, &m);
    }
    double best = HUGE_VAL;
    for (uint32_t i = from; i < count; i++) {
        const uint32_t a = seats[from], b = seats[i];
        seats[from] = b;
        seats[i] = a;
        best = fmin(best, brute_force(problem, seats, from + 1, count));
        seats[from] = a;
        seats[i] = b;
    }
    return best;
}

static void few_selected_processes_are_placed_as_brute_force_would(void **state)
{
    (void)state;
    const uint32_t selected[] = {0, 1, 2, 3, 4};
    struct noise noise = {.state = 11};
    for (uint32_t round = 0; round < 30; round++) {
        struct job job;
        struct topology *topology = round % 3 == 2
                                        ? network_random(TOPOLOGY_GRAPH, &noise)
                                        : network_short(round % 3 ? "torus:4,3" : "mesh:4,4");
        make_job(&job, topology, 12, 40, &noise);
        job.problem.selected = selected;
        job.problem.selected_count = 5;
        job.problem.objective = round % 2 ? REMAP_MAX_LINK : REMAP_HOP_BYTES;
        job.problem.effort = 1;
        uint32_t seats[MOST];
        memcpy(seats, job.seats, sizeof(seats));
        const struct outcome out = run(&job.problem);
        assert_true(out.reached == brute_force(&job.problem, seats, 0, 5));
        assert_true(out.optimal);
        topology_destroy(topology);
    }
}

static void only_selected_processes_move(void **state)
{
    (void)state;
    uint32_t selected[40];
    struct noise noise = {.state = 2};
    struct job job;
    make_job(&job, network_short("torus:4,4,4"), 100, 400, &noise);
    for (uint32_t i = 0; i < 40; i++)
        selected[i] = 2 * i;
    job.problem.selected = selected;
    job.problem.selected_count = 40;
    job.problem.effort = 0.05;
    for (int objective = 0; objective < 3; objective++) {
        job.problem.objective = (enum remap_objective)objective;
        const struct outcome out = run(&job.problem);
        assert_true(out.reached < out.given);
    }
    topology_destroy(job.topology);
}

/* ---- what is hostile ------------------------------------------------------------ */

static void hostile_problems_end_well(void **state)
{
    (void)state;
    struct noise noise = {.state = 4};
    struct job job;
    make_job(&job, network_short("torus:4,4"), 1, 0, &noise);
    run(&job.problem);
    make_job(&job, job.topology, 20, 0, &noise);
    assert_true(run(&job.problem).optimal);
    make_job(&job, job.topology, 20, 50, &noise);
    for (uint32_t i = 0; i < 50; i++)
        job.edges[i].to = job.edges[i].from; /* to themselves */
    assert_true(run(&job.problem).reached == 0);
    for (int objective = 0; objective < 3; objective++) {
        make_job(&job, job.topology, 20, 100, &noise);
        for (uint32_t i = 0; i < 100; i++)
            job.edges[i].bytes = job.edges[i].messages = UINT64_MAX - i;
        job.problem.objective = (enum remap_objective)objective;
        run(&job.problem);
    }
    for (uint32_t p = 0; p < 20; p++)
        job.seats[p] = 3;
    assert_true(run(&job.problem).reached == 0);
    topology_destroy(job.topology);
}

static void refuse(struct remap_problem problem, int code)
{
    struct remap *remap = NULL;
    char why[128] = "";
    assert_int_equal(remap_create(&remap, &problem, why, sizeof(why)), code);
    assert_true(strlen(why) > 0);
    assert_null(remap);
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    const uint32_t twice[] = {1, 1}, beyond[] = {20};
    struct noise noise = {.state = 4};
    struct job job;
    make_job(&job, network_short("torus:4,4"), 20, 10, &noise);
    struct remap_problem problem = job.problem;
    problem.selected = twice;
    problem.selected_count = 2;
    refuse(problem, -HOLTER_EUSAGE);
    problem.selected = beyond;
    problem.selected_count = 1;
    refuse(problem, -HOLTER_EUSAGE);
    problem = job.problem;
    problem.effort = NAN;
    refuse(problem, -HOLTER_EUSAGE);
    problem = job.problem;
    problem.processes = 0;
    refuse(problem, -HOLTER_EUSAGE);
    job.edges[3].to = 20;
    refuse(job.problem, -HOLTER_EUSAGE);
    job.edges[3].to = 0;
    job.seats[7] = 16;
    refuse(job.problem, -HOLTER_EUSAGE);
    topology_destroy(job.topology);
}

static void without_effort_it_only_measures(void **state)
{
    (void)state;
    struct noise noise = {.state = 9};
    struct job job;
    make_job(&job, network_short("torus:4,4"), 30, 60, &noise);
    job.problem.effort = 0;
    const struct outcome out = run(&job.problem);
    assert_memory_equal(out.seats, job.seats, 30 * sizeof(*out.seats));
    topology_destroy(job.topology);
}

/* ---- recorded jobs -------------------------------------------------------------- */

/* Reduction of the objective, percent. */
static double reduction(const char *name, enum remap_objective objective, double effort,
                        bool *optimal)
{
    struct recorded_job job;
    recorded_job(&job, name);
    job.problem.objective = objective;
    job.problem.effort = effort;
    const struct outcome out = run(&job.problem);
    recorded_job_finish(&job);
    *optimal = out.optimal;
    return 100 * (1 - out.reached / out.given);
}

static void grids_reach_the_bound(void **state)
{
    (void)state;
    bool optimal;
    assert_true(reduction("MiniMD_Mira_n2048_c1_s1", REMAP_HOP_BYTES, 2, &optimal) >= 72.275);
    assert_true(optimal);
    assert_true(reduction("MiniMD_Mira_n1024_c1_w", REMAP_HOP_BYTES, 2, &optimal) >= 44.055);
    assert_true(optimal);
    assert_true(reduction("MiniMD_Vesta_n512_c1_w", REMAP_HOP_BYTES, 2, &optimal) >= 36.875);
    assert_true(optimal);
    assert_true(reduction("MiniMD_Vesta_n256_c1_w", REMAP_HOP_BYTES, 2, &optimal) >= 25.725);
    assert_true(optimal);
}

static void irregular_jobs_gain_a_third(void **state)
{
    (void)state;
    bool optimal;
    assert_true(reduction("MiniAMR_Vesta_n128_c1_s2", REMAP_HOP_BYTES, 0.2, &optimal) > 30);
    assert_true(reduction("MiniAMR_Theta_n64_c1_s2", REMAP_HOP_BYTES, 0.1, &optimal) > 10);
    assert_true(reduction("MiniMD_Vesta_n128_c16_w", REMAP_INTER_NODE, 0.1, &optimal) > 10);
    assert_true(reduction("MiniMD_Vesta_n128_c1_w", REMAP_MAX_LINK, 0.1, &optimal) > 10);
}

/* Number of a process whose number has the bits of x, y and z in turn, x in the lowest bit. */
static uint32_t octree_number(uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t number = 0;
    for (uint32_t bit = 0; bit < 3; bit++)
        number |= ((x >> bit & 1) | (y >> bit & 1) << 1 | (z >> bit & 1) << 2) << 3 * bit;
    return number;
}

/* 8 x 8 x 8 processes that each send to the six next to them, as meshes that are refined by octrees
 * number them, on a torus on which all can remain neighbours. */
static void processes_numbered_by_an_octree_stay_neighbours(void **state)
{
    (void)state;
    struct remap_edge edges[3 * 2 * 8 * 8 * 7], *edge = edges;
    uint32_t seats[512];
    struct topology *topology = network_short("torus:4,4,4,4,2");
    for (uint32_t p = 0; p < 512; p++) {
        seats[p] = p;
        const uint32_t x = p % 8, y = p / 8 % 8, z = p / 64, number = octree_number(x, y, z);
        const uint32_t next[3] = {octree_number(x + 1, y, z), octree_number(x, y + 1, z),
                                  octree_number(x, y, z + 1)};
        for (uint32_t a = 0; a < 3; a++)
            if ((a == 0 ? x : a == 1 ? y : z) < 7) {
                *edge++ = (struct remap_edge){number, next[a], 1000, 1};
                *edge++ = (struct remap_edge){next[a], number, 1000, 1};
            }
    }
    const struct remap_problem problem = {.topology = topology,
                                          .processes = 512,
                                          .seats = seats,
                                          .edges = edges,
                                          .edge_count = (size_t)(edge - edges),
                                          .seed = 1,
                                          .effort = 0.1};
    assert_true(run(&problem).optimal);
    topology_destroy(topology);
}

static void mesh_refinement_on_many_nodes_gains_half(void **state)
{
    (void)state;
    bool optimal;
    assert_true(reduction("MiniAMR_Mira_n1024_c1_s1", REMAP_HOP_BYTES, 0.5, &optimal) >= 50.5);
    if (all_jobs)
        assert_true(reduction("MiniAMR_Mira_n2048_c1_s1", REMAP_HOP_BYTES, 1, &optimal) >= 59.3);
}

int main(int argc, char **argv)
{
    (void)argv;
    all_jobs = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_are_permutations_and_never_worse),
        cmocka_unit_test(machines_and_graphs_are_mapped_too),
        cmocka_unit_test(cores_of_one_node_are_no_different_nodes),
        cmocka_unit_test(few_selected_processes_are_placed_as_brute_force_would),
        cmocka_unit_test(only_selected_processes_move),
        cmocka_unit_test(hostile_problems_end_well),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(without_effort_it_only_measures),
        cmocka_unit_test(grids_reach_the_bound),
        cmocka_unit_test(processes_numbered_by_an_octree_stay_neighbours),
        cmocka_unit_test(mesh_refinement_on_many_nodes_gains_half),
        cmocka_unit_test(irregular_jobs_gain_a_third),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
