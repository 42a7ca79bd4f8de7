/* Recordings while there is no memory for what is to be kept: they end where the first of it is missing, which is told. */
#include "daemon/record.h"
#include "tests/directory.h"
#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char directory[DIRECTORY_ROOM], path[128], other_path[128];

struct bed {
    uv_loop_t loop;
    struct recorder *r;
    uint64_t kept;
    unsigned stops;
    char job[65], why[256];
};

static int make_directory(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/r.hrec", directory);
    snprintf(other_path, sizeof(other_path), "%s/other.hrec", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return directory_remove(directory);
}

static void on_kept(void *user, uint64_t instance, uint64_t seq)
{
    struct bed *b = user;
    assert_int_equal(instance, 9);
    b->kept = seq;
}

static void on_stopped(void *user, const char *job, const char *why)
{
    struct bed *b = user;
    b->stops++;
    snprintf(b->job, sizeof(b->job), "%s", job);
    snprintf(b->why, sizeof(b->why), "%s", why);
}

static void begin(struct bed *b)
{
    *b = (struct bed){.kept = 0};
    assert_int_equal(uv_loop_init(&b->loop), 0);
    struct recorder_events events = {b, on_kept, on_stopped, NULL};
    assert_int_equal(recorder_create(&b->r, &b->loop, &(struct recorder_options){0}, &events), 0);
}

static void end(struct bed *b)
{
    recorder_destroy(b->r);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&b->loop), 0);
}

static void keep(struct bed *b, const char *job, uint64_t seq)
{
    zmq_msg_t message;
    struct recorded head = {.type = WIRE_TYPE_WINDOW, .instance = 9, .seq = seq};
    assert_int_equal(zmq_msg_init_size(&message, 100), 0);
    memset(zmq_msg_data(&message), 0, 100);
    recorder_keep(b->r, job, &head, &message, NULL);
    zmq_msg_close(&message);
}

/* All that was kept is committed, and the recorder's thread waits for more, and asks for no memory. */
static void rest(struct bed *b, uint64_t kept)
{
    while (b->kept < kept)
        uv_run(&b->loop, UV_RUN_ONCE);
}

static int no_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

static int note_message(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    *(uint64_t *)user = *(uint64_t *)user * 10 + head->seq;
    return 0;
}

/* @return the numbers of the messages that are there, as digits */
static uint64_t messages_in(const char *file)
{
    uint64_t numbers = 0;
    assert_int_equal(
        recording_read(file, &(struct recording_reader){&numbers, no_alert, note_message}), 0);
    return numbers;
}

static void a_message_that_is_not_kept_ends_its_recording_and_no_other(void **state)
{
    struct bed b;
    (void)state;
    begin(&b);
    recorder_open(b.r, "job.0", path);
    recorder_open(b.r, "job.1", other_path);
    keep(&b, "job.0", 1);
    rest(&b, 1);
    memory_fail(1);
    keep(&b, "job.0", 2);
    assert_true(memory_failed());
    memory_fail(0);
    keep(&b, "job.0", 3);
    keep(&b, "job.1", 4);
    end(&b);
    assert_int_equal(b.stops, 1);
    assert_string_equal(b.job, "job.0");
    assert_non_null(strstr(b.why, "memory"));
    assert_int_equal(b.kept, 4); /* nobody waits for what cannot be kept any more */
    assert_int_equal(messages_in(path), 1);
    assert_int_equal(messages_in(other_path), 4);
}

static void a_recording_whose_last_message_is_not_kept_is_told_to_have_stopped(void **state)
{
    struct bed b;
    (void)state;
    begin(&b);
    recorder_open(b.r, "job.0", path);
    keep(&b, "job.0", 1);
    rest(&b, 1);
    memory_fail(1);
    keep(&b, "job.0", 2);
    memory_fail(0);
    recorder_close(b.r, "job.0");
    end(&b);
    assert_int_equal(b.stops, 1);
    assert_int_equal(messages_in(path), 1);
}

static void a_row_of_a_table_that_is_not_kept_ends_the_recording(void **state)
{
    const struct wire_totals totals = {.job = "job.0", .window = 1, .length_ns = 1000000000};
    for (unsigned long number = 1, failed = 1; failed != 0; number++) {
        struct bed b;
        begin(&b);
        recorder_open(b.r, "job.0", path);
        keep(&b, "job.0", 1);
        rest(&b, 1);
        memory_fail(number);
        recorder_table(b.r, "job.0", WIRE_TYPE_TOTALS, &totals);
        failed = (unsigned long)memory_failed();
        memory_fail(0);
        keep(&b, "job.0", 2);
        end(&b);
        assert_int_equal(b.stops, failed);
        assert_int_equal(messages_in(path), failed ? 1 : 12);
        remove_directory(state);
        make_directory(state);
    }
}

static void a_recording_that_cannot_begin_is_told(void **state)
{
    (void)state;
    for (unsigned long number = 1; number <= 2; number++) {
        struct bed b;
        begin(&b);
        memory_fail(number);
        recorder_open(b.r, "job.0", path);
        assert_true(memory_failed());
        memory_fail(0);
        keep(&b, "job.0", 1);
        rest(&b, 1);
        assert_int_equal(b.stops, 1);
        assert_string_equal(b.job, "job.0");
        end(&b);
        assert_int_equal(b.stops, 1);
    }
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(a_message_that_is_not_kept_ends_its_recording_and_no_other),
        WITH_DIRECTORY(a_recording_whose_last_message_is_not_kept_is_told_to_have_stopped),
        WITH_DIRECTORY(a_row_of_a_table_that_is_not_kept_ends_the_recording),
        WITH_DIRECTORY(a_recording_that_cannot_begin_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
