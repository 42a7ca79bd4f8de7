/* Cuts of a recording that is longer than what a cut reads of it. */
#include "daemon/storage/recording.h"
#include "daemon/storage/recordings/copy.h"
#include "tests/bench/replay_make.h"
#include "tests/daemon/storage/recording_writer.h"
#include "tests/daemon/storage/recordings/made_recording.h"
#include "tests/directory.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define WINDOWS 240u
#define NODES 4u
#define FROM 120u
#define TO 130u

static char directory[DIRECTORY_ROOM], path[160], out[160];
static uint64_t begin_ns;

static int set_up(void **state)
{
    struct replay_make settings = REPLAY_MAKE_DEFAULTS;
    char why[300];
    uint64_t bytes, end_ns;
    (void)state;
    settings.ranks = 64;
    settings.nodes = NODES;
    settings.windows = WINDOWS;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/long.hrec", directory);
    snprintf(out, sizeof(out), "%s/cut.hrec", directory);
    assert_int_equal(replay_make_file(&settings, path, &bytes), 0);
    assert_int_equal(copy_span(path, &begin_ns, &end_ns, why, sizeof(why)), 0);
    assert_true(made_ask(path, "SELECT count(*) FROM block") > 4);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return directory_remove(directory);
}

/* ---- what a recording has ---------------------------------------------------------- */

struct sums {
    uint64_t windows, ranks, digest, first_ns, last_ns;
    uint64_t from_ns, to_ns; /* of windows */
};

static int take(void *user, const struct recorded *head, const void *bytes, size_t length)
{
    struct sums *s = user;
    if (head->type != WIRE_TYPE_WINDOW) {
        s->ranks++;
        return 0;
    }
    if (head->time_ns < s->from_ns || head->time_ns >= s->to_ns)
        return 0;
    s->windows++;
    s->first_ns = s->first_ns == 0 ? head->time_ns : s->first_ns;
    s->last_ns = head->time_ns;
    for (size_t i = 0; i < length; i++)
        s->digest = (s->digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return 0;
}

static int no_alert(void *user, const struct wire_alert *alert)
{
    (void)user;
    (void)alert;
    return 0;
}

static struct sums sums_of(const char *file, uint64_t from_ns, uint64_t to_ns)
{
    struct sums s = {.from_ns = from_ns, .to_ns = to_ns};
    const struct recording_reader reader = {&s, no_alert, take};
    assert_int_equal(recording_read(file, &reader), 0);
    return s;
}

static void check_cut(uint64_t from_window, uint64_t to_window)
{
    struct copy_counts counts;
    char why[300];
    uint64_t from = begin_ns + from_window * S, to = begin_ns + to_window * S;
    if (copy_cut(out, path, from, to, NULL, &counts, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    struct sums cut = sums_of(out, 0, UINT64_MAX), all = sums_of(path, from, to);
    assert_int_equal(cut.ranks, NODES);
    assert_int_equal(cut.windows, NODES * (to_window - from_window));
    assert_int_equal(cut.windows, all.windows);
    assert_true(cut.digest == all.digest);
    assert_true(cut.first_ns == from && cut.last_ns == to - S);
    unlink(out);
}

static void a_cut_has_its_windows_and_the_ranks_before_them(void **state)
{
    (void)state;
    check_cut(FROM, TO);
}

static void fill_totals(const char *late)
{
    char sql[400];
    snprintf(sql, sizeof(sql),
             "WITH RECURSIVE n(w) AS (SELECT %" PRIu64
             " UNION ALL SELECT w + 1 FROM n WHERE w < %" PRIu64
             ") INSERT OR REPLACE INTO totals(window, late, agents_missing) SELECT w, %s, 0 FROM n",
             begin_ns / S, begin_ns / S + WINDOWS - 1, late);
    made_ask(path, sql);
}

/* The very last message is one of the first windows. */
static void keep_late(void)
{
    struct recording *r;
    char why[300];
    struct wire_window w = {.seq = 5000,
                            .job = REPLAY_MAKE_JOB,
                            .host = "node0000",
                            .window = begin_ns / S + FROM + 3,
                            .length_ns = S};
    struct recorded head = {.instance = 77,
                            .seq = w.seq,
                            .window = w.window,
                            .time_ns = w.window * S,
                            .received_ns = begin_ns + (WINDOWS + 5) * S};
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), 0);
    kept_message(r, head, WIRE_TYPE_WINDOW, &w);
    assert_int_equal(recording_close(r), 0);
}

/* A daemon that goes on with the recording an hour earlier. */
static void set_clock_back(void)
{
    struct recording *r;
    char why[300];
    struct wire_window w = {.seq = 5001,
                            .job = REPLAY_MAKE_JOB,
                            .host = "node0000",
                            .window = begin_ns / S - 3600,
                            .length_ns = S};
    struct recorded head = {.instance = 78,
                            .seq = w.seq,
                            .window = w.window,
                            .time_ns = w.window * S,
                            .received_ns = begin_ns - 3600 * S};
    assert_int_equal(recording_open(&r, path, why, sizeof(why)), 0);
    kept_message(r, head, WIRE_TYPE_WINDOW, &w);
    assert_int_equal(recording_close(r), 0);
}

static void a_cut_has_what_came_before_the_clock_was_set_back(void **state)
{
    (void)state;
    set_clock_back();
    check_cut(0, 10);
    check_cut(FROM, TO);
}

static uint64_t last_arrival(void)
{
    struct recording_cursor *cursor;
    uint64_t first_ns, last_ns;
    char why[300];
    assert_int_equal(recording_cursor_open(&cursor, path, why, sizeof(why)), 0);
    assert_int_equal(recording_cursor_span(cursor, &first_ns, &last_ns), 0);
    recording_cursor_close(cursor);
    return last_ns;
}

static void messages_last_until_the_clock_was_set_back(void **state)
{
    (void)state;
    const uint64_t last_ns = last_arrival();
    set_clock_back();
    assert_int_equal(last_arrival(), last_ns);
}

static void a_late_message_is_in_the_cut(void **state)
{
    struct copy_counts counts;
    char why[300];
    (void)state;
    fill_totals("0");
    check_cut(FROM, TO);
    keep_late();
    fill_totals("w = (SELECT min(w) + 123 FROM n)");
    assert_int_equal(copy_cut(out, path, begin_ns + FROM * S, begin_ns + TO * S, NULL, &counts, why,
                              sizeof(why)),
                     0);
    assert_int_equal(sums_of(out, 0, UINT64_MAX).windows, NODES * (TO - FROM) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cut_has_its_windows_and_the_ranks_before_them, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_late_message_is_in_the_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_has_what_came_before_the_clock_was_set_back, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(messages_last_until_the_clock_was_set_back, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("cut_long", tests, NULL, NULL);
}
