#include "daemon/analysis/clocks/pair_clock.h"

#include "tests/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define US INT64_C(1000)
#define SECOND UINT64_C(1000000000)

/* Nodes 3 and 8; the clock of 8 is `apart` ahead. */
static uint32_t note(struct pair_clocks *clocks, int down, int64_t transfer, int64_t apart,
                     uint64_t error, uint64_t at_ns)
{
    return down ? pair_clocks_note(clocks, 8, 3, transfer - apart, error, at_ns)
                : pair_clocks_note(clocks, 3, 8, transfer + apart, error, at_ns);
}

static void both_directions_give_the_middle_of_the_least_differences(void **state)
{
    struct pair_clocks clocks;
    (void)state;
    for (int64_t apart = -90 * US; apart <= 90 * US; apart += 45 * US) {
        pair_clocks_init(&clocks, 10);
        uint32_t pair = note(&clocks, 0, 15 * US, apart, 100000, SECOND);
        assert_int_equal(note(&clocks, 0, 300 * US, apart, 100000, SECOND), pair);
        assert_int_equal(note(&clocks, 1, 21 * US, apart, 100000, SECOND), pair);
        note(&clocks, 1, 22 * US, apart, 100000, SECOND);
        pair_clocks_update(&clocks);
        const struct pair_clock *p = &clocks.pairs[pair];
        /* The transfers differ by 6 µs: that looks like 3 µs between the clocks. */
        int64_t expected = apart - 3 * US;
        uint64_t remain = 18000;
        if (apart == 90 * US) { /* cut to the stated error: [69, 100] */
            expected = (69 + 100) * US / 2;
            remain = 15500;
        } else if (apart == -90 * US) { /* [-100, -75] */
            expected = -(100 + 75) * US / 2;
            remain = 12500;
        }
        assert_int_equal(p->offset_ns, expected);
        assert_int_equal(p->remain_ns, remain);
        assert_int_equal(pair_clock_offset(p, 0), expected);
        assert_int_equal(pair_clock_offset(p, 1), -expected);
        pair_clocks_finish(&clocks);
    }
}

static void
one_direction_corrects_only_messages_that_would_arrive_before_they_are_sent(void **state)
{
    (void)state;
    for (int down = 0; down < 2; down++) {
        struct pair_clocks clocks;
        pair_clocks_init(&clocks, 10);
        uint32_t pair =
            pair_clocks_note(&clocks, down ? 2 : 1, down ? 1 : 2, 15000, 100000, SECOND);
        pair_clocks_update(&clocks);
        assert_int_equal(clocks.pairs[pair].offset_ns, 0);
        assert_int_equal(clocks.pairs[pair].remain_ns, 100000);
        pair_clocks_note(&clocks, down ? 2 : 1, down ? 1 : 2, -30000, 100000, 2 * SECOND);
        pair_clocks_update(&clocks);
        assert_int_equal(clocks.pairs[pair].offset_ns, down ? 30000 : -30000);
        assert_int_equal(clocks.pairs[pair].remain_ns, 70000);
        pair_clocks_finish(&clocks);
    }
}

static void the_other_direction_may_have_come_earlier_and_ages(void **state)
{
    struct pair_clocks clocks;
    (void)state;
    pair_clocks_init(&clocks, 10);
    note(&clocks, 0, 10 * US, 0, 80000, SECOND);
    pair_clocks_update(&clocks);
    uint64_t before = 0;
    for (uint64_t turn = 2; turn < 12; turn++) {
        uint32_t pair = note(&clocks, 1, 10 * US, 0, 80000, turn * SECOND);
        pair_clocks_update(&clocks);
        uint64_t remain = clocks.pairs[pair].remain_ns;
        assert_true(turn < 6 ? remain > before : remain >= before);
        before = remain;
    }
    assert_int_equal(before, 45000); /* by now only the stated errors bound the other side */
    pair_clocks_finish(&clocks);
}

static void what_contradicts_the_stated_errors_is_not_believed(void **state)
{
    struct pair_clocks clocks;
    (void)state;
    pair_clocks_init(&clocks, 10);
    /* 500 µs apart, on clocks that are right to 100 µs. */
    note(&clocks, 0, 10 * US, 500 * US, 100000, SECOND);
    uint32_t pair = note(&clocks, 1, 10 * US, 500 * US, 100000, SECOND);
    pair_clocks_update(&clocks);
    assert_int_equal(clocks.pairs[pair].offset_ns, 0);
    assert_int_equal(clocks.pairs[pair].remain_ns, 100000);
    /* Received before sent, both ways: no clocks are like that. */
    note(&clocks, 0, -10 * US, 0, 100000, 2 * SECOND);
    note(&clocks, 1, -10 * US, 0, 100000, 2 * SECOND);
    pair_clocks_update(&clocks);
    assert_int_equal(clocks.pairs[pair].offset_ns, 0);
    assert_int_equal(clocks.pairs[pair].remain_ns, 100000);
    pair_clocks_finish(&clocks);
}

static void pairs_beyond_the_bound_are_not_kept(void **state)
{
    const size_t before = memory_used();
    struct pair_clocks clocks;
    (void)state;
    pair_clocks_init(&clocks, 100);
    for (uint32_t turn = 0; turn < 3; turn++) {
        uint32_t kept = 0;
        for (uint32_t node = 1; node <= 1000; node++)
            kept += pair_clocks_note(&clocks, 0, 1000 * turn + node, 5, 10, SECOND) != KEY_NONE;
        assert_int_equal(kept, 100);
        pair_clocks_update(&clocks);
    }
    assert_true(memory_used() - before < 40000);
    pair_clocks_finish(&clocks);
}

static void extreme_differences_do_not_overflow(void **state)
{
    static const int64_t odd[] = {INT64_C(1) << 61, -(INT64_C(1) << 61), 0, 1, -1};
    static const uint64_t errors[] = {0, 1, UINT64_C(1) << 61, UINT64_MAX};
    struct pair_clocks clocks;
    (void)state;
    pair_clocks_init(&clocks, 10);
    for (uint64_t turn = 0; turn < 500; turn++) {
        uint64_t at = turn % 7 == 0 ? 0 : UINT64_C(1) << 61;
        pair_clocks_note(&clocks, 1, 2, odd[turn % 5], errors[turn % 4], at);
        uint32_t pair =
            pair_clocks_note(&clocks, 2, 1, odd[turn / 5 % 5], errors[turn / 4 % 4], at);
        pair_clocks_update(&clocks);
        uint64_t stated =
            errors[turn % 4] > errors[turn / 4 % 4] ? errors[turn % 4] : errors[turn / 4 % 4];
        assert_true(clocks.pairs[pair].remain_ns <= stated);
    }
    pair_clocks_finish(&clocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_directions_give_the_middle_of_the_least_differences),
        cmocka_unit_test(
            one_direction_corrects_only_messages_that_would_arrive_before_they_are_sent),
        cmocka_unit_test(the_other_direction_may_have_come_earlier_and_ages),
        cmocka_unit_test(what_contradicts_the_stated_errors_is_not_believed),
        cmocka_unit_test(pairs_beyond_the_bound_are_not_kept),
        cmocka_unit_test(extreme_differences_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
