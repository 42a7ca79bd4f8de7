/* What a kind of port does: see msg_socket.h for each. */
#ifndef HOLTER_DAEMON_SERVER_MSG_SOCKET_TYPE_H
#define HOLTER_DAEMON_SERVER_MSG_SOCKET_TYPE_H

#include "daemon/server/msg_socket.h"

struct port_type {
    void (*start)(struct port *port);
    int (*receive)(struct port *port, struct port_message *out);
    int (*send)(struct port *port, const struct port_part *parts, size_t count, zmq_msg_t *last);
    int (*is_dry)(struct port *port);
    void (*gather)(struct port *port, unsigned ms);
    size_t (*backlog)(const struct port *port);
    void (*close)(struct port *port);
};

/** Comes first in each kind. */
struct port {
    const struct port_type *type;
    port_readable *readable;
    void *user;
    void (*closed)(void *user);
    void *closed_user;
};

#endif
