/* A network as messages of topic topology, for subscribers and recordings, and back. */
#ifndef HOLTER_DAEMON_TOPOLOGY_NETWORK_MESSAGE_H
#define HOLTER_DAEMON_TOPOLOGY_NETWORK_MESSAGE_H

#include "daemon/analysis/network/topology.h"
#include "holter/wire.h"

#include <stddef.h>

/** @param message  valid for the call; its job is as given */
typedef void network_tell(void *user, const struct wire_topology *message);

/** The network to publish. Borrowed for the call. */
struct network_publication {
    const char *job, *source, *fault;
    const struct topology_spec *spec; /**< NULL: there is no network, only a fault */
    const struct wire_seat_row *seats;
    size_t seat_count;
};

/** Publish a network in parts of WIRE_PART_ROWS rows. Without memory nothing is published. */
void network_message(const struct network_publication *telling, network_tell *tell, void *user);

/** A network put together from such messages: by the recorder, for names, and for a replay.
 * Zero-initialised is empty. */
struct network_parts {
    struct topology_spec spec;
    char source[513], fault[513];
    struct wire_seat_row *seats; /**< owned */
    size_t seat_count, seat_capacity;
    size_t vertex_capacity, edge_capacity, route_capacity, path_capacity;
    int more; /**< further parts follow */
};

/** Add a part. The first part after one without `more` starts a new network.
 * @return 0 or -ENOMEM, or -HOLTER_ERANGE for implausible numbers: the network is then empty */
int network_parts_add(struct network_parts *parts, const struct wire_topology *message);

/** Is there a network, and not only a fault? */
int network_parts_has(const struct network_parts *parts);

void network_parts_finish(struct network_parts *parts);

#endif
