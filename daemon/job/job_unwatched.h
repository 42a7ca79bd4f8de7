/* Messages that come from ranks that are not watched, as those without room in /dev/shm: no agent
 * reports them, so that they can never be matched.
 * Which message comes from whom is not reported, so they are found as a difference: watched ranks
 * have received more than watched ranks have sent to them. This is exact when every message that
 * was sent has been received. Messages under way, lost records and messages to destinations that
 * an agent has put together make it too small, never too large. */
#ifndef HOLTER_DAEMON_JOB_JOB_UNWATCHED_H
#define HOLTER_DAEMON_JOB_JOB_UNWATCHED_H

#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/job_places.h"
#include "daemon/job/rows/closed_window.h"

/** Zero-initialised is empty. Counts are since the job's start. */
struct job_unwatched {
    uint64_t received, sent, lost;
    struct key_table destinations; /**< hi: rank that had not reported when messages were sent */
    uint64_t *sent_to;             /**< owned; by number of the key: messages */
    size_t capacity;
    uint64_t messages; /**< received from ranks that are not watched */
};

void job_unwatched_finish(struct job_unwatched *unwatched);

/** Add a window that is closed.
 *  @param complete  no window of an agent was dropped: else messages that were sent may not be
 * known, and no further messages count */
void job_unwatched_update(struct job_unwatched *unwatched, const struct closed_window *window,
                          const struct job_places *places, int complete);

/** See state_bytes.h. */
void job_unwatched_copy_state(struct state_bytes *b, struct job_unwatched *unwatched);

#endif
