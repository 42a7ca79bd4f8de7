/* The ends of messages, and of collectives, of a capture or trace: what the graph of dependencies
 * is made of.
 *
 * Pure. Records are added thread by thread, in the order in which the thread wrote them; which
 * records are ends of messages is said in holter/event.h. Whatever arrives is checked: a record
 * that names no end, or no rank, is ignored or counted, and none can do harm.
 *
 * Words
 *   end      a send, at the entry of the call that posted it, or a receive, at the exit of the call
 *            that completed it: an event of PCLVis, section 3.
 *            Of a collective (call_flow_of()) a rank has two: it enters, which is like a send, at
 *            the entry of its call; and it leaves, which is like a receive, at the exit of it, or,
 *            of an immediate or persistent one, of the call that completed the request.
 *   complete a thread whose first record is number 0, and which has no gap: all its ends are known.
 *            The rings of a capture are read in the middle of a job, so that mostly they are not.
 */
#ifndef HOLTER_DAEMON_ANALYSIS_DEPENDENCIES_DEPENDENCY_CALLS_H
#define HOLTER_DAEMON_ANALYSIS_DEPENDENCIES_DEPENDENCY_CALLS_H

#include "daemon/analysis/tables/key_table.h"
#include "holter/event.h"
#include "holter/wire.h"

#include <stdint.h>

#define DEPENDENCY_NONE UINT32_MAX
#define DEPENDENCY_ENDS (1u << 24)        /**< maximum of ends */
#define DEPENDENCY_RANKS (1u << 26)       /**< ranks are below this */
#define DEPENDENCY_THREADS (1u << 20)     /**< maximum of threads */
#define DEPENDENCY_UNKNOWN_ERROR WIRE_ANY /**< the error of a clock is not known */

/** A record of a thread. Times are nanoseconds of one clock, as far as clocks agree. */
struct dependency_record {
    uint64_t number;    /**< in its thread, from 0 */
    uint64_t comm;      /**< job-wide id of the communicator; 0: not known */
    uint64_t comm_size; /**< ranks of it: of one rank alone collectives are no ends, for the id may
                             be that of such communicators of other ranks, too */
    uint64_t bytes;
    int64_t begin_ns, end_ns; /**< entry and exit of the call */
    int64_t posted_ns;        /**< entry of the call that posted it; begin_ns: it was this one */
    uint64_t comm_rank;       /**< the rank's number in the communicator, from 1 up; 0: not known */
    int64_t peer;             /**< rank, or PEER_* */
    int64_t tag;
    uint32_t request; /**< number of the request in its rank; 0: none */
    uint32_t started; /**< the call that made the request of a collective; 0: none, or not known */
    uint32_t flags;   /**< enum event_flag */
    uint32_t call;    /**< holter/call.h */
    int running;      /**< the call has not returned: end_ns is when the ring was read */
    int quiet;        /**< of a running call: it sends no messages, as MPI_Barrier and MPI_Wait */
};

struct dependency_end {
    uint64_t comm, bytes;
    int64_t begin_ns, end_ns, posted_ns;
    int64_t order_ns;    /**< its moment in the order of the rank; never less than that of an end
                              before it in its thread */
    uint32_t thread;     /**< position in the threads */
    uint32_t rank, peer; /**< of a collective its root, or DEPENDENCY_NONE */
    uint32_t comm_rank;  /**< number of the rank in the communicator; 0: not known */
    int32_t tag;
    uint32_t request;
    uint16_t call;
    uint16_t started;   /**< it enters a collective: the call that names it, as MPI_Iallreduce */
    uint8_t receive;    /**< or it leaves */
    uint8_t collective; /**< it is an end of one: begin_ns and end_ns are those of the call */
    uint8_t open;       /**< a send that may have ended before its call, which receives, too, or
                             goes on */
};

struct dependency_thread {
    uint64_t rank, thread;
    uint64_t records; /**< that it has written, as far as is known: 0 of a thread without records
                           means that it has none */
    uint64_t next;    /**< number after that of the newest record */
    int64_t first_ns; /**< exit of its first known record, whose other parts may be missing */
    int64_t order_ns; /**< of its newest end */
    int64_t read_ns;  /**< when its ring was read, or the call began that was in progress then and
                           may send: what the thread sent later is not known */
    uint64_t ends;    /**< of it that are used */
    size_t first_end; /**< the ends of the thread before this position are dropped */
    uint32_t host;    /**< position in hosts */
    uint8_t begun;    /**< it has a record */
    uint8_t complete; /**< see above */
};

struct dependency_host {
    char name[65];
    uint64_t error_ns; /**< bound of the error of its clock; DEPENDENCY_UNKNOWN_ERROR */
};

/** Zero-initialised is empty. */
struct dependency_calls {
    struct dependency_end *ends; /**< owned; those of a thread in its order; see first_end */
    size_t count, capacity;
    struct dependency_thread *threads; /**< owned */
    size_t thread_count, thread_capacity;
    struct key_table keys;         /**< of threads: rank and thread */
    struct dependency_host *hosts; /**< owned */
    size_t host_count, host_capacity;
    struct wire_source_row *sources; /**< owned; neighbours of ranks */
    size_t source_count, source_capacity;
    uint64_t records;  /**< that were added */
    uint64_t unknown;  /**< ends whose communicator or peer is not known */
    uint64_t gaps;     /**< ends before a gap in the records of their thread, or before a send was
                            cancelled: dropped */
    uint64_t left_out; /**< records beyond a maximum */
};

void dependency_calls_finish(struct dependency_calls *calls);

/** Position of a host, which is added when it is new. @return DEPENDENCY_NONE without memory */
uint32_t dependency_calls_host(struct dependency_calls *calls, const char *name, uint64_t error_ns);

/** Position of a thread, which is added when it is new.
 *  @param read_ns  when its ring was read; INT64_MAX: all its records will be added
 *  @return DEPENDENCY_NONE: no memory, or beyond a maximum */
uint32_t dependency_calls_thread(struct dependency_calls *calls, uint64_t rank, uint64_t thread,
                                 uint32_t host, int64_t read_ns);

/** Add a record behind those of its thread. One that is known already is ignored, by its number.
 *  @return 0 or -ENOMEM */
int dependency_calls_add(struct dependency_calls *calls, uint32_t thread,
                         const struct dependency_record *record);

/** Add what one node has captured, or a part of it, decoded. @return 0 or -ENOMEM */
int dependency_calls_add_capture(struct dependency_calls *calls,
                                 const struct wire_capture *capture);

#endif
