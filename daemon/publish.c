#include "daemon/publish.h"

#include "daemon/subscriptions.h"
#include "daemon/zap.h"
#include "holter/error.h"
#include "proto/curve.h"
#include "proto/endpoint.h"
#include "proto/log.h"
#include "proto/zloop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define LOG_TOPIC "publish"
#define TURN 256              /* subscriptions read in one turn of the loop */
#define QUEUE 512             /* frames that wait for one subscriber; about a minute of windows */
#define SUBSCRIPTION_MOST 512 /* bytes of a subscription message */
#define TOPICS 64u            /* numbers of published types are below */
#define SYNC "sync/"

/* Numbers of one job's frames. */
struct counts {
    char job[65];
    uint64_t all;
    uint64_t by_type[TOPICS];
    struct counts *next;
};

struct publisher {
    void *socket;
    struct zloop *zloop;
    struct subscriptions subscriptions;
    struct counts *jobs; /* the one used last is first */
    struct wire_buffer buffer;
    uint64_t frames;
};

/* ---- subscribers --------------------------------------------------------- */

/* Whoever sees this frame knows that its earlier subscriptions are in force. */
static void answer_sync(struct publisher *p, const uint8_t *topic, size_t length)
{
    static const uint8_t zeros[16];
    zmq_send(p->socket, topic, length, ZMQ_SNDMORE | ZMQ_DONTWAIT);
    zmq_send(p->socket, zeros, sizeof(zeros), ZMQ_SNDMORE | ZMQ_DONTWAIT);
    zmq_send(p->socket, "", 0, ZMQ_DONTWAIT);
    zloop_sent(p->zloop);
}

static void take_subscription(struct publisher *p, const uint8_t *message, size_t length)
{
    if (length == 0 || length > SUBSCRIPTION_MOST || message[0] > 1)
        return; /* an ordinary message of a subscriber: nobody asked for it */
    const uint8_t *topic = message + 1;
    length--;
    int sync = length >= strlen(SYNC) && memcmp(topic, SYNC, strlen(SYNC)) == 0;
    if (sync && message[0] == 1)
        answer_sync(p, topic, length);
    else if (!sync && message[0] == 1)
        subscriptions_add(&p->subscriptions, topic, length);
    else if (!sync)
        subscriptions_remove(&p->subscriptions, topic, length);
}

static int on_readable(void *user, void *socket)
{
    struct publisher *p = user;
    for (int i = 0; i < TURN; i++) {
        uint8_t message[SUBSCRIPTION_MOST];
        int length = zmq_recv(socket, message, sizeof(message), ZMQ_DONTWAIT);
        if (length < 0)
            return 0;
        take_subscription(p, message, (size_t)length <= sizeof(message) ? (size_t)length : 0);
    }
    return 1;
}

/* ---- frames -------------------------------------------------------------- */

static struct counts *counts_of(struct publisher *p, const char *job)
{
    for (struct counts **at = &p->jobs; *at != NULL; at = &(*at)->next) {
        struct counts *found = *at;
        if (strcmp(found->job, job) != 0)
            continue;
        *at = found->next;
        found->next = p->jobs;
        p->jobs = found;
        return found;
    }
    struct counts *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return NULL;
    snprintf(made->job, sizeof(made->job), "%s", job);
    made->next = p->jobs;
    p->jobs = made;
    return made;
}

static void topic_of(char *out, size_t room, const char *job, enum wire_type type)
{
    snprintf(out, room, "%s/%s", wire_topic(type), job);
}

int publisher_wanted(const struct publisher *p, const char *job, enum wire_type type)
{
    char topic[SUBSCRIPTION_BYTES];
    topic_of(topic, sizeof(topic), job, type);
    return subscriptions_match(&p->subscriptions, topic);
}

static void put_number(uint8_t out[8], uint64_t number)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(number >> (56 - 8 * i));
}

void publisher_publish(struct publisher *p, const char *job, enum wire_type type,
                       const void *message)
{
    struct counts *counts = counts_of(p, job);
    if (counts == NULL || (unsigned)type >= TOPICS)
        return;
    int code = wire_encode(&p->buffer, type, message);
    if (code != 0) {
        log_error("%s of job %s cannot be published: %s", wire_type_name(type), job,
                  holter_strerror(code));
        return;
    }
    char topic[SUBSCRIPTION_BYTES];
    uint8_t numbers[16];
    topic_of(topic, sizeof(topic), job, type);
    put_number(numbers, ++counts->all);
    put_number(numbers + 8, ++counts->by_type[type]);
    p->frames++;
    /* XPUB drops a frame for the subscribers whose queue is full; it neither blocks nor fails for
     * them. */
    zmq_send(p->socket, topic, strlen(topic), ZMQ_SNDMORE | ZMQ_DONTWAIT);
    zmq_send(p->socket, numbers, sizeof(numbers), ZMQ_SNDMORE | ZMQ_DONTWAIT);
    zmq_send(p->socket, p->buffer.bytes, p->buffer.length, ZMQ_DONTWAIT);
    zloop_sent(p->zloop);
}

uint64_t publisher_frame(const struct publisher *p, const char *job)
{
    for (const struct counts *c = p->jobs; c != NULL; c = c->next) {
        if (strcmp(c->job, job) == 0)
            return c->all;
    }
    return 0;
}

uint64_t publisher_frames(const struct publisher *p)
{
    return p->frames;
}

void publisher_forget(struct publisher *p, const char *job)
{
    for (struct counts **at = &p->jobs; *at != NULL; at = &(*at)->next) {
        struct counts *gone = *at;
        if (strcmp(gone->job, job) != 0)
            continue;
        *at = gone->next;
        free(gone);
        return;
    }
}

/* ---- life ---------------------------------------------------------------- */

static int set_up(struct publisher *p, const struct options *options, char *why, size_t room)
{
    int queue = QUEUE, linger = 1000, most = SUBSCRIPTION_MOST;
    int64_t most_bytes = most;
    zmq_setsockopt(p->socket, ZMQ_SNDHWM, &queue, sizeof(queue));
    zmq_setsockopt(p->socket, ZMQ_LINGER, &linger, sizeof(linger));
    zmq_setsockopt(p->socket, ZMQ_MAXMSGSIZE, &most_bytes, sizeof(most_bytes));
    int backlog = 4096;
    zmq_setsockopt(p->socket, ZMQ_BACKLOG, &backlog, sizeof(backlog));
    if (options->keys != NULL) {
        struct curve_keys keys;
        int code = curve_load(options->keys, ROLE_SERVER, &keys);
        code = code != 0 ? code : curve_apply_server(p->socket, &keys);
        curve_wipe(&keys);
        if (code != 0) {
            snprintf(why, room, "%s/server.key: %s", options->keys, holter_strerror(code));
            return code;
        }
    }
    zap_domain(p->socket, ZAP_STREAM);
    for (size_t i = 0; i < options->listen_count; i++) {
        char stream[300];
        int code = endpoint_stream(stream, sizeof(stream), options->listen[i]);
        /* The front's lock stands for both sockets of an ipc endpoint. */
        code = code != 0 ? code : listen_bind(NULL, p->socket, stream, why, room);
        if (code != 0)
            return code;
    }
    return 0;
}

int publisher_create(struct publisher **out, void *context, uv_loop_t *loop,
                     const struct options *options, char *why, size_t room)
{
    struct publisher *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    p->socket = zmq_socket(context, ZMQ_XPUB);
    int code = p->socket == NULL ? -zmq_errno() : set_up(p, options, why, room);
    code = code != 0 ? code : zloop_open(&p->zloop, loop, p->socket, on_readable, p);
    if (code != 0) {
        if (p->socket != NULL)
            zmq_close(p->socket);
        free(p);
        return code;
    }
    *out = p;
    return 0;
}

static void on_closed(void *user)
{
    struct publisher *p = user;
    zmq_close(p->socket);
    while (p->jobs != NULL)
        publisher_forget(p, p->jobs->job);
    subscriptions_finish(&p->subscriptions);
    wire_buffer_finish(&p->buffer);
    free(p);
}

void publisher_destroy(struct publisher *p)
{
    if (p != NULL)
        zloop_close(p->zloop, on_closed);
}
