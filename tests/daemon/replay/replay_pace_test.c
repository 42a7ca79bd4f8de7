/* The pace of a replay, on a clock that the test holds. */
#include "daemon/replay/replay_pace.h"
#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define BEGIN (UINT64_C(1800000000) * S)
#define NEVER UINT64_MAX

static void media_time_goes_by_at_its_speed(void **state)
{
    (void)state;
    struct replay_pace p;
    replay_pace_set(&p, 2, 0, BEGIN, 100 * S);
    assert_true(replay_pace_now(&p, 100 * S, NEVER) == BEGIN);
    assert_true(replay_pace_now(&p, 103 * S, NEVER) == BEGIN + 6 * S);
    assert_true(replay_pace_due(&p, BEGIN + 6 * S) == 103 * S);
    assert_true(replay_pace_due(&p, BEGIN) == 0);
    assert_true(replay_pace_due(&p, 5) == 0);
    replay_pace_set(&p, 0.1, 0, BEGIN, 100 * S);
    assert_true(replay_pace_due(&p, BEGIN + S) == 110 * S);
}

static void media_time_does_not_pass_the_next_message(void **state)
{
    (void)state;
    struct replay_pace p;
    replay_pace_set(&p, 1, 0, BEGIN, 0);
    assert_true(replay_pace_now(&p, 10 * S, BEGIN + 4 * S) == BEGIN + 4 * S);
    assert_true(replay_pace_now(&p, 3 * S, BEGIN + 4 * S) == BEGIN + 3 * S);
    assert_true(replay_pace_now(&p, 3 * S, BEGIN - S) == BEGIN); /* overdue */
}

static void paused_time_stands_still_and_goes_on_from_there(void **state)
{
    (void)state;
    struct replay_pace p;
    replay_pace_set(&p, 1, 0, BEGIN, 0);
    uint64_t at = replay_pace_now(&p, 7 * S, NEVER);
    replay_pace_set(&p, 1, 1, at, 7 * S);
    assert_true(replay_pace_now(&p, 1000 * S, NEVER) == BEGIN + 7 * S);
    assert_true(replay_pace_due(&p, BEGIN) == NEVER);
    replay_pace_set(&p, 1, 0, replay_pace_now(&p, 1000 * S, NEVER), 1000 * S);
    assert_true(replay_pace_due(&p, BEGIN + 8 * S) == 1001 * S);
}

static void another_speed_holds_from_where_it_is(void **state)
{
    (void)state;
    struct replay_pace p;
    replay_pace_set(&p, 1, 0, BEGIN, 0);
    replay_pace_set(&p, 10, 0, replay_pace_now(&p, 5 * S, NEVER), 5 * S);
    assert_true(replay_pace_now(&p, 6 * S, NEVER) == BEGIN + 15 * S);
    replay_pace_set(&p, 0, 0, replay_pace_now(&p, 6 * S, NEVER), 6 * S);
    assert_true(replay_pace_due(&p, BEGIN + 1000 * S) == 0);
    assert_true(replay_pace_now(&p, 60 * S, NEVER) == BEGIN + 15 * S);
    replay_pace_fed(&p, BEGIN + 500 * S, 60 * S);
    assert_true(replay_pace_now(&p, 60 * S, NEVER) == BEGIN + 500 * S);
    replay_pace_set(&p, 1, 0, BEGIN + 500 * S, 60 * S);
    replay_pace_fed(&p, BEGIN + 400 * S, 61 * S); /* does not move the anchor of a measured pace */
    assert_true(replay_pace_due(&p, BEGIN + 502 * S) == 62 * S);
}

static void far_times_are_never(void **state)
{
    (void)state;
    struct replay_pace p;
    replay_pace_set(&p, 0.01, 0, 0, S);
    assert_true(replay_pace_due(&p, UINT64_MAX) == NEVER);
    assert_true(replay_pace_due(&p, UINT64_MAX / 2) == NEVER);
    replay_pace_set(&p, 1e5, 0, UINT64_MAX - 5, 0);
    assert_true(replay_pace_now(&p, UINT64_MAX / 2, NEVER) == UINT64_MAX);
}

static void speeds_are_read_or_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",    "0",    "0.001", "100001", "-1", "nan",   "inf", "1x",
        "1e3", "0x10", "MAX",   " 1",     "1 ", "1.2.3", ".5",  "1000000000000000000000"};
    double out = 7;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(replay_pace_parse(wrong[i], &out), -HOLTER_EUSAGE);
    assert_true(out == 7);
    assert_int_equal(replay_pace_parse("max", &out), 0);
    assert_true(out == 0);
    assert_int_equal(replay_pace_parse("0.1", &out), 0);
    assert_true(out == 0.1);
    assert_int_equal(replay_pace_parse("100000", &out), 0);
    assert_true(out == 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(media_time_goes_by_at_its_speed),
        cmocka_unit_test(media_time_does_not_pass_the_next_message),
        cmocka_unit_test(paused_time_stands_still_and_goes_on_from_there),
        cmocka_unit_test(another_speed_holds_from_where_it_is),
        cmocka_unit_test(far_times_are_never),
        cmocka_unit_test(speeds_are_read_or_refused),
    };
    return cmocka_run_group_tests_name("replay_pace", tests, NULL, NULL);
}
