/* A network as messages of topic topology, for subscribers and recordings. The way back is in
 * daemon/analysis/network/topology_parts.h. */
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

#endif
