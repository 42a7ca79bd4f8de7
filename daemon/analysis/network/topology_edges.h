/* Links of trees and graphs as given, listed by the vertex that they leave. */
#ifndef HOLTER_ANALYSIS_NETWORK_TOPOLOGY_EDGES_H
#define HOLTER_ANALYSIS_NETWORK_TOPOLOGY_EDGES_H

#include "daemon/analysis/network/topology_inner.h"

struct topology_edges {
    uint32_t *first; /**< owned; by vertex: where its links begin; and the end of the last */
    uint32_t *link;  /**< owned; by vertex, then by the vertex at their end, then by number */
};

/** Check vertices and edges of the spec, and list the edges. topology_edges_free() is due whatever
 * the result is. */
int topology_edges_make(struct topology *topology, struct topology_edges *edges,
                        const struct refusal *why);
void topology_edges_free(struct topology_edges *edges);

/** Operations of struct topology_rules for kinds whose state begins with struct topology_edges. */
int topology_edges_link(const struct topology *topology, uint32_t link, uint32_t *from,
                        uint32_t *to);
uint32_t topology_edges_between(const struct topology *topology, uint32_t from, uint32_t to);
uint32_t topology_edges_reverse(const struct topology *topology, uint32_t link);
uint32_t topology_edges_out(const struct topology *topology, uint32_t vertex, uint32_t *links,
                            uint32_t capacity);

#endif
