/* Message sockets: what all kinds share, and the kind that is a socket of ZeroMQ. */
#include "daemon/server/msg_socket_type.h"

#include "proto/zloop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void msg_socket_message_finish(struct msg_socket_message *message)
{
    zmq_msg_close(&message->parts[0]);
    zmq_msg_close(&message->parts[1]);
}

void msg_socket_start(struct msg_socket *socket, msg_socket_on_readable *readable, void *user)
{
    socket->readable = readable;
    socket->user = user;
    socket->type->start(socket);
}

int msg_socket_receive(struct msg_socket *socket, struct msg_socket_message *out)
{
    return socket->type->receive(socket, out);
}

int msg_socket_send(struct msg_socket *socket, const struct msg_socket_part *parts, size_t count)
{
    return socket->type->send(socket, parts, count, NULL);
}

int msg_socket_send_shared(struct msg_socket *socket, const struct msg_socket_part *parts,
                           size_t count, zmq_msg_t *last)
{
    return socket->type->send(socket, parts, count, last);
}

int msg_socket_is_empty(struct msg_socket *socket)
{
    return socket->type->is_dry(socket);
}

void msg_socket_set_read_delay(struct msg_socket *socket, unsigned ms)
{
    socket->type->gather(socket, ms);
}

size_t msg_socket_backlog(const struct msg_socket *socket)
{
    return socket->type->backlog(socket);
}

void msg_socket_close(struct msg_socket *socket, void (*closed)(void *user), void *user)
{
    if (socket == NULL)
        return;
    socket->closed = closed;
    socket->closed_user = user;
    socket->type->close(socket);
}

/* ---- ZeroMQ ------------------------------------------------------------------ */

struct msg_zmq {
    struct msg_socket base;
    void *zmq_socket;
    struct zloop *zloop;
};

static int msg_zmq_on_readable(void *user, void *socket)
{
    struct msg_zmq *p = user;
    (void)socket;
    return p->base.readable == NULL ? 0 : p->base.readable(p->base.user);
}

static void msg_zmq_start(struct msg_socket *socket)
{
    zloop_sent(((struct msg_zmq *)socket)->zloop); /* messages may have arrived before */
}

static void msg_zmq_copy_property(char *out, size_t capacity, zmq_msg_t *part, const char *property)
{
    const char *text = zmq_msg_gets(part, property);
    snprintf(out, capacity, "%s", text == NULL ? "" : text);
}

static int msg_zmq_receive(struct msg_socket *socket, struct msg_socket_message *out)
{
    struct msg_zmq *p = (struct msg_zmq *)socket;
    zmq_msg_t rest;
    int more = 1;
    *out = (struct msg_socket_message){.count = 0};
    zmq_msg_init(&out->parts[0]);
    zmq_msg_init(&out->parts[1]);
    zmq_msg_init(&rest);
    while (more) {
        zmq_msg_t *into = out->count < 2 ? &out->parts[out->count] : &rest;
        if (zmq_msg_recv(into, p->zmq_socket, ZMQ_DONTWAIT) < 0)
            break;
        more = zmq_msg_more(into);
        out->count++;
    }
    zmq_msg_close(&rest);
    if (out->count == 0) {
        msg_socket_message_finish(out);
        return 0;
    }
    zmq_msg_t *last = &out->parts[out->count > 1];
    msg_zmq_copy_property(out->address, sizeof(out->address), last, "Peer-Address");
    msg_zmq_copy_property(out->user, sizeof(out->user), last, "User-Id");
    return 1;
}

static int msg_zmq_send(struct msg_socket *socket, const struct msg_socket_part *parts,
                        size_t count, zmq_msg_t *last)
{
    struct msg_zmq *p = (struct msg_zmq *)socket;
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        int more = i + 1 < count || last != NULL ? ZMQ_SNDMORE : 0;
        if (zmq_send(p->zmq_socket, parts[i].bytes, parts[i].length, more | ZMQ_DONTWAIT) < 0)
            code = -zmq_errno();
    }
    if (code == 0 && last != NULL) {
        zmq_msg_t copy;
        zmq_msg_init(&copy);
        zmq_msg_copy(&copy, last);
        if (zmq_msg_send(&copy, p->zmq_socket, ZMQ_DONTWAIT) < 0)
            code = -zmq_errno();
        zmq_msg_close(&copy);
    }
    zloop_sent(p->zloop);
    return code;
}

static int msg_zmq_is_empty(struct msg_socket *socket)
{
    struct msg_zmq *p = (struct msg_zmq *)socket;
    int events = 0;
    size_t size = sizeof(events);
    int dry = zmq_getsockopt(p->zmq_socket, ZMQ_EVENTS, &events, &size) == 0 &&
              (events & ZMQ_POLLIN) == 0;
    zloop_sent(p->zloop);
    return dry;
}

static void msg_zmq_set_read_delay(struct msg_socket *socket, unsigned ms)
{
    zloop_gather(((struct msg_zmq *)socket)->zloop, ms);
}

static size_t msg_zmq_backlog(const struct msg_socket *socket)
{
    (void)socket;
    return 0; /* libzmq has the queue */
}

static void msg_zmq_on_closed(void *user)
{
    struct msg_zmq *p = user;
    zmq_close(p->zmq_socket);
    if (p->base.closed != NULL)
        p->base.closed(p->base.closed_user);
    free(p);
}

static void msg_zmq_close(struct msg_socket *socket)
{
    zloop_close(((struct msg_zmq *)socket)->zloop, msg_zmq_on_closed);
}

static const struct msg_socket_operations msg_zmq_type = {
    msg_zmq_start,          msg_zmq_receive, msg_zmq_send, msg_zmq_is_empty,
    msg_zmq_set_read_delay, msg_zmq_backlog, msg_zmq_close};

void msg_socket_subscribe(struct msg_socket *socket, const void *topic, size_t length, int on)
{
    struct msg_zmq *p = (struct msg_zmq *)socket;
    if (socket->type != &msg_zmq_type)
        return;
    zmq_setsockopt(p->zmq_socket, on ? ZMQ_SUBSCRIBE : ZMQ_UNSUBSCRIBE, topic, length);
    zloop_sent(p->zloop);
}

int msg_socket_open_zmq(struct msg_socket **out, uv_loop_t *loop, void *socket)
{
    struct msg_zmq *p = calloc(1, sizeof(*p));
    int code = p == NULL ? -ENOMEM : 0;
    if (code == 0) {
        *p = (struct msg_zmq){.base.type = &msg_zmq_type, .zmq_socket = socket};
        code = zloop_open(&p->zloop, loop, socket, msg_zmq_on_readable, p);
    }
    if (code != 0) {
        zmq_close(socket);
        free(p);
        return code;
    }
    *out = &p->base;
    return 0;
}
