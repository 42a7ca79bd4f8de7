/* What the progress of a job is compared with. */
#include "daemon/analysis/scopes/work_progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define WINDOW_NS UINT64_C(500000000)
#define WORK 1000u /* in a window */

static void progress_work(struct progress *p, uint32_t windows, uint64_t work)
{
    for (uint32_t i = 0; i < windows; i++)
        progress_update(p, work, WINDOW_NS, 0);
}

static void windows_before_the_ranks_work_are_no_spread_of_their_work(void **state)
{
    (void)state;
    struct progress p = {.seen = 0};
    progress_work(&p, 6, 0);
    progress_work(&p, 1, WORK / 2); /* ranks begin within this window */
    progress_work(&p, 10, WORK);
    assert_int_equal(1, progress_span(&p));
    assert_true(progress_spread(&p) < 1e-9);
    progress_update(&p, WORK / 2, WINDOW_NS, 1);
    assert_float_equal(0.5, progress_lost(&p), 1e-9);
    assert_int_equal(0, progress_fallen(&p, progress_span(&p)));
}

static void work_that_comes_in_each_fourth_window_is_judged_by_spans_that_hold_it(void **state)
{
    (void)state;
    struct progress p = {.seen = 0};
    for (uint32_t i = 0; i < 40; i++)
        progress_work(&p, 1, i % 4 == 0 ? 4 * WORK : 0);
    assert_int_equal(4, progress_span(&p));
    assert_int_equal(0, progress_steady_span(&p)); /* it may still change */
    assert_true(progress_lost(&p) < 0.1);
    for (uint32_t i = 40; i < 64; i++)
        progress_work(&p, 1, i % 4 == 0 ? 4 * WORK : 0);
    assert_int_equal(4, progress_steady_span(&p));
}

static void a_job_without_steady_work_has_no_steady_span(void **state)
{
    (void)state;
    struct progress p = {.seen = 0};
    assert_int_equal(0, progress_steady_span(&p));
    for (uint32_t i = 0; i < 200; i++)
        progress_work(&p, 1, i / 40 % 2 == 0 ? WORK : 5 * WORK);
    assert_int_equal(0, progress_steady_span(&p));
}

static void disturbed_windows_are_compared_and_not_learned(void **state)
{
    (void)state;
    struct progress p = {.seen = 0};
    progress_work(&p, 20, WORK);
    for (uint32_t i = 0; i < 100; i++)
        progress_update(&p, WORK / 4, WINDOW_NS, 1);
    assert_float_equal(0.25, progress_share(&p, 100), 1e-9);
    assert_int_equal(75 * WINDOW_NS, progress_lost_ns(&p, 100, WINDOW_NS));
}

static void what_a_fault_in_one_of_the_first_windows_makes_slow_is_not_learned(void **state)
{
    (void)state;
    struct progress p = {.seen = 0};
    progress_work(&p, 4, WORK);
    for (uint32_t i = 0; i < 10; i++) { /* it is seen after two windows */
        progress_update(&p, WORK / 2, WINDOW_NS, i >= 2);
        assert_float_equal(0.5, progress_lost(&p), 1e-9);
    }
    assert_int_equal(1, progress_span(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_before_the_ranks_work_are_no_spread_of_their_work),
        cmocka_unit_test(work_that_comes_in_each_fourth_window_is_judged_by_spans_that_hold_it),
        cmocka_unit_test(a_job_without_steady_work_has_no_steady_span),
        cmocka_unit_test(disturbed_windows_are_compared_and_not_learned),
        cmocka_unit_test(what_a_fault_in_one_of_the_first_windows_makes_slow_is_not_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
