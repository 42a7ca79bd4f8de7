#include "daemon/record.h"
#include "tests/directory.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[DIRECTORY_ROOM], path[128];

struct heard {
    uint64_t kept;
    unsigned stops;
    char why[256];
};

static int make_directory(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/r.hrec", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return directory_remove(directory);
}

static void on_kept(void *user, uint64_t instance, uint64_t seq)
{
    struct heard *heard = user;
    assert_int_equal(instance, 9);
    assert_true(seq >= heard->kept);
    heard->kept = seq;
}

static void on_stopped(void *user, const char *job, const char *why)
{
    struct heard *heard = user;
    assert_string_equal(job, "job.0");
    heard->stops++;
    snprintf(heard->why, sizeof(heard->why), "%s", why);
}

/* A recorder in a loop of its own, and what it told. */
struct bed {
    uv_loop_t loop;
    struct recorder *r;
    struct heard heard;
};

static void keep(struct recorder *r, uint64_t seq, size_t length)
{
    zmq_msg_t message;
    struct recorded head = {.type = WIRE_TYPE_WINDOW, .instance = 9, .seq = seq};
    assert_int_equal(zmq_msg_init_size(&message, length), 0);
    for (size_t i = 0; i < length; i++)
        ((uint8_t *)zmq_msg_data(&message))[i] = (uint8_t)((i * 2654435761u + seq * 40503u) >> 7);
    recorder_keep(r, "job.0", &head, &message, NULL);
    zmq_msg_close(&message);
}

static void begin(struct bed *b, const struct recorder_options *options)
{
    *b = (struct bed){.heard = {0}};
    assert_int_equal(uv_loop_init(&b->loop), 0);
    struct recorder_events events = {&b->heard, on_kept, on_stopped, NULL};
    assert_int_equal(recorder_create(&b->r, &b->loop, options, &events), 0);
    recorder_open(b->r, "job.0", path);
}

static void end(struct bed *b)
{
    recorder_destroy(b->r);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&b->loop), 0);
}

static int count_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

static int count_message(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    (void)head;
    (void)bytes;
    (void)length;
    ++*(uint64_t *)user;
    return 0;
}

static uint64_t messages_in_file(void)
{
    uint64_t count = 0;
    assert_int_equal(
        recording_read(path, &(struct recording_reader){&count, count_alert, count_message}), 0);
    return count;
}

static void what_is_kept_is_told_after_it_was_committed(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, &(struct recorder_options){0});
    keep(b.r, 1, 100);
    while (b.heard.kept == 0)
        uv_run(&b.loop, UV_RUN_ONCE);
    assert_int_equal(messages_in_file(), 1); /* another reader sees it already */
    keep(b.r, 2, 100);
    recorder_note(b.r, 9, 3);
    end(&b);
    assert_int_equal(b.heard.kept, 3);
    assert_int_equal(b.heard.stops, 0);
    assert_int_equal(messages_in_file(), 2);
}

/* A message and what it led to come one behind the other: a commit between them would keep the one alone. */
static void what_waits_together_is_committed_together(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, &(struct recorder_options){0});
    keep(b.r, 1, 100); /* wakes the thread */
    while (recorder_waiting(b.r) > 0)
        sched_yield();
    for (uint64_t seq = 2; seq <= 9; seq++)
        keep(b.r, seq, 100); /* wait until the first is to be committed */
    while (b.heard.kept == 0)
        uv_run(&b.loop, UV_RUN_ONCE);
    assert_int_equal(b.heard.kept, 9);
    end(&b);
}

static void count_agent(void *user, uint64_t instance, uint64_t seq)
{
    uint64_t *told = user;
    assert_int_equal(seq, instance + 7);
    ++*told;
}

static void thousands_of_agents_are_told_each_once(void **state)
{
    struct bed b = {.heard = {0}};
    uint64_t told = 0;
    (void)state;
    assert_int_equal(uv_loop_init(&b.loop), 0);
    struct recorder_events events = {&told, count_agent, on_stopped, NULL};
    assert_int_equal(recorder_create(&b.r, &b.loop, &(struct recorder_options){0}, &events), 0);
    for (uint64_t i = 0; i < 3000; i++)
        recorder_note(b.r, i, i + 7);
    while (told < 3000)
        uv_run(&b.loop, UV_RUN_ONCE);
    assert_int_equal(told, 3000);
    for (uint64_t i = 0; i < 3000; i++)
        recorder_note(b.r, i, i + 7);
    end(&b); /* those that are left are told before it goes */
    assert_int_equal(told, 6000);
}

static void a_full_disk_stops_the_recording_once_and_agents_go_on(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, &(struct recorder_options){.pages = 20});
    for (uint64_t i = 1; i <= 300; i++)
        keep(b.r, i, 4000);
    end(&b);
    assert_int_equal(b.heard.stops, 1);
    assert_non_null(strstr(b.heard.why, "full"));
    assert_int_equal(b.heard.kept, 300);
    messages_in_file(); /* readable */
}

static void a_disk_that_does_not_keep_up_ends_the_recording_and_not_memory(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, &(struct recorder_options){.queue_bytes = 4096});
    keep(b.r, 1, 100);
    keep(b.r, 2, 8000); /* more than the whole queue holds */
    keep(b.r, 3, 100);
    end(&b);
    assert_int_equal(b.heard.stops, 1);
    assert_non_null(strstr(b.heard.why, "keep up"));
    assert_int_equal(b.heard.kept, 3);
    assert_int_equal(messages_in_file(), 1);
}

static void a_closed_recording_opens_again_for_what_comes_late(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, &(struct recorder_options){0});
    keep(b.r, 1, 100);
    recorder_close(b.r, "job.0");
    keep(b.r, 2, 100);
    end(&b);
    assert_int_equal(b.heard.stops, 0);
    assert_int_equal(messages_in_file(), 2);
}

static void a_file_that_cannot_be_made_is_told(void **state)
{
    struct bed b;
    (void)state;
    snprintf(path, sizeof(path), "%s/no/such/place.hrec", directory);
    begin(&b, &(struct recorder_options){0});
    keep(b.r, 1, 100);
    end(&b);
    assert_int_equal(b.heard.stops, 1);
    assert_int_equal(b.heard.kept, 1);
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(what_is_kept_is_told_after_it_was_committed),
        WITH_DIRECTORY(what_waits_together_is_committed_together),
        WITH_DIRECTORY(thousands_of_agents_are_told_each_once),
        WITH_DIRECTORY(a_full_disk_stops_the_recording_once_and_agents_go_on),
        WITH_DIRECTORY(a_disk_that_does_not_keep_up_ends_the_recording_and_not_memory),
        WITH_DIRECTORY(a_closed_recording_opens_again_for_what_comes_late),
        WITH_DIRECTORY(a_file_that_cannot_be_made_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
