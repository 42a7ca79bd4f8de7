/* Passes messages between the sockets and the workers of a replay. */
#include "daemon/server/relay.h"

#include "daemon/server/msg_socket.h"
#include "daemon/server/msg_socket_frame.h"
#include "daemon/server/peers.h"
#include "daemon/server/sockets.h"
#include "daemon/server/subscriptions.h"
#include "holter/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_TOPIC "relay"
#define TURN_MESSAGES 256
#define BACKLOG_MAXIMUM ((size_t)4 << 20) /* bytes for a worker: beyond, sockets are not read */
#define RETRY_MS 5
#define BROKEN_CAPACITY 64u

enum { FRONT, STREAM, CHANNELS };

/* A socket, and the streams of the workers that use it. */
struct relay_channel {
    struct relay *relay;
    void *zmq_socket; /* owned by the message socket */
    struct msg_socket *socket;
    struct msg_stream *source;      /* worker whose messages are sent; NULL: none */
    struct msg_stream *destination; /* worker that receives; the newer one during a takeover */
};

struct relay {
    struct relay_channel channels[CHANNELS];
    uv_loop_t *loop;
    uv_timer_t retry_timer;
    struct subscriptions subscriptions;
    /* Connections that a message could not be sent to: later ones must not follow a gap. */
    struct peer_id broken[BROKEN_CAPACITY];
    size_t broken_next;
    uint64_t stalled_ns; /* since when a subscriber is waited for; 0: not at all */
    int timed_out;       /* the subscriber did not keep up */
    void (*on_closed)(void *user);
    void *user;
    unsigned open; /* handles and sockets that are not closed */
};

/* ---- from the sockets to the worker ---------------------------------------------------- */

static int relay_forward(struct relay_channel *c, struct msg_socket_message *m)
{
    struct msg_socket_part parts[MSG_STREAM_PARTS_MAXIMUM] = {{m->address, strlen(m->address)},
                                                              {m->user, strlen(m->user)}};
    size_t count = 2;
    for (unsigned i = 0; i < m->count && i < 2; i++)
        parts[count++] =
            (struct msg_socket_part){zmq_msg_data(&m->parts[i]), zmq_msg_size(&m->parts[i])};
    return msg_stream_write(c->destination, parts, count, NULL);
}

static void relay_track_subscription(struct relay *r, zmq_msg_t *message)
{
    static const char sync[] = "sync/";
    const uint8_t *bytes = zmq_msg_data(message);
    size_t length = zmq_msg_size(message);
    if (length == 0 || length > SOCKETS_SUBSCRIPTION_BYTES || bytes[0] > 1 ||
        (length > strlen(sync) && memcmp(bytes + 1, sync, strlen(sync)) == 0))
        return;
    if (bytes[0] == 1)
        subscriptions_add(&r->subscriptions, bytes + 1, length - 1);
    else
        subscriptions_remove(&r->subscriptions, bytes + 1, length - 1);
}

static int relay_on_readable(void *user)
{
    struct relay_channel *c = user;
    struct relay *r = c->relay;
    for (int i = 0; i < TURN_MESSAGES; i++) {
        struct msg_socket_message message;
        /* Messages for a busy worker wait in the socket. */
        int busy = c->destination == NULL || msg_stream_backlog(c->destination) > BACKLOG_MAXIMUM;
        msg_socket_set_read_delay(c->socket, busy ? RETRY_MS : 0);
        if (busy || !msg_socket_receive(c->socket, &message))
            return 0;
        if (c == &r->channels[STREAM])
            relay_track_subscription(r, &message.parts[0]);
        relay_forward(c, &message);
        msg_socket_message_finish(&message);
    }
    return 1;
}

/* ---- from the worker to the sockets ---------------------------------------------------- */

static int relay_is_broken(const struct relay *r, const struct msg_socket_part *id)
{
    for (size_t i = 0; i < BROKEN_CAPACITY; i++) {
        if (r->broken[i].length == id->length && id->length > 0 &&
            memcmp(r->broken[i].bytes, id->bytes, id->length) == 0)
            return 1;
    }
    return 0;
}

/* The peer gets nothing from now on, no sign of life either, so that it connects again. */
static void relay_mark_broken(struct relay *r, const struct msg_socket_part *id)
{
    struct peer_id *b = &r->broken[r->broken_next++ % BROKEN_CAPACITY];
    if (id->length > sizeof(b->bytes))
        return;
    b->length = id->length;
    memcpy(b->bytes, id->bytes, id->length);
}

static int relay_on_front_message(void *user, const struct msg_socket_part *parts, size_t count)
{
    struct relay_channel *c = user;
    struct relay *r = c->relay;
    if (count == 2 && !relay_is_broken(r, &parts[0]) &&
        msg_socket_send(c->socket, parts, count) == -EAGAIN)
        relay_mark_broken(r, &parts[0]);
    return 1;
}

static void relay_set_lossless(struct relay_channel *c, int on)
{
    zmq_setsockopt(c->zmq_socket, ZMQ_XPUB_NODROP, &on, sizeof(on));
}

static void relay_on_retry(uv_timer_t *timer);

/* @return 0: it is to be tried again */
static int relay_publish(struct relay_channel *c, const struct msg_socket_part *parts, size_t count)
{
    struct relay *r = c->relay;
    int code = msg_socket_send(c->socket, parts, count);
    if (code != -EAGAIN) {
        r->stalled_ns = 0;
        r->timed_out = 0;
        return 1;
    }
    uint64_t now = clock_mono_ns();
    r->stalled_ns = r->stalled_ns == 0 ? now : r->stalled_ns;
    r->timed_out |= now - r->stalled_ns > RELAY_SUBSCRIBER_TIMEOUT_NS;
    if (!r->timed_out) {
        uv_timer_start(&r->retry_timer, relay_on_retry, RETRY_MS, 0);
        return 0;
    }
    relay_set_lossless(c, 0);
    msg_socket_send(c->socket, parts, count);
    relay_set_lossless(c, 1);
    return 1;
}

static int relay_on_stream_message(void *user, const struct msg_socket_part *parts, size_t count)
{
    return relay_publish(user, parts, count);
}

static void relay_on_retry(uv_timer_t *timer)
{
    struct relay *r = timer->data;
    struct relay_channel *c = &r->channels[STREAM];
    if (c->source != NULL)
        msg_stream_resume(c->source);
}

/* ---- workers ----------------------------------------------------------------------------- */

static void relay_on_worker_closed(void *user);

static struct msg_stream *relay_open_stream(struct relay_channel *c, int fd, int *code)
{
    struct msg_stream *stream = NULL;
    const struct msg_stream_events events = {
        c, c == &c->relay->channels[FRONT] ? relay_on_front_message : relay_on_stream_message,
        relay_on_worker_closed};
    if (*code == 0)
        *code = msg_stream_open(&stream, c->relay->loop, fd, &events);
    else
        close(fd);
    return stream;
}

/* The newer worker becomes the source. */
static void relay_switch_source(struct relay_channel *c)
{
    struct msg_stream *previous = c->source;
    c->source = c->destination;
    msg_stream_close(previous, NULL, NULL);
    if (c->source != NULL)
        msg_stream_resume(c->source);
}

static void relay_on_worker_closed(void *user)
{
    struct relay_channel *c = user;
    struct relay *r = c->relay;
    if (c->destination != c->source) {
        relay_switch_source(c);
        return;
    }
    r->on_closed(r->user);
}

static void relay_send_subscription(void *user, const void *prefix, size_t length)
{
    struct relay_channel *c = user;
    uint8_t message[1 + SUBSCRIPTION_BYTES] = {1};
    memcpy(message + 1, prefix, length);
    const struct msg_socket_part parts[] = {{"", 0}, {"", 0}, {message, 1 + length}};
    msg_stream_write(c->destination, parts, 3, NULL);
}

int relay_attach(struct relay *r, int front, int stream)
{
    int code = 0;
    relay_drop_previous(r);
    struct msg_stream *made[CHANNELS];
    made[FRONT] = relay_open_stream(&r->channels[FRONT], front, &code);
    made[STREAM] = relay_open_stream(&r->channels[STREAM], stream, &code);
    if (code != 0) {
        msg_stream_close(made[FRONT], NULL, NULL);
        return code;
    }
    for (int i = 0; i < CHANNELS; i++) {
        struct relay_channel *c = &r->channels[i];
        c->destination = made[i];
        if (c->source == NULL)
            relay_switch_source(c);
    }
    subscriptions_for_each(&r->subscriptions, relay_send_subscription, &r->channels[STREAM]);
    return 0;
}

void relay_drop_previous(struct relay *r)
{
    for (int i = 0; i < CHANNELS; i++) {
        struct relay_channel *c = &r->channels[i];
        if (c->destination != c->source)
            relay_switch_source(c);
    }
}

/* ---- life -------------------------------------------------------------------------------- */

static void relay_on_part_closed(void *user)
{
    struct relay *r = user;
    if (--r->open > 0)
        return;
    subscriptions_finish(&r->subscriptions);
    free(r);
}

static void relay_on_timer_closed(uv_handle_t *handle)
{
    relay_on_part_closed(handle->data);
}

void relay_destroy(struct relay *r)
{
    if (r == NULL)
        return;
    relay_drop_previous(r);
    for (int i = 0; i < CHANNELS; i++) {
        msg_stream_close(r->channels[i].source, NULL, NULL);
        r->channels[i].source = r->channels[i].destination = NULL;
        msg_socket_close(r->channels[i].socket, relay_on_part_closed, r);
    }
    uv_close((uv_handle_t *)&r->retry_timer, relay_on_timer_closed);
}

int relay_create(struct relay **out, uv_loop_t *loop, void *front, void *stream,
                 void (*on_closed)(void *user), void *user)
{
    void *sockets[CHANNELS] = {front, stream};
    struct relay *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        zmq_close(front);
        zmq_close(stream);
        return -ENOMEM;
    }
    *r = (struct relay){.loop = loop, .on_closed = on_closed, .user = user, .open = 1};
    uv_timer_init(loop, &r->retry_timer);
    r->retry_timer.data = r;
    int code = 0;
    for (int i = 0; i < CHANNELS; i++) {
        struct relay_channel *c = &r->channels[i];
        c->relay = r;
        c->zmq_socket = sockets[i];
        int opened = msg_socket_open_zmq(&c->socket, loop, sockets[i]);
        r->open += opened == 0;
        code = code != 0 ? code : opened;
    }
    if (code != 0) {
        relay_destroy(r);
        return code;
    }
    relay_set_lossless(&r->channels[STREAM], 1);
    for (int i = 0; i < CHANNELS; i++)
        msg_socket_start(r->channels[i].socket, relay_on_readable, &r->channels[i]);
    *out = r;
    return 0;
}
