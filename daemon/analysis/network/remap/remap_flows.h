/* Traffic between vertices: the messages of all processes that have their seats there, and what
 * they put on the links of the network. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_FLOWS_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_FLOWS_H

#include "daemon/analysis/network/remap/remap.h"

struct remap_flow {
    uint32_t source, destination; /**< vertices, not the same */
    uint64_t bytes, messages;
    uint64_t heaviest; /**< bytes of the most loaded link of its route; of remap_flows_measure() */
};

/** Zero-initialise. */
struct remap_flows {
    const struct topology *topology; /**< borrowed */
    struct remap_flow *rows;         /**< owned: by source, then destination */
    size_t count;
    uint64_t *bytes; /**< owned: by link */
};

/** Sum up messages. Their bytes together have to be below 2^63.
 *  @param seats  vertex of each process
 *  @return 0 or an error code; remap_flows_finish() in any case */
int remap_flows_set(struct remap_flows *flows, const struct topology *topology,
                    const struct remap_edge *edges, size_t edge_count, const uint32_t *seats);

void remap_flows_finish(struct remap_flows *flows);

/** The traffic from one vertex to another; NULL: none. Not after remap_flows_sort(). */
const struct remap_flow *remap_flows_find(const struct remap_flows *flows, uint32_t source,
                                          uint32_t destination);

/** Set the load of the heaviest link of each, on the route of the network. @return 0 or -ENOMEM */
int remap_flows_measure(struct remap_flows *flows);

/** Order by the load of the heaviest link, then by bytes, the largest first. */
void remap_flows_sort(struct remap_flows *flows);

#endif
