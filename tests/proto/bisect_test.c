#include "holter/bisect.h"
#include "holter/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/proto/wire_random.h"

#define MOST 70u

/* One after the other. */
static uint32_t plain(const uint64_t *items, uint32_t begin, uint32_t end, uint64_t place)
{
    while (begin < end && items[begin] < place)
        begin++;
    return begin;
}

static void the_first_that_is_not_before_is_found(void **state)
{
    uint64_t seed = 88172645463325252u, items[MOST];
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        uint32_t count = (uint32_t)(random_next(&seed) % MOST);
        uint64_t values = 1 + random_next(&seed) % (2 * MOST); /* few: many are equal */
        for (uint32_t i = 0; i < count; i++)
            items[i] = random_next(&seed) % values;
        qsort(items, count, sizeof(*items), order_u64);
        uint32_t begin = (uint32_t)(random_next(&seed) % (count + 1));
        uint32_t end = begin + (uint32_t)(random_next(&seed) % (count - begin + 1));
        for (uint64_t place = 0; place <= values; place++)
            assert_int_equal(BISECT(i, begin, end, items[i] < place),
                             plain(items, begin, end, place));
    }
}

static void among_none_it_is_the_begin(void **state)
{
    const uint64_t items[] = {1, 2, 3};
    uint32_t begin = 2, end = 1;
    (void)state;
    assert_int_equal(BISECT(i, 2, begin, items[i] < 9), 2);
    assert_int_equal(BISECT(i, begin, end, items[i] < 9), 2);
}

/* Positions that add up to more than their type holds. */
static void positions_may_be_the_highest_of_their_type(void **state)
{
    const uint64_t wanted = UINT64_MAX - 5;
    const uint32_t high = UINT32_MAX;
    (void)state;
    assert_true(BISECT(i, 1, UINT64_MAX, i < wanted) == wanted);
    assert_true(BISECT(i, high - 3, high, i < high) == high);
    assert_int_equal(sizeof(BISECT(i, 0, high, i < 7)), sizeof(high));
}

static void it_asks_as_few_times_as_positions_have_bits(void **state)
{
    (void)state;
    for (uint64_t wanted = 0; wanted <= 1000; wanted++) {
        unsigned asked = 0, ends = 0;
        uint64_t end = 1000;
        assert_int_equal(BISECT(i, 0, (ends++, end), (asked++, i < wanted)), wanted);
        assert_in_range(asked, 9, 10);
        assert_int_equal(ends, 1);
    }
}

/* Rows of a file may be in any order. */
static void without_order_it_ends_within(void **state)
{
    uint64_t seed = 1234567;
    (void)state;
    for (unsigned round = 0; round < 1000; round++) {
        uint32_t begin = (uint32_t)(random_next(&seed) % 50);
        uint32_t end = begin + (uint32_t)(random_next(&seed) % 50);
        uint32_t found =
            BISECT(i, begin, end, (assert_in_range(i, begin, end - 1), random_next(&seed) % 2));
        assert_in_range(found, begin, end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_that_is_not_before_is_found),
        cmocka_unit_test(among_none_it_is_the_begin),
        cmocka_unit_test(positions_may_be_the_highest_of_their_type),
        cmocka_unit_test(it_asks_as_few_times_as_positions_have_bits),
        cmocka_unit_test(without_order_it_ends_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
