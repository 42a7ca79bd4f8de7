/* Requests of one rank of a trace that are under way: which record posted each, or, where the reader of a
 * thread is ahead of the others, which record completes one whose post has not been read yet.
 *
 * Numbers of requests are those of the trace. They belong to the rank: what one thread posts another may
 * complete. They come again, those of persistent requests with each start: an end belongs to the newest post
 * before it. Writers that number by thread are read right too, because a thread's own requests come first.
 * Memory: at most REQUEST_TABLE_MOST requests. */
#ifndef HOLTER_IMPORT_REQUEST_TABLE_H
#define HOLTER_IMPORT_REQUEST_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define REQUEST_TABLE_MOST 65536u
#define REQUEST_NOWHERE UINT64_MAX

struct call_queue;

enum request_state {
    REQUEST_FREE,   /**< no request: the entry is empty */
    REQUEST_POSTED, /**< its end has not been read */
    REQUEST_ENDED,  /**< its post has not been read */
};

struct open_request {
    uint64_t id;              /**< in the trace */
    struct call_queue *queue; /**< borrowed: of the thread that posted it, or ended it */
    /** Of the record that waits to be told of the other end: in the queue, or with in_call among the parts
     *  of the open call. REQUEST_NOWHERE: none does. */
    uint64_t position;
    uint64_t t_post; /**< when its call began: the one that posted it, or the one that ended it */
    uint64_t bytes;
    int32_t peer, tag;
    uint32_t number; /**< event.request */
    uint16_t comm, flags;
    uint8_t state, in_call;
};

struct request_table {
    struct open_request *entries; /**< owned; by hash of the id */
    uint32_t room, count, evicted;
};

void request_table_init(struct request_table *table);
void request_table_finish(struct request_table *table);

/** A new entry, cleared but for id, queue and state. There must be room: see request_table_is_full().
 *  @return NULL: no memory. It holds until the next one begins or ends */
struct open_request *request_table_add(struct request_table *table, uint64_t id,
                                       struct call_queue *queue, enum request_state state);

/** The newest that this thread has posted. @return NULL: none */
struct open_request *request_table_own(const struct request_table *table, uint64_t id,
                                       const struct call_queue *queue);

/** The newest that another thread has posted, in a call that began no later than `latest`. @return NULL: none */
struct open_request *request_table_posted(const struct request_table *table, uint64_t id,
                                          const struct call_queue *queue, uint64_t latest);

/** The oldest that another thread has ended, in a call that began no earlier than `earliest`.
 *  @return NULL: none */
struct open_request *request_table_ended(const struct request_table *table, uint64_t id,
                                         const struct call_queue *queue, uint64_t earliest);

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
