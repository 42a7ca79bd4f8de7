/* Queue of a thread's records, some of which wait for records of other threads: see call_queue.h.
 */
#include "daemon/import/trace/call_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256u

void call_queue_init(struct call_queue *q, struct request_table *requests, uint32_t number,
                     uint32_t step)
{
    *q = (struct call_queue){
        .requests = requests, .shared = step > 1, .next_number = number + 1, .number_step = step};
    if (q->shared) {
        q->next = requests->queues;
        requests->queues = q;
    }
}

void call_queue_finish(struct call_queue *q)
{
    free(q->items);
    free(q->ends);
    *q = (struct call_queue){0};
}

static struct event *call_queue_item_at(const struct call_queue *q, uint64_t position)
{
    return &q->items[position & (q->capacity - 1)];
}

/* ---- requests -------------------------------------------------------------- */

uint32_t call_queue_number(struct call_queue *q)
{
    uint32_t number = q->next_number == 0 ? 1 : q->next_number;
    q->next_number += q->number_step;
    return number;
}

/* Complete a record without its other end. A receive whose post is not known counts as if it were
 * posted by the call that completes it. */
static void call_queue_complete_alone(struct event *event)
{
    if (event->seq == CALL_WAITS_FOR_END) {
        event->bytes = 0;
    } else {
        event->t_post = 0;
        if ((event->flags & (EVENT_RECV | EVENT_DONE)) == (EVENT_RECV | EVENT_DONE))
            event->flags |= EVENT_POST;
    }
    event->seq = CALL_COMPLETE;
}

/* The record of a request's post or end. @return NULL: it was already passed on */
static struct event *call_queue_record(const struct open_request *request)
{
    struct call_queue *q = request->queue;
    uint64_t position = request->position;
    if (position == REQUEST_NOWHERE)
        return NULL;
    if (request->in_call)
        return &q->parts[position];
    if (position < q->first || position - q->first >= q->count)
        return NULL;
    return call_queue_item_at(q, position);
}

/* The record that posted a request and waits for its end, to be completed now. @return NULL: it
 * does not wait any more */
static struct event *call_queue_waiting(struct open_request *request)
{
    struct event *event = call_queue_record(request);
    request->position = REQUEST_NOWHERE;
    if (event == NULL || request->in_call)
        return event;
    return event->seq == CALL_WAITS_FOR_END && event->bytes == request->id ? event : NULL;
}

/* Give up waiting for the other end of a request. */
static void call_queue_release_request(struct request_table *table, struct open_request *request)
{
    struct event *event = call_queue_waiting(request);
    if (event != NULL) {
        call_queue_complete_alone(event);
        request->queue->forced++;
    }
    request_table_remove(table, request);
}

struct open_request *call_queue_begin(struct call_queue *q, uint64_t id)
{
    struct open_request *old = q->shared ? NULL : request_table_own(q->requests, id, q);
    if (old != NULL)
        call_queue_release_request(q->requests, old);
    if (request_table_is_full(q->requests))
        call_queue_release_request(q->requests, request_table_victim(q->requests));
    return request_table_add(q->requests, id, q);
}

/* Double a ring by number that holds the numbers from `first` up to `end`. @return 0 or -ENOMEM */
static int call_queue_grow(void *ring_pointer, size_t element, uint32_t *capacity, uint64_t first,
                           uint64_t end)
{
    uint32_t more = *capacity == 0 ? FIRST_CAPACITY : 2 * *capacity;
    char *old, *ring = malloc(more * element);
    if (ring == NULL)
        return -ENOMEM;
    memcpy(&old, ring_pointer, sizeof(old));
    for (uint64_t n = first; n < end; n++)
        memcpy(ring + (n & (more - 1)) * element, old + (n & (*capacity - 1)) * element, element);
    free(old);
    memcpy(ring_pointer, &ring, sizeof(ring));
    *capacity = more;
    return 0;
}

struct open_request *call_queue_end_at(const struct call_queue *q, uint64_t number)
{
    if (number < q->end_first || number >= q->end_next)
        return NULL;
    return &q->ends[number & (q->end_capacity - 1)];
}

/* ---- joining both ends of requests ------------------------------------------ */

/* The record that ended a request. @return NULL: it is already joined */
static struct event *call_queue_record_of(const struct open_request *end)
{
    struct event *item = call_queue_record(end);
    return item != NULL && item->seq == CALL_WAITS_FOR_POST ? item : NULL;
}

/* Set in a record which request it ended. */
static void call_queue_name_post(struct event *end, const struct open_request *post)
{
    end->request = post->number;
    end->t_post = post->t_post;
    end->flags |= post->flags;
}

/* Copy peer, tag and bytes of a request to the record of its end. */
static void call_queue_copy_post(struct event *end, const struct open_request *post)
{
    call_queue_name_post(end, post);
    end->peer = post->peer;
    end->tag = post->tag;
    end->comm = post->comm;
    end->bytes = post->bytes;
}

/* Copy the data of the completion to the record of the post. */
static void call_queue_report_post(struct event *begun, const struct event *end,
                                   const struct open_request *ended, uint16_t direction)
{
    begun->peer = end->peer;
    begun->tag = end->tag;
    begun->comm = end->comm;
    begun->bytes = end->bytes;
    begun->bytes_in = direction == 0 ? ended->bytes : begun->bytes_in;
    begun->flags |= (end->flags | ended->flags) & EVENT_INTER;
    begun->seq = CALL_COMPLETE;
}

/* @return 0, or -ENOENT: the end stays without a post */
static int call_queue_join_requests(const struct open_request *ended, struct open_request *post)
{
    uint16_t direction = post->flags & (EVENT_SEND | EVENT_RECV);
    struct event *begun = call_queue_waiting(post), *end = call_queue_record_of(ended);
    if (end == NULL ||
        (begun == NULL && direction == EVENT_RECV && !(end->flags & EVENT_CANCELLED)))
        return -ENOENT;
    if (end->flags & EVENT_CANCELLED || direction == EVENT_SEND) {
        if (begun != NULL)
            call_queue_complete_alone(begun);
        call_queue_copy_post(end, post);
    } else {
        if (begun != NULL)
            call_queue_report_post(begun, end, ended, direction);
        call_queue_name_post(end, post);
    }
    end->seq = CALL_COMPLETE;
    return 0;
}

/* Join an end with its post and forget that one. @return as call_queue_join_requests() */
static int call_queue_join_end(struct request_table *table, const struct open_request *ended)
{
    struct open_request *post = request_table_match(table, ended);
    int code = post == NULL ? -ENOENT : call_queue_join_requests(ended, post);
    if (post != NULL)
        request_table_remove(table, post);
    struct event *end = code == 0 ? NULL : call_queue_record_of(ended);
    if (end != NULL)
        call_queue_complete_alone(end);
    return code;
}

int call_queue_end(struct call_queue *q, struct open_request *end, uint64_t *number)
{
    end->queue = q;
    end->order = q->order++;
    end->taken = 1;
    if (!q->shared) {
        call_queue_join_end(q->requests, end);
        return 0;
    }
    if (q->end_next - q->end_first == q->end_capacity &&
        call_queue_grow(&q->ends, sizeof(*q->ends), &q->end_capacity, q->end_first, q->end_next) !=
            0)
        return -ENOMEM;
    *number = q->end_next++;
    *call_queue_end_at(q, *number) = *end;
    q->requests->pending++;
    return 0;
}

/* The oldest end of a thread. */
static struct open_request *call_queue_head_of(const struct call_queue *q)
{
    return q->end_first == q->end_next ? NULL : call_queue_end_at(q, q->end_first);
}

/* @return as call_queue_join_requests() */
static int call_queue_join_oldest(struct request_table *table, struct call_queue *q)
{
    int code = call_queue_join_end(table, call_queue_head_of(q));
    q->end_first++;
    table->pending--;
    return code;
}

void call_queue_join_before(struct request_table *table, uint64_t before)
{
    while (table->pending > 0) {
        struct call_queue *oldest = NULL;
        for (struct call_queue *q = table->queues; q != NULL; q = q->next)
            if (call_queue_head_of(q) != NULL &&
                (oldest == NULL ||
                 call_queue_head_of(q)->t_post < call_queue_head_of(oldest)->t_post))
                oldest = q;
        if (oldest == NULL || call_queue_head_of(oldest)->t_post >= before)
            return;
        call_queue_join_oldest(table, oldest);
    }
}

/* Join an end of a queue now with what is known, after all ends that precede it in time.
 * @return 0, or -ENOENT: it has no post */
static int call_queue_join(struct call_queue *q, uint64_t number)
{
    const struct open_request *end = call_queue_end_at(q, number);
    int code = -ENOENT;
    if (end == NULL)
        return code;
    call_queue_join_before(q->requests, end->t_post);
    while (q->end_first <= number)
        code = call_queue_join_oldest(q->requests, q);
    return code;
}

/* ---- records --------------------------------------------------------------- */

int call_queue_put(struct call_queue *q, const struct event *event, uint64_t waits_for,
                   uint32_t part)
{
    if (q->count == q->capacity && call_queue_grow(&q->items, sizeof(*q->items), &q->capacity,
                                                   q->first, q->first + q->count) != 0)
        return -ENOMEM;
    uint64_t position = q->first + q->count++;
    struct event *item = call_queue_item_at(q, position);
    *item = *event;
    if (event->seq == CALL_COMPLETE)
        return 0;
    struct open_request *request = event->seq == CALL_WAITS_FOR_POST
                                       ? call_queue_end_at(q, waits_for)
                                       : request_table_at(q->requests, waits_for, q, part, 1);
    if (request == NULL) {
        call_queue_complete_alone(item);
        return 0;
    }
    request->position = position;
    request->in_call = 0;
    *(event->seq == CALL_WAITS_FOR_END ? &item->bytes : &item->t_post) = waits_for;
    return 0;
}

const struct event *call_queue_oldest(const struct call_queue *q)
{
    return call_queue_item_at(q, q->first);
}

enum call_wait call_queue_waits(const struct call_queue *q)
{
    return q->count == 0 ? CALL_COMPLETE : (enum call_wait)call_queue_item_at(q, q->first)->seq;
}

/* Join the record at a position with what is known of its other end. @return does it stay without
 * one? */
static int call_queue_force_position(struct call_queue *q, uint64_t position)
{
    struct event *item = call_queue_item_at(q, position);
    if (item->seq == CALL_WAITS_FOR_POST)
        return call_queue_join(q, item->t_post) != 0;
    uint64_t id = item->bytes;
    if (q->requests->pending > 0)
        call_queue_join_before(q->requests, UINT64_MAX);
    if (item->seq == CALL_COMPLETE)
        return 0;
    /* a later record may still end it */
    struct open_request *request = request_table_at(q->requests, id, q, position, 0);
    call_queue_complete_alone(item);
    if (request != NULL)
        request->position = REQUEST_NOWHERE;
    return 1;
}

void call_queue_force(struct call_queue *q, int too_long)
{
    if (call_queue_waits(q) != CALL_COMPLETE && call_queue_force_position(q, q->first))
        q->forced += (uint64_t)too_long;
}

void call_queue_close(struct call_queue *q)
{
    call_queue_join_before(q->requests, UINT64_MAX);
    for (uint32_t i = 0; i < q->count; i++)
        if (call_queue_item_at(q, q->first + i)->seq != CALL_COMPLETE)
            q->forced += (uint64_t)call_queue_force_position(q, q->first + i);
}

int call_queue_is_full(const struct call_queue *q)
{
    return q->count >= CALL_QUEUE_READ_AHEAD &&
           (q->count >= CALL_QUEUE_CAPACITY || call_queue_waits(q) == CALL_COMPLETE);
}

/* In ranks with other threads the caller decides how long to wait. */
uint32_t call_queue_remove(struct call_queue *q, struct event *out, uint32_t most)
{
    uint32_t taken = 0;
    while (taken < most && q->count > 0) {
        struct event *item = call_queue_item_at(q, q->first);
        if (item->seq != CALL_COMPLETE) {
            if (q->shared || q->count < CALL_QUEUE_CAPACITY)
                break;
            call_queue_force(q, 1);
        }
        out[taken++] = *item;
        q->first++;
        q->count--;
    }
    return taken;
}
