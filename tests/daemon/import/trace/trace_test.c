#include "daemon/import/trace/trace_capture.h"
#include "holter/call.h"
#include "tests/daemon/import/trace/fake_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on

/* ---- sums ------------------------------------------------------------------ */

static void records_are_summed_by_window_and_rank(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    uint64_t bytes =
        4 * (100 * FAKE_TRACE_ROUNDS + FAKE_TRACE_ROUNDS * (FAKE_TRACE_ROUNDS - 1) / 2);
    assert_int_equal(sums.windows, 20);
    assert_int_equal(sums.last_window - sums.first_window, 9);
    assert_int_equal(sums.finals, 2);
    assert_int_equal(sums.announced, 4);
    assert_int_equal(sums.events, 20 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.calls, 16 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.sent, 4 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.sent_bytes, bytes);
    assert_int_equal(sums.received, 4 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.received_bytes, bytes);
    assert_int_equal(sums.pair_messages, 4 * FAKE_TRACE_ROUNDS);
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(sums.pairs[r][(r + 1) % 4], FAKE_TRACE_ROUNDS);
        assert_int_equal(sums.pair_size[r][(r + 1) % 4], bytes / 4);
    }
    assert_int_equal(sums.call[CALL_Allreduce], 4 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.call_bytes[CALL_Allreduce], 32 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.call_ns[CALL_Waitall], 4 * FAKE_TRACE_ROUNDS * 40000);
    assert_int_equal(counts.windows, 10);
    assert_int_equal(counts.records, 20 * FAKE_TRACE_ROUNDS);
    assert_int_equal(counts.sent, 4 * FAKE_TRACE_ROUNDS);
    assert_int_equal(counts.sent_bytes, bytes);
    assert_int_equal(counts.received_bytes, bytes);
    assert_int_equal(counts.collectives, 4 * FAKE_TRACE_ROUNDS);
    assert_int_equal(counts.failed_streams, 0);
    assert_string_equal(f.told, "");
    fake_trace_finish(&f);
}

/* The receive is posted 9 us before the send, the wait begins 10 us after it and ends 50 us after
 * it. */
static void messages_within_hosts_are_matched_and_ends_of_others_kept(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(sums.transfers, 2 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.transfer_ns, 2 * FAKE_TRACE_ROUNDS * 50000);
    assert_int_equal(sums.late_sender_ns, 0);
    assert_int_equal(sums.late_receiver_ns, 2 * FAKE_TRACE_ROUNDS * 10000);
    assert_int_equal(sums.halves, 4 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.matched, 2 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.unmatched, 0);
    assert_int_equal(sums.rejected, 0);
    assert_int_equal(counts.matched, 2 * FAKE_TRACE_ROUNDS);
    assert_int_equal(counts.halves, 4 * FAKE_TRACE_ROUNDS);
    assert_true(sums.bursts > 0);
    fake_trace_finish(&f);
}

static void any_number_of_threads_gives_the_same_recording(void **state)
{
    struct fake_trace f;
    struct trace_counts counts, first_counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    struct recorded_sums first = fake_trace_import_all(&f, 1, &first_counts);
    for (unsigned threads = 2; threads <= 7; threads += 5) {
        assert_int_equal(remove(f.path), 0);
        struct recorded_sums sums = fake_trace_import_all(&f, threads, &counts);
        assert_memory_equal(&sums, &first, sizeof(sums));
        assert_memory_equal(&counts, &first_counts, sizeof(counts));
    }
    fake_trace_finish(&f);
}

static void the_newest_records_of_each_stream_are_captured(void **state)
{
    static const struct event calls[] = {{.kind = EVENT_CALL, .parts = 1},
                                         {.kind = EVENT_PART},
                                         {.kind = 0}, /* counts as lost */
                                         {.kind = EVENT_CALL}};
    struct fake_trace f;
    struct trace_counts counts;
    struct trace_kept kept = {0};
    (void)state;
    fake_trace_set_up_ring(&f);
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(sums.captured_threads, 4);
    assert_int_equal(sums.captured, counts.records); /* of so short a trace, all */
    assert_int_equal(sums.captured_written, counts.records);
    fake_trace_finish(&f);
    assert_int_equal(trace_capture_share(1), TRACE_CAPTURE_STREAM);
    assert_int_equal(trace_capture_share(64) * 64, TRACE_CAPTURE_RECORDS);
    assert_int_equal(trace_capture_share(TRACE_CAPTURE_RECORDS + 1), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(trace_capture_keep(&kept, 7, calls, 4), 0);
    assert_int_equal(kept.count, 30);
    assert_int_equal(kept.events[29 % 7].seq, 29);
    assert_int_equal(kept.events[23 % 7].seq, 23);
    assert_int_equal(trace_capture_keep(&kept, 0, calls, 4), 0);
    assert_int_equal(kept.count, 30);
    trace_capture_finish(&kept);
}

/* Host alpha, to which ranks 0 and 1 belong, ends eight windows before host beta. */
static void hosts_that_end_in_different_windows_have_one_capture(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    f.count[0] = f.count[1] = FAKE_TRACE_ROUNDS;
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(sums.windows, 2 + 10);
    assert_int_equal(sums.captured_threads, 4);
    assert_int_equal(sums.captured, counts.records);
    assert_int_equal(sums.captures, 1);
    assert_in_range(sums.captured_ns, sums.last_window * sums.window_ns,
                    (sums.last_window + 1) * sums.window_ns);
    fake_trace_finish(&f);
}

static void records_may_come_in_small_batches(void **state)
{
    struct fake_trace f;
    struct trace_counts counts, first_counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    struct recorded_sums first = fake_trace_import_all(&f, 1, &first_counts);
    f.batch = 7;
    assert_int_equal(remove(f.path), 0);
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    sums.digest = first.digest; /* rows are in the order in which they came */
    assert_memory_equal(&sums, &first, sizeof(sums));
    assert_memory_equal(&counts, &first_counts, sizeof(counts));
    fake_trace_finish(&f);
}

static void calls_that_cross_a_window_are_split(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring_without_records(&f);
    fake_trace_add(&f, 0, CALL_Barrier, 5 * MS, 25 * MS)->comm = 0;
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(sums.windows, 4); /* host beta has nothing, and is done with the first */
    assert_int_equal(sums.call[CALL_Barrier], 1);
    assert_int_equal(sums.call_ns[CALL_Barrier], 20 * MS);
    fake_trace_finish(&f);
}

/* Two hosts of two ranks: the second one has no record, and is done with the first window. */
static void before_the_first_record_and_after_the_last_one_of_a_host_ranks_are_absent(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring_without_records(&f);
    fake_trace_add(&f, 0, CALL_Barrier, 4 * MS, 12 * MS)->comm = 0;
    fake_trace_add(&f, 1, CALL_Barrier, 5 * MS, 23 * MS)->comm = 0;
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(sums.windows, 4);
    assert_int_equal(sums.absent_ns, 2 * (4 + 7) * MS + 2 * 4 * MS);
    fake_trace_finish(&f);
}

/* ---- communicators, regions, threads --------------------------------------- */

static void communicators_and_regions_have_their_names(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    for (uint32_t i = 0; i < f.count[1]; i++) {
        f.events[1][i].region = 3;
        f.events[1][i].comm = f.events[1][i].call == CALL_Allreduce ? 2 : f.events[1][i].comm;
    }
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_string_equal(sums.region, "solver");
    assert_int_equal(sums.region_sent, FAKE_TRACE_ROUNDS);
    assert_string_equal(sums.comm, "rows");
    assert_int_equal(sums.comm_size, 4);
    assert_true(sums.comm_members > 0);
    fake_trace_finish(&f);
}

static void what_the_reader_does_not_know_is_left_open(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    for (uint32_t i = 0; i < f.count[1]; i++) {
        f.events[1][i].region = 65535;
        f.events[1][i].comm = (uint16_t)(64000 + i % 1500);
    }
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(sums.sent, 4 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.region_sent, 0);
    assert_string_equal(sums.comm, "");
    fake_trace_finish(&f);
}

/* The sends of rank 0 are made by two threads in turn: they are matched in the order of their
 * times. */
static void threads_of_a_rank_are_merged(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    uint32_t all = f.count[0];
    f.job.stream_count = 5;
    f.rank_of[4] = 0;
    struct event *events = f.events[0];
    f.events[0] = NULL;
    f.count[0] = 0;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t stream = i / 5 % 2 == 0 ? 0 : 4;
        struct event *event = fake_trace_add(&f, stream, events[i].call, 0, 0);
        *event = events[i];
    }
    free(events);
    struct recorded_sums sums = fake_trace_import_all(&f, 2, &counts);
    assert_int_equal(sums.sent, 4 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.matched, 2 * FAKE_TRACE_ROUNDS);
    assert_int_equal(sums.rejected + sums.unmatched, 0);
    assert_int_equal(sums.threads[0], 2);
    assert_int_equal(sums.threads[1], 1);
    fake_trace_finish(&f);
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
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    f.job.begin_ns = UINT64_C(1500000000000000000) + 3 * MS;
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(sums.first_window, UINT64_C(150000000000));
    fake_trace_finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_summed_by_window_and_rank),
        cmocka_unit_test(messages_within_hosts_are_matched_and_ends_of_others_kept),
        cmocka_unit_test(any_number_of_threads_gives_the_same_recording),
        cmocka_unit_test(the_newest_records_of_each_stream_are_captured),
        cmocka_unit_test(hosts_that_end_in_different_windows_have_one_capture),
        cmocka_unit_test(records_may_come_in_small_batches),
        cmocka_unit_test(calls_that_cross_a_window_are_split),
        cmocka_unit_test(before_the_first_record_and_after_the_last_one_of_a_host_ranks_are_absent),
        cmocka_unit_test(communicators_and_regions_have_their_names),
        cmocka_unit_test(what_the_reader_does_not_know_is_left_open),
        cmocka_unit_test(threads_of_a_rank_are_merged),
        cmocka_unit_test(a_trace_of_any_length_has_some_hundred_windows),
        cmocka_unit_test(the_date_of_the_trace_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
