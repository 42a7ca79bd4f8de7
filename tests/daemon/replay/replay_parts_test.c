/* Small parts of a replay: requests of clients, available memory, marks of alerts, and links
 * between processes. */
#include "daemon/replay/replay_link.h"
#include "daemon/replay/replay_memory.h"
#include "daemon/replay/replay_request.h"
#include "daemon/replay/replay_shared.h"
#include "holter/error.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void asked(const char *text, enum replay_verb verb)
{
    char why[300];
    struct replay_request request;
    assert_int_equal(replay_request_parse(&request, text, why, sizeof(why)), 0);
    assert_int_equal(request.verb, verb);
}

static void requests_are_read_or_refused(void **state)
{
    (void)state;
    char why[300];
    struct replay_request request;
    asked(NULL, REPLAY_REPORT);
    asked("", REPLAY_REPORT);
    asked("pause", REPLAY_PAUSE);
    asked("play", REPLAY_PLAY);
    asked("step", REPLAY_STEP);
    asked("step back", REPLAY_STEP_BACK);
    assert_int_equal(replay_request_parse(&request, "seek 2025-11-22 05:00:00Z", why, sizeof(why)),
                     0);
    assert_int_equal(request.verb, REPLAY_SEEK);
    assert_string_equal(request.moment, "2025-11-22 05:00:00Z");
    assert_int_equal(replay_request_parse(&request, "speed 2.5", why, sizeof(why)), 0);
    assert_true(request.verb == REPLAY_SPEED && request.speed == 2.5);
    assert_int_equal(replay_request_parse(&request, "loop on", why, sizeof(why)), 0);
    assert_true(request.verb == REPLAY_LOOP && request.on == 1);
    static const char *const wrong[] = {"x",      "paus",   "pause ", "step forth", "seek",
                                        "seek ",  "seek x", "speed",  "speed 0",    "loop",
                                        "loop x", " play",  "seek\t5"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(replay_request_parse(&request, wrong[i], why, sizeof(why)),
                         -HOLTER_EUSAGE);
    char *longest = malloc(5000);
    memset(longest, '7', 4999);
    memcpy(longest, "seek ", 5);
    longest[4999] = '\0';
    assert_int_equal(replay_request_parse(&request, longest, why, sizeof(why)), -HOLTER_EUSAGE);
    free(longest);
}

static void memory_is_what_the_machine_or_the_group_has(void **state)
{
    (void)state;
    struct replay_memory_texts texts = {
        .meminfo = "MemTotal:       1000000 kB\nMemFree:  5 kB\nMemAvailable:  500000 kB\n"};
    uint64_t available;
    assert_int_equal(replay_memory_parse(&available, &texts), 0);
    assert_true(available == 512000000);
    texts.group_limit = "max\n";
    texts.group_current = "100\n";
    texts.group_stat = "";
    assert_int_equal(replay_memory_parse(&available, &texts), 0);
    assert_true(available == 512000000);
    texts.group_limit = "100000000\n";
    texts.group_current = "95000000\n";
    texts.group_stat = "anon 1\n";
    assert_int_equal(replay_memory_parse(&available, &texts), 0);
    assert_true(available == 5000000);
    texts.group_stat = "inactive_file 60000000\n";
    assert_int_equal(replay_memory_parse(&available, &texts), 0);
    assert_true(available == 65000000);
    texts.group_limit = "10\n";
    texts.group_stat = NULL;
    assert_int_equal(replay_memory_parse(&available, &texts), 0);
    assert_true(available == 0);
    texts = (struct replay_memory_texts){.meminfo = ""};
    assert_int_equal(replay_memory_parse(&available, &texts), -HOLTER_EMALFORMED);
    texts.meminfo = "MemTotal: 1 kB\nMemAvailable: x kB\n";
    assert_int_equal(replay_memory_parse(&available, &texts), -HOLTER_EMALFORMED);
    assert_int_equal(replay_memory_available(&available), 0);
    assert_true(available > 0);
    assert_true(replay_memory_of_process(getpid()) > 100000);
    assert_true(replay_memory_of_process(-1) == 0);
}

static struct wire_alert alert(uint64_t id, const char *state, uint64_t fired, uint64_t updated)
{
    return (struct wire_alert){.id = id,
                               .kind = "hang",
                               .state = state,
                               .since_ns = 10,
                               .fired_ns = fired,
                               .updated_ns = updated,
                               .severity = "critical",
                               .title = "ranks hang"};
}

static void marks_are_alerts_that_fired(void **state)
{
    (void)state;
    struct replay_marks *marks = calloc(1, sizeof(*marks));
    struct wire_alert a = alert(1, "pending", 0, 11);
    replay_marks_add(marks, &a);
    assert_int_equal(marks->count, 0);
    a = alert(1, "firing", 15, 15);
    replay_marks_add(marks, &a);
    a = alert(2, "resolved", 0, 30); /* never fired */
    replay_marks_add(marks, &a);
    assert_int_equal(marks->count, 1);
    assert_true(marks->list[0].since_ns == 10 && marks->list[0].fired_ns == 15);
    assert_true(marks->list[0].end_ns == 0);
    a = alert(1, "resolved", 15, 40);
    replay_marks_add(marks, &a);
    assert_int_equal(marks->count, 1);
    assert_true(marks->list[0].end_ns == 40);
    assert_string_equal(marks->list[0].title, "ranks hang");
    for (uint64_t id = 3; id < 3 + 2 * REPLAY_MARKS_MAXIMUM; id++) {
        a = alert(id, "firing", 50, 50);
        replay_marks_add(marks, &a);
    }
    assert_int_equal(marks->count, REPLAY_MARKS_MAXIMUM);
    assert_int_equal(marks->left_out, 2 * REPLAY_MARKS_MAXIMUM - (REPLAY_MARKS_MAXIMUM - 1));
    a = alert(1, "resolved", 15, 60); /* an alert that has a place is still updated */
    replay_marks_add(marks, &a);
    assert_true(marks->list[0].end_ns == 60);
    free(marks);
}

/* A recording has each alert once, as it was in the end. */
static void recorded_alerts_without_a_place_are_counted(void **state)
{
    (void)state;
    struct replay_marks *marks = calloc(1, sizeof(*marks));
    for (uint64_t id = 1; id <= REPLAY_MARKS_MAXIMUM + 9; id++) {
        struct wire_alert a = alert(id, id % 3 == 0 ? "firing" : "resolved", 50, 60);
        a.updates = 2;
        replay_marks_add(marks, &a);
    }
    assert_int_equal(marks->count, REPLAY_MARKS_MAXIMUM);
    assert_int_equal(marks->left_out, 9);
    free(marks);
}

static void recorded_marks_hold_until_all_is_indexed(void **state)
{
    (void)state;
    struct replay_shared *s = replay_shared_map();
    struct replay_marks *out = calloc(1, sizeof(*out));
    uint64_t before, after;
    assert_non_null(s);
    struct wire_alert recorded = alert(1, "resolved", 15, 40), made = alert(7, "firing", 15, 15);
    replay_marks_add(&s->recorded, &recorded);
    replay_shared_add_alert(s, &made);
    assert_int_equal(replay_shared_read_marks(s, out, &before), 0);
    assert_int_equal(out->list[0].id, 1);
    replay_shared_finish(s, 99);
    assert_int_equal(replay_shared_read_marks(s, out, &after), 0);
    assert_int_equal(out->list[0].id, 7);
    assert_true(after > before);
    assert_true(s->end_ns == 99 && s->indexed_ns == 99);
    atomic_fetch_add(&s->version, 1); /* the process that writes was killed */
    assert_int_equal(replay_shared_read_marks(s, out, &after), -EAGAIN);
    free(out);
    munmap(s, sizeof(*s));
}

static void notes_and_descriptors_go_over_links(void **state)
{
    (void)state;
    int link[2], fds[REPLAY_LINK_FDS], pipes[2];
    size_t count;
    struct replay_note note = {.kind = REPLAY_NOTE_FORK, .run = 5, .speed = 2.5}, got;
    assert_int_equal(replay_link_pair(link), 0);
    assert_int_equal(pipe(pipes), 0);
    const int sent[REPLAY_LINK_FDS] = {pipes[0], pipes[1], pipes[1]};
    assert_int_equal(replay_link_send(link[0], &note, sent, REPLAY_LINK_FDS), 0);
    assert_int_equal(replay_link_receive(link[1], &got, fds, &count), 1);
    assert_int_equal(count, REPLAY_LINK_FDS);
    assert_true(got.run == 5 && got.speed == 2.5 && got.kind == REPLAY_NOTE_FORK);
    assert_int_equal(write(fds[1], "x", 1), 1);
    char byte;
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(fcntl(fds[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    assert_false(replay_link_closed(link[1]));
    assert_int_equal(write(link[0], "short", 5), 5); /* no note */
    assert_true(replay_link_receive(link[1], &got, fds, &count) < 0);
    close(link[0]);
    assert_true(replay_link_closed(link[1]));
    assert_int_equal(replay_link_receive(link[1], &got, fds, &count), 0);
    assert_true(replay_link_send(link[1], &note, NULL, 0) < 0);
    close(link[1]);
    close(pipes[0]);
    close(pipes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_read_or_refused),
        cmocka_unit_test(memory_is_what_the_machine_or_the_group_has),
        cmocka_unit_test(marks_are_alerts_that_fired),
        cmocka_unit_test(recorded_alerts_without_a_place_are_counted),
        cmocka_unit_test(recorded_marks_hold_until_all_is_indexed),
        cmocka_unit_test(notes_and_descriptors_go_over_links),
    };
    return cmocka_run_group_tests_name("replay_parts", tests, NULL, NULL);
}
