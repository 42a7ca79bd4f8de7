/* Which daemon of a fleet takes a job. */
#include "daemon/fleet/fleet_balance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_daemon_with_the_least_load_takes_a_job(void **state)
{
    (void)state;
    struct fleet_balance balance = {.count = 0};
    assert_true(fleet_balance_is_least(&balance, 1, 500, 0));
    fleet_balance_note(&balance, 2, 400, 10);
    assert_false(fleet_balance_is_least(&balance, 1, 500, 0));
    assert_true(fleet_balance_is_least(&balance, 1, 300, 0));
    fleet_balance_note(&balance, 2, 600, 20);
    assert_true(fleet_balance_is_least(&balance, 1, 500, 0));
}

static void of_daemons_with_one_load_exactly_one_takes_it(void **state)
{
    (void)state;
    struct fleet_balance balance = {.count = 0};
    for (uint64_t daemon = 1; daemon <= 3; daemon++)
        fleet_balance_note(&balance, daemon, 7, 1);
    int takers = 0;
    for (uint64_t daemon = 1; daemon <= 3; daemon++)
        takers += fleet_balance_is_least(&balance, daemon, 7, 0);
    assert_int_equal(takers, 1);
}

static void a_daemon_that_is_silent_is_not_waited_for(void **state)
{
    (void)state;
    struct fleet_balance balance = {.count = 0};
    fleet_balance_note(&balance, 2, 0, 10);
    assert_false(fleet_balance_is_least(&balance, 1, 5, 10));
    assert_true(fleet_balance_is_least(&balance, 1, 5, 11));
}

static void of_too_many_daemons_the_one_that_was_silent_longest_is_forgotten(void **state)
{
    (void)state;
    struct fleet_balance balance = {.count = 0};
    for (uint64_t daemon = 0; daemon < FLEET_BALANCE_DAEMONS; daemon++)
        fleet_balance_note(&balance, daemon, daemon == 3 ? 0 : 9, daemon == 3 ? 1 : 2);
    assert_false(fleet_balance_is_least(&balance, 1000, 5, 0));
    fleet_balance_note(&balance, 2000, 9, 3);
    assert_int_equal(balance.count, FLEET_BALANCE_DAEMONS);
    assert_true(fleet_balance_is_least(&balance, 1000, 5, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_daemon_with_the_least_load_takes_a_job),
        cmocka_unit_test(of_daemons_with_one_load_exactly_one_takes_it),
        cmocka_unit_test(a_daemon_that_is_silent_is_not_waited_for),
        cmocka_unit_test(of_too_many_daemons_the_one_that_was_silent_longest_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
