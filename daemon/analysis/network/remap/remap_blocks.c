/* Iterated local search over exchanges of whole blocks of processes: see remap_blocks.h. The
 * temperatures and shares below are heuristic and not tuned systematically;
 * tests/bench/remap_bench.c shows the effect of a change. */
#include "daemon/analysis/network/remap/remap_blocks.h"

#include "daemon/analysis/tables/arena.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS (2 * TOPOLOGY_DIMENSIONS)
#define MAX_BLOCKS 128u
#define MIN_SPOTS 32u /* smallest network, in spots */
#define WORK_STEP 60000u
#define TRY_WORK 37500u /* work of one annealing for each block: about 500 exchanges are tried */
#define ALL_BYTES 1e12  /* what all blocks together exchange, for the graph of the blocks */
#define PIECES 64u
#define HOT 0.17       /* first temperature at least, as a share of what a block exchanges, */
#define HOT_RANDOM 0.1 /* plus up to this much at random; */
#define COLD 0.05      /* last temperature */
/* The search does not continue from mappings that cost more than this factor of the present one. */
#define MAX_COST_RATIO 1.03
#define MAX_DESCENT_WORK 12000000u /* limit of the work of one descent */
/* A mapping up to this share worse than the best may, at random, replace the present one. */
#define MAX_LOSS 0.02
#define EVEN 1e-9 /* costs that differ by a smaller share are equal */

/* A dimension of the network of blocks: of a ring of 4 two such dimensions are made. */
struct unit {
    enum topology_connection connection;
    uint32_t size;
    uint32_t stride; /* of its digit in the key of a spot */
};

struct remap_blocks {
    const struct remap_graph *graph;   /* borrowed */
    const struct remap_places *places; /* dimensions; a ring of 4 counts as two of size 2 */
    struct unit units[UNITS];          /* dimensions, and halves of rings of 4 */
    uint32_t unit_count;
    uint32_t room;       /* seats of each spot */
    struct arena memory; /* of all arrays */
    uint32_t *key;       /* of each spot */
    uint32_t *spot_at;   /* of each key */
    uint32_t *slots;     /* slot of each process in the present mapping */
    uint32_t *next;      /* slot of each process in the mapping that is tried */
    uint32_t *block;     /* block of each process */
    double cost, best;
    uint64_t random;

    /* The present random choice of blocks. */
    uint32_t outer[UNITS], outer_count; /* units that distinguish blocks */
    uint32_t count;                     /* number of blocks */
    uint32_t offset[MAX_BLOCKS];        /* contribution of each place to the key of a spot */
    double *weights;                    /* matrix of weights, blocks x blocks */
    uint32_t place[MAX_BLOCKS];         /* of each block, after annealing */
};

/* ---- units ---------------------------------------------------------------------- */

static void remap_blocks_add_unit(struct remap_blocks *b, enum topology_connection connection,
                                  uint32_t size)
{
    if (size > 1)
        b->units[b->unit_count++] = (struct unit){connection, size, 0};
}

static bool remap_blocks_is_split(const struct remap_dimension *d)
{
    return d->connection == TOPOLOGY_TORUS && d->size == 4;
}

/* Are all vertices of the network in use, each by the same number of processes? */
static bool remap_blocks_is_full(const struct remap_places *places)
{
    uint64_t volume = 1;
    if (places->inter_node || places->dimension_count == 0 || places->spots < MIN_SPOTS ||
        topology_spec(places->topology)->kind != TOPOLOGY_CARTESIAN)
        return false;
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        volume *= places->dimensions[d].size;
        if (volume > places->spots)
            return false;
    }
    for (uint32_t s = 0; s < places->spots; s++)
        if (places->first[s + 1] - places->first[s] != places->first[1])
            return false;
    return volume == places->spots;
}

/* The key of a spot is row-major in the units; in a ring of 4 the coordinate is replaced by its
 * Gray code. */
static void remap_blocks_set_keys(struct remap_blocks *b)
{
    const struct remap_places *places = b->places;
    uint32_t stride = 1;
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        const bool split = remap_blocks_is_split(&places->dimensions[d]);
        if (split)
            remap_blocks_add_unit(b, TOPOLOGY_MESH, 2);
        remap_blocks_add_unit(b, split ? TOPOLOGY_MESH : places->dimensions[d].connection,
                              split ? 2 : places->dimensions[d].size);
    }
    for (uint32_t u = b->unit_count; u-- > 0; stride *= b->units[u].size)
        b->units[u].stride = stride;
    for (uint32_t s = 0; s < places->spots; s++) {
        uint32_t key = 0;
        for (uint32_t d = 0; d < places->dimension_count; d++) {
            const uint32_t x = remap_at(places, s)[d];
            key = key * places->dimensions[d].size +
                  (remap_blocks_is_split(&places->dimensions[d]) ? x ^ x >> 1 : x);
        }
        b->key[s] = key;
        b->spot_at[key] = s;
    }
}

int remap_blocks_create(struct remap_blocks **out, const struct remap_graph *graph,
                        const struct remap_places *places, uint64_t seed)
{
    const size_t n = graph->processes, m = places->spots;
    if (!remap_blocks_is_full(places))
        return -HOLTER_EEMPTY;
    struct remap_blocks *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return -ENOMEM;
    b->graph = graph;
    b->places = places;
    b->random = seed;
    b->best = HUGE_VAL;
    b->room = places->first[1];
    ARENA_TAKE(&b->memory, b->key, m);
    ARENA_TAKE(&b->memory, b->spot_at, m);
    ARENA_TAKE(&b->memory, b->slots, n + 1);
    ARENA_TAKE(&b->memory, b->next, n + 1);
    ARENA_TAKE(&b->memory, b->block, n + 1);
    ARENA_TAKE(&b->memory, b->weights, MAX_BLOCKS * MAX_BLOCKS);
    if (b->memory.failed) {
        remap_blocks_destroy(b);
        return -ENOMEM;
    }
    remap_blocks_set_keys(b);
    if (b->unit_count < 4) { /* too few units to choose from */
        remap_blocks_destroy(b);
        return -HOLTER_EEMPTY;
    }
    *out = b;
    return 0;
}

void remap_blocks_destroy(struct remap_blocks *b)
{
    if (b == NULL)
        return;
    arena_finish(&b->memory);
    free(b);
}

void remap_blocks_load(struct remap_blocks *b, const uint32_t *slots, double cost)
{
    memcpy(b->slots, slots, b->graph->processes * sizeof(*slots));
    b->cost = cost;
    b->best = cost < b->best ? cost : b->best;
}

double remap_blocks_cost(const struct remap_blocks *b)
{
    return b->best;
}

/* ---- a choice of blocks --------------------------------------------------------- */

/* Move units inside the blocks, in random order, until there are few enough blocks. */
static void remap_blocks_choose(struct remap_blocks *b)
{
    const uint32_t share = 4u << remap_below(&b->random, 2);
    uint32_t most = b->places->spots / share, left = b->unit_count;
    most = most > MAX_BLOCKS ? MAX_BLOCKS : most;
    b->count = b->places->spots;
    for (uint32_t u = 0; u < left; u++)
        b->outer[u] = u;
    while (b->count > most) {
        const uint32_t k = remap_below(&b->random, left);
        b->count /= b->units[b->outer[k]].size;
        memmove(b->outer + k, b->outer + k + 1, (--left - k) * sizeof(*b->outer));
    }
    b->outer_count = left;
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t rest = i;
        b->offset[i] = 0;
        for (uint32_t k = left; k-- > 0; rest /= b->units[b->outer[k]].size)
            b->offset[i] += rest % b->units[b->outer[k]].size * b->units[b->outer[k]].stride;
    }
}

/* The block of a spot: row-major in the units that distinguish blocks. */
static uint32_t remap_blocks_block_of(const struct remap_blocks *b, uint32_t spot)
{
    uint32_t block = 0;
    for (uint32_t k = 0; k < b->outer_count; k++) {
        const struct unit *unit = &b->units[b->outer[k]];
        block = block * unit->size + b->key[spot] / unit->stride % unit->size;
    }
    return block;
}

/* Compute the weights between blocks. */
static void remap_blocks_sum_weights(struct remap_blocks *b)
{
    const struct remap_graph *graph = b->graph;
    const uint32_t count = b->count;
    memset(b->weights, 0, (size_t)count * count * sizeof(*b->weights));
    for (uint32_t p = 0; p < graph->processes; p++)
        b->block[p] = remap_blocks_block_of(b, b->places->spot[b->slots[p]]);
    for (uint32_t p = 0; p < graph->processes; p++) {
        double *row = b->weights + (size_t)b->block[p] * count;
        for (uint32_t i = graph->first[p]; i < graph->first[p + 1]; i++)
            row[b->block[graph->partners[i].process]] += graph->partners[i].weight;
    }
}

/* ---- a step --------------------------------------------------------------------- */

/* A network with one place for each block. @return 0 or an error code */
static int remap_blocks_create_network(const struct remap_blocks *b, struct topology **out)
{
    struct topology_spec spec = {.kind = TOPOLOGY_CARTESIAN, .dimension_count = b->outer_count};
    char why[128];
    for (uint32_t k = 0; k < b->outer_count; k++) {
        struct topology_dimension *d = &spec.dimensions[k];
        *d = (struct topology_dimension){.size = b->units[b->outer[k]].size,
                                         .connection = b->units[b->outer[k]].connection,
                                         .step = k};
        snprintf(d->name, sizeof(d->name), "%u", k);
    }
    return topology_create(out, &spec, why, sizeof(why));
}

/* Anneal the blocks, and set their places. @return work, or 0: there is no memory */
static uint64_t remap_blocks_search(struct remap_blocks *b, const struct remap_problem *problem)
{
    struct remap_graph graph = {0};
    struct remap_places places = {0};
    struct remap_search search = {0};
    uint32_t slots[MAX_BLOCKS];
    uint64_t work = 0;
    if (remap_graph_init(&graph, problem, false) == 0 &&
        remap_places_init(&places, problem, false, slots) == 0 &&
        remap_search_init(&search, &graph, &places, problem->seats, b->count,
                          remap_random(&b->random)) == 0) {
        const double scale = remap_search_scale(&search);
        const double hot = HOT + HOT_RANDOM * (double)remap_below(&b->random, 1024) / 1024;
        remap_search_load(&search, slots);
        for (uint32_t i = 0; i < PIECES; i++)
            remap_search_run(&search, scale * hot * pow(COLD / hot, (double)i / PIECES),
                             b->count * TRY_WORK / PIECES);
        for (uint32_t i = 0; i < b->count; i++)
            b->place[i] = places.vertex[search.slot[i]];
        work = search.work + 20ull * b->count * b->count;
    }
    remap_search_finish(&search);
    remap_places_finish(&places);
    remap_graph_finish(&graph);
    return work;
}

/* @return work; 0: the chosen network cannot be annealed, or its blocks exchange nothing */
static uint64_t remap_blocks_anneal(struct remap_blocks *b)
{
    struct remap_problem problem = {.processes = b->count};
    struct remap_edge *edges = malloc(MAX_BLOCKS * MAX_BLOCKS * sizeof(*edges));
    struct topology *topology = NULL;
    uint32_t seats[MAX_BLOCKS];
    uint64_t work = 0;
    double all = 0;
    for (uint32_t i = 0; i < b->count * b->count; i++)
        all += b->weights[i];
    if (edges != NULL && all > 0 && isfinite(all) &&
        remap_blocks_create_network(b, &topology) == 0) {
        for (uint32_t p = 0; p < b->count; p++) {
            seats[p] = p;
            for (uint32_t q = 0; q < p; q++)
                edges[problem.edge_count++] = (struct remap_edge){
                    p, q, (uint64_t)(b->weights[p * b->count + q] / all * ALL_BYTES), 0};
        }
        problem.topology = topology;
        problem.seats = seats;
        problem.edges = edges;
        work = remap_blocks_search(b, &problem);
    }
    topology_destroy(topology);
    free(edges);
    return work;
}

/* Move every process to where its block moved. */
static void remap_blocks_move_processes(struct remap_blocks *b)
{
    for (uint32_t p = 0; p < b->graph->processes; p++) {
        const uint32_t spot = b->places->spot[b->slots[p]], from = b->block[p];
        const uint32_t key = b->key[spot] - b->offset[from] + b->offset[b->place[from]];
        b->next[p] = b->places->first[b->spot_at[key]] + b->slots[p] % b->room;
    }
}

/* @return is the mapping of the search better than the best so far? */
static bool remap_blocks_continue_search(struct remap_blocks *b, struct remap_search *search,
                                         uint64_t *work)
{
    const uint64_t before = search->work;
    const double cost = remap_search_cost(search, b->next), same = EVEN * b->cost;
    *work += 10ull * b->graph->first[b->graph->processes];
    if (fabs(cost - b->cost) <= same) { /* another mapping of the same cost */
        remap_blocks_load(b, b->next, b->cost);
        return false;
    }
    if (cost > MAX_COST_RATIO * b->cost)
        return false;
    remap_search_load(search, b->next);
    remap_search_descend(search, MAX_DESCENT_WORK);
    *work +=
        (search->work - before) / 2; /* half of the work is counted: the mapping is in the cache */
    const double chance = (double)remap_below(&b->random, 1024) / 1024;
    const bool better = search->cost < (1 - EVEN) * b->best;
    if (search->cost <= b->cost + same || search->cost < (1 + MAX_LOSS * chance) * b->best)
        remap_blocks_load(b, search->slot, search->cost);
    return better;
}

int remap_blocks_step(struct remap_blocks *b, struct remap_search *search, uint64_t *work)
{
    remap_blocks_choose(b);
    if (b->count < 2)
        return -HOLTER_EEMPTY;
    remap_blocks_sum_weights(b);
    *work += WORK_STEP + 40ull * b->graph->first[b->graph->processes] + 30ull * b->graph->processes;
    const uint64_t annealed = remap_blocks_anneal(b);
    *work += annealed / 2; /* half of the work is counted: the blocks are in the cache */
    if (annealed == 0)
        return 0;
    remap_blocks_move_processes(b);
    return remap_blocks_continue_search(b, search, work);
}
