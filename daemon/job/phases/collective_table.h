/* The collectives of a job: which call, of which communicator, with which root, and which position
 * each rank has in it, as its agents report; and from calls the messages that stand for them
 * (daemon/analysis/phases/collective_edges.h).
 *
 * Of MPI_COMM_WORLD (id 1) a rank's position is its number. Of other communicators agents report
 * the positions of their own ranks, so that all are known when all nodes have reported once.
 *
 * Bounds: 65,536 collectives, 65,536 communicators, 2^22 positions (16 MiB); and
 * for the calls of one window at most COLLECTIVE_ROWS rows and four times as many steps. Calls
 * beyond any of these, of inter-communicators, and of ranks whose position is not known are counted
 * among the others, as one message each. Calls that nobody models (neighbourhoods) give nothing.
 *
 * The same messages give the same table whatever the order they come in, up to numbers. */
#ifndef HOLTER_DAEMON_JOB_PHASES_COLLECTIVE_TABLE_H
#define HOLTER_DAEMON_JOB_PHASES_COLLECTIVE_TABLE_H

#include "daemon/analysis/events/bursts.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

#define COLLECTIVE_ROWS (1u << 18)

struct collective_table;

/** @return 0 or -ENOMEM */
int collective_table_create(struct collective_table **out);

/** NULL is fine. */
void collective_table_destroy(struct collective_table *table);

/** Add the collectives and positions of a validated message.
 *  @param numbers  set to the number of each of the message's collectives; borrowed until the next
 *                  call
 *  @return 0 or -ENOMEM */
int collective_table_add(struct collective_table *table, const struct wire_window *window,
                         const uint32_t **numbers);

/** A window begins: the bounds of one window are counted from 0. */
void collective_table_begin_window(struct collective_table *table);

/** Messages that stand for the calls of a burst. */
struct collective_messages {
    const struct burst_pair *pairs; /**< modelled, may repeat; in the set's bursts_reserve_rows(),
                                       until bursts are added to it */
    size_t count;                   /**< of pairs */
    uint64_t messages, bytes;       /**< others included */
    struct burst_others others;
};

/** @param world  ranks of the job; 0: not known
 *  @param calls  pairs go from ranks to numbers
 *  @param into   set that the messages are to be added to, which has space for COLLECTIVE_ROWS
 *  @return 0 or -ENOMEM */
int collective_table_expand(struct collective_table *table, uint64_t world,
                            const struct burst_sums *calls, struct bursts *into,
                            struct collective_messages *out);

/** See state_bytes.h. */
void collective_table_copy_state(struct state_bytes *b, struct collective_table **table);

#endif
