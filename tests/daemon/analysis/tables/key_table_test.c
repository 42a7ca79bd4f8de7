#include "daemon/analysis/tables/key_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct key key_of(uint32_t i)
{
    return (struct key){.hi = (uint64_t)(i % 97) << 32 | i / 97, .lo = (uint64_t)i << 16};
}

static void each_key_has_one_number_in_order_of_arrival(void **state)
{
    struct key_table table;
    (void)state;
    key_table_init(&table);
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(key_table_reserve(&table, 1), 0);
        assert_int_equal(key_table_add_hashed(&table, key_of(i)), i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(key_table_find(&table, key_of(i)), i);
        assert_int_equal(key_table_add_hashed(&table, key_of(i)), i);
    }
    assert_int_equal(table.count, 20000);
    key_table_finish(&table);
}

static void an_unknown_key_has_no_number(void **state)
{
    struct key_table table;
    (void)state;
    key_table_init(&table);
    assert_int_equal(key_table_find(&table, key_of(1)), KEY_NONE);
    assert_int_equal(key_table_reserve(&table, 1), 0);
    key_table_add_hashed(&table, key_of(1));
    assert_int_equal(key_table_find(&table, key_of(2)), KEY_NONE);
    key_table_finish(&table);
}

/* Lists in any order, with members left out and new ones, whatever the hints: the number is the
 * key's. */
static void hints_change_no_number(void **state)
{
    struct key_table table;
    uint64_t random = 12345;
    uint32_t before = KEY_NONE;
    (void)state;
    key_table_init(&table);
    for (uint32_t i = 0; i < 50000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct key key = key_of((uint32_t)(random >> 33) % 3000);
        assert_int_equal(key_table_reserve(&table, 1), 0);
        uint32_t known = key_table_find(&table, key);
        uint32_t at = key_table_add(&table, key, i % 11 == 0 ? KEY_NONE : before,
                                    (uint32_t)(random >> 40) % 5000);
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
    struct key_table table;
    (void)state;
    key_table_init(&table);
    assert_true(key_table_reserve(&table, (size_t)1 << 40) < 0);
    assert_int_equal(table.count, 0);
    key_table_finish(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_has_one_number_in_order_of_arrival),
        cmocka_unit_test(an_unknown_key_has_no_number),
        cmocka_unit_test(hints_change_no_number),
        cmocka_unit_test(more_keys_than_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
