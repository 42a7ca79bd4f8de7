/* How good a mapping of processes to a network is (000, sections 4.2 and 5.2).
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
 *  @param seats      vertex of each process
 *  @param processes  how many seats
 *  @return 0, -ENOMEM, -HOLTER_ERANGE: a process without a seat or a seat that is no vertex,
 *          -HOLTER_EUNREACHABLE: there is no route between two seats; out is set on success */
int measures_of(struct measures *out, const struct topology *topology, const uint32_t *seats,
                uint32_t processes, const struct measured_pair *pairs, size_t count);

/** The node that each vertex belongs to: a node's is itself; a core's or NUMA domain's the node
 * that it is linked to, over others of its kind or not; otherwise, and for switches, the vertex
 * itself.
 *  @param out  room for topology_vertices() @return 0 or -ENOMEM */
int measures_nodes(const struct topology *topology, uint32_t *out);

#endif
