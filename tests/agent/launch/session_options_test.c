#include "agent/launch/session_options.h"
#include "holter/error.h"
#include "holter/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ENDPOINT "ipc:///tmp/some/where"

static char why[512];

static int clean_environment(void **state)
{
    (void)state;
    unsetenv("HOLTER_SESSION");
    unsetenv("HOLTER_KEYS");
    return setenv("HOLTER_DAEMON", ENDPOINT, 1);
}

static void options_win_over_the_environment(void **state)
{
    struct session_options given = {0};
    struct session_place at;
    (void)state;
    setenv("HOLTER_SESSION", "abc", 1);
    setenv("HOLTER_KEYS", "/keys", 1);
    assert_int_equal(session_options_resolve(&at, &given, why, sizeof why), 0);
    assert_string_equal(at.daemon, ENDPOINT);
    assert_string_equal(at.session, "abc");
    assert_string_equal(at.keys, "/keys");
    given = (struct session_options){"tcp://127.0.0.1:7000", "def", "/others"};
    assert_int_equal(session_options_resolve(&at, &given, why, sizeof why), 0);
    assert_string_equal(at.daemon, "tcp://127.0.0.1:7000");
    assert_string_equal(at.session, "def");
    assert_string_equal(at.keys, "/others");
}

static void what_is_empty_is_not_given(void **state)
{
    struct session_options given = {.session = "", .keys = ""};
    struct session_place at;
    char key[17];
    (void)state;
    session_key_of(ENDPOINT, key);
    assert_int_equal(session_options_resolve(&at, &given, why, sizeof why), 0);
    assert_string_equal(at.session, key);
    assert_null(at.keys);
}

static void a_wrong_value_is_named(void **state)
{
    struct session_options key = {.session = "../x"}, daemon = {.daemon = "http://here"};
    struct session_place at = {.session = "untouched"};
    char longer[600] = "ipc:///";
    (void)state;
    assert_int_equal(session_options_resolve(&at, &key, why, sizeof why), -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "../x"));
    assert_int_equal(session_options_resolve(&at, &daemon, why, sizeof why), -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "http://here"));
    memset(longer + strlen(longer), 'x', sizeof longer - strlen(longer) - 1);
    daemon.daemon = longer;
    assert_int_equal(session_options_resolve(&at, &daemon, why, sizeof why), -HOLTER_EUSAGE);
    assert_string_equal(at.session, "untouched");
}

static void what_is_wrong_with_the_run_directory_is_named(void **state)
{
    struct session_options none = {0};
    struct session_place at;
    (void)state;
    unsetenv("HOLTER_DAEMON");
    setenv("HOLTER_RUN_DIR", "relative", 1);
    assert_true(session_options_resolve(&at, &none, why, sizeof why) < 0);
    unsetenv("HOLTER_RUN_DIR");
    assert_non_null(strstr(why, "HOLTER_RUN_DIR=relative: the path must begin at the root"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(options_win_over_the_environment, clean_environment),
        cmocka_unit_test_setup(what_is_empty_is_not_given, clean_environment),
        cmocka_unit_test_setup(a_wrong_value_is_named, clean_environment),
        cmocka_unit_test_setup(what_is_wrong_with_the_run_directory_is_named, clean_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
