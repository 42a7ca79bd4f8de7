/* Conversion of OTF2 regions and MPI records to calls and their parts: see otf2_calls.h. */
#include "daemon/import/otf2/otf2_calls.h"

#include "daemon/analysis/tables/array.h"
#include "holter/call.h"
#include "holter/segment.h"

#include <errno.h>
#include <stdlib.h>

#define DEEPEST (1u << 16)
#define NO_PART UINT32_MAX
#define MAX_PARTS UINT16_MAX /* of a call, as struct event counts them */

void otf2_calls_init(struct otf2_calls *c, struct request_table *requests, uint32_t thread,
                     uint32_t threads)
{
    *c = (struct otf2_calls){.error = 0};
    call_queue_init(&c->queue, requests, thread, threads);
}

void otf2_calls_finish(struct otf2_calls *c)
{
    call_queue_finish(&c->queue);
    free(c->stack);
    free(c->parts);
    free(c->waits);
    *c = (struct otf2_calls){0};
}

/* ---- the open call --------------------------------------------------------- */

static void otf2_calls_open_call(struct otf2_calls *c, uint64_t time, uint16_t call)
{
    c->in_call = 1;
    c->nested = c->has_collective = 0;
    c->call = call;
    c->enter = time;
    c->part_count = 0;
}

static int otf2_calls_reserve_part(struct otf2_calls *c)
{
    size_t need = c->part_count + (size_t)1;
    if (ARRAY_FIT(c->parts, c->part_capacity, need) != 0 ||
        ARRAY_FIT(c->waits, c->wait_capacity, need) != 0)
        c->error = -ENOMEM;
    c->queue.parts = c->parts;
    return c->error;
}

static void otf2_calls_close_call(struct otf2_calls *c, uint64_t time);

/* Add a part to the open call. A call that is never left would collect all records: it is emitted
 * in pieces. @return the part, to be filled in; NULL: no memory */
static struct event *otf2_calls_add_part(struct otf2_calls *c, uint16_t flags)
{
    if (c->part_count == MAX_PARTS) {
        int nested = c->nested;
        otf2_calls_close_call(c, c->newest);
        otf2_calls_open_call(c, c->newest, c->call);
        c->nested = nested;
    }
    if (otf2_calls_reserve_part(c) != 0)
        return NULL;
    c->waits[c->part_count] = 0;
    struct event *part = &c->parts[c->part_count++];
    *part = (struct event){.peer = PEER_NONE,
                           .tag = TAG_NONE,
                           .comm = COMM_SLOT_NONE,
                           .flags = flags,
                           .call = c->call};
    return part;
}

/* Calls that receive what MPI_Mprobe found do not record which message that is: they are matched
 * like other receives. */
static uint16_t otf2_calls_call_of_part(uint16_t call)
{
    return call == CALL_Mrecv ? CALL_Recv : call == CALL_Imrecv ? CALL_Irecv : call;
}

static void otf2_calls_put_event(struct otf2_calls *c, struct event *event, uint32_t part,
                                 uint64_t time)
{
    event->t_enter = c->enter;
    event->t_exit = time;
    event->region = c->region;
    if (call_queue_put(&c->queue, event, part != NO_PART ? c->waits[part] : 0, part) != 0)
        c->error = -ENOMEM;
}

static void otf2_calls_close_call(struct otf2_calls *c, uint64_t time)
{
    struct event alone = {.peer = PEER_NONE, .tag = TAG_NONE, .comm = COMM_SLOT_NONE};
    struct event *call = &alone;
    uint32_t first = 0;
    time = time < c->enter ? c->enter : time;
    if (c->part_count > 0 && otf2_calls_call_of_part(c->call) == c->call) {
        call = &c->parts[0];
        first = 1;
    }
    uint32_t rest = c->part_count - first;
    call->kind = EVENT_CALL;
    call->call = c->call;
    call->parts = rest > UINT16_MAX ? UINT16_MAX : (uint16_t)rest;
    otf2_calls_put_event(c, call, first == 1 ? 0 : NO_PART, time);
    for (uint32_t i = first; i < c->part_count; i++) {
        c->parts[i].kind = EVENT_PART;
        c->parts[i].call = otf2_calls_call_of_part(c->call);
        otf2_calls_put_event(c, &c->parts[i], i, time);
    }
    c->in_call = 0;
    c->part_count = 0;
}

/* A record outside of any MPI call becomes a call of its own. @return must the caller close it? */
static int otf2_calls_ensure_call(struct otf2_calls *c, uint64_t time, uint16_t call)
{
    c->newest = time > c->newest ? time : c->newest;
    if (c->in_call) {
        if (c->call == 0)
            c->call = call;
        return 0;
    }
    otf2_calls_open_call(c, time, call);
    return 1;
}

static void otf2_calls_close_single(struct otf2_calls *c, uint64_t time, int own)
{
    if (own)
        otf2_calls_close_call(c, time);
}

/* ---- regions --------------------------------------------------------------- */

static void otf2_calls_push_region(struct otf2_calls *c, uint16_t slot)
{
    if (c->too_deep > 0 || c->depth == DEEPEST) {
        c->too_deep++;
        return;
    }
    if (ARRAY_FIT(c->stack, c->stack_capacity, c->depth + (size_t)1) != 0) {
        c->error = -ENOMEM;
        return;
    }
    c->stack[c->depth++] = c->region;
    c->region = slot;
}

static void otf2_calls_pop_region(struct otf2_calls *c)
{
    if (c->too_deep > 0)
        c->too_deep--;
    else if (c->depth > 0)
        c->region = (uint16_t)c->stack[--c->depth];
    else
        c->totals.unbalanced++;
}

void otf2_calls_enter(struct otf2_calls *c, uint64_t time, uint32_t ref,
                      const struct otf2_region *region)
{
    c->newest = time > c->newest ? time : c->newest;
    if (region->kind == OTF2_REGION_CODE) {
        otf2_calls_push_region(c, region->slot);
    } else if (region->kind == OTF2_REGION_CALL) {
        if (c->in_call) {
            c->nested +=
                c->call_region == ref; /* an MPI call within an MPI call counts as one call */
            return;
        }
        otf2_calls_open_call(c, time, region->call);
        c->call_region = ref;
    }
}

void otf2_calls_leave(struct otf2_calls *c, uint64_t time, uint32_t ref,
                      const struct otf2_region *region)
{
    c->newest = time > c->newest ? time : c->newest;
    if (region->kind == OTF2_REGION_CODE) {
        otf2_calls_pop_region(c);
        return;
    }
    if (region->kind != OTF2_REGION_CALL)
        return;
    if (!c->in_call) {
        c->totals.unbalanced++;
    } else if (c->call_region == ref && c->nested > 0) {
        c->nested--;
    } else if (c->call_region == ref) {
        if (c->call == 0)
            c->totals.nameless++;
        otf2_calls_close_call(c, time);
    }
}

/* ---- messages -------------------------------------------------------------- */

static void otf2_calls_set_message(struct event *part, const struct otf2_message *message)
{
    part->peer = message->peer;
    part->tag = message->tag;
    part->bytes = message->bytes;
    part->comm = message->comm;
    part->flags |= message->flags;
}

static uint16_t otf2_calls_persistent(const struct otf2_calls *c)
{
    return c->call == CALL_Start || c->call == CALL_Startall ? EVENT_PERSISTENT : 0;
}

static void otf2_calls_single(struct otf2_calls *c, uint64_t time, uint16_t call, uint16_t kind,
                              const struct otf2_message *message)
{
    int own = otf2_calls_ensure_call(c, time, call);
    struct event *part = otf2_calls_add_part(c, kind | EVENT_POST | EVENT_DONE);
    if (part != NULL)
        otf2_calls_set_message(part, message);
    otf2_calls_close_single(c, time, own);
}

void otf2_calls_send(struct otf2_calls *c, uint64_t time, const struct otf2_message *message)
{
    c->totals.sends++;
    c->totals.send_bytes += message->bytes;
    otf2_calls_single(c, time, CALL_Send, EVENT_SEND, message);
}

/* ---- requests -------------------------------------------------------------- */

/* End a request with this part. @param end  its id, and what the part has no space for while it
 * waits for the post */
static void otf2_calls_end_request(struct otf2_calls *c, struct event *part,
                                   struct open_request *end)
{
    end->t_post = c->enter;
    end->flags |= part->flags & (EVENT_SEND | EVENT_RECV | EVENT_CANCELLED);
    end->position = (uint64_t)(part - c->parts);
    end->in_call = 1;
    part->seq = CALL_WAITS_FOR_POST;
    if (call_queue_end(&c->queue, end, &c->waits[end->position]) != 0) {
        part->seq = CALL_COMPLETE;
        c->error = -ENOMEM;
    }
}

/* Post a request with this part. @param post  what is known of it */
static void otf2_calls_post_request(struct otf2_calls *c, uint64_t id, struct event *part,
                                    struct open_request *post)
{
    uint16_t direction = post->flags & (EVENT_SEND | EVENT_RECV);
    post->number = part->request = call_queue_number(&c->queue);
    post->t_post = c->enter;
    post->order = c->queue.order++;
    struct open_request *request = call_queue_begin(&c->queue, id);
    if (request == NULL) {
        part->request = 0;
        return;
    }
    post->id = id;
    post->queue = &c->queue;
    post->taken = 1;
    post->position = REQUEST_NOWHERE;
    *request = *post;
    if (direction == EVENT_SEND)
        return;
    request->position = (uint64_t)(part - c->parts);
    request->in_call = 1;
    part->seq = CALL_WAITS_FOR_END;
    c->waits[request->position] = id;
}

void otf2_calls_isend(struct otf2_calls *c, uint64_t time, const struct otf2_message *message)
{
    int own = otf2_calls_ensure_call(c, time, CALL_Isend);
    struct event *part =
        otf2_calls_add_part(c, (uint16_t)(EVENT_SEND | EVENT_POST | otf2_calls_persistent(c)));
    if (part != NULL) {
        otf2_calls_set_message(part, message);
        struct open_request post = {.bytes = message->bytes,
                                    .peer = message->peer,
                                    .tag = message->tag,
                                    .comm = message->comm,
                                    .flags = part->flags &
                                             (EVENT_SEND | EVENT_PERSISTENT | EVENT_INTER)};
        otf2_calls_post_request(c, message->request, part, &post);
    }
    c->totals.sends++;
    c->totals.send_bytes += message->bytes;
    otf2_calls_close_single(c, time, own);
}

void otf2_calls_isend_complete(struct otf2_calls *c, uint64_t time, uint64_t id)
{
    int own = otf2_calls_ensure_call(c, time, CALL_Wait);
    struct event *part = otf2_calls_add_part(c, EVENT_SEND | EVENT_DONE);
    if (part != NULL) {
        part->peer = PEER_UNKNOWN;
        otf2_calls_end_request(c, part, &(struct open_request){.id = id});
    }
    otf2_calls_close_single(c, time, own);
}

void otf2_calls_irecv_request(struct otf2_calls *c, uint64_t time, uint64_t id)
{
    int own = otf2_calls_ensure_call(c, time, CALL_Irecv);
    struct event *part =
        otf2_calls_add_part(c, (uint16_t)(EVENT_RECV | EVENT_POST | otf2_calls_persistent(c)));
    if (part != NULL) {
        part->peer = PEER_UNKNOWN;
        struct open_request post = {.peer = PEER_UNKNOWN,
                                    .tag = TAG_NONE,
                                    .comm = COMM_SLOT_NONE,
                                    .flags = part->flags & (EVENT_RECV | EVENT_PERSISTENT)};
        otf2_calls_post_request(c, id, part, &post);
    }
    otf2_calls_close_single(c, time, own);
}

void otf2_calls_recv(struct otf2_calls *c, uint64_t time, const struct otf2_message *message)
{
    c->totals.receives++;
    c->totals.receive_bytes += message->bytes;
    otf2_calls_single(c, time, CALL_Recv, EVENT_RECV, message);
}

void otf2_calls_irecv(struct otf2_calls *c, uint64_t time, const struct otf2_message *message)
{
    int own = otf2_calls_ensure_call(c, time, CALL_Wait);
    struct event *part = otf2_calls_add_part(c, EVENT_RECV | EVENT_DONE);
    if (part != NULL) {
        otf2_calls_set_message(part, message);
        otf2_calls_end_request(c, part, &(struct open_request){.id = message->request});
    }
    c->totals.receives++;
    c->totals.receive_bytes += message->bytes;
    otf2_calls_close_single(c, time, own);
}

void otf2_calls_cancelled(struct otf2_calls *c, uint64_t time, uint64_t id)
{
    int own = otf2_calls_ensure_call(c, time, CALL_Wait);
    struct event *part = otf2_calls_add_part(c, EVENT_CANCELLED);
    if (part != NULL)
        otf2_calls_end_request(c, part, &(struct open_request){.id = id});
    otf2_calls_close_single(c, time, own);
}

/* ---- one-sided calls -------------------------------------------------------- */

/* Other programming models use these records for copies to and from accelerators, outside of MPI
 * calls. */
int otf2_calls_access(struct otf2_calls *c, uint64_t time, const struct otf2_access *access)
{
    c->newest = time > c->newest ? time : c->newest;
    if (!c->in_call || call_class_of(c->call) != CALL_ONE_SIDED)
        return 0;
    struct event *part = otf2_calls_add_part(c, 0);
    if (part == NULL)
        return 1;
    part->peer = access->target;
    part->bytes = access->sent;
    part->bytes_in = access->received;
    part->comm = access->comm;
    part->flags |= access->flags;
    return 1;
}

/* ---- collectives ----------------------------------------------------------- */

void otf2_calls_collective_begin(struct otf2_calls *c, uint64_t time)
{
    c->newest = time > c->newest ? time : c->newest;
    c->collective_enter = time;
}

static void otf2_calls_set_collective(struct event *part, const struct otf2_collective *collective)
{
    part->bytes = collective->sent;
    part->bytes_in = collective->received;
    part->peer = collective->root;
    part->comm = collective->comm;
    part->flags |= collective->flags;
}

/* Insert a part at the front: the record of a collective is the call's own, before the messages of
 * the call. */
static struct event *otf2_calls_insert_part(struct otf2_calls *c, uint16_t flags)
{
    struct event *part = otf2_calls_add_part(c, flags);
    if (part == NULL || c->part_count == 1)
        return part;
    uint32_t last = c->part_count - 1;
    c->parts[last] = c->parts[0];
    c->waits[last] = c->waits[0];
    if (c->parts[0].seq != CALL_COMPLETE) {
        struct open_request *request =
            c->parts[0].seq == CALL_WAITS_FOR_POST
                ? call_queue_end_at(&c->queue, c->waits[0])
                : request_table_at(c->queue.requests, c->waits[0], &c->queue, 0, 1);
        if (request != NULL)
            request->position = last;
    }
    c->waits[0] = 0;
    c->parts[0] = (struct event){.tag = TAG_NONE, .flags = flags, .call = c->call};
    return &c->parts[0];
}

void otf2_calls_collective_end(struct otf2_calls *c, uint64_t time,
                               const struct otf2_collective *collective)
{
    int own = otf2_calls_ensure_call(c, time, collective->call);
    if (own && c->collective_enter != 0 && c->collective_enter < c->enter)
        c->enter = c->collective_enter;
    c->collective_enter = 0;
    struct event *part =
        c->has_collective ? otf2_calls_add_part(c, 0) : otf2_calls_insert_part(c, 0);
    if (part != NULL)
        otf2_calls_set_collective(part, collective);
    c->has_collective = 1;
    c->totals.collectives++;
    otf2_calls_close_single(c, time, own);
}

void otf2_calls_collective_request(struct otf2_calls *c, uint64_t time, uint64_t id)
{
    int own = otf2_calls_ensure_call(c, time, 0);
    struct event *part = c->has_collective ? otf2_calls_add_part(c, EVENT_POST)
                                           : otf2_calls_insert_part(c, EVENT_POST);
    c->has_collective = 1;
    if (part != NULL) {
        part->peer = PEER_NONE;
        part->comm = COMM_SLOT_NONE;
        struct open_request post = {.peer = PEER_NONE, .tag = TAG_NONE, .comm = COMM_SLOT_NONE};
        otf2_calls_post_request(c, id, part, &post);
    }
    otf2_calls_close_single(c, time, own);
}

void otf2_calls_collective_complete(struct otf2_calls *c, uint64_t time,
                                    const struct otf2_collective *collective, uint64_t id)
{
    int own = otf2_calls_ensure_call(c, time, CALL_Wait);
    struct event *part = otf2_calls_add_part(c, EVENT_DONE);
    if (part != NULL) {
        struct open_request end = {
            .id = id, .bytes = collective->received, .flags = collective->flags};
        part->comm = collective->comm;
        part->peer = collective->root;
        part->bytes = collective->sent;
        otf2_calls_end_request(c, part, &end);
    }
    c->totals.collectives++;
    otf2_calls_close_single(c, time, own);
}

void otf2_calls_close(struct otf2_calls *c)
{
    c->totals.unbalanced += (uint64_t)c->in_call;
    if (c->in_call)
        otf2_calls_close_call(c, c->newest);
    if (!c->queue.shared)
        call_queue_close(&c->queue);
}
