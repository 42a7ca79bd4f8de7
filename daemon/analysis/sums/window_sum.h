/* Sums of what agents report: one window of a whole job, and the run so far.
 *
 * A window_sum adds up the rows of all nodes for one window; a run_sum adds up windows. Adding is
 * associative and commutative and an empty sum changes nothing, so neither the order in which nodes
 * report nor the way in which reports were cut into messages shows in any result. Results are in
 * canonical order: communicators by id, regions by name, rows by their keys.
 *
 * Keys (ranks, pairs, calls) are kept once, by the run; a window holds figures only, indexed by the
 * key's number. Memory is linear in the pairs that ever communicated.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_SUMS_WINDOW_SUM_H
#define HOLTER_DAEMON_ANALYSIS_SUMS_WINDOW_SUM_H

#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

/** The sums of a rank. Counts, bytes, and times in nanoseconds; meaning as in the columns of
 *  WIRE_RANK_ROW. Those of RANK_TOTALS are published for the whole job, too. */
#define RANK_TOTALS(X)                                                                             \
    X(events)                                                                                      \
    X(calls)                                                                                       \
    X(sent)                                                                                        \
    X(sent_bytes)                                                                                  \
    X(received)                                                                                    \
    X(received_bytes)                                                                              \
    X(send_ns)                                                                                     \
    X(recv_ns)                                                                                     \
    X(wait_ns)                                                                                     \
    X(collective_ns)                                                                               \
    X(lost)                                                                                        \
    X(polls)                                                                                       \
    X(poll_ns)                                                                                     \
    X(one_sided_ns)                                                                                \
    X(io_ns)                                                                                       \
    X(other_ns)                                                                                    \
    X(send_wait_ns)                                                                                \
    X(absent_ns)
#define RANK_SUMS(X)                                                                               \
    RANK_TOTALS(X) X(untracked) X(tallied) X(crossing) X(crossing_bytes) X(service_ns)

/** The ranks of a node together. */
struct node_row {
    struct wire_rank_row sum; /**< under the number of the node */
    uint64_t longest_mpi_ns;  /**< time in MPI of the rank that is in it for longest */
};

/** What one node reports. Of several reports about a rank the larger number of threads wins, the
 *  longest call in progress of the newest window, and of a window the longest wait for another
 *  rank; of several windows that rank is chosen by a majority vote of their times.
 *  Rows are borrowed for the call. Those of pairs and calls name communicators and regions by the
 *  numbers that run_sum_comm() and run_sum_region() give. */
struct sum_rows {
    const struct wire_rank_row *ranks;
    size_t rank_count;
    const struct wire_pair_row *pairs;
    size_t pair_count;
    const struct wire_call_row *calls;
    size_t call_count;
};

/** Bounds, so that no peer can make the daemon use unlimited memory. Rows beyond them are added to
 *  rows that stand for the rest: pairs to destination -1, communicators to id 0, regions
 *  to "outside". */
struct run_sum_limits {
    uint32_t ranks; /**< distinct ranks; further ones are rejected (-ERANGE) */
    uint32_t pairs; /**< distinct (source, destination, communicator, region, size class) */
    uint32_t calls; /**< distinct (rank, call, communicator, region) */
    uint32_t comms; /**< communicators */
    uint32_t regions;
};

struct run_sum;
struct window_sum;

/** @return 0 or -ENOMEM */
int run_sum_create(struct run_sum **out, const struct run_sum_limits *limits);

/** Its windows must have been destroyed. NULL is fine. */
void run_sum_destroy(struct run_sum *run);

/** Is a name of a communicator to be shown in place of another one? Names that the program gave
 * come before those of MPI and of the probe; of several the last in byte order is shown. */
int run_sum_is_better_name(const char *name, const char *known);

/** Number of a communicator, for rows. Of several reports under one id the largest sizes and parent
 *  win, and of the names the better one. @param comm  copied
 *  @return the number (0: none or unknown, also when the limit is reached), or -ENOMEM */
int64_t run_sum_comm(struct run_sum *run, const struct wire_comm_row *comm);

/** Number of a region, for rows; 0 is outside all regions, "". Longer names are cut at 64 bytes.
 *  @return the number, or -ENOMEM */
int64_t run_sum_region(struct run_sum *run, const char *name);

/** An empty window. @param run  borrowed; outlives the window @return 0 or -ENOMEM */
int window_sum_create(struct window_sum **out, struct run_sum *run);
void window_sum_destroy(struct window_sum *window);

/** Add the rows of one node. comm and region must be numbers of the run.
 *  @return 0, -ENOMEM or -ERANGE; then nothing was added */
int window_sum_update(struct window_sum *window, const struct sum_rows *rows);

/** Add a window to the run.
 *  @param number  of the window: the newest one's call in progress is kept
 *  @return 0 or -ENOMEM; then nothing was added */
int run_sum_update(struct run_sum *run, const struct window_sum *window, uint64_t number);

/** Sums over all ranks. */
struct sum_totals {
    uint64_t ranks; /**< that reported */
#define X(name) uint64_t name;
    RANK_SUMS(X)
#undef X
};

/** Borrowed: of all rows so far. */
const struct sum_totals *window_sum_totals(const struct window_sum *window);

/** Rows in canonical order. Zero-initialised is empty; reused from result to result. Names are the
 *  run's: they are valid until it gets further communicators or regions. */
struct sum_result {
    struct wire_rank_row *ranks; /**< owned, all arrays */
    size_t rank_count;
    struct wire_pair_row *pairs;
    size_t pair_count;
    uint64_t folded; /**< pairs that are together in rows of destination -1 */
    struct wire_call_row *calls;
    size_t call_count;
    uint64_t left_out;           /**< rows of SUM_CALLERS that are not among calls */
    uint64_t left_out_ns;        /**< time of the calls in them */
    struct wire_comm_row *comms; /**< those that pairs or calls name, and of SUM_CALLS those of the
                                      calls in progress; position 0 is id 0 */
    size_t comm_count;
    struct wire_region_row *regions; /**< likewise; position 0 is "outside" */
    size_t region_count;
};

void sum_result_finish(struct sum_result *result);

/** SUM_CALLS: calls of all ranks together; SUM_CALLERS: of each rank. */
enum sum_part { SUM_RANKS, SUM_PAIRS, SUM_CALLS, SUM_CALLERS };

/** Rows of one part, in place of what the result held.
 *  @param maximum_pairs  SUM_PAIRS: of more rows the largest by bytes are kept (ties: the first in
 *                     order) and the rest is added up, one row of destination -1 for each source;
 *                     SUM_CALLERS: as many rows as fit are kept, of whole kinds of calls, those
 *                     with the most time first, and the rest is counted
 *  @return 0 or -ENOMEM */
int window_sum_result(const struct window_sum *window, enum sum_part part, size_t maximum_pairs,
                      struct sum_result *out);

int run_sum_result(struct run_sum *run, enum sum_part part, size_t maximum_pairs,
                   struct sum_result *out);

/** Add the windows that a rank did not report to the time in which it was absent: agents report
 *  ranks from their first window to that of their end.
 *  @param ranks  result of SUM_RANKS @param windows  of the run, each window_ns long */
void run_sum_add_absence(const struct run_sum *run, uint64_t windows, uint64_t window_ns,
                         struct sum_result *ranks);

/** Distinct pairs so far. */
size_t run_sum_pair_count(const struct run_sum *run);

/** See state_bytes.h. */
void run_sum_copy_state(struct state_bytes *b, struct run_sum **run);
/** @param run  of the window */
void window_sum_copy_state(struct state_bytes *b, struct window_sum **window, struct run_sum *run);

#endif
