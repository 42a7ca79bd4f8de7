/* Records of a stream on their way from a trace's reader to the import, while some of them wait for what only
 * a later record tells: a receive is posted without its source, a nonblocking collective without its
 * communicator, where both are recorded when they complete.
 *
 * Requests are those of the trace, told apart by its own numbers. Memory: at most CALL_QUEUE_MOST records
 * and CALL_QUEUE_REQUESTS requests. A record that waits longer than that is handed on as it is; its
 * completion then counts as a receive that is posted when it completes. */
#ifndef HOLTER_IMPORT_CALL_QUEUE_H
#define HOLTER_IMPORT_CALL_QUEUE_H

#include "holter/event.h"

#include <stddef.h>
#include <stdint.h>

#define CALL_QUEUE_MOST 16384u
#define CALL_QUEUE_REQUESTS 65536u

/** A request that is under way. */
struct open_request {
    uint64_t id;       /**< in the trace */
    uint64_t position; /**< of the record that posted it; UINT64_MAX: not waiting any more */
    uint64_t t_post;
    uint64_t bytes;
    int32_t peer, tag;
    uint32_t number; /**< event.request; 0: the entry is free */
    uint16_t comm, flags;
};

struct call_queue {
    struct event *items; /**< owned; a ring */
    uint32_t room, count;
    uint64_t first;                /**< position of the oldest */
    struct open_request *requests; /**< owned; by hash of the id */
    uint32_t request_room, request_count, evicted;
    uint32_t next_number, number_step;
    uint64_t forced; /**< records that were handed on before what they wait for was known */
};

/** @param number, step  of requests: those of threads of one rank are to be different */
void call_queue_init(struct call_queue *queue, uint32_t number, uint32_t step);
void call_queue_finish(struct call_queue *queue);

/** A request begins. @return it, its fields to be filled in; NULL: no memory. It holds until the next call */
struct open_request *call_queue_begin(struct call_queue *queue, uint64_t id);

/** @return NULL: not known */
struct open_request *call_queue_find(struct call_queue *queue, uint64_t id);

/** Forget it. */
void call_queue_end(struct call_queue *queue, struct open_request *request);

/** Put a record behind the others. @param waits_for  id of a request that is told of later, or NULL
 *  @return 0 or -ENOMEM */
int call_queue_put(struct call_queue *queue, const struct event *event, const uint64_t *waits_for);

/** The record that waits for a request, to be completed now. @return NULL: none does any more */
struct event *call_queue_waiting(struct call_queue *queue, struct open_request *request);

/** Nothing more will come: nothing waits. */
void call_queue_close(struct call_queue *queue);

/** May more be put before it is emptied? */
int call_queue_is_full(const struct call_queue *queue);

/** Take the oldest, as far as they are complete. @return how many */
uint32_t call_queue_take(struct call_queue *queue, struct event *out, uint32_t most);

#endif
