/* Following a job: find it, subscribe, request a snapshot, then read the stream.
 *
 * Nothing is lost in between: the current state is asked for only after the daemon has confirmed
 * the subscriptions (a frame of topic "sync/..."), and the stream stays unread in its socket's
 * bounded queue until that state is here. Frames that it contains are then dropped by their
 * number. */
#include "holter/error.h"
#include "holter/plain_text.h"
#include "proto/client_state.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <zmq.h>

/* Waiting times in intervals of hello messages. */
#define SYNC_HELLOS 5    /* a confirmation that takes longer is not waited for */
#define SILENCE_HELLOS 2 /* without frames; then the numbers of the last frames are requested */
#define CHECK_AGAIN_HELLOS 10 /* between further requests */
#define RECORDED "recorded"   /* not included in "all topics", because of its size */

/* Name of a topic by its number; NULL after the last one. */
static const char *topic_name(int number)
{
    const struct wire_table *table;
    for (size_t i = 0; (table = wire_table_at(i)); i++) {
        const char *topic = wire_topic(table->type);
        if (topic && number-- == 0)
            return topic;
    }
    return NULL;
}

/* Number of a topic, counted from 0 in the order of the message types; -1 for none. */
static int client_topic_number(const char *topic, size_t length)
{
    const char *name;
    for (int number = 0; number < (int)CLIENT_TOPICS && (name = topic_name(number)); number++) {
        if (strlen(name) == length && memcmp(name, topic, length) == 0)
            return number;
    }
    return -1;
}

static uint64_t all_topics(void)
{
    return ~(UINT64_C(1) << client_topic_number(RECORDED, strlen(RECORDED)));
}

static int follows_topic(const struct follow *f, const char *topic)
{
    int number = topic ? client_topic_number(topic, strlen(topic)) : -1;
    return number >= 0 && (f->topics >> number & 1);
}

int client_follow(struct client *c, const char *job, const char *topics)
{
    struct follow *f = &c->follow;
    uint64_t set = topics ? 0 : all_topics();
    while (topics && *topics) {
        size_t length = strcspn(topics, ",");
        int number = client_topic_number(topics, length);
        if (number < 0) {
            client_complain(c, "\"%.*s\" is no topic", (int)length, topics);
            return -HOLTER_EUSAGE;
        }
        set |= UINT64_C(1) << number;
        topics += length + (topics[length] == ',');
    }
    if (job && strlen(job) >= sizeof f->wanted) {
        client_complain(c, "\"%.80s...\" is longer than a job id", job);
        return -HOLTER_EUSAGE;
    }
    *f = (struct follow){.topics = set, .phase = FOLLOW_WAIT_SYNC};
    snprintf(f->wanted, sizeof f->wanted, "%s", job ? job : "");
    if (c->state == CLIENT_CONNECTED && !client_open_stream(c))
        follow_begin(c);
    return 0;
}

void follow_forget(struct client *c)
{
    struct follow *f = &c->follow;
    if (f->phase != FOLLOW_NOTHING)
        f->phase = FOLLOW_WAIT_SYNC;
}

/* ---- subscribing --------------------------------------------------------- */

/* @param option  ZMQ_SUBSCRIBE or ZMQ_UNSUBSCRIBE @param topic  without the prefix of all topics */
static void client_follow_set_topic(struct client *c, int option, const char *topic)
{
    char whole[CLIENT_TOPIC_BYTES];
    int length = snprintf(whole, sizeof whole, "%s%s", c->prefix, topic);
    zmq_setsockopt(c->stream, option, whole, (size_t)length);
}

static void client_follow_subscribe(struct client *c, const char *topic, const char *job)
{
    char both[128];
    snprintf(both, sizeof both, "%s/%s", topic, job);
    client_follow_set_topic(c, ZMQ_SUBSCRIBE, both);
}

static void end_sync(struct client *c)
{
    struct follow *f = &c->follow;
    if (f->sync[0])
        client_follow_set_topic(c, ZMQ_UNSUBSCRIBE, f->sync);
    f->sync[0] = '\0';
}

/* @param behind  "", or "/" and the job whose newest frame numbers are requested */
static void subscribe_sync(struct client *c, const char *behind, const char *job)
{
    struct follow *f = &c->follow;
    uint64_t nonce = 0;
    (void)!getrandom(&nonce, sizeof nonce, 0);
    end_sync(c);
    snprintf(f->sync, sizeof f->sync, "sync/%016llx%s%s", (unsigned long long)nonce, behind, job);
    client_follow_set_topic(c, ZMQ_SUBSCRIBE, f->sync);
}

/* Ask the daemon to confirm the subscriptions made so far. */
static void request_sync(struct client *c)
{
    struct follow *f = &c->follow;
    subscribe_sync(c, "", "");
    f->sync_due_ns = client_due_ns(c, SYNC_HELLOS);
    f->phase = FOLLOW_WAIT_SYNC;
}

/* The job is known: subscribe to it. */
static void follow_job(struct client *c, const char *job)
{
    struct follow *f = &c->follow;
    const char *topic;
    if (job != f->job)
        snprintf(f->job, sizeof f->job, "%s", job);
    for (int i = 0; i < (int)CLIENT_TOPICS && (topic = topic_name(i)); i++) {
        if (f->topics >> i & 1)
            client_follow_subscribe(c, topic, f->job);
    }
    request_sync(c);
}

void follow_begin(struct client *c)
{
    struct follow *f = &c->follow;
    if (f->phase == FOLLOW_NOTHING)
        return;
    f->frame = 0;
    f->unknown = 0;
    memset(f->last, 0, sizeof f->last);
    /* A client that follows the newest job keeps the job that it found, even after a restart of the
     * daemon. */
    const char *job = f->wanted[0] ? f->wanted : f->job;
    if (job[0]) {
        follow_job(c, job);
        return;
    }
    client_follow_subscribe(c, "job", "");
    request_sync(c);
}

void client_refresh(struct client *c)
{
    struct follow *f = &c->follow;
    if (!client_is_current(c))
        return;
    memset(f->last, 0, sizeof f->last);
    request_sync(c);
}

/* The daemon has dropped the job since, and counts its frames from 1 again if it has it again: what
 * it has now is asked for. */
static void client_follow_again(struct client *c)
{
    if (c->follow.frame > 0)
        client_refresh(c);
}

/* Ask something and wait for the reply in this phase; a request that cannot be sent is tried
 * again. */
static void client_follow_ask(struct client *c, enum follow_phase phase,
                              const struct wire_request *request)
{
    struct follow *f = &c->follow;
    int64_t id = client_request(c, REQUEST_FOLLOW, request);
    if (id < 0) {
        f->sync_due_ns = client_due_ns(c, 1);
        f->phase = FOLLOW_WAIT_SYNC;
        return;
    }
    f->request = (uint64_t)id;
    f->phase = phase;
}

#define TOPICS_ROOM 257u /* of the topics of a request, see WIRE_REQUEST */

/* Write the topics of a snapshot; "" stands for all of them but "recorded". */
static void write_topics(uint64_t set, char out[TOPICS_ROOM])
{
    uint64_t others = 0; /* in which the set differs from that */
    const char *topic;
    out[0] = '\0';
    for (int i = 0; i < (int)CLIENT_TOPICS && topic_name(i); i++)
        others |= UINT64_C(1) << i & (set ^ all_topics());
    for (int i = 0; others && i < (int)CLIENT_TOPICS && (topic = topic_name(i)); i++) {
        if (set >> i & 1)
            text_append(out, TOPICS_ROOM, "%s%s", out[0] ? "," : "", topic);
    }
}

/* The subscriptions are in force: request jobs or the snapshot. */
static void after_sync(struct client *c)
{
    struct follow *f = &c->follow;
    struct wire_request request = {.op = "jobs"};
    char topics[TOPICS_ROOM];
    end_sync(c);
    if (!f->job[0]) {
        client_follow_ask(c, FOLLOW_WAIT_JOBS, &request);
        return;
    }
    write_topics(f->topics, topics);
    request = (struct wire_request){.op = "snapshot", .job = f->job, .topic = topics};
    client_follow_ask(c, FOLLOW_WAIT_STATE, &request);
}

/* ---- answers ------------------------------------------------------------- */

int follow_answer(struct client *c, uint64_t request)
{
    struct follow *f = &c->follow;
    if (request != f->request)
        return 0;
    if (f->phase == FOLLOW_WAIT_STATE)
        return follows_topic(f, wire_topic(c->message.type)) &&
               strcmp(wire_job_of(&c->message), f->job) == 0;
    /* The newest comes last. */
    if (f->phase == FOLLOW_WAIT_JOBS && c->message.type == WIRE_TYPE_JOB &&
        (c->replays || strcmp(c->message.job.state, "running") == 0))
        snprintf(f->job, sizeof f->job, "%s", c->message.job.job);
    return 0;
}

void follow_reply(struct client *c, const struct wire_reply *reply)
{
    struct follow *f = &c->follow;
    if (reply->id != f->request)
        return; /* of something that was followed before */
    if (f->phase == FOLLOW_WAIT_JOBS) {
        if (f->job[0])
            follow_job(c, f->job);
        else
            f->phase = FOLLOW_WAIT_JOB;
    } else if (f->phase == FOLLOW_WAIT_STATE) {
        /* A job that the daemon does not know yet has no state: its stream begins with frame 1. */
        f->unknown = reply->code == -HOLTER_ENOJOB;
        f->frame = reply->code == 0 ? reply->frame : 0;
        f->sync_due_ns = client_due_ns(c, 1);
        /* A job that the daemon takes over begins with the state that another one has stored. */
        f->phase = f->unknown && c->in_fleet ? FOLLOW_WAIT_SYNC : FOLLOW_LIVE;
        f->check_ns = client_due_ns(c, SILENCE_HELLOS);
    }
}

void follow_tick(struct client *c, uint64_t now_ns)
{
    struct follow *f = &c->follow;
    if (c->state == CLIENT_CONNECTED && f->phase == FOLLOW_WAIT_SYNC && now_ns >= f->sync_due_ns)
        after_sync(c);
    /* Without frames the job may have ended, or the last frames may have been dropped, which no
     * later frame reveals. */
    if (client_is_current(c) && now_ns >= f->check_ns) {
        f->has_frames = 0;
        subscribe_sync(c, "/", f->job);
        f->check_ns = client_due_ns(c, CHECK_AGAIN_HELLOS);
    }
}

int client_is_current(const struct client *c)
{
    return c->state == CLIENT_CONNECTED && c->follow.phase == FOLLOW_LIVE;
}

int client_lacks_job(const struct client *c)
{
    return c->follow.unknown;
}

/* ---- the stream ---------------------------------------------------------- */

int follow_reads(const struct client *c)
{
    enum follow_phase phase = c->follow.phase;
    return c->stream &&
           (phase == FOLLOW_WAIT_SYNC || phase == FOLLOW_WAIT_JOB || phase == FOLLOW_LIVE);
}

/* The parts of a frame as they came. */
struct parts {
    zmq_msg_t part[3];
    int count; /* more than three are counted, and dropped */
};

/* Receive all parts of the next frame, which close_parts() releases.
 * @return 0 or -HOLTER_EEMPTY */
static int client_follow_receive_parts(void *socket, struct parts *parts)
{
    int more = 1;
    parts->count = 0;
    for (int i = 0; i < 3; i++)
        zmq_msg_init(&parts->part[i]);
    while (more) {
        zmq_msg_t next;
        zmq_msg_init(&next);
        if (zmq_msg_recv(&next, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&next);
            break;
        }
        more = zmq_msg_more(&next);
        if (parts->count < 3)
            zmq_msg_move(&parts->part[parts->count], &next);
        parts->count++;
        zmq_msg_close(&next);
    }
    return parts->count ? 0 : -HOLTER_EEMPTY;
}

static void close_parts(struct parts *parts)
{
    for (int i = 0; i < 3; i++)
        zmq_msg_close(&parts->part[i]);
}

/* A frame, read. */
struct frame {
    char topic[128];   /* "<topic>/<job>", without the prefix */
    uint64_t number;   /* in the job's count */
    uint64_t ordinal;  /* in the topic's count */
    uint64_t instance; /* of the run that published it */
};

static uint64_t client_follow_big_endian(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
}

/* @param prefix  of all topics @return 0 or -HOLTER_EMALFORMED */
static int read_frame(struct frame *frame, const char *prefix, const struct client_part *topic,
                      const struct client_part *numbers)
{
    size_t skip = strlen(prefix);
    if (topic->length < skip || memcmp(topic->bytes, prefix, skip) != 0 ||
        topic->length - skip >= sizeof frame->topic || memchr(topic->bytes, 0, topic->length) ||
        numbers->length < WIRE_FRAME_NUMBERS)
        return -HOLTER_EMALFORMED;
    memcpy(frame->topic, topic->bytes + skip, topic->length - skip);
    frame->topic[topic->length - skip] = '\0';
    frame->number = client_follow_big_endian(numbers->bytes);
    frame->ordinal = client_follow_big_endian(numbers->bytes + 8);
    frame->instance = client_follow_big_endian(numbers->bytes + 16);
    return 0;
}

/* Is the frame of another run than that of the last welcome? ZeroMQ reconnects by itself: frames of
 * the next run may arrive before its welcome, and their numbers are unrelated to the snapshot. */
static int is_strange(struct client *c, const struct frame *frame)
{
    if (frame->instance == c->instance)
        return 0;
    if (frame->instance != c->follow.strange)
        client_send_hello(c); /* its answer has the number of the run */
    c->follow.strange = frame->instance;
    return 1;
}

/* Is the frame a new one of the followed job? Counts missed frames. Frames of topic "replay" are
 * counted separately. */
static int client_follow_is_news(struct client *c, const struct frame *frame)
{
    struct follow *f = &c->follow;
    const char *job = strchr(frame->topic, '/');
    if (f->phase != FOLLOW_LIVE || !job || strcmp(job + 1, f->job) != 0)
        return 0; /* a prefix that was subscribed to fits longer job ids as well */
    int number = client_topic_number(frame->topic, (size_t)(job - frame->topic));
    if (number < 0 || !(f->topics >> number & 1))
        return 0;
    uint64_t last = f->last[number];
    if (frame->ordinal <= last) {
        client_follow_again(c);
        return 0;
    }
    f->last[number] = frame->ordinal;
    f->check_ns = client_due_ns(c, SILENCE_HELLOS);
    if (strncmp(frame->topic, "replay/", 7) == 0)
        return 1;
    if (last && frame->ordinal > last + 1)
        c->missed += frame->ordinal - last - 1;
    if (frame->number <= f->frame)
        return 0;
    f->frame = frame->number;
    return 1;
}

/* Handle the number of the newest frame of a topic, which follows all its frames. If no frame of
 * the topic was received since the snapshot, the number of missed frames is not known; topic
 * "replay" has numbers of its own. */
static void note_newest(struct client *c, const struct frame *frame, const char *topic)
{
    struct follow *f = &c->follow;
    int number = client_topic_number(topic, strlen(topic));
    if (f->phase != FOLLOW_LIVE || number < 0 || !(f->topics >> number & 1))
        return;
    uint64_t last = f->last[number];
    f->last[number] = frame->ordinal;
    if (frame->ordinal < last)
        client_follow_again(c);
    else if (last && frame->ordinal > last)
        c->missed += frame->ordinal - last;
    else if (!last && frame->number > f->frame && strcmp(topic, "replay") != 0)
        c->missed++;
}

/* @param behind  of the topic that was asked for */
static void client_follow_handle_sync(struct client *c, const struct frame *frame,
                                      const char *behind)
{
    struct follow *f = &c->follow;
    f->has_frames |= behind[0] == '/';
    if (behind[0] == '/')
        note_newest(c, frame, behind + 1);
    else if (behind[0] == '\0' && f->phase == FOLLOW_WAIT_SYNC)
        after_sync(c);
    else if (behind[0] == '\0') {
        end_sync(c);
        if (!f->has_frames)
            client_follow_again(c);
    }
}

/* While no job is known, any running job is accepted. */
static void consider_job(struct client *c)
{
    if (c->message.type == WIRE_TYPE_JOB && strcmp(c->message.job.state, "running") == 0)
        follow_job(c, c->message.job.job);
}

int follow_frame(struct client *c, const struct client_part parts[3], struct client_message *out)
{
    struct follow *f = &c->follow;
    struct frame frame;
    c->unanswered = 0;
    if (read_frame(&frame, c->prefix, &parts[0], &parts[1]) || is_strange(c, &frame))
        return 0;
    size_t sync = strlen(f->sync);
    if (sync > 0 && strncmp(frame.topic, f->sync, sync) == 0) {
        client_follow_handle_sync(c, &frame, frame.topic + sync);
        return 0;
    }
    if (f->phase == FOLLOW_WAIT_SYNC)
        return 0;
    if (f->phase != FOLLOW_WAIT_JOB && !client_follow_is_news(c, &frame))
        return 0;
    int error = client_decode(c, c->stream_endpoint, &parts[2]);
    if (error)
        return error == -ENOMEM ? error : 0;
    if (f->phase == FOLLOW_WAIT_JOB) {
        consider_job(c);
        return 0;
    }
    *out = (struct client_message){.message = &c->message, .frame = frame.number};
    return 1;
}

int follow_read(struct client *c, struct client_message *out)
{
    struct parts parts;
    if (client_follow_receive_parts(c->stream, &parts))
        return -HOLTER_EEMPTY;
    int result = 0;
    if (parts.count == 3) {
        struct client_part read[3];
        for (int i = 0; i < 3; i++)
            read[i] =
                (struct client_part){zmq_msg_data(&parts.part[i]), zmq_msg_size(&parts.part[i])};
        result = follow_frame(c, read, out);
    }
    close_parts(&parts);
    return result;
}
