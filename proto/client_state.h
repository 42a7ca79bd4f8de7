/* What client.c (the conversation with the daemon) and client_follow.c (following a job) share. */
#ifndef HOLTER_PROTO_CLIENT_STATE_H
#define HOLTER_PROTO_CLIENT_STATE_H

#include "proto/client.h"

#include <stddef.h>
#include <stdint.h>

#define CLIENT_PENDING 64u /* requests that may wait for their replies */
#define CLIENT_TOPICS 32u  /* at least as many as there are topics */
#define CLIENT_JOB_BYTES 65u
#define CLIENT_PREFIX_BYTES 73u
#define CLIENT_TOPIC_BYTES 224u /* of the longest topic of a frame, prefix included */

/* Following a job, step by step:
 *   WAIT_SYNC   subscribed; waits until the daemon has seen that
 *   WAIT_JOBS   asked which jobs there are, to find the newest running one
 *   WAIT_JOB    no job is running: waits for one on the stream
 *   WAIT_STATE  asked for the job's current state; the stream is left unread meanwhile
 *   LIVE        reads the stream */
enum follow_phase {
    FOLLOW_NOTHING,
    FOLLOW_WAIT_SYNC,
    FOLLOW_WAIT_JOBS,
    FOLLOW_WAIT_JOB,
    FOLLOW_WAIT_STATE,
    FOLLOW_LIVE,
};

struct follow {
    enum follow_phase phase;
    char wanted[CLIENT_JOB_BYTES]; /* job given by the user; "": the newest */
    char job[CLIENT_JOB_BYTES];    /* the one found; "": none yet */
    uint64_t topics;               /* set of topic numbers */
    uint64_t request;              /* id of the pending request */
    char sync[96];                 /* topic of the expected sync frame; "": none */
    uint64_t sync_due_ns;          /* when to go on without it, CLOCK_MONOTONIC */
    uint64_t check_ns;             /* live: when to check for missed frames */
    int unknown;                   /* the daemon does not have the job */
    int has_frames;                /* the check under way has found frames of the job */
    uint64_t frame;                /* newest frame seen or contained in the snapshot */
    uint64_t strange;              /* unknown run whose frame caused the last hello */
    uint64_t last[CLIENT_TOPICS];  /* number of the newest frame of each topic; 0: none */
};

/* Who asked: the user, or the following of a job. */
enum request_kind { REQUEST_USER, REQUEST_FOLLOW };

struct pending {
    uint64_t id;
    enum request_kind kind;
    enum wire_type slow; /* what answers it, where the daemon takes its time over that and answers
                            others meanwhile; 0: answered in turn */
};

struct client {
    void *context;
    void *front;  /* DEALER */
    void *stream; /* SUB; NULL until the daemon has said welcome */

    char endpoint[256];
    char stream_given[256]; /* by the user; "": none */
    char stream_endpoint[256];
    struct curve_keys keys;
    int has_keys;
    enum role role;
    uint64_t hello_interval_ns; /* of which all waiting times are multiples */
    int in_fleet;

    enum client_state state;
    char error[320];
    uint64_t instance;                /* of the daemon's run; 0: not known */
    char prefix[CLIENT_PREFIX_BYTES]; /* of all topics of the stream, as in welcome */
    int replays;         /* it replays a recording: the job is followed even if it has ended */
    uint64_t hello_ns;   /* time of the last hello, CLOCK_MONOTONIC */
    unsigned unanswered; /* hello messages since the last message from the daemon */

    struct pending pending[CLIENT_PENDING]; /* in the order asked; answered so, but for slow ones */
    size_t pending_count;
    uint64_t failed[CLIENT_PENDING]; /* requests of the user that were lost with a connection */
    size_t failed_count;
    uint64_t next_id;

    struct follow follow;
    uint64_t missed;

    struct wire_buffer buffer;
    struct wire_arena arena;
    struct wire_message message;
};

/** The time in so many intervals of hello, CLOCK_MONOTONIC. */
uint64_t client_due_ns(const struct client *c, unsigned hellos);

/** Set the text of an error, for client_error(). */
void client_complain(struct client *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Send a request. @return its id or a negative error */
int64_t client_request(struct client *c, enum request_kind kind,
                       const struct wire_request *request);

/** Send a hello message, which the daemon answers by welcome. */
void client_send_hello(struct client *c);

/** Replace the socket of the stream by a new one without subscriptions. @return 0 or -errno */
int client_open_stream(struct client *c);

/** Begin to follow the given job and topics on a new connection. */
void follow_begin(struct client *c);

/** Nothing is followed. */
void follow_forget(struct client *c);

/** A message that belongs to the answer to this request (not yet its reply). @return 1 when it
 *  is for the user */
int follow_answer(struct client *c, uint64_t request);

/** The reply to a request of ours. */
void follow_reply(struct client *c, const struct wire_reply *reply);

/** Should the stream be read now? */
int follow_reads(const struct client *c);

/** One part of a received message. */
struct client_part {
    const uint8_t *bytes;
    size_t length;
};

/** Decode a message into c->message. @param endpoint  where it is from, for client_error() @return
 * 0, -ENOMEM or another negative error */
int client_decode(struct client *c, const char *endpoint, const struct client_part *message);

/** Handle a message of the front. @return 1 when out was set, 0 when it is not for the user,
 *  -ENOMEM */
int client_take(struct client *c, const struct client_part *message, struct client_message *out);

/** Handle a frame of the stream. @return as client_take() */
int follow_frame(struct client *c, const struct client_part parts[3], struct client_message *out);

/** Read the next frame of the stream.
 *  @return 1 when out was set, 0 when a frame was taken that is not for the user, -HOLTER_EEMPTY
 *          when none is there */
int follow_read(struct client *c, struct client_message *out);

/** Housekeeping. @param now_ns  CLOCK_MONOTONIC */
void follow_tick(struct client *c, uint64_t now_ns);

#endif
