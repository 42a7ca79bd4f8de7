#include "daemon/recordings/numbers.h"
#include "holter/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define AGENTS 3u
#define MOST 200u

static int meet(struct numbers *n, uint64_t instance, uint64_t seq, uint64_t type)
{
    const struct recorded head = {.type = type, .instance = instance, .seq = seq};
    return numbers_meet(n, &head);
}

static void numbers_in_any_order_are_known_again(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct numbers n;
    uint8_t met[AGENTS][MOST] = {{0}};
    numbers_init(&n);
    for (int i = 0; i < 2000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t agent = (seed >> 33) % AGENTS, seq = (seed >> 40) % MOST;
        assert_int_equal(meet(&n, 7 * agent, seq, WIRE_TYPE_WINDOW), met[agent][seq]);
        met[agent][seq] = 1;
        uint64_t missing = 0;
        for (unsigned a = 0; a < AGENTS; a++) {
            unsigned first = 0, last = MOST;
            while (first < MOST && !met[a][first])
                first++;
            while (last > first && !met[a][last - 1])
                last--;
            for (unsigned s = first; s < last; s++)
                missing += !met[a][s];
        }
        assert_int_equal(numbers_missing(&n), missing);
    }
    numbers_finish(&n);
}

static void before_the_first_window_nothing_is_missing(void **state)
{
    (void)state;
    struct numbers n;
    numbers_init(&n);
    assert_int_equal(meet(&n, 1, 1, WIRE_TYPE_RANKS), 0);
    assert_int_equal(meet(&n, 1, 40, WIRE_TYPE_WINDOW), 0);
    assert_int_equal(numbers_missing(&n), 0);
    assert_int_equal(meet(&n, 1, 43, WIRE_TYPE_RANKS), 0);
    assert_int_equal(numbers_missing(&n), 2);
    assert_int_equal(meet(&n, 1, 39, WIRE_TYPE_WINDOW), 0); /* it came late */
    assert_int_equal(numbers_missing(&n), 2);
    assert_int_equal(meet(&n, 1, 1, WIRE_TYPE_RANKS), 1);
    numbers_finish(&n);
}

static void the_largest_numbers_are_numbers(void **state)
{
    (void)state;
    struct numbers n;
    numbers_init(&n);
    assert_int_equal(meet(&n, 1, UINT64_MAX, WIRE_TYPE_WINDOW), 0);
    assert_int_equal(meet(&n, 1, UINT64_MAX, WIRE_TYPE_WINDOW), 1);
    assert_int_equal(meet(&n, 1, 0, WIRE_TYPE_WINDOW), 0);
    assert_int_equal(meet(&n, 1, 0, WIRE_TYPE_WINDOW), 1);
    assert_int_equal(meet(&n, 1, UINT64_MAX - 1, WIRE_TYPE_WINDOW), 0);
    assert_int_equal(numbers_missing(&n), UINT64_MAX - 2);
    numbers_finish(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_any_order_are_known_again),
        cmocka_unit_test(before_the_first_window_nothing_is_missing),
        cmocka_unit_test(the_largest_numbers_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
