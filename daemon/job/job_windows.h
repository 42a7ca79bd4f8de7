/* The open windows of a job: who has reported, when they are to be closed. */
#ifndef HOLTER_DAEMON_JOB_JOB_WINDOWS_H
#define HOLTER_DAEMON_JOB_JOB_WINDOWS_H

#include "daemon/analysis/groups/rank_groups.h"
#include "daemon/analysis/hang/hang.h"
#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/job_nodes.h"
#include "daemon/job/job_places.h"
#include "daemon/job/network/job_network.h"
#include "daemon/job/rows/closed_window.h"

/** Open at one time; when there are more, the oldest is closed. */
#define JOB_OPEN_WINDOWS 64u

struct open_window {
    uint64_t number;
    uint64_t due_ns; /**< closed at the latest when all messages up to then have been read */
    int late;        /**< a correction of a window that was published */
    uint64_t flags;  /**< WINDOW_*, or-ed */
    struct node_set reported;
    uint64_t nodes; /**< in `reported` */
    struct window_sum *sum;
    struct latency_rows latency;
    struct burst_rows bursts;
    struct counter_rows counters;
    struct hang_calls *calls; /**< owned: those that hang_counts() */
    size_t call_count, call_capacity;
    struct wire_pending_row *pending; /**< owned */
    size_t pending_count, pending_capacity;
    struct wire_process_row *processes; /**< owned */
    size_t process_count, process_capacity;
    struct unplaced *unplaced; /**< owned */
    size_t unplaced_count, unplaced_capacity;
    struct wire_pair_row *node_pairs; /**< owned; see open_window_list_node_pairs() */
    size_t node_pair_count, node_pair_capacity;
    struct node_row *node_rows; /**< owned; see open_window_add_node_row() */
    size_t node_row_count, node_row_capacity;
};

struct job_windows {
    uint64_t length_ns, grace_ns;
    struct open_window open[JOB_OPEN_WINDOWS]; /**< sorted by number */
    uint32_t count;
    uint64_t next; /**< windows below it have been published */
    /** Newest window in the tables of the recording that is being read again; UINT64_MAX: all. */
    uint64_t recorded;
    uint64_t held_ns; /**< none is overdue before, daemon time */
    uint64_t closed;  /**< windows published, corrections included */
    uint64_t late;    /**< messages that came after their window was published */
};

void job_windows_init(struct job_windows *windows, uint64_t length_ns, uint64_t grace_ns);
void job_windows_finish(struct job_windows *windows);

/** Number of the window of the job that a message belongs to. Agents keep windows through a restart
 * of the daemon, which may have another window length since. */
uint64_t job_windows_number(const struct job_windows *windows, const struct wire_window *window);

/** The open window that a report belongs to. @return NULL: it is not open */
struct open_window *job_windows_find(struct job_windows *windows, uint64_t number, uint64_t now_ns);

/** Open the window that job_windows_find() did not find; there must be space.
 *  @param run  of the job @return NULL without memory */
struct open_window *job_windows_open(struct job_windows *windows, struct run_sum *run,
                                     uint64_t number, uint64_t now_ns);

/** Take a window out, to be closed. @param at  position in `open` */
struct open_window job_windows_remove(struct job_windows *windows, uint32_t at);

void open_window_finish(struct open_window *open);

/** Note that a node has reported it. @return 0 or -ENOMEM */
int open_window_add_node(struct open_window *open, uint32_t node);

/** Add what hangs are found from, and what is known of processes. @return 0 or -ENOMEM */
int open_window_add_calls(struct open_window *open, const struct wire_window *window);

/** Add the messages to ranks that have not reported yet. @return 0 or -ENOMEM */
int open_window_add_unplaced(struct open_window *open, const struct wire_window *window,
                             const struct job_places *places, uint64_t world);

/** List the pairs of a message of a job by groups of ranks, with job_network_node_rank() in place
 * of ranks, after the pairs of nodes that are there. @return the pairs, or NULL without memory */
struct wire_pair_row *open_window_list_node_pairs(struct open_window *open,
                                                  const struct wire_window *window,
                                                  const struct job_network *network);

/** Add the ranks of one message of such a job, by their groups.
 *  @param window  the message, with its ranks @param node  that has sent it @return 0 or -ENOMEM */
int open_window_add_node_row(struct open_window *open, const struct wire_window *window,
                             const struct sum_rows *rows, uint32_t node);

/** Have all nodes that are expected to report it done so? */
int open_window_is_complete(const struct open_window *open, const struct job_nodes *nodes);

/** Nodes that were to report it and have not. */
uint64_t open_window_count_missing(const struct open_window *open, const struct job_nodes *nodes);

/** See state_bytes.h. @param run  to which the sums of windows belong */
void job_windows_copy_state(struct state_bytes *b, struct job_windows *windows,
                            struct run_sum *run);

#endif
