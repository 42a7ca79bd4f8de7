/* Joins the windows of a job whose iterations take several of them.
 *
 * A window shows growth by what is in it. Where ranks exchange messages only in each third window
 * or more rarely, most windows of a rank are empty, and no two of the job hold the same: such a job
 * is judged by windows joined to hold three iterations or more. How long these take is learned rank
 * by rank, since ranks without collectives drift apart: an iteration of a rank begins where it does
 * something in a window after it did nothing in the one before. Pure. */
#ifndef HOLTER_DAEMON_JOB_GROWTH_GROWTH_JOIN_H
#define HOLTER_DAEMON_JOB_GROWTH_GROWTH_JOIN_H

#include "daemon/analysis/latency/message_ranks.h"
#include "daemon/analysis/sums/window_sum.h"
#include "daemon/job/rows/closed_window.h"
#include "daemon/job/rows/latency_rows.h"

/** Zero-initialised joins no windows. */
struct growth_join {
    /* How long iterations take: sums over ranks, in which old windows fade. */
    double active;       /**< windows of ranks in which they did something */
    double begins;       /**< of them, those in which an iteration began */
    double lengths;      /**< windows from the begins of iterations to those of the next */
    double known;        /**< iterations that this is of */
    uint32_t windows;    /**< since the first in which any did */
    int is_known;        /**< it has been known whether to join windows */
    int is_short;        /**< iterations took several windows, but not as many as are joined */
    int is_too_large;    /**< there was no space for joined ones: none are from now on */
    uint64_t *active_at; /**< owned, by rank: newest window in which it did something; 0: none */
    uint64_t *began_at;  /**< owned, by rank: the one in which its newest iteration began */
    uint32_t active_at_capacity, began_at_capacity;

    uint32_t span; /**< windows that are joined, a power of 2; 0 and 1: none are */
    /* The joined window so far. */
    uint64_t number;    /**< of joined windows */
    uint64_t length_ns; /**< of the windows in it together */
    uint32_t count;     /**< windows in it */
    struct sum_totals totals;
    struct wire_rank_row *ranks; /**< owned, as all arrays; in any order, each rank once */
    struct node_row *nodes;      /**< likewise */
    uint32_t *rank_at, *node_at; /**< by number: 1 + position in the rows; 0: not there */
    struct wire_pair_row *pairs, *node_pairs;
    struct wire_process_row *processes;
    struct latency_rows latency; /**< its times are not used */
    struct message_ranks messages;
    size_t rank_count, node_count, pair_count, node_pair_count, process_count;
    size_t rank_capacity, node_capacity, pair_capacity, node_pair_capacity, process_capacity;
    uint32_t rank_at_capacity, node_at_capacity;
};

void growth_join_finish(struct growth_join *join);

/** Learn from a window. @return how many should be joined from now on */
uint32_t growth_join_follow(struct growth_join *join, const struct closed_window *window);

/** Windows that are joined, 1: none are. */
static inline uint32_t growth_join_span(const struct growth_join *join)
{
    return join->span > 1 ? join->span : 1;
}

/** Do iterations seem to take several windows, while it is not known how many? */
int growth_join_is_uncertain(const struct growth_join *join);

/** Join so many windows from now on. What was joined so far is dropped. */
void growth_join_set_span(struct growth_join *join, uint32_t span);

/** Does a window begin another joined window than those that were added? */
int growth_join_begins(const struct growth_join *join, const struct closed_window *window);

/** Add a window. @return 0, or -ENOMEM: it is left out. Call growth_join_give_up() then. */
int growth_join_add(struct growth_join *join, const struct closed_window *window);

/** Join no windows any more. */
void growth_join_give_up(struct growth_join *join);

/** Is a window the last one of its joined window? */
int growth_join_ends(const struct growth_join *join, const struct closed_window *window);

/** Take the joined window: the next window that is added begins another one.
 *  @param newest  window: the criteria in force
 *  @param out     what growth is judged by; its rows are borrowed from the join
 *  @return whether there is one */
int growth_join_take(struct growth_join *join, const struct closed_window *newest,
                     struct closed_window *out);

/** See state_bytes.h. */
void growth_join_copy_state(struct state_bytes *b, struct growth_join *join);

#endif
