/* Hangs: which operation on which communicator does not end, how many ranks wait in it, and who has
 * not arrived.
 * Each window reports for each rank which call it is in and for how long, how many collective calls
 * it has completed on each communicator, and whether its process runs. This defines a wait-for
 * graph: a rank in a collective waits for the members that have not reached the same call (MPI
 * orders the collectives of a communicator, so they can be counted), a rank in a receive, wait or
 * send for its peer, in MPI_Sendrecv for both of them. From each rank that waits the graph is
 * followed to the cause:
 *   - a rank that does not wait itself (its process is stopped, dead, gone, or computes) is late;
 *   - a cycle is a deadlock.
 * A wait counts when it lasts longer than params.for_ns and longer than times_longest times the
 * longest wait of its kind that ended by itself, so that long phases of computation are not
 * reported; a stopped process counts after stopped_ns, a dead one at once. A rank of several
 * threads does not wait while calls of others of them end: one may be there to wait for requests.
 * Time is linear in ranks, their memberships and what they wait for. Pure. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_HANG_HANG_H
#define HOLTER_DAEMON_ANALYSIS_HANG_HANG_H

#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stddef.h>
#include <stdint.h>

#define HANG_WORLD 1u    /**< id of MPI_COMM_WORLD */
#define HANG_NAMED 16u   /**< late ranks that are described individually */
#define HANG_MAXIMUM 64u /**< hangs reported at one time */

struct hang_params {
    uint64_t for_ns;      /**< minimum duration of a wait; 0: 10 s */
    uint64_t stopped_ns;  /**< minimum duration where a process is stopped; 0: 3 s */
    double times_longest; /**< multiple of the longest wait of its kind so far; 0: 5 */
    uint64_t most_ns;     /**< a wait of this duration counts in any case; 0: 30 min */
    uint32_t ranks;       /**< ranks from this one up are left out; 0: 2^20 */
    uint32_t memberships; /**< maximum number of (rank, communicator) pairs; 0: 2^24 */
    int32_t utc_offset_s; /**< of the times of day in texts, seconds east of UTC */
    const char
        *zone; /**< name of the time zone that is written after times of day, "UTC"; NULL: none */
};

/** Calls of one kind by one rank that ended in the window, as in WIRE_CALL_ROW. Calls for which
 *  hang_counts() is 0 may be left out. */
struct hang_calls {
    uint32_t rank;
    uint32_t call;
    uint64_t comm; /**< id */
    uint64_t calls;
    uint64_t longest_ns; /**< longest of them */
    uint64_t time_ns;    /**< time in them */
};

/** One window of the whole job. Rows are borrowed, in any order; at most one row per rank (of
 * several the one with the longest call in progress is used). */
struct hang_window {
    uint64_t number;                   /**< greater than that of the previous window */
    uint64_t end_ns;                   /**< its end, daemon time */
    uint64_t length_ns;                /**< its length */
    uint64_t world;                    /**< ranks of MPI_COMM_WORLD; 0: not known yet */
    const struct wire_rank_row *ranks; /**< ranks without a row keep their state */
    size_t rank_count;
    const struct hang_calls *calls;
    size_t call_count;
    const struct wire_comm_row *comms; /**< new or known ones */
    size_t comm_count;
    const struct wire_pending_row *pending;
    size_t pending_count;
    const uint32_t *dead; /**< ranks that died in the window */
    size_t dead_count;
    uint64_t group; /**< ranks of a row, under the first of them: of these only HANG_STANDSTILL is
                         found; 0 and 1: rows are of single ranks */
};

enum hang_kind {
    HANG_COLLECTIVE, /**< ranks have not reached a collective */
    HANG_RECEIVE,    /**< a message does not arrive, or nobody receives it */
    HANG_DEADLOCK,   /**< ranks wait for each other in a circle */
    HANG_MISMATCH,   /**< ranks are in different collectives of one communicator */
    HANG_STOPPED,    /**< a process is stopped, no rank waits for it yet */
    HANG_STANDSTILL, /**< all ranks wait; it is not known for which */
    HANG_KINDS
};

enum hang_state {
    HANG_RUNS,       /**< makes calls */
    HANG_POLLS,      /**< makes calls that test for messages and find none */
    HANG_OUTSIDE,    /**< outside of MPI */
    HANG_IN_CALL,    /**< in a call */
    HANG_IS_STOPPED, /**< its process is stopped */
    HANG_DEAD,       /**< it died */
    HANG_FINISHED,   /**< it has called MPI_Finalize */
    HANG_NO_RECORD   /**< no record of it has arrived, or it has made no call yet */
};

/** A rank that is late, or one of a cycle. */
struct hang_behind {
    uint32_t rank;
    enum hang_state state;
    uint64_t for_ns;  /**< how long in this state */
    uint32_t in_call; /**< its call in progress; 0: none */
    int64_t peer;     /**< peer of that call; of MPI_Sendrecv the destination; negative: PEER_* */
    int64_t source;   /**< of the one receive that it waits for; PEER_UNKNOWN: none, or several */
    uint64_t comm;    /**< communicator of that call, id; 0: none */
};

struct hang {
    uint64_t id; /**< from 1 up; stays the same for one hang from window to window */
    enum hang_kind kind;
    uint64_t comm;         /**< communicator, id; 0: none */
    uint64_t operation;    /**< number of the collective call on it, from 1 up; 0: not a collective,
                             or not known because records were lost */
    uint32_t call;         /**< call in which ranks wait; 0: none */
    uint32_t waiter;       /**< rank that waits longest; valid when call is not 0 */
    uint64_t since_ns;     /**< when the longest wait began, or the process stopped; daemon time */
    uint64_t members;      /**< ranks of the communicator; 0: not known */
    uint64_t arrived;      /**< of these, the members that have reached the call */
    uint64_t waiting;      /**< ranks that wait, directly or for another one that waits */
    uint64_t behind_count; /**< ranks that are late */
    uint64_t absent; /**< HANG_COLLECTIVE: these, and those that wait elsewhere before they come; if
                          there are none, members of which it is not known which ranks they are */
    uint64_t inside; /**< of these, those that have reached the call and do not go on in it:
                       stopped, or not heard of since */
    struct hang_behind behind[HANG_NAMED]; /**< the first of them, by rank */
    char ranks[257]; /**< all of them, "0-3,8"; truncated after a comma and ended with "..." */
    int unreceived; /**< HANG_RECEIVE: late ranks do not receive what the waiter sends; else they do
                         not send what it waits for */
    int few_wait;   /**< fewer ranks wait than are late: those that wait are named first */
    char waiters[257]; /**< if few_wait: the ranks in the call, or that wait for the messages */
    char title[129];   /**< one line for display */
    char text[1025];   /**< what is known, for display */
    char advice[513];  /**< what to do, for display */
};

struct hang_list {
    const struct hang *list; /**< most waiting ranks first; valid until the next window */
    size_t count;
};

/** What has become of the ranks that waited, or were stopped, when there were hangs last. */
struct hang_fate {
    uint32_t ranks;  /**< how many there were; those not counted below are in the same call */
    uint32_t moved;  /**< their wait has ended: they make calls, compute, or have finished */
    uint32_t died;   /**< without MPI_Finalize */
    uint32_t silent; /**< no records of them arrive */
};

struct hang_watch;

/** @param params  copied, the zone's text too; NULL: the defaults @return 0 or -ENOMEM */
int hang_create(struct hang_watch **out, const struct hang_params *params);
void hang_destroy(struct hang_watch *watch);

/** Go on with other parameters: those of the daemon that has taken over a job.
 *  @param params  as for hang_create() */
void hang_set_params(struct hang_watch *watch, const struct hang_params *params);

/** Whether this is a call that all members of a communicator make in the same order, so that it is
 *  counted (collectives, creating communicators and RMA windows, fences, opening, closing and
 *  using files together, MPI_Finalize).
 *  @param call  its number */
int hang_counts(uint32_t call);

/** Whether one thread of a rank was in its call for all of a window of that length, while calls of
 *  others ended: the rank as a whole does not wait. */
int hang_works_beside(const struct wire_rank_row *row, uint64_t length_ns);

/** Add a window. @return 0, -ENOMEM or -ERANGE (number not above the last) */
int hang_window(struct hang_watch *watch, const struct hang_window *window);

/** Add the calls of nodes whose rows came when their window was over: collectives are counted.
 *  @param window  its number does not matter @return 0 or -ENOMEM */
int hang_add_late(struct hang_watch *watch, const struct hang_window *window);

/** The hangs at the end of the last window. Owned by the watch. */
struct hang_list hang_result(const struct hang_watch *watch);

/** What has become of the ranks of the hangs of the last window that had any. To be asked when
 *  there are none any more: has what they waited for come, or did they end waiting? */
struct hang_fate hang_fate(const struct hang_watch *watch);

/** The ranks that are known to be members of a communicator, one after the other.
 *  @param watch  NULL: none is known
 *  @param at     0 for the first one; set for the next call @return 0: there are no more */
int hang_next_member(const struct hang_watch *watch, uint64_t comm, uint32_t *at, uint32_t *rank);

/** See state_bytes.h. */
void hang_copy_state(struct state_bytes *b, struct hang_watch **watch);

#endif
