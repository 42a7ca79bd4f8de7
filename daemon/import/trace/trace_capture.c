/* The newest records of a trace as a capture: see trace_capture.h. */
#include "daemon/import/trace/trace_capture.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/encoding/capture_row.h"
#include "daemon/import/trace/trace_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 256u /* communicators, and code regions, that are named */

/* ---- the newest records ---------------------------------------------------- */

uint32_t trace_capture_share(uint32_t streams)
{
    uint32_t share = TRACE_CAPTURE_RECORDS / (streams > 0 ? streams : 1);
    return share > TRACE_CAPTURE_STREAM ? TRACE_CAPTURE_STREAM : share;
}

int trace_capture_keep(struct trace_kept *kept, uint32_t share, const struct event *events,
                       size_t count)
{
    for (size_t i = 0; i < count && share > 0; i++) {
        if (events[i].kind < EVENT_CALL || events[i].kind > EVENT_REGION)
            continue; /* it counts as lost */
        if (kept->count < share &&
            ARRAY_FIT(kept->events, kept->capacity, kept->count + (size_t)1) != 0)
            return -ENOMEM;
        struct event *slot = &kept->events[kept->count % share];
        *slot = events[i];
        slot->seq = kept->count++;
    }
    return 0;
}

void trace_capture_finish(struct trace_kept *kept)
{
    free(kept->events);
    *kept = (struct trace_kept){0};
}

/* ---- the message ----------------------------------------------------------- */

struct capture_work {
    const struct trace_host *host;
    const struct trace_rank *rank; /* the one whose records are added */
    uint64_t at_ns;
    struct wire_capture_thread_row *threads; /* owned */
    struct wire_capture_event_row *events;   /* owned */
    size_t thread_count, event_count;
    struct trace_comm comms[NAMES];
    struct wire_comm_row comm_rows[NAMES];
    struct wire_region_row region_rows[NAMES];
    size_t comm_count, region_count; /* position 0 means none */
};

static int64_t trace_capture_time(const void *user, uint64_t ticks)
{
    const struct capture_work *w = user;
    return (int64_t)(tick_clock_ns(&w->host->clock, ticks) - w->at_ns);
}

/* @param comm_rank  set to the rank's number in it, from 1 up; 0: not known
 * @return its position; 0: it is not known, or there are too many */
static size_t trace_capture_comm(struct capture_work *w, uint32_t slot, uint64_t *comm_rank)
{
    const struct trace_reader *reader = w->rank->reader;
    struct trace_comm comm = {0};
    *comm_rank = 0;
    if (reader->comm(reader->user, w->rank->rank, slot, &comm) != 0 || comm.id == 0)
        return 0;
    *comm_rank = comm.my_rank < 0 ? 0 : (uint64_t)comm.my_rank + 1;
    for (size_t i = 1; i < w->comm_count; i++)
        if (w->comms[i].id == comm.id)
            return i;
    if (w->comm_count == NAMES)
        return 0;
    comm.name[sizeof(comm.name) - 1] = '\0';
    struct trace_comm *kept = &w->comms[w->comm_count];
    *kept = comm;
    w->comm_rows[w->comm_count] = (struct wire_comm_row){.id = kept->id,
                                                         .parent = kept->parent,
                                                         .size = kept->size,
                                                         .remote_size = kept->remote_size,
                                                         .name = kept->name};
    return w->comm_count++;
}

static size_t trace_capture_region(struct capture_work *w, uint32_t slot)
{
    const struct trace_reader *reader = w->rank->reader;
    const char *name = reader->region == NULL || slot == 0
                           ? NULL
                           : reader->region(reader->user, w->rank->rank, slot);
    if (name == NULL)
        return 0;
    for (size_t i = 1; i < w->region_count; i++)
        if (strcmp(w->region_rows[i].name, name) == 0)
            return i;
    if (w->region_count == NAMES)
        return 0;
    w->region_rows[w->region_count] = (struct wire_region_row){name};
    return w->region_count++;
}

/* A part whose call is not kept is useless. */
static uint64_t trace_capture_first(const struct trace_kept *kept, uint32_t share)
{
    uint64_t first = kept->count > share ? kept->count - share : 0;
    while (first < kept->count && kept->events[first % share].kind == EVENT_PART)
        first++;
    return first;
}

static void trace_capture_add_stream(struct capture_work *w, const struct trace_kept *kept,
                                     uint32_t thread)
{
    uint32_t share = w->host->capture_share;
    w->threads[w->thread_count++] = (struct wire_capture_thread_row){
        .rank = w->rank->rank, .thread = thread, .records = kept->count};
    for (uint64_t n = trace_capture_first(kept, share); n < kept->count; n++) {
        const struct event *event = &kept->events[n % share];
        struct wire_capture_event_row *row = &w->events[w->event_count++];
        *row = capture_row(event, w->thread_count - 1, 0, trace_capture_time, w);
        row->comm = trace_capture_comm(w, event->comm, &row->comm_rank);
        row->region = trace_capture_region(w, event->region);
    }
}

static int trace_capture_reserve(struct capture_work *w)
{
    size_t streams = 0, records = 0;
    for (uint32_t i = 0; i < w->host->rank_count; i++) {
        const struct trace_rank *rank = &w->host->all[w->host->ranks[i]];
        for (uint32_t k = 0; k < rank->stream_count; k++, streams++) {
            uint64_t count = w->host->all_streams[rank->streams[k]].kept.count;
            records += count < w->host->capture_share ? count : w->host->capture_share;
        }
    }
    w->threads = calloc(streams + 1, sizeof(*w->threads));
    w->events = calloc(records + 1, sizeof(*w->events));
    return w->threads == NULL || w->events == NULL ? -ENOMEM : 0;
}

static int trace_capture_write(struct capture_work *w, struct wire_buffer *out, uint64_t window,
                               uint64_t seq, uint32_t nodes)
{
    const struct wire_captured message = {
        .seq = seq,
        .job = w->host->job->name,
        .host = w->host->job->hosts[w->host->number],
        .window = window,
        .id = 1,
        .asked_ns = w->host->capture_ns,
        .at_ns = w->at_ns,
        .threads = w->threads,
        .threads_count = w->thread_count,
        .events = w->events,
        .events_count = w->event_count,
        .comms = w->comm_rows,
        .comms_count = w->comm_count,
        .regions = w->region_rows,
        .regions_count = w->region_count,
        .reason = "the end of the trace",
        .nodes = nodes,
        .clock_error_ns = w->host->job->host_count > 1 ? WIRE_ANY : 0,
    };
    return wire_encode(out, WIRE_TYPE_CAPTURED, &message);
}

int trace_capture_encode(struct wire_buffer *out, const struct trace_host *host, uint64_t window,
                         uint64_t at_ns, uint64_t seq, uint32_t nodes)
{
    struct capture_work *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return -ENOMEM;
    *w = (struct capture_work){.host = host, .at_ns = at_ns, .comm_count = 1, .region_count = 1};
    w->comm_rows[0].name = w->region_rows[0].name = "";
    int code = trace_capture_reserve(w);
    for (uint32_t i = 0; code == 0 && i < host->rank_count; i++) {
        w->rank = &host->all[host->ranks[i]];
        for (uint32_t k = 0; k < w->rank->stream_count; k++)
            trace_capture_add_stream(w, &host->all_streams[w->rank->streams[k]].kept, k);
    }
    if (code == 0)
        code = trace_capture_write(w, out, window, seq, nodes);
    free(w->threads);
    free(w->events);
    free(w);
    return code;
}
