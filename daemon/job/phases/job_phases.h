/* Phases of one job (CommGram, sections III-D to III-H): the bursts that its agents report become
 * phases, phases graphs, graphs communities and points of the CommGram curve. The graph of senders
 * and receivers is kept as well, for pictures of any span of time.
 *
 * Of each window the bursts of all nodes are merged: those nearer than a part of the window
 * (JOB_PHASES_RESOLUTION), which are one step of the job on several nodes; then the nearest, to
 * JOB_PHASES_BURSTS. Messages that stand for collectives are added to them, unless that is switched
 * off. Bursts go into the temporal
 * clustering (phases.h) and their pairs into the sums over time (phase_graphs.h). A phase is closed
 * when no burst before its end is expected any more: when it is older than the window before the
 * one that was closed. Corrections add to the sums.
 *
 * Effort is bounded. A window analyses at most JOB_PHASES_A_WINDOW closed phases of
 * JOB_PHASES_EDGES edges together; the last of them may have more, which later windows make up for.
 * The rest waits, in order. When JOB_PHASES_WAITING wait, the oldest are published without
 * communities and curve. Phases of more than JOB_PHASES_AT_ONCE edges together are analysed by a
 * thread, and published when the next window closes. With what is left of the effort the newest
 * open phase is analysed whenever it has changed, others once; those of more than
 * JOB_PHASES_AT_ONCE rows of segments not before they are closed, unless the job has fewer edges.
 *
 * Bounds: at most 393 MiB for the sums of pairs of 4,320 ranks with 30,000 edges and 160 MiB for
 * the clustering, however long the job; the first phases of patterns, of at most 2^20 rows together
 * (32 MiB); what job_phase_rows.h, collective_table.h and burst_rows.h say.
 * tests/bench/commgram_day_bench.c measures a day. A job without messages costs nothing.
 *
 * A pure function of the job's messages. */
#ifndef HOLTER_DAEMON_JOB_PHASES_JOB_PHASES_H
#define HOLTER_DAEMON_JOB_PHASES_JOB_PHASES_H

#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/phases/job_phase_rows.h"
#include "daemon/job/rows/closed_window.h"

#define JOB_PHASES_BURSTS 32u
#define JOB_PHASES_RESOLUTION 4096u /**< parts of a window; bursts that are nearer are one */
#define JOB_PHASES_A_WINDOW 8u
#define JOB_PHASES_EDGES (1u << 18)   /**< analysed in a window, in the mean */
#define JOB_PHASES_AT_ONCE (1u << 14) /**< analysed while the loop waits: some 10 ms */
#define JOB_PHASES_WAITING 1024u
#define JOB_PHASES_PATTERNS 16u /**< whose first phases are kept */

struct job_phases;

/** @param window_ns  length of windows
 *  @param modelled   whether collectives take part, by their algorithms
 *  @param beside     whether a thread may analyse large phases; results are the same
 *  @return 0 or -ENOMEM */
int job_phases_create(struct job_phases **out, uint64_t window_ns, int modelled, int beside);

/** NULL is fine. */
void job_phases_destroy(struct job_phases *phases);

/** Reserve the space that job_phases_add() needs for a validated message.
 *  @param rows   those of the window that the message belongs to
 *  @param nodes  of the job, as far as known @param world  its ranks; 0: not known
 *  @return 0, -ENOMEM, or -EOVERFLOW: sums of the window would pass 2^64; then nothing was added */
int job_phases_prepare(struct job_phases *phases, struct burst_rows *rows,
                       const struct wire_window *window, uint64_t nodes, uint64_t world);

/** Add the bursts of the message that job_phases_prepare() was called for last. */
void job_phases_add(struct job_phases *phases, struct burst_rows *rows,
                    const struct wire_window *window);

/** Bring the phases up to date with a window that is closed. Its bursts are emptied.
 *  @return 0 or -ENOMEM: they lack messages */
int job_phases_update(struct job_phases *phases, const struct closed_window *window);

/** The job has ended: close all that is open.
 *  @param wait  for the thread
 *  @return 0; 1: that is not done yet, and this is to be called again; or -ENOMEM */
int job_phases_end(struct job_phases *phases, int wait);

/** Has anything changed since the last job_phases_list_changes()? */
int job_phases_changed(const struct job_phases *phases);

/** Newly closed phases and their points, then open ones; and all that are kept. What is common to
 * all rows is set too, but the job. Memory belongs to the phases and holds until the next call.
 *  @return 0 or -ENOMEM */
int job_phases_list_changes(struct job_phases *phases, struct wire_phases *out,
                            struct wire_curve *curve);
int job_phases_list_all(struct job_phases *phases, struct wire_phases *out,
                        struct wire_curve *curve);

/** Have what a daemon before this one has not published listed as changes the next time: nothing
 * was published while its recording was read.
 *  @param published  highest id of a phase that it had published; 0: none */
void job_phases_mark_published(struct job_phases *phases, uint64_t published);

/* ---- pictures ------------------------------------------------------------------------------- */

/** Whether there are any bursts, and their span.
 *  @return nonzero when there are */
int job_phases_span(const struct job_phases *phases, int64_t *from_ns, int64_t *to_ns);

/** A span that is cut into phases. */
struct job_phases_cut {
    struct phase *phases; /**< owned by the caller; has space for the maximum */
    size_t count;
    uint32_t resolved; /**< parts that the span is kept in */
};

/** Cut a span into so many phases, or as many as it is kept in, at clear pauses first.
 *  @param maximum  at least 1; at most 1,024 @return 0, -ENOMEM or -HOLTER_ERANGE */
int job_phases_cut(struct job_phases *phases, int64_t from_ns, int64_t to_ns, size_t maximum,
                   struct job_phases_cut *out);

/** Who sent to whom in a span, both ends included. @return 0 or -ENOMEM */
int job_phases_graph(struct job_phases *phases, int64_t from_ns, int64_t to_ns,
                     struct phase_graph *out);

/** Edges of the first phase of each pattern that the curve has found, as it was when it was closed,
 *  numbered from 0 in the order in which they appeared.
 *  @param height  set to where the curve has it
 *  @return borrowed until the phases are destroyed; NULL: there are fewer, or no more are kept */
const struct phase_edge *job_phases_pattern(const struct job_phases *phases, uint32_t number,
                                            size_t *count, double *height);

/** Begin of what may still change; INT64_MAX: nothing may. */
int64_t job_phases_open_ns(const struct job_phases *phases);

/** One more than the highest rank that has sent or received anything. */
uint32_t job_phases_ranks(const struct job_phases *phases);

int job_phases_modelled(const struct job_phases *phases);

/** Does no thread work on phases? Otherwise their state is not copied. */
int job_phases_are_settled(const struct job_phases *phases);
/** See state_bytes.h. @param beside  as for job_phases_create() */
void job_phases_copy_state(struct state_bytes *b, struct job_phases **phases, int beside);

#endif
