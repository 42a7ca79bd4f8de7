/* How long clients wait for their daemon, or for the one of a fleet that goes on with the job. */
#include "agent/cli/dial.h"

#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define NO_SERVER "nats://127.0.0.1:1" /* a port on which nobody listens */

/* @return how long a client waits that is called with these words */
static uint64_t patience(char *endpoint, char *option, char *value)
{
    static const struct command_option none[] = {{0}};
    const struct command_line line = {"status", "", none, .user = NULL};
    char name[] = "status", connect[] = "-c";
    char *words[] = {name, connect, endpoint, option, value, NULL};
    struct dial dial = {.role = ROLE_VIEWER};
    optind = 0; /* so that getopt() reads a new command line, see getopt(3) */
    dial_parse(&dial, &line, option == NULL ? 3 : 5, words);
    return dial.patience_ns;
}

static void a_fleet_is_waited_for_longer_as_a_lease_has_to_expire(void **state)
{
    (void)state;
    char fleet[] = NO_SERVER, daemon[] = "ipc:///nonexistent/sock";
    assert_int_equal(patience(daemon, NULL, NULL), 5 * SECOND);
    assert_int_equal(patience(fleet, NULL, NULL), 30 * SECOND);
}

static void a_time_that_is_given_holds_even_if_it_is_that_of_a_single_daemon(void **state)
{
    (void)state;
    char fleet[] = NO_SERVER, option[] = "--timeout", five[] = "5", four[] = "4";
    assert_int_equal(patience(fleet, option, four), 4 * SECOND);
    assert_int_equal(patience(fleet, option, five), 5 * SECOND);
}

static void no_daemon_is_looked_for_where_a_recording_is_read(void **state)
{
    (void)state;
    static const struct command_option none[] = {{0}};
    const struct command_line line = {"graph", "", none, .user = NULL};
    char name[] = "graph", file[] = "a.hrec";
    char *words[] = {name, file, NULL};
    const char *word = NULL;
    int live = 0;
    struct dial dial = {.role = ROLE_OPERATOR, .word = &word, .live = &live};
    setenv("HOLTER_DAEMON", NO_SERVER, 1);
    optind = 0;
    assert_int_equal(dial_parse(&dial, &line, 2, words), -1);
    assert_string_equal(word, "a.hrec");
    live = 1;
    optind = 0;
    assert_in_range(dial_parse(&dial, &line, 2, words), 1, 2); /* 2: of a build without fleets */
    unsetenv("HOLTER_DAEMON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fleet_is_waited_for_longer_as_a_lease_has_to_expire),
        cmocka_unit_test(no_daemon_is_looked_for_where_a_recording_is_read),
        cmocka_unit_test(a_time_that_is_given_holds_even_if_it_is_that_of_a_single_daemon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
