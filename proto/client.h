/* A client of the daemon: what viewer, tap, status and top connect with.
 *
 * Single-threaded, no event loop of its own: client_fd() may be watched, client_next() never
 * blocks longer than it is told. It dials, says hello, subscribes, asks for the current state
 * first, queues what is published meanwhile, drops what that state already contains, and starts
 * over by itself when the daemon went away and came back (CLIENT_STATE tells). */
#ifndef HOLTER_PROTO_CLIENT_H
#define HOLTER_PROTO_CLIENT_H

#include "holter/wire.h"
#include "proto/curve_keys.h"

struct client;

enum client_state {
    CLIENT_DIALLING,  /**< nothing heard yet */
    CLIENT_CONNECTED, /**< welcome received */
    CLIENT_LOST,      /**< nothing heard for three seconds; dialling again */
    CLIENT_REFUSED,   /**< the daemon said no: client_error() tells why */
};

struct client_options {
    const char *endpoint; /**< front of the daemon */
    const char *stream;   /**< NULL: derived, or as the daemon says */
    const char *key_dir;  /**< NULL: no keys */
    enum role role;       /**< ROLE_VIEWER or ROLE_OPERATOR */
};

/** @return 0, -ENOMEM, -HOLTER_EUSAGE for a bad endpoint, or an error of curve_load() */
int client_create(struct client **out, const struct client_options *options);

/** NULL is fine. */
void client_destroy(struct client *client);

/** Follow one job, from its current state on. topics: names separated by commas, NULL for all but
 * "recorded"; job: NULL or "" for the newest running one (or the next to come), or that of a
 * replay. Replaces what was followed before.
 *  @return 0, or -HOLTER_EUSAGE for a topic that does not exist or a job id that is too long */
int client_follow(struct client *client, const char *job, const char *topics);

/** Take the current state of the followed job anew, for a reader that missed frames and whose sums
 *  are short of them. Does nothing while a state is on its way. */
void client_refresh(struct client *client);

/** Ask one question (see WIRE_REQUEST). Answers come through client_next(), ended by a
 *  WIRE_TYPE_REPLY with the same id; when the connection is lost before, that reply's code is
 *  -HOLTER_EUNREACHABLE.
 *  @return the id, or a negative error: -HOLTER_EFULL while 64 questions are open */
int64_t client_ask(struct client *client, const char *op, const char *job, const char *topic,
                   const char *argument);

/** One received message of the stream or of an answer. */
struct client_message {
    const struct wire_message *message; /**< valid until the next client_next() */
    int snapshot;                       /**< 1: part of a current state, 0: news */
    uint64_t frame;                     /**< number of the published frame; 0: an answer */
    uint64_t id;                        /**< of the request it answers; 0: none */
};

/** Next message.
 *  @param timeout_ms  longest wait; 0: only what is there
 *  @return 1 when out was set, 0 when nothing came (the state may have changed), or a negative
 *          error */
int client_next(struct client *client, int timeout_ms, struct client_message *out);

enum client_state client_state(const struct client *client);

/** Has the whole current state of the followed job been handed out, so that what comes is news? */
int client_is_current(const struct client *client);

/** Number of the daemon's run, or of a run of what it replays (see the specification); 0: not
 * connected. Another one than before means that everything is told anew. */
uint64_t client_instance(const struct client *client);

/** Does the daemon replay a recording? As it said last. */
int client_replays(const struct client *client);

/** Id of the job that is followed; "": none was found yet. */
const char *client_job(const struct client *client);

/** Frames of the stream that never came (slow reader), since the start: at least, where they are
 * the first of their topic. The last ones before a silence are known some seconds later. */
uint64_t client_missed(const struct client *client);

/** Descriptor to watch for readability; look again with client_next(.., 0, ..) until it returns
 *  0. */
int client_fd(const struct client *client);

/** What the last error was, for people; "" when there was none. */
const char *client_error(const struct client *client);

#endif
