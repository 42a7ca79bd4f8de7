/* Parts of the graph of processes by METIS (Karypis and Kumar, SIAM J. Sci. Comput. 1998), of
 * exactly the sizes that are asked for: METIS leaves them a little out of balance, so a few
 * processes then change their part, those that lose least.
 *
 * Pure but for what remap.h tells of METIS. */
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
    bool plain;            /**< weights and options as one would give them to METIS itself */
    uint32_t seed;
};

/** @param part   set: part of each member; room for count
 *  @param index  room for all processes of the graph; all TOPOLOGY_NONE, and so again afterwards
 *  @return 0, -ENOMEM or -HOLTER_EINTERNAL: METIS could not */
int remap_split(const struct remap_split *split, uint32_t *part, uint32_t *index);

/** Nanoseconds that a split should take. */
uint64_t remap_split_work(const struct remap_split *split);

#endif
