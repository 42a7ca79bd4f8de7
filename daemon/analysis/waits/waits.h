/* Waits: how long each rank waits in sends for its receivers, and for which rank it waits longest.
 *
 * Time in receives, waits, polls, collectives and one-sided calls is time in which a rank waits for
 * others (holter/waiting.h). A blocking send is different: it copies, or transfers, or waits for
 * its receiver. Which of these it did is known from the matched message (send_wait_ns() of the room
 * matching). Of messages between nodes, only a sample is matched: the waits of the others are taken
 * to be alike.
 *
 * A send that is still in progress has not been matched. It counts as waiting until the receiver
 * entered a call that may receive it: its row says in which call it is, and its pending receives
 * for whom it waits. When such a message is matched later, what was counted before is subtracted.
 *
 * A rank waits for
 *   - the sender of a message that it waits to receive, as long as that has not been sent: of a
 *     receive in progress, until the sender is in a blocking send to it;
 *   - the receiver of a blocking send, as above, and that of MPI_Sendrecv where it is known to wait
 *     for nothing else;
 *   - in collectives and fences, for the rank of that communicator or RMA window that spends least
 *     time in collectives and one-sided calls, as that comes last: for the difference between the
 *     times of both. All ranks are members of what has as many, others once they have called.
 *
 * Who came late, and caused it, follows from the waits in messages and from collectives, see
 * rank_lateness.h.
 *
 * Results do not depend on the order of rows. Memory is linear in ranks and in pairs of which one
 * waited for the other; of 2^22 pairs in one window further ones are left out. Pure. Not
 * thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_WAITS_WAITS_H
#define HOLTER_DAEMON_ANALYSIS_WAITS_WAITS_H

#include "daemon/analysis/hang/hang.h"
#include "daemon/analysis/matching/transfers.h"
#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/state_bytes.h"

struct waits;

/** One window of the whole job. Rows are borrowed. */
struct waits_window {
    uint64_t length_ns;
    const struct wire_rank_row *ranks; /**< ascending, each rank once */
    size_t rank_count;
    const struct transfers *transfers; /**< matched messages */
    /** Of a job by groups of 2^group_shift ranks, of which only waits in sends are known, numbers
     * in transfers are of nodes: by node the number of its group. NULL: they are of ranks. */
    const uint32_t *group_of;
    size_t node_count;
    unsigned group_shift;
    const struct hang_calls *calls; /**< collectives and fences that ended */
    size_t call_count;
    const struct wire_pending_row *pending;
    size_t pending_count;
    const struct wire_comm_row *comms; /**< on which calls ended, or are in progress */
    size_t comm_count;
    uint64_t world;                   /**< ranks of MPI_COMM_WORLD; 0: not known yet */
    const struct hang_watch *members; /**< of communicators, as known so far; NULL: not known */
};

/** The waits of a rank in the last window; meaning as in the columns of WIRE_RANK_ROW. */
struct waits_row {
    uint64_t send_wait_ns;
    uint64_t awaited_ns;
    uint32_t awaited; /**< 1 + rank; 0: none */
    uint64_t late_ns; /**< see rank_lateness.h */
    uint64_t caused_ns;
};

/** @return 0 or -ENOMEM */
int waits_create(struct waits **out);
/** NULL is fine. */
void waits_destroy(struct waits *waits);

/** Add a window. @return 0 or -ENOMEM: some waits are not known */
int waits_update(struct waits *waits, const struct waits_window *window);

/** Waits of the ranks of the last window, in the order of its rows. Owned by the waits. */
const struct waits_row *waits_rows(const struct waits *waits);

/** See state_bytes.h. */
void waits_copy_state(struct state_bytes *b, struct waits **waits);

#endif
