#include "daemon/import/trace/trace.h"

#include "holter/call.h"
#include "holter/error.h"
#include "holter/segment.h"
#include "tests/daemon/import/trace/recorded_sums.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define STREAMS 16u
#define MS UINT64_C(1000000)
#define ROUNDS 100u

/* A trace in memory. */
struct fake {
    struct event *events[STREAMS];
    uint32_t count[STREAMS], at[STREAMS];
    int fails[STREAMS]; /* at its end */
    uint32_t rank_of[STREAMS], host_of[STREAMS];
    uint32_t streams, batch; /* 0: TRACE_BATCH */
    struct trace_job job;
    char directory[DIRECTORY_ROOM], path[64], told[1000];
};

static const char hosts[][65] = {"alpha", "beta", "gamma"};

static int fake_next(void *user, uint32_t stream, struct event *out)
{
    struct fake *f = user;
    uint32_t left = f->count[stream] - f->at[stream], most = f->batch ? f->batch : TRACE_BATCH;
    uint32_t give = left < most ? left : most;
    if (give == 0)
        return f->fails[stream] ? -HOLTER_ECORRUPT : 0;
    memcpy(out, f->events[stream] + f->at[stream], give * sizeof(*out));
    f->at[stream] += give;
    return (int)give;
}

static int fake_comm(void *user, uint32_t rank, uint32_t slot, struct trace_comm *out)
{
    struct fake *f = user;
    if (slot > 2)
        return 1;
    *out = (struct trace_comm){.id = slot == 0   ? 1
                                     : slot == 1 ? 2
                                                 : 77,
                               .parent = slot == 2 ? 1 : 0,
                               .size = slot == 1 ? 1 : f->job.ranks,
                               .my_rank = slot == 1 ? 0 : (int32_t)rank};
    snprintf(out->name, sizeof(out->name), "%s",
             slot == 0   ? "MPI_COMM_WORLD"
             : slot == 1 ? "MPI_COMM_SELF"
                         : "rows");
    return 0;
}

static const char *fake_region(void *user, uint32_t rank, uint32_t slot)
{
    (void)user;
    (void)rank;
    return slot == 3 ? "solver" : NULL;
}

static void fault(void *user, const char *text)
{
    struct fake *f = user;
    size_t used = strlen(f->told);
    snprintf(f->told + used, sizeof(f->told) - used, "%s\n", text);
}

static struct event *add(struct fake *f, uint32_t stream, uint16_t call, uint64_t enter,
                         uint64_t leave)
{
    if (f->count[stream] % 64 == 0) {
        f->events[stream] =
            realloc(f->events[stream], (f->count[stream] + 64) * sizeof(struct event));
        assert_non_null(f->events[stream]);
    }
    struct event *event = &f->events[stream][f->count[stream]++];
    *event = (struct event){.t_enter = enter,
                            .t_exit = leave,
                            .peer = PEER_NONE,
                            .tag = TAG_NONE,
                            .comm = COMM_SLOT_NONE,
                            .call = call,
                            .kind = EVENT_CALL};
    return event;
}

static void message(struct event *event, uint16_t flags, int32_t peer, uint64_t bytes,
                    uint32_t request)
{
    event->flags = flags;
    event->peer = peer;
    event->tag = 5;
    event->bytes = bytes;
    event->request = request;
    event->comm = 0;
}

/* Round i of a rank at 1 ms: to the right and from the left, 100 + i bytes, then an allreduce of 8. */
static void add_round(struct fake *f, uint32_t rank, uint32_t i)
{
    uint64_t t = i * MS;
    int32_t size = (int32_t)f->job.ranks, right = ((int32_t)rank + 1) % size;
    int32_t left = ((int32_t)rank + size - 1) % size;
    message(add(f, rank, CALL_Irecv, t + 1000, t + 2000), EVENT_RECV | EVENT_POST, left, 200,
            2 * i + 1);
    message(add(f, rank, CALL_Isend, t + 10000, t + 12000), EVENT_SEND | EVENT_POST, right, 100 + i,
            2 * i + 2);
    struct event *wait = add(f, rank, CALL_Waitall, t + 20000, t + 60000);
    message(wait, EVENT_RECV | EVENT_DONE, left, 100 + i, 2 * i + 1);
    wait->t_post = t + 1000;
    wait->parts = 1;
    struct event *part = add(f, rank, CALL_Waitall, t + 20000, t + 60000);
    message(part, EVENT_SEND | EVENT_DONE, right, 100 + i, 2 * i + 2);
    part->kind = EVENT_PART;
    part->t_post = t + 10000;
    struct event *reduce = add(f, rank, CALL_Allreduce, t + 100000, t + 200000);
    reduce->comm = 0;
    reduce->bytes = reduce->bytes_in = 8;
}

/* Four ranks on two hosts. */
static void set_up_ring(struct fake *f)
{
    *f = (struct fake){.streams = 4};
    for (uint32_t r = 0; r < 4; r++) {
        f->rank_of[r] = r;
        f->host_of[r] = r / 2;
    }
    f->job = (struct trace_job){.name = "ring",
                                .app = "ring",
                                .command = "holter import ring",
                                .mpi = "ring of a test",
                                .ranks = 4,
                                .stream_count = 4,
                                .rank_of = f->rank_of,
                                .host_of = f->host_of,
                                .hosts = hosts,
                                .host_count = 2,
                                .window_ns = 10 * MS,
                                .length_ns = ROUNDS * MS};
    for (uint32_t i = 0; i < ROUNDS; i++)
        for (uint32_t r = 0; r < 4; r++)
            add_round(f, r, i);
    assert_int_equal(directory_make(f->directory), 0);
    snprintf(f->path, sizeof(f->path), "%s/trace.hrec", f->directory);
}

static void finish(struct fake *f)
{
    for (uint32_t s = 0; s < STREAMS; s++)
        free(f->events[s]);
    directory_remove(f->directory);
}

static int import_with(struct fake *f, unsigned threads, struct trace_counts *counts)
{
    struct trace_reader reader = {f, fake_next, NULL, fake_comm, fake_region, NULL};
    struct trace_options options = {.threads = threads, .fault = fault, .user = f};
    memset(counts, 0, sizeof(*counts));
    memset(f->at, 0, sizeof(f->at));
    return trace_import(f->path, &f->job, &reader, &options, counts);
}

static struct recorded_sums import_all(struct fake *f, unsigned threads,
                                       struct trace_counts *counts)
{
    struct recorded_sums sums;
    if (import_with(f, threads, counts) != 0)
        fail_msg("%s", f->told);
    recorded_sums_read(&sums, f->path);
    return sums;
}

/* ---- sums ------------------------------------------------------------------ */

static void records_are_summed_by_window_and_rank(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    struct recorded_sums sums = import_all(&f, 1, &counts);
    uint64_t bytes = 4 * (100 * ROUNDS + ROUNDS * (ROUNDS - 1) / 2);
    assert_int_equal(sums.windows, 20);
    assert_int_equal(sums.last_window - sums.first_window, 9);
    assert_int_equal(sums.finals, 2);
    assert_int_equal(sums.announced, 4);
    assert_int_equal(sums.events, 20 * ROUNDS);
    assert_int_equal(sums.calls, 16 * ROUNDS);
    assert_int_equal(sums.sent, 4 * ROUNDS);
    assert_int_equal(sums.sent_bytes, bytes);
    assert_int_equal(sums.received, 4 * ROUNDS);
    assert_int_equal(sums.received_bytes, bytes);
    assert_int_equal(sums.pair_messages, 4 * ROUNDS);
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(sums.pairs[r][(r + 1) % 4], ROUNDS);
        assert_int_equal(sums.pair_size[r][(r + 1) % 4], bytes / 4);
    }
    assert_int_equal(sums.call[CALL_Allreduce], 4 * ROUNDS);
    assert_int_equal(sums.call_bytes[CALL_Allreduce], 32 * ROUNDS);
    assert_int_equal(sums.call_ns[CALL_Waitall], 4 * ROUNDS * 40000);
    assert_int_equal(counts.windows, 10);
    assert_int_equal(counts.records, 20 * ROUNDS);
    assert_int_equal(counts.sent, 4 * ROUNDS);
    assert_int_equal(counts.sent_bytes, bytes);
    assert_int_equal(counts.received_bytes, bytes);
    assert_int_equal(counts.collectives, 4 * ROUNDS);
    assert_int_equal(counts.failed_streams, 0);
    assert_string_equal(f.told, "");
    finish(&f);
}

/* The receive is posted 9 us before the send, the wait begins 10 us after it and ends 50 us after it. */
static void messages_within_hosts_are_matched_and_ends_of_others_kept(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    struct recorded_sums sums = import_all(&f, 1, &counts);
    assert_int_equal(sums.transfers, 2 * ROUNDS);
    assert_int_equal(sums.transfer_ns, 2 * ROUNDS * 50000);
    assert_int_equal(sums.late_sender_ns, 0);
    assert_int_equal(sums.late_receiver_ns, 2 * ROUNDS * 10000);
    assert_int_equal(sums.halves, 4 * ROUNDS);
    assert_int_equal(sums.matched, 2 * ROUNDS);
    assert_int_equal(sums.unmatched, 0);
    assert_int_equal(sums.rejected, 0);
    assert_int_equal(counts.matched, 2 * ROUNDS);
    assert_int_equal(counts.halves, 4 * ROUNDS);
    assert_true(sums.bursts > 0);
    finish(&f);
}

static void any_number_of_threads_gives_the_same_recording(void **state)
{
    struct fake f;
    struct trace_counts counts, first_counts;
    (void)state;
    set_up_ring(&f);
    struct recorded_sums first = import_all(&f, 1, &first_counts);
    for (unsigned threads = 2; threads <= 7; threads += 5) {
        assert_int_equal(remove(f.path), 0);
        struct recorded_sums sums = import_all(&f, threads, &counts);
        assert_memory_equal(&sums, &first, sizeof(sums));
        assert_memory_equal(&counts, &first_counts, sizeof(counts));
    }
    finish(&f);
}

static void records_may_come_in_small_batches(void **state)
{
    struct fake f;
    struct trace_counts counts, first_counts;
    (void)state;
    set_up_ring(&f);
    struct recorded_sums first = import_all(&f, 1, &first_counts);
    f.batch = 7;
    assert_int_equal(remove(f.path), 0);
    struct recorded_sums sums = import_all(&f, 1, &counts);
    sums.digest = first.digest; /* rows are in the order in which they came */
    assert_memory_equal(&sums, &first, sizeof(sums));
    assert_memory_equal(&counts, &first_counts, sizeof(counts));
    finish(&f);
}

static void calls_that_cross_a_window_are_split(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    f.count[0] = f.count[1] = f.count[2] = f.count[3] = 0;
    add(&f, 0, CALL_Barrier, 5 * MS, 25 * MS)->comm = 0;
    struct recorded_sums sums = import_all(&f, 1, &counts);
    assert_int_equal(sums.windows, 4); /* host beta has nothing, and is done with the first */
    assert_int_equal(sums.call[CALL_Barrier], 1);
    assert_int_equal(sums.call_ns[CALL_Barrier], 20 * MS);
    finish(&f);
}

/* ---- communicators, regions, threads --------------------------------------- */

static void communicators_and_regions_have_their_names(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    for (uint32_t i = 0; i < f.count[1]; i++) {
        f.events[1][i].region = 3;
        f.events[1][i].comm = f.events[1][i].call == CALL_Allreduce ? 2 : f.events[1][i].comm;
    }
    struct recorded_sums sums = import_all(&f, 1, &counts);
    assert_string_equal(sums.region, "solver");
    assert_int_equal(sums.region_sent, ROUNDS);
    assert_string_equal(sums.comm, "rows");
    assert_int_equal(sums.comm_size, 4);
    assert_true(sums.comm_members > 0);
    finish(&f);
}

static void what_the_reader_does_not_know_is_left_open(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    for (uint32_t i = 0; i < f.count[1]; i++) {
        f.events[1][i].region = 65535;
        f.events[1][i].comm = (uint16_t)(64000 + i % 1500);
    }
    struct recorded_sums sums = import_all(&f, 1, &counts);
    assert_int_equal(sums.sent, 4 * ROUNDS);
    assert_int_equal(sums.region_sent, 0);
    assert_string_equal(sums.comm, "");
    finish(&f);
}

/* The sends of rank 0 are made by two threads in turn: they are matched in the order of their times. */
static void threads_of_a_rank_are_merged(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    uint32_t all = f.count[0];
    f.job.stream_count = 5;
    f.rank_of[4] = 0;
    struct event *events = f.events[0];
    f.events[0] = NULL;
    f.count[0] = 0;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t stream = i / 5 % 2 == 0 ? 0 : 4;
        struct event *event = add(&f, stream, events[i].call, 0, 0);
        *event = events[i];
    }
    free(events);
    struct recorded_sums sums = import_all(&f, 2, &counts);
    assert_int_equal(sums.sent, 4 * ROUNDS);
    assert_int_equal(sums.matched, 2 * ROUNDS);
    assert_int_equal(sums.rejected + sums.unmatched, 0);
    assert_int_equal(sums.threads[0], 2);
    assert_int_equal(sums.threads[1], 1);
    finish(&f);
}

/* ---- what is not as it should be ------------------------------------------- */

static void a_stream_that_fails_ends_alone(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    f.count[2] = 5 * 30;
    f.fails[2] = 1;
    struct recorded_sums sums = import_all(&f, 2, &counts);
    assert_int_equal(counts.failed_streams, 1);
    assert_int_equal(sums.sent, 3 * ROUNDS + 30);
    assert_int_equal(counts.matched, ROUNDS + 30);
    assert_int_equal(counts.unmatched, ROUNDS - 30); /* rank 3 waits for what is missing */
    assert_int_equal(sums.finals, 2);
    finish(&f);
}

static void receives_before_their_sends_are_rejected(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    for (uint32_t i = 0; i < f.count[0]; i++) { /* the clock of rank 0 is 100 us late */
        f.events[0][i].t_enter += MS / 10;
        f.events[0][i].t_exit += MS / 10;
    }
    struct recorded_sums sums = import_all(&f, 1, &counts);
    assert_true(counts.rejected > 0);
    assert_int_equal(counts.rejected, sums.rejected);
    assert_int_equal(sums.sent, 4 * ROUNDS);
    finish(&f);
}

static void times_beyond_the_trace_are_no_records(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    f.events[3][f.count[3] - 1].t_exit = UINT64_MAX;
    f.events[2][7].t_exit = UINT64_C(1) << 62;
    f.events[1][3].kind = 99;
    f.events[0][3].t_enter = UINT64_MAX;
    struct recorded_sums sums = import_all(&f, 2, &counts);
    assert_int_equal(sums.lost, 4);
    assert_int_equal(counts.lost, 4);
    assert_int_equal(sums.last_window - sums.first_window, 9);
    finish(&f);
}

static void hostile_records_do_no_harm(void **state)
{
    struct fake f;
    struct trace_counts counts;
    uint64_t random = 88172645463325252u;
    (void)state;
    set_up_ring(&f);
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t i = 0; i < f.count[r]; i++) {
            uint8_t *bytes = (uint8_t *)&f.events[r][i];
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            bytes[random % sizeof(struct event)] = (uint8_t)(random >> 32);
        }
    import_all(&f, 2, &counts);
    assert_true(counts.records > 0);
    finish(&f);
}

static void an_empty_trace_gives_an_empty_recording(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    f.count[0] = f.count[1] = f.count[2] = f.count[3] = 0;
    struct recorded_sums sums = import_all(&f, 1, &counts);
    assert_int_equal(sums.windows, 2);
    assert_int_equal(sums.finals, 2);
    assert_int_equal(sums.events, 0);
    finish(&f);
}

static void what_is_there_is_not_overwritten(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    import_all(&f, 1, &counts);
    assert_int_equal(import_with(&f, 1, &counts), -EEXIST);
    assert_non_null(strstr(f.told, f.path));
    finish(&f);
}

static void too_many_windows_are_refused(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    f.job.window_ns = 10;
    assert_int_equal(import_with(&f, 1, &counts), -HOLTER_ERANGE);
    assert_non_null(strstr(f.told, "9999900 windows of 10 ns")); /* the first record is at 1 us */
    f.job.window_ns = UINT64_MAX;
    assert_int_equal(import_with(&f, 1, &counts), -HOLTER_ERANGE);
    f.job.window_ns = 10 * MS;
    f.job.begin_ns = UINT64_MAX - 5;
    assert_int_equal(import_with(&f, 1, &counts), -HOLTER_ERANGE);
    finish(&f);
}

static void a_job_that_is_none_is_refused(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    f.host_of[3] = 2;
    assert_int_equal(import_with(&f, 1, &counts), -HOLTER_ERANGE);
    f.host_of[3] = 1;
    f.rank_of[1] = 4;
    assert_int_equal(import_with(&f, 1, &counts), -HOLTER_ERANGE);
    finish(&f);
}

/* ---- windows --------------------------------------------------------------- */

static void a_trace_of_any_length_has_some_hundred_windows(void **state)
{
    (void)state;
    assert_int_equal(trace_window_ns(0), 10 * MS);
    assert_int_equal(trace_window_ns(1), 1000);
    assert_int_equal(trace_window_ns(2 * MS), 10000);
    assert_int_equal(trace_window_ns(1248 * MS), 5 * MS);
    assert_int_equal(trace_window_ns(3600000 * MS), 1000 * MS);
    assert_int_equal(trace_window_ns(UINT64_MAX), 1000 * MS);
    for (uint64_t length = 1000000; length < 200000 * MS; length = length * 17 / 11) {
        uint64_t windows = length / trace_window_ns(length);
        assert_true(windows >= 99 && windows <= 250);
    }
}

static void the_date_of_the_trace_is_kept(void **state)
{
    struct fake f;
    struct trace_counts counts;
    (void)state;
    set_up_ring(&f);
    f.job.begin_ns = UINT64_C(1500000000000000000) + 3 * MS;
    struct recorded_sums sums = import_all(&f, 1, &counts);
    assert_int_equal(sums.first_window, UINT64_C(150000000000));
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_summed_by_window_and_rank),
        cmocka_unit_test(messages_within_hosts_are_matched_and_ends_of_others_kept),
        cmocka_unit_test(any_number_of_threads_gives_the_same_recording),
        cmocka_unit_test(records_may_come_in_small_batches),
        cmocka_unit_test(calls_that_cross_a_window_are_split),
        cmocka_unit_test(communicators_and_regions_have_their_names),
        cmocka_unit_test(what_the_reader_does_not_know_is_left_open),
        cmocka_unit_test(threads_of_a_rank_are_merged),
        cmocka_unit_test(a_stream_that_fails_ends_alone),
        cmocka_unit_test(receives_before_their_sends_are_rejected),
        cmocka_unit_test(times_beyond_the_trace_are_no_records),
        cmocka_unit_test(hostile_records_do_no_harm),
        cmocka_unit_test(an_empty_trace_gives_an_empty_recording),
        cmocka_unit_test(what_is_there_is_not_overwritten),
        cmocka_unit_test(too_many_windows_are_refused),
        cmocka_unit_test(a_job_that_is_none_is_refused),
        cmocka_unit_test(a_trace_of_any_length_has_some_hundred_windows),
        cmocka_unit_test(the_date_of_the_trace_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
