/* Bursts of a job on this node: runs of its messages, and of its calls of collectives, in a window
 * (CommGram, section III-F; daemon/analysis/events/bursts.h).
 *
 * Messages are those that the pair sums of daemon/analysis/events/event_sum.h count, each of them,
 * whether it is taken back later (SEND|CANCELLED) or not: so messages of bursts, with a row or
 * without, are always those of the window's pairs. A message to a rank that is not known has no
 * row.
 *
 * Collectives are those that move data or wait for all: MPI_Barrier, Bcast, Reduce, Allreduce,
 * Gather(v), Scatter(v), Allgather(v), Alltoall(v, w), Reduce_scatter(_block), Scan, Exscan; the
 * immediate ones where they are posted, the persistent ones at each start. Neighbourhood
 * collectives are not among them, because records do not name the neighbours, nor are calls that
 * make communicators, RMA windows and files.
 *
 * A time is the middle of the call that posted the message, or of the collective's call.
 *
 * Pure: no clock, no I/O. Memory, at most: sets 9.7 MiB, logs and their desk 5.0 MiB, all else 1.3
 * MiB with BURST_GATHER_ROWS; 80 bytes more for each further row of the limit. */
#ifndef HOLTER_DAEMON_ANALYSIS_EVENTS_BURST_GATHER_H
#define HOLTER_DAEMON_ANALYSIS_EVENTS_BURST_GATHER_H

#include "daemon/analysis/events/burst_log.h"
#include "holter/wire.h"

#define BURST_GATHER_BURSTS 32u /**< of messages, and of calls, in one window */
/** Maximum of bursts and their pairs, until the daemon sets another limit. */
#define BURST_GATHER_ROWS 4096u
#define BURST_GATHER_MAXIMUM_ROWS (1u << 16) /**< upper bound of the limit that the daemon sets */
#define BURST_GATHER_SLACK_NS UINT64_C(30000000000)

struct burst_gather;

int burst_gather_create(struct burst_gather **out);
void burst_gather_destroy(struct burst_gather *gather);

/** Log of the window's messages: burst_log_add() with the number of the pair's sum, once
 *  burst_log_full() has been asked and, if it is, burst_gather_messages() was called. */
struct burst_log *burst_gather_log(struct burst_gather *gather);

/** Move the messages of the log into bursts.
 *  @param names  of the pairs' sums */
void burst_gather_messages(struct burst_gather *gather, const struct burst_names *names);

/** A record of a collective. */
struct burst_call {
    uint64_t time_ns;
    uint64_t bytes; /**< that the rank contributes */
    uint32_t rank;
    uint32_t comm;    /**< position in the window's dictionary */
    uint32_t request; /**< of a persistent one */
    int32_t root;     /**< world rank, or PEER_* */
    uint16_t call;
};

enum burst_kind {
    BURST_NO_COLLECTIVE,
    BURST_COLLECTIVE, /**< a call, or the post of an immediate one */
    BURST_INIT,       /**< makes a persistent collective */
    BURST_START,      /**< starts a persistent collective or message */
};

/** How records of a call count as collectives. */
enum burst_kind burst_kind_of(uint16_t call);

/** Add such a record. A start counts as the call that made the persistent request, where that was
 *  seen, else as MPI_Start or MPI_Startall. */
void burst_gather_call(struct burst_gather *gather, enum burst_kind kind,
                       const struct burst_call *call);

/** A rank stands at this position of a communicator that rows may name: neither MPI_COMM_WORLD nor
 *  MPI_COMM_SELF nor an inter-communicator. To be called in each window. */
void burst_gather_member(struct burst_gather *gather, const struct wire_comm_member_row *member);

/** Daemon time, and the bounds that times are held to. */
struct burst_clock {
    uint64_t (*at)(const void *user, uint64_t mono_ns);
    const void *user;
    /** Window, daemon time. Times further away from it than BURST_GATHER_SLACK_NS, like the middle
     * of a call that took minutes, are reported as that far away. */
    uint64_t begin_ns, end_ns;
};

/** Rows of the window. All memory belongs to the gather, and is valid until its next call. */
struct burst_rows {
    const struct wire_burst_row *bursts; /**< of messages, then of calls; each by time */
    const struct wire_burst_pair_row *pairs;
    const struct wire_collective_row *collectives; /**< that pairs name */
    const struct wire_comm_member_row *members;    /**< of communicators that those name */
    uint64_t bursts_count, pairs_count, collectives_count, members_count;
    int folded; /**< some pairs of known ranks have no row */
};

/** Rows of bursts and pairs. If there are too many, the nearest bursts are merged first, down to
 * one of messages and one of calls; then the pairs with the fewest bytes lose their rows. The
 * function can be called again with another limit, but merged bursts stay merged.
 *  @param most_rows  limit; never more than BURST_GATHER_MAXIMUM_ROWS are made
 *  @return 0 or -ENOMEM: nothing is lost then */
int burst_gather_rows(struct burst_gather *gather, const struct burst_names *names,
                      const struct burst_clock *clock, uint64_t most_rows, struct burst_rows *out);

/** Default maximum of rows of a node, by the number of nodes, so that the rows of a large job stay
 *  bounded. */
uint64_t burst_gather_share(uint64_t nodes);

/** Begin the next window. */
void burst_gather_clear(struct burst_gather *gather);

/** Move the bursts of an encoded window in time. @param bursts  changed in place */
void burst_rows_shift(struct wire_burst_row *bursts, uint64_t count, int64_t shift_ns);

#endif
