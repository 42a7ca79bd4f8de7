/* How good a mapping of processes to a network is (Visuco, sections 4.2 and 5.2).
 *
 * Pure: no clock, no file, no socket. */
#ifndef HOLTER_ANALYSIS_NETWORK_MEASURES_H
#define HOLTER_ANALYSIS_NETWORK_MEASURES_H

#include "daemon/analysis/network/topology.h"

#include <stddef.h>
#include <stdint.h>

/** What one process sends to another. */
struct measured_pair {
    uint32_t source, destination; /**< processes */
    uint64_t bytes, messages;
};

/** Sums are exact up to 2^53. Pairs of one process with itself, or of two on one vertex, have
 * length 0. */
struct measures {
    double hop_bytes;        /**< sum of bytes times length of the route */
    double max_link;         /**< bytes on the most loaded link */
    double inter_node_bytes; /**< between processes on different nodes; cores and NUMA domains
                                belong to the node that they are linked to */
    double inter_node_messages;
    double length;    /**< sum of the lengths of all pairs' routes, whatever they carry */
    uint32_t longest; /**< of the routes */
};

/** Measure a mapping.
 *  @param seats      vertex on which each process is placed
 *  @param processes  number of processes
 *  @return 0, -ENOMEM, -HOLTER_ERANGE: a process that is not placed, or placed on no vertex,
 *          -HOLTER_EUNREACHABLE: there is no route between two of these vertices; out is set on
 * success */
int measures_of(struct measures *out, const struct topology *topology, const uint32_t *seats,
                uint32_t processes, const struct measured_pair *pairs, size_t count);

/** Find the node that each vertex belongs to: a node belongs to itself, a core or NUMA domain to
 * the node that it is linked to, directly or through others; all other vertices, as switches, to
 * themselves.
 *  @param out  space for topology_vertices() @return 0 or -ENOMEM */
int measures_nodes(const struct topology *topology, uint32_t *out);

#endif
