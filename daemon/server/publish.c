#include "daemon/server/publish.h"

#include "daemon/server/sockets.h"
#include "daemon/server/subscriptions.h"
#include "holter/error.h"
#include "proto/log.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TOPIC "publish"
#define TURN 256   /* subscriptions read in one turn of the loop */
#define TOPICS 64u /* numbers of published types are below */
#define SYNC "sync/"

/* Numbers of one job's frames. */
struct counts {
    char job[65];
    uint64_t all;
    uint64_t by_type[TOPICS];
    uint64_t newest[TOPICS]; /* by type: number of its newest frame */
    struct counts *next;
};

struct publisher {
    struct port *port; /* NULL: silent */
    uint64_t instance; /* as in welcome */
    struct subscriptions subscriptions;
    struct counts *jobs; /* the one used last is first */
    struct wire_buffer buffer;
    uint64_t frames;
};

static void put_numbers(uint8_t out[WIRE_FRAME_NUMBERS], uint64_t number, uint64_t ordinal,
                        uint64_t instance)
{
    const uint64_t big_endian[] = {htobe64(number), htobe64(ordinal), htobe64(instance)};
    memcpy(out, big_endian, sizeof(big_endian));
}

/* ---- subscribers --------------------------------------------------------- */

static void send_empty(struct publisher *p, const void *topic, size_t length, uint64_t number,
                       uint64_t ordinal)
{
    uint8_t numbers[WIRE_FRAME_NUMBERS];
    put_numbers(numbers, number, ordinal, p->instance);
    const struct port_part parts[] = {{topic, length}, {numbers, sizeof(numbers)}, {"", 0}};
    port_send(p->port, parts, 3);
}

static const struct counts *find_counts(const struct publisher *p, const char *job, size_t length)
{
    const struct counts *c = p->jobs;
    while (c != NULL && (strlen(c->job) != length || memcmp(c->job, job, length) != 0))
        c = c->next;
    return c;
}

/* Which frames of the job that the topic ends with are the newest: who missed the last ones would
 * not know. */
static void tell_newest(struct publisher *p, const char *topic, size_t length)
{
    const char *slash = memrchr(topic, '/', length);
    const char *job = slash + 1;
    const struct counts *c = find_counts(p, job, length - (size_t)(job - topic));
    for (unsigned type = 0; c != NULL && type < TOPICS; type++) {
        char told[SOCKETS_SUBSCRIPTION + 32];
        if (c->by_type[type] == 0)
            continue;
        int used = snprintf(told, sizeof(told), "%.*s/%s", (int)length, topic,
                            wire_topic((enum wire_type)type));
        send_empty(p, told, (size_t)used, c->newest[type], c->by_type[type]);
    }
}

/* Whoever sees this frame knows that its earlier subscriptions are in force. */
static void answer_sync(struct publisher *p, const char *topic, size_t length)
{
    tell_newest(p, topic, length);
    send_empty(p, topic, length, 0, 0);
}

static void take_subscription(struct publisher *p, const uint8_t *message, size_t length)
{
    if (length == 0 || length > SOCKETS_SUBSCRIPTION || message[0] > 1)
        return; /* an ordinary message of a subscriber: nobody asked for it */
    const uint8_t *topic = message + 1;
    length--;
    int sync = length >= strlen(SYNC) && memcmp(topic, SYNC, strlen(SYNC)) == 0;
    if (sync && message[0] == 1)
        answer_sync(p, (const char *)topic, length);
    else if (!sync && message[0] == 1)
        subscriptions_add(&p->subscriptions, topic, length);
    else if (!sync)
        subscriptions_remove(&p->subscriptions, topic, length);
}

static int on_readable(void *user)
{
    struct publisher *p = user;
    for (int i = 0; i < TURN; i++) {
        struct port_message message;
        if (!port_receive(p->port, &message))
            return 0;
        take_subscription(p, zmq_msg_data(&message.parts[0]), zmq_msg_size(&message.parts[0]));
        port_message_finish(&message);
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
    if (p->port == NULL)
        return 0;
    topic_of(topic, sizeof(topic), job, type);
    return subscriptions_match(&p->subscriptions, topic);
}

void publisher_publish(struct publisher *p, const char *job, enum wire_type type,
                       const void *message)
{
    struct counts *counts = p->port == NULL ? NULL : counts_of(p, job);
    if (counts == NULL || (unsigned)type >= TOPICS)
        return;
    int code = wire_encode(&p->buffer, type, message);
    if (code != 0) {
        log_error("%s of job %s cannot be published: %s", wire_type_name(type), job,
                  holter_strerror(code));
        return;
    }
    char topic[SUBSCRIPTION_BYTES];
    uint8_t numbers[WIRE_FRAME_NUMBERS];
    topic_of(topic, sizeof(topic), job, type);
    uint64_t ordinal = ++counts->by_type[type];
    /* How far a replay is depends on the clock on the wall: the numbers of all else do not. */
    uint64_t number = type == WIRE_TYPE_REPLAY ? ordinal : ++counts->all;
    put_numbers(numbers, number, ordinal, p->instance);
    counts->newest[type] = number;
    p->frames++;
    /* XPUB drops a frame for the subscribers whose queue is full; it neither blocks nor fails for
     * them. */
    const struct port_part parts[] = {
        {topic, strlen(topic)}, {numbers, sizeof(numbers)}, {p->buffer.bytes, p->buffer.length}};
    port_send(p->port, parts, 3);
}

uint64_t publisher_frame(const struct publisher *p, const char *job)
{
    const struct counts *c = find_counts(p, job, strlen(job));
    return c == NULL ? 0 : c->all;
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

int publisher_create(struct publisher **out)
{
    *out = calloc(1, sizeof(**out));
    return *out == NULL ? -ENOMEM : 0;
}

void publisher_open(struct publisher *p, struct port *port, uint64_t instance)
{
    p->port = port;
    p->instance = instance;
    port_start(port, on_readable, p);
}

void publisher_silence(struct publisher *p)
{
    while (p->jobs != NULL)
        publisher_forget(p, p->jobs->job);
    subscriptions_finish(&p->subscriptions);
    p->port = NULL;
    p->instance = p->frames = 0;
}

static void on_closed(void *user)
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
    if (p->port != NULL)
        port_close(p->port, on_closed, p);
    else
        on_closed(p);
}

/* ---- for jobs ------------------------------------------------------------ */

static int publisher_wants_of_job(void *user, const char *job, enum wire_type type)
{
    return publisher_wanted(user, job, type);
}

static void publisher_publish_of_job(void *user, const char *job, enum wire_type type,
                                     const void *message)
{
    publisher_publish(user, job, type, message);
}

static void publisher_forget_job(void *user, const char *job)
{
    publisher_forget(user, job);
}

struct jobs_publisher publisher_for_jobs(struct publisher *publisher)
{
    return (struct jobs_publisher){.user = publisher,
                                   .wants = publisher_wants_of_job,
                                   .publish = publisher_publish_of_job,
                                   .forget = publisher_forget_job};
}
