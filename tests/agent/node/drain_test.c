#include "agent/node/drain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define CAPACITY 32768u

/* Drain a ring that is written at a steady rate for so long, as the pace asks for it.
 * @return the fullest it ever was, records */
static uint64_t run(struct drain_pace *pace, uint64_t *now, double records_a_ms, uint64_t for_ms)
{
    uint64_t fullest = 0;
    for (uint64_t end = *now + for_ms * MS; *now < end;) {
        uint64_t wait = drain_pace_wait(pace, CAPACITY);
        uint64_t records = (uint64_t)(records_a_ms * (double)wait / (double)MS);
        *now += wait;
        drain_pace_observe(pace, records, *now);
        fullest = records > fullest ? records : fullest;
    }
    return fullest;
}

static void idle_ring_is_left_alone_as_long_as_allowed(void **state)
{
    (void)state;
    struct drain_pace pace = {0};
    uint64_t now = 1;
    drain_pace_observe(&pace, 0, now);
    run(&pace, &now, 0, 1000);
    assert_int_equal(drain_pace_wait(&pace, CAPACITY), DRAIN_MAXIMUM_NS);
}

static void busy_ring_is_read_at_the_wanted_fill(void **state)
{
    (void)state;
    struct drain_pace pace = {0};
    uint64_t now = 1;
    drain_pace_observe(&pace, 0, now);
    run(&pace, &now, 5000, 100);
    uint64_t fullest = run(&pace, &now, 5000, 1000); /* 5 million a second */
    assert_true(fullest <= (uint64_t)(DRAIN_FILL * CAPACITY) + 1);
    assert_true(fullest >= (uint64_t)(DRAIN_FILL * CAPACITY) / 2);
}

static void burst_that_comes_again_is_expected(void **state)
{
    (void)state;
    struct drain_pace pace = {0};
    uint64_t now = 1;
    drain_pace_observe(&pace, 0, now);
    run(&pace, &now, 8000, 50);
    run(&pace, &now, 10, 5000);
    assert_true(run(&pace, &now, 8000, 50) < CAPACITY / 2);
}

static void burst_is_forgotten_in_the_end(void **state)
{
    (void)state;
    struct drain_pace pace = {0};
    uint64_t now = 1;
    drain_pace_observe(&pace, 0, now);
    run(&pace, &now, 8000, 50);
    run(&pace, &now, 10, 600000);
    assert_int_equal(drain_pace_wait(&pace, CAPACITY), DRAIN_MAXIMUM_NS);
}

static void writers_are_never_disturbed_more_often_than_allowed(void **state)
{
    (void)state;
    struct drain_pace pace = {0};
    drain_pace_observe(&pace, 0, 1);
    drain_pace_observe(&pace, UINT64_MAX / 2, 2);
    assert_int_equal(drain_pace_wait(&pace, 64), DRAIN_MINIMUM_NS);
}

/* 1 s of drains that take all the time they may, from a first observation. @return their share */
static double share_of_drains(struct drain_budget *budget, uint64_t now, uint64_t each_ns)
{
    uint64_t taken = 0;
    for (uint64_t end = now + 1000000000; now < end; now += 1000000)
        if (drain_budget_next(budget, now) <= now) {
            drain_budget_spend(budget, each_ns, now);
            taken += each_ns;
        }
    return (double)taken / 1e9;
}

static void drains_take_their_share_only_where_ranks_use_all_cores(void **state)
{
    (void)state;
    struct drain_budget budget = {0};
    assert_true(share_of_drains(&budget, 1000000000, 1000000) > 0.99); /* nothing is known yet */
    drain_budget_observe(&budget, 5000000000, 2000000000);
    drain_budget_observe(&budget, 5900000000, 3000000000); /* 0.9 of a core were idle */
    assert_true(share_of_drains(&budget, 3000000000, 1000000) > 0.99);
    drain_budget_observe(&budget, 6000000000, 4000000000);
    double first = share_of_drains(&budget, 4000000000, 1000000);
    assert_true(first > 0.19 && first < 0.21); /* what was saved up, and the share */
    drain_budget_observe(&budget, 6000000000, 5000000000);
    double later = share_of_drains(&budget, 5000000000, 10000000);
    assert_true(later > 0.08 && later < 0.13);
    uint64_t next = drain_budget_next(&budget, 6000000000);
    assert_in_range(next, 6000000000, 6100000000);
    assert_true(next == 6000000000 || drain_budget_next(&budget, next) == next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_ring_is_left_alone_as_long_as_allowed),
        cmocka_unit_test(busy_ring_is_read_at_the_wanted_fill),
        cmocka_unit_test(burst_that_comes_again_is_expected),
        cmocka_unit_test(burst_is_forgotten_in_the_end),
        cmocka_unit_test(drains_take_their_share_only_where_ranks_use_all_cores),
        cmocka_unit_test(writers_are_never_disturbed_more_often_than_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
