/* Parts of the graph of processes by METIS (Karypis and Kumar, SIAM J. Sci. Comput. 1998), of
 * exactly the requested sizes: METIS leaves them a little out of balance, so the few processes
 * whose move loses least then change their part.
 *
 * Pure, except for the effects of METIS that remap.h describes. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_METIS_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_METIS_H

#include "daemon/analysis/network/remap/remap_graph.h"

struct remap_split {
    const struct remap_graph *graph;
    const uint32_t *members; /**< processes to divide, each once */
    uint32_t count;
    const uint32_t *sizes; /**< of each part, sum = count */
    uint32_t parts;        /**< at least 2, at most count */
    bool k_way;            /**< METIS' k-way method, else recursive bisection */
    bool plain;            /**< weights and options as in a direct call of METIS */
    uint32_t seed;
};

/** @param part   set: part of each member; capacity count
 * @param index  scratch memory for all processes of the graph; all TOPOLOGY_NONE before and after
 * the call
 * @return 0, -ENOMEM or -HOLTER_EINTERNAL: METIS failed */
int remap_split(const struct remap_split *split, uint32_t *part, uint32_t *index);

/** Work of a split, as an estimate. */
uint64_t remap_split_work(const struct remap_split *split);

#endif
