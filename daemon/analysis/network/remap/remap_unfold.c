/* Laying processes out on a mesh, which is then embedded in the network: see remap_unfold.h. */
#include "daemon/analysis/network/remap/remap_unfold.h"

#include "daemon/analysis/network/remap/remap_grid.h"
#include "daemon/analysis/network/remap/remap_halves.h"
#include "daemon/analysis/network/remap/remap_search.h"
#include "include/holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AXES 3u
#define MIN_PROCESSES 16u /* smallest number of processes */
#define MAX_LAYOUTS 8u    /* layouts that are started */
#define TRIES 1500u       /* exchanges to try for each process in the annealing of a layout */
#define WORK_TRY 75u      /* work of one attempted exchange, in units of remap.c */
#define BEST_LAYOUTS 3u   /* layouts that are annealed further */
#define HOT 0.3           /* temperature, as a share of what a process exchanges (not tuned) */
#define COLD 0.03

enum phase {
    HALVING,
    ANNEALING,
    DESCENDING,
    EMBEDDING,
    DONE,
};

struct layout {
    uint32_t *slots; /* owned */
    double cost;
};

struct remap_unfold {
    const struct remap_graph *graph;
    const struct remap_places *places; /* of the network */
    uint64_t seed, budget, used;
    uint32_t sizes[AXES];
    struct topology *topology; /* the mesh */
    struct remap_places mesh;
    struct remap_search search;
    struct remap_halves *halves;
    struct remap_grid *grid;
    uint32_t *all; /* 0, 1, 2 ... */
    enum phase phase;
    uint32_t layouts;       /* layouts started or continued so far */
    uint32_t first_layouts; /* layouts to start; then as many as are stored are continued */
    struct layout best_layouts[BEST_LAYOUTS]; /* the best layout first */
    uint32_t kept_count;
    uint64_t embed_end;
    uint64_t length, work_begin; /* work of the present annealing: its length and where it began */
};

/* ---- the mesh ------------------------------------------------------------------- */

/* Sizes as even as the prime factors of a number allow: the largest factor first, each to the
 * shortest axis. */
static bool unfold_choose_sizes(uint32_t number, uint32_t *sizes)
{
    uint32_t primes[32], count = 0;
    for (uint32_t prime = 2; number > 1; prime++)
        for (; number % prime == 0; number /= prime)
            primes[count++] = prime;
    for (uint32_t a = 0; a < AXES; a++)
        sizes[a] = 1;
    while (count > 0) {
        uint32_t shortest = 0;
        for (uint32_t a = 1; a < AXES; a++)
            shortest = sizes[a] < sizes[shortest] ? a : shortest;
        sizes[shortest] *= primes[--count];
    }
    return sizes[0] <= 256 && sizes[1] <= 256 && sizes[2] <= 256 &&
           (sizes[0] > 1) + (sizes[1] > 1) + (sizes[2] > 1) > 1;
}

static int unfold_make_mesh(struct remap_unfold *u)
{
    const uint32_t n = u->graph->processes;
    struct topology_spec *spec = calloc(1, sizeof(*spec));
    uint32_t *slots = malloc(((size_t)n + 1) * sizeof(*slots));
    char why[128];
    int rc = -ENOMEM;
    if (spec != NULL && slots != NULL) {
        spec->kind = TOPOLOGY_CARTESIAN;
        spec->dimension_count = AXES;
        for (uint32_t a = 0; a < AXES; a++)
            spec->dimensions[a] = (struct topology_dimension){
                .connection = TOPOLOGY_MESH, .size = u->sizes[a], .step = a};
        rc = topology_create(&u->topology, spec, why, sizeof(why));
    }
    if (rc == 0) {
        const struct remap_problem problem = {
            .topology = u->topology, .processes = n, .seats = u->all};
        rc = remap_places_init(&u->mesh, &problem, false, slots);
    }
    free(slots);
    free(spec);
    return rc;
}

/* @return 0, or -HOLTER_ELIMIT: the budget is too small for good layouts */
static int remap_unfold_plan(struct remap_unfold *u)
{
    const uint64_t one = (uint64_t)u->graph->processes * TRIES * WORK_TRY;
    u->first_layouts = MAX_LAYOUTS;
    while (u->first_layouts > 2 && (u->first_layouts + 2 * BEST_LAYOUTS) * one > u->budget)
        u->first_layouts--;
    /* a continued layout gets twice the work of a started one; an eighth of the budget is for the
     * embedding */
    u->length = (u->budget - u->budget / 8) / (u->first_layouts + 2 * BEST_LAYOUTS);
    if (u->length > one * 3 / 2)
        u->length = one * 3 / 2;
    return u->length < one / 2 ? -HOLTER_ELIMIT : 0;
}

int remap_unfold_create(struct remap_unfold **out, const struct remap_graph *graph,
                        const struct remap_places *places, uint64_t seed, uint64_t budget)
{
    const uint32_t n = graph->processes;
    struct remap_unfold *u = calloc(1, sizeof(*u));
    if (u == NULL)
        return -ENOMEM;
    u->graph = graph;
    u->places = places;
    u->seed = seed;
    u->budget = budget;
    u->all = malloc(((size_t)n + 1) * sizeof(*u->all));
    int rc = u->all == NULL ? -ENOMEM : 0;
    for (uint32_t p = 0; rc == 0 && p < n; p++)
        u->all[p] = p;
    if (rc == 0 && (n < MIN_PROCESSES || !unfold_choose_sizes(n, u->sizes)))
        rc = -HOLTER_EEMPTY;
    if (rc == 0)
        rc = unfold_make_mesh(u);
    if (rc == 0)
        rc = remap_search_init(&u->search, graph, &u->mesh, u->all, n, seed);
    if (rc == 0)
        rc = remap_unfold_plan(u);
    if (rc != 0) {
        remap_unfold_destroy(u);
        return rc;
    }
    *out = u;
    return 0;
}

void remap_unfold_destroy(struct remap_unfold *u)
{
    if (u == NULL)
        return;
    for (uint32_t i = 0; i < u->kept_count; i++)
        free(u->best_layouts[i].slots);
    remap_halves_destroy(u->halves);
    remap_grid_destroy(u->grid);
    remap_search_finish(&u->search);
    remap_places_finish(&u->mesh);
    topology_destroy(u->topology);
    free(u->all);
    free(u);
}

/* ---- layouts -------------------------------------------------------------------- */

/* Store the layout of the search, unless enough better ones are stored. */
static void remap_unfold_store_best(struct remap_unfold *u)
{
    const size_t size = u->graph->processes * sizeof(uint32_t);
    struct layout one = {NULL, u->search.cost};
    if (u->kept_count < BEST_LAYOUTS) {
        one.slots = malloc(size + 1);
        if (one.slots == NULL)
            return;
        u->kept_count++;
    } else if (u->best_layouts[BEST_LAYOUTS - 1].cost > one.cost) {
        one.slots = u->best_layouts[BEST_LAYOUTS - 1].slots;
    } else {
        return;
    }
    memcpy(one.slots, u->search.slot, size);
    uint32_t i = u->kept_count - 1;
    for (; i > 0 && u->best_layouts[i - 1].cost > one.cost; i--)
        u->best_layouts[i] = u->best_layouts[i - 1];
    u->best_layouts[i] = one;
}

static int unfold_step_halving(struct remap_unfold *u, uint64_t limit)
{
    const enum remap_cut cuts[2] = {CUT_LONGEST, CUT_LONGEST_LAST};
    if (u->halves == NULL)
        return remap_halves_create(&u->halves, u->graph, &u->mesh, cuts[u->layouts % 2],
                                   (uint32_t)u->seed + u->layouts);
    const int rc = remap_halves_step(u->halves, limit, &u->used);
    if (rc <= 0)
        return rc;
    remap_search_load(&u->search, remap_halves_slots(u->halves));
    remap_halves_destroy(u->halves);
    u->halves = NULL;
    u->work_begin = u->search.work;
    u->phase = ANNEALING;
    return 0;
}

static void unfold_step_annealing(struct remap_unfold *u, uint64_t limit)
{
    const double scale = remap_search_scale(&u->search);
    const uint64_t length = u->layouts < u->first_layouts ? u->length : 2 * u->length;
    const uint64_t end = u->search.work + limit;
    while (u->search.work < end && u->search.work - u->work_begin < length) {
        const double done = (double)(u->search.work - u->work_begin) / (double)length;
        remap_search_run(&u->search, scale * HOT * pow(COLD / HOT, done), length / 64 + 1);
    }
    if (u->search.work - u->work_begin >= length)
        u->phase = DESCENDING;
}

/* Start a new layout, continue one of the best, or embed the best in the network. */
static int unfold_begin_next(struct remap_unfold *u)
{
    remap_unfold_store_best(u);
    u->layouts++;
    if (u->layouts < u->first_layouts) {
        u->phase = HALVING;
        return 0;
    }
    const uint32_t again = u->layouts - u->first_layouts;
    if (again < BEST_LAYOUTS && again < u->kept_count && u->used < u->budget) {
        remap_search_load(&u->search, u->best_layouts[again].slots);
        u->work_begin = u->search.work;
        u->phase = ANNEALING;
        return 0;
    }
    if (u->kept_count == 0)
        return -ENOMEM;
    const struct remap_numbering numbering = {u->sizes, AXES, u->best_layouts[0].slots};
    u->phase = EMBEDDING;
    u->embed_end = u->used + u->budget / 16;
    return remap_grid_create(&u->grid, u->graph, u->places, AXES_GIVEN, &numbering, u->seed);
}

static int unfold_step_embedding(struct remap_unfold *u, uint64_t limit)
{
    remap_grid_step(u->grid, limit, &u->used);
    if (u->used >= u->embed_end)
        u->phase = DONE;
    return 0;
}

int remap_unfold_step(struct remap_unfold *u, uint64_t limit, uint64_t *work)
{
    const uint64_t used = u->used, searched = u->search.work;
    int rc = 0;
    if (u->phase == HALVING)
        rc = unfold_step_halving(u, limit);
    else if (u->phase == ANNEALING)
        unfold_step_annealing(u, limit);
    else if (u->phase == DESCENDING && remap_search_descend(&u->search, limit))
        rc = unfold_begin_next(u);
    else if (u->phase == EMBEDDING)
        rc = unfold_step_embedding(u, limit);
    u->used += u->search.work - searched;
    *work += u->used - used;
    return rc != 0 ? rc : u->phase == DONE;
}

void remap_unfold_slots(const struct remap_unfold *u, uint32_t *slots)
{
    remap_grid_slots(u->grid, slots);
}
