#include "proto/rank_spans.h"

#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void spans_come_in_the_order_of_the_list(void **state)
{
    const char *at = "8,0-3,12";
    uint64_t first, last;
    (void)state;
    assert_int_equal(rank_spans_next(&at, &first, &last), 1);
    assert_true(first == 8 && last == 8);
    assert_int_equal(rank_spans_next(&at, &first, &last), 1);
    assert_true(first == 0 && last == 3);
    assert_int_equal(rank_spans_next(&at, &first, &last), 1);
    assert_true(first == 12 && last == 12);
    assert_int_equal(rank_spans_next(&at, &first, &last), 0);
}

static void list_that_was_cut_ends_where_it_was(void **state)
{
    (void)state;
    assert_true(rank_spans_have("1,4-6,...", 5));
    assert_false(rank_spans_have("1,4-6,...", 7));
    assert_int_equal(rank_spans_check("1,4-6,...", 8), 0);
}

static void what_is_no_list_is_reported(void **state)
{
    static const char *const wrong[] = {"",    "x",   "1,",  ",1",  "1-",   "-1",
                                        "3-1", "1;2", "1 2", "0x1", "1--2", "99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(rank_spans_check(wrong[i], UINT64_MAX), -HOLTER_EUSAGE);
    assert_int_equal(rank_spans_check("0-7", 8), 0);
    assert_int_equal(rank_spans_check("0-8", 8), -HOLTER_EUSAGE);
    assert_false(rank_spans_have("x,3", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_come_in_the_order_of_the_list),
        cmocka_unit_test(list_that_was_cut_ends_where_it_was),
        cmocka_unit_test(what_is_no_list_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
