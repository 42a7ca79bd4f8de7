#include "daemon/analysis/tables/name_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void names_get_numbers_in_the_order_in_which_they_come(void **state)
{
    struct name_table table = {.count = 0};
    (void)state;
    assert_int_equal(name_table_number(&table, "b", 8), 0);
    assert_int_equal(name_table_number(&table, "a", 8), 1);
    assert_int_equal(name_table_number(&table, "b", 8), 0);
    assert_int_equal(table.count, 2);
    assert_string_equal(table.names[1], "a");
    name_table_finish(&table);
    assert_int_equal(table.count, 0);
}

static void a_full_table_still_finds_what_is_in_it(void **state)
{
    struct name_table table = {.count = 0};
    char name[NAME_TABLE_BYTES];
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        assert_int_equal(name_table_number(&table, name, 1000), i);
    }
    assert_int_equal(name_table_number(&table, "another", 1000), NAME_TABLE_NONE);
    assert_int_equal(name_table_number(&table, "n999", 1000), 999);
    name_table_finish(&table);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
    struct name_table table = {.count = 0};
    char name[NAME_TABLE_BYTES + 1];
    (void)state;
    snprintf(name, sizeof(name), "%065d", 1);
    assert_int_equal(name_table_number(&table, name, 8), NAME_TABLE_NONE);
    assert_int_equal(name_table_number(&table, name + 1, 8), 0);
    name_table_finish(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_get_numbers_in_the_order_in_which_they_come),
        cmocka_unit_test(a_full_table_still_finds_what_is_in_it),
        cmocka_unit_test(a_name_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
