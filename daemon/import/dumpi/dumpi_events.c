/* Conversion of the calls of one rank to records: see dumpi_events.h. The kinds of calls are in
 * dumpi_messages.c, dumpi_collectives.c and dumpi_others.c. */
#include "daemon/import/dumpi/dumpi_record.h"

#include "daemon/analysis/tables/array.h"
#include "holter/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- time -------------------------------------------------------------------- */

#define TURN_S INT64_C(65536)   /* seconds are stored in 16 bits */
#define MAX_TURNS INT64_C(1000) /* 2 years */
#define BILLION INT64_C(1000000000)
#define MAX_REQUESTS (1u << 20) /* open ones of a rank; further ones are not tracked */

void dumpi_clock_read(struct dumpi_clock *clock, const struct dumpi_call *call, int64_t *enter_ns,
                      int64_t *exit_ns)
{
    const struct dumpi_time *time = call->mask & DUMPI_HAS_WALL_TIME ? &call->wall : &call->cpu;
    if (!(call->mask & (DUMPI_HAS_WALL_TIME | DUMPI_HAS_CPU_TIME))) {
        *enter_ns = clock->calls++ * 1000;
        *exit_ns = *enter_ns + 1;
        return;
    }
    int64_t start = time->start_s + clock->turned_s, stop = time->stop_s + clock->turned_s;
    if (clock->begun && start < clock->last_s - TURN_S / 2 &&
        clock->turned_s < MAX_TURNS * TURN_S) {
        clock->turned_s += TURN_S;
        start += TURN_S;
        stop += TURN_S;
    }
    if (stop < start - TURN_S / 2) /* the 16 bits of the seconds overflowed during the call */
        stop += TURN_S;
    *enter_ns = start * BILLION + time->start_ns;
    *exit_ns = stop * BILLION + time->stop_ns;
    if (*exit_ns < *enter_ns)
        *exit_ns = *enter_ns;
    clock->last_s = *exit_ns / BILLION;
    clock->begun = 1;
}

/* ---- life -------------------------------------------------------------------- */

void dumpi_call_numbers(struct dumpi_call_numbers *out)
{
    for (uint32_t i = 0; i < DUMPI_FUNCTIONS; i++) {
        char name[64];
        int io = i >= DUMPIO_Test; /* the former MPIO_Wait is MPI_Wait for a request of a file */
        snprintf(name, sizeof name, "MPI_%s", dumpi_layout(i)->name + (io ? 5 : 4));
        out->of[i] = call_by_name(name);
    }
}

static int dumpi_events_bind_slot(struct dumpi_slots *slots, int64_t handle, uint16_t slot)
{
    uint32_t at = (uint16_t)handle;
    if (at >= slots->room) {
        uint32_t room = at + at / 2 + 8;
        if (ARRAY_RESIZE(slots->of, room) != 0)
            return -ENOMEM;
        memset(slots->of + slots->room, 0xff, (room - slots->room) * sizeof *slots->of);
        slots->room = room;
    }
    slots->of[at] = slot;
    return 0;
}

int dumpi_events_init(struct dumpi_events *events, const struct dumpi_file *file,
                      const struct dumpi_comms *comms, uint32_t rank,
                      const struct dumpi_call_numbers *numbers, size_t room)
{
    *events =
        (struct dumpi_events){.comms = comms, .numbers = numbers, .rank = rank, .next_slot = 2};
    int code = dumpi_stream_init(&events->stream, file, room);
    if (code == 0)
        code = dumpi_types_init(&events->types, file);
    if (code == 0)
        code = dumpi_events_bind_slot(&events->comm_slots, DUMPI_COMM_WORLD, 0);
    return code == 0 ? dumpi_events_bind_slot(&events->comm_slots, DUMPI_COMM_SELF, 1) : code;
}

void dumpi_events_finish(struct dumpi_events *events)
{
    dumpi_stream_finish(&events->stream);
    dumpi_types_finish(&events->types);
    request_table_finish(&events->requests);
    free(events->comm_slots.of);
    free(events->window_slots.of);
    free(events->queue);
    *events = (struct dumpi_events){0};
}

/* ---- communicators ----------------------------------------------------------- */

static uint32_t dumpi_events_slot_of(const struct dumpi_slots *slots, int64_t handle)
{
    uint32_t at = (uint16_t)handle;
    return at < slots->room ? slots->of[at] : UINT16_MAX;
}

struct dumpi_view dumpi_view_of(const struct dumpi_events *events, int64_t handle)
{
    return dumpi_comms_view(events->comms, events->rank,
                            dumpi_events_slot_of(&events->comm_slots, handle));
}

struct dumpi_view dumpi_window_of(const struct dumpi_events *events, int64_t handle)
{
    return dumpi_comms_view(events->comms, events->rank,
                            dumpi_events_slot_of(&events->window_slots, handle));
}

/* Map a handle to what this call made, from now on. */
static int dumpi_events_follow_making(struct dumpi_events *events)
{
    struct dumpi_making made;
    if (!dumpi_comm_making(&events->stream, &made))
        return 0;
    uint16_t slot =
        events->next_slot < DUMPI_MAX_SLOTS ? (uint16_t)events->next_slot++ : UINT16_MAX;
    if (made.window)
        return dumpi_events_bind_slot(&events->window_slots, made.child, slot);
    return made.child > DUMPI_COMM_SELF
               ? dumpi_events_bind_slot(&events->comm_slots, made.child, slot)
               : 0;
}

/* ---- records ------------------------------------------------------------------ */

static struct event nowhere;

struct event *dumpi_record(struct dumpi_events *events)
{
    if (ARRAY_FIT(events->queue, events->queue_capacity, events->queued + (size_t)1) != 0) {
        events->code = -ENOMEM;
        return &nowhere;
    }
    struct event *first = &events->queue[0], *record = &events->queue[events->queued];
    *record = (struct event){.peer = PEER_NONE,
                             .tag = TAG_NONE,
                             .comm = COMM_SLOT_NONE,
                             .call = events->numbers->of[events->stream.call.function],
                             .kind = events->queued == 0 ? EVENT_CALL : EVENT_PART};
    if (events->queued > 0) {
        record->t_enter = first->t_enter;
        record->t_exit = first->t_exit;
        if (first->parts < UINT16_MAX)
            first->parts++;
    }
    events->queued++;
    return record;
}

/* Files have handles, not requests: a handle is reused when its request has ended, and MPIs give
 * the same one to all requests that are complete when they are made. So a new request replaces one
 * with the same handle. */
struct open_request *dumpi_find_request(const struct dumpi_events *events, int64_t handle)
{
    return handle == DUMPI_REQUEST_NULL
               ? NULL
               : request_table_own(&events->requests, (uint32_t)handle, NULL);
}

void dumpi_store_request(struct dumpi_events *events, struct event *record, int64_t handle,
                         uint64_t bytes)
{
    struct open_request *request = dumpi_find_request(events, handle);
    if (handle == DUMPI_REQUEST_NULL) { /* complete when it was posted */
        record->flags |= record->flags & EVENT_POST ? EVENT_DONE : 0;
        return;
    }
    if (request == NULL && events->requests.count < MAX_REQUESTS)
        request = request_table_add(&events->requests, (uint32_t)handle, NULL);
    if (request == NULL) {
        record->flags |= EVENT_UNTRACKED;
        return;
    }
    events->request_number += events->request_number == UINT32_MAX ? 2u : 1u; /* 0: none */
    record->request = request->number = events->request_number;
    request->t_post = record->t_enter;
    request->bytes = bytes;
    request->peer = record->peer;
    request->tag = record->tag;
    request->comm = record->comm;
    request->flags = (uint16_t)(record->flags & ~(EVENT_POST | EVENT_DONE));
    request->idle = (record->flags & EVENT_PERSISTENT) != 0;
    request->cancelled = 0;
}

static uint64_t dumpi_events_tick_of(const struct dumpi_events *events, int64_t ns)
{
    return ns > events->zero_ns ? (uint64_t)(ns - events->zero_ns) + 1 : 1; /* 0 means no exit */
}

static int dumpi_events_is_ours(const struct dumpi_events *events)
{
    for (uint32_t i = 0; i < events->thread_count; i++)
        if (events->threads[i] == events->stream.call.thread)
            return 1;
    return events->thread_count == 0;
}

static void dumpi_events_handle_call(struct dumpi_events *events)
{
    int64_t enter_ns, exit_ns;
    dumpi_clock_read(&events->clock, &events->stream.call, &enter_ns, &exit_ns);
    uint16_t call = events->numbers->of[events->stream.call.function];
    events->queued = events->given = 0;
    if (call != 0) {
        struct event *record = dumpi_record(events);
        record->t_enter = dumpi_events_tick_of(events, enter_ns);
        record->t_exit = dumpi_events_tick_of(events, exit_ns);
        switch (call_class_of(call)) {
        case CALL_SEND:
        case CALL_RECV:
            dumpi_record_message(events);
            break;
        case CALL_WAIT:
        case CALL_POLL:
            dumpi_record_request(events);
            break;
        case CALL_COLLECTIVE:
            dumpi_record_collective(events);
            break;
        default:
            dumpi_record_other(events);
            break;
        }
        if (!dumpi_events_is_ours(events))
            events->queued = 0;
    }
    if (dumpi_types_update(&events->types, &events->stream) != 0 ||
        dumpi_events_follow_making(events) != 0)
        events->code = -ENOMEM;
}

int dumpi_events_next(struct dumpi_events *events, struct event *out)
{
    uint32_t count = 0;
    while (count < TRACE_BATCH && events->code == 0) {
        for (; events->given < events->queued && count < TRACE_BATCH; count++) {
            out[count] = events->queue[events->given++];
            out[count].seq = events->seq++;
        }
        if (events->given < events->queued)
            break;
        int got = dumpi_stream_next(&events->stream);
        if (got < 0)
            events->code = got;
        if (got != 1)
            break;
        dumpi_events_handle_call(events);
    }
    return events->code != 0 && count == 0 ? events->code : (int)count;
}
