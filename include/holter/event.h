/* Events: the records that a probe writes into its ring, one for each MPI call and each part.
 *
 * Words
 * - tick: the unit of the rank's clock: of the processor's counter (holter/ticks.h), or a
 *   nanosecond of CLOCK_MONOTONIC where that has no constant rate (struct segment says which). The
 *   agent converts ticks to nanoseconds.
 * - rank: always the rank in MPI_COMM_WORLD.
 * - part: a record for a further message of a call, because the record of the call has only one:
 *   the requests of Waitall, Startall, Testsome, the receive half of Sendrecv.
 *
 * How messages are counted
 *   A message is *sent* by the record with SEND|POST: MPI_Send, MPI_Isend, MPI_Start.
 *   A message is *received* by the record with RECV|DONE: MPI_Recv, the MPI_Wait that completed the
 *   request, a part after MPI_Waitall.
 *   RECV|POST without DONE is a posted receive; SEND|DONE without POST is a completed send request.
 *   SEND|POST|DONE is a send that was complete when the call returned: MPI_Send, and an MPI_Isend
 *   that the library finished at once. Nothing later completes it, and it has no request number.
 *   With peer PEER_NULL (MPI_PROC_NULL) the flags are as usual, but there is no message to be
 *   counted.
 */
#ifndef HOLTER_EVENT_H
#define HOLTER_EVENT_H

#include <stdint.h>

/** Values of event.peer that are not ranks. */
enum {
    PEER_NONE = -1,    /**< the call has no peer (collectives, waits that completed nothing) */
    PEER_NULL = -2,    /**< MPI_PROC_NULL: no message exists */
    PEER_ANY = -3,     /**< MPI_ANY_SOURCE, not yet matched */
    PEER_UNKNOWN = -4, /**< a rank outside MPI_COMM_WORLD, or one that could not be translated */
};

/** Values of event.tag that are not tags. */
enum {
    TAG_NONE = -1,
    TAG_ANY = -2,
    TAG_CALL = -16, /**< and below: the request is of a collective, and was made by the call of
                         which this is TAG_CALL less its number; see event_started() */
};

enum event_kind {
    EVENT_CALL = 1,   /**< one MPI call, with its entry and exit */
    EVENT_PART = 2,   /**< a further message of the call record before it; same t_enter, t_exit */
    EVENT_REGION = 3, /**< MPI_Pcontrol opened (peer 1) or closed (peer -1) a code region */
    EVENT_POLL = 4,   /**< polling calls that found nothing: in a tally only, never in a ring */
};

enum event_flag {
    EVENT_SEND = 1 << 0, /**< the record's message goes out */
    EVENT_RECV = 1 << 1, /**< the record's message comes in */
    EVENT_POST = 1 << 2, /**< posted by this call */
    EVENT_DONE = 1 << 3, /**< completed by this call */
    /** Completed by cancellation: no message was transferred; set instead of DONE. SEND|CANCELLED
     * takes back a message counted when it was posted. */
    EVENT_CANCELLED = 1 << 4,
    EVENT_FAILED = 1 << 5,     /**< the call or the request failed; set instead of POST and DONE */
    EVENT_WILDCARD = 1 << 6,   /**< the receive was posted with MPI_ANY_SOURCE or MPI_ANY_TAG */
    EVENT_UNTRACKED = 1 << 7,  /**< the request is not known: post and completion are not linked */
    EVENT_PERSISTENT = 1 << 8, /**< of a persistent or partitioned request; without POST and DONE
                                    the call only made it, and its sizes are those of each start */
    EVENT_INPLACE = 1 << 9,    /**< MPI_IN_PLACE was given */
    EVENT_INTER = 1 << 10,     /**< on an inter-communicator */
    EVENT_REFUSED = 1 << 11,   /**< with FAILED: no message yet, as of a wrong argument */
    /** MPI_Pcontrol(0) was in force: matched, so that the order of later messages is known, but
     *  part of no sum and of no capture. The agent adds it to a call in progress. */
    EVENT_PAUSED = 1 << 12,
};

/** One record: one cache line. Written once, by one thread; fields do not change after the ring's
 *  head has passed the record. */
struct event {
    /** The record's index in its ring, counted from 0; set last on entry, so that a reader of the
     *  slot at the head can distinguish a call in progress from an old record. Slot 0 of a new ring
     *  starts with UINT64_MAX, so that its record does not look as if it had begun. */
    uint64_t seq;
    uint64_t t_enter; /**< entry of the call, ticks */
    uint64_t t_exit;  /**< exit of the call, ticks; 0 while it is in progress */
    uint64_t bytes;   /**< size of the record's message; for collectives the bytes that this rank
                         contributes */
    union {
        uint64_t bytes_in; /**< collectives, their starts, reads: bytes that this rank receives */
        uint64_t t_post;   /**< DONE with a request: entry of the call that posted it, ticks */
        /** MPI_Mrecv, MPI_Imrecv: number of the message, which is the request number of the
         *  matching MPI_Mprobe; 0: not known. */
        uint64_t message;
        /** MPI_Sendrecv, MPI_Sendrecv_replace: source and tag of the receive, source in the
         *  low half, as far as they are known when the call begins. */
        uint64_t receive_ends;
    };
    int32_t peer; /**< world rank of the other side, root of a rooted collective, or PEER_* */
    int32_t tag;  /**< tag, or TAG_* */
    /** Number of the request in this rank, counted from 1; 0: none. MPI_Mprobe, MPI_Improbe: number
     *  of the matched message, in the same count. */
    uint32_t request;
    uint16_t comm;   /**< index in the segment's communicator table; COMM_SLOT_* for none */
    uint16_t region; /**< index in the segment's region table; 0: outside all regions */
    uint16_t call;   /**< enum call, see holter/call.h */
    uint16_t flags;  /**< enum event_flag, or-ed */
    uint16_t kind;   /**< enum event_kind */
    uint16_t parts;  /**< CALL: how many EVENT_PART records follow */
};

_Static_assert(sizeof(struct event) == 64, "an event is one cache line");

/** The call that made the request of a collective (MPI_Iallreduce, MPI_Allreduce_init).
 *  @return its number, or 0: there is no such request, or it is not known */
static inline uint16_t event_started(const struct event *event)
{
    const int64_t number = (int64_t)TAG_CALL - event->tag;
    return number > 0 && number <= UINT16_MAX ? (uint16_t)number : 0;
}

/** When the message of a record was posted, in ticks: of a call that completes a request, or waits
 * for it, by the call that made or started it. */
static inline uint64_t event_posted(const struct event *event)
{
    const int ends = event->flags & (EVENT_DONE | EVENT_CANCELLED) || event->t_exit == 0;
    return ends && !(event->flags & EVENT_POST) && event->request != 0 && event->t_post != 0
               ? event->t_post
               : event->t_enter;
}

static inline int32_t event_receive_source(const struct event *event)
{
    return (int32_t)(uint32_t)event->receive_ends;
}

static inline int32_t event_receive_tag(const struct event *event)
{
    return (int32_t)(uint32_t)(event->receive_ends >> 32);
}

#endif
