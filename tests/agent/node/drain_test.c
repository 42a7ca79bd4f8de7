#include "agent/node/drain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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
    assert_false(drain_budget_is_due(&budget, 5400000000));
    assert_true(drain_budget_is_due(&budget, 5500000000));
    double later = share_of_drains(&budget, 5000000000, 10000000);
    assert_true(later > 0.08 && later < 0.13);
    uint64_t next = drain_budget_next(&budget, 6000000000);
    assert_in_range(next, 6000000000, 6100000000);
    assert_true(next == 6000000000 || drain_budget_next(&budget, next) == next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drains_take_their_share_only_where_ranks_use_all_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
