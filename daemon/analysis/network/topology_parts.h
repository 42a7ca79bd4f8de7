/* A network put together from messages of topic topology, which come in parts: by the recorder, for
 * names, for a replay, and by the viewer. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_TOPOLOGY_PARTS_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_TOPOLOGY_PARTS_H

#include "daemon/analysis/network/topology.h"
#include "holter/wire.h"

#include <stddef.h>

/** Zero-initialised is empty. */
struct topology_parts {
    struct topology_spec spec;
    char source[513], fault[513];
    struct wire_seat_row *seats; /**< owned */
    size_t seat_count, seat_capacity;
    size_t vertex_capacity, edge_capacity, route_capacity, path_capacity;
    uint32_t destination; /**< of the last route, where it is not complete yet */
    int route_open;       /**< the last route has not reached its destination */
    int more;             /**< further parts follow */
    int refused;          /**< error of a part: those that follow it are refused, too */
};

/** Add a part. The first part after one without `more` starts a new network.
 * @return 0 or -ENOMEM, or -HOLTER_ERANGE for implausible numbers: the network is then empty, and
 * so it is after each further part of it */
int topology_parts_add(struct topology_parts *parts, const struct wire_topology *message);

/** Is there a network, and not only a fault? */
int topology_parts_has(const struct topology_parts *parts);

void topology_parts_finish(struct topology_parts *parts);

#endif
