/* Which ranks were late in each window, and which caused it: topic "lateness". Windows since the
 * start are kept in stretches that get longer with age, for late subscribers
 * (daemon/analysis/sums/history.h). */
#ifndef HOLTER_DAEMON_JOB_JOB_LATENESS_H
#define HOLTER_DAEMON_JOB_JOB_LATENESS_H

#include "daemon/analysis/sums/history.h"
#include "daemon/analysis/waits/waits.h"
#include "daemon/job/job_stream.h"
#include "daemon/job/rows/closed_window.h"

#define JOB_LATENESS_BYTES (4u << 20) /**< of all stretches together */
#define JOB_LATENESS_LEAST 1024u      /**< part of a window: less is not listed */

struct job_lateness {
    struct history stretches;
    uint32_t *ranks;                /**< owned: late ones of the newest window, ascending */
    uint64_t *figures;              /**< owned: likewise, two a rank */
    struct wire_lateness_row *rows; /**< owned: of the newest message */
    size_t count, rank_capacity, figure_capacity, row_capacity;
};

void job_lateness_init(struct job_lateness *lateness);
void job_lateness_finish(struct job_lateness *lateness);

/** Enter a window and publish it. Without memory it is left out.
 *  @param waits  of the window's ranks */
void job_lateness_update(struct job_lateness *lateness, const struct job_stream *stream,
                         const struct closed_window *window, const struct waits_row *waits);

/** Publish all stretches, the oldest first. */
void job_lateness_publish_all(struct job_lateness *lateness, const struct job_stream *stream,
                              uint64_t length_ns);

#endif
