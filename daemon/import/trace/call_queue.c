#include "daemon/import/trace/call_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256u
#define SOME 4096u /* records that are read ahead, when they are there */

/* event.seq tells which records wait; their bytes are not known yet and hold the id of the request. */
enum { COMPLETE, WAITS };

void call_queue_init(struct call_queue *q, uint32_t number, uint32_t step)
{
    *q = (struct call_queue){.next_number = number + 1, .number_step = step};
}

void call_queue_finish(struct call_queue *q)
{
    free(q->items);
    free(q->requests);
    *q = (struct call_queue){0};
}

/* ---- requests -------------------------------------------------------------- */

static uint32_t home_of(const struct call_queue *q, uint64_t id)
{
    return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (q->request_room - 1);
}

static struct open_request *slot_of(struct call_queue *q, uint64_t id)
{
    uint32_t at = home_of(q, id);
    while (q->requests[at].number != 0 && q->requests[at].id != id)
        at = (at + 1) & (q->request_room - 1);
    return &q->requests[at];
}

struct open_request *call_queue_find(struct call_queue *q, uint64_t id)
{
    struct open_request *found = q->request_room == 0 ? NULL : slot_of(q, id);
    return found == NULL || found->number == 0 ? NULL : found;
}

static int grow_requests(struct call_queue *q)
{
    struct open_request *old = q->requests;
    uint32_t old_room = q->request_room, room = old_room == 0 ? FIRST_ROOM : 2 * old_room;
    struct open_request *requests = calloc(room, sizeof(*requests));
    if (requests == NULL)
        return -ENOMEM;
    q->requests = requests;
    q->request_room = room;
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i].number != 0)
            *slot_of(q, old[i].id) = old[i];
    free(old);
    return 0;
}

static void let_go(struct call_queue *q, struct open_request *request)
{
    struct event *event = call_queue_waiting(q, request);
    if (event != NULL) {
        event->bytes = 0;
        q->forced++;
    }
}

/* Those behind it that would not be found any more move up (Knuth, volume 3, 6.4, algorithm R). */
void call_queue_end(struct call_queue *q, struct open_request *request)
{
    uint32_t mask = q->request_room - 1, hole = (uint32_t)(request - q->requests), at = hole;
    q->request_count--;
    for (;;) {
        q->requests[hole].number = 0;
        for (;;) {
            at = (at + 1) & mask;
            if (q->requests[at].number == 0)
                return;
            if (((at - home_of(q, q->requests[at].id)) & mask) >= ((at - hole) & mask))
                break;
        }
        q->requests[hole] = q->requests[at];
        hole = at;
    }
}

/* Requests that nothing tells the end of would fill the table. */
static void evict(struct call_queue *q)
{
    while (q->requests[q->evicted & (q->request_room - 1)].number == 0)
        q->evicted++;
    struct open_request *request = &q->requests[q->evicted++ & (q->request_room - 1)];
    let_go(q, request);
    call_queue_end(q, request);
}

struct open_request *call_queue_begin(struct call_queue *q, uint64_t id)
{
    struct open_request *request = call_queue_find(q, id);
    if (request != NULL) { /* its end was not told */
        let_go(q, request);
        call_queue_end(q, request);
    }
    if (q->request_count >= CALL_QUEUE_REQUESTS)
        evict(q);
    if (2 * (q->request_count + 1) > q->request_room && grow_requests(q) != 0)
        return NULL;
    q->request_count++;
    request = slot_of(q, id);
    *request = (struct open_request){
        .id = id, .position = UINT64_MAX, .number = q->next_number == 0 ? 1 : q->next_number};
    q->next_number += q->number_step;
    return request;
}

/* ---- records --------------------------------------------------------------- */

static struct event *item_at(const struct call_queue *q, uint64_t position)
{
    return &q->items[position & (q->room - 1)];
}

static int grow_items(struct call_queue *q)
{
    uint32_t room = q->room == 0 ? FIRST_ROOM : 2 * q->room;
    struct event *items = malloc(room * sizeof(*items));
    if (items == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < q->count; i++)
        items[(q->first + i) & (room - 1)] = *item_at(q, q->first + i);
    free(q->items);
    q->items = items;
    q->room = room;
    return 0;
}

int call_queue_put(struct call_queue *q, const struct event *event, const uint64_t *waits_for)
{
    if (q->count == q->room && grow_items(q) != 0)
        return -ENOMEM;
    uint64_t position = q->first + q->count++;
    struct event *item = item_at(q, position);
    *item = *event;
    item->seq = COMPLETE;
    struct open_request *request = waits_for == NULL ? NULL : call_queue_find(q, *waits_for);
    if (request != NULL) {
        item->seq = WAITS;
        item->bytes = *waits_for;
        request->position = position;
    }
    return 0;
}

struct event *call_queue_waiting(struct call_queue *q, struct open_request *request)
{
    uint64_t position = request->position;
    request->position = UINT64_MAX;
    if (position < q->first || position - q->first >= q->count)
        return NULL;
    struct event *item = item_at(q, position);
    if (item->seq != WAITS || item->bytes != request->id)
        return NULL;
    item->seq = COMPLETE;
    return item;
}

static void force(struct call_queue *q, struct event *item)
{
    struct open_request *request = call_queue_find(q, item->bytes);
    item->seq = COMPLETE;
    item->bytes = 0;
    q->forced++;
    if (request != NULL)
        request->position = UINT64_MAX;
}

void call_queue_close(struct call_queue *q)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (item_at(q, q->first + i)->seq == WAITS)
            force(q, item_at(q, q->first + i));
}

int call_queue_is_full(const struct call_queue *q)
{
    return q->count >= SOME && (q->count >= CALL_QUEUE_MOST || item_at(q, q->first)->seq != WAITS);
}

uint32_t call_queue_take(struct call_queue *q, struct event *out, uint32_t most)
{
    uint32_t taken = 0;
    while (taken < most && q->count > 0) {
        struct event *item = item_at(q, q->first);
        if (item->seq == WAITS && q->count < CALL_QUEUE_MOST)
            break;
        if (item->seq == WAITS)
            force(q, item);
        out[taken++] = *item;
        q->first++;
        q->count--;
    }
    return taken;
}
