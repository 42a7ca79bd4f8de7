#include "agent/node/leave.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

static void a_daemon_that_takes_nothing_is_waited_for_5_s(void **state)
{
    (void)state;
    struct leave leave = {.since_ns = 10 * S};
    assert_true(leave_is_worth_waiting(&leave, 900, 0, 10 * S));
    assert_true(leave_is_worth_waiting(&leave, 900, 0, 15 * S - 1));
    assert_false(leave_is_worth_waiting(&leave, 900, 0, 15 * S));
}

static void as_long_as_a_daemon_takes_messages_it_is_waited_for(void **state)
{
    (void)state;
    struct leave leave = {.since_ns = 10 * S};
    for (uint64_t i = 0; i < 10; i++)
        assert_true(leave_is_worth_waiting(&leave, 900 - i, 1, (10 + 4 * i) * S));
    assert_true(leave_is_worth_waiting(&leave, 891, 0, 50 * S));
    assert_false(leave_is_worth_waiting(&leave, 891, 0, 51 * S));
}

static void a_daemon_that_was_restarted_gets_time_to_take_messages(void **state)
{
    (void)state;
    struct leave leave = {.since_ns = 10 * S};
    assert_true(leave_is_worth_waiting(&leave, 900, 0, 10 * S));
    assert_true(leave_is_worth_waiting(&leave, 900, 1, 14 * S));
    assert_true(leave_is_worth_waiting(&leave, 900, 1, 18 * S));
    assert_false(leave_is_worth_waiting(&leave, 900, 1, 19 * S));
}

static void no_daemon_is_waited_for_more_than_a_minute(void **state)
{
    (void)state;
    struct leave leave = {.since_ns = 10 * S};
    for (uint64_t i = 0; i < 60; i++)
        assert_true(leave_is_worth_waiting(&leave, 900 - i, 1, (10 + i) * S));
    assert_false(leave_is_worth_waiting(&leave, 800, 1, 70 * S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_daemon_that_takes_nothing_is_waited_for_5_s),
        cmocka_unit_test(as_long_as_a_daemon_takes_messages_it_is_waited_for),
        cmocka_unit_test(a_daemon_that_was_restarted_gets_time_to_take_messages),
        cmocka_unit_test(no_daemon_is_waited_for_more_than_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
