/* The bursts that agents report in one window, merged over nodes until the window is closed.
 * Messages have been validated (daemon/job/job_validate.h).
 *
 * A window has two sets of bursts (daemon/analysis/events/bursts.h): messages between ranks, and
 * calls of collectives, whose pairs go from the calling rank to the number of a collective. Both
 * are made when the first burst of the window comes: agents that send none cost nothing. Sets are
 * used again for later windows.
 *
 * Bounds. A set keeps 32 bursts for each node, at most BURST_ROWS_MAXIMUM_BURSTS; where nodes could
 * exceed that, times are rounded to that part of a window, so that the order in which nodes
 * report still does not matter. A burst keeps 64 rows of pairs for each rank, at most
 * BURST_ROWS_PAIRS; and a window takes at most BURST_ROWS_WINDOW rows, which is 32 bytes each; what
 * is more counts among its burst's others. */
#ifndef HOLTER_DAEMON_JOB_PHASES_BURST_ROWS_H
#define HOLTER_DAEMON_JOB_PHASES_BURST_ROWS_H

#include "daemon/analysis/events/bursts.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

#define BURST_ROWS_MAXIMUM_BURSTS 8192u
#define BURST_ROWS_PAIRS (1u << 18)
#define BURST_ROWS_WINDOW (1u << 22)

struct burst_set {
    struct bursts *bursts; /**< owned; NULL: there is none */
    struct bursts_params params;
};

/** Of one window. Zero-initialised is empty. */
struct burst_rows {
    struct burst_set messages;
    struct burst_set calls; /**< of collectives */
    uint64_t rows;          /**< of pairs, taken so far */

    /** Messages that stand for the calls of collectives, for the analysis of the network: set by
     * that of phases. Pairs may repeat. */
    struct burst_pair *modelled; /**< owned */
    size_t modelled_count, modelled_capacity;
    uint64_t modelled_others; /**< bytes of those whose pairs are not known */
};

void burst_rows_finish(struct burst_rows *rows);

/** What sets are made for. */
struct burst_rows_size {
    uint64_t nodes;     /**< of the job, as far as known */
    uint64_t world;     /**< its ranks; 0: not known */
    uint64_t window_ns; /**< length of windows */
};

/** Sets that are reused. Zero-initialised is empty. */
struct burst_pool {
    struct burst_set sets[4];
};

void burst_pool_finish(struct burst_pool *pool);

/** Create the sets, and reserve the space that the rows of a message need. @return 0 or -ENOMEM */
int burst_rows_reserve(struct burst_rows *rows, struct burst_pool *pool,
                       const struct burst_rows_size *size, const struct wire_window *window);

/** Make the set of messages, if there is none yet. @return 0 or -ENOMEM */
int burst_rows_reserve_messages(struct burst_rows *rows, struct burst_pool *pool,
                                const struct burst_rows_size *size);

/** Empty the rows, and return the sets to the pool for later windows. */
void burst_rows_release(struct burst_rows *rows, struct burst_pool *pool);

/** Would the sums of the window stay below 2^64 with this message? @return 0 or -EOVERFLOW */
int burst_rows_check_overflow(const struct burst_rows *rows, const struct wire_window *window);

/** Add the bursts of a message; burst_rows_reserve() comes before.
 *  @param collectives  for each collective of the message the number that stands for it */
void burst_rows_add(struct burst_rows *rows, const struct wire_window *window,
                    const uint32_t *collectives);

/** See state_bytes.h. */
void burst_rows_copy_state(struct state_bytes *b, struct burst_rows *rows);
void burst_pool_copy_state(struct state_bytes *b, struct burst_pool *pool);

#endif
