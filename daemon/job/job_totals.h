/* Totals of the newest windows of a job, as they were published: for late subscribers, and for
 * corrections, which are published in full. And totals since the job's start. */
#ifndef HOLTER_DAEMON_JOB_JOB_TOTALS_H
#define HOLTER_DAEMON_JOB_JOB_TOTALS_H

#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/rows/closed_window.h"
#include "daemon/storage/recording.h"
#include "holter/wire.h"

#define JOB_RECENT_WINDOWS 1024u

/** Zero-initialised is empty. */
struct job_totals {
    struct wire_totals recent[JOB_RECENT_WINDOWS]; /**< by number modulo; texts are not set */
    struct node_set reported[JOB_RECENT_WINDOWS];  /**< likewise: nodes that are counted there */
    struct sum_totals sums;    /**< of all windows; ranks counts a rank once for each window */
    struct wire_totals newest; /**< of the window that was closed last */
    int has_newest;            /**< 0: the figures that it corrects are not known any more */
    struct recorded_matches recorded; /**< of a recording whose first parts were removed */
    struct recorded_matches removed;  /**< of those, what these parts had */
};

void job_totals_finish(struct job_totals *totals);

/** Messages of the job that ranks have received so far. */
struct totals_messages {
    uint64_t matched;
    uint64_t unwatched; /**< that came from ranks which are not watched */
};

/** Add a window that is closed to what was published of it before.
 *  @param next  number of the window after the newest that was published */
void job_totals_update(struct job_totals *totals, const struct closed_window *window,
                       const struct totals_messages *messages, uint64_t next);

/** @return NULL: nothing of this window is kept */
const struct wire_totals *job_totals_find(const struct job_totals *totals, uint64_t window);

/** See state_bytes.h. */
void job_totals_copy_state(struct state_bytes *b, struct job_totals *totals);

#endif
