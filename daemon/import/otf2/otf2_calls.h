/* Conversion of what Score-P and other tools record in OTF2 around an MPI call to records as a
 * probe would have written them (holter/event.h).
 *
 * An MPI call is a region that is entered and left; between the two are the records of what it
 * posted or completed, in any number (OTF2 3.0, "OTF2 records", MPI events). They become the call's
 * record and its parts. Records outside of any such region become calls of their own. Regions of
 * the program are code regions. What MPI_Irecv posts is known when it completes, see call_queue.h.
 *
 * Requests belong to the rank: its locations share a table of them, and what one location has
 * posted another may complete, whichever is read first.
 *
 * Pure: no files, no libotf2. There is one such object for each location. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_CALLS_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_CALLS_H

#include "daemon/import/trace/call_queue.h"

#include <stddef.h>

enum otf2_region_kind {
    OTF2_REGION_UNDEFINED,
    OTF2_REGION_NONE,  /**< none of those below */
    OTF2_REGION_LOCAL, /**< MPI call that moves no data and waits for nobody */
    OTF2_REGION_CALL,  /**< any other MPI call */
    OTF2_REGION_CODE,  /**< code region of the program */
};

struct otf2_region {
    uint8_t kind;
    uint16_t call; /**< number of the call; 0: unknown to Holter */
    uint16_t slot; /**< of a code region, from 1; 0: there are too many */
};

/** A message with its peer as a world rank. */
struct otf2_message {
    int32_t peer; /**< world rank or PEER_UNKNOWN */
    int32_t tag;
    uint64_t bytes;
    uint64_t request; /**< of nonblocking ones */
    uint16_t comm;    /**< slot, or COMM_SLOT_NONE */
    uint16_t flags;   /**< EVENT_INTER or 0 */
};

/** A collective with its root as a world rank. */
struct otf2_collective {
    uint16_t call; /**< the blocking call of that operation; 0: none */
    int32_t root;  /**< world rank or PEER_* */
    uint64_t sent, received;
    uint16_t comm, flags;
};

/** A one-sided MPI transfer with its target as a world rank. */
struct otf2_access {
    int32_t target;          /**< world rank or PEER_UNKNOWN */
    uint64_t sent, received; /**< bytes sent and received */
    uint16_t comm, flags;
};

/** Totals of what was read from the trace. */
struct otf2_totals {
    uint64_t events;
    uint64_t sends, send_bytes, receives, receive_bytes; /**< messages */
    uint64_t collectives; /**< completed ones, counted on each rank */
    uint64_t unbalanced;  /**< regions that were left but not entered, or the other way round */
    uint64_t nameless;    /**< MPI calls that are unknown to Holter */
};

struct otf2_calls {
    struct call_queue queue;
    struct otf2_totals totals;
    uint32_t *stack; /**< owned: open code regions, and their slots */
    uint32_t depth;
    size_t stack_capacity;
    uint64_t too_deep;   /**< regions on top of them that are not stored */
    struct event *parts; /**< owned: parts of the open call */
    uint64_t *waits;     /**< owned: by part, the request with its missing data, if seq says so */
    uint32_t part_count;
    size_t part_capacity, wait_capacity;
    uint32_t call_region;
    uint16_t call, region;
    int in_call, nested, has_collective;
    uint64_t enter, collective_enter, newest;
    int error;
};

/** @param requests  borrowed: of the rank, whose threads are processed one at a time */
void otf2_calls_init(struct otf2_calls *calls, struct request_table *requests, uint32_t thread,
                     uint32_t threads);
void otf2_calls_finish(struct otf2_calls *calls);

/* Process records in the order of the trace; times are in nanoseconds. calls->error is set to
 * -ENOMEM when memory was refused. */
void otf2_calls_enter(struct otf2_calls *calls, uint64_t time, uint32_t ref,
                      const struct otf2_region *region);
void otf2_calls_leave(struct otf2_calls *calls, uint64_t time, uint32_t ref,
                      const struct otf2_region *region);
void otf2_calls_send(struct otf2_calls *calls, uint64_t time, const struct otf2_message *message);
void otf2_calls_isend(struct otf2_calls *calls, uint64_t time, const struct otf2_message *message);
void otf2_calls_isend_complete(struct otf2_calls *calls, uint64_t time, uint64_t request);
void otf2_calls_irecv_request(struct otf2_calls *calls, uint64_t time, uint64_t request);
void otf2_calls_recv(struct otf2_calls *calls, uint64_t time, const struct otf2_message *message);
void otf2_calls_irecv(struct otf2_calls *calls, uint64_t time, const struct otf2_message *message);
void otf2_calls_cancelled(struct otf2_calls *calls, uint64_t time, uint64_t request);
/** @return 1; 0: the access is not part of an MPI call */
int otf2_calls_access(struct otf2_calls *calls, uint64_t time, const struct otf2_access *access);
void otf2_calls_collective_begin(struct otf2_calls *calls, uint64_t time);
void otf2_calls_collective_end(struct otf2_calls *calls, uint64_t time,
                               const struct otf2_collective *collective);
void otf2_calls_collective_request(struct otf2_calls *calls, uint64_t time, uint64_t request);
void otf2_calls_collective_complete(struct otf2_calls *calls, uint64_t time,
                                    const struct otf2_collective *collective, uint64_t request);

/** End of the records: an open call ends with the newest record. In ranks with other threads,
 * records of this one may still wait for records of those. */
void otf2_calls_close(struct otf2_calls *calls);

#endif
