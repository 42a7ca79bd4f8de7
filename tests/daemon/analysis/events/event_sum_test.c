/* The summariser against a batch reference that looks at each window by itself, on random streams.
 */
#include "daemon/analysis/events/event_sum.h"

#include "holter/error.h"
#include "holter/size_class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 3
#define RINGS 2 /* of each rank */
#define EVENTS 1500
#define WINDOWS 40
#define WINDOW_NS 10000u
#define COMMS 5
#define REGIONS 4

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

struct stream {
    struct event events[EVENTS];
    size_t count;
};

struct fixture {
    struct event_sum *sum;
    struct tick_clock clock;
    struct stream streams[RANKS][RINGS];
    struct ring_sum rings[RANKS][RINGS];
    struct sum_tables tables[RANKS];
    struct slot_position comms[COMMS], regions[REGIONS];
};

static uint32_t find_comm(void *user, uint32_t slot, uint64_t *since)
{
    (void)since;
    struct wire_comm_row row = {.id = 100 + slot, .size = 4, .name = "comm"};
    return event_sum_comm(user, &row);
}

static uint32_t find_region(void *user, uint32_t slot)
{
    static const char *const names[REGIONS] = {"", "force", "neighbour", "output"};
    return event_sum_region(user, names[slot]);
}

static void reset_tables(struct fixture *f)
{
    for (int rank = 0; rank < RANKS; rank++)
        f->tables[rank].comm_epoch = f->tables[rank].region_epoch = event_sum_epoch(f->sum) + 1;
}

static struct event random_call(uint64_t *state, uint64_t enter)
{
    static const uint16_t calls[] = {CALL_Send,      CALL_Isend,   CALL_Recv,
                                     CALL_Wait,      CALL_Test,    CALL_Waitall,
                                     CALL_Allreduce, CALL_Barrier, CALL_Put};
    uint64_t length = random_next(state) % 8 == 0 ? random_next(state) % (3 * WINDOW_NS)
                                                  : random_next(state) % 300;
    struct event event = {
        .t_enter = enter,
        .t_exit = enter + length,
        .bytes = random_next(state) % 100000,
        .peer = (int32_t)(random_next(state) % (RANKS + 3)) - 3,
        .comm = (uint16_t)(random_next(state) % (COMMS + 1)),
        .region = (uint16_t)(random_next(state) % REGIONS),
        .call = calls[random_next(state) % (sizeof calls / sizeof *calls)],
        .kind = EVENT_CALL,
    };
    if (event.comm == COMMS)
        event.comm = 0xffff;
    enum call_class class_ = call_class_of(event.call);
    if (class_ == CALL_SEND)
        event.flags = EVENT_SEND | EVENT_POST | (event.call == CALL_Send ? EVENT_DONE : 0);
    else if (class_ == CALL_RECV)
        event.flags = EVENT_RECV | EVENT_POST | EVENT_DONE;
    else if (class_ == CALL_WAIT || class_ == CALL_POLL)
        event.flags = (uint16_t)(EVENT_DONE | (random_next(state) % 2 ? EVENT_RECV : EVENT_SEND));
    else if (class_ == CALL_COLLECTIVE)
        event.bytes_in = random_next(state) % 5000;
    if (random_next(state) % 20 == 0)
        event.flags |= EVENT_CANCELLED;
    return event;
}

static void make_stream(struct stream *stream, uint64_t *state)
{
    uint64_t now = random_next(state) % WINDOW_NS;
    while (stream->count < EVENTS - 4 && now < WINDOWS * WINDOW_NS) {
        struct event event = random_call(state, now);
        event.parts = event.call == CALL_Waitall ? (uint16_t)(random_next(state) % 4) : 0;
        stream->events[stream->count++] = event;
        for (int i = 0; i < event.parts; i++) {
            struct event part = event;
            part.kind = EVENT_PART;
            part.parts = 0;
            part.bytes = random_next(state) % 1000;
            part.flags = EVENT_RECV | EVENT_DONE;
            stream->events[stream->count++] = part;
        }
        if (random_next(state) % 10 == 0 && stream->count < EVENTS - 4) {
            struct event region = {.t_enter = event.t_exit,
                                   .t_exit = event.t_exit,
                                   .peer = 1,
                                   .kind = EVENT_REGION,
                                   .region = 1};
            stream->events[stream->count++] = region;
        }
        now = event.t_exit + random_next(state) % 400;
    }
}

static void make_fixture(struct fixture *f, uint64_t seed)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(event_sum_create(&f->sum, 1u << 16), 0);
    tick_clock_init_ns(&f->clock);
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int rank = 0; rank < RANKS; rank++) {
        assert_int_equal(event_sum_add_rank(f->sum, (uint64_t)rank, RANKS), rank);
        f->tables[rank] = (struct sum_tables){
            .comms = calloc(COMMS, sizeof(struct slot_position)),
            .regions = calloc(REGIONS, sizeof(struct slot_position)),
            .comm_count = COMMS,
            .region_count = REGIONS,
            .comm_epoch = 1,
            .region_epoch = 1,
            .find_comm = find_comm,
            .find_region = find_region,
            .user = f->sum,
        };
        for (int ring = 0; ring < RINGS; ring++)
            make_stream(&f->streams[rank][ring], &state);
    }
}

static void free_fixture(struct fixture *f)
{
    event_sum_destroy(f->sum);
    for (int rank = 0; rank < RANKS; rank++) {
        free(f->tables[rank].comms);
        free(f->tables[rank].regions);
    }
}

/* ---- the reference ------------------------------------------------------- */

static int ends_in(const struct event *event, uint64_t begin, uint64_t end)
{
    return event->t_exit > begin && event->t_exit <= end;
}

static uint64_t overlap(const struct event *event, uint64_t begin, uint64_t end)
{
    uint64_t from = event->t_enter > begin ? event->t_enter : begin;
    uint64_t to = event->t_exit < end ? event->t_exit : end;
    return to > from ? to - from : 0;
}

static int is_sent(const struct event *event)
{
    return event->kind != EVENT_REGION && event->flags & EVENT_SEND && event->flags & EVENT_POST &&
           event->peer != PEER_NULL;
}

static int is_received(const struct event *event)
{
    return event->kind != EVENT_REGION && event->flags & EVENT_RECV && event->flags & EVENT_DONE &&
           !(event->flags & EVENT_CANCELLED) && event->peer != PEER_NULL;
}

static void check_rank(struct fixture *f, int rank, const struct wire_rank_row *row, uint64_t begin,
                       uint64_t end)
{
    uint64_t events = 0, calls = 0, sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;
    uint64_t time[CALL_CLASSES] = {0};
    for (int ring = 0; ring < RINGS; ring++) {
        for (size_t i = 0; i < f->streams[rank][ring].count; i++) {
            const struct event *event = &f->streams[rank][ring].events[i];
            enum call_class class_ = call_class_of(event->call);
            if (event->kind == EVENT_CALL && class_ != CALL_POLL)
                time[class_] += overlap(event, begin, end);
            if (!ends_in(event, begin, end))
                continue;
            if (event->kind == EVENT_CALL && class_ == CALL_POLL)
                time[class_] += event->t_exit - event->t_enter;
            events++;
            calls += event->kind == EVENT_CALL;
            sent += (uint64_t)is_sent(event);
            sent_bytes += is_sent(event) ? event->bytes : 0;
            received += (uint64_t)is_received(event);
            received_bytes += is_received(event) ? event->bytes : 0;
        }
    }
    assert_int_equal(row->rank, rank);
    assert_int_equal(row->events, events);
    assert_int_equal(row->calls, calls);
    assert_int_equal(row->sent, sent);
    assert_int_equal(row->sent_bytes, sent_bytes);
    assert_int_equal(row->received, received);
    assert_int_equal(row->received_bytes, received_bytes);
    assert_int_equal(row->send_ns, time[CALL_SEND]);
    assert_int_equal(row->recv_ns, time[CALL_RECV]);
    assert_int_equal(row->wait_ns, time[CALL_WAIT]);
    assert_int_equal(row->poll_ns, time[CALL_POLL]);
    assert_int_equal(row->collective_ns, time[CALL_COLLECTIVE]);
    assert_int_equal(row->one_sided_ns, time[CALL_ONE_SIDED]);
    assert_int_equal(row->lost, 0);
}

/* Every pair row counts what a search through all events finds for its key, and together they are
 * all. */
static void check_pairs(struct fixture *f, const struct window_rows *rows, uint64_t begin,
                        uint64_t end)
{
    uint64_t listed = 0, sent = 0;
    for (uint64_t i = 0; i < rows->ranks_count; i++)
        sent += rows->ranks[i].sent;
    for (uint64_t i = 0; i < rows->pairs_count; i++) {
        const struct wire_pair_row *pair = &rows->pairs[i];
        uint64_t messages = 0, bytes = 0;
        for (int ring = 0; ring < RINGS; ring++) {
            const struct stream *stream = &f->streams[pair->source][ring];
            for (size_t e = 0; e < stream->count; e++) {
                const struct event *event = &stream->events[e];
                uint64_t comm = event->comm < COMMS ? 100u + event->comm : 0;
                int64_t destination = event->peer >= 0 && event->peer < RANKS ? event->peer : -1;
                if (!is_sent(event) || !ends_in(event, begin, end) ||
                    destination != pair->destination || rows->comms[pair->comm].id != comm ||
                    (event->region == 0) != (pair->region == 0) ||
                    size_class_of(event->bytes) != pair->size_class)
                    continue;
                if (event->region != 0) {
                    uint32_t position = find_region(f->sum, event->region);
                    if (position != pair->region)
                        continue;
                }
                messages++;
                bytes += event->bytes;
            }
        }
        assert_int_equal(pair->messages, messages);
        assert_int_equal(pair->bytes, bytes);
        listed += messages;
    }
    assert_int_equal(listed, sent);
}

static uint64_t same_time(const void *user, uint64_t mono_ns)
{
    (void)user;
    return mono_ns;
}

/* Bursts hold the messages of all pairs, with all their bytes, and the calls of collectives. */
static void check_bursts(struct event_sum *sum, const struct window_rows *rows, uint64_t end)
{
    struct burst_clock clock = {same_time, NULL, end - WINDOW_NS, end};
    struct burst_rows bursts;
    uint64_t messages = 0, bytes = 0, calls = 0;
    for (uint64_t i = 0; i < rows->pairs_count; i++) {
        messages += rows->pairs[i].messages;
        bytes += rows->pairs[i].bytes;
    }
    for (uint64_t i = 0; i < rows->calls_count; i++)
        if (call_class_of((uint16_t)rows->calls[i].call) == CALL_COLLECTIVE)
            calls += rows->calls[i].calls;
    assert_int_equal(event_sum_bursts(sum, &clock, BURST_GATHER_ROWS, &bursts), 0);
    assert_true(bursts.bursts_count + bursts.pairs_count <= BURST_GATHER_ROWS);
    for (uint64_t i = 0; i < bursts.bursts_count; i++) {
        messages -= bursts.bursts[i].collective ? 0 : bursts.bursts[i].messages;
        bytes -= bursts.bursts[i].collective ? 0 : bursts.bursts[i].bytes;
        calls -= bursts.bursts[i].collective ? bursts.bursts[i].messages : 0;
    }
    assert_int_equal(messages, 0);
    assert_int_equal(bytes, 0);
    assert_int_equal(calls, 0);
}

static void check_calls(const struct window_rows *rows, uint64_t whole[RANKS][CALL_NUMBERS])
{
    for (uint64_t i = 0; i < rows->ranks_count; i++) {
        uint64_t calls = 0;
        for (uint64_t c = 0; c < rows->calls_count; c++) {
            const struct wire_call_row *call = &rows->calls[c];
            if (call->rank != rows->ranks[i].rank)
                continue;
            calls += call->calls;
            whole[call->rank][call->call] += call->time_ns;
            assert_true(call->longest_ns <= call->time_ns);
        }
        assert_int_equal(calls, rows->ranks[i].calls);
    }
}

/* ---- tests --------------------------------------------------------------- */

static struct sum_source source_of(struct fixture *f, int rank, int ring, uint64_t end)
{
    return (struct sum_source){&f->rings[rank][ring], &f->tables[rank], &f->clock, end, end};
}

/* Give all rings' events up to the end of a window, in batches of random size. */
static void run_window(struct fixture *f, size_t next[RANKS][RINGS], uint64_t end, uint64_t *state)
{
    reset_tables(f);
    for (int rank = 0; rank < RANKS; rank++) {
        for (int ring = 0; ring < RINGS; ring++) {
            struct sum_source source = source_of(f, rank, ring, end);
            const struct stream *stream = &f->streams[rank][ring];
            size_t *at = &next[rank][ring];
            for (;;) {
                size_t batch = 1 + random_next(state) % 50;
                batch = batch < stream->count - *at ? batch : stream->count - *at;
                size_t taken = event_sum_events(f->sum, rank, &source, stream->events + *at, batch);
                *at += taken;
                if (taken < batch || *at == stream->count)
                    break;
            }
            if (*at < stream->count)
                event_sum_in_progress(f->sum, rank, &source, &stream->events[*at]);
        }
    }
}

static void check_stream(uint64_t seed)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    make_fixture(f, seed);
    size_t next[RANKS][RINGS] = {{0}};
    static uint64_t whole[RANKS][CALL_NUMBERS];
    memset(whole, 0, sizeof whole);
    uint64_t state = seed + 77, times = 0, calls_time = 0, in_progress = 0;
    for (uint64_t window = 0; window < WINDOWS + 4; window++) {
        uint64_t begin = window * WINDOW_NS, end = begin + WINDOW_NS;
        run_window(f, next, end, &state);
        struct window_rows rows;
        assert_int_equal(event_sum_rows(f->sum, &rows), 0);
        assert_int_equal(rows.ranks_count, RANKS);
        for (int rank = 0; rank < RANKS; rank++) {
            const struct wire_rank_row *row = &rows.ranks[rank];
            check_rank(f, rank, row, begin, end);
            times += row->send_ns + row->recv_ns + row->wait_ns + row->poll_ns +
                     row->collective_ns + row->one_sided_ns + row->io_ns + row->other_ns;
            in_progress += row->in_call != 0;
        }
        check_pairs(f, &rows, begin, end);
        check_calls(&rows, whole);
        check_bursts(f->sum, &rows, end);
        event_sum_clear(f->sum);
    }
    for (int rank = 0; rank < RANKS; rank++)
        for (int call = 0; call < CALL_NUMBERS; call++)
            calls_time += whole[rank][call];
    assert_int_equal(times, calls_time);
    assert_true(in_progress > 10);
    free_fixture(f);
}

static void windows_equal_the_batch_reference(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        check_stream(seed);
}

static void call_in_progress_is_split_exactly_at_the_boundary(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    struct event call = {
        .t_enter = 900, .t_exit = 0, .kind = EVENT_CALL, .call = CALL_Recv, .peer = 2, .comm = 1};
    struct sum_source source = source_of(&f, 0, 0, 1000);
    struct window_rows rows;
    event_sum_in_progress(f.sum, 0, &source, &call);
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].recv_ns, 100);
    assert_int_equal(rows.ranks[0].calls, 0);
    assert_int_equal(rows.ranks[0].in_call, CALL_Recv);
    assert_int_equal(rows.ranks[0].in_call_ns, 100);
    assert_int_equal(rows.ranks[0].in_call_comm, 101);
    assert_int_equal(rows.ranks[0].in_call_peer, 2);
    event_sum_clear(f.sum);
    reset_tables(&f);

    call.t_exit = 1250;
    source.end_ns = source.now_ns = 2000;
    assert_int_equal(event_sum_events(f.sum, 0, &source, &call, 1), 1);
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].recv_ns, 250);
    assert_int_equal(rows.ranks[0].calls, 1);
    assert_int_equal(rows.calls[0].time_ns, 350);
    assert_int_equal(rows.calls[0].longest_ns, 350);
    free_fixture(&f);
}

/* The root is no rank that a message is to come from, and may be the rank itself. */
static void a_wait_in_progress_for_a_collective_has_no_peer(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    const struct event wait = {.t_enter = 900,
                               .kind = EVENT_CALL,
                               .call = CALL_Wait,
                               .peer = 0,
                               .tag = TAG_CALL - CALL_Ibcast,
                               .comm = 1};
    struct sum_source source = source_of(&f, 0, 0, 1000);
    struct window_rows rows;
    event_sum_in_progress(f.sum, 0, &source, &wait);
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].in_call, CALL_Wait);
    assert_int_equal(rows.ranks[0].in_call_peer, PEER_NONE);
    free_fixture(&f);
}

/* It may serve requests for as long as the program runs. */
static void
a_receive_from_any_rank_is_the_call_in_progress_if_no_other_thread_is_in_one(void **state)
{
    (void)state;
    static struct fixture f;
    struct event serve = {
        .t_enter = 100, .kind = EVENT_CALL, .call = CALL_Recv, .peer = PEER_ANY, .comm = 1};
    const struct event barrier = {
        .t_enter = 800, .kind = EVENT_CALL, .call = CALL_Barrier, .peer = PEER_NONE, .comm = 1};
    for (int first = 0; first < 2; first++) {
        make_fixture(&f, 1);
        struct sum_source sources[] = {source_of(&f, 0, 0, 1000), source_of(&f, 0, 1, 1000)};
        struct window_rows rows;
        event_sum_in_progress(f.sum, 0, &sources[0], first == 0 ? &serve : &barrier);
        event_sum_in_progress(f.sum, 0, &sources[1], first == 0 ? &barrier : &serve);
        assert_int_equal(event_sum_rows(f.sum, &rows), 0);
        assert_int_equal(rows.ranks[0].in_call, CALL_Barrier);
        assert_int_equal(rows.ranks[0].in_call_ns, 200);
        free_fixture(&f);
    }
}

/* One window of rank 0: calls of two threads, where a call without an end goes beyond it. */
static struct wire_rank_row window_of_threads(struct fixture *f, uint64_t window,
                                              const struct event *of_first,
                                              const struct event *of_second)
{
    const uint64_t begin = window * WINDOW_NS, end = begin + WINDOW_NS;
    const struct event *calls[] = {of_first, of_second};
    struct ring_sum *rings[] = {&f->rings[0][0], &f->rings[0][1]};
    struct window_rows rows;
    event_sum_clear(f->sum);
    reset_tables(f);
    for (int i = 0; i < 2; i++) {
        struct sum_source source = source_of(f, 0, i, end);
        if (calls[i]->t_exit != 0)
            assert_int_equal(event_sum_events(f->sum, 0, &source, calls[i], 1), 1);
        else
            event_sum_in_progress(f->sum, 0, &source, calls[i]);
    }
    event_sum_service(f->sum, 0, rings, 2, begin, end);
    assert_int_equal(event_sum_rows(f->sum, &rows), 0);
    return rows.ranks[0];
}

static struct event call_of(uint16_t call, double from, double to)
{
    return (struct event){.t_enter = (uint64_t)(from * WINDOW_NS),
                          .t_exit = (uint64_t)(to * WINDOW_NS),
                          .kind = EVENT_CALL,
                          .call = call,
                          .peer = 2,
                          .comm = 1};
}

static void waiting_of_a_thread_that_serves_requests_is_not_that_of_its_rank(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    const struct event request = call_of(CALL_Recv, 0.5, 0);
    struct event exchange = call_of(CALL_Waitall, 0.6, 0.8);
    struct wire_rank_row row = window_of_threads(&f, 0, &exchange, &request);
    assert_int_equal(row.recv_ns, WINDOW_NS / 2); /* it has not waited for a whole window yet */
    assert_int_equal(row.service_ns, 0);
    exchange = call_of(CALL_Waitall, 1.1, 1.3);
    row = window_of_threads(&f, 1, &exchange, &request);
    assert_int_equal(row.recv_ns, 0);
    assert_int_equal(row.wait_ns, WINDOW_NS / 5);
    assert_int_equal(row.service_ns, WINDOW_NS);
    free_fixture(&f);
}

static void a_thread_that_serves_request_after_request_is_seen_by_the_sum_of_waiting(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    struct event request = call_of(CALL_Recv, 0.02, 0.97),
                 exchange = call_of(CALL_Waitall, 0.5, 0.7);
    struct wire_rank_row row = window_of_threads(&f, 0, &exchange, &request);
    assert_int_equal(row.recv_ns, 0);
    assert_int_equal(row.service_ns, WINDOW_NS * 95 / 100);
    /* Once it is known for one, it stays one while it waits for as long. */
    request = call_of(CALL_Recv, 1.02, 1.97);
    exchange = call_of(CALL_Waitall, 1.5, 1.51);
    row = window_of_threads(&f, 1, &exchange, &request);
    assert_int_equal(row.recv_ns, 0);
    assert_int_equal(row.wait_ns, WINDOW_NS / 100);
    request = call_of(CALL_Recv, 2.02, 2.5);
    exchange = call_of(CALL_Waitall, 2.5, 2.51);
    row = window_of_threads(&f, 2, &exchange, &request);
    assert_int_equal(row.recv_ns, WINDOW_NS * 48 / 100);
    assert_int_equal(row.service_ns, 0);
    free_fixture(&f);
}

static void waiting_of_threads_that_take_turns_is_that_of_their_rank(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    const struct event long_wait = call_of(CALL_Waitall, 0.01, 0.96),
                       short_wait = call_of(CALL_Waitall, 0.97, 0.99);
    const struct wire_rank_row row = window_of_threads(&f, 0, &short_wait, &long_wait);
    assert_int_equal(row.wait_ns, WINDOW_NS * 97 / 100);
    assert_int_equal(row.service_ns, 0);
    free_fixture(&f);
}

static void a_rank_waits_while_all_of_its_threads_do(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    const struct event request = call_of(CALL_Recv, 0, 0), exchange = call_of(CALL_Waitall, 0, 0);
    const struct wire_rank_row row = window_of_threads(&f, 0, &exchange, &request);
    assert_int_equal(row.wait_ns + row.recv_ns, WINDOW_NS);
    assert_int_equal(row.service_ns, WINDOW_NS);
    free_fixture(&f);
}

/* The exit stamp may be older than the look that still saw the call: the surplus is taken from what
 * the class gets next. */
static void call_that_had_ended_before_it_was_seen_is_not_counted_twice(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    struct event call = {.t_enter = 900, .t_exit = 0, .kind = EVENT_CALL, .call = CALL_Recv};
    struct sum_source source = source_of(&f, 0, 0, 1000);
    struct window_rows rows;
    event_sum_in_progress(f.sum, 0, &source, &call);
    event_sum_clear(f.sum);
    reset_tables(&f);
    source.end_ns = source.now_ns = 2000;
    struct event ended[2] = {call, call};
    ended[0].t_exit = 990;
    ended[1].t_enter = 1100;
    ended[1].t_exit = 1200;
    assert_int_equal(event_sum_events(f.sum, 0, &source, ended, 2), 2);
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].recv_ns, 190 - 100);
    assert_int_equal(rows.calls[0].time_ns, 190);
    free_fixture(&f);
}

static void polls_in_progress_take_no_time_until_they_find_something(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    struct event poll = {.t_enter = 900, .t_exit = 0, .kind = EVENT_CALL, .call = CALL_Test};
    struct sum_source source = source_of(&f, 0, 0, 1000);
    struct tally_row tests = {.what = ring_what(CALL_Test, 0, EVENT_POLL, 0),
                              .where = (uint32_t)PEER_NONE | UINT64_C(0xffff) << 32};
    struct tally_row probes = {.what = ring_what(CALL_Iprobe, 0, EVENT_POLL, 0),
                               .where = tests.where};
    struct window_rows rows;
    event_sum_in_progress(f.sum, 0, &source, &poll);
    event_sum_tally(f.sum, 0, &source, &tests, &(struct tally_figures){.records = 7, .ticks = 70});
    event_sum_tally(f.sum, 0, &source, &probes, &(struct tally_figures){.records = 2, .ticks = 30});
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].poll_ns, 100);
    assert_int_equal(rows.ranks[0].polls, 9);
    assert_int_equal(rows.ranks[0].calls, 9);
    assert_int_equal(rows.ranks[0].events, 0);
    assert_int_equal(rows.calls_count, 2);
    assert_int_equal(rows.calls[0].call, CALL_Test);
    assert_int_equal(rows.calls[0].calls, 7);
    assert_int_equal(rows.calls[0].polls, 7);
    assert_int_equal(rows.calls[1].time_ns, 30);
    assert_int_equal(rows.calls[1].polls, 2);
    event_sum_clear(f.sum);
    reset_tables(&f);

    poll.t_exit = 1020;
    source.end_ns = source.now_ns = 2000;
    assert_int_equal(event_sum_events(f.sum, 0, &source, &poll, 1), 1);
    event_sum_tally(f.sum, 0, &source, &tests, &(struct tally_figures){.records = 1, .ticks = 5});
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].poll_ns, 125);
    assert_int_equal(rows.ranks[0].polls, 1);
    assert_int_equal(rows.ranks[0].calls, 2);
    uint64_t calls = 0, polls = 0;
    for (uint64_t i = 0; i < rows.calls_count; i++) {
        assert_int_equal(rows.calls[i].call, CALL_Test);
        calls += rows.calls[i].calls;
        polls += rows.calls[i].polls;
    }
    assert_int_equal(calls, 2);
    assert_int_equal(polls, 1);
    free_fixture(&f);
}

/* Sums of a tally are those of its records, but for what only single records show. */
static void a_tally_counts_as_its_records_would(void **state)
{
    (void)state;
    static const struct event kinds[] = {
        {.bytes = 100,
         .peer = 1,
         .kind = EVENT_CALL,
         .call = CALL_Send,
         .comm = 1,
         .flags = EVENT_SEND | EVENT_POST | EVENT_DONE},
        {.bytes = 100,
         .peer = PEER_NULL,
         .kind = EVENT_CALL,
         .call = CALL_Send,
         .comm = 1,
         .flags = EVENT_SEND | EVENT_POST | EVENT_DONE},
        {.bytes = 60,
         .peer = PEER_NONE,
         .kind = EVENT_CALL,
         .call = CALL_Recv,
         .comm = 1,
         .flags = EVENT_RECV | EVENT_POST | EVENT_DONE},
        {.bytes = 60,
         .peer = PEER_NONE,
         .kind = EVENT_PART,
         .call = CALL_Waitall,
         .comm = 1,
         .flags = EVENT_RECV | EVENT_DONE},
        {.bytes = 8,
         .bytes_in = 16,
         .peer = PEER_NONE,
         .kind = EVENT_CALL,
         .call = CALL_Allreduce,
         .comm = 1},
        {.peer = 1, .kind = EVENT_REGION, .call = CALL_Pcontrol},
    };
    static struct fixture single, tallied;
    make_fixture(&single, 2);
    make_fixture(&tallied, 2);
    struct sum_source source = source_of(&single, 0, 0, 10000);
    struct sum_source other = source_of(&tallied, 0, 0, 10000);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct event event = kinds[i];
        for (uint64_t k = 0; k < 3; k++) {
            event.t_enter = 1000 + 100 * (3 * i + k);
            event.t_exit = event.t_enter + 20;
            assert_int_equal(event_sum_events(single.sum, 0, &source, &event, 1), 1);
        }
        int sent = (event.flags & (EVENT_SEND | EVENT_POST)) == (EVENT_SEND | EVENT_POST);
        struct tally_row row = {.what = ring_what(event.call, event.flags, event.kind,
                                                  sent ? size_class_of(event.bytes) : 0),
                                .where = (uint32_t)event.peer | (uint64_t)event.comm << 32};
        struct tally_figures grown = {1, event.bytes, event.bytes_in,
                                      event.kind == EVENT_CALL ? 20 : 0};
        event_sum_tally(tallied.sum, 0, &other, &row, &grown);
        grown = (struct tally_figures){2, 2 * grown.bytes, 2 * grown.bytes_in, 2 * grown.ticks};
        row.what |= sent ? ring_what(0, 0, 0, TALLY_ALL_SIZES) : 0;
        event_sum_tally(tallied.sum, 0, &other, &row, &grown);
    }
    struct window_rows a, b;
    assert_int_equal(event_sum_rows(single.sum, &a), 0);
    assert_int_equal(event_sum_rows(tallied.sum, &b), 0);
    struct wire_rank_row rank = b.ranks[0];
    assert_int_equal(rank.tallied, 18);
    rank.tallied = 0;
    assert_memory_equal(&a.ranks[0], &rank, sizeof rank);
    assert_int_equal(a.pairs_count, b.pairs_count);
    assert_memory_equal(a.pairs, b.pairs, a.pairs_count * sizeof *a.pairs);
    assert_int_equal(a.calls_count, b.calls_count);
    for (uint64_t i = 0; i < a.calls_count; i++) {
        struct wire_call_row call = b.calls[i];
        call.longest_ns = a.calls[i].longest_ns;
        assert_memory_equal(&a.calls[i], &call, sizeof call);
    }
    free_fixture(&single);
    free_fixture(&tallied);
}

static void waits_for_collectives_are_a_part_of_the_time_of_their_call(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    struct sum_source source = source_of(&f, 0, 0, 2000);
    const struct event events[] = {
        {.t_enter = 100, .t_exit = 150, .kind = EVENT_CALL, .call = CALL_Wait, .tag = 7},
        {.t_enter = 200,
         .t_exit = 500,
         .kind = EVENT_CALL,
         .call = CALL_Wait,
         .tag = TAG_CALL - CALL_Iallreduce},
        {.t_enter = 600,
         .t_exit = 610,
         .kind = EVENT_CALL,
         .call = CALL_Iallreduce,
         .tag = TAG_CALL - CALL_Iallreduce},
    };
    struct window_rows rows;
    assert_int_equal(event_sum_events(f.sum, 0, &source, events, 3), 3);
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.calls_count, 2);
    assert_int_equal(rows.calls[0].time_ns, 350);
    assert_int_equal(rows.calls[0].collective_ns, 300);
    assert_int_equal(rows.calls[1].time_ns, 10);
    assert_int_equal(rows.calls[1].collective_ns, 0);
    free_fixture(&f);
}

static void calls_of_a_pause_are_in_no_sum(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    struct sum_source source = source_of(&f, 0, 0, 1000);
    const uint16_t flags = EVENT_SEND | EVENT_POST | EVENT_DONE | EVENT_PAUSED;
    struct event send = {
        .t_enter = 100, .t_exit = 150, .kind = EVENT_CALL, .call = CALL_Send, .flags = flags};
    assert_int_equal(event_sum_events(f.sum, 0, &source, &send, 1), 1);
    struct tally_row row = {.what = ring_what(0, EVENT_PAUSED, EVENT_CALL, 0)};
    event_sum_tally(f.sum, 0, &source, &row, &(struct tally_figures){.records = 3});
    event_sum_in_progress(f.sum, 0, &source, &send);
    struct window_rows rows;
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].events + rows.ranks[0].calls + rows.ranks[0].sent, 0);
    assert_int_equal(rows.ranks[0].send_ns + rows.ranks[0].lost, 0);
    assert_int_equal(rows.ranks[0].in_call, CALL_Send); /* what a rank is in is no sum */
    assert_int_equal(rows.pairs_count + rows.calls_count, 0);
    free_fixture(&f);
}

/* Another thread began and ended the pause: the call counts nowhere, whether a record of it is
 * there or not. */
static void time_of_a_call_that_ends_in_a_pause_is_taken_back(void **state)
{
    (void)state;
    for (int is_recorded = 0; is_recorded < 2; is_recorded++) {
        static struct fixture f;
        make_fixture(&f, 1);
        struct sum_source source = source_of(&f, 0, 0, 1000);
        struct window_rows rows;
        struct event wait = {.t_enter = 900, .kind = EVENT_CALL, .call = CALL_Wait};
        event_sum_in_progress(f.sum, 0, &source, &wait);
        event_sum_clear(f.sum);
        reset_tables(&f);
        source.end_ns = source.now_ns = 3000;
        wait.t_exit = 1500;
        wait.flags = EVENT_PAUSED;
        if (is_recorded)
            event_sum_events(f.sum, 0, &source, &wait, 1);
        wait = (struct event){.t_enter = 1800, .kind = EVENT_CALL, .call = CALL_Wait};
        event_sum_in_progress(f.sum, 0, &source, &wait);
        wait.t_exit = 3500;
        source.end_ns = source.now_ns = 4000;
        event_sum_events(f.sum, 0, &source, &wait, 1);
        assert_int_equal(event_sum_rows(f.sum, &rows), 0);
        assert_int_equal(rows.ranks[0].wait_ns, 1700 - 100); /* 100 are in the window before */
        free_fixture(&f);
    }
}

/* At the window's end a call had lasted 100; when it ended it went into the tally with its 300. */
static void time_of_a_call_in_progress_counts_once_when_the_call_is_in_the_tally(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    struct event wait = {.t_enter = 900, .kind = EVENT_CALL, .call = CALL_Wait};
    struct sum_source source = source_of(&f, 0, 0, 1000);
    struct window_rows rows;
    event_sum_in_progress(f.sum, 0, &source, &wait);
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].wait_ns, 100);
    event_sum_clear(f.sum);
    reset_tables(&f);
    struct tally_row row = {.what = ring_what(CALL_Wait, 0, EVENT_CALL, 0)};
    event_sum_skip(&source);
    event_sum_tally(f.sum, 0, &source, &row, &(struct tally_figures){.records = 1, .ticks = 300});
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].wait_ns, 200);
    free_fixture(&f);
}

static void nonsense_is_counted_as_lost(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    struct sum_source source = source_of(&f, 0, 0, 1000);
    struct event events[4] = {
        {.t_enter = 1, .t_exit = 2, .kind = 77},
        {.t_enter = 1, .t_exit = UINT64_MAX, .kind = EVENT_CALL, .call = CALL_Send},
        {.t_enter = 9,
         .t_exit = 3,
         .kind = EVENT_CALL,
         .call = 65535,
         .comm = 60000,
         .region = 60000,
         .flags = 0xffff & ~EVENT_PAUSED,
         .peer = INT32_MIN,
         .bytes = UINT64_MAX},
        {.t_enter = 10,
         .t_exit = 20,
         .kind = EVENT_CALL,
         .call = CALL_Send,
         .peer = INT32_MAX,
         .flags = EVENT_SEND | EVENT_POST,
         .bytes = 8},
    };
    assert_int_equal(event_sum_events(f.sum, 0, &source, events, 4), 4);
    struct window_rows rows;
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].lost, 2);
    assert_int_equal(rows.ranks[0].events, 2);
    for (uint64_t i = 0; i < rows.pairs_count; i++)
        assert_int_equal(rows.pairs[i].destination, -1);
    free_fixture(&f);
}

static void pairs_beyond_the_limit_keep_exact_totals(void **state)
{
    (void)state;
    struct event_sum *sum;
    assert_int_equal(event_sum_create(&sum, 10), 0);
    assert_int_equal(event_sum_add_rank(sum, 5, 1000), 0);
    struct ring_sum ring = {0};
    struct sum_tables tables = {.comm_epoch = 1, .region_epoch = 1};
    struct tick_clock clock;
    tick_clock_init_ns(&clock);
    struct sum_source source = {&ring, &tables, &clock, 1000000, 1000000};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 500; i++) {
            struct event event = {.t_enter = 10,
                                  .t_exit = 20,
                                  .kind = EVENT_CALL,
                                  .call = CALL_Isend,
                                  .peer = i,
                                  .bytes = 8,
                                  .comm = 0xffff,
                                  .flags = EVENT_SEND | EVENT_POST};
            assert_int_equal(event_sum_events(sum, 0, &source, &event, 1), 1);
        }
        struct window_rows rows;
        assert_int_equal(event_sum_rows(sum, &rows), 0);
        assert_int_equal(rows.pairs_count, 11);
        assert_true(rows.folded);
        uint64_t messages = 0;
        for (uint64_t i = 0; i < rows.pairs_count; i++)
            messages += rows.pairs[i].messages;
        assert_int_equal(messages, 500);
        assert_int_equal(rows.ranks[0].sent, 500);
        check_bursts(sum, &rows, 1000000);
        event_sum_clear(sum);
    }
    event_sum_destroy(sum);
}

/* The calls are counted, with nothing given and nothing got. */
static void calls_that_fail_or_name_nobody_move_no_bytes(void **state)
{
    (void)state;
    static struct fixture f;
    make_fixture(&f, 1);
    struct event events[] = {
        {.call = CALL_Send, .flags = EVENT_SEND | EVENT_POST | EVENT_DONE},
        {.call = CALL_Imrecv, .flags = EVENT_RECV | EVENT_POST | EVENT_DONE},
        {.call = CALL_Start, .flags = EVENT_SEND | EVENT_POST | EVENT_PERSISTENT},
        {.call = CALL_Get_accumulate, .bytes_in = 9},
        {.call = CALL_Recv, .flags = EVENT_FAILED},
        {.call = CALL_Allreduce, .flags = EVENT_FAILED, .bytes_in = 9},
    };
    const size_t count = sizeof events / sizeof events[0];
    for (size_t i = 0; i < count; i++) {
        events[i].kind = EVENT_CALL;
        events[i].peer = events[i].flags & EVENT_FAILED ? 1 : PEER_NULL;
        events[i].bytes = 7;
        events[i].t_exit = events[i].t_enter = 10 + i;
    }
    struct sum_source source = source_of(&f, 0, 0, 1000);
    struct window_rows rows;
    assert_int_equal(event_sum_events(f.sum, 0, &source, events, count), count);
    assert_int_equal(event_sum_rows(f.sum, &rows), 0);
    assert_int_equal(rows.ranks[0].calls, count);
    assert_int_equal(rows.ranks[0].sent + rows.ranks[0].received, 0);
    assert_int_equal(rows.calls_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows.calls[i].bytes + rows.calls[i].bytes_in, 0);
    free_fixture(&f);
}

static void removed_rank_leaves_the_others_as_they_are(void **state)
{
    (void)state;
    struct event_sum *sum;
    struct window_rows rows;
    assert_int_equal(event_sum_create(&sum, 10), 0);
    for (uint64_t rank = 0; rank < 4; rank++)
        assert_int_equal(event_sum_add_rank(sum, rank, 4), rank);
    assert_int_equal(event_sum_add_rank(sum, 4, 4), -HOLTER_ERANGE);
    event_sum_remove_rank(sum, 1);
    event_sum_lost_of(sum, 3, 17);
    assert_int_equal(event_sum_rows(sum, &rows), 0);
    assert_int_equal(rows.ranks_count, 3);
    assert_int_equal(rows.ranks[1].rank, 2);
    assert_int_equal(rows.ranks[2].rank, 3);
    assert_int_equal(rows.ranks[2].lost, 17);
    event_sum_destroy(sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_equal_the_batch_reference),
        cmocka_unit_test(call_in_progress_is_split_exactly_at_the_boundary),
        cmocka_unit_test(a_wait_in_progress_for_a_collective_has_no_peer),
        cmocka_unit_test(
            a_receive_from_any_rank_is_the_call_in_progress_if_no_other_thread_is_in_one),
        cmocka_unit_test(waiting_of_a_thread_that_serves_requests_is_not_that_of_its_rank),
        cmocka_unit_test(a_thread_that_serves_request_after_request_is_seen_by_the_sum_of_waiting),
        cmocka_unit_test(waiting_of_threads_that_take_turns_is_that_of_their_rank),
        cmocka_unit_test(a_rank_waits_while_all_of_its_threads_do),
        cmocka_unit_test(call_that_had_ended_before_it_was_seen_is_not_counted_twice),
        cmocka_unit_test(polls_in_progress_take_no_time_until_they_find_something),
        cmocka_unit_test(a_tally_counts_as_its_records_would),
        cmocka_unit_test(waits_for_collectives_are_a_part_of_the_time_of_their_call),
        cmocka_unit_test(calls_of_a_pause_are_in_no_sum),
        cmocka_unit_test(time_of_a_call_that_ends_in_a_pause_is_taken_back),
        cmocka_unit_test(time_of_a_call_in_progress_counts_once_when_the_call_is_in_the_tally),
        cmocka_unit_test(nonsense_is_counted_as_lost),
        cmocka_unit_test(pairs_beyond_the_limit_keep_exact_totals),
        cmocka_unit_test(calls_that_fail_or_name_nobody_move_no_bytes),
        cmocka_unit_test(removed_rank_leaves_the_others_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
