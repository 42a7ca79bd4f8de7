/* A capture: the newest records of ranks on this node, as messages for the daemon.
 *
 * Bounded: of one rank as many records as were asked for, of the node CAPTURE_RECORDS, shared
 * evenly among its ranks that are wanted. */
#ifndef HOLTER_AGENT_NODE_NODE_CAPTURE_H
#define HOLTER_AGENT_NODE_NODE_CAPTURE_H

#include "agent/node/rank_capture.h"
#include "holter/wire.h"

/** Of a node, about 0.7 MB of messages: longer work would let rings fill, which the same thread
 * drains. */
#define CAPTURE_RECORDS 16384u
#define CAPTURE_MESSAGE_RECORDS 4096u /**< of a message */
#define CAPTURE_NAMES 256u            /**< communicators, and regions, of a message */

struct capture;

/** What one capture is made of. Borrowed for the time of it. */
struct capture_frame {
    const struct wire_capture_ask *ask;
    const char *host;
    uint64_t window; /**< number of the open one */
    const struct tick_clock *tsc, *plain;
    const struct daemon_clock *clock;
    uint64_t now_ns; /**< CLOCK_MONOTONIC */
    size_t ranks;    /**< how many will be given: they share CAPTURE_RECORDS */
    /** Number that the next message must carry. */
    uint64_t (*next_seq)(void *user);
    /** Take an encoded message. @return 0 or a negative error: nothing more is made then */
    int (*emit)(void *user, const void *bytes, size_t length);
    void *user;
};

/** @return 0 or -ENOMEM */
int capture_create(struct capture **out, const struct capture_frame *frame);
/** NULL is fine. */
void capture_destroy(struct capture *capture);

/** Read the rings of a rank. @return 0, or a negative error */
int capture_rank(struct capture *capture, const struct rank *rank);

/** Emit what is left, and say that it is all.
 *  @param fault  why something is missing, for people; NULL: nothing else than what was told
 *  @return 0 or a negative error */
int capture_end(struct capture *capture, const char *fault);

#endif
