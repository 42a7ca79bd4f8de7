/* The argument of the request "commgram": lists of ranks. */
#include "daemon/job/phases/picture_ask.h"
#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_list_is_each_of_its_ranks_once(void **state)
{
    static const uint32_t wanted[] = {0, 3, 62, 63, 64, 65, 127, 128, PICTURE_RANKS - 1};
    struct picture_ask ask;
    char why[128];
    (void)state;
    assert_int_equal(
        picture_ask_parse(&ask, "ranks=127-128,62-65,3,1048575,63-64,0,3-3", why, sizeof why), 0);
    assert_int_equal(ask.only_count, sizeof wanted / sizeof *wanted);
    assert_memory_equal(ask.only, wanted, sizeof wanted);
    picture_ask_finish(&ask);
    assert_int_equal(picture_ask_parse(&ask, "ranks=1-300,0-1048575", why, sizeof why), 0);
    assert_int_equal(ask.only_count, PICTURE_RANKS);
    picture_ask_finish(&ask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_list_is_each_of_its_ranks_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
