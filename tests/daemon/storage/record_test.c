#include "daemon/storage/recording.h"
#include "holter/error.h"
#include "tests/daemon/storage/record_bed.h"
#include "tests/daemon/storage/recording_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

/* While it is locked, the disk hangs: in place of the function that a recording is begun with. */
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;

int posix_fallocate(int fd, off_t from, off_t length)
{
    (void)fd;
    (void)from;
    (void)length;
    pthread_mutex_lock(&disk);
    pthread_mutex_unlock(&disk);
    return 0;
}

static void begin(struct record_bed *b, const struct recorder_options *options)
{
    record_bed_begin(b, options);
    recorder_open(b->r, "job.0", b->path);
}

static void keep(struct record_bed *b, uint64_t seq, size_t length)
{
    record_bed_keep(b, "job.0", seq, length);
}

static void messages_are_acknowledged_after_they_were_committed(void **state)
{
    struct record_bed *b = *state;
    begin(b, NULL);
    keep(b, 1, 100);
    record_bed_rest(b, 1);
    assert_int_equal(record_bed_messages(b->path), 1); /* another reader sees it already */
    keep(b, 2, 100);
    recorder_queue_acknowledgement(b->r, 9, 3);
    record_bed_end(b);
    assert_int_equal(b->kept, 3);
    assert_int_equal(b->stops, 0);
    assert_int_equal(record_bed_messages(b->path), 12);
}

/* A message and what it led to come one behind the other: a commit between them would keep the one
 * alone. */
static void what_waits_together_is_committed_together(void **state)
{
    struct record_bed *b = *state;
    begin(b, NULL);
    keep(b, 1, 100); /* wakes the thread */
    while (recorder_queued_bytes(b->r) > 0)
        sched_yield();
    for (uint64_t seq = 2; seq <= 9; seq++)
        keep(b, seq, 100); /* wait until the first is to be committed */
    record_bed_rest(b, 1);
    assert_int_equal(b->kept, 9);
    record_bed_end(b);
}

static void count_agent(void *user, uint64_t instance, uint64_t seq)
{
    uint64_t *told = user;
    assert_int_equal(seq, instance + 7);
    ++*told;
}

static void no_stop(void *user, const char *job, const char *why)
{
    (void)user;
    fail_msg("%s: %s", job, why);
}

static void thousands_of_agents_are_acknowledged_once_each(void **state)
{
    struct record_bed *b = *state;
    uint64_t told = 0;
    assert_int_equal(uv_loop_init(&b->loop), 0);
    struct recorder_events events = {&told, count_agent, no_stop, NULL};
    assert_int_equal(recorder_create(&b->r, &b->loop, &(struct recorder_options){0}, &events), 0);
    for (uint64_t i = 0; i < 3000; i++)
        recorder_queue_acknowledgement(b->r, i, i + 7);
    while (told < 3000)
        uv_run(&b->loop, UV_RUN_ONCE);
    assert_int_equal(told, 3000);
    for (uint64_t i = 0; i < 3000; i++)
        recorder_queue_acknowledgement(b->r, i, i + 7);
    record_bed_end(b); /* the remaining ones are reported before it ends */
    assert_int_equal(told, 6000);
}

/* The recording of the bed holds the reason why it was stopped. */
static void check_stop_is_written(const struct record_bed *b)
{
    struct recording_stop stop;
    recording_find_stop(b->path, &stop);
    assert_string_equal(stop.why, b->why);
    assert_true(stop.at_ns > 0);
}

static void a_full_disk_stops_the_recording_once_and_agents_go_on(void **state)
{
    struct record_bed *b = *state;
    begin(b, &(struct recorder_options){.pages = 20});
    for (uint64_t i = 1; i <= 300; i++)
        keep(b, i, 4000);
    record_bed_end(b);
    assert_int_equal(b->stops, 1);
    assert_string_equal(b->job, "job.0");
    assert_string_equal(b->why, "No space left on device");
    assert_int_equal(b->kept, 300);
    check_stop_is_written(b);
    record_bed_messages(b->path); /* readable */
}

static void a_file_that_may_not_grow_is_a_full_disk(void **state)
{
    struct record_bed *b = *state;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 400000;
    signal(SIGXFSZ, SIG_IGN); /* as the daemon does */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    begin(b, NULL);
    for (uint64_t i = 1; i <= 300; i++)
        keep(b, i, 4000);
    record_bed_end(b);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(b->stops, 1);
    assert_string_equal(b->why, holter_strerror(-EFBIG));
    assert_int_equal(b->kept, 300);
    check_stop_is_written(b);
    record_bed_messages(b->path); /* readable */
}

/* Nobody could read what would be written to it, and it would be gone with us. */
static void a_file_that_is_removed_stops_the_recording(void **state)
{
    struct record_bed *b = *state;
    begin(b, NULL);
    keep(b, 1, 100);
    record_bed_rest(b, 1);
    assert_int_equal(unlink(b->path), 0);
    keep(b, 2, 100);
    record_bed_rest(b, 2);
    keep(b, 3, 100);
    record_bed_end(b);
    assert_int_equal(b->stops, 1);
    assert_string_equal(b->why, "its file was removed");
    assert_int_equal(b->kept, 3);
    assert_int_equal(recording_bytes_at(b->path), 0); /* nor is its log left */
}

/* Another name is no harm: all of it is there in the end. */
static void a_file_that_is_renamed_is_written_on(void **state)
{
    struct record_bed *b = *state;
    begin(b, NULL);
    keep(b, 1, 100);
    record_bed_rest(b, 1);
    assert_int_equal(rename(b->path, b->other_path), 0);
    keep(b, 2, 100);
    record_bed_end(b);
    assert_int_equal(b->stops, 0);
    assert_int_equal(record_bed_messages(b->other_path), 12);
}

static void a_full_queue_ends_the_recording(void **state)
{
    struct record_bed *b = *state;
    begin(b, &(struct recorder_options){.queue_bytes = 4096});
    keep(b, 1, 100);
    keep(b, 2, 8000); /* more than the whole queue holds */
    keep(b, 3, 100);
    record_bed_end(b);
    assert_int_equal(b->stops, 1);
    assert_non_null(strstr(b->why, "keep up"));
    assert_int_equal(b->kept, 3);
    check_stop_is_written(b);
    assert_int_equal(record_bed_messages(b->path), 1);
}

/* As a file system of the network may for hours: neither messages nor results are collected. */
static void a_disk_that_hangs_does_not_fill_the_memory(void **state)
{
    const struct wire_totals totals = {.job = "job.0", .window = 1, .length_ns = 1000000000};
    struct record_bed *b = *state;
    pthread_mutex_lock(&disk);
    begin(b, &(struct recorder_options){.queue_bytes = 16384});
    for (uint64_t seq = 1; seq <= 1000; seq++) {
        keep(b, seq, 100);
        recorder_queue_result(b->r, "job.0", WIRE_TYPE_TOTALS, &totals);
    }
    assert_in_range(recorder_queued_bytes(b->r), 8192, 20480);
    pthread_mutex_unlock(&disk);
    record_bed_rest(b, 1000);
    record_bed_keep(b, "job.0", 1001, 100);
    record_bed_rest(b, 1001); /* nothing else wakes the thread */
    record_bed_end(b);
    assert_int_equal(b->stops, 1);
    assert_non_null(strstr(b->why, "keep up"));
}

/* More than it may have, faster than it is committed. */
static void a_recording_in_parts_stays_below_its_size_however_fast_it_comes(void **state)
{
    const uint64_t most = UINT64_C(4) << 20;
    struct record_bed *b = *state;
    unsigned first, last;
    uint64_t all = 0;
    char part[200];
    begin(b, &(struct recorder_options){.most_bytes = most});
    for (uint64_t i = 1; i <= 2000; i++)
        keep(b, i, 4096);
    record_bed_end(b);
    assert_int_equal(b->stops, 0);
    recording_parts_find(b->path, &first, &last);
    assert_true(first > 1);
    for (; first <= last; first++) {
        assert_int_equal(recording_part_path(b->path, first, part, sizeof(part)), 0);
        all += recording_bytes_at(part);
    }
    assert_in_range(all, most / 8 * 5, most);
}

struct moves {
    unsigned count;
    char path[200]; /* of the last one */
};

static void note_move(void *user, const char *job, const char *path)
{
    struct moves *moves = user;
    assert_string_equal(job, "job.0");
    moves->count++;
    snprintf(moves->path, sizeof(moves->path), "%s", path);
}

static void forget_kept(void *user, uint64_t instance, uint64_t seq)
{
    (void)user;
    (void)instance;
    (void)seq;
}

/* Parts that are begun while the loop does other work are reported together. */
static void the_newest_part_is_reported_last(void **state)
{
    struct record_bed *b = *state;
    unsigned first, last;
    char part[200];
    struct moves moves = {0};
    const struct recorder_options options = {.most_bytes = UINT64_C(4) << 20};
    const struct recorder_events events = {&moves, forget_kept, no_stop, note_move};
    assert_int_equal(uv_loop_init(&b->loop), 0);
    assert_int_equal(recorder_create(&b->r, &b->loop, &options, &events), 0);
    recorder_open(b->r, "job.0", b->path);
    for (uint64_t i = 1; i <= 2000; i++)
        keep(b, i, 4096);
    record_bed_end(b);
    recording_parts_find(b->path, &first, &last);
    assert_int_equal(recording_part_path(b->path, last, part, sizeof(part)), 0);
    assert_true(moves.count > 1);
    assert_string_equal(moves.path, part);
}

static void a_closed_recording_opens_again_for_a_late_message(void **state)
{
    struct record_bed *b = *state;
    begin(b, NULL);
    keep(b, 1, 100);
    recorder_close(b->r, "job.0");
    keep(b, 2, 100);
    record_bed_end(b);
    assert_int_equal(b->stops, 0);
    assert_int_equal(record_bed_messages(b->path), 12);
}

/* What comes late leaves neither a log nor a lock behind until the daemon ends, which may be months
 * later. */
static void a_recording_that_was_opened_for_a_late_message_is_closed_again(void **state)
{
    struct wire_job job = {.job = "job.0", .state = "running", .window_ns = 1000000000};
    struct record_bed *b = *state;
    char log[200];
    snprintf(log, sizeof(log), "%s-wal", b->path);
    begin(b, NULL);
    keep(b, 1, 100);
    recorder_close(b->r, "job.0");
    keep(b, 2, 100);
    record_bed_rest(b, 2);
    assert_int_not_equal(access(log, F_OK), 0);
    recorder_queue_result(b->r, "job.0", WIRE_TYPE_JOB, &job);
    keep(b, 3, 100);
    record_bed_rest(b, 3);
    assert_int_equal(access(log, F_OK), 0); /* a job that goes on is written on */
    record_bed_end(b);
    assert_int_equal(b->stops, 0);
    assert_int_equal(record_bed_messages(b->path), 123);
}

/* As that of a fleet's job that this daemon takes a second time. */
static void after_a_recording_that_stopped_another_one_of_the_job_is_begun(void **state)
{
    struct record_bed *b = *state;
    begin(b, &(struct recorder_options){.queue_bytes = 4096});
    keep(b, 1, 100);
    keep(b, 2, 8000); /* more than the whole queue holds */
    record_bed_rest(b, 2);
    recorder_close(b->r, "job.0");
    recorder_open(b->r, "job.0", b->other_path);
    keep(b, 3, 100);
    record_bed_rest(b, 3);
    keep(b, 4, 8000);
    record_bed_end(b);
    assert_int_equal(b->stops, 2);
    assert_int_equal(record_bed_messages(b->path), 1);
    assert_int_equal(record_bed_messages(b->other_path), 3);
}

static void a_file_that_cannot_be_created_is_reported(void **state)
{
    struct record_bed *b = *state;
    snprintf(b->path, sizeof(b->path), "%s/no/such/place.hrec", b->directory);
    begin(b, NULL);
    keep(b, 1, 100);
    record_bed_end(b);
    assert_int_equal(b->stops, 1);
    assert_int_equal(b->kept, 1);
}

#define WITH_BED(test) cmocka_unit_test_setup_teardown(test, record_bed_make, record_bed_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BED(messages_are_acknowledged_after_they_were_committed),
        WITH_BED(what_waits_together_is_committed_together),
        WITH_BED(thousands_of_agents_are_acknowledged_once_each),
        WITH_BED(a_full_disk_stops_the_recording_once_and_agents_go_on),
        WITH_BED(a_file_that_may_not_grow_is_a_full_disk),
        WITH_BED(a_file_that_is_removed_stops_the_recording),
        WITH_BED(a_file_that_is_renamed_is_written_on),
        WITH_BED(a_full_queue_ends_the_recording),
        WITH_BED(a_disk_that_hangs_does_not_fill_the_memory),
        WITH_BED(a_recording_in_parts_stays_below_its_size_however_fast_it_comes),
        WITH_BED(a_closed_recording_opens_again_for_a_late_message),
        WITH_BED(a_recording_that_was_opened_for_a_late_message_is_closed_again),
        WITH_BED(a_file_that_cannot_be_created_is_reported),
        WITH_BED(the_newest_part_is_reported_last),
        WITH_BED(after_a_recording_that_stopped_another_one_of_the_job_is_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
