/* One rank on this node: its mapped segment, readers of its rings, and how far they are summed.
 *
 * Nothing in the segment is trusted: tables are located once, within the mapping, when the rank is
 * attached, and every number that is read later is data, not an index.
 */
#ifndef HOLTER_AGENT_NODE_RANK_H
#define HOLTER_AGENT_NODE_RANK_H

#include "agent/node/carts.h"
#include "agent/node/journal.h"
#include "daemon/analysis/events/event_sum.h"
#include "daemon/analysis/matching/transfer_sum.h"
#include "holter/segment.h"

#define RANK_BATCH 512u /* records copied out of a ring at a time: 32 KiB */
#define RANK_TURN 64u   /* records of a turn, see rank_drain_turn() */

/** The clocks of a drain. */
struct drain_clocks {
    const struct tick_clock *tsc;   /**< for ticks of the TSC */
    const struct tick_clock *plain; /**< for ticks that are nanoseconds */
    uint64_t end_ns;                /**< CLOCK_MONOTONIC: end of the window */
    uint64_t now_ns;                /**< CLOCK_MONOTONIC */
};

struct rank_ring {
    struct ring_reader reader;
    struct ring_sum sum;
    struct tally_row *tally;   /**< in the mapping; only the agent's own figures are written */
    uint32_t tally_capacity;   /**< rows */
    uint32_t tally_epoch;      /**< number of the committed figures of tally_row.counted */
    int tally_open;            /**< the figures after those are in use */
    uint64_t lost_matched;     /**< of reader.lost, reported to the matcher already */
    struct journal_ring saved; /**< as of the last window of its job; pid 0: there was none yet */
};

/** State of rank_match.c for a rank; no other file writes it. */
struct rank_matching {
    struct match *match;         /**< borrowed from the job; NULL while the rank is unknown */
    struct match_member *member; /**< owned by match; NULL: match had no memory for the rank */
    uint32_t *comms_lost;        /**< owned; by slot: its generation when records were lost */
    uint64_t losses;             /**< of the member, as far as comms_lost has them */
    int has_lost;                /**< records were lost at some time */
    int is_restored;             /**< the member was one of the worker before this one */
    uint64_t dropped;            /**< segment->dropped, as far as it was reported to the matcher */
};

struct rank {
    char name[80]; /**< shared-memory name of the segment, with its slash */
    int32_t pid;
    uint64_t pid_start;
    char job[64];
    int32_t reader_pid; /**< pid of the agent, which the rings' alarms are sent to */
    int32_t world_rank; /**< -1 while MPI_Init has not returned */
    int32_t world_size;
    uint32_t tick_unit;

    struct segment *segment; /**< owned mapping */
    size_t bytes;
    struct ring_control *controls; /**< in the mapping; only the agent's own words are written */
    const struct comm_slot *comms; /**< in the mapping */
    const struct region_slot *regions; /**< in the mapping */
    const struct cart_slot *carts;     /**< in the mapping */
    const struct source_slot *sources; /**< in the mapping: SEGMENT_SOURCES */
    uint32_t cart_count, carts_taken;  /**< slots, and how many of them were collected */
    struct sum_tables tables;
    struct comm_seen {
        uint64_t since;             /**< of the slot */
        uint32_t generation, epoch; /**< of the slot, of the window */
        uint32_t position;
    } * comm_positions_seen; /**< owned; by slot */
    struct rank_ring *rings; /**< owned; [0, open) are being read */
    uint32_t open;
    uint32_t ring_limit; /**< rings in the segment */
    uint64_t dropped;    /**< segment->dropped, counted in sums already */

    struct rank_matching matching;
    uint64_t drained_ns; /**< CLOCK_MONOTONIC when the newest drain began */

    struct event_sum *sum; /**< borrowed from the job; NULL while the rank is unknown */
    int index;             /**< in sum */
};

/** Find the tally of a ring that is in use. @return 0 or -HOLTER_ECORRUPT */
int rank_locate_tally(struct rank *rank, uint32_t ring);

/** Map and check a segment.
 *  @param name    with its slash; its parts must be those in the header
 *  @param reader  pid to put into the segment as that of its agent
 *  @return 0, -HOLTER_EEMPTY while it is being made, -HOLTER_ECORRUPT, -EREMOTE: it was made on
 *          another host, with which this one shares memory; another error of
 * segment_open(), or -ENOMEM */
int rank_open(struct rank **out, const char *name, const char *session, int32_t reader);

/** Bytes of /dev/shm that the rank takes: its tables, rings in use, and their tallies. */
uint64_t rank_shared_bytes(const struct rank *rank);

/** Unmap and free; the segment's name stays. NULL is fine. */
void rank_destroy(struct rank *rank);

/** Whether MPI_Init has returned. The segment is checked on each call until then. */
int rank_is_initialised(struct rank *rank);

/** Add the rank to the sums of its job. @return 0 or an error of event_sum_add_rank() */
int rank_join(struct rank *rank, struct event_sum *sum);

/** Returns the rank to sums in which it had an index before. */
void rank_return_to_sum(struct rank *rank, struct event_sum *sum, int index);

/** Copy the slot of a communicator. @return 1; 0: the slot was never used, or is changing
 */
int rank_copy_comm(const struct rank *rank, uint32_t slot, struct comm_slot *out);

/** Name of the code region in a slot. @return 1; 0: outside all regions, or unknown */
int rank_copy_region(const struct rank *rank, uint32_t slot, char *out, size_t capacity);

/** Collect the Cartesian communicators that the rank has made since the last call.
 *  @return how many were added */
uint32_t rank_collect_carts(struct rank *rank, struct carts *carts);

/** Copy a text out of the segment, which may lack a NUL; the copy is always terminated. */
void rank_copy_text(char *out, size_t capacity, const char *text, size_t bound);

#endif
