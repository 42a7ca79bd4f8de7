/* How good a mapping of processes to a network is: the sums of its pairs, one by one. */
#ifndef HOLTER_TESTS_DAEMON_ANALYSIS_NETWORK_MEASURED_H
#define HOLTER_TESTS_DAEMON_ANALYSIS_NETWORK_MEASURED_H

#include "daemon/analysis/network/link_loads.h"
#include "daemon/analysis/network/measures.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>

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

struct seating {
    const struct topology *topology;
    const uint32_t *seats;
    uint32_t processes;
    const uint32_t *nodes;
};

static inline int measures_add_pair(struct measures *out, const struct seating *s,
                                    struct link_loads *loads, const struct measured_pair *pair)
{
    if (pair->source >= s->processes || pair->destination >= s->processes)
        return -HOLTER_ERANGE;
    uint32_t from = s->seats[pair->source], to = s->seats[pair->destination];
    uint32_t vertices = topology_vertices(s->topology);
    if (from >= vertices || to >= vertices)
        return -HOLTER_ERANGE;
    if (from == to)
        return 0;
    uint32_t length = topology_distance(s->topology, from, to);
    if (length == TOPOLOGY_NONE)
        return -HOLTER_EUNREACHABLE;
    out->hop_bytes += (double)pair->bytes * length;
    out->length += length;
    out->longest = length > out->longest ? length : out->longest;
    if (s->nodes[from] != s->nodes[to]) {
        out->inter_node_bytes += (double)pair->bytes;
        out->inter_node_messages += (double)pair->messages;
    }
    struct load_change change = {.source = from,
                                 .destination = to,
                                 .bytes = (int64_t)pair->bytes,
                                 .messages = (int64_t)pair->messages};
    return link_loads_add(loads, &change);
}

/** Measure a mapping.
 *  @param seats      vertex on which each process is placed
 *  @param processes  number of processes
 *  @return 0, -ENOMEM, -HOLTER_ERANGE: a process that is not placed, or placed on no vertex,
 *          -HOLTER_EUNREACHABLE: there is no route between two of these vertices; out is set on
 * success */
static inline int measures_of(struct measures *out, const struct topology *topology,
                              const uint32_t *seats, uint32_t processes,
                              const struct measured_pair *pairs, size_t count)
{
    struct measures sum = {0};
    struct link_loads *loads = NULL;
    uint32_t *nodes = malloc(topology_vertices(topology) * sizeof(*nodes));
    struct seating seating = {topology, seats, processes, nodes};
    int code = nodes == NULL ? -ENOMEM : measures_nodes(topology, nodes);
    if (code == 0)
        code = link_loads_create(&loads, topology);
    for (size_t i = 0; code == 0 && i < count; i++)
        code = measures_add_pair(&sum, &seating, loads, &pairs[i]);
    if (code == 0) {
        const struct link_load *values = link_loads_values(loads);
        for (uint32_t link = 0; link < topology_links(topology); link++)
            if ((double)values[link].bytes > sum.max_link)
                sum.max_link = (double)values[link].bytes;
        *out = sum;
    }
    link_loads_destroy(loads);
    free(nodes);
    return code;
}

#endif
