#include "holter/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_code_has_a_name_and_a_text_of_its_own(void **state)
{
    (void)state;
    for (int code = HOLTER_EBASE + 1; code < HOLTER_EEND; code++) {
        assert_string_not_equal(holter_strerror(-code), "unknown error");
        assert_memory_equal(holter_errname(-code), "HOLTER_E", 8);
        for (int other = HOLTER_EBASE + 1; other < code; other++)
            assert_string_not_equal(holter_strerror(-code), holter_strerror(-other));
    }
}

static void errno_values_keep_their_meaning(void **state)
{
    (void)state;
    assert_string_equal(holter_errname(-ENOSPC), "ENOSPC");
    assert_string_equal(holter_strerror(-ENOSPC), "No space left on device");
}

static void codes_outside_the_list_are_unknown(void **state)
{
    (void)state;
    assert_string_equal(holter_strerror(-HOLTER_EEND), "unknown error");
    assert_string_equal(holter_errname(-HOLTER_EEND), "unknown");
    assert_string_equal(holter_strerror(7), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_name_and_a_text_of_its_own),
        cmocka_unit_test(errno_values_keep_their_meaning),
        cmocka_unit_test(codes_outside_the_list_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
