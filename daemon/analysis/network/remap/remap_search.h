/* Exchanging two processes, again and again, while that brings partners nearer: local search and
 * annealing for the sum of weight times distance.
 *
 * What a process would cost in any spot is kept as one table a dimension, since distance is a sum
 * over dimensions: an exchange is weighed by a few additions, whatever number of partners there
 * are; only where it is done are the tables of the partners brought up to date.
 *
 * Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_SEARCH_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_SEARCH_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

#define REMAP_CHANCES 2048u

struct remap_search {
    const struct remap_graph *graph;   /**< borrowed */
    const struct remap_places *places; /**< borrowed */
    const uint32_t *movable;           /**< borrowed; processes that may move */
    uint32_t movable_count;
    bool *moves;        /**< may this process move? */
    uint32_t *slot;     /**< of each process */
    uint32_t *at;       /**< process in each slot */
    double *table;      /**< processes x width: cost at each coordinate; NULL: added up each time */
    double *chance;     /**< -ln of evenly spread chances */
    double cost;        /**< sum over pairs of weight x distance */
    uint8_t *crossing;  /**< of each of places->near: which of the ways of stepping leads there */
    uint32_t crossings; /**< how many ways there are: along each dimension, round a ring of 4 two;
                           0: not told apart, as in networks with dimensions that are all to all */
    uint32_t barred;    /**< a bit for each way that is not gone when annealing */
    uint64_t random;
    uint32_t cursor, idle; /**< of the descent: whose turn it is, how many did not move since */
    uint64_t work;         /**< nanoseconds that it should have taken so far */
};

/** @return 0 or -ENOMEM: finish it all the same */
int remap_search_init(struct remap_search *search, const struct remap_graph *graph,
                      const struct remap_places *places, const uint32_t *movable, uint32_t count,
                      uint64_t seed);
void remap_search_finish(struct remap_search *search);

/** Begin from this mapping. */
void remap_search_load(struct remap_search *search, const uint32_t *slots);

/** Sum of weight x distance of any mapping, O(edges). */
double remap_search_cost(const struct remap_search *search, const uint32_t *slots);

/** Try exchanges until so much work is done. Worse ones are done with probability exp(-loss /
 * temperature).
 *  @return how many were done */
uint32_t remap_search_run(struct remap_search *search, double temperature, uint64_t work);

/** Try every process next to every partner until nothing is left to gain, or so much work is done.
 *  @return 1: nothing is left */
int remap_search_descend(struct remap_search *search, uint64_t work);

/** What a loss may be about: what a process exchanges with all its partners, on average. */
double remap_search_scale(const struct remap_search *search);

#endif
