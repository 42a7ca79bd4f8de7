#include "daemon/storage/recordings/numbers.h"
#include "holter/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define AGENTS 3u
#define MOST 200u

static int add_number(struct numbers *n, uint64_t instance, uint64_t seq, uint64_t type)
{
    const struct recorded head = {.type = type, .instance = instance, .seq = seq, .window = seq};
    return numbers_add(n, &head);
}

static void numbers_added_in_any_order_are_recognised(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct numbers n = {0};
    uint8_t met[AGENTS][MOST] = {{0}};
    for (int i = 0; i < 2000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t agent = (seed >> 33) % AGENTS, seq = (seed >> 40) % MOST;
        assert_int_equal(add_number(&n, 7 * agent, seq, WIRE_TYPE_WINDOW), met[agent][seq]);
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
        assert_int_equal(numbers_count_missing(&n), missing);
    }
    numbers_finish(&n);
}

static void before_the_first_window_nothing_is_missing(void **state)
{
    (void)state;
    struct numbers n = {0};
    assert_int_equal(add_number(&n, 1, 1, WIRE_TYPE_RANKS), 0);
    assert_int_equal(add_number(&n, 1, 40, WIRE_TYPE_WINDOW), 0);
    assert_int_equal(numbers_count_missing(&n), 0);
    assert_int_equal(add_number(&n, 1, 43, WIRE_TYPE_RANKS), 0);
    assert_int_equal(numbers_count_missing(&n), 2);
    assert_int_equal(add_number(&n, 1, 39, WIRE_TYPE_WINDOW), 0); /* it came late */
    assert_int_equal(numbers_count_missing(&n), 2);
    assert_int_equal(add_number(&n, 1, 1, WIRE_TYPE_RANKS), 1);
    numbers_finish(&n);
}

static void the_largest_numbers_are_numbers(void **state)
{
    (void)state;
    struct numbers n = {0};
    assert_int_equal(add_number(&n, 1, UINT64_MAX, WIRE_TYPE_WINDOW), 0);
    assert_int_equal(add_number(&n, 1, UINT64_MAX, WIRE_TYPE_WINDOW), 1);
    assert_int_equal(add_number(&n, 1, 0, WIRE_TYPE_WINDOW), 0);
    assert_int_equal(add_number(&n, 1, 0, WIRE_TYPE_WINDOW), 1);
    assert_int_equal(add_number(&n, 1, UINT64_MAX - 1, WIRE_TYPE_WINDOW), 0);
    assert_int_equal(numbers_count_missing(&n), UINT64_MAX - 2);
    numbers_finish(&n);
}

struct holes {
    uint64_t first[8], end[8], missing[8];
    unsigned count;
};

static int hole(void *user, uint64_t first, uint64_t end, uint64_t missing)
{
    struct holes *holes = user;
    assert_in_range(holes->count, 0, 7);
    holes->first[holes->count] = first;
    holes->end[holes->count] = end;
    holes->missing[holes->count++] = missing;
    return 0;
}

static void add_window_number(struct numbers *n, uint64_t seq, uint64_t window)
{
    const struct recorded head = {
        .type = WIRE_TYPE_WINDOW, .instance = 3, .seq = seq, .window = window};
    assert_int_equal(numbers_add(n, &head), 0);
}

/* Two messages a window: of windows 10 to 15 numbers 20 to 31 are. */
static void holes_are_windows_between_those_that_were_met(void **state)
{
    (void)state;
    struct numbers n = {0};
    struct holes holes = {.count = 0};
    assert_int_equal(add_number(&n, 3, 1, WIRE_TYPE_RANKS), 0);
    add_window_number(&n, 31, 15);
    add_window_number(&n, 20, 10);
    assert_int_equal(numbers_for_each_gap(&n, hole, &holes), 0);
    assert_int_equal(holes.count, 1);
    assert_int_equal(holes.first[0], 11);
    assert_int_equal(holes.end[0], 15);
    assert_int_equal(holes.missing[0], 10);
    add_window_number(&n, 24, 12);
    assert_int_equal(add_number(&n, 3, 27, WIRE_TYPE_CAPTURED), 0); /* of no window */
    holes.count = 0;
    assert_int_equal(numbers_for_each_gap(&n, hole, &holes), 0);
    assert_int_equal(holes.count, 2);
    assert_int_equal(holes.end[0], 12);
    assert_int_equal(holes.first[1], 13);
    assert_int_equal(holes.missing[1], 5);
    for (uint64_t seq = 21; seq < 31; seq++)
        if (seq != 24 && seq != 27)
            add_window_number(&n, seq, seq / 2);
    holes.count = 0;
    assert_int_equal(numbers_for_each_gap(&n, hole, &holes), 0);
    assert_int_equal(holes.count, 0);
    numbers_finish(&n);
}

/* Of a window of which a part is there. */
static void messages_that_are_missing_within_a_window_are_no_hole(void **state)
{
    (void)state;
    struct numbers n = {0};
    struct holes holes = {.count = 0};
    add_window_number(&n, 1, 10);
    add_window_number(&n, 4, 11);
    add_window_number(&n, 9, 11);
    assert_int_equal(numbers_for_each_gap(&n, hole, &holes), 0);
    assert_int_equal(holes.count, 0);
    assert_int_equal(numbers_count_missing(&n),
                     4); /* between windows that follow each other are those of other jobs */
    numbers_finish(&n);
}

/* Its messages of two jobs on a node take turns. */
static void messages_for_other_jobs_are_not_missing(void **state)
{
    (void)state;
    struct numbers n = {0};
    struct holes holes = {.count = 0};
    assert_int_equal(add_number(&n, 3, 1, WIRE_TYPE_RANKS), 0);
    add_window_number(&n, 3, 10);
    add_window_number(&n, 5, 11);
    assert_int_equal(add_number(&n, 3, 8, WIRE_TYPE_RANKS), 0);
    assert_int_equal(numbers_count_missing(&n), 0);
    add_window_number(&n, 9, 12);
    assert_int_equal(numbers_count_missing(&n), 0);
    add_window_number(&n, 15, 15); /* of 10 to 14 two are windows of this job */
    assert_int_equal(numbers_count_missing(&n), 2);
    assert_int_equal(numbers_for_each_gap(&n, hole, &holes), 0);
    assert_int_equal(holes.count, 1);
    assert_int_equal(holes.first[0], 13);
    assert_int_equal(holes.end[0], 15);
    assert_int_equal(holes.missing[0], 2);
    numbers_finish(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_added_in_any_order_are_recognised),
        cmocka_unit_test(before_the_first_window_nothing_is_missing),
        cmocka_unit_test(the_largest_numbers_are_numbers),
        cmocka_unit_test(holes_are_windows_between_those_that_were_met),
        cmocka_unit_test(messages_that_are_missing_within_a_window_are_no_hole),
        cmocka_unit_test(messages_for_other_jobs_are_not_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
