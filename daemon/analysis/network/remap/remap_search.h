/* Local search and annealing by exchanges of two processes, which minimise the sum of weight times
 * distance.
 *
 * Distance is a sum over dimensions, so the cost of a process in any slot is the sum of one table
 * entry for each dimension. The gain of an exchange takes a few additions, whatever the number of
 * partners; only an executed exchange updates the tables of the partners. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_SEARCH_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_SEARCH_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"
#include "daemon/analysis/tables/arena.h"

#define REMAP_CHANCES 2048u

struct remap_search {
    const struct remap_graph *graph;   /**< borrowed */
    const struct remap_places *places; /**< borrowed */
    const uint32_t *movable;           /**< borrowed; processes that may move */
    uint32_t movable_count;
    struct arena memory; /**< of all arrays */
    bool *moves;         /**< may this process move? */
    uint32_t *slot;      /**< of each process */
    uint32_t *at;        /**< process in each slot */
    double *table;  /**< processes x width: cost at each coordinate; NULL: added up each time */
    double *chance; /**< table of -ln(u) for uniformly distributed u */
    double cost;    /**< sum over pairs of weight x distance */
    uint64_t random;
    uint32_t cursor; /**< descent: the process in turn */
    uint32_t idle;   /**< descent: processes that were tried since the last move */
    uint64_t work;   /**< work done so far, in units of remap.c */
};

/** @return 0 or -ENOMEM: finish it all the same */
int remap_search_init(struct remap_search *search, const struct remap_graph *graph,
                      const struct remap_places *places, const uint32_t *movable, uint32_t count,
                      uint64_t seed);
void remap_search_finish(struct remap_search *search);

/** Start from this mapping. */
void remap_search_load(struct remap_search *search, const uint32_t *slots);

/** Sum of weight x distance of any mapping, O(edges). */
double remap_search_cost(const struct remap_search *search, const uint32_t *slots);

/** Try exchanges until `work` is used up. Exchanges that lose are executed with probability
 * exp(-loss / temperature).
 * @return number of executed exchanges */
uint32_t remap_search_run(struct remap_search *search, double temperature, uint64_t work);

/** Try every process next to every partner until no exchange gains anything, or `work` is used up.
 * @return 1: no exchange gains anything */
int remap_search_descend(struct remap_search *search, uint64_t work);

/** Typical size of a loss: what a process exchanges with all its partners, on average. */
double remap_search_scale(const struct remap_search *search);

#endif
