#include "daemon/server/relay.h"

#include "daemon/server/msg_socket.h"
#include "daemon/server/msg_socket_frame.h"
#include "daemon/server/peers.h"
#include "daemon/server/sockets.h"
#include "daemon/server/subscriptions.h"
#include "holter/clock.h"
#include "holter/error.h"
#include "proto/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "relay"
#define TURN 256
#define MOST_INPUT                                                                                 \
    ((size_t)4 << 20) /* bytes that wait for a worker: beyond, sockets are left alone */
#define LATER_MS 5
#define BROKEN_MOST 64u

enum { FRONT, STREAM, CHANNELS };

/* One socket, and the workers' ends of it. */
struct channel {
    struct relay *relay;
    void *socket; /* of the port */
    struct port *port;
    struct port_stream *heard,
        *told; /* of the older worker, and the newer: often the same; or NULL */
};

/* A connection that did not take a message: what follows would have a hole before it. */
struct broken {
    uint8_t id[PEER_ID_BYTES];
    size_t length;
};

struct relay {
    struct channel channels[CHANNELS];
    uv_loop_t *loop;
    uv_timer_t later;
    struct subscriptions subscriptions;
    struct broken broken[BROKEN_MOST];
    size_t broken_next;
    uint64_t stalled_ns; /* since when a subscriber is waited for; 0: none is */
    int impatient;       /* it was, in vain */
    void (*over)(void *user);
    void *user;
    unsigned open; /* handles and ports that are not closed */
};

/* ---- from the sockets to the worker ---------------------------------------------------- */

static int forward(struct channel *c, struct port_message *m)
{
    struct port_part parts[PORT_FRAME_PARTS] = {{m->address, strlen(m->address)},
                                                {m->user, strlen(m->user)}};
    size_t count = 2;
    for (unsigned i = 0; i < m->count && i < 2; i++)
        parts[count++] = (struct port_part){zmq_msg_data(&m->parts[i]), zmq_msg_size(&m->parts[i])};
    return port_stream_write(c->told, parts, count, NULL);
}

static void note_subscription(struct relay *r, zmq_msg_t *message)
{
    static const char sync[] = "sync/";
    const uint8_t *bytes = zmq_msg_data(message);
    size_t length = zmq_msg_size(message);
    if (length == 0 || length > SOCKETS_SUBSCRIPTION || bytes[0] > 1 ||
        (length > strlen(sync) && memcmp(bytes + 1, sync, strlen(sync)) == 0))
        return;
    if (bytes[0] == 1)
        subscriptions_add(&r->subscriptions, bytes + 1, length - 1);
    else
        subscriptions_remove(&r->subscriptions, bytes + 1, length - 1);
}

static int on_readable(void *user)
{
    struct channel *c = user;
    struct relay *r = c->relay;
    for (int i = 0; i < TURN; i++) {
        struct port_message message;
        /* A worker that is busy is not buried: what comes waits in the socket. */
        int busy = c->told == NULL || port_stream_backlog(c->told) > MOST_INPUT;
        port_gather(c->port, busy ? LATER_MS : 0);
        if (busy || !port_receive(c->port, &message))
            return 0;
        if (c == &r->channels[STREAM])
            note_subscription(r, &message.parts[0]);
        forward(c, &message);
        port_message_finish(&message);
    }
    return 1;
}

/* ---- from the worker to the sockets ---------------------------------------------------- */

static int is_broken(const struct relay *r, const struct port_part *id)
{
    for (size_t i = 0; i < BROKEN_MOST; i++) {
        if (r->broken[i].length == id->length && id->length > 0 &&
            memcmp(r->broken[i].id, id->bytes, id->length) == 0)
            return 1;
    }
    return 0;
}

/* It hears nothing any more, not even that we are there: so it dials anew. */
static void note_broken(struct relay *r, const struct port_part *id)
{
    struct broken *b = &r->broken[r->broken_next++ % BROKEN_MOST];
    if (id->length > sizeof(b->id))
        return;
    b->length = id->length;
    memcpy(b->id, id->bytes, id->length);
}

static int on_answer(void *user, const struct port_part *parts, size_t count)
{
    struct channel *c = user;
    struct relay *r = c->relay;
    if (count == 2 && !is_broken(r, &parts[0]) && port_send(c->port, parts, count) == -EAGAIN)
        note_broken(r, &parts[0]);
    return 1;
}

static void set_lossless(struct channel *c, int on)
{
    zmq_setsockopt(c->socket, ZMQ_XPUB_NODROP, &on, sizeof(on));
}

static void on_later(uv_timer_t *timer);

/* @return 0: it is to be tried again */
static int publish(struct channel *c, const struct port_part *parts, size_t count)
{
    struct relay *r = c->relay;
    int code = port_send(c->port, parts, count);
    if (code != -EAGAIN) {
        r->stalled_ns = 0;
        r->impatient = 0;
        return 1;
    }
    uint64_t now = clock_mono_ns();
    r->stalled_ns = r->stalled_ns == 0 ? now : r->stalled_ns;
    r->impatient |= now - r->stalled_ns > RELAY_PATIENCE_NS;
    if (!r->impatient) {
        uv_timer_start(&r->later, on_later, LATER_MS, 0);
        return 0;
    }
    set_lossless(c, 0);
    port_send(c->port, parts, count);
    set_lossless(c, 1);
    return 1;
}

static int on_frame(void *user, const struct port_part *parts, size_t count)
{
    return publish(user, parts, count);
}

static void on_later(uv_timer_t *timer)
{
    struct relay *r = timer->data;
    struct channel *c = &r->channels[STREAM];
    if (c->heard != NULL)
        port_stream_more(c->heard);
}

/* ---- workers ----------------------------------------------------------------------------- */

static void on_over(void *user);

static struct port_stream *open_stream(struct channel *c, int fd, int *code)
{
    struct port_stream *stream = NULL;
    const struct port_stream_events events = {
        c, c == &c->relay->channels[FRONT] ? on_answer : on_frame, on_over, NULL};
    if (*code == 0)
        *code = port_stream_open(&stream, c->relay->loop, fd, &events);
    else
        close(fd);
    return stream;
}

/* The newer one is heard. */
static void turn_over(struct channel *c)
{
    struct port_stream *gone = c->heard;
    c->heard = c->told;
    port_stream_close(gone, NULL, NULL);
    if (c->heard != NULL)
        port_stream_more(c->heard);
}

static void on_over(void *user)
{
    struct channel *c = user;
    struct relay *r = c->relay;
    if (c->told != c->heard) {
        turn_over(c);
        return;
    }
    r->over(r->user);
}

static void tell_subscription(void *user, const void *prefix, size_t length)
{
    struct channel *c = user;
    uint8_t message[1 + SUBSCRIPTION_BYTES] = {1};
    memcpy(message + 1, prefix, length);
    const struct port_part parts[] = {{"", 0}, {"", 0}, {message, 1 + length}};
    port_stream_write(c->told, parts, 3, NULL);
}

int relay_attach(struct relay *r, int front, int stream)
{
    int code = 0;
    relay_drop(r);
    struct port_stream *made[CHANNELS];
    made[FRONT] = open_stream(&r->channels[FRONT], front, &code);
    made[STREAM] = open_stream(&r->channels[STREAM], stream, &code);
    if (code != 0) {
        port_stream_close(made[FRONT], NULL, NULL);
        return code;
    }
    for (int i = 0; i < CHANNELS; i++) {
        struct channel *c = &r->channels[i];
        c->told = made[i];
        if (c->heard == NULL)
            turn_over(c);
    }
    subscriptions_each(&r->subscriptions, tell_subscription, &r->channels[STREAM]);
    return 0;
}

void relay_drop(struct relay *r)
{
    for (int i = 0; i < CHANNELS; i++) {
        struct channel *c = &r->channels[i];
        if (c->told != c->heard)
            turn_over(c);
    }
}

/* ---- life -------------------------------------------------------------------------------- */

static void on_part_closed(void *user)
{
    struct relay *r = user;
    if (--r->open > 0)
        return;
    subscriptions_finish(&r->subscriptions);
    free(r);
}

static void on_timer_closed(uv_handle_t *handle)
{
    on_part_closed(handle->data);
}

void relay_destroy(struct relay *r)
{
    if (r == NULL)
        return;
    relay_drop(r);
    for (int i = 0; i < CHANNELS; i++) {
        port_stream_close(r->channels[i].heard, NULL, NULL);
        r->channels[i].heard = r->channels[i].told = NULL;
        port_close(r->channels[i].port, on_part_closed, r);
    }
    uv_close((uv_handle_t *)&r->later, on_timer_closed);
}

int relay_create(struct relay **out, uv_loop_t *loop, void *front, void *stream,
                 void (*over)(void *user), void *user)
{
    void *sockets[CHANNELS] = {front, stream};
    struct relay *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        zmq_close(front);
        zmq_close(stream);
        return -ENOMEM;
    }
    *r = (struct relay){.loop = loop, .over = over, .user = user, .open = 1};
    uv_timer_init(loop, &r->later);
    r->later.data = r;
    int code = 0;
    for (int i = 0; i < CHANNELS; i++) {
        struct channel *c = &r->channels[i];
        c->relay = r;
        c->socket = sockets[i];
        int opened = port_open_socket(&c->port, loop, sockets[i]);
        r->open += opened == 0;
        code = code != 0 ? code : opened;
    }
    if (code != 0) {
        relay_destroy(r);
        return code;
    }
    set_lossless(&r->channels[STREAM], 1);
    for (int i = 0; i < CHANNELS; i++)
        port_start(r->channels[i].port, on_readable, &r->channels[i]);
    *out = r;
    return 0;
}
