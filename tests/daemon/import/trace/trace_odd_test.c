/* Traces that are not as they should be. */
#include "holter/call.h"
#include "holter/error.h"
#include "tests/daemon/import/trace/fake_trace.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static void a_stream_that_fails_ends_alone(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    f.count[2] = 5 * 30;
    f.fails[2] = 1;
    struct recorded_sums sums = fake_trace_import_all(&f, 2, &counts);
    assert_int_equal(counts.failed_streams, 1);
    assert_int_equal(sums.sent, 3 * FAKE_TRACE_ROUNDS + 30);
    assert_int_equal(counts.matched, FAKE_TRACE_ROUNDS + 30);
    assert_int_equal(counts.unmatched,
                     FAKE_TRACE_ROUNDS - 30); /* rank 3 waits for what is missing */
    assert_int_equal(sums.finals, 2);
    fake_trace_finish(&f);
}

static void receives_before_their_sends_are_rejected(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    for (uint32_t i = 0; i < f.count[0]; i++) { /* the clock of rank 0 is 100 us late */
        f.events[0][i].t_enter += MS / 10;
        f.events[0][i].t_exit += MS / 10;
    }
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_true(counts.rejected > 0);
    assert_int_equal(counts.rejected, sums.rejected);
    assert_int_equal(sums.sent, 4 * FAKE_TRACE_ROUNDS);
    fake_trace_finish(&f);
}

static void times_beyond_the_trace_are_no_records(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    f.events[3][f.count[3] - 1].t_exit = UINT64_MAX;
    f.events[2][7].t_exit = UINT64_C(1) << 62;
    f.events[1][3].kind = 99;
    f.events[0][3].t_enter = UINT64_MAX;
    struct recorded_sums sums = fake_trace_import_all(&f, 2, &counts);
    assert_int_equal(sums.lost, 4);
    assert_int_equal(counts.lost, 4);
    assert_int_equal(sums.last_window - sums.first_window, 9);
    fake_trace_finish(&f);
}

/* Nobody waits for it, so no window is closed on the way there. */
static void a_record_far_beyond_the_trace_closes_no_windows(void **state)
{
    static const uint64_t beyond[] = {5000 * 10 * MS, UINT64_C(1) << 62, UINT64_MAX};
    (void)state;
    for (unsigned last = 0; last < 2; last++) {
        for (size_t i = 0; i < sizeof(beyond) / sizeof(*beyond); i++) {
            struct fake_trace f;
            struct trace_counts counts;
            fake_trace_set_up_ring(&f);
            f.waits = 1;
            f.batch = 7;
            struct recorded_sums plain = fake_trace_import_all(&f, 1, &counts);
            assert_int_equal(counts.lost, 0);
            assert_int_equal(f.closed, 10);
            uint32_t at = last ? f.count[3] - 1 : f.count[3] / 2 + 4; /* an allreduce */
            f.events[3][at].t_enter = f.events[3][at].t_exit = beyond[i];
            assert_int_equal(remove(f.path), 0);
            struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
            assert_int_equal(f.closed, 10);
            assert_int_equal(counts.windows, 10);
            assert_int_equal(sums.windows, plain.windows);
            assert_int_equal(sums.last_window, plain.last_window);
            assert_int_equal(counts.lost, 1);
            assert_int_equal(counts.collectives, 4 * FAKE_TRACE_ROUNDS - 1); /* all else is there */
            assert_int_equal(counts.matched, 2 * FAKE_TRACE_ROUNDS);
            assert_int_equal(sums.sent_bytes, plain.sent_bytes);
            fake_trace_finish(&f);
        }
    }
}

/* It is taken for one of its time in the stream. */
static void a_record_before_the_trace_closes_no_windows(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    for (unsigned waits = 0; waits < 2; waits++) {
        fake_trace_set_up_ring(&f);
        f.waits = (int)waits;
        f.batch = 7;
        uint32_t at = f.count[3] / 2 + 4; /* an allreduce */
        f.events[3][at].t_enter = f.events[3][at].t_exit = 0;
        struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
        assert_int_equal(f.closed, 10);
        assert_int_equal(sums.last_window - sums.first_window, 9);
        assert_int_equal(counts.lost, 0);
        assert_int_equal(counts.collectives, 4 * FAKE_TRACE_ROUNDS);
        assert_int_equal(counts.matched, 2 * FAKE_TRACE_ROUNDS);
        fake_trace_finish(&f);
    }
}

static void records_with_more_bytes_than_memory_are_no_records(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    uint64_t bytes = 0;
    (void)state;
    fake_trace_set_up_ring(&f);
    f.job.record_bytes = TRACE_RECORD_BYTES;
    struct recorded_sums plain = fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(remove(f.path), 0);
    for (uint32_t i = 0, changed = 0; i < f.count[0] && changed < 3; i++) {
        struct event *event = &f.events[0][i];
        if ((event->flags & (EVENT_SEND | EVENT_POST)) != (EVENT_SEND | EVENT_POST))
            continue;
        bytes += event->bytes;
        event->bytes = INT64_MAX;
        changed++;
    }
    f.events[1][4].bytes_in = UINT64_MAX; /* of an allreduce */
    struct recorded_sums sums = fake_trace_import_all(&f, 2, &counts);
    assert_int_equal(sums.sent_bytes, plain.sent_bytes - bytes);
    assert_int_equal(counts.sent_bytes, plain.sent_bytes - bytes);
    assert_int_equal(sums.call_bytes_in[CALL_Allreduce],
                     plain.call_bytes_in[CALL_Allreduce] -
                         plain.call_bytes_in[CALL_Allreduce] / (4 * FAKE_TRACE_ROUNDS));
    assert_int_equal(counts.lost, 4);
    assert_non_null(strstr(f.told, "4 records are none, or "));
    fake_trace_finish(&f);
}

/* No record alone is out of range, but all together are. */
static void sums_of_bytes_do_not_wrap(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    f.job.record_bytes = TRACE_RECORD_BYTES;
    f.count[0] = 0;
    for (uint32_t i = 0; i < 40000; i++) {
        struct event *event = fake_trace_add(&f, 0, CALL_Send, 1000 + i, 1001 + i);
        event->flags = EVENT_SEND | EVENT_POST | EVENT_DONE;
        event->peer = 3;
        event->bytes = UINT64_C(1) << 49;
        event->comm = 0;
    }
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_true(sums.lost > 0);
    assert_true(sums.sent >= UINT64_C(1) << 13);
    assert_true(sums.sent_bytes <= INT64_MAX);
    assert_true(sums.sent_bytes / (sums.sent - 300) >= UINT64_C(1) << 49);
    fake_trace_finish(&f);
}

static void hostile_records_do_no_harm(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    uint64_t random = 88172645463325252u;
    (void)state;
    fake_trace_set_up_ring(&f);
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t i = 0; i < f.count[r]; i++) {
            uint8_t *bytes = (uint8_t *)&f.events[r][i];
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            bytes[random % sizeof(struct event)] = (uint8_t)(random >> 32);
        }
    fake_trace_import_all(&f, 2, &counts);
    assert_true(counts.records > 0);
    fake_trace_finish(&f);
}

static void an_empty_trace_gives_an_empty_recording(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring_without_records(&f);
    struct recorded_sums sums = fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(sums.windows, 2);
    assert_int_equal(sums.finals, 2);
    assert_int_equal(sums.events, 0);
    fake_trace_finish(&f);
}

static void what_is_there_is_not_overwritten(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    fake_trace_import_all(&f, 1, &counts);
    assert_int_equal(fake_trace_import(&f, 1, &counts), -EEXIST);
    assert_non_null(strstr(f.told, f.path));
    fake_trace_finish(&f);
}

static void too_many_windows_are_refused(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    f.job.window_ns = 10;
    assert_int_equal(fake_trace_import(&f, 1, &counts), -HOLTER_ERANGE);
    assert_non_null(strstr(f.told, "9999900 windows of 10 ns")); /* the first record is at 1 us */
    f.job.window_ns = UINT64_MAX;
    assert_int_equal(fake_trace_import(&f, 1, &counts), -HOLTER_ERANGE);
    f.job.window_ns = 10 * MS;
    f.job.begin_ns = UINT64_MAX - 5;
    assert_int_equal(fake_trace_import(&f, 1, &counts), -HOLTER_ERANGE);
    fake_trace_finish(&f);
}

static void a_job_that_is_none_is_refused(void **state)
{
    struct fake_trace f;
    struct trace_counts counts;
    (void)state;
    fake_trace_set_up_ring(&f);
    f.host_of[3] = 2;
    assert_int_equal(fake_trace_import(&f, 1, &counts), -HOLTER_ERANGE);
    f.host_of[3] = 1;
    f.rank_of[1] = 4;
    assert_int_equal(fake_trace_import(&f, 1, &counts), -HOLTER_ERANGE);
    fake_trace_finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_that_fails_ends_alone),
        cmocka_unit_test(receives_before_their_sends_are_rejected),
        cmocka_unit_test(times_beyond_the_trace_are_no_records),
        cmocka_unit_test(a_record_far_beyond_the_trace_closes_no_windows),
        cmocka_unit_test(a_record_before_the_trace_closes_no_windows),
        cmocka_unit_test(records_with_more_bytes_than_memory_are_no_records),
        cmocka_unit_test(sums_of_bytes_do_not_wrap),
        cmocka_unit_test(hostile_records_do_no_harm),
        cmocka_unit_test(an_empty_trace_gives_an_empty_recording),
        cmocka_unit_test(what_is_there_is_not_overwritten),
        cmocka_unit_test(too_many_windows_are_refused),
        cmocka_unit_test(a_job_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
