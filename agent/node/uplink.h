/* The way to the daemon: a DEALER that says hello, measures the clock, sends what the journal
 * holds, and starts over when the daemon went away.
 *
 * Messages stay in the journal until they are acknowledged; after each welcome everything that the
 * daemon does not have is sent again (it drops what it has already, by instance and number). At
 * most UPLINK_FLIGHT bytes are under way without an acknowledgement, so that a backlog does not
 * pile up in sockets.
 */
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
    const char *endpoint;    /**< borrowed; checked by the caller */
    const char *key_dir;     /**< borrowed; NULL: no keys */
    const char *host;        /**< borrowed */
    const char *session;     /**< borrowed */

    /** The daemon has welcomed us. @param fresh  it is another daemon than the one before, or the
     * first */
    void (*welcome)(void *user, const struct wire_welcome *welcome, int fresh);
    /** A round trip of the clock (see daemon_clock_observe()).
     *  @return nonzero when another at once may be worth it (see daemon_clock_slow()) */
    int (*clock)(void *user, const struct wire_clock_answer *answer, uint64_t t4_mono);
    /** What messages of a job normally take. */
    void (*criteria)(void *user, const struct wire_criteria *criteria);
    /** The daemon asks for the newest records of ranks. */
    void (*capture)(void *user, const struct wire_capture_ask *ask);
    void *user;
};

/** Dial. @return 0, -ENOMEM, or an error of curve_load() or zmq */
int uplink_create(struct uplink **out, const struct uplink_options *options);

/** Send what the journal has, up to UPLINK_FLIGHT bytes without acknowledgement. Call after each
 * commit. */
void uplink_send_pending(struct uplink *uplink);

/** Has the daemon welcomed this agent on the present connection? */
int uplink_connected(const struct uplink *uplink);

/** Bytes handed to the transport since the start. */
uint64_t uplink_bytes(const struct uplink *uplink);

/** Say bye and close; what is on its way is given half a second. NULL is fine.
 *  @param closed  called when nothing of it is left in the loop */
void uplink_close(struct uplink *uplink, void (*closed)(void *user));

#endif
