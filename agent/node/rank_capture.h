/* The newest records of one rank, over all its threads: its rings are a flight recorder.
 * Reading consumes nothing and does not disturb the rank: records are copied, and those that its
 * threads overwrote meanwhile are left out and counted. */
#ifndef HOLTER_AGENT_NODE_RANK_CAPTURE_H
#define HOLTER_AGENT_NODE_RANK_CAPTURE_H

#include "agent/node/rank.h"

#define RANK_CAPTURE_MAXIMUM 16384u /**< records of one rank: 1 MiB */

/** A record and where it comes from. */
struct captured_record {
    struct event event;
    uint32_t ring;
    int running; /**< the call is in progress: only the fields known at its entry are valid */
};

/** Memory for captures, reused from rank to rank. Zero-initialised is empty. */
struct rank_capture {
    struct captured_record *list; /**< owned: ring by ring, of each the oldest first */
    size_t count;
    struct event *batch; /**< owned, as all that follows */
    struct captured_record *merged;
    uint64_t *lapped; /**< by ring: records overwritten while they were read */
    size_t capacity;
    uint32_t ring_capacity;
};

void rank_capture_finish(struct rank_capture *capture);

/** Copies the newest records of a rank, at most `maximum` of all its threads together; the former
 * list is replaced. A message whose call is older than all of them is left out.
 *  @param maximum  1 to RANK_CAPTURE_MAXIMUM
 *  @param clock     of the rank's ticks; may be NULL where all are read
 *  @param until_ns  only calls that ended by then, CLOCK_MONOTONIC; UINT64_MAX: all, also those in
 *                   progress
 *  @return 0 or -ENOMEM */
int rank_capture_read(struct rank_capture *capture, const struct rank *rank, size_t maximum,
                      const struct tick_clock *clock, uint64_t until_ns);

#endif
