/* The state that window_sum.c, sum_figures.c and sum_result.c share: the keys of a run, and the
 * figures that are added up for them. */
#ifndef HOLTER_DAEMON_ANALYSIS_SUMS_SUMS_H
#define HOLTER_DAEMON_ANALYSIS_SUMS_SUMS_H

#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/name_table.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stdbool.h>

/** A communicator of the run. */
struct run_comm {
    uint64_t id, parent, size, remote_size;
    char name[65];
};

/** Sums for one rank. */
struct rank_figures {
    struct wire_rank_row row;
    uint64_t newest;  /**< of a run: the newest window that the rank reported */
    uint64_t windows; /**< of a run: that it reported; of a group those of each rank */
    bool present;     /**< it reported */
};

/** Sums for one pair of ranks. */
struct pair_figures {
    uint64_t messages, bytes;
};

/** Sums for one call, communicator and region, over all ranks. */
struct call_figures {
    uint64_t ranks, calls, bytes, bytes_in, time_ns, longest_ns, polls;
};

/** Sums for one rank that makes one call on a communicator in a region. */
struct caller_figures {
    uint64_t calls, bytes, bytes_in, time_ns, polls;
    bool present; /**< it made the call */
};

/** Figures for the keys of a run: those of one window, or the run's own. Arrays are owned and
 *  indexed by the number of the key; they may be shorter than the table, the rest being zero. */
struct figures {
    struct rank_figures *ranks;
    uint32_t rank_capacity;
    struct pair_figures *pairs;
    uint32_t pair_capacity;
    struct call_figures *calls;
    uint32_t call_capacity;
    struct caller_figures *callers;
    uint32_t caller_capacity;
};

/** Numbers of keys in canonical order, brought up to date when a result is asked for. */
struct sum_order {
    uint32_t *numbers; /**< owned */
    uint32_t count;
};

struct run_sum {
    struct run_sum_limits limits;
    struct key_table ranks;   /**< hi: rank */
    struct key_table pairs;   /**< hi: source, destination + 1; lo: comm, region, size class */
    struct key_table callers; /**< hi: rank; lo: comm, region, call */
    struct key_table calls;   /**< lo: comm, region, call */
    struct key_table comm_ids;
    struct name_table regions;
    uint32_t *call_of; /**< owned; by caller: number in calls */
    uint32_t call_of_capacity;
    struct run_comm *comms; /**< owned */
    size_t comm_capacity;
    struct figures total;
    uint64_t overflow_rows; /**< rows added to the rest of a source: the table of pairs was full */
    struct sum_order rank_order, pair_order, call_order, caller_order;
    uint32_t *comm_position; /**< owned; by number: position in the order of ids */
    uint32_t comm_positions; /**< communicators whose positions are up to date */
    uint32_t *region_position;
    uint32_t region_positions;
};

struct window_sum {
    struct run_sum *run; /**< borrowed */
    struct figures figures;
    struct sum_totals totals; /**< of its ranks */
};

/** Reserve space for as many keys as the run has. @return 0 or -ENOMEM */
int figures_reserve(struct figures *figures, const struct run_sum *run);
void figures_finish(struct figures *figures);

/** Add a report of a rank, present or not, to the figures of a window. */
void figures_add_rank(struct figures *figures, uint32_t number, const struct wire_rank_row *row);

/** Add the figures of a window to those of its run, which have space for them.
 *  @param window  the window's number */
void figures_add_window(struct run_sum *run, const struct figures *figures, uint64_t window);

/** See state_bytes.h. */
void figures_copy_state(struct state_bytes *b, struct figures *figures, const struct run_sum *run);

#endif
