/* Latency of one job, from the message times that its agents report: the two ends of messages are
 * joined, criteria kept, regions found, trends followed.
 *
 * A pure function of the job's messages. */
#ifndef HOLTER_DAEMON_JOB_LATENCY_JOB_LATENCY_H
#define HOLTER_DAEMON_JOB_LATENCY_JOB_LATENCY_H

#include "daemon/analysis/latency/latency_trend.h"
#include "daemon/analysis/matching/join.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/rows/closed_window.h"
#include "holter/wire.h"

struct job_latency;

/** Latency of one scope in the window that was closed last. */
struct latency_series {
    enum series_scope scope;
    uint32_t id; /**< region; 0 for other scopes */
    struct latency_sum sum;
    struct trend_result trend;
};

/** @param window_ns  length of windows @return 0 or -ENOMEM */
int job_latency_create(struct job_latency **out, uint64_t window_ns);

/** NULL is fine. */
void job_latency_destroy(struct job_latency *latency);

/** Add the rows of a message that was validated.
 *  @param rows    those of the window that the message belongs to
 *  @param node    number of the node that sent it
 *  @param number  of the window in which they count
 *  @return 0, -ENOMEM or -HOLTER_ERANGE; then nothing was added */
int job_latency_add(struct job_latency *latency, struct latency_rows *rows,
                    const struct wire_window *window, uint32_t node, uint64_t number);

/** Where a rank runs. @return 0 or -ENOMEM */
int job_latency_place(struct job_latency *latency, uint32_t rank, uint32_t node);

/** Groups of 2 to this ranks are published in place of ranks, and in the rows of messages the
 * number of a node stands for its ranks. Before any message. */
void job_latency_set_groups(struct job_latency *latency, unsigned shift);
unsigned job_latency_groups(const struct job_latency *latency);

/** Numbers of the groups of nodes, each that of the node's first rank; borrowed until a rank is
 * placed. @param nodes  set to how many; there are none unless groups were set */
const uint32_t *job_latency_group_of(const struct job_latency *latency, size_t *nodes);

/** Number that stands for a rank in the rows of messages: its own, or that of its node.
 *  @return UINT32_MAX: its place is not known */
uint32_t job_latency_number_of(const struct job_latency *latency, uint32_t rank);

/** Bring latency up to date with a window that is closed. Its rows of latency get the messages that
 * were joined from both ends; those of a correction count in the next window.
 *  @return 0 or -ENOMEM: it lacks messages */
int job_latency_update(struct job_latency *latency, const struct closed_window *window);

/** Sums of its messages at each rank. Without memory some messages are not in them. */
const struct message_ranks *job_latency_rank_messages(const struct job_latency *latency);

/** Criteria in force since that window. */
const struct latency_scale *job_latency_scale(const struct job_latency *latency);

/** Largest clock uncertainty of its messages between nodes, nanoseconds; 0: there were none. */
uint64_t job_latency_error(const struct job_latency *latency);

/** Region of a rank; 0: it is in none. */
uint32_t job_latency_region_of(const struct job_latency *latency, uint32_t rank);

/** Did regions change with the last closed window? */
int job_latency_regions_changed(const struct job_latency *latency);

/** The last closed window as messages. All memory belongs to the latency and holds until the next
 *  window is closed. @return 0 or -ENOMEM */
int job_latency_message(struct job_latency *latency, struct wire_latencies *out);
int job_latency_regions(struct job_latency *latency, struct wire_regions *out);

/** Criteria for the agents. @return 1: they have changed enough since this was last asked; 0: those
 *  that the agents have still hold; -ENOMEM: nothing was set */
int job_latency_criteria(struct job_latency *latency, struct wire_criteria *out);

/** The n-th oldest of the windows that are kept for late subscribers.
 *  @return 0, or nonzero beyond the newest */
int job_latency_window_message(struct job_latency *latency, size_t n, struct wire_latencies *out);

/** Messages of the closed windows, corrections included, that were matched, and whose times are
 * known. */
uint64_t job_latency_matched(const struct job_latency *latency);

/** Ends joined, dropped and rejected so far. */
void job_latency_counts(const struct job_latency *latency, struct join_counts *out);

/** See state_bytes.h. */
void job_latency_copy_state(struct state_bytes *b, struct job_latency **latency);

#endif
