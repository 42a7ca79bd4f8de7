/* Closed phases whose communities are computed together: at once, or by a thread.
 *
 * Communities take about a microsecond an edge, so that one phase of a large job would hold the
 * loop for as long as hundreds of messages need. A large batch is worked on by a thread of its own,
 * of lower priority, that shares nothing with the loop; its results are asked for at a point that
 * the job's messages decide, and waited for if they are not there. So neither the results nor when
 * they are published depend on speed.
 *
 * Bounds: the graphs that are put in, for each phase its labels (4 bytes a rank), and one thread.
 * Not thread-safe itself: all calls come from one thread. */
#ifndef HOLTER_DAEMON_JOB_PHASES_PHASE_BATCH_H
#define HOLTER_DAEMON_JOB_PHASES_PHASE_BATCH_H

#include "daemon/analysis/phases/phase_graphs.h"
#include "daemon/analysis/phases/phases.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/phases/phase_labels.h"

struct phase_batch;

struct phase_batch_item {
    struct phase phase;
    uint32_t ranks;               /**< of the job; labels are theirs, at most PHASE_LABELS_RANKS */
    int analysed;                 /**< a graph was given, so that it is analysed */
    struct phase_graph graph;     /**< owned */
    int code;                     /**< of phase_labels_find(); where there was no graph, -EINVAL */
    struct phase_figures figures; /**< sums also without labels, but for -ENOMEM */
    uint32_t *labels;             /**< owned; as of phase_labels_find(), when code is 0 */
};

/** @return 0 or -ENOMEM */
int phase_batch_create(struct phase_batch **out);

/** NULL is fine. Waits for the thread. */
void phase_batch_destroy(struct phase_batch *batch);

/** Add a phase; not between start and finish.
 *  @param graph  its messages, which are taken over: it is empty then; NULL: it is not analysed
 *  @return 0 or -ENOMEM */
int phase_batch_add(struct phase_batch *batch, const struct phase *phase, uint32_t ranks,
                    struct phase_graph *graph);

/** Edges of the graphs that were added. */
size_t phase_batch_edges(const struct phase_batch *batch);

/** Begin to compute communities, in the order of adding. Each phase may start from the result of
 * the one before it, also of earlier batches. @param beside  by a thread, if one can be created */
void phase_batch_start(struct phase_batch *batch, int beside);

/** Was it started and not yet cleared? */
int phase_batch_is_started(const struct phase_batch *batch);

/** Would phase_batch_finish() return at once? */
int phase_batch_is_done(struct phase_batch *batch);

/** Wait for the results. @return the items, which belong to the batch; their
 *  graphs may be taken out */
struct phase_batch_item *phase_batch_finish(struct phase_batch *batch, size_t *count);

/** Drop all items. */
void phase_batch_clear(struct phase_batch *batch);

/** See state_bytes.h. Not while a thread works. */
void phase_batch_copy_state(struct state_bytes *b, struct phase_batch **batch);

#endif
