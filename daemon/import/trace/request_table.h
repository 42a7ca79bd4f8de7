/* The open requests of one rank of a trace: which record posted each.
 *
 * Numbers of requests are those of the trace. They belong to the rank: what one thread posts
 * another may complete. Numbers are reused, those of persistent requests with each start: an end
 * belongs to the newest post before it that has no end yet. Traces that number requests by thread
 * are read correctly too, because a thread's own requests take precedence. Where a rank has several
 * threads this holds only if ends are processed in the order of their times: see call_queue.h.
 * Memory: at most REQUEST_TABLE_CAPACITY requests. */
#ifndef HOLTER_IMPORT_REQUEST_TABLE_H
#define HOLTER_IMPORT_REQUEST_TABLE_H

#include <stdint.h>

#define REQUEST_TABLE_CAPACITY 65536u
#define REQUEST_NOWHERE UINT64_MAX

struct call_queue;

/** What is known of one end of a request: of its post, or, in a call_queue, of its completion. */
struct open_request {
    uint64_t id;              /**< in the trace */
    struct call_queue *queue; /**< borrowed: of the thread that posted or ended it */
    /** Position of the record that waits for the other end: in the queue, or with in_call among the
     * parts of the open call. REQUEST_NOWHERE: no record waits. */
    uint64_t position;
    uint64_t t_post; /**< begin of the call that posted or ended it */
    uint64_t order;  /**< among the ends of requests of its thread, in the order of reading */
    uint64_t bytes;
    int32_t peer, tag;
    uint32_t number; /**< event.request */
    uint16_t comm, flags;
    uint8_t taken, in_call; /**< taken: the entry is not empty */
    /** Of traces whose requests are followed call by call: persistent and not started; MPI_Cancel
     * was called. */
    uint8_t idle, cancelled;
};

struct request_table {
    struct open_request *entries; /**< owned; by hash of the id */
    uint32_t room, count, evicted;
    struct call_queue *queues; /**< borrowed: list of the queues of the rank's threads */
    uint64_t pending;          /**< records that ended requests and are not joined yet */
};

void request_table_init(struct request_table *table);
void request_table_finish(struct request_table *table);

/** Add an entry, cleared except for id and queue. There must be capacity: see
 * request_table_is_full().
 * @return NULL: no memory. The entry is valid until the next one is added or removed */
struct open_request *request_table_add(struct request_table *table, uint64_t id,
                                       struct call_queue *queue);

/** The newest request that this thread has posted. @return NULL: none */
struct open_request *request_table_own(const struct request_table *table, uint64_t id,
                                       const struct call_queue *queue);

/** The post that an end belongs to: of the same kind, unless it was cancelled; the newest one that
 * its thread has posted before, else the newest one of another thread in a call that began before
 * the call of the end, or else at the same time. @param end  id, queue, t_post, order, flags
 * @return NULL: none */
struct open_request *request_table_match(const struct request_table *table,
                                         const struct open_request *end);

/** The request whose record is at a position of this thread. @return NULL: none */
struct open_request *request_table_at(const struct request_table *table, uint64_t id,
                                      const struct call_queue *queue, uint64_t position,
                                      int in_call);

void request_table_remove(struct request_table *table, struct open_request *request);

static inline int request_table_is_full(const struct request_table *table)
{
    return table->count >= REQUEST_TABLE_CAPACITY;
}

/** The request to be evicted when the table is full; the table must not be empty. */
struct open_request *request_table_victim(struct request_table *table);

#endif
