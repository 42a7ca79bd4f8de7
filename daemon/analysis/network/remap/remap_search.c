/* Local search and annealing by exchanges of two processes: see remap_search.h. */
#include "daemon/analysis/network/remap/remap_search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Work, in units of remap.c. The ratios of these constants were measured by remap_bench. */
#define WORK_TRY 50u      /* choosing an exchange */
#define WORK_FAR 110u     /* additional work when the tables do not fit the cache */
#define WORK_DIMENSION 4u /* weighing an exchange, for each dimension */
#define WORK_PARTNER 12u  /* or for each partner */
/* Work to update a partner's table after an exchange, for each dimension that changes. */
#define WORK_UPDATE 7u

#define MAX_TABLE_ENTRIES (1u << 25) /* limit of the number of doubles in all tables of costs */

int remap_search_init(struct remap_search *search, const struct remap_graph *graph,
                      const struct remap_places *places, const uint32_t *movable, uint32_t count,
                      uint64_t seed)
{
    const size_t n = graph->processes;
    *search = (struct remap_search){.graph = graph,
                                    .places = places,
                                    .movable = movable,
                                    .movable_count = count,
                                    .random = seed};
    ARENA_TAKE(&search->memory, search->moves, n + 1);
    ARENA_TAKE(&search->memory, search->slot, n + 1);
    ARENA_TAKE(&search->memory, search->at, n + 1);
    ARENA_TAKE(&search->memory, search->chance, REMAP_CHANCES);
    if (places->steps != NULL && n * places->width <= MAX_TABLE_ENTRIES)
        ARENA_TAKE(&search->memory, search->table, n * places->width + 1);
    if (search->memory.failed)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        search->moves[movable[i]] = true;
    for (uint32_t i = 0; i < REMAP_CHANCES; i++)
        search->chance[i] = -log((i + 0.5) / REMAP_CHANCES);
    return 0;
}

void remap_search_finish(struct remap_search *search)
{
    arena_finish(&search->memory);
    *search = (struct remap_search){0};
}

/* ---- costs ---------------------------------------------------------------------- */

static inline uint32_t remap_search_spot_of(const struct remap_search *search, uint32_t process)
{
    return search->places->spot[search->slot[process]];
}

/* Cost of a process in a spot: weight times distance over its partners. */
static double remap_search_cost_in(const struct remap_search *search, uint32_t process,
                                   uint32_t spot)
{
    const struct remap_graph *graph = search->graph;
    double sum = 0;
    for (uint32_t i = graph->first[process]; i < graph->first[process + 1]; i++)
        sum += graph->partners[i].weight *
               remap_distance(search->places, spot,
                              remap_search_spot_of(search, graph->partners[i].process));
    return sum;
}

static double *remap_search_table_of(const struct remap_search *search, uint32_t process)
{
    return search->table + (size_t)process * search->places->width;
}

static void remap_search_fill_table(struct remap_search *search, uint32_t process)
{
    const struct remap_places *places = search->places;
    const struct remap_graph *graph = search->graph;
    double *table = remap_search_table_of(search, process);
    memset(table, 0, places->width * sizeof(*table));
    for (uint32_t i = graph->first[process]; i < graph->first[process + 1]; i++) {
        const uint32_t *at =
            remap_at(places, remap_search_spot_of(search, graph->partners[i].process));
        const double weight = graph->partners[i].weight;
        for (uint32_t d = 0; d < places->dimension_count; d++) {
            const struct remap_dimension *dimension = &places->dimensions[d];
            const double *step = dimension->step + (size_t)at[d] * dimension->size;
            for (uint32_t x = 0; x < dimension->size; x++)
                table[dimension->offset + x] += weight * step[x];
        }
    }
}

double remap_search_cost(const struct remap_search *search, const uint32_t *slots)
{
    const struct remap_graph *graph = search->graph;
    const uint32_t *spot = search->places->spot;
    double sum = 0;
    for (uint32_t p = 0; p < graph->processes; p++)
        for (uint32_t i = graph->first[p]; i < graph->first[p + 1]; i++) {
            const uint32_t q = graph->partners[i].process;
            if (q > p)
                sum += graph->partners[i].weight *
                       remap_distance(search->places, spot[slots[p]], spot[slots[q]]);
        }
    return sum;
}

void remap_search_load(struct remap_search *search, const uint32_t *slots)
{
    const uint32_t n = search->graph->processes;
    const size_t ends = search->graph->first[n];
    memcpy(search->slot, slots, (size_t)n * sizeof(*slots));
    for (uint32_t p = 0; p < n; p++)
        search->at[slots[p]] = p;
    for (uint32_t p = 0; search->table != NULL && p < n; p++)
        remap_search_fill_table(search, p);
    search->cost = remap_search_cost(search, slots);
    search->cursor = search->idle = 0;
    search->work += ends * (search->table != NULL ? search->places->width + 20 : 20);
}

/* ---- exchanges ------------------------------------------------------------------ */

/* Loss of an exchange (negative: gain), where the weight between the two is counted as if both were
 * in one spot. */
static inline double remap_search_tables_delta(const struct remap_search *search, uint32_t p,
                                               uint32_t u, uint32_t q, uint32_t v)
{
    const struct remap_places *places = search->places;
    const uint32_t *from = remap_at(places, u), *to = remap_at(places, v);
    const double *one = remap_search_table_of(search, p), *other = remap_search_table_of(search, q);
    double delta = 0;
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        const uint32_t a = places->dimensions[d].offset + from[d];
        const uint32_t b = places->dimensions[d].offset + to[d];
        delta += one[b] - one[a] + other[a] - other[b];
    }
    return delta;
}

static double remap_search_plain_delta(const struct remap_search *search, uint32_t p, uint32_t u,
                                       uint32_t q, uint32_t v)
{
    return remap_search_cost_in(search, p, v) - remap_search_cost_in(search, p, u) +
           remap_search_cost_in(search, q, u) - remap_search_cost_in(search, q, v);
}

static uint64_t remap_search_weighing(const struct remap_search *search, uint32_t p, uint32_t q)
{
    const uint32_t *first = search->graph->first;
    const uint32_t ends = first[p + 1] - first[p] + first[q + 1] - first[q];
    const bool large =
        (size_t)search->places->width * search->graph->processes > (1u << 17); /* 1 MB */
    if (search->table != NULL)
        return WORK_TRY + (large ? WORK_FAR : 0) + WORK_DIMENSION * search->places->dimension_count;
    return WORK_TRY + 2 * (uint64_t)WORK_PARTNER * ends * (search->places->dimension_count + 1);
}

/* In a fully connected dimension only the costs at the coordinate that the process left and at the
 * one that it came to change. */
static void remap_search_update_dimension(struct remap_search *search, uint32_t process,
                                          const struct remap_dimension *dimension, uint32_t from,
                                          uint32_t to)
{
    const struct remap_graph *graph = search->graph;
    for (uint32_t i = graph->first[process]; i < graph->first[process + 1]; i++) {
        double *table =
            remap_search_table_of(search, graph->partners[i].process) + dimension->offset;
        const double weight = graph->partners[i].weight * dimension->scale;
        table[from] += weight;
        table[to] -= weight;
    }
    search->work += (uint64_t)(graph->first[process + 1] - graph->first[process]) * 2 * WORK_UPDATE;
}

/* Update the tables after a partner moved from one spot to another. */
static void remap_search_update_tables(struct remap_search *search, uint32_t process, uint32_t u,
                                       uint32_t v)
{
    const struct remap_places *places = search->places;
    const struct remap_graph *graph = search->graph;
    const uint32_t *from = remap_at(places, u), *to = remap_at(places, v);
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        const struct remap_dimension *dimension = &places->dimensions[d];
        if (from[d] == to[d])
            continue;
        if (dimension->connection == TOPOLOGY_ALL) {
            remap_search_update_dimension(search, process, dimension, from[d], to[d]);
            continue;
        }
        const double *before = dimension->step + (size_t)from[d] * dimension->size;
        const double *after = dimension->step + (size_t)to[d] * dimension->size;
        double change[REMAP_MAX_SIZE];
        for (uint32_t x = 0; x < dimension->size; x++)
            change[x] = after[x] - before[x];
        for (uint32_t i = graph->first[process]; i < graph->first[process + 1]; i++) {
            double *table =
                remap_search_table_of(search, graph->partners[i].process) + dimension->offset;
            const double weight = graph->partners[i].weight;
            for (uint32_t x = 0; x < dimension->size; x++)
                table[x] += weight * change[x];
        }
        search->work += (uint64_t)(graph->first[process + 1] - graph->first[process]) *
                        (WORK_UPDATE + dimension->size / 2);
    }
}

static void remap_search_exchange(struct remap_search *search, uint32_t p, uint32_t u, uint32_t q,
                                  uint32_t v, double delta)
{
    const uint32_t slot = search->slot[p];
    search->slot[p] = search->slot[q];
    search->slot[q] = slot;
    search->at[slot] = q;
    search->at[search->slot[p]] = p;
    search->cost += delta;
    if (search->table != NULL) {
        remap_search_update_tables(search, p, u, v);
        remap_search_update_tables(search, q, v, u);
    }
}

/* Compute the loss of the exchange, and execute it unless the loss exceeds `allowed`. */
static inline bool remap_search_attempt(struct remap_search *search, uint32_t p, uint32_t q,
                                        double allowed)
{
    const uint32_t u = remap_search_spot_of(search, p), v = remap_search_spot_of(search, q);
    search->work += WORK_TRY / 2;
    if (u == v || !search->moves[q])
        return false;
    search->work += remap_search_weighing(search, p, q);
    double delta = search->table != NULL ? remap_search_tables_delta(search, p, u, q, v)
                                         : remap_search_plain_delta(search, p, u, q, v);
    if (delta > allowed)
        return false;
    const double between = remap_graph_weight(search->graph, p, q);
    if (between > 0)
        delta += 2 * between * remap_distance(search->places, u, v);
    if (delta > allowed)
        return false;
    remap_search_exchange(search, p, u, q, v, delta);
    return true;
}

uint32_t remap_search_run(struct remap_search *search, double temperature, uint64_t work)
{
    const struct remap_graph *graph = search->graph;
    const struct remap_places *places = search->places;
    const uint64_t end = search->work + work;
    uint32_t done = 0;
    while (search->work < end) {
        const uint64_t r = remap_random(&search->random), t = remap_random(&search->random);
        const uint32_t p = search->movable[(r >> 32) * search->movable_count >> 32];
        const uint32_t row = graph->first[p], degree = graph->first[p + 1] - row;
        search->work += WORK_TRY / 4;
        if (degree == 0)
            continue;
        /* prefer heavy partners, which come first: the square of a uniform random number */
        const uint64_t even = r & 0xffff;
        const uint32_t partner = graph->partners[row + (even * even * degree >> 32)].process;
        const uint32_t spot = remap_search_spot_of(search, partner),
                       near = places->near_first[spot];
        const uint32_t count = places->near_first[spot + 1] - near;
        const uint32_t target = places->near[near + ((t >> 48) * count >> 16)];
        const uint32_t slot = places->first[target], room = places->first[target + 1] - slot;
        const uint32_t q = search->at[slot + ((t & 0xffffffff) * room >> 32)];
        const double chance = search->chance[(t >> 32) & (REMAP_CHANCES - 1)];
        done += remap_search_attempt(search, p, q, temperature * chance);
    }
    return done;
}

/* Try the spots next to every partner of a process. @return has it moved? */
static bool remap_search_descend_process(struct remap_search *search, uint32_t p, uint64_t end)
{
    const struct remap_graph *graph = search->graph;
    const struct remap_places *places = search->places;
    const double least = -1e-12 * (search->cost + 1);
    bool better = false;
    search->work += WORK_TRY / 4;
    for (uint32_t i = graph->first[p]; i < graph->first[p + 1] && search->work < end; i++) {
        const uint32_t spot = remap_search_spot_of(search, graph->partners[i].process);
        for (uint32_t j = places->near_first[spot]; j < places->near_first[spot + 1]; j++)
            for (uint32_t s = places->first[places->near[j]];
                 s < places->first[places->near[j] + 1]; s++)
                better |= remap_search_attempt(search, p, search->at[s], least);
    }
    return better;
}

int remap_search_descend(struct remap_search *search, uint64_t work)
{
    const uint64_t end = search->work + work;
    while (search->idle < search->movable_count) {
        if (search->work >= end)
            return 0;
        if (remap_search_descend_process(search, search->movable[search->cursor], end))
            search->idle = 0;
        else
            search->idle++;
        search->cursor = (search->cursor + 1) % search->movable_count;
    }
    return 1;
}

double remap_search_scale(const struct remap_search *search)
{
    const struct remap_graph *graph = search->graph;
    double sum = 0;
    for (uint32_t i = 0; i < graph->first[graph->processes]; i++)
        sum += graph->partners[i].weight;
    return graph->processes == 0 ? 0 : sum / graph->processes;
}
