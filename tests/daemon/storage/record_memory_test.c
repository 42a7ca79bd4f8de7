/* Recordings while there is no memory for what is to be kept: they end where the first of it is
 * missing, which is told. */
#include "tests/daemon/storage/record_bed.h"
#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_message_that_is_not_kept_ends_its_recording_and_no_other(void **state)
{
    struct record_bed *b = *state;
    record_bed_begin(b, NULL);
    recorder_open(b->r, "job.0", b->path);
    recorder_open(b->r, "job.1", b->other_path);
    record_bed_keep(b, "job.0", 1, 100);
    record_bed_rest(b, 1);
    memory_fail(1);
    record_bed_keep(b, "job.0", 2, 100);
    assert_true(memory_failed());
    memory_fail(0);
    record_bed_keep(b, "job.0", 3, 100);
    record_bed_keep(b, "job.1", 4, 100);
    record_bed_end(b);
    assert_int_equal(b->stops, 1);
    assert_string_equal(b->job, "job.0");
    assert_non_null(strstr(b->why, "memory"));
    assert_int_equal(b->kept, 4); /* nobody waits for what cannot be kept any more */
    assert_int_equal(record_bed_messages(b->path), 1);
    assert_int_equal(record_bed_messages(b->other_path), 4);
}

static void a_recording_whose_last_message_is_lost_is_reported_as_stopped(void **state)
{
    struct record_bed *b = *state;
    record_bed_begin(b, NULL);
    recorder_open(b->r, "job.0", b->path);
    record_bed_keep(b, "job.0", 1, 100);
    record_bed_rest(b, 1);
    memory_fail(1);
    record_bed_keep(b, "job.0", 2, 100);
    memory_fail(0);
    recorder_close(b->r, "job.0");
    record_bed_end(b);
    assert_int_equal(b->stops, 1);
    assert_int_equal(record_bed_messages(b->path), 1);
}

static void a_row_of_a_table_that_is_not_kept_ends_the_recording(void **state)
{
    struct record_bed *b = *state;
    const struct wire_totals totals = {.job = "job.0", .window = 1, .length_ns = 1000000000};
    for (unsigned long number = 1, failed = 1; failed != 0; number++) {
        record_bed_begin(b, NULL);
        recorder_open(b->r, "job.0", b->path);
        record_bed_keep(b, "job.0", 1, 100);
        record_bed_rest(b, 1);
        memory_fail(number);
        recorder_queue_result(b->r, "job.0", WIRE_TYPE_TOTALS, &totals);
        failed = (unsigned long)memory_failed();
        memory_fail(0);
        record_bed_keep(b, "job.0", 2, 100);
        record_bed_end(b);
        assert_int_equal(b->stops, failed);
        assert_int_equal(record_bed_messages(b->path), failed ? 1 : 12);
        record_bed_clear(b);
    }
}

static void a_recording_that_cannot_begin_is_reported(void **state)
{
    struct record_bed *b = *state;
    for (unsigned long number = 1; number <= 2; number++) {
        record_bed_begin(b, NULL);
        memory_fail(number);
        recorder_open(b->r, "job.0", b->path);
        assert_true(memory_failed());
        memory_fail(0);
        record_bed_keep(b, "job.0", 1, 100);
        record_bed_rest(b, 1);
        assert_int_equal(b->stops, 1);
        assert_string_equal(b->job, "job.0");
        record_bed_end(b);
        assert_int_equal(b->stops, 1);
    }
}

#define WITH_BED(test) cmocka_unit_test_setup_teardown(test, record_bed_make, record_bed_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BED(a_message_that_is_not_kept_ends_its_recording_and_no_other),
        WITH_BED(a_recording_whose_last_message_is_lost_is_reported_as_stopped),
        WITH_BED(a_row_of_a_table_that_is_not_kept_ends_the_recording),
        WITH_BED(a_recording_that_cannot_begin_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
