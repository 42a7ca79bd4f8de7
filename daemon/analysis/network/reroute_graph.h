/* The links of a network by the vertex that they leave, and how far vertices are from a
 * destination. For reroute.c. */
#ifndef HOLTER_ANALYSIS_NETWORK_REROUTE_GRAPH_H
#define HOLTER_ANALYSIS_NETWORK_REROUTE_GRAPH_H

#include "daemon/analysis/network/topology.h"
#include "daemon/analysis/tables/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct reroute_edge {
    uint32_t to, link;
};

struct reroute_graph {
    const struct topology *topology; /**< borrowed */
    uint32_t vertex_count;
    struct arena memory; /**< of all arrays */
    uint32_t *first;     /**< by vertex: position of its first edge; and the end of the last */
    struct reroute_edge *edges;
    uint32_t *begin; /**< vertex that a link leaves, by link */
    uint8_t *closed; /**< 1: no route passes through this vertex */

    uint32_t destination; /**< of the distances; TOPOLOGY_NONE: none yet */
    uint32_t *distance;   /**< links to the destination; TOPOLOGY_NONE: not asked for yet */
    uint32_t *known;      /**< measured: vertices whose distance is known; else the queue of the
                             search */
    uint32_t known_count;

    bool measured; /**< the topology knows the distance: it is asked for vertices that matter */
    uint32_t *first_in, *in; /**< by the vertex that links enter: where they come from */
};

/** @return 0 or -ENOMEM; reroute_graph_finish() is due in either case */
int reroute_graph_init(struct reroute_graph *graph, const struct topology *topology);
void reroute_graph_finish(struct reroute_graph *graph);

/** Distances are to this vertex from now on. */
void reroute_graph_towards(struct reroute_graph *graph, uint32_t destination);

/** For reroute_graph_distance(). */
uint32_t reroute_graph_measure(struct reroute_graph *graph, uint32_t vertex);

/** Links from a vertex to the destination, whatever the routing; longer than any route if there is
 * no path. */
static inline uint32_t reroute_graph_distance(struct reroute_graph *graph, uint32_t vertex)
{
    uint32_t distance = graph->distance[vertex];
    if (distance == TOPOLOGY_NONE)
        distance = reroute_graph_measure(graph, vertex);
    return distance;
}

#endif
