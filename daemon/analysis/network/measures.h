/* Which vertices of a network belong to one node. Pure. */
#ifndef HOLTER_ANALYSIS_NETWORK_MEASURES_H
#define HOLTER_ANALYSIS_NETWORK_MEASURES_H

#include "daemon/analysis/network/topology.h"

#include <stdint.h>

/** Find the node that each vertex belongs to: a node belongs to itself, a core or NUMA domain to
 * the node that it is linked to, directly or through others; all other vertices, as switches, to
 * themselves.
 *  @param out  space for topology_vertices() @return 0 or -ENOMEM */
int measures_nodes(const struct topology *topology, uint32_t *out);

#endif
