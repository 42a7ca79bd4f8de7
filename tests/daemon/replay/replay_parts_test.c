/* Small parts of a replay: what clients ask, which states are kept, what marks say, what processes
 * tell each other. */
#include "daemon/replay/replay_ask.h"
#include "daemon/replay/replay_link.h"
#include "daemon/replay/replay_shared.h"
#include "daemon/replay/replay_states.h"
#include "daemon/replay/replay_thin.h"
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
    struct replay_ask ask;
    assert_int_equal(replay_ask_parse(&ask, text, why, sizeof(why)), 0);
    assert_int_equal(ask.verb, verb);
}

static void requests_are_read_or_refused(void **state)
{
    (void)state;
    char why[300];
    struct replay_ask ask;
    asked(NULL, REPLAY_LOOK);
    asked("", REPLAY_LOOK);
    asked("pause", REPLAY_PAUSE);
    asked("play", REPLAY_PLAY);
    asked("step", REPLAY_STEP);
    asked("step back", REPLAY_STEP_BACK);
    assert_int_equal(replay_ask_parse(&ask, "seek 2025-11-22 05:00:00Z", why, sizeof(why)), 0);
    assert_int_equal(ask.verb, REPLAY_SEEK);
    assert_string_equal(ask.moment, "2025-11-22 05:00:00Z");
    assert_int_equal(replay_ask_parse(&ask, "speed 2.5", why, sizeof(why)), 0);
    assert_true(ask.verb == REPLAY_SPEED && ask.speed == 2.5);
    assert_int_equal(replay_ask_parse(&ask, "loop on", why, sizeof(why)), 0);
    assert_true(ask.verb == REPLAY_LOOP && ask.on == 1);
    static const char *const wrong[] = {"x",      "paus",   "pause ", "step forth", "seek",
                                        "seek ",  "seek x", "speed",  "speed 0",    "loop",
                                        "loop x", " play",  "seek\t5"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(replay_ask_parse(&ask, wrong[i], why, sizeof(why)), -HOLTER_EUSAGE);
    char *longest = malloc(5000);
    memset(longest, '7', 4999);
    memcpy(longest, "seek ", 5);
    longest[4999] = '\0';
    assert_int_equal(replay_ask_parse(&ask, longest, why, sizeof(why)), -HOLTER_EUSAGE);
    free(longest);
}

static void every_other_state_goes_but_the_ends(void **state)
{
    (void)state;
    int kept = 0;
    for (size_t i = 0; i < 9; i++)
        kept += !replay_thin_gives_up(i, 9);
    assert_int_equal(kept, 5);
    assert_false(replay_thin_gives_up(0, 4));
    assert_true(replay_thin_gives_up(1, 4));
    assert_false(replay_thin_gives_up(3, 4)); /* the last */
    assert_false(replay_thin_gives_up(1, 2));
    assert_false(replay_thin_gives_up(0, 1));
}

static void memory_is_what_the_machine_or_the_group_has(void **state)
{
    (void)state;
    static const char meminfo[] =
        "MemTotal:       1000000 kB\nMemFree:  5 kB\nMemAvailable:  500000 kB\n";
    struct replay_memory m;
    assert_int_equal(replay_memory_parse(&m, meminfo, NULL, NULL, NULL), 0);
    assert_true(m.total == 1024000000 && m.available == 512000000);
    assert_false(replay_memory_short(&m));
    assert_int_equal(replay_memory_parse(&m, meminfo, "max\n", "100\n", ""), 0);
    assert_true(m.total == 1024000000);
    assert_int_equal(replay_memory_parse(&m, meminfo, "100000000\n", "95000000\n", "anon 1\n"), 0);
    assert_true(m.total == 100000000 && m.available == 5000000);
    assert_true(replay_memory_short(&m));
    assert_int_equal(
        replay_memory_parse(&m, meminfo, "100000000\n", "95000000\n", "inactive_file 60000000\n"),
        0);
    assert_true(m.available == 65000000);
    assert_false(replay_memory_short(&m));
    assert_int_equal(replay_memory_parse(&m, meminfo, "10\n", "95000000\n", NULL), 0);
    assert_true(m.available == 0);
    assert_int_equal(replay_memory_parse(&m, "", NULL, NULL, NULL), -HOLTER_EMALFORMED);
    assert_int_equal(
        replay_memory_parse(&m, "MemTotal: x kB\nMemAvailable: 1 kB\n", NULL, NULL, NULL),
        -HOLTER_EMALFORMED);
    assert_int_equal(replay_memory_read(&m), 0);
    assert_true(m.available <= m.total && m.total > 0);
    assert_true(replay_memory_of(getpid()) > 100000 && replay_memory_of(getpid()) < m.total);
    assert_true(replay_memory_of(-1) == 0);
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
    replay_marks_take(marks, &a);
    assert_int_equal(marks->count, 0);
    a = alert(1, "firing", 15, 15);
    replay_marks_take(marks, &a);
    a = alert(2, "resolved", 0, 30); /* never fired */
    replay_marks_take(marks, &a);
    assert_int_equal(marks->count, 1);
    assert_true(marks->list[0].since_ns == 10 && marks->list[0].fired_ns == 15);
    assert_true(marks->list[0].end_ns == 0);
    a = alert(1, "resolved", 15, 40);
    replay_marks_take(marks, &a);
    assert_int_equal(marks->count, 1);
    assert_true(marks->list[0].end_ns == 40);
    assert_string_equal(marks->list[0].title, "ranks hang");
    for (uint64_t id = 3; id < 3 + 2 * REPLAY_MARKS; id++) {
        a = alert(id, "firing", 50, 50);
        replay_marks_take(marks, &a);
    }
    assert_int_equal(marks->count, REPLAY_MARKS);
    assert_int_equal(marks->left_out, 2 * REPLAY_MARKS - (REPLAY_MARKS - 1));
    a = alert(1, "resolved", 15, 60); /* one that has a place is still told */
    replay_marks_take(marks, &a);
    assert_true(marks->list[0].end_ns == 60);
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
    replay_marks_take(&s->recorded, &recorded);
    replay_shared_alert(s, &made);
    assert_int_equal(replay_shared_marks(s, out, &before), 0);
    assert_int_equal(out->list[0].id, 1);
    replay_shared_done(s);
    assert_int_equal(replay_shared_marks(s, out, &after), 0);
    assert_int_equal(out->list[0].id, 7);
    assert_true(after > before);
    atomic_fetch_add(&s->version, 1); /* its writer was killed while it wrote */
    assert_int_equal(replay_shared_marks(s, out, &after), -EAGAIN);
    free(out);
    munmap(s, sizeof(*s));
}

static void notes_and_descriptors_go_over_links(void **state)
{
    (void)state;
    int link[2], fds[REPLAY_LINK_FDS], pipes[2];
    size_t count;
    struct replay_note note = {.kind = REPLAY_FORK, .run = 5, .speed = 2.5}, got;
    assert_int_equal(replay_link_pair(link), 0);
    assert_int_equal(pipe(pipes), 0);
    const int sent[REPLAY_LINK_FDS] = {pipes[0], pipes[1], pipes[1]};
    assert_int_equal(replay_link_send(link[0], &note, sent, REPLAY_LINK_FDS), 0);
    assert_int_equal(replay_link_receive(link[1], &got, fds, &count), 1);
    assert_int_equal(count, REPLAY_LINK_FDS);
    assert_true(got.run == 5 && got.speed == 2.5 && got.kind == REPLAY_FORK);
    assert_int_equal(write(fds[1], "x", 1), 1);
    char byte;
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(fcntl(fds[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    assert_false(replay_link_over(link[1]));
    assert_int_equal(write(link[0], "short", 5), 5); /* no note */
    assert_true(replay_link_receive(link[1], &got, fds, &count) < 0);
    close(link[0]);
    assert_true(replay_link_over(link[1]));
    assert_int_equal(replay_link_receive(link[1], &got, fds, &count), 0);
    assert_true(replay_link_send(link[1], &note, NULL, 0) < 0);
    close(link[1]);
    close(pipes[0]);
    close(pipes[1]);
}

static void a_state_leads_to_what_lies_behind_it(void **state)
{
    (void)state;
    struct replay_place place = {.time_ns = 100, .steps = 5};
    const struct replay_target at = {REPLAY_TO_TIME, 100}, before = {REPLAY_TO_TIME, 99},
                               step = {REPLAY_TO_STEP, 5}, earlier = {REPLAY_TO_STEP, 4};
    assert_true(replay_place_leads(&place, &at));
    assert_false(replay_place_leads(&place, &before));
    assert_true(replay_place_leads(&place, &step));
    assert_false(replay_place_leads(&place, &earlier));
    place.ended = 1; /* behind its last step more was fed */
    assert_false(replay_place_leads(&place, &step));
    assert_true(replay_place_leads(&place, &at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_read_or_refused),
        cmocka_unit_test(every_other_state_goes_but_the_ends),
        cmocka_unit_test(memory_is_what_the_machine_or_the_group_has),
        cmocka_unit_test(marks_are_alerts_that_fired),
        cmocka_unit_test(recorded_marks_hold_until_all_is_indexed),
        cmocka_unit_test(notes_and_descriptors_go_over_links),
        cmocka_unit_test(a_state_leads_to_what_lies_behind_it),
    };
    return cmocka_run_group_tests_name("replay_parts", tests, NULL, NULL);
}
