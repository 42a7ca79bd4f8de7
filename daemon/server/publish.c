/* Numbers and sends the frames of the published stream. */
#include "daemon/server/publish.h"

#include "daemon/server/sockets.h"
#include "daemon/server/subscriptions.h"
#include "daemon/server/zap.h"
#include "holter/error.h"
#include "proto/log.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "publish"
#define TURN_SUBSCRIPTIONS 256 /* subscriptions read in one turn of the loop */
#define TYPES_CAPACITY 64u     /* published types have lower numbers */
#define SYNC "sync/"

/* Numbers of one job's frames. */
struct publisher_counts {
    char job[65];
    uint64_t all;
    uint64_t by_type[TYPES_CAPACITY];
    uint64_t newest[TYPES_CAPACITY]; /* by type: number of its newest frame */
    struct publisher_counts *next;
};

struct publisher {
    struct msg_socket *socket; /* NULL: nothing is published */
    uint64_t instance;         /* as in welcome */
    struct subscriptions subscriptions;
    const char *(*owner)(void *user, const char *job); /* NULL: there are no keys of users */
    void *owner_user;
    struct publisher_counts *jobs; /* most recently used first */
    struct wire_buffer buffer;
    uint64_t frames;
};

static void publisher_put_numbers(uint8_t out[WIRE_FRAME_NUMBERS], uint64_t number,
                                  uint64_t ordinal, uint64_t instance)
{
    const uint64_t big_endian[] = {htobe64(number), htobe64(ordinal), htobe64(instance)};
    memcpy(out, big_endian, sizeof(big_endian));
}

/* ---- users --------------------------------------------------------------- */

void publisher_separate_users(struct publisher *p,
                              const char *(*owner)(void *user, const char *job), void *user)
{
    p->owner = owner;
    p->owner_user = user;
    p->subscriptions.counted = 1;
}

void publisher_write_prefix(char out[PUBLISHER_PREFIX_BYTES], const char *user)
{
    out[0] = '\0';
    if (user[0] != '\0')
        snprintf(out, PUBLISHER_PREFIX_BYTES, "~%s/", user);
}

/* The prefix of topics for the user who owns a job; "": nobody does. */
static void publisher_write_job_prefix(const struct publisher *p, const char *job,
                                       char out[PUBLISHER_PREFIX_BYTES])
{
    const char *owner = p->owner == NULL ? NULL : p->owner(p->owner_user, job);
    publisher_write_prefix(out, owner == NULL ? "" : owner);
}

/* May a user subscribe to a topic? @param id  "User-Id" of the connection */
static int publisher_admits(const char *id, const void *topic, size_t length)
{
    const char *user;
    char prefix[PUBLISHER_PREFIX_BYTES];
    zap_user_role(id, &user);
    publisher_write_prefix(prefix, user);
    return length >= strlen(prefix) && memcmp(topic, prefix, strlen(prefix)) == 0;
}

/* Bytes of the user's prefix of a topic; 0: it has none. */
static size_t publisher_prefix_length(const struct publisher *p, const char *topic, size_t length)
{
    const char *end =
        p->owner != NULL && length > 0 && topic[0] == '~' ? memchr(topic, '/', length) : NULL;
    return end == NULL ? 0 : (size_t)(end - topic) + 1;
}

/* May the numbers of a job be sent on a topic? If it has a prefix, only to the owner of the job. */
static int publisher_is_job_of(const struct publisher *p, const char *job, const char *topic,
                               size_t prefix_length)
{
    char prefix[PUBLISHER_PREFIX_BYTES];
    if (prefix_length == 0)
        return 1;
    publisher_write_job_prefix(p, job, prefix);
    return strlen(prefix) == prefix_length && memcmp(prefix, topic, prefix_length) == 0;
}

/* ---- subscribers --------------------------------------------------------- */

static void publisher_send_empty(struct publisher *p, const void *topic, size_t length,
                                 uint64_t number, uint64_t ordinal)
{
    uint8_t numbers[WIRE_FRAME_NUMBERS];
    publisher_put_numbers(numbers, number, ordinal, p->instance);
    const struct msg_socket_part parts[] = {{topic, length}, {numbers, sizeof(numbers)}, {"", 0}};
    msg_socket_send(p->socket, parts, 3);
}

static const struct publisher_counts *publisher_find_counts(const struct publisher *p,
                                                            const char *job, size_t length)
{
    const struct publisher_counts *c = p->jobs;
    while (c != NULL && (strlen(c->job) != length || memcmp(c->job, job, length) != 0))
        c = c->next;
    return c;
}

/* Send the numbers of the newest frames of the job that the topic ends with. Without them, a
 * subscriber would not notice that it has missed the last frames. */
static void publisher_send_newest(struct publisher *p, const char *topic, size_t length)
{
    const char *slash = memrchr(topic, '/', length);
    const char *job = slash + 1;
    const struct publisher_counts *c =
        publisher_find_counts(p, job, length - (size_t)(job - topic));
    if (c != NULL &&
        !publisher_is_job_of(p, c->job, topic, publisher_prefix_length(p, topic, length)))
        return;
    for (unsigned type = 0; c != NULL && type < TYPES_CAPACITY; type++) {
        char newest_topic[SOCKETS_SUBSCRIPTION_BYTES + 32];
        if (c->by_type[type] == 0)
            continue;
        int used = snprintf(newest_topic, sizeof(newest_topic), "%.*s/%s", (int)length, topic,
                            wire_topic((enum wire_type)type));
        publisher_send_empty(p, newest_topic, (size_t)used, c->newest[type], c->by_type[type]);
    }
}

/* A subscriber that receives this frame knows that its earlier subscriptions are in force. */
static void publisher_answer_sync(struct publisher *p, const char *topic, size_t length)
{
    publisher_send_newest(p, topic, length);
    publisher_send_empty(p, topic, length, 0, 0);
}

/* @param id  "User-Id" of the subscriber's connection */
static void publisher_on_subscription(struct publisher *p, const uint8_t *message, size_t length,
                                      const char *id)
{
    if (length == 0 || length > SOCKETS_SUBSCRIPTION_BYTES || message[0] > 1)
        return; /* an ordinary message of a subscriber: ignored */
    const uint8_t *topic = message + 1;
    length--;
    /* Subscriptions that are not admitted are counted, too, as their ends are reported without the
     * user. */
    int admitted = p->owner == NULL || publisher_admits(id, topic, length);
    if (p->owner != NULL && admitted)
        msg_socket_subscribe(p->socket, topic, length, message[0]);
    size_t prefix = publisher_prefix_length(p, (const char *)topic, length);
    int sync = length - prefix >= strlen(SYNC) && memcmp(topic + prefix, SYNC, strlen(SYNC)) == 0;
    if (sync && message[0] == 1 && admitted)
        publisher_answer_sync(p, (const char *)topic, length);
    else if (!sync && message[0] == 1) /* without effect when not admitted, but counted */
        subscriptions_add(&p->subscriptions, topic, length);
    else if (!sync)
        subscriptions_remove(&p->subscriptions, topic, length);
}

static int publisher_on_readable(void *user)
{
    struct publisher *p = user;
    for (int i = 0; i < TURN_SUBSCRIPTIONS; i++) {
        struct msg_socket_message message;
        if (!msg_socket_receive(p->socket, &message))
            return 0;
        publisher_on_subscription(p, zmq_msg_data(&message.parts[0]),
                                  zmq_msg_size(&message.parts[0]), message.user);
        msg_socket_message_finish(&message);
    }
    return 1;
}

/* ---- frames -------------------------------------------------------------- */

/* Take the numbers of a job off the list. @return NULL: there are none */
static struct publisher_counts *publisher_take_counts(struct publisher *p, const char *job)
{
    struct publisher_counts **at = &p->jobs;
    while (*at != NULL && strcmp((*at)->job, job) != 0)
        at = &(*at)->next;
    struct publisher_counts *taken = *at;
    if (taken != NULL)
        *at = taken->next;
    return taken;
}

static struct publisher_counts *publisher_get_counts(struct publisher *p, const char *job)
{
    struct publisher_counts *counts = publisher_take_counts(p, job);
    if (counts == NULL) {
        counts = calloc(1, sizeof(*counts));
        if (counts == NULL)
            return NULL;
        snprintf(counts->job, sizeof(counts->job), "%s", job);
    }
    counts->next = p->jobs;
    p->jobs = counts;
    return counts;
}

/* @param prefix  of the user, or "" */
static void publisher_format_topic(char *out, size_t capacity, const char *prefix, const char *job,
                                   enum wire_type type)
{
    snprintf(out, capacity, "%s%s/%s", prefix, wire_topic(type), job);
}

/* Has anybody subscribed to this topic of this job? */
static int publisher_has_subscriber(void *user, const char *job, enum wire_type type)
{
    const struct publisher *p = user;
    char prefix[PUBLISHER_PREFIX_BYTES], topic[SUBSCRIPTION_BYTES];
    if (p->socket == NULL)
        return 0;
    publisher_format_topic(topic, sizeof(topic), "", job, type);
    if (subscriptions_match(&p->subscriptions, topic))
        return 1;
    publisher_write_job_prefix(p, job, prefix);
    publisher_format_topic(topic, sizeof(topic), prefix, job, type);
    return prefix[0] != '\0' && subscriptions_match(&p->subscriptions, topic);
}

/* Send a frame also on the topic of the owner of the job. @param numbers  of the frame; its message
 * is in the buffer */
static void publisher_send_to_owner(struct publisher *p, const char *job, enum wire_type type,
                                    const uint8_t numbers[WIRE_FRAME_NUMBERS])
{
    char prefix[PUBLISHER_PREFIX_BYTES], topic[SUBSCRIPTION_BYTES];
    publisher_write_job_prefix(p, job, prefix);
    publisher_format_topic(topic, sizeof(topic), prefix, job, type);
    if (prefix[0] == '\0' || !subscriptions_match(&p->subscriptions, topic))
        return;
    const struct msg_socket_part parts[] = {
        {topic, strlen(topic)}, {numbers, WIRE_FRAME_NUMBERS}, {p->buffer.bytes, p->buffer.length}};
    msg_socket_send(p->socket, parts, 3);
}

void publisher_publish(struct publisher *p, const char *job, enum wire_type type,
                       const void *message)
{
    struct publisher_counts *counts = p->socket == NULL ? NULL : publisher_get_counts(p, job);
    if (counts == NULL || (unsigned)type >= TYPES_CAPACITY)
        return;
    int code = wire_encode(&p->buffer, type, message);
    if (code != 0) {
        log_error("%s of job %s cannot be published: %s", wire_type_name(type), job,
                  holter_strerror(code));
        return;
    }
    char topic[SUBSCRIPTION_BYTES];
    uint8_t numbers[WIRE_FRAME_NUMBERS];
    publisher_format_topic(topic, sizeof(topic), "", job, type);
    uint64_t ordinal = ++counts->by_type[type];
    /* Reports of a replay depend on the wall clock: the numbers of other frames must not. */
    uint64_t number = type == WIRE_TYPE_REPLAY ? ordinal : ++counts->all;
    publisher_put_numbers(numbers, number, ordinal, p->instance);
    counts->newest[type] = number;
    p->frames++;
    /* XPUB drops a frame for the subscribers whose queue is full; it neither blocks nor fails for
     * them. */
    const struct msg_socket_part parts[] = {
        {topic, strlen(topic)}, {numbers, sizeof(numbers)}, {p->buffer.bytes, p->buffer.length}};
    msg_socket_send(p->socket, parts, 3);
    publisher_send_to_owner(p, job, type, numbers);
}

uint64_t publisher_newest_frame(const struct publisher *p, const char *job)
{
    const struct publisher_counts *c = publisher_find_counts(p, job, strlen(job));
    return c == NULL ? 0 : c->all;
}

uint64_t publisher_frames(const struct publisher *p)
{
    return p->frames;
}

/* Forget the frame numbers of a job. */
static void publisher_drop_job(void *user, const char *job)
{
    free(publisher_take_counts(user, job));
}

/* ---- life ---------------------------------------------------------------- */

int publisher_create(struct publisher **out)
{
    *out = calloc(1, sizeof(**out));
    return *out == NULL ? -ENOMEM : 0;
}

void publisher_open(struct publisher *p, struct msg_socket *socket, uint64_t instance)
{
    p->socket = socket;
    p->instance = instance;
    msg_socket_start(socket, publisher_on_readable, p);
}

void publisher_silence(struct publisher *p)
{
    while (p->jobs != NULL)
        publisher_drop_job(p, p->jobs->job);
    subscriptions_finish(&p->subscriptions);
    p->socket = NULL;
    p->instance = p->frames = 0;
}

static void publisher_on_closed(void *user)
{
    struct publisher *p = user;
    publisher_silence(p);
    wire_buffer_finish(&p->buffer);
    free(p);
}

void publisher_destroy(struct publisher *p)
{
    if (p == NULL)
        return;
    if (p->socket != NULL)
        msg_socket_close(p->socket, publisher_on_closed, p);
    else
        publisher_on_closed(p);
}

/* ---- for jobs ------------------------------------------------------------ */

static void publisher_publish_of_job(void *user, const char *job, enum wire_type type,
                                     const void *message)
{
    publisher_publish(user, job, type, message);
}

struct jobs_publisher publisher_for_jobs(struct publisher *publisher)
{
    return (struct jobs_publisher){.user = publisher,
                                   .wants = publisher_has_subscriber,
                                   .publish = publisher_publish_of_job,
                                   .forget = publisher_drop_job};
}
