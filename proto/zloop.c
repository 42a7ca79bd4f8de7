/* A ZeroMQ socket in a libuv loop. A uv_poll is not enough: ZMQ_FD becomes readable once when the
 * state of the socket changes, not while messages are there, and any zmq_send or zmq_getsockopt may
 * consume that edge (zmq_getsockopt(3), ZMQ_FD). So ZMQ_EVENTS is asked after each bounded read
 * and, when sends have happened, once more just before the loop would sleep. While it says that
 * messages are there, an idle handle keeps the loop from sleeping. */
#include "proto/zloop.h"

#include <errno.h>
#include <stdlib.h>
#include <zmq.h>

struct zloop {
    uv_poll_t poll;
    uv_prepare_t prepare; /* runs once after sends, before the loop sleeps */
    uv_idle_t idle;       /* runs while more messages are there */
    uv_timer_t pause;     /* runs while the socket is left alone, the poll being stopped */
    unsigned gather_ms;
    void *socket;
    zloop_readable *readable;
    void *user;
    void (*closed)(void *user);
    unsigned open; /* handles not yet closed */
};

static int has_input(struct zloop *z)
{
    int events = 0;
    size_t length = sizeof events;
    return zmq_getsockopt(z->socket, ZMQ_EVENTS, &events, &length) == 0 && (events & ZMQ_POLLIN);
}

static void zloop_on_idle(uv_idle_t *idle);
static void on_edge(uv_poll_t *poll, int status, int events);

static void on_rested(uv_timer_t *timer)
{
    struct zloop *z = timer->data;
    uv_poll_start(&z->poll, UV_READABLE, on_edge);
    /* The edge may have come and gone before the pause. */
    uv_idle_start(&z->idle, zloop_on_idle);
}

/* Read once, and say whether the loop may sleep. */
static void zloop_process_sockets(struct zloop *z)
{
    int more = has_input(z) && z->readable(z->user, z->socket);
    if (uv_is_closing((uv_handle_t *)&z->idle))
        return; /* the reader closed us */
    if (more || (z->gather_ms == 0 && has_input(z))) {
        uv_idle_start(&z->idle, zloop_on_idle);
        return;
    }
    uv_idle_stop(&z->idle);
    if (z->gather_ms == 0)
        return;
    uv_poll_stop(&z->poll);
    uv_timer_start(&z->pause, on_rested, z->gather_ms, 0);
}

static void zloop_on_idle(uv_idle_t *idle)
{
    zloop_process_sockets(idle->data);
}

static void on_edge(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    zloop_process_sockets(poll->data);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct zloop *z = prepare->data;
    uv_prepare_stop(prepare);
    if (!uv_is_active((uv_handle_t *)&z->pause) && has_input(z))
        uv_idle_start(&z->idle, zloop_on_idle);
}

int zloop_open(struct zloop **out, uv_loop_t *loop, void *socket, zloop_readable *readable,
               void *user)
{
    int fd = -1;
    size_t length = sizeof fd;
    if (zmq_getsockopt(socket, ZMQ_FD, &fd, &length))
        return -errno;
    struct zloop *z = calloc(1, sizeof *z);
    if (!z)
        return -ENOMEM;
    *z = (struct zloop){.socket = socket, .readable = readable, .user = user, .open = 4};
    int error = uv_poll_init(loop, &z->poll, fd);
    if (error) {
        free(z);
        return error;
    }
    uv_prepare_init(loop, &z->prepare);
    uv_idle_init(loop, &z->idle);
    uv_timer_init(loop, &z->pause);
    z->poll.data = z->prepare.data = z->idle.data = z->pause.data = z;
    error = uv_poll_start(&z->poll, UV_READABLE, on_edge);
    if (error) {
        zloop_close(z, NULL);
        return error;
    }
    /* Messages may be there from before the socket was watched: their edge is gone. */
    zloop_sent(z);
    *out = z;
    return 0;
}

void zloop_sent(struct zloop *z)
{
    if (!uv_is_closing((uv_handle_t *)&z->prepare))
        uv_prepare_start(&z->prepare, on_prepare);
}

void zloop_gather(struct zloop *z, unsigned ms)
{
    z->gather_ms = ms;
}

static void zloop_on_closed(uv_handle_t *handle)
{
    struct zloop *z = handle->data;
    if (--z->open > 0)
        return;
    if (z->closed)
        z->closed(z->user);
    free(z);
}

void zloop_close(struct zloop *z, void (*closed)(void *user))
{
    if (!z || uv_is_closing((uv_handle_t *)&z->poll))
        return;
    z->closed = closed;
    uv_close((uv_handle_t *)&z->poll, zloop_on_closed);
    uv_close((uv_handle_t *)&z->prepare, zloop_on_closed);
    uv_close((uv_handle_t *)&z->idle, zloop_on_closed);
    uv_close((uv_handle_t *)&z->pause, zloop_on_closed);
}
