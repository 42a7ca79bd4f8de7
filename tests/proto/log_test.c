#include "proto/log.h"
#include "tests/stderr_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LOG_TOPIC "test"

struct capture {
    struct stderr_capture capture;
    char text[65536];
};

static int begin(void **state)
{
    struct capture *capture = calloc(1, sizeof *capture);
    *state = capture;
    stderr_capture_begin(&capture->capture);
    return 0;
}

static const char *captured(struct capture *capture)
{
    stderr_capture_text(&capture->capture, capture->text, sizeof capture->text);
    return capture->text;
}

static int end(void **state)
{
    struct capture *capture = *state;
    stderr_capture_end(&capture->capture);
    free(capture);
    return 0;
}

static void a_line_names_program_and_topic(void **state)
{
    log_start("holterd", LOG_WARN);
    log_line(LOG_WARN, "first", "cannot open %s", "x");
    log_line(LOG_INFO, "first", "not printed");
    assert_string_equal(captured(*state), "holterd: first: cannot open x\n");
}

static void the_level_comes_from_the_environment_unless_it_is_given(void **state)
{
    (void)state;
    setenv("HOLTER_LOG", "debug", 1);
    log_start("holterd", -1);
    assert_true(log_enabled(LOG_DEBUG));
    setenv("HOLTER_LOG", "nonsense", 1);
    log_start("holterd", -1);
    assert_true(log_enabled(LOG_WARN) && !log_enabled(LOG_INFO));
    log_start("holterd", LOG_ERROR);
    assert_false(log_enabled(LOG_WARN));
    unsetenv("HOLTER_LOG");
}

static void a_topic_that_talks_too_much_is_held_back_and_counted(void **state)
{
    int lines = 0;
    log_start("holterd", LOG_WARN);
    for (int i = 0; i < 10000; i++)
        log_line(LOG_WARN, "noisy", "again");
    log_line(LOG_WARN, "quiet", "capture");
    const char *text = captured(*state);
    assert_non_null(strstr(text, "holterd: quiet: capture\n"));
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_in_range(lines, 11, 101); /* ten in each second that the loop took */
}

static void a_peer_cannot_fake_lines_or_steer_the_terminal(void **state)
{
    log_start("holterd", LOG_WARN);
    log_line(LOG_WARN, "hostile", "%s",
             "x\nholterd: all is well\x1b[2J\x7f\xc2\x9b"
             "2J\xe2\x80\xae");
    assert_string_equal(captured(*state), "holterd: hostile: x?holterd: all is well?[2J???2J???\n");
}

static void long_lines_are_cut(void **state)
{
    char text[5000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    log_start("holterd", LOG_WARN);
    log_line(LOG_WARN, "long", "%s", text);
    assert_in_range(strlen(captured(*state)), 1000, 1100);
}

static void topics_beyond_the_maximum_share_the_last(void **state)
{
    (void)state;
    static char names[200][8];
    log_start("holterd", LOG_WARN);
    for (int i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        log_line(LOG_WARN, names[i], "one");
    }
    assert_non_null(strstr(captured(*state), "holterd: t0: one\n"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        T(a_line_names_program_and_topic),
        T(the_level_comes_from_the_environment_unless_it_is_given),
        T(a_topic_that_talks_too_much_is_held_back_and_counted),
        T(a_peer_cannot_fake_lines_or_steer_the_terminal),
        T(long_lines_are_cut),
        T(topics_beyond_the_maximum_share_the_last),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
