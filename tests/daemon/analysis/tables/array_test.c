#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_is_held_stays_when_an_array_grows(void **state)
{
    (void)state;
    uint64_t *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(array_fit(&array, sizeof(*array), &capacity, i + 1), 0);
        assert_true(capacity > i);
        array[i] = i;
    }
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    size_t before = capacity;
    assert_int_equal(array_fit(&array, sizeof(*array), &capacity, 10), 0);
    assert_int_equal(capacity, before);
    free(array);
}

static void new_elements_are_zero_where_asked_for(void **state)
{
    (void)state;
    uint16_t *array = NULL;
    uint32_t capacity = 0;
    for (uint32_t need = 1; need < 5000; need = 3 * need + 1) {
        uint32_t before = capacity;
        assert_int_equal(array_fit_zero(&array, sizeof(*array), &capacity, need), 0);
        assert_true(capacity >= need);
        for (uint32_t i = before; i < capacity; i++)
            assert_int_equal(array[i], 0);
        memset(array, 0xff, capacity * sizeof(*array));
    }
    free(array);
}

static void more_than_a_number_can_count_is_refused_and_nothing_changes(void **state)
{
    (void)state;
    uint64_t *array = NULL;
    uint32_t capacity = 0;
    assert_int_equal(array_fit_zero(&array, sizeof(*array), &capacity, 4), 0);
    uint64_t *held = array;
    uint32_t before = capacity;
    assert_int_equal(array_fit_zero(&array, sizeof(*array), &capacity, UINT64_MAX), -ENOMEM);
    assert_ptr_equal(array, held);
    assert_int_equal(capacity, before);
    free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_stays_when_an_array_grows),
        cmocka_unit_test(new_elements_are_zero_where_asked_for),
        cmocka_unit_test(more_than_a_number_can_count_is_refused_and_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
