/* A network put together from messages of topic topology: by the recorder, for names, and for a
 * replay. */
#ifndef HOLTER_DAEMON_TOPOLOGY_NETWORK_PARTS_H
#define HOLTER_DAEMON_TOPOLOGY_NETWORK_PARTS_H

#include "daemon/analysis/network/topology.h"
#include "holter/wire.h"

#include <stddef.h>

/** Zero-initialised is empty. */
struct network_parts {
    struct topology_spec spec;
    char source[513], fault[513];
    struct wire_seat_row *seats; /**< owned */
    size_t seat_count, seat_room;
    size_t vertex_room, edge_room, route_room, path_capacity;
    int more; /**< further parts follow */
};

/** Add a part. The first part after one without `more` starts a new network.
 * @return 0 or -ENOMEM, or -HOLTER_ERANGE for implausible numbers: the network is then empty */
int network_parts_add(struct network_parts *parts, const struct wire_topology *message);

/** Is there a network, and not only a fault? */
int network_parts_has(const struct network_parts *parts);

void network_parts_finish(struct network_parts *parts);

#endif
