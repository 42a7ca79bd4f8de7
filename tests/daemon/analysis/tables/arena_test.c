#include "daemon/analysis/tables/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void arrays_are_zero_and_apart(void **state)
{
    struct arena arena = {0};
    uint32_t *first, *second;
    double *third;
    (void)state;
    ARENA_TAKE(&arena, first, 3);
    memset(first, 0xff, 3 * sizeof(*first));
    ARENA_TAKE(&arena, second, 5);
    ARENA_TAKE(&arena, third, 0);
    assert_false(arena.failed);
    assert_non_null(third);
    for (int i = 0; i < 5; i++)
        assert_int_equal(second[i], 0);
    memset(second, 0xff, 5 * sizeof(*second));
    assert_int_equal(first[2], UINT32_MAX);
    arena_finish(&arena);
    assert_null(arena.newest);
}

static void an_array_that_no_memory_holds_is_a_failure(void **state)
{
    struct arena arena = {0};
    uint64_t *array, *other;
    (void)state;
    ARENA_TAKE(&arena, array, SIZE_MAX / 4);
    assert_null(array);
    assert_true(arena.failed);
    ARENA_TAKE(&arena, other, 1);
    assert_non_null(other);
    assert_true(arena.failed);
    ARENA_TAKE(&arena, array, SIZE_MAX / sizeof(*array));
    assert_null(array);
    arena_finish(&arena);
    assert_false(arena.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_zero_and_apart),
        cmocka_unit_test(an_array_that_no_memory_holds_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
