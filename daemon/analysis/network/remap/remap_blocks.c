#include "daemon/analysis/network/remap/remap_blocks.h"

#include "daemon/analysis/network/remap/remap_boxes.h"
#include "include/holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNITS (2 * TOPOLOGY_DIMENSIONS)
#define LEAST 32u /* spots */
#define WORK_STEP 60000u
#define TRIES 500u /* for each block, in one annealing */
#define PIECES 64u
#define HOT 0.17     /* temperatures, as shares of what a block exchanges: the first, at least, */
#define HOT_MORE 0.1 /* and what chance may add; */
#define COLD 0.05    /* the last */
#define NEAR 1.03    /* worse ones are not worth going downhill from */
#define MOST_DESCENT 12000000u /* work */
#define WORSE 0.012            /* than the best: gone on from, by chance */
#define EVEN 1e-9              /* costs that differ by less are the same */

struct remap_blocks {
    const struct remap_graph *graph;   /* borrowed */
    const struct remap_places *places; /* borrowed */
    struct remap_unit units[UNITS];    /* dimensions, and halves of rings of 4 */
    uint32_t unit_count;
    uint32_t room;     /* seats of each spot */
    uint32_t *key;     /* of each spot */
    uint32_t *spot_at; /* of each key */
    uint32_t *slots;   /* of each process: what it goes on from */
    uint32_t *next;    /* likewise: what is tried */
    uint32_t *block;   /* of each process */
    double cost, best;
    uint64_t random;

    /* of the present choice */
    uint32_t kept[UNITS], kept_count;  /* units that are not inside a block */
    uint32_t count;                    /* blocks */
    uint32_t offset[REMAP_MOST_BOXES]; /* their part of the key, in each place */
    double *weights;                   /* blocks x blocks */
    struct remap_boxes *boxes;
};

/* ---- units ---------------------------------------------------------------------- */

static void add_unit(struct remap_blocks *b, enum topology_connection connection, uint32_t size)
{
    if (size > 1)
        b->units[b->unit_count++] = (struct remap_unit){connection, size, 0};
}

static bool is_split(const struct remap_dimension *d)
{
    return d->connection == TOPOLOGY_TORUS && d->size == 4;
}

/* Are all vertices of the network in use, each by equally many? */
static bool remap_blocks_is_full(const struct remap_places *places)
{
    uint64_t volume = 1;
    if (places->inter_node || places->dimension_count == 0 || places->spots < LEAST ||
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

/* Row-major in the units; a ring of 4 is counted as its Gray code. */
static void find_keys(struct remap_blocks *b)
{
    const struct remap_places *places = b->places;
    uint32_t stride = 1;
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        const bool split = is_split(&places->dimensions[d]);
        if (split)
            add_unit(b, TOPOLOGY_MESH, 2);
        add_unit(b, split ? TOPOLOGY_MESH : places->dimensions[d].connection,
                 split ? 2 : places->dimensions[d].size);
    }
    for (uint32_t u = b->unit_count; u-- > 0; stride *= b->units[u].size)
        b->units[u].stride = stride;
    for (uint32_t s = 0; s < places->spots; s++) {
        uint32_t key = 0;
        for (uint32_t d = 0; d < places->dimension_count; d++) {
            const uint32_t x = remap_at(places, s)[d];
            key = key * places->dimensions[d].size +
                  (is_split(&places->dimensions[d]) ? x ^ x >> 1 : x);
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
    b->key = malloc(m * sizeof(*b->key));
    b->spot_at = malloc(m * sizeof(*b->spot_at));
    b->slots = malloc((n + 1) * sizeof(*b->slots));
    b->next = malloc((n + 1) * sizeof(*b->next));
    b->block = malloc((n + 1) * sizeof(*b->block));
    b->weights = malloc(REMAP_MOST_BOXES * REMAP_MOST_BOXES * sizeof(*b->weights));
    if (!b->key || !b->spot_at || !b->slots || !b->next || !b->block || !b->weights ||
        remap_boxes_create(&b->boxes) != 0) {
        remap_blocks_destroy(b);
        return -ENOMEM;
    }
    find_keys(b);
    if (b->unit_count < 4) { /* too few to choose from */
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
    free(b->key);
    free(b->spot_at);
    free(b->slots);
    free(b->next);
    free(b->block);
    free(b->weights);
    remap_boxes_destroy(b->boxes);
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

/* Units are put inside, in an order by chance, until there are few enough blocks. */
static void remap_blocks_choose(struct remap_blocks *b)
{
    const uint32_t share = 4u << remap_below(&b->random, 2);
    uint32_t most = b->places->spots / share, left = b->unit_count;
    most = most > REMAP_MOST_BOXES ? REMAP_MOST_BOXES : most;
    b->count = b->places->spots;
    for (uint32_t u = 0; u < left; u++)
        b->kept[u] = u;
    while (b->count > most) {
        const uint32_t k = remap_below(&b->random, left);
        b->count /= b->units[b->kept[k]].size;
        memmove(b->kept + k, b->kept + k + 1, (--left - k) * sizeof(*b->kept));
    }
    b->kept_count = left;
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t rest = i;
        b->offset[i] = 0;
        for (uint32_t k = left; k-- > 0; rest /= b->units[b->kept[k]].size)
            b->offset[i] += rest % b->units[b->kept[k]].size * b->units[b->kept[k]].stride;
    }
}

/* Which block a spot is part of: row-major in the units that are kept. */
static uint32_t block_of(const struct remap_blocks *b, uint32_t spot)
{
    uint32_t block = 0;
    for (uint32_t k = 0; k < b->kept_count; k++) {
        const struct remap_unit *unit = &b->units[b->kept[k]];
        block = block * unit->size + b->key[spot] / unit->stride % unit->size;
    }
    return block;
}

/* Weights between blocks. */
static void remap_blocks_gather(struct remap_blocks *b)
{
    const struct remap_graph *graph = b->graph;
    const uint32_t count = b->count;
    memset(b->weights, 0, (size_t)count * count * sizeof(*b->weights));
    for (uint32_t p = 0; p < graph->processes; p++)
        b->block[p] = block_of(b, b->places->spot[b->slots[p]]);
    for (uint32_t p = 0; p < graph->processes; p++) {
        double *row = b->weights + (size_t)b->block[p] * count;
        for (uint32_t i = graph->first[p]; i < graph->first[p + 1]; i++)
            row[b->block[graph->partners[i].process]] += graph->partners[i].weight;
    }
}

/* ---- a step --------------------------------------------------------------------- */

/* @return work, 0: there is nothing to anneal */
static uint64_t remap_blocks_anneal(struct remap_blocks *b)
{
    struct remap_unit units[UNITS];
    for (uint32_t k = 0; k < b->kept_count; k++)
        units[k] = b->units[b->kept[k]];
    uint64_t work = remap_boxes_begin(b->boxes, units, b->kept_count, b->count, b->weights,
                                      remap_random(&b->random));
    const double hot = HOT + HOT_MORE * (double)remap_below(&b->random, 1024) / 1024;
    for (uint32_t i = 0; i < PIECES && work > 0; i++)
        work += remap_boxes_run(b->boxes, hot * pow(COLD / hot, (double)i / PIECES),
                                b->count * TRIES / PIECES);
    return work;
}

/* Every process goes where its block went. */
static void remap_blocks_follow(struct remap_blocks *b)
{
    const uint8_t *places = remap_boxes_places(b->boxes);
    for (uint32_t p = 0; p < b->graph->processes; p++) {
        const uint32_t spot = b->places->spot[b->slots[p]], from = b->block[p];
        const uint32_t key = b->key[spot] - b->offset[from] + b->offset[places[from]];
        b->next[p] = b->places->first[b->spot_at[key]] + b->slots[p] % b->room;
    }
}

/* @return whether it is better */
static bool remap_blocks_continue_search(struct remap_blocks *b, struct remap_search *search,
                                         uint64_t *work)
{
    const uint64_t before = search->work;
    const double cost = remap_search_cost(search, b->next), same = EVEN * b->cost;
    *work += 10ull * b->graph->first[b->graph->processes];
    if (fabs(cost - b->cost) <= same) { /* another of the same worth */
        remap_blocks_load(b, b->next, b->cost);
        return false;
    }
    if (cost > NEAR * b->cost)
        return false;
    remap_search_load(search, b->next);
    remap_search_descend(search, MOST_DESCENT);
    *work += (search->work - before) / 2; /* it is in the cache */
    const double chance = (double)remap_below(&b->random, 1024) / 1024;
    const bool better = search->cost < (1 - EVEN) * b->best;
    if (search->cost <= b->cost + same || search->cost < (1 + WORSE * chance) * b->best)
        remap_blocks_load(b, search->slot, search->cost);
    return better;
}

int remap_blocks_step(struct remap_blocks *b, struct remap_search *search, uint64_t *work)
{
    remap_blocks_choose(b);
    if (b->count < 2)
        return -HOLTER_EEMPTY;
    remap_blocks_gather(b);
    *work += WORK_STEP + 40ull * b->graph->first[b->graph->processes] + 30ull * b->graph->processes;
    const uint64_t annealed = remap_blocks_anneal(b);
    *work += annealed;
    if (annealed == 0)
        return 0;
    remap_blocks_follow(b);
    return remap_blocks_continue_search(b, search, work);
}
