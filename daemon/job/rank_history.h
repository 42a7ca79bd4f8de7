/* The activity of each rank of a job, and how late it was, since the start, by stretches of time,
 * in bounded memory: for late subscribers. Stretches get longer with age, as the slots of a history
 * do (daemon/analysis/sums/history.h). */
#ifndef HOLTER_DAEMON_JOB_RANK_HISTORY_H
#define HOLTER_DAEMON_JOB_RANK_HISTORY_H

#include "daemon/analysis/sums/history.h"
#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/analysis/waits/waits.h"
#include "daemon/job/job_stream.h"
#include "daemon/job/rows/closed_window.h"
#include "holter/wire.h"

#define RANK_HISTORY_BYTES (8u << 20) /**< of all stretches together */

struct rank_history {
    struct history stretches;
    uint32_t *ranks;   /**< owned: of the window that is entered */
    uint64_t *figures; /**< owned: likewise, RANK_HISTORY_COLUMNS a rank */
    size_t rank_capacity, figure_capacity;
    struct wire_rank_row *rows; /**< owned: of the newest message */
    size_t row_capacity;
    int too_many; /**< there are more than WIRE_PART_ROWS ranks: nothing is kept */
};

void rank_history_init(struct rank_history *history);
void rank_history_finish(struct rank_history *history);

/** Enter a window, or add to it what came late. Without memory, and from more than WIRE_PART_ROWS
 * ranks on, nothing is kept.
 *  @param rows  ascending by rank */
void rank_history_put(struct rank_history *history, uint64_t window,
                      const struct wire_rank_row *rows, size_t count);

/** Stretch number i, the oldest is 0, as a message; job and length of a window are the caller's to
 * set.
 *  @param out  borrowed until the next call @return whether there is one */
int rank_history_message(struct rank_history *history, size_t i, struct wire_history *out);

#define JOB_LATENESS_BYTES (4u << 20) /**< of all stretches together */
#define JOB_LATENESS_LEAST 1024u      /**< part of a window: less is not listed */

/** Which ranks were late in each window, and which caused it: topic "lateness", kept likewise. */
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

/** See state_bytes.h. */
void rank_history_copy_state(struct state_bytes *b, struct rank_history *history);
void job_lateness_copy_state(struct state_bytes *b, struct job_lateness *lateness);

#endif
