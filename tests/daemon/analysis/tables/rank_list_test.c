#include "daemon/analysis/tables/rank_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char text[257];

static void ranks_in_a_row_are_written_as_a_range(void **state)
{
    (void)state;
    assert_int_equal(rank_list((uint32_t[]){0, 1, 2, 3, 8}, 5, text, sizeof(text)), 0);
    assert_string_equal(text, "0-3,8");
    rank_list((uint32_t[]){7}, 1, text, sizeof(text));
    assert_string_equal(text, "7");
    rank_list(NULL, 0, text, sizeof(text));
    assert_string_equal(text, "");
}

static void order_and_repetition_do_not_matter(void **state)
{
    (void)state;
    rank_list((uint32_t[]){9, 2, 1, 2, 0, 9, 11}, 7, text, sizeof(text));
    assert_string_equal(text, "0-2,9,11");
}

static void a_long_list_is_cut_between_ranks(void **state)
{
    (void)state;
    uint32_t ranks[1000];
    for (uint32_t i = 0; i < 1000; i++)
        ranks[i] = 1000 + 2 * i;
    for (size_t capacity = 5; capacity < 40; capacity++) {
        memset(text, 'x', sizeof(text));
        rank_list(ranks, 1000, text, capacity);
        assert_true(strlen(text) < capacity);
        assert_string_equal(text + strlen(text) - 3, "...");
        assert_int_equal((strlen(text) - 3) % 5, 0);
    }
    rank_list(ranks, 3, text, sizeof("1000,1002,1004"));
    assert_string_equal(text, "1000,1002,1004");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_in_a_row_are_written_as_a_range),
        cmocka_unit_test(order_and_repetition_do_not_matter),
        cmocka_unit_test(a_long_list_is_cut_between_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
