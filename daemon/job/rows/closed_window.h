/* A window of a job that is closed, as all analyses get it: what all nodes have reported of it, and
 * what the analyses before in the list of job_close.c have found. Everything is borrowed and holds
 * while the window is being closed. */
#ifndef HOLTER_DAEMON_JOB_ROWS_CLOSED_WINDOW_H
#define HOLTER_DAEMON_JOB_ROWS_CLOSED_WINDOW_H

#include "daemon/analysis/hang/hang.h"
#include "daemon/analysis/latency/latency.h"
#include "daemon/analysis/sums/window_sum.h"
#include "daemon/job/rows/burst_rows.h"
#include "daemon/job/rows/counter_rows.h"
#include "daemon/job/rows/latency_rows.h"
#include "daemon/job/rows/node_set.h"

/** Messages to a rank that had not reported when they were sent. */
struct unplaced {
    uint64_t destination, messages;
};

struct closed_window {
    uint64_t number;
    uint64_t length_ns;
    uint64_t world; /**< ranks of the job; 0: not known yet */
    uint64_t group; /**< ranks of a row, under the first of them; 0 and 1: rows are of ranks */
    /** A correction: the window was published before, and these are the rows of late nodes only.
     * Pairs are not listed then. */
    int late;
    uint64_t flags;        /**< WINDOW_*, or-ed */
    uint64_t published_ns; /**< daemon time */

    const struct node_set *reported;   /**< nodes that have reported it */
    uint64_t missing_nodes;            /**< that were to report it and have not */
    struct window_sum *sum;            /**< of all rows of ranks, pairs and calls */
    const struct sum_totals *totals;   /**< of all ranks, of the sum */
    const struct wire_rank_row *ranks; /**< ascending, each rank once */
    size_t rank_count;
    const struct wire_pair_row *pairs; /**< in canonical order */
    size_t pair_count;
    const struct wire_comm_row *comms; /**< that calls were made on */
    size_t comm_count;
    const struct hang_calls *calls; /**< those that hang_counts(), of all ranks */
    size_t call_count;
    const struct wire_pending_row *pending; /**< receives for which ranks wait */
    size_t pending_count;
    /** Of ranks, in any order; of jobs by groups of ranks one of each node, by its number. */
    const struct wire_process_row *processes;
    size_t process_count;
    const struct unplaced *unplaced; /**< in any order */
    size_t unplaced_count;
    /** Of jobs by groups of ranks: messages between nodes, each under its lowest rank, in order. */
    const struct wire_pair_row *node_pairs;
    size_t node_pair_count;
    const struct node_row *node_rows; /**< likewise, in any order; several of a node add up */
    size_t node_row_count;
    const uint32_t *dead_ranks; /**< that have died since the job began */
    size_t dead_count;

    /** Messages whose times are known. The latency analysis adds those whose two ends came from
     * different nodes, and those of corrections. */
    struct latency_rows *latency;
    struct burst_rows *bursts;     /**< the analysis of phases empties them */
    struct counter_rows *counters; /**< the analysis of the network takes them over */

    /** Results of the latency analysis; NULL: there is none. */
    const struct latency_scale *scale;
    const struct message_ranks *rank_messages;
};

/** One above the highest rank that has reported. */
static inline uint32_t closed_window_rank_end(const struct closed_window *window)
{
    return window->rank_count == 0 ? 0 : (uint32_t)window->ranks[window->rank_count - 1].rank + 1;
}

#endif
