/* What the matched messages of a window come to at each rank. latency_add() sums them up;
 * attribution reads them. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_MESSAGE_RANKS_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_MESSAGE_RANKS_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stdint.h>

/** Of a rank: times in nanoseconds, and counts. */
enum message_figure {
    /* Of messages it received from ranks of its node that have a reference criterion. */
    MESSAGES_NEAR,          /**< number of messages */
    MESSAGES_NEAR_EXPECTED, /**< time they take by the reference criterion */
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
    /* Of messages it sent. */
    MESSAGES_AWAITED,      /**< late-sender time of all */
    MESSAGES_NETWORK_OUT,  /**< network time of those to other nodes that have a reference criterion
                            */
    MESSAGES_EXPECTED_OUT, /**< time that these take by the reference criterion */
    MESSAGE_FIGURES
};

/** Zero-initialised is empty. */
struct message_ranks {
    uint64_t (*figures)[MESSAGE_FIGURES]; /**< owned; by rank */
    uint32_t count;    /**< ranks; messages that other ranks sent or received are in no sum */
    uint32_t capacity; /**< ranks */
};

/** Begin a window: all sums are 0. @return 0, or -ENOMEM: it has no ranks */
int message_ranks_begin(struct message_ranks *ranks, uint32_t count);

void message_ranks_finish(struct message_ranks *ranks);

/** See state_bytes.h. */
void message_ranks_copy_state(struct state_bytes *b, struct message_ranks *ranks);

#endif
