/* Records of a thread on their way from a trace's reader to the import, while some of them wait for
 * what another record tells: a receive is posted without its source, a nonblocking collective
 * without its communicator, where both are recorded when they complete. And where one thread
 * completes what another has posted, and is read first, its record waits for that post.
 *
 * Memory: at most CALL_QUEUE_MOST records that wait or stand behind one that does. A record that
 * waits longer than that is handed on as it is; its completion then counts as a receive that is
 * posted when it completes. */
#ifndef HOLTER_IMPORT_CALL_QUEUE_H
#define HOLTER_IMPORT_CALL_QUEUE_H

#include "daemon/import/trace/request_table.h"
#include "holter/event.h"

#include <stddef.h>
#include <stdint.h>

#define CALL_QUEUE_MOST 16384u
#define CALL_QUEUE_SOME 4096u /**< records that are read ahead, when they are there */

/** What a record waits for; stands in event.seq. Which request stands where it is told later: its
 * id in bytes, or the number of its end in t_post. */
enum call_wait {
    CALL_COMPLETE,
    CALL_WAITS_FOR_END,  /**< of the request that it posted */
    CALL_WAITS_FOR_POST, /**< of the request that it ended */
};

struct call_queue {
    struct event *items; /**< owned; a ring */
    uint32_t room, count;
    uint64_t first;                 /**< position of the oldest */
    struct request_table *requests; /**< borrowed: of the rank */
    struct call_queue *next;        /**< borrowed: of another thread of the rank */
    /** Owned, a ring by number: where there are other threads, records that ended requests and are
     * not joined with the posts of those yet. */
    struct open_request *ends;
    uint32_t end_room;
    uint64_t end_first, end_next; /**< numbers */
    uint64_t order;               /**< of the next end of a request, begin or end */
    struct event *parts;          /**< borrowed: of the open call */
    int shared;                   /**< there are other threads of the rank */
    uint32_t next_number, number_step;
    uint64_t forced; /**< records that were handed on before what they wait for was known */
};

/** @param number, step  of requests: those of threads of one rank are to be different */
void call_queue_init(struct call_queue *queue, struct request_table *requests, uint32_t number,
                     uint32_t step);
void call_queue_finish(struct call_queue *queue);

/** Number of the next request, never 0. */
uint32_t call_queue_number(struct call_queue *queue);

/** A request of this thread begins. Where the thread is the only one, a request of the same id that
 * it has open is forgotten. @return it, its fields to be filled in; NULL: no memory. It holds until
 * the next call */
struct open_request *call_queue_begin(struct call_queue *queue, uint64_t id);

/** A request ends, to be joined with its post later: see request_pairs.h.
 *  @return its end, its fields to be filled in; its number is end_next - 1. NULL: no memory */
struct open_request *call_queue_end(struct call_queue *queue, uint64_t id);

/** An end by its number. @return NULL: it is joined already */
struct open_request *call_queue_end_at(const struct call_queue *queue, uint64_t number);

/** Put a record behind the others.
 *  @param waits_for  what event->seq says it waits for: id of a request, or number of an end
 *  @param part       of the open call: where the record was until now, if it waits
 *  @return 0 or -ENOMEM */
int call_queue_put(struct call_queue *queue, const struct event *event, uint64_t waits_for,
                   uint32_t part);

/** The record of a request's post, or of its end. @return NULL: it was handed on already */
struct event *call_queue_record(const struct open_request *request);

/** The record that posted a request and waits for its end, to be completed now. @return NULL: none
 * does any more */
struct event *call_queue_waiting(struct open_request *request);

/** A record whose other end will not be told waits no more. A receive whose post is not known
 * counts as if it were posted by the call that completes it. */
void call_queue_complete_alone(struct event *event);

/** What the oldest record waits for. */
enum call_wait call_queue_waits(const struct call_queue *queue);

/** The oldest record, which there is. */
const struct event *call_queue_oldest(const struct call_queue *queue);

/** The oldest record waits no more: what is known of other threads has to do. @param too_long  it
 * is counted where it stays alone: what it waits for may still come */
void call_queue_force(struct call_queue *queue, int too_long);

/** Nothing more will come from any thread of the rank: nothing waits. */
void call_queue_close(struct call_queue *queue);

/** May more be put before it is emptied? */
int call_queue_is_full(const struct call_queue *queue);

/** Take the oldest, as far as they are complete. @return how many */
uint32_t call_queue_take(struct call_queue *queue, struct event *out, uint32_t most);

#endif
