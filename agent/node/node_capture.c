/* Encodes the newest records of several ranks as capture messages. */
#include "agent/node/node_capture.h"

#include "daemon/encoding/capture_row.h"
#include "holter/call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CAPACITY 65u

struct capture {
    struct capture_frame frame;
    uint64_t until_ns; /* CLOCK_MONOTONIC: only calls that ended by then; UINT64_MAX: all */
    uint64_t at_ns;    /* that, or frame.now_ns, in daemon time */
    size_t maximum;    /* records of a rank */
    struct rank_capture read;
    struct wire_buffer buffer;
    size_t threads, events, comms, regions, sources; /* of the message being filled */
    struct wire_capture_thread_row thread_rows[CAPTURE_MESSAGE_RECORDS];
    struct wire_capture_event_row event_rows[CAPTURE_MESSAGE_RECORDS];
    struct wire_comm_row comm_rows[CAPTURE_NAMES];
    struct wire_region_row region_rows[CAPTURE_NAMES];
    struct wire_source_row source_rows[CAPTURE_SOURCES];
    char comm_names[CAPTURE_NAMES][NAME_CAPACITY], region_names[CAPTURE_NAMES][NAME_CAPACITY];
};

/* ---- messages ------------------------------------------------------------ */

/* Position 0 means none, in both lists. */
static void capture_begin_message(struct capture *c)
{
    c->threads = c->events = c->sources = 0;
    c->comms = c->regions = 1;
    c->comm_rows[0] = (struct wire_comm_row){.name = ""};
    c->region_rows[0] = (struct wire_region_row){.name = ""};
}

static int node_capture_flush(struct capture *c, int more, const char *fault)
{
    const struct wire_capture_ask *ask = c->frame.ask;
    struct wire_captured message = {
        .seq = c->frame.next_seq(c->frame.user),
        .job = ask->job,
        .host = c->frame.host,
        .window = c->frame.window,
        .id = ask->id,
        .asked_ns = ask->asked_ns,
        .at_ns = c->at_ns,
        .threads = c->thread_rows,
        .threads_count = c->threads,
        .events = c->event_rows,
        .events_count = c->events,
        .comms = c->comm_rows,
        .comms_count = c->comms,
        .regions = c->region_rows,
        .regions_count = c->regions,
        .reason = ask->reason,
        .alert = ask->alert,
        .nodes = ask->nodes,
        .clock_error_ns = daemon_clock_error(c->frame.clock, c->frame.now_ns),
        .fault = fault,
        .more = (uint64_t)more,
        .sources = c->source_rows,
        .sources_count = c->sources,
    };
    int rc = wire_encode(&c->buffer, WIRE_TYPE_CAPTURED, &message);
    if (rc == 0)
        rc = c->frame.emit(c->frame.user, c->buffer.bytes, c->buffer.length);
    capture_begin_message(c);
    return rc;
}

/* ---- names --------------------------------------------------------------- */

/* @param comm_rank  set to the rank's number in it, from 1 up; 0: not known
 * @return its position, 0: not known; CAPTURE_NAMES: the message is full */
static size_t node_capture_comm_position(struct capture *c, const struct rank *rank,
                                         const struct event *event, uint64_t *comm_rank)
{
    struct comm_slot copy;
    *comm_rank = 0;
    if (!rank_copy_comm(rank, event->comm, &copy) || copy.id == 0 ||
        event_posted(event) < copy.since)
        return 0;
    *comm_rank = copy.my_rank < 0 ? 0 : (uint64_t)copy.my_rank + 1;
    for (size_t i = 1; i < c->comms; i++)
        if (c->comm_rows[i].id == copy.id)
            return i;
    if (c->comms == CAPTURE_NAMES)
        return CAPTURE_NAMES;
    rank_copy_text(c->comm_names[c->comms], NAME_CAPACITY, copy.name, sizeof copy.name);
    c->comm_rows[c->comms] = (struct wire_comm_row){.id = copy.id,
                                                    .parent = copy.parent,
                                                    .size = copy.size,
                                                    .remote_size = copy.remote_size,
                                                    .name = c->comm_names[c->comms]};
    return c->comms++;
}

static size_t node_capture_region_position(struct capture *c, const struct rank *rank,
                                           uint32_t slot)
{
    char name[NAME_CAPACITY];
    if (!rank_copy_region(rank, slot, name, sizeof name))
        return 0;
    for (size_t i = 1; i < c->regions; i++)
        if (strcmp(c->region_rows[i].name, name) == 0)
            return i;
    if (c->regions == CAPTURE_NAMES)
        return CAPTURE_NAMES;
    memcpy(c->region_names[c->regions], name, sizeof name);
    c->region_rows[c->regions] = (struct wire_region_row){c->region_names[c->regions]};
    return c->regions++;
}

/* Neighbours of a rank, once in a message. */
static void node_capture_add_sources(struct capture *c, const struct rank *rank, uint64_t comm)
{
    const uint64_t world_rank = (uint64_t)rank->world_rank;
    for (size_t i = c->sources; i-- > 0 && c->source_rows[i].rank == world_rank;)
        if (c->source_rows[i].comm == comm)
            return;
    for (uint32_t i = 0, one; i < SEGMENT_SOURCES; i++) {
        const struct source_slot *slot = &rank->sources[i];
        one = atomic_load_explicit(&slot->rank, memory_order_acquire);
        if (one == 0)
            return;
        if (*(const volatile uint64_t *)&slot->comm == comm && one <= (uint32_t)rank->world_size)
            c->source_rows[c->sources++] = (struct wire_source_row){comm, world_rank, one - 1};
    }
}

/* ---- records ------------------------------------------------------------- */

struct capture_clock {
    const struct capture *capture;
    const struct tick_clock *ticks;
};

/* Times written by the rank are not trusted: one in the future is replaced by now. */
static int64_t node_capture_time(const void *user, uint64_t ticks)
{
    const struct capture_clock *clock = user;
    const struct capture_frame *frame = &clock->capture->frame;
    uint64_t mono = tick_clock_ns(clock->ticks, ticks);
    mono = mono > frame->now_ns ? frame->now_ns : mono;
    return (int64_t)(daemon_clock_best(frame->clock, mono) - clock->capture->at_ns);
}

static void capture_begin_thread(struct capture *c, const struct rank *rank, uint32_t ring)
{
    const struct ring_control *control = rank->rings[ring].reader.control;
    c->thread_rows[c->threads++] = (struct wire_capture_thread_row){
        .rank = (uint64_t)rank->world_rank,
        .thread = ring,
        .tid = *(const volatile uint32_t *)&control->tid,
        .records = atomic_load_explicit(&control->head, memory_order_relaxed),
        .lapped = c->read.lapped[ring],
    };
}

static const struct tick_clock *node_capture_ticks(const struct capture *c, const struct rank *rank)
{
    return rank->tick_unit == TICK_TSC ? c->frame.tsc : c->frame.plain;
}

static int capture_add_record(struct capture *c, const struct rank *rank,
                              const struct captured_record *record, int new_thread)
{
    const struct capture_clock clock = {c, node_capture_ticks(c, rank)};
    if (record->event.kind < EVENT_CALL || record->event.kind > EVENT_REGION)
        return 0; /* probes do not write such records */
    for (;;) {
        if (new_thread || c->threads == 0)
            capture_begin_thread(c, rank, record->ring);
        struct wire_capture_event_row row =
            capture_row(&record->event, c->threads - 1, record->running, node_capture_time, &clock);
        row.comm = node_capture_comm_position(c, rank, &record->event, &row.comm_rank);
        row.region = node_capture_region_position(c, rank, record->event.region);
        if (row.comm < CAPTURE_NAMES && row.region < CAPTURE_NAMES) {
            c->event_rows[c->events++] = row;
            if (call_flow_of((uint32_t)row.call) == CALL_FLOW_NEIGHBOURS ||
                call_flow_of((uint32_t)row.started) == CALL_FLOW_NEIGHBOURS)
                node_capture_add_sources(c, rank, c->comm_rows[row.comm].id);
            break;
        }
        c->threads -= (size_t)(new_thread != 0);
        int rc = node_capture_flush(c, 1, NULL);
        if (rc != 0)
            return rc;
    }
    return c->events == CAPTURE_MESSAGE_RECORDS || c->threads == CAPTURE_MESSAGE_RECORDS ||
                   c->sources > CAPTURE_SOURCES - SEGMENT_SOURCES
               ? node_capture_flush(c, 1, NULL)
               : 0;
}

int capture_rank(struct capture *c, const struct rank *rank)
{
    int rc =
        rank_capture_read(&c->read, rank, c->maximum, node_capture_ticks(c, rank), c->until_ns);
    for (size_t i = 0; rc == 0 && i < c->read.count; i++) {
        const struct captured_record *record = &c->read.list[i];
        rc = capture_add_record(c, rank, record, i == 0 || record->ring != record[-1].ring);
    }
    return rc;
}

/* ---- life ---------------------------------------------------------------- */

int capture_create(struct capture **out, const struct capture_frame *frame)
{
    struct capture *c = malloc(sizeof *c); /* uninitialised: no row is read before it is written */
    if (c == NULL)
        return -ENOMEM;
    size_t share = frame->ranks == 0 ? CAPTURE_RECORDS : CAPTURE_RECORDS / frame->ranks;
    share = share < RANK_CAPTURE_MAXIMUM ? share : RANK_CAPTURE_MAXIMUM;
    c->frame = *frame;
    c->read = (struct rank_capture){0};
    c->buffer = (struct wire_buffer){0};
    c->maximum = frame->ask->events < share ? (size_t)frame->ask->events : share;
    c->maximum = c->maximum < 1 ? 1 : c->maximum;
    c->at_ns = daemon_clock_best(frame->clock, frame->now_ns);
    c->until_ns = UINT64_MAX;
    if (frame->ask->until_ns != 0 && frame->ask->until_ns < c->at_ns) {
        uint64_t past_ns = c->at_ns - frame->ask->until_ns;
        c->until_ns = frame->now_ns > past_ns ? frame->now_ns - past_ns : 0;
        c->at_ns = frame->ask->until_ns;
    }
    capture_begin_message(c);
    *out = c;
    return 0;
}

void capture_destroy(struct capture *c)
{
    if (c == NULL)
        return;
    rank_capture_finish(&c->read);
    wire_buffer_finish(&c->buffer);
    free(c);
}

int capture_end(struct capture *c, const char *fault)
{
    char shared[160];
    if (fault == NULL && c->maximum < c->frame.ask->events) {
        snprintf(shared, sizeof shared,
                 "%zu records of each rank instead of %" PRIu64 ": a node sends at most %u",
                 c->maximum, c->frame.ask->events, CAPTURE_RECORDS);
        fault = shared;
    }
    return node_capture_flush(c, 0, fault);
}
