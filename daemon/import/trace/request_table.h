/* Requests of one rank of a trace that are under way: which record posted each.
 *
 * Numbers of requests are those of the trace. They belong to the rank: what one thread posts
 * another may complete. They come again, those of persistent requests with each start: an end
 * belongs to the newest post before it that has no end yet. Writers that number by thread are read
 * right too, because a thread's own requests come first. Where a rank has several threads this
 * holds only if ends are taken in the order of their times: see request_pairs.h. Memory: at most
 * REQUEST_TABLE_MOST requests. */
#ifndef HOLTER_IMPORT_REQUEST_TABLE_H
#define HOLTER_IMPORT_REQUEST_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define REQUEST_TABLE_MOST 65536u
#define REQUEST_NOWHERE UINT64_MAX

struct call_queue;

/** What is known of one end of a request: of its post, or, in a call_queue, of what completes it.
 */
struct open_request {
    uint64_t id;              /**< in the trace */
    struct call_queue *queue; /**< borrowed: of the thread that posted it, or ended it */
    /** Of the record that waits to be told of the other end: in the queue, or with in_call among
     * the parts of the open call. REQUEST_NOWHERE: none does. */
    uint64_t position;
    uint64_t t_post; /**< when its call began: the one that posted it, or the one that ended it */
    uint64_t order;  /**< among the ends of requests of its thread, as they were read */
    uint64_t bytes;
    int32_t peer, tag;
    uint32_t number; /**< event.request */
    uint16_t comm, flags;
    uint8_t taken, in_call; /**< taken: the entry is not empty */
};

struct request_table {
    struct open_request *entries; /**< owned; by hash of the id */
    uint32_t room, count, evicted;
    struct call_queue *queues; /**< borrowed: of the threads of the rank, a list */
    uint64_t pending;          /**< records that ended requests, and are not joined yet */
};

void request_table_init(struct request_table *table);
void request_table_finish(struct request_table *table);

/** A new entry, cleared but for id and queue. There must be room: see request_table_is_full().
 *  @return NULL: no memory. It holds until the next one begins or ends */
struct open_request *request_table_add(struct request_table *table, uint64_t id,
                                       struct call_queue *queue);

/** The newest that this thread has posted. @return NULL: none */
struct open_request *request_table_own(const struct request_table *table, uint64_t id,
                                       const struct call_queue *queue);

/** The post that an end belongs to: of the same kind, unless it was cancelled; the newest that its
 * thread has posted before, else the newest that another has, in a call that began before the one
 * that ended it, or else at the same time. @param end  id, queue, t_post, order, flags @return
 * NULL: none */
struct open_request *request_table_match(const struct request_table *table,
                                         const struct open_request *end);

/** The one whose record is at a place of this thread. @return NULL: none */
struct open_request *request_table_at(const struct request_table *table, uint64_t id,
                                      const struct call_queue *queue, uint64_t position,
                                      int in_call);

void request_table_remove(struct request_table *table, struct open_request *request);

static inline int request_table_is_full(const struct request_table *table)
{
    return table->count >= REQUEST_TABLE_MOST;
}

/** Whose turn it is to be forgotten, so that there is room: not empty. */
struct open_request *request_table_victim(struct request_table *table);

#endif
