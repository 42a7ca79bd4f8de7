/* Better mappings: what is gained, how long that takes, and what Scotch's static mapping gains.
 *
 *   remap_bench [--time SECONDS] [--seed N] [NAME ...]
 *
 * NAME is a recorded job (tests/data/par-comm-data/hopbyte), or "irregular": meshes refined around
 * five points, in the order of their octree or at random, and points that exchange with those near
 * them. Default: recorded jobs that there is a figure to reach for, others of the same kind, and
 * the irregular ones. Printed for each, in percent less hop-bytes than the
 * mapping that was recorded: ours, the lower bound, the figure to reach, and Scotch's; "ratio" is
 * our hop-bytes over Scotch's, below 1: ours are fewer. CPU time, in seconds. Then a stencil on
 * 8,192 nodes, in 5 seconds; bytes between nodes against METIS k-way; and the most loaded link.
 *
 * Scotch gets the same graph (bytes of both directions, scaled to 31 bits), a torus, or a mesh, of
 * the same shape (dragonfly tiers and shapes with both: its decomposition of the network's graph,
 * archBuild2), strategy "quality" and no imbalance allowed. It may still leave more processes on a
 * node than there are seats: those that are too many, in the order of their number, go one by one
 * to the nearest node that has a seat left, which costs it little. Its time is that of
 * SCOTCH_graphMap alone. */
#include "tests/daemon/analysis/network/remap/recorded_jobs.h"

#include "tests/bench/bench.h"
#include "tests/daemon/analysis/network/networks.h"

#include <math.h>
#include <metis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_SCOTCH
#include <scotch/scotch.h>
#endif

struct outcome {
    double given, reached, bound, seconds, longest;
    bool optimal;
};

static struct outcome run(const struct remap_problem *problem)
{
    struct outcome out = {0};
    struct remap_measures given, best;
    struct remap *remap;
    char why[128];
    const double begin = bench_seconds();
    if (remap_create(&remap, problem, why, sizeof(why)) != 0) {
        fprintf(stderr, "remap_bench: %s\n", why);
        exit(1);
    }
    for (double last = bench_seconds(), now; remap_step(remap) < 1; last = now) {
        now = bench_seconds();
        out.longest = now - last > out.longest ? now - last : out.longest;
    }
    out.seconds = bench_seconds() - begin;
    remap_given(remap, &given);
    remap_best(remap, &best);
    out.bound = remap_bound(remap, &out.optimal);
    out.given = remap_objective(remap, &given);
    out.reached = remap_objective(remap, &best);
    remap_destroy(remap);
    return out;
}

/* ---- the graph, for others ------------------------------------------------------ */

struct graph {
    int32_t vertices, *first, *partner, *weight;
};

struct end {
    uint32_t from, to;
    double bytes;
};

static int compare_ends(const void *a, const void *b)
{
    const struct end *one = a, *other = b;
    if (one->from != other->from)
        return one->from < other->from ? -1 : 1;
    return one->to < other->to ? -1 : one->to > other->to;
}

static struct graph make_graph(const struct remap_problem *problem)
{
    const size_t room = 2 * problem->edge_count + 1;
    struct graph g = {(int32_t)problem->processes, calloc(problem->processes + 1u, 4),
                      calloc(room, 4), calloc(room, 4)};
    struct end *ends = calloc(room, sizeof(*ends));
    size_t count = 0, kept = 0;
    double sum = 0;
    for (size_t i = 0; i < problem->edge_count; i++) {
        const struct remap_edge *e = &problem->edges[i];
        if (e->from == e->to)
            continue;
        ends[count++] = (struct end){e->from, e->to, (double)e->bytes};
        ends[count++] = (struct end){e->to, e->from, (double)e->bytes};
        sum += 2 * (double)e->bytes;
    }
    qsort(ends, count, sizeof(*ends), compare_ends);
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && compare_ends(&ends[kept - 1], &ends[i]) == 0)
            ends[kept - 1].bytes += ends[i].bytes;
        else
            ends[kept++] = ends[i];
    for (size_t i = 0; i < kept; i++) {
        g.first[ends[i].from + 1]++;
        g.partner[i] = (int32_t)ends[i].to;
        g.weight[i] = 1 + (int32_t)(ends[i].bytes / sum * 5e8);
    }
    for (uint32_t p = 0; p < problem->processes; p++)
        g.first[p + 1] += g.first[p];
    free(ends);
    return g;
}

static void graph_finish(struct graph *g)
{
    free(g->first);
    free(g->partner);
    free(g->weight);
}

static double hop_bytes(const struct remap_problem *problem, const uint32_t *seats)
{
    double sum = 0;
    for (size_t i = 0; i < problem->edge_count; i++)
        sum += (double)problem->edges[i].bytes * topology_distance(problem->topology,
                                                                   seats[problem->edges[i].from],
                                                                   seats[problem->edges[i].to]);
    return sum;
}

/* ---- Scotch --------------------------------------------------------------------- */

/* Whoever has no seat on its node goes to the nearest that has one left. */
static void seat(const struct remap_problem *problem, uint32_t *seats)
{
    const uint32_t vertices = topology_vertices(problem->topology);
    uint32_t *room = calloc(vertices, sizeof(*room));
    bool *late = calloc(problem->processes, sizeof(*late));
    for (uint32_t p = 0; p < problem->processes; p++)
        room[problem->seats[p]]++;
    for (uint32_t p = 0; p < problem->processes; p++) {
        late[p] = room[seats[p]] == 0;
        room[seats[p]] -= !late[p];
    }
    for (uint32_t p = 0; p < problem->processes; p++) {
        uint32_t best = UINT32_MAX, nearest = 0;
        for (uint32_t v = 0; late[p] && v < vertices; v++) {
            const uint32_t d =
                room[v] ? topology_distance(problem->topology, seats[p], v) : UINT32_MAX;
            nearest = d < best ? v : nearest;
            best = d < best ? d : best;
        }
        if (late[p]) {
            seats[p] = nearest;
            room[nearest]--;
        }
    }
    free(room);
    free(late);
}

#ifdef HAVE_SCOTCH
/* Any network: nodes linked where their distance is least, and only those that are in use. */
static int arch_of_graph(SCOTCH_Arch *arch, SCOTCH_Graph *nodes,
                         const struct remap_problem *problem, uint32_t *vertex, int32_t *count)
{
    const uint32_t vertices = topology_nodes(problem->topology);
    uint32_t *room = calloc(vertices, sizeof(*room));
    for (uint32_t p = 0; p < problem->processes; p++)
        room[problem->seats[p]]++;
    *count = 0;
    for (uint32_t v = 0; v < vertices; v++)
        if (room[v])
            vertex[(*count)++] = v;
    const int32_t m = *count;
    SCOTCH_Num *first = malloc(((size_t)m + 1) * sizeof(*first));
    SCOTCH_Num *ends = malloc((size_t)m * (size_t)m * sizeof(*ends)), end = 0;
    SCOTCH_Num *apart = malloc((size_t)m * (size_t)m * sizeof(*apart));
    /* complete, with distances as lengths, if it is small: else a job's nodes might not be
     * connected */
    for (int32_t a = 0; a < m; a++) {
        first[a] = end;
        for (int32_t b = 0; b < m; b++) {
            const uint32_t d = topology_distance(problem->topology, vertex[a], vertex[b]);
            if (a == b || (m > 256 && d > 1 && (uint32_t)abs(a - b) > 1))
                continue;
            apart[end] = (SCOTCH_Num)d;
            ends[end++] = b;
        }
    }
    first[m] = end;
    free(room);
    SCOTCH_graphInit(nodes);
    return SCOTCH_graphBuild(nodes, 0, m, first, NULL, NULL, NULL, end, ends, apart) != 0 ||
           SCOTCH_archBuild2(arch, nodes, m, NULL) != 0;
}

static bool same_connection(const struct topology_spec *spec, enum topology_connection connection)
{
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        if (spec->dimensions[d].connection != connection && spec->dimensions[d].size > 2)
            return false;
    return spec->kind == TOPOLOGY_CARTESIAN;
}

/* Sizes are turned round: Scotch's first dimension varies fastest. @return 0: done */
static int make_arch(SCOTCH_Arch *arch, SCOTCH_Graph *nodes, const struct remap_problem *problem,
                     uint32_t *vertex, int32_t *count)
{
    const struct topology_spec *spec = topology_spec(problem->topology);
    SCOTCH_Num sizes[TOPOLOGY_DIMENSIONS];
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        sizes[d] = (SCOTCH_Num)spec->dimensions[spec->dimension_count - 1 - d].size;
    *count = (int32_t)topology_nodes(problem->topology);
    for (int32_t v = 0; v < *count; v++)
        vertex[v] = (uint32_t)v;
    if (same_connection(spec, TOPOLOGY_TORUS) && spec->dimension_count <= 5)
        return SCOTCH_archTorusX(arch, (SCOTCH_Num)spec->dimension_count, sizes);
    if (same_connection(spec, TOPOLOGY_MESH) && spec->dimension_count <= 5)
        return SCOTCH_archMeshX(arch, (SCOTCH_Num)spec->dimension_count, sizes);
    return arch_of_graph(arch, nodes, problem, vertex, count);
}

/* By one thread, as ours. With several, Scotch 7.0.3 has waited for its own threads without end.
 * @return 0: `part` is set */
static int scotch_map(SCOTCH_Graph *graph, SCOTCH_Arch *arch, SCOTCH_Strat *strategy,
                      SCOTCH_Num *part)
{
    SCOTCH_Context context;
    SCOTCH_Graph bound;
    SCOTCH_contextInit(&context);
    SCOTCH_graphInit(&bound);
    const int failed = SCOTCH_contextThreadSpawn(&context, 1, NULL) != 0 ||
                       SCOTCH_contextBindGraph(&context, graph, &bound) != 0 ||
                       SCOTCH_graphMap(&bound, arch, strategy, part) != 0;
    SCOTCH_graphExit(&bound);
    SCOTCH_contextExit(&context);
    return failed;
}

/* @return hop-bytes, below 0: Scotch could not */
static double scotch(const struct remap_problem *problem, double *time)
{
    struct graph g = make_graph(problem);
    SCOTCH_Graph graph, nodes;
    SCOTCH_Arch arch;
    SCOTCH_Strat strategy;
    uint32_t *vertex = calloc(topology_nodes(problem->topology), sizeof(*vertex));
    uint32_t *seats = calloc(problem->processes, sizeof(*seats));
    SCOTCH_Num *part = calloc(problem->processes, sizeof(*part));
    int32_t count;
    double reached = -1;
    SCOTCH_graphInit(&graph);
    SCOTCH_archInit(&arch);
    SCOTCH_stratInit(&strategy);
    SCOTCH_randomSeed(1);
    if (make_arch(&arch, &nodes, problem, vertex, &count) == 0 &&
        SCOTCH_graphBuild(&graph, 0, g.vertices, g.first, NULL, NULL, NULL, g.first[g.vertices],
                          g.partner, g.weight) == 0 &&
        SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATQUALITY, count, 0.0) == 0) {
        const double begin = bench_seconds();
        if (scotch_map(&graph, &arch, &strategy, part) == 0) {
            *time = bench_seconds() - begin;
            for (uint32_t p = 0; p < problem->processes; p++)
                seats[p] = vertex[part[p]];
            seat(problem, seats);
            reached = hop_bytes(problem, seats);
        }
    }
    SCOTCH_stratExit(&strategy);
    SCOTCH_archExit(&arch);
    SCOTCH_graphExit(&graph);
    free(vertex);
    free(seats);
    free(part);
    graph_finish(&g);
    return reached;
}
#else
static double scotch(const struct remap_problem *problem, double *time)
{
    (void)problem;
    *time = 0;
    return -1;
}
#endif

/* ---- what is printed ------------------------------------------------------------ */

struct target {
    const char *name;
    double percent; /* 0: none */
};

static void print_job(const char *name, const struct remap_problem *problem, double percent)
{
    double time = 0;
    const struct outcome out = run(problem);
    const double theirs = scotch(problem, &time);
    printf("%-26s %7.2f %7.2f%s", name, 100 * (1 - out.reached / out.given),
           100 * (1 - out.bound / out.given), out.optimal ? "*" : " ");
    if (percent > 0)
        printf(" %7.2f", percent);
    else
        printf("       -");
    if (theirs >= 0)
        printf(" %7.2f %6.3f", 100 * (1 - theirs / out.given), out.reached / theirs);
    else
        printf("       -      -");
    printf(" %6.2f %6.2f %5.0f\n", out.seconds, time, 1e3 * out.longest);
    fflush(stdout);
}

static void print_recorded(const struct target *target, double effort, uint64_t seed)
{
    struct recorded_job job;
    recorded_job(&job, target->name);
    job.problem.effort = effort;
    job.problem.seed = seed;
    print_job(target->name, &job.problem, target->percent);
    recorded_job_finish(&job);
}

static uint32_t draw(uint64_t *random, uint32_t below)
{
    return (uint32_t)((uint64_t)bench_next(random) * below >> 32);
}

static void shuffle(uint32_t *numbers, uint32_t count, uint64_t *random)
{
    for (uint32_t p = count; p > 1; p--) {
        const uint32_t k = draw(random, p), swap = numbers[p - 1];
        numbers[p - 1] = numbers[k];
        numbers[k] = swap;
    }
}

/* 32 x 16 x 16 processes, not periodic, numbered at random, on 8 x 4 x 8 x 16 x 2. */
static void print_stencil(uint64_t seed)
{
    const uint32_t n = 8192, size[3] = {32, 16, 16}, stride[3] = {256, 16, 1};
    struct remap_edge *edges = calloc(6 * n, sizeof(*edges));
    uint32_t *seats = calloc(n, sizeof(*seats));
    struct topology *topology = network_short("torus:8,4,8,16,2");
    size_t count = 0;
    uint64_t random = 1;
    for (uint32_t p = 0; p < n; p++)
        seats[p] = p;
    shuffle(seats, n, &random);
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t a = 0; a < 3; a++)
            if (p / stride[a] % size[a] + 1 < size[a]) {
                edges[count++] = (struct remap_edge){p, p + stride[a], 1000 << a, 1};
                edges[count++] = (struct remap_edge){p + stride[a], p, 1000 << a, 1};
            }
    struct remap_problem problem = {.topology = topology,
                                    .processes = n,
                                    .seats = seats,
                                    .edges = edges,
                                    .edge_count = count,
                                    .effort = 5,
                                    .seed = seed};
    print_job("stencil of 8192, 5 s", &problem, 0);
    for (size_t i = 0; i < count; i++) { /* the same, without an order that could be found out */
        edges[i].from = seats[edges[i].from];
        edges[i].to = seats[edges[i].to];
    }
    print_job("renumbered, 5 s", &problem, 0);
    free(edges);
    free(seats);
    topology_destroy(topology);
}

/* Cut of METIS k-way, at the balance that it comes to, and ours at exact balance. */
static void print_inter_node(const char *name, double effort)
{
    struct recorded_job job;
    recorded_job(&job, name);
    job.problem.objective = REMAP_INTER_NODE;
    job.problem.effort = effort;
    const struct outcome out = run(&job.problem);
    struct graph g = make_graph(&job.problem);
    idx_t one = 1, parts = (idx_t)topology_nodes(job.topology), cut = 0;
    idx_t *part = calloc(job.problem.processes, sizeof(*part));
    idx_t options[METIS_NOPTIONS];
    double bytes = 0;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_UFACTOR] = 1;
    METIS_PartGraphKway(&g.vertices, &one, g.first, g.partner, NULL, NULL, g.weight, &parts, NULL,
                        NULL, options, &cut, part);
    for (size_t i = 0; i < job.problem.edge_count; i++) {
        const struct remap_edge *e = &job.problem.edges[i];
        bytes += part[e->from] != part[e->to] ? (double)e->bytes : 0;
    }
    printf("%-26s %7.2f %7.2f%s %15.2f %6.3f %6.2f\n", name, 100 * (1 - out.reached / out.given),
           100 * (1 - out.bound / out.given), out.optimal ? "*" : " ",
           100 * (1 - bytes / out.given), out.reached / bytes, out.seconds);
    free(part);
    graph_finish(&g);
    recorded_job_finish(&job);
}

static void print_max_link(const char *name, double effort)
{
    struct recorded_job job;
    recorded_job(&job, name);
    job.problem.objective = REMAP_MAX_LINK;
    job.problem.effort = effort;
    const struct outcome out = run(&job.problem);
    printf("%-26s %7.2f %7.2f%s %6.2f\n", name, 100 * (1 - out.reached / out.given),
           100 * (1 - out.bound / out.given), out.optimal ? "*" : " ", out.seconds);
    recorded_job_finish(&job);
}

/* ---- irregular communication ----------------------------------------------------- */

#define MESH_CENTRES 5u

/* A cube of a mesh that is refined by halving, or a point if its size is 0; lengths are in 1/1024
 * of the whole. */
struct cell {
    int32_t at[3], size;
};

/* Cells in the order of their octree, refined nearest to some points until there are enough. */
static void make_cells(struct cell *cells, uint32_t count, uint64_t *random)
{
    int32_t centre[MESH_CENTRES][3];
    uint32_t made = 1;
    for (uint32_t c = 0; c < MESH_CENTRES; c++)
        for (uint32_t a = 0; a < 3; a++)
            centre[c][a] = (int32_t)draw(random, 1024);
    cells[0] = (struct cell){.size = 1024};
    while (made + 7 <= count) {
        uint32_t chosen = 0;
        double highest = 0;
        for (uint32_t i = 0; i < made; i++)
            for (uint32_t c = 0; c < MESH_CENTRES; c++) {
                double square = 1;
                for (uint32_t a = 0; a < 3; a++) {
                    const double gap = cells[i].at[a] + cells[i].size / 2 - centre[c][a];
                    square += gap * gap;
                }
                const double size = cells[i].size > 8 ? cells[i].size : 0;
                const double merit = size * size * size / sqrt(square);
                if (merit > highest) {
                    highest = merit;
                    chosen = i;
                }
            }
        const struct cell whole = cells[chosen];
        memmove(cells + chosen + 8, cells + chosen + 1, (made - chosen - 1) * sizeof(*cells));
        for (int32_t k = 0; k < 8; k++)
            for (int32_t a = 0; a < 3; a++) {
                cells[chosen + (uint32_t)k].size = whole.size / 2;
                cells[chosen + (uint32_t)k].at[a] =
                    whole.at[a] + (k >> (2 - a) & 1) * whole.size / 2;
            }
        made += 7;
    }
    for (; made < count; made++) /* what is missing of the count: processes that send nothing */
        cells[made] = (struct cell){.at = {-4096 * (int32_t)made}};
}

static void make_points(struct cell *cells, uint32_t count, uint64_t *random)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t a = 0; a < 3; a++)
            cells[i].at[a] = (int32_t)draw(random, 1024);
}

/* The area in which two cells touch; of points a weight that falls to 0 at the distance `reach`. */
static uint64_t weigh(const struct cell *a, const struct cell *b, int32_t reach)
{
    int64_t area = 1, square = 0, touching = 0;
    for (uint32_t d = 0; d < 3; d++) {
        const int64_t low = a->at[d] > b->at[d] ? a->at[d] : b->at[d];
        const int64_t one = a->at[d] + a->size, other = b->at[d] + b->size;
        const int64_t overlap = (one < other ? one : other) - low;
        square += overlap * overlap;
        if (reach == 0 && overlap < 0)
            return 0;
        touching += overlap == 0;
        area *= overlap > 0 ? overlap : 1;
    }
    if (reach == 0)
        return touching == 1 ? (uint64_t)area : 0;
    return square < (int64_t)reach * reach ? (uint64_t)((int64_t)reach * reach - square) : 0;
}

struct irregular {
    const char *name, *network;
    int32_t reach; /* of points; 0: cells of a mesh */
    bool shuffled; /* processes are numbered at random */
};

static void print_irregular(const struct irregular *kind, double effort, uint64_t seed)
{
    struct topology *topology = network_short(kind->network);
    const uint32_t n = topology_nodes(topology);
    struct cell *cells = calloc(n, sizeof(*cells));
    uint32_t *seats = calloc(n, sizeof(*seats)), *numbers = calloc(n, sizeof(*numbers));
    struct remap_edge *edges = NULL;
    size_t count = 0;
    uint64_t random = 7;
    if (kind->reach > 0)
        make_points(cells, n, &random);
    else
        make_cells(cells, n, &random);
    for (uint32_t p = 0; p < n; p++)
        seats[p] = numbers[p] = p;
    if (kind->shuffled)
        shuffle(numbers, n, &random);
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t q = 0; q < n; q++) {
            const uint64_t weight = p == q ? 0 : weigh(&cells[p], &cells[q], kind->reach);
            if (weight == 0)
                continue;
            if ((count & (count - 1)) == 0)
                edges = realloc(edges, (count == 0 ? 1 : 2 * count) * sizeof(*edges));
            edges[count++] = (struct remap_edge){numbers[p], numbers[q], 64 * weight, 1};
        }
    const struct remap_problem problem = {.topology = topology,
                                          .processes = n,
                                          .seats = seats,
                                          .edges = edges,
                                          .edge_count = count,
                                          .effort = effort,
                                          .seed = seed};
    print_job(kind->name, &problem, 0);
    free(edges);
    free(numbers);
    free(seats);
    free(cells);
    topology_destroy(topology);
}

static void print_all_irregular(double effort, uint64_t seed)
{
    const struct irregular kinds[] = {
        {"refined mesh, 512", "torus:4,4,4,4,2", 0, false},
        {"renumbered", "torus:4,4,4,4,2", 0, true},
        {"refined mesh, 1024", "torus:4,4,4,8m,2", 0, false},
        {"renumbered", "torus:4,4,4,8m,2", 0, true},
        {"refined mesh, 4096", "torus:16,16,16", 0, false},
        {"renumbered", "torus:16,16,16", 0, true},
        {"refined mesh, 8192", "torus:8,4,8,16,2", 0, false},
        {"renumbered", "torus:8,4,8,16,2", 0, true},
        {"near points, 1024", "torus:4,4,4,8m,2", 150, true},
        {"near points, 2048", "torus:4,4,4,16,2", 120, true},
        {"near points, 4096", "torus:16,16,16", 95, true},
        {"near points, 8192", "torus:8,4,8,16,2", 75, true},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        print_irregular(&kinds[i], effort, seed);
}

/* ---- all ------------------------------------------------------------------------ */

static void print_all(double effort, uint64_t seed)
{
    const struct target targets[] = {
        {"MiniMD_Mira_n2048_c1_s1", 72.28}, {"MiniMD_Mira_n1024_c1_w", 44.06},
        {"MiniMD_Vesta_n512_c1_w", 36.88},  {"MiniMD_Vesta_n256_c1_w", 25.73},
        {"MiniAMR_Vesta_n512_c1_s2", 33.4}, {"MiniAMR_Vesta_n256_c1_s2", 37.7},
        {"MiniAMR_Mira_n1024_c1_s1", 50.5}, {"MiniAMR_Mira_n2048_c1_s1", 59.3},
        {"MiniAMR_Vesta_n128_c1_s2", 0},    {"MiniAMR_Vesta_n64_c1_s2", 0},
        {"MiniAMR_Vesta_n32_c1_s2", 0},     {"MiniMD_Vesta_n128_c16_w", 0},
        {"MiniMD_Vesta_n128_c1_w", 0},      {"MiniMD_Vesta_n64_c1_w", 0},
        {"IMB-MPI1_Vesta_n32_c16", 0},      {"IMB-MPI1_Vesta_n32_c1", 0},
        {"MiniAMR_Theta_n512_c1_s2", 0},    {"MiniAMR_Theta_n256_c1_s2", 0},
        {"MiniAMR_Theta_n128_c1_s2", 0},    {"MiniMD_Theta_n256_c1_w", 0},
        {"MiniMD_Theta_n128_c1_w", 0},      {"MiniMD_Theta_n64_c1_w", 0},
    };
    printf("percent less hop-bytes         ours   bound  target  Scotch  ratio    CPU  their "
           "longest step, ms\n");
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
        print_recorded(&targets[i], effort, seed);
    print_stencil(seed);
    print_all_irregular(effort, seed);
    printf("\nbytes between nodes            ours   bound     METIS k-way  ratio    CPU\n");
    print_inter_node("MiniMD_Vesta_n128_c16_w", effort);
    print_inter_node("IMB-MPI1_Vesta_n32_c16", effort);
    printf("\nthe most loaded link           ours   bound    CPU\n");
    print_max_link("MiniMD_Vesta_n256_c1_w", effort);
    print_max_link("MiniAMR_Vesta_n512_c1_s2", effort);
    print_max_link("MiniMD_Mira_n2048_c1_s1", effort);
}

int main(int argc, char **argv)
{
    double effort = 2;
    uint64_t seed = 1;
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (strcmp(argv[i], "--time") == 0)
            effort = atof(argv[i + 1]);
        else
            seed = strtoull(argv[i + 1], NULL, 10);
    }
    if (i == argc)
        print_all(effort, seed);
    for (; i < argc; i++) {
        const struct target target = {argv[i], 0};
        if (strcmp(argv[i], "irregular") == 0)
            print_all_irregular(effort, seed);
        else
            print_recorded(&target, effort, seed);
    }
    return 0;
}
