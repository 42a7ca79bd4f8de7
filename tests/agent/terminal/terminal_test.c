#include "agent/terminal/terminal.h"
#include "tests/stderr_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A message about a name, as it is written to the terminal. */
static void said_of(const char *name, char *out, size_t capacity)
{
    struct stderr_capture capture;
    stderr_capture_begin(&capture);
    terminal_print("job %s: done", name);
    stderr_capture_text(&capture, out, capacity);
    stderr_capture_end(&capture);
}

static void a_line_stays_one_whatever_names_are_in_it(void **state)
{
    char out[200];
    (void)state;
    said_of("melt \xc3\xa9", out, sizeof(out));
    assert_string_equal(out, "holter: job melt \xc3\xa9: done\n");
    said_of("a\nholter: all is well\r\x1b[2J\x7f", out, sizeof(out));
    assert_string_equal(out, "holter: job a?holter: all is well??[2J?: done\n");
}

static void a_long_line_is_cut(void **state)
{
    static char name[5000], out[5000];
    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    said_of(name, out, sizeof(out));
    assert_true(strlen(out) < 4097);
    assert_int_equal(out[strlen(out) - 1], '\n');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_stays_one_whatever_names_are_in_it),
        cmocka_unit_test(a_long_line_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
