/* The operations of a kind of message socket; msg_socket.h describes each. */
#ifndef HOLTER_DAEMON_SERVER_MSG_SOCKET_TYPE_H
#define HOLTER_DAEMON_SERVER_MSG_SOCKET_TYPE_H

#include "daemon/server/msg_socket.h"

struct msg_socket_operations {
    void (*start)(struct msg_socket *socket);
    int (*receive)(struct msg_socket *socket, struct msg_socket_message *out);
    int (*send)(struct msg_socket *socket, const struct msg_socket_part *parts, size_t count,
                zmq_msg_t *last);
    int (*is_dry)(struct msg_socket *socket);
    void (*gather)(struct msg_socket *socket, unsigned ms);
    size_t (*backlog)(const struct msg_socket *socket);
    void (*close)(struct msg_socket *socket);
};

/** The first member of each kind. */
struct msg_socket {
    const struct msg_socket_operations *type;
    msg_socket_on_readable *readable;
    void *user;
    void (*closed)(void *user);
    void *closed_user;
};

#endif
