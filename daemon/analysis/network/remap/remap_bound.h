/* Lower bounds of what any mapping costs.
 *
 * The degree bound: each process on its own could have its heaviest partner on the seat nearest to
 * its own, the next heaviest on the next seat, and so on; the bound is half the sum of these costs.
 * Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_BOUND_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_BOUND_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

/** Of the sum of weight x distance. @return 0 or -ENOMEM: *bound is not set */
int remap_degree_bound(const struct remap_graph *graph, const struct remap_places *places,
                       double *bound);

/** Bound of the bytes over the most loaded link, the larger of two: what a process sends or
 * receives and cannot be on its own vertex crosses the links of one vertex; and all hop-bytes are
 * spread over all links. */
double remap_link_bound(const struct remap_graph *graph, const struct remap_places *places,
                        double hop_bytes);

#endif
