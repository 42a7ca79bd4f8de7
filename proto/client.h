/* A client of the daemon, for the viewer, tap, status, top and others.
 *
 * Single-threaded, without an event loop: client_next() and client_wait() never block longer than
 * their timeout. It connects, sends hello, subscribes, requests a snapshot, queues
 * published frames meanwhile, drops those that the snapshot contains, and reconnects by itself when
 * the daemon was restarted (see client_state()). */
#ifndef HOLTER_PROTO_CLIENT_H
#define HOLTER_PROTO_CLIENT_H

#include "holter/wire.h"
#include "proto/curve_keys.h"

#include <poll.h>

#define CLIENT_WAIT_FDS 2 /**< descriptors of client_wait() */

struct client;

enum client_state {
    CLIENT_DIALLING,  /**< no message received yet */
    CLIENT_CONNECTED, /**< welcome received */
    CLIENT_LOST,      /**< no message received for three intervals of hello; reconnecting */
    CLIENT_REFUSED,   /**< the daemon refused; client_error() has the reason */
};

struct client_options {
    const char *endpoint; /**< front of the daemon */
    const char *stream;   /**< NULL: derived from endpoint, or from the welcome */
    const char *key_dir;  /**< NULL: no keys */
    enum role role;       /**< ROLE_VIEWER or ROLE_OPERATOR */
    /** Interval of hello messages, in nanoseconds; all other waiting times are multiples of it.
     *  0: one second */
    uint64_t hello_interval_ns;
    /** The daemon is one of a fleet, which may be about to get the followed job, or have lost it to
     * another one: where it does not have the job, it is asked for it once an interval. */
    int in_fleet;
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

/** Request another snapshot of the followed job, for a reader that missed frames. Does nothing
 * while a snapshot is pending. */
void client_refresh(struct client *client);

/** Send one request (see WIRE_REQUEST). Answers come through client_next(), ended by a
 *  WIRE_TYPE_REPLY with the same id; if the connection is lost before, the code of that reply is
 *  -HOLTER_EUNREACHABLE.
 *  @return the id, or a negative error: -HOLTER_EFULL while 64 requests are pending */
int64_t client_ask(struct client *client, const char *op, const char *job, const char *topic,
                   const char *argument);

/** The same for a request with rows; its id and instance are set here. */
int64_t client_ask_rows(struct client *client, const struct wire_request *request);

/** One received message of the stream or of an answer. */
struct client_message {
    const struct wire_message *message; /**< valid until the next client_next() */
    int snapshot;                       /**< 1: part of a snapshot, 0: newly published */
    uint64_t frame;                     /**< number of the published frame; 0: an answer */
    uint64_t id;                        /**< of the request it answers; 0: none */
};

/** Next message.
 *  @param timeout_ms  longest wait; 0: do not wait
 *  @return 1 when out was set, 0 when nothing came (the state may have changed), or a negative
 *          error */
int client_next(struct client *client, int timeout_ms, struct client_message *out);

enum client_state client_state(const struct client *client);

/** Has the whole snapshot of the followed job been returned, so that later messages are new? */
int client_is_current(const struct client *client);

/** Does the daemon not have the job that is followed, as far as it was asked? */
int client_lacks_job(const struct client *client);

/** Number of the run of the daemon, or of its replay (see the specification); 0: not connected.
 * When it changes, all state is published again. */
uint64_t client_instance(const struct client *client);

/** Does the daemon replay a recording, by its last welcome? */
int client_replays(const struct client *client);

/** Id of the job that is followed; "": none was found yet. */
const char *client_job(const struct client *client);

/** Missed frames of the stream (slow reader), since the start; a lower bound if the first frames of
 * a topic were missed. Missed frames at the end of the stream are detected some seconds later. */
uint64_t client_missed(const struct client *client);

/** Waits until client_next(), which has returned 0, may return more, or until a descriptor is
 * ready; at most timeout_ms, and not beyond the client's own next work, such as a hello.
 *  @param fds    as of poll(2), but only POLLIN is known, and POLLERR stands for all that is wrong
 *  @param count  at most CLIENT_WAIT_FDS
 *  @return 0 or -errno, as -EINTR after a signal */
int client_wait(struct client *client, struct pollfd *fds, int count, int timeout_ms);

/** Text of the last error, for people; "" if there was none. */
const char *client_error(const struct client *client);

#endif
