#include "daemon/analysis/tables/key_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct key key_of(uint32_t i)
{
    return (struct key){.hi = (uint64_t)(i % 97) << 32 | i / 97, .lo = (uint64_t)i << 16};
}

static void each_key_has_one_number_in_order_of_arrival(void **state)
{
    struct key_table table = {0};
    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(key_table_reserve(&table, 1), 0);
        assert_int_equal(key_table_add(&table, key_of(i)), i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(key_table_find(&table, key_of(i)), i);
        assert_int_equal(key_table_add(&table, key_of(i)), i);
    }
    assert_int_equal(table.count, 20000);
    key_table_finish(&table);
}

static void an_unknown_key_has_no_number(void **state)
{
    struct key_table table = {0};
    (void)state;
    assert_int_equal(key_table_find(&table, key_of(1)), KEY_NONE);
    assert_int_equal(key_table_reserve(&table, 1), 0);
    key_table_add(&table, key_of(1));
    assert_int_equal(key_table_find(&table, key_of(2)), KEY_NONE);
    key_table_finish(&table);
}

/* Lists in any order, with members left out and new ones, whatever the hints: the number is the
 * key's. */
static void hints_change_no_number(void **state)
{
    struct key_table table = {0};
    uint64_t random = 12345;
    uint32_t before = KEY_NONE;
    (void)state;
    for (uint32_t i = 0; i < 50000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct key key = key_of((uint32_t)(random >> 33) % 3000);
        uint32_t known = key_table_find(&table, key);
        if (i % 11 == 0)
            before = i % 2 == 0 ? KEY_NONE : (uint32_t)(random >> 40) % 5000;
        uint32_t at = key_table_number_after(&table, key, before);
        if (known != KEY_NONE)
            assert_int_equal(at, known);
        else
            assert_int_equal(at, table.count - 1);
        before = at;
    }
    assert_int_equal(table.count, 3000);
    key_table_finish(&table);
}

static void more_keys_than_numbers_are_refused(void **state)
{
    struct key_table table = {0};
    (void)state;
    assert_true(key_table_reserve(&table, (size_t)1 << 40) < 0);
    assert_int_equal(table.count, 0);
    key_table_finish(&table);
}

/* Rounds of other keys, as windows are; elements of numbers begin at zero each time. */
static void a_table_that_was_cleared_begins_anew(void **state)
{
    struct key_table table = {0};
    uint64_t *sums = NULL;
    size_t capacity = 0;
    (void)state;
    key_table_clear(&table);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t count = round % 3 == 0 ? 5000 : 100 * round, limit = count - count / 10;
        for (uint32_t i = 0; i < 2 * count; i++) {
            struct key key = key_of(round * 1000 + i % count);
            uint32_t number = key_table_extend(&table, key, limit, &sums, sizeof(*sums), &capacity);
            assert_int_equal(number, i % count < limit ? i % count : KEY_NONE);
            if (number != KEY_NONE)
                sums[number]++;
        }
        assert_int_equal(table.count, limit);
        assert_int_equal(key_table_number(&table, key_of(round * 1000), limit), 0);
        for (uint32_t i = 0; i < limit; i++)
            assert_int_equal(sums[i], 2);
        key_table_clear(&table);
        assert_int_equal(table.count, 0);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(key_table_find(&table, key_of(round * 1000 + i)), KEY_NONE);
    }
    key_table_finish(&table);
    free(sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_has_one_number_in_order_of_arrival),
        cmocka_unit_test(an_unknown_key_has_no_number),
        cmocka_unit_test(hints_change_no_number),
        cmocka_unit_test(more_keys_than_numbers_are_refused),
        cmocka_unit_test(a_table_that_was_cleared_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
