/* The connection to the daemon: a DEALER socket that sends a hello, measures the clock, sends what
 * the journal holds, and reconnects when the daemon is lost. Messages stay in the journal until
 * they are acknowledged; after each welcome everything that is not acknowledged is sent again (the
 * daemon drops duplicates, by instance and number). At most UPLINK_FLIGHT bytes are sent without an
 * acknowledgement, so that a backlog stays in the journal instead of filling sockets. */
#ifndef HOLTER_AGENT_NODE_UPLINK_H
#define HOLTER_AGENT_NODE_UPLINK_H

#include "agent/node/journal.h"
#include "holter/wire.h"

#include <uv.h>

#define UPLINK_FLIGHT (4u << 20)

struct uplink;

struct uplink_options {
    uv_loop_t *loop;         /**< borrowed */
    struct journal *journal; /**< borrowed */
    const char *endpoint;    /**< borrowed; checked by the caller; a list: the next one is dialled
                                when one is lost, see endpoint_of_list() */
    const char *key_dir;     /**< borrowed; NULL: no keys */
    const char *host;        /**< borrowed */
    const char *session;     /**< borrowed */

    /** The daemon has sent a welcome. @param fresh  it is another daemon than before, or the first
     */
    void (*welcome)(void *user, const struct wire_welcome *welcome, int fresh);
    /** A clock round trip (see daemon_clock_observe()).
     *  @return nonzero when another one should follow at once (see daemon_clock_slow()) */
    int (*clock)(void *user, const struct wire_clock_answer *answer, uint64_t t4_mono);
    /** The usual duration of a job's messages. */
    void (*criteria)(void *user, const struct wire_criteria *criteria);
    /** The daemon requests the newest records of ranks. */
    void (*capture)(void *user, const struct wire_capture_ask *ask);
    /** No daemon has accepted a connection with these keys. One is dialled again all the same. */
    void (*denied)(void *user, const char *why);
    /** The daemon refuses a message for good: it is to be dropped from the journal. */
    void (*refused)(void *user, uint64_t seq);
    void *user;
};

/** Connects. @return 0, -ENOMEM, or an error of curve_load() or zmq */
int uplink_create(struct uplink **out, const struct uplink_options *options);

/** Send what the journal has, up to UPLINK_FLIGHT bytes without acknowledgement. Call after each
 * commit. */
void uplink_send_pending(struct uplink *uplink);

/** Whether the daemon has sent a welcome on the present connection. */
int uplink_connected(const struct uplink *uplink);

/** Bytes handed to the transport since the start. */
uint64_t uplink_bytes(const struct uplink *uplink);

/** Sends a bye of a job: a daemon that the agent has come to just now does not know its jobs.
 *  @param job  NULL: all that the daemon knows
 *  @param seq  number of the last message of the job */
void uplink_send_bye(struct uplink *uplink, const char *job, uint64_t seq);

/** Sends a bye and closes; messages on their way have half a second. NULL is fine.
 *  @param closed  called when no handle of it is left in the loop */
void uplink_close(struct uplink *uplink, void (*closed)(void *user));

#endif
