/* What the matched messages of a window come to at each rank, summed up once for all who want it:
 * latency_add() goes through the messages, latency and attribution take their figures from here.
 *
 * 64 bytes a rank, as long as its sums have no more than 31 bits. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_MESSAGE_RANKS_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_MESSAGE_RANKS_H

#include "daemon/analysis/tables/narrow_table.h"

/** Of a rank: times in nanoseconds, and counts. What one message adds to lies together: see
 * add_narrow() in latency.c. */
enum message_figure {
    /* Of messages it received from ranks of its node that have a reference criterion. */
    MESSAGES_NEAR,          /**< how many */
    MESSAGES_NEAR_EXPECTED, /**< what they take by it */
    MESSAGES_NEAR_NETWORK,  /**< network time */
    MESSAGES_NEAR_JOINT,    /**< joint time */
    /* The same from other nodes. */
    MESSAGES_FAR,
    MESSAGES_FAR_EXPECTED,
    MESSAGES_FAR_NETWORK,
    MESSAGES_FAR_JOINT,
    /* Of all messages it received. */
    MESSAGES_WAITED,    /**< late-sender time */
    MESSAGES_CAME_LATE, /**< late-receiver time */
    /* For latency_rank_of() alone: latencies of messages at both ends, and their logarithms. */
    MESSAGES_REFERENCE,
    MESSAGES_LOG2,
    /* Of messages it sent. */
    MESSAGES_AWAITED,      /**< late-sender time of all */
    MESSAGES_NETWORK_OUT,  /**< network time of those to other nodes that have a reference criterion
                            */
    MESSAGES_EXPECTED_OUT, /**< what they take by it */
    MESSAGES_SENT,         /**< how many: for latency_rank_of() alone */
    MESSAGE_FIGURES
};

/** Zero-initialised is empty. */
struct message_ranks {
    struct narrow_table table; /**< columns MESSAGE_FIGURES */
    uint32_t count;            /**< ranks; messages that others sent or received are in no sum */
};

/** Begin a window: all sums are 0. @return 0, or -ENOMEM: it has no ranks */
int message_ranks_begin(struct message_ranks *ranks, uint32_t count);
void message_ranks_finish(struct message_ranks *ranks);

static inline void message_ranks_add(struct message_ranks *ranks, uint32_t rank,
                                     enum message_figure figure, uint64_t value)
{
    narrow_table_add(&ranks->table, MESSAGE_FIGURES, (size_t)rank * MESSAGE_FIGURES + figure,
                     value);
}

/** Of a rank below ranks->count. */
static inline uint64_t message_ranks_at(const struct message_ranks *ranks, uint32_t rank,
                                        enum message_figure figure)
{
    return narrow_table_at(&ranks->table, MESSAGE_FIGURES, rank, figure);
}

#endif
