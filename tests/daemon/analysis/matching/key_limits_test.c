#include "daemon/analysis/matching/key_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SPAN 3u

static void keys_are_left_out_from_the_limit_up_in_windows_nearby(void **state)
{
    struct key_limits limits;
    (void)state;
    assert_int_equal(key_limits_init(&limits, SPAN), 0);
    key_limits_note(&limits, 7, 100, 500);
    key_limits_rank(&limits, 1, 7);
    for (uint64_t window = 90; window < 110; window++) {
        int near = window + SPAN >= 100 && window <= 100 + SPAN;
        assert_int_equal(key_limits_left_out(&limits, 1, window, 500), near);
        assert_int_equal(key_limits_left_out(&limits, 1, window, UINT64_MAX), near);
        assert_false(key_limits_left_out(&limits, 1, window, 499));
    }
    key_limits_finish(&limits);
}

static void limits_of_one_node_are_not_those_of_another(void **state)
{
    struct key_limits limits;
    (void)state;
    assert_int_equal(key_limits_init(&limits, SPAN), 0);
    for (uint32_t node = 0; node < 1000; node++) {
        key_limits_note(&limits, node, 100, 1000 + node);
        key_limits_rank(&limits, 10 * node, node);
    }
    for (uint32_t node = 0; node < 1000; node++) {
        assert_true(key_limits_left_out(&limits, 10 * node, 100, 1000 + node));
        assert_false(key_limits_left_out(&limits, 10 * node, 100, 999 + node));
    }
    /* A rank that nobody has reported may be on any of them. */
    assert_true(key_limits_left_out(&limits, 5, 100, 1000));
    assert_false(key_limits_left_out(&limits, 5, 100, 999));
    key_limits_finish(&limits);
}

static void the_lowest_limit_of_a_window_holds_and_old_windows_go(void **state)
{
    struct key_limits limits;
    (void)state;
    assert_int_equal(key_limits_init(&limits, SPAN), 0);
    key_limits_note(&limits, KEY_NONE, 100, 500);
    key_limits_note(&limits, KEY_NONE, 100, 300);
    key_limits_note(&limits, KEY_NONE, 100, 400);
    assert_true(key_limits_left_out(&limits, 1, 100, 300));
    assert_false(key_limits_left_out(&limits, 1, 100, 299));
    key_limits_note(&limits, KEY_NONE, 100 + 2 * SPAN + 1, 900);
    assert_false(key_limits_left_out(&limits, 1, 100, 300));
    key_limits_note(&limits, KEY_NONE, 100, 1); /* too late to matter */
    assert_true(key_limits_left_out(&limits, 1, 100 + 2 * SPAN + 1, 900));
    key_limits_finish(&limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_left_out_from_the_limit_up_in_windows_nearby),
        cmocka_unit_test(limits_of_one_node_are_not_those_of_another),
        cmocka_unit_test(the_lowest_limit_of_a_window_holds_and_old_windows_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
