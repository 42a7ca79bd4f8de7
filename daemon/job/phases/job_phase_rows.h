/* Phases as they are published: for each its communities and its point of the CommGram curve
 * (CommGram, sections III-G and III-H), computed from its graph, in rows that are kept for late
 * subscribers.
 *
 * Closed phases are added once, in order, and do not change, but for the sums of what comes late.
 * Open phases are listed again each time; their points are provisional, each as if it followed the
 * last closed phase.
 *
 * Bounds: JOB_PHASE_ROWS_RETAINED closed phases of 190 bytes, JOB_PHASE_ROWS_OPEN open ones, and
 * the memory of the communities of open phases (which do not disturb the warm starts of closed
 * ones) and of the curve. */
#ifndef HOLTER_DAEMON_JOB_PHASES_JOB_PHASE_ROWS_H
#define HOLTER_DAEMON_JOB_PHASES_JOB_PHASE_ROWS_H

#include "daemon/analysis/events/bursts.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/phases/phase_batch.h"
#include "holter/wire.h"

#define JOB_PHASE_ROWS_RETAINED 16384u
#define JOB_PHASE_ROWS_OPEN 32u

struct job_phase_rows;

/** @return 0 or -ENOMEM */
int job_phase_rows_create(struct job_phase_rows **out);

/** NULL is fine. */
void job_phase_rows_destroy(struct job_phase_rows *rows);

/** Add the next closed phase.
 *  @param item  with its results; borrowed
 *  @return 0, or -ENOMEM: its row lacks what there was no memory for */
int job_phase_rows_close(struct job_phase_rows *rows, const struct phase_batch_item *item);

/** Add the messages of a burst that came late to the row of a closed phase, which is listed again
 * as a change. Its communities and its point of the curve stay. */
void job_phase_rows_add_late(struct job_phase_rows *rows, uint64_t id,
                             const struct burst_sums *burst);

/** Is the pattern of the phase that was closed last one that the curve has not seen before?
 *  @param height  set if so: of the curve there */
int job_phase_rows_is_new(const struct job_phase_rows *rows, double *height);

/** Begin the list of open phases again. The communities of phases that have not changed since are
 * not computed again. */
void job_phase_rows_begin_open(struct job_phase_rows *rows);

/** Are the communities of this open phase known from the list before? */
int job_phase_rows_has_open(const struct job_phase_rows *rows, const struct phase *phase);

/** Add the next open phase, at most JOB_PHASE_ROWS_OPEN.
 *  @param id     that it would get
 *  @param ranks  of the job, at most PHASE_LABELS_RANKS
 *  @param graph  its messages; NULL: it is not analysed, so that its communities and curve are not
 * known. Not needed when the phase is known
 *  @return 0 or -ENOMEM */
int job_phase_rows_add_open(struct job_phase_rows *rows, uint64_t id, const struct phase *phase,
                            uint32_t ranks, const struct phase_graph *graph);

/** Rows to publish; borrowed until the next call. */
struct job_phase_list {
    const struct wire_phase_row *phases;
    const struct wire_curve_point_row *points;
    size_t phase_count, point_count;
};

/** Phases closed since this was last asked, then open ones. @return 0 or -ENOMEM */
int job_phase_rows_list_changes(struct job_phase_rows *rows, struct job_phase_list *out);

/** Rows after those that were published elsewhere count as changes. Where rows of the oldest phases
 * are missing, ids go on as there.
 *  @param published  highest id there; 0: none */
void job_phase_rows_mark_published(struct job_phase_rows *rows, uint64_t published);

/** All that are kept, then open ones. @return 0 or -ENOMEM */
int job_phase_rows_list_all(struct job_phase_rows *rows, struct job_phase_list *out);

/** See state_bytes.h. */
void job_phase_rows_copy_state(struct state_bytes *b, struct job_phase_rows **rows);

#endif
