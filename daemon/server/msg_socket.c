#include "daemon/server/msg_socket_type.h"

#include "proto/zloop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void port_message_finish(struct port_message *message)
{
    zmq_msg_close(&message->parts[0]);
    zmq_msg_close(&message->parts[1]);
}

void port_start(struct port *port, port_readable *readable, void *user)
{
    port->readable = readable;
    port->user = user;
    port->type->start(port);
}

int port_receive(struct port *port, struct port_message *out)
{
    return port->type->receive(port, out);
}

int port_send(struct port *port, const struct port_part *parts, size_t count)
{
    return port->type->send(port, parts, count, NULL);
}

int port_send_shared(struct port *port, const struct port_part *parts, size_t count,
                     zmq_msg_t *last)
{
    return port->type->send(port, parts, count, last);
}

int port_is_dry(struct port *port)
{
    return port->type->is_dry(port);
}

void port_gather(struct port *port, unsigned ms)
{
    port->type->gather(port, ms);
}

size_t port_backlog(const struct port *port)
{
    return port->type->backlog(port);
}

void port_close(struct port *port, void (*closed)(void *user), void *user)
{
    if (port == NULL)
        return;
    port->closed = closed;
    port->closed_user = user;
    port->type->close(port);
}

/* ---- a socket of ZeroMQ ------------------------------------------------------ */

struct socket_port {
    struct port port;
    void *socket;
    struct zloop *zloop;
    uv_loop_t *loop;
};

static int on_readable(void *user, void *socket)
{
    struct socket_port *p = user;
    (void)socket;
    return p->port.readable == NULL ? 0 : p->port.readable(p->port.user);
}

static void start_socket(struct port *port)
{
    zloop_sent(((struct socket_port *)port)->zloop); /* what came before is looked at */
}

static void note(char *out, size_t room, zmq_msg_t *part, const char *property)
{
    const char *text = zmq_msg_gets(part, property);
    snprintf(out, room, "%s", text == NULL ? "" : text);
}

static int receive_socket(struct port *port, struct port_message *out)
{
    struct socket_port *p = (struct socket_port *)port;
    zmq_msg_t rest;
    int more = 1;
    *out = (struct port_message){.count = 0};
    zmq_msg_init(&out->parts[0]);
    zmq_msg_init(&out->parts[1]);
    zmq_msg_init(&rest);
    while (more) {
        zmq_msg_t *into = out->count < 2 ? &out->parts[out->count] : &rest;
        if (zmq_msg_recv(into, p->socket, ZMQ_DONTWAIT) < 0)
            break;
        more = zmq_msg_more(into);
        out->count++;
    }
    zmq_msg_close(&rest);
    if (out->count == 0) {
        port_message_finish(out);
        return 0;
    }
    zmq_msg_t *last = &out->parts[out->count > 1];
    note(out->address, sizeof(out->address), last, "Peer-Address");
    note(out->user, sizeof(out->user), last, "User-Id");
    return 1;
}

static int send_socket(struct port *port, const struct port_part *parts, size_t count,
                       zmq_msg_t *last)
{
    struct socket_port *p = (struct socket_port *)port;
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        int more = i + 1 < count || last != NULL ? ZMQ_SNDMORE : 0;
        if (zmq_send(p->socket, parts[i].bytes, parts[i].length, more | ZMQ_DONTWAIT) < 0)
            code = -zmq_errno();
    }
    if (code == 0 && last != NULL) {
        zmq_msg_t copy;
        zmq_msg_init(&copy);
        zmq_msg_copy(&copy, last);
        if (zmq_msg_send(&copy, p->socket, ZMQ_DONTWAIT) < 0)
            code = -zmq_errno();
        zmq_msg_close(&copy);
    }
    zloop_sent(p->zloop);
    return code;
}

static int is_dry_socket(struct port *port)
{
    struct socket_port *p = (struct socket_port *)port;
    int events = 0;
    size_t size = sizeof(events);
    int dry =
        zmq_getsockopt(p->socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN) == 0;
    zloop_sent(p->zloop);
    return dry;
}

static void gather_socket(struct port *port, unsigned ms)
{
    zloop_gather(((struct socket_port *)port)->zloop, ms);
}

static size_t backlog_socket(const struct port *port)
{
    (void)port;
    return 0; /* it is libzmq's */
}

static void on_socket_closed(void *user)
{
    struct socket_port *p = user;
    zmq_close(p->socket);
    if (p->port.closed != NULL)
        p->port.closed(p->port.closed_user);
    free(p);
}

static void close_socket(struct port *port)
{
    zloop_close(((struct socket_port *)port)->zloop, on_socket_closed);
}

int port_open_socket(struct port **out, uv_loop_t *loop, void *socket)
{
    static const struct port_type type = {start_socket,  receive_socket, send_socket, is_dry_socket,
                                          gather_socket, backlog_socket, close_socket};
    struct socket_port *p = calloc(1, sizeof(*p));
    int code = p == NULL ? -ENOMEM : 0;
    if (code == 0) {
        *p = (struct socket_port){.port.type = &type, .socket = socket, .loop = loop};
        code = zloop_open(&p->zloop, loop, socket, on_readable, p);
    }
    if (code != 0) {
        zmq_close(socket);
        free(p);
        return code;
    }
    *out = &p->port;
    return 0;
}
