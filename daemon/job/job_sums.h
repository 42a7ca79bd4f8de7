/* What is added up of a job: rows of ranks, pairs and calls, by window and since the start. */
#ifndef HOLTER_DAEMON_JOB_JOB_SUMS_H
#define HOLTER_DAEMON_JOB_JOB_SUMS_H

#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/analysis/waits/waits.h"
#include "daemon/job/job_places.h"
#include "daemon/job/rows/closed_window.h"
#include "holter/wire.h"

struct job_sums {
    struct run_sum *run;
    struct run_sum *nodes;            /**< messages between nodes, of a job by groups of ranks */
    struct window_sum *closing_nodes; /**< of the window that is being closed; NULL: none */
    struct sum_result node_pairs;     /**< that were asked for last */
    uint64_t windows;                 /**< that are added up in it, corrections not counted */
    struct sum_result result;         /**< of the part that was asked for last */
    struct sum_result ranks, pairs, calls; /**< of the window that is being closed */
    /** The rows of one message, with the run's numbers of communicators and regions; owned. */
    struct wire_rank_row *rank_rows;
    struct wire_pair_row *pair_rows;
    struct wire_call_row *call_rows;
    size_t rank_capacity, pair_capacity, call_capacity;
    uint32_t *numbers; /**< of the message's communicators, then of its regions; owned */
    size_t number_capacity;
};

/** @return 0 or -ENOMEM */
int job_sums_init(struct job_sums *sums);
void job_sums_finish(struct job_sums *sums);

/** Turn the rows of a message that was validated into rows of the sums.
 *  @param rows  borrowed until the next call @return 0 or -ENOMEM */
int job_sums_convert(struct job_sums *sums, const struct wire_window *window,
                     struct sum_rows *rows);

/** List the rows of a window that is closed: ranks, and unless it is a correction pairs and the
 * communicators that calls were made on. What there is no memory for is not listed. */
void job_sums_list(struct job_sums *sums, struct closed_window *window);

/** Add the waits of its ranks to a window that is closed, and to its listed rows.
 *  @param waits  of each listed rank */
void job_sums_add_waits(struct job_sums *sums, const struct closed_window *window,
                        const struct waits_row *waits);

/** Add which messages cross nodes to a window that is closed, and to its listed rows. */
void job_sums_add_crossing(struct job_sums *sums, const struct closed_window *window,
                           const struct job_places *places);

/** Add a window that is closed to the sums since the start. @return 0 or -ENOMEM */
int job_sums_update(struct job_sums *sums, const struct closed_window *window);

/** See state_bytes.h. */
void job_sums_copy_state(struct state_bytes *b, struct job_sums *sums);

#endif
