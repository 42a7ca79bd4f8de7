/* Window messages of very large jobs, with groups of consecutive ranks in place of ranks.
 *
 * A group holds 2^k ranks, the first of them a multiple of 2^k, and is named by its first rank: so
 * what looks up the node of a rank, or prints its number, need not know of groups. Converting is a
 * sum by groups: it does not matter whether two messages are converted and then added, or added and
 * then converted. */
#ifndef HOLTER_DAEMON_ANALYSIS_GROUPS_RANK_GROUPS_H
#define HOLTER_DAEMON_ANALYSIS_GROUPS_RANK_GROUPS_H

#include "holter/wire.h"

#include <stddef.h>

#define RANK_GROUPS_MAXIMUM 512u /**< groups of a job: a matrix of them fits a screen */

/** The rows of one converted message. Zero-initialised is empty. */
struct rank_groups {
    struct wire_rank_row *ranks; /**< owned, all arrays */
    struct wire_pair_row *pairs;
    struct wire_call_row *calls;
    struct wire_transfer_row *transfers;
    struct wire_burst_row *bursts;
    struct wire_burst_pair_row *burst_pairs;
    struct wire_process_row *processes;
    uint32_t *index; /* of the sums of a table */
    size_t rank_capacity, pair_capacity, call_capacity, transfer_capacity, burst_capacity,
        burst_pair_capacity, process_capacity, index_capacity;
};

void rank_groups_finish(struct rank_groups *groups);

/** Binary logarithm of the number of ranks in a group.
 *  @param world       ranks of the job
 *  @param most_ranks  jobs of more ranks have groups: as many groups as that at most, and no more
 *                     than RANK_GROUPS_MAXIMUM; not 0
 *  @return 0: every rank for itself */
unsigned rank_groups_shift(uint64_t world, uint64_t most_ranks);

/** Convert a message that was validated.
 *
 *  Rows of ranks, pairs, calls, transfers and bursts of messages are added up by group; of the
 *  longest call and the number of threads the maximum stays. In transfers, which are within a node,
 *  its number stands for its ranks, so that latency can be put down to nodes; its processes are one
 *  row under that number, with the mean of the clocks that are known. Left out is what is of
 *  single ranks: calls in progress, states of processes, pending receives, positions in
 *  communicators; and the rows of bursts of collectives, whose messages and bytes are counted as
 *  others of the burst. Ends of messages (halves) and deaths keep their ranks.
 *
 *  @param node  that has sent it
 *  @param out   borrows from the message and from groups, until the next call
 *  @return 0 or -ENOMEM */
int rank_groups_convert(struct rank_groups *groups, const struct wire_window *window,
                        unsigned shift, uint32_t node, struct wire_window *out);

/** Add up the rows of the same source and destination, which have no communicator, region and size
 *  class.
 *  @param groups  whose memory is used  @param count  of rows; then of those that are left
 *  @return 0 or -ENOMEM */
int rank_groups_add_up_pairs(struct rank_groups *groups, struct wire_pair_row *rows,
                             uint64_t *count);

#endif
