/* A capture: the newest records of ranks on this node, as messages for the daemon.
 * Bounded: of one rank as many records as were requested, of the node CAPTURE_RECORDS, shared
 * evenly among the ranks that are captured. */
#ifndef HOLTER_AGENT_NODE_NODE_CAPTURE_H
#define HOLTER_AGENT_NODE_NODE_CAPTURE_H

#include "agent/node/rank_capture.h"
#include "holter/wire.h"

/** Of a node, about 0.7 MB of messages: longer work would let rings fill, which the same thread
 * drains. */
#define CAPTURE_RECORDS 16384u
#define CAPTURE_MESSAGE_RECORDS 4096u /**< of a message */
#define CAPTURE_NAMES 256u            /**< communicators, and regions, of a message */
#define CAPTURE_SOURCES 8192u         /**< neighbours of ranks, of a message */

struct capture;

/** The parameters of a capture, borrowed until it ends. */
struct capture_frame {
    const struct wire_capture_ask *ask;
    const char *host;
    uint64_t window; /**< number of the open one */
    const struct tick_clock *tsc, *plain;
    const struct daemon_clock *clock;
    uint64_t now_ns; /**< CLOCK_MONOTONIC */
    size_t ranks;    /**< ranks that will be captured: they share CAPTURE_RECORDS */
    /** Number that the next message must carry. */
    uint64_t (*next_seq)(void *user);
    /** Receives an encoded message. @return 0 or a negative error: the capture ends then */
    int (*emit)(void *user, const void *bytes, size_t length);
    void *user;
};

/** @return 0 or -ENOMEM */
int capture_create(struct capture **out, const struct capture_frame *frame);
/** NULL is fine. */
void capture_destroy(struct capture *capture);

/** Read the rings of a rank. @return 0, or a negative error */
int capture_rank(struct capture *capture, const struct rank *rank);

/** Emits the rest, and marks the last message as the last.
 *  @param fault  why records are missing, for display; NULL: nothing is missing that was not
 * reported
 *  @return 0 or a negative error */
int capture_end(struct capture *capture, const char *fault);

#endif
