/* A virtual agent for the ranks of one host of a trace: see trace_host.h. */
#include "daemon/import/trace/trace_host.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAIRS (1u << 17) /* limit of the rows of pairs in one window, as in agents */
#define CALL_NUMBERS_MOST 65536u

/* ---- desks ----------------------------------------------------------------- */

int trace_desk_init(struct trace_desk *desk)
{
    *desk = (struct trace_desk){0};
    if (event_sum_create(&desk->sum, MAX_PAIRS) == 0 &&
        transfer_sum_create(&desk->transfers, MAX_PAIRS) == 0)
        return 0;
    trace_desk_finish(desk);
    return -ENOMEM;
}

void trace_desk_finish(struct trace_desk *desk)
{
    event_sum_destroy(desk->sum);
    transfer_sum_destroy(desk->transfers);
    wire_buffer_finish(&desk->messages);
    free(desk->parts);
    *desk = (struct trace_desk){0};
}

static int trace_host_store(struct trace_desk *desk, enum wire_type type, uint64_t seq,
                            const void *bytes, size_t length)
{
    struct wire_buffer *all = &desk->messages;
    if (ARRAY_FIT(desk->parts, desk->part_capacity, desk->part_count + (size_t)1) != 0)
        return -ENOMEM;
    if (array_fit(&all->bytes, 1, &all->capacity, all->length + length) != 0)
        return -ENOMEM;
    memcpy(all->bytes + all->length, bytes, length);
    all->length += length;
    desk->parts[desk->part_count++] = (struct trace_message){seq, length, type};
    return 0;
}

static int trace_host_store_message(void *user, uint64_t seq, const void *bytes, size_t length)
{
    return trace_host_store(user, WIRE_TYPE_WINDOW, seq, bytes, length);
}

/* ---- hosts ----------------------------------------------------------------- */

static void trace_host_on_message(void *user, const struct match_message *message)
{
    struct trace_host *host = user;
    transfer_sum_message(host->desk->transfers, message);
}

static void trace_host_on_half(void *user, const struct match_half *half)
{
    struct trace_host *host = user;
    transfer_sum_half(host->desk->transfers, half);
}

static uint32_t trace_host_find_comm(void *user, uint32_t slot, uint64_t *since);
static uint32_t trace_host_find_region(void *user, uint32_t slot);

int trace_host_init(struct trace_host *host)
{
    struct match_sink sink = {trace_host_on_message, trace_host_on_half, host};
    if (match_create(&host->match, host->job->ranks, &sink) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < host->rank_count; i++) {
        struct trace_rank *rank = &host->all[host->ranks[i]];
        rank->reader = host->reader;
        rank->member = match_add(host->match, rank->rank);
        rank->tables.find_comm = trace_host_find_comm;
        rank->tables.find_region = trace_host_find_region;
        rank->tables.user = rank;
        if (rank->member == NULL)
            return -ENOMEM;
    }
    match_all_added(host->match);
    return 0;
}

void trace_host_finish(struct trace_host *host)
{
    match_destroy(host->match);
    for (uint32_t i = 0; host->all != NULL && i < host->rank_count; i++) {
        struct trace_rank *rank = &host->all[host->ranks[i]];
        free(rank->tables.comms);
        free(rank->tables.regions);
        free(rank->comm_ids);
    }
}

/* ---- communicators and regions --------------------------------------------- */

/* The same rule as in agent/node/rank.c: communicators whose positions are not known anyway are not
 * announced. */
static int trace_host_is_announced(const struct trace_comm *comm)
{
    return comm->id > 2 && comm->remote_size == 0 && comm->my_rank >= 0 &&
           (uint32_t)comm->my_rank < comm->size;
}

static uint32_t trace_host_find_comm(void *user, uint32_t slot, uint64_t *since)
{
    (void)since;
    struct trace_rank *rank = user;
    struct trace_comm comm = {0};
    char name[sizeof(comm.name) + 1];
    if (rank->reader->comm(rank->reader->user, rank->rank, slot, &comm) != 0)
        return 0;
    memcpy(name, comm.name, sizeof(comm.name));
    name[sizeof(comm.name)] = '\0';
    struct wire_comm_row row = {.id = comm.id,
                                .parent = comm.parent,
                                .size = comm.size,
                                .remote_size = comm.remote_size,
                                .name = name};
    uint32_t position = event_sum_comm(rank->sum, &row);
    if (position != 0 && trace_host_is_announced(&comm))
        event_sum_member(rank->sum, rank->index, position, (uint32_t)comm.my_rank);
    return position;
}

static uint32_t trace_host_find_region(void *user, uint32_t slot)
{
    struct trace_rank *rank = user;
    const struct trace_reader *reader = rank->reader;
    const char *name =
        reader->region == NULL ? NULL : reader->region(reader->user, rank->rank, slot);
    return name == NULL ? 0 : event_sum_region(rank->sum, name);
}

static uint64_t trace_host_match_comm(void *user, uint32_t slot, int *fresh)
{
    struct trace_rank *rank = user;
    *fresh = 0;
    if (slot >= rank->tables.comm_count)
        return 0;
    if (rank->comm_ids[slot] == 0) {
        struct trace_comm comm = {0};
        int code = rank->reader->comm(rank->reader->user, rank->rank, slot, &comm);
        rank->comm_ids[slot] = (code == 0 && comm.id != UINT64_MAX ? comm.id : 0) + 1;
    }
    return rank->comm_ids[slot] - 1;
}

static int trace_host_reserve_comms(struct trace_rank *rank, uint32_t slot)
{
    struct sum_tables *tables = &rank->tables;
    uint32_t room = tables->comm_count;
    if (slot >= COMM_SLOT_OTHER)
        return 0;
    int code = ARRAY_FIT_AT(rank->comm_ids, room, slot);
    return code != 0 ? code : ARRAY_FIT_AT(tables->comms, tables->comm_count, slot);
}

static int trace_host_reserve_regions(struct trace_rank *rank, uint32_t slot)
{
    struct sum_tables *tables = &rank->tables;
    return slot == 0 ? 0 : ARRAY_FIT_AT(tables->regions, tables->region_count, slot);
}

/* ---- streams --------------------------------------------------------------- */

int trace_stream_refill(struct trace_stream *stream, const struct trace_reader *reader,
                        uint64_t until, uint64_t limit)
{
    until = stream->later > limit ? UINT64_MAX
                                  : until; /* its time is invalid: it must not delay others */
    stream->at = stream->count = 0;
    stream->sound = 0;
    stream->later = 0;
    if (stream->batch == NULL)
        stream->batch = malloc(TRACE_BATCH * sizeof(*stream->batch));
    int got = stream->batch == NULL
                  ? -ENOMEM
                  : reader->next(reader->user, stream->number, until, stream->batch);
    if (got > 0) {
        stream->count = (uint32_t)got < TRACE_BATCH ? (uint32_t)got : TRACE_BATCH;
        return 1;
    }
    if (got == -EAGAIN && until != UINT64_MAX) {
        stream->later = stream->batch[0].t_enter;
        return stream->later >= until;
    }
    stream->ended = 1;
    stream->failed = got < 0;
    array_release(&stream->batch);
    return 1;
}

static void trace_host_count_beyond(struct trace_host *host, uint32_t rank,
                                    const struct event *event)
{
    uint64_t time = event->t_exit > event->t_enter ? event->t_exit : event->t_enter;
    int bits = 63 - __builtin_clzll(time | 1);
    host->beyond[bits]++;
    if (host->stray_ns == 0) {
        host->stray_ns = time;
        host->stray_rank = rank;
    }
    if (time > host->beyond_latest[bits])
        host->beyond_latest[bits] = time;
}

/* Are the bytes of a record within the job's limit, and can the sums hold them? Those of all hosts
 * together stay below 2^63. */
static int trace_host_takes_bytes(struct trace_host *host, const struct event *event)
{
    const uint64_t limit = host->job->record_bytes;
    const unsigned without = EVENT_SEND | EVENT_RECV | EVENT_DONE | EVENT_CANCELLED;
    uint64_t in = event->flags & without ? 0 : event->bytes_in; /* else it is something else */
    uint64_t most = INT64_MAX / host->job->host_count;
    if (limit == 0)
        return 1;
    if (event->bytes > limit || in > limit || event->bytes + in > most - host->bytes)
        return 0;
    host->bytes += event->bytes + in;
    return 1;
}

/* Prepare records for summing: tables grow to the slots that records name, and times that go back
 * are corrected. Calls of a thread follow each other; a time that went back would make the matcher
 * search among all open calls. */
static int trace_host_validate(struct trace_host *host, struct trace_rank *rank,
                               struct trace_stream *stream)
{
    int code = 0;
    stream->sound = 1;
    uint64_t limit = host->limit_ns - host->clock.base_ns;
    for (uint32_t i = 0; code == 0 && i < stream->count; i++) {
        struct event *event = &stream->batch[i];
        if (event->t_exit > limit || event->t_enter > limit) {
            trace_host_count_beyond(host, rank->rank, event);
            event->kind = 0; /* counts as lost */
            continue;
        }
        if (!trace_host_takes_bytes(host, event)) {
            event->kind = 0;
            continue;
        }
        event->t_enter = event->t_enter < stream->entered ? stream->entered : event->t_enter;
        event->t_exit = event->t_exit < event->t_enter ? event->t_enter : event->t_exit;
        stream->entered = event->t_enter;
        code = trace_host_reserve_comms(rank, event->comm);
        code = code != 0 ? code : trace_host_reserve_regions(rank, event->region);
    }
    return code;
}

static struct sum_source trace_host_source_of(const struct trace_host *host,
                                              struct trace_rank *rank, struct trace_stream *stream,
                                              uint64_t end_ns)
{
    return (struct sum_source){.ring = &stream->sum,
                               .tables = &rank->tables,
                               .clock = &host->clock,
                               .end_ns = end_ns,
                               .now_ns = host->limit_ns};
}

/* Validate the records that were read. @return 0 or -ENOMEM */
static int trace_host_prepare(struct trace_host *host, struct trace_rank *rank,
                              struct trace_stream *stream)
{
    return stream->sound || stream->at == stream->count ? 0
                                                        : trace_host_validate(host, rank, stream);
}

/* Sum the records of the window that ends at end_ns, as far as they end by the tick `until`.
 * @return number of records */
static uint32_t trace_host_drain_stream(struct trace_host *host, struct trace_rank *rank,
                                        uint32_t ring, uint64_t end_ns, uint64_t until)
{
    struct trace_stream *stream = &host->all_streams[rank->streams[ring]];
    struct sum_source source = trace_host_source_of(host, rank, stream, end_ns);
    struct match_source matching = {&host->clock, ring, trace_host_match_comm, rank};
    size_t most = stream->count - stream->at, count = until == UINT64_MAX ? most : 0;
    if (most == 0)
        return 0;
    const struct event *events = stream->batch + stream->at;
    while (count < most && (events[count].t_exit <= until || events[count].kind == 0))
        count++;
    if (count == 0)
        return 0;
    size_t taken = event_sum_events(rank->sum, rank->index, &source, events, count);
    match_events(host->match, rank->member, &matching, events, taken);
    if (trace_capture_keep(&stream->kept, host->capture_share, events, taken) != 0)
        host->code = -ENOMEM;
    stream->at += (uint32_t)taken;
    return (uint32_t)taken;
}

/* When the next record of a stream ends, or the earliest time when it may. */
static uint64_t trace_host_next_exit(const struct trace_stream *stream)
{
    if (stream->at == stream->count)
        return stream->ended ? UINT64_MAX : stream->later;
    const struct event *event = &stream->batch[stream->at];
    return event->kind == 0 ? 0 : event->t_exit;
}

/* One thread may complete what another posts: records of a rank are matched in the order of their
 * ends, up to the time that all its threads have been read to. */
static void trace_host_drain_threads(struct trace_host *host, struct trace_rank *rank,
                                     uint64_t end_ns)
{
    uint32_t taken = 1;
    while (taken > 0) {
        uint64_t first_exit = UINT64_MAX, other_exit = UINT64_MAX;
        uint32_t first = 0;
        for (uint32_t k = 0; k < rank->stream_count; k++) {
            uint64_t exit = trace_host_next_exit(&host->all_streams[rank->streams[k]]);
            if (exit < first_exit) {
                other_exit = first_exit;
                first_exit = exit;
                first = k;
            } else if (exit < other_exit) {
                other_exit = exit;
            }
        }
        taken = trace_host_drain_stream(host, rank, first, end_ns, other_exit);
    }
}

/* Merge the threads of a rank by the entries of their calls, up to the time that all of them are
 * known to. */
static void trace_host_write_known(struct trace_host *host, struct trace_rank *rank,
                                   uint64_t end_ns)
{
    uint64_t known = end_ns;
    if (rank->stream_count < 2)
        return;
    for (uint32_t i = 0; i < rank->stream_count; i++) {
        const struct trace_stream *stream = &host->all_streams[rank->streams[i]];
        struct match_source source = {&host->clock, i, trace_host_match_comm, rank};
        const struct event *next = stream->at < stream->count ? &stream->batch[stream->at] : NULL;
        uint64_t until = match_underway(rank->member, &source, next);
        uint64_t exit_ns = next == NULL ? UINT64_MAX : tick_clock_ns(&host->clock, next->t_exit);
        until = exit_ns < until ? exit_ns : until;
        known = until < known ? until : known;
    }
    match_known_until(host->match, rank->member, known);
}

int trace_host_drain(struct trace_host *host, uint64_t end_ns)
{
    int dry = 0;
    for (uint32_t i = 0; host->code == 0 && i < host->rank_count; i++) {
        struct trace_rank *rank = &host->all[host->ranks[i]];
        for (uint32_t k = 0; host->code == 0 && k < rank->stream_count; k++)
            host->code = trace_host_prepare(host, rank, &host->all_streams[rank->streams[k]]);
        if (host->code == 0 && rank->stream_count == 1)
            trace_host_drain_stream(host, rank, 0, end_ns, UINT64_MAX);
        else if (host->code == 0)
            trace_host_drain_threads(host, rank, end_ns);
        for (uint32_t k = 0; k < rank->stream_count; k++)
            dry |= trace_stream_is_dry(&host->all_streams[rank->streams[k]],
                                       end_ns - host->clock.base_ns,
                                       host->limit_ns - host->clock.base_ns);
    }
    if (dry && host->code == 0) {
        event_sum_sort_bursts(host->desk->sum);
        match_settle(host->match, host->settled_ns);
    }
    return dry && host->code == 0;
}

/* ---- windows --------------------------------------------------------------- */

int trace_host_open(struct trace_host *host, struct trace_desk *desk)
{
    host->desk = desk;
    desk->messages.length = 0;
    desk->part_count = 0;
    for (uint32_t i = 0; i < host->rank_count; i++) {
        struct trace_rank *rank = &host->all[host->ranks[i]];
        rank->index = event_sum_add_rank(desk->sum, rank->rank, host->job->ranks);
        if (rank->index < 0)
            return rank->index;
        rank->sum = desk->sum;
        rank->tables.comm_epoch = rank->tables.region_epoch = event_sum_epoch(desk->sum);
    }
    return 0;
}

/* Threads beyond those that a watched rank can have are never taken for service threads. */
static void trace_host_find_service(struct trace_host *host, struct trace_rank *rank,
                                    uint64_t begin_ns, uint64_t end_ns)
{
    struct ring_sum *rings[SEGMENT_RINGS];
    uint32_t count = 0;
    for (; count < rank->stream_count && count < SEGMENT_RINGS; count++)
        rings[count] = &host->all_streams[rank->streams[count]].sum;
    event_sum_service(rank->sum, rank->index, rings, count, begin_ns, end_ns);
}

static int trace_host_end_streams(struct trace_host *host, uint64_t begin_ns, uint64_t end_ns)
{
    int going_on = 0;
    for (uint32_t i = 0; i < host->rank_count; i++) {
        struct trace_rank *rank = &host->all[host->ranks[i]];
        trace_host_write_known(host, rank, end_ns);
        for (uint32_t k = 0; k < rank->stream_count; k++) {
            struct trace_stream *stream = &host->all_streams[rank->streams[k]];
            struct sum_source source = trace_host_source_of(host, rank, stream, end_ns);
            going_on |= !stream->ended;
            if (stream->at < stream->count)
                event_sum_in_progress(rank->sum, rank->index, &source, &stream->batch[stream->at]);
        }
        event_sum_losses(rank->sum, rank->index, 0, 0,
                         host->job->threads_of != NULL ? host->job->threads_of[rank->rank]
                                                       : rank->stream_count);
        trace_host_find_service(host, rank, begin_ns, end_ns);
    }
    event_sum_sort_bursts(host->desk->sum);
    match_settle(host->match, end_ns);
    return going_on;
}

/* A trace begins and ends within windows. Of ranks that compute after their last record nothing is
 * known: they are there until the last one of their host. */
static void trace_host_note_absence(struct trace_host *host, uint64_t begin_ns, uint64_t end_ns,
                                    int going_on)
{
    uint64_t until_ns = going_on ? end_ns : 0;
    for (uint32_t i = 0; i < host->rank_count; i++) {
        const struct trace_rank *rank = &host->all[host->ranks[i]];
        for (uint32_t k = 0; k < rank->stream_count; k++) {
            const uint64_t exit_ns = host->all_streams[rank->streams[k]].sum.last_exit_ns;
            until_ns = exit_ns > until_ns ? exit_ns : until_ns;
        }
    }
    const uint64_t from_ns = host->first_ns > begin_ns ? host->first_ns : begin_ns;
    if (until_ns <= from_ns || until_ns > end_ns)
        until_ns = end_ns;
    for (uint32_t i = 0; from_ns < until_ns && i < host->rank_count; i++)
        event_sum_absence(host->desk->sum, host->all[host->ranks[i]].index,
                          from_ns - begin_ns + end_ns - until_ns);
}

/* When all records are read, remaining ends have no other end. */
static void trace_host_end_members(struct trace_host *host)
{
    for (uint32_t i = 0; i < host->rank_count; i++) {
        struct trace_rank *rank = &host->all[host->ranks[i]];
        match_remove(host->match, rank->member);
        rank->member = NULL;
    }
    match_settle(host->match, host->settled_ns);
}

static void trace_host_count_matches(struct trace_host *host)
{
    struct match_counts now = match_counts(host->match);
    host->counts.matched += now.matched - host->told.matched;
    host->counts.unmatched += now.unmatched - host->told.unmatched;
    host->counts.rejected += now.rejected - host->told.rejected;
    host->told = now;
}

static void trace_host_count_rows(struct trace_counts *counts, const struct window_rows *rows)
{
    for (uint64_t i = 0; i < rows->ranks_count; i++) {
        const struct wire_rank_row *row = &rows->ranks[i];
        counts->records += row->events;
        counts->lost += row->lost;
        counts->sent += row->sent;
        counts->sent_bytes = saturated_sum(counts->sent_bytes, row->sent_bytes);
        counts->received += row->received;
        counts->received_bytes = saturated_sum(counts->received_bytes, row->received_bytes);
    }
    for (uint64_t i = 0; i < rows->calls_count; i++) {
        const struct wire_call_row *row = &rows->calls[i];
        if (row->call < CALL_NUMBERS_MOST && call_class_of((uint16_t)row->call) == CALL_COLLECTIVE)
            counts->collectives += row->calls;
    }
}

static uint64_t trace_host_share_times(const void *user, uint64_t ns)
{
    (void)user;
    return ns;
}

static int trace_host_encode(struct trace_host *host, struct wire_window *window,
                             struct window_rows *rows, uint64_t *seq)
{
    struct trace_desk *desk = host->desk;
    uint64_t begin_ns = window->window * window->length_ns;
    struct transfer_clock clock = {trace_host_share_times, NULL, begin_ns};
    struct window_bursts bursts = {
        .sum = desk->sum,
        .clock = {trace_host_share_times, NULL, begin_ns, begin_ns + window->length_ns},
        .most_rows = burst_gather_share(host->job->host_count),
    };
    struct window_output output = {WIRE_MESSAGE_BYTES, WIRE_MESSAGE_BYTES, *seq,
                                   trace_host_store_message, desk};
    struct transfer_rows transfers;
    int code = transfer_sum_rows(desk->transfers, &clock, &transfers);
    if (code == 0)
        code = window_message_encode(window, rows, &transfers, &bursts, &output);
    *seq = output.next_seq;
    return code < 0 ? code : 0;
}

static int trace_host_write_window(struct trace_host *host, uint64_t number, uint64_t window_ns,
                                   uint64_t *seq)
{
    struct window_rows rows;
    int code = event_sum_rows(host->desk->sum, &rows);
    if (code != 0)
        return code;
    trace_host_count_rows(&host->counts, &rows);
    trace_host_count_matches(host);
    uint64_t ends = transfer_sum_sampled(host->desk->transfers);
    uint64_t passed_over = transfer_sum_passed_over(host->desk->transfers);
    host->counts.halves += ends;
    struct wire_node_row node = {.host = host->job->hosts[host->number],
                                 .agent_pid = 1,
                                 .connected = 1,
                                 .ranks = host->rank_count,
                                 .events = host->counts.records,
                                 .lost = host->counts.lost,
                                 .up_ns = (number + 1) * window_ns - host->begin_ns,
                                 .matched = host->counts.matched,
                                 .unmatched = host->counts.unmatched,
                                 .rejected = host->counts.rejected,
                                 .sampled = host->sampled += ends,
                                 .passed_over = host->passed_over += passed_over};
    struct wire_window window = {.job = host->job->name,
                                 .host = host->job->hosts[host->number],
                                 .window = number,
                                 .length_ns = window_ns,
                                 .flags = host->ended ? WINDOW_FINAL : 0,
                                 .node = &node,
                                 .node_count = 1};
    return trace_host_encode(host, &window, &rows, seq);
}

/* The capture comes before the last window, as an agent sends it. */
static int trace_host_write_capture(struct trace_host *host, uint64_t window, uint64_t end_ns,
                                    uint64_t *seq)
{
    struct wire_buffer buffer = {0};
    int code = trace_capture_encode(&buffer, host, window, end_ns, *seq, host->capture_nodes);
    if (code == 0)
        code =
            trace_host_store(host->desk, WIRE_TYPE_CAPTURED, (*seq)++, buffer.bytes, buffer.length);
    wire_buffer_finish(&buffer);
    for (uint32_t i = 0; i < host->rank_count; i++) {
        const struct trace_rank *rank = &host->all[host->ranks[i]];
        for (uint32_t k = 0; k < rank->stream_count; k++)
            trace_capture_finish(&host->all_streams[rank->streams[k]].kept);
    }
    return code;
}

int trace_host_close(struct trace_host *host, uint64_t window, uint64_t window_ns, uint64_t *seq)
{
    const uint64_t end_ns = (window + 1) * window_ns;
    int code = 0;
    int going_on = trace_host_end_streams(host, end_ns - window_ns, end_ns);
    trace_host_note_absence(host, end_ns - window_ns, end_ns, going_on);
    host->settled_ns = end_ns;
    if (!going_on) {
        trace_host_end_members(host);
        host->ended = 1;
        code = trace_host_write_capture(host, window, end_ns, seq);
    }
    code = code != 0 ? code : trace_host_write_window(host, window, window_ns, seq);
    event_sum_clear(host->desk->sum);
    transfer_sum_clear(host->desk->transfers);
    for (uint32_t i = host->rank_count; i-- > 0;)
        event_sum_remove_rank(host->desk->sum, (int)i);
    host->counts.windows++;
    host->desk = NULL;
    return code;
}
