/* The command line of holterd. */
#include "daemon/daemon_options.h"
#include "daemon/fleet/fleet.h"
#include "holter/error.h"
#include "proto/quantity.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* Words after the program's name, up to the first NULL. */
static enum daemon_options_verdict parse_words(struct daemon_options *o, char *why, size_t capacity,
                                               const char *const *words)
{
    char *argv[8] = {"holterd"};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    return daemon_options_parse(o, argc, argv, why, capacity);
}

#define parse(o, why, capacity, ...)                                                               \
    parse_words(o, why, capacity, (const char *const[8]){__VA_ARGS__, NULL})

static void durations_have_units(void **state)
{
    uint64_t ns = 0;
    (void)state;
    assert_int_equal(quantity_parse_duration("500ms", &ns), 0);
    assert_int_equal(ns, 500 * MS);
    assert_int_equal(quantity_parse_duration("1s", &ns), 0);
    assert_int_equal(ns, 1000 * MS);
    assert_int_equal(quantity_parse_duration("0.25", &ns), 0);
    assert_int_equal(ns, 250 * MS);
    assert_int_equal(quantity_parse_duration("2min", &ns), 0);
    assert_int_equal(ns, 120000 * MS);
    assert_int_equal(quantity_parse_duration("1h2m0.5s", &ns), 0);
    assert_int_equal(ns, 3720500 * MS);
    const char *const wrong[] = {"",    "ms",  "-1s", "1d",    "1s1m",
                                 "1 s", "nan", "inf", "1e99s", "0x10"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(quantity_parse_duration(wrong[i], &ns), -HOLTER_EUSAGE);
}

static void windows_are_from_100_ms_to_60_s(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--window", "100ms"), OPTIONS_RUN);
    assert_int_equal(o.window_ns, 100 * MS);
    assert_int_equal(o.grace_ns, 25 * MS);
    assert_int_equal(parse(&o, why, sizeof(why), "--window", "60s"), OPTIONS_RUN);
    assert_int_equal(o.grace_ns, 250 * MS);
    assert_int_equal(parse(&o, why, sizeof(why), "--window", "99ms"), OPTIONS_WRONG);
    assert_non_null(strstr(why, "--window"));
    assert_int_equal(parse(&o, why, sizeof(why), "--window", "61s"), OPTIONS_WRONG);
    assert_int_equal(parse(&o, why, sizeof(why), "--window", "soon"), OPTIONS_WRONG);
}

static void tcp_endpoints_need_keys_or_on_this_host_permission(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--listen", "tcp://0.0.0.0:7777"), OPTIONS_WRONG);
    assert_non_null(strstr(why, "--keys"));
    assert_int_equal(parse(&o, why, sizeof(why), "--listen", "tcp://*:7777"), OPTIONS_WRONG);
    assert_int_equal(parse(&o, why, sizeof(why), "--listen", "tcp://192.168.1.1:7777"),
                     OPTIONS_WRONG);
    assert_int_equal(parse(&o, why, sizeof(why), "--listen", "tcp://127.0.0.1:7777"),
                     OPTIONS_WRONG);
    assert_non_null(strstr(why, "every user of this machine"));
    assert_non_null(strstr(why, "--no-keys"));
    assert_int_equal(parse(&o, why, sizeof(why), "--no-keys", "--listen", "tcp://127.0.0.1:7777"),
                     OPTIONS_RUN);
    assert_int_equal(parse(&o, why, sizeof(why), "--no-keys", "--listen", "tcp://0.0.0.0:7777"),
                     OPTIONS_WRONG);
    assert_int_equal(parse(&o, why, sizeof(why), "--listen", "ipc:///tmp/x"), OPTIONS_RUN);
    assert_int_equal(parse(&o, why, sizeof(why), "--listen", "http://127.0.0.1:1"), OPTIONS_WRONG);
}

static void unknown_words_are_named(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--colour", NULL), OPTIONS_WRONG);
    assert_non_null(strstr(why, "--colour"));
    assert_int_equal(parse(&o, why, sizeof(why), "now", NULL), OPTIONS_WRONG);
    assert_non_null(strstr(why, "now"));
    assert_int_equal(parse(&o, why, sizeof(why), "--session", "xyz"), OPTIONS_WRONG);
}

static void recording_is_on_unless_it_is_put_off(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_string_equal(o.record, "/data/holter");
    assert_int_equal(parse(&o, why, sizeof(why), "--no-record", NULL), OPTIONS_RUN);
    assert_null(o.record);
    assert_int_equal(parse(&o, why, sizeof(why), "--record", "here"), OPTIONS_RUN);
    assert_string_equal(o.record, "here");
}

static void on_fault(void *user, const char *text)
{
    snprintf(user, 512, "%s", text);
}

static void rules_come_from_the_command_line_before_the_environment(void **state)
{
    struct daemon_options o;
    struct rules rules;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_null(o.rules);
    setenv("HOLTER_RULES", "/nonexistent/env.yaml", 1);
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_string_equal(o.rules, "/nonexistent/env.yaml");
    assert_int_equal(parse(&o, why, sizeof(why), "--rules", "/nonexistent/r.yaml"), OPTIONS_RUN);
    assert_int_equal(daemon_options_read_rules(&o, &rules, on_fault, why), -ENOENT);
    assert_non_null(strstr(why, "/nonexistent/r.yaml"));
    setenv("HOLTER_RULES", "", 1);
    assert_int_equal(parse(&o, why, sizeof(why), "--check-rules", NULL), OPTIONS_CHECK);
    assert_null(o.rules);
    unsetenv("HOLTER_RULES");
}

static void credentials_of_a_fleet_come_from_the_command_line_before_the_environment(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_null(o.fleet_keys);
    setenv("HOLTER_FLEET_KEYS", "/etc/fleet", 1);
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_string_equal(o.fleet_keys, "/etc/fleet");
    assert_int_equal(parse(&o, why, sizeof(why), "--fleet-keys", "here"), OPTIONS_RUN);
    assert_string_equal(o.fleet_keys, "here");
    unsetenv("HOLTER_FLEET_KEYS");
}

static void a_fleet_needs_servers_and_a_name(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--replay", "x.hrec", "--fleet", "nats://a:1"),
                     OPTIONS_WRONG);
    if (fleet_check("nats://a:4222", NULL, why, sizeof(why)) != 0) {
        assert_non_null(strstr(why, "without fleets"));
        return;
    }
    assert_int_equal(parse(&o, why, sizeof(why), "--fleet", "nats://a:4222,b:4222,nats://c:4222"),
                     OPTIONS_RUN);
    assert_int_equal(o.lease_ns, 3000 * MS);
    assert_int_equal(parse(&o, why, sizeof(why), "--fleet", "a", "--lease", "1s"), OPTIONS_RUN);
    assert_int_equal(o.lease_ns, 1000 * MS);
    assert_int_equal(o.checkpoint_ns, 60000 * MS);
    assert_int_equal(parse(&o, why, sizeof(why), "--checkpoint", "5s"), OPTIONS_RUN);
    assert_int_equal(o.checkpoint_ns, 5000 * MS);
    assert_int_equal(parse(&o, why, sizeof(why), "--checkpoint", "2h"), OPTIONS_WRONG);
    static const char *const servers[] = {"nats://a:4222,", "http://a", "nats://a b", ","};
    for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
        assert_int_equal(parse(&o, why, sizeof(why), "--fleet", servers[i]), OPTIONS_WRONG);
        assert_non_null(strstr(why, "nats://HOST:PORT"));
    }
    static const char *const names[] = {"a.b", "a*", "a b", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(
            parse(&o, why, sizeof(why), "--fleet", "nats://a:1", "--cluster", names[i]),
            OPTIONS_WRONG);
        assert_non_null(strstr(why, "letters, digits"));
    }
    assert_int_equal(parse(&o, why, sizeof(why), "--lease", "0.5s"), OPTIONS_WRONG);
}

static void a_job_is_exported_from_a_fleet_into_a_recording(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--export", "one.1"), OPTIONS_WRONG);
    assert_non_null(strstr(why, "--fleet"));
    if (fleet_check("nats://a:4222", NULL, why, sizeof(why)) != 0)
        return;
    assert_int_equal(
        parse(&o, why, sizeof(why), "--fleet", "nats://a:1", "--export", "one.1", "--no-record"),
        OPTIONS_WRONG);
    assert_int_equal(parse(&o, why, sizeof(why), "--fleet", "nats://a:1", "--export", "one 1"),
                     OPTIONS_WRONG);
    assert_non_null(strstr(why, "the id of a job"));
    assert_int_equal(parse(&o, why, sizeof(why), "--fleet", "nats://a:1", "--export", "one.1"),
                     OPTIONS_RUN);
    assert_string_equal(o.export, "one.1");
    assert_non_null(o.record);
}

static void the_cluster_is_named_by_option_then_environment_then_slurm(void **state)
{
    struct daemon_options o;
    char why[512], name[80];
    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_null(o.cluster);
    setenv("SLURM_CLUSTER_NAME", "slurm", 1);
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_string_equal(o.cluster, "slurm");
    setenv("HOLTER_CLUSTER", "env", 1);
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_string_equal(o.cluster, "env");
    assert_int_equal(parse(&o, why, sizeof(why), "--cluster", "here"), OPTIONS_RUN);
    assert_string_equal(o.cluster, "here");
    assert_int_equal(parse(&o, why, sizeof(why), "--cluster", name), OPTIONS_WRONG);
    setenv("HOLTER_CLUSTER", name, 1); /* of the environment it is not used, and stops nothing */
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_string_equal(o.cluster, "slurm");
    unsetenv("HOLTER_CLUSTER");
    unsetenv("SLURM_CLUSTER_NAME");
}

static void an_external_url_is_one_that_alertmanager_takes(void **state)
{
    static const char *const wrong[] = {
        "desk",          "ftp://desk",     "http://desk/a b",     "http://desk/%zz",
        "http://desk/%", "http://desk/\n", "http://desk/\xc3\xbc"};
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--external-url", "https://d/x?job=%j&a=%20#b"),
                     OPTIONS_RUN);
    assert_string_equal(o.external_url, "https://d/x?job=%j&a=%20#b");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(parse(&o, why, sizeof(why), "--external-url", wrong[i]), OPTIONS_WRONG);
        assert_non_null(strstr(why, "--external-url"));
    }
}

static void metrics_are_off_unless_asked_for_and_never_of_a_replay(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_null(o.metrics);
    assert_int_equal(parse(&o, why, sizeof(why), "--metrics", "127.0.0.1:9464"), OPTIONS_RUN);
    assert_string_equal(o.metrics, "127.0.0.1:9464");
    assert_int_equal(parse(&o, why, sizeof(why), "--check-rules", "--metrics", "9464"),
                     OPTIONS_WRONG);
    assert_non_null(strstr(why, "--metrics 9464: "));
    assert_int_equal(
        parse(&o, why, sizeof(why), "--replay", "x.hrec", "--metrics", "127.0.0.1:9464"),
        OPTIONS_WRONG);
    assert_non_null(strstr(why, "--replay and --metrics exclude each other"));
}

static void sinks_of_the_command_line_come_to_those_of_the_rules(void **state)
{
    struct daemon_options o;
    struct rules rules;
    char why[512] = "";
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--on-alert", "cat"), OPTIONS_RUN);
    assert_int_equal(daemon_options_read_rules(&o, &rules, on_fault, why), 0);
    assert_int_equal(rules.sink_count, 2); /* the terminal is built in */
    assert_string_equal(rules.sinks[1].target, "cat");
    rules_finish(&rules);
    assert_int_equal(parse(&o, why, sizeof(why), "--alertmanager", "h:9093"), OPTIONS_RUN);
    assert_int_equal(daemon_options_read_rules(&o, &rules, on_fault, why), -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "--alertmanager: 'h:9093' is no address"));
    assert_int_equal(parse(&o, why, sizeof(why), "--alert-log", ""), OPTIONS_RUN);
    assert_int_equal(daemon_options_read_rules(&o, &rules, on_fault, why), -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "--alert-log"));
}

static void a_replay_is_recorded_only_when_that_is_asked_for(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--replay", "x.hrec"), OPTIONS_RUN);
    assert_null(o.record);
    assert_true(o.speed == 0 && o.from == NULL);
    assert_int_equal(parse(&o, why, sizeof(why), "--replay=x.hrec", "--record=/tmp"), OPTIONS_RUN);
    assert_string_equal(o.record, "/tmp");
    assert_int_equal(parse(&o, why, sizeof(why), "--replay=x", "--record=/tmp", "--loop"),
                     OPTIONS_WRONG);
    assert_int_equal(parse(&o, why, sizeof(why), "--replay=x", "--record=/tmp", "--from=40%"),
                     OPTIONS_WRONG);
}

static void how_a_replay_goes_is_said_of_replays_only(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--replay=x", "--speed=0.5", "--from=+10s",
                           "--loop", "--paused"),
                     OPTIONS_RUN);
    assert_true(o.speed == 0.5 && o.loop && o.paused);
    assert_string_equal(o.from, "+10s");
    assert_int_equal(parse(&o, why, sizeof(why), "--speed=1"), OPTIONS_WRONG);
    assert_int_equal(parse(&o, why, sizeof(why), "--paused"), OPTIONS_WRONG);
    assert_int_equal(parse(&o, why, sizeof(why), "--replay=x", "--speed=fast"), OPTIONS_WRONG);
    assert_non_null(strstr(why, "fast"));
    assert_int_equal(parse(&o, why, sizeof(why), "--replay=x", "--from=yesterday"), OPTIONS_WRONG);
    assert_non_null(strstr(why, "yesterday"));
    assert_int_equal(parse(&o, why, sizeof(why), "--replay=x", "--loop", "--quit-at-end"),
                     OPTIONS_WRONG);
    assert_int_equal(parse(&o, why, sizeof(why), "--replay=x", "--syslog"), OPTIONS_WRONG);
}

static void a_recording_has_a_size_of_16_MiB_and_more(void **state)
{
    static const char *const wrong[] = {
        "", "x", "15M", "20X", "-20M", "20Mx", "99999999999999999999", "20000000T"};
    struct daemon_options o;
    char why[512];
    uint64_t size;
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), "--max-size", "20G"), OPTIONS_RUN);
    assert_true(o.maximum_record_bytes == UINT64_C(20) << 30);
    assert_int_equal(parse(&o, why, sizeof(why), "--max-size", "16MiB"), OPTIONS_RUN);
    assert_true(o.maximum_record_bytes == UINT64_C(16) << 20);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(parse(&o, why, sizeof(why), "--max-size", wrong[i]), OPTIONS_WRONG);
        assert_non_null(strstr(why, "--max-size"));
    }
    assert_int_equal(quantity_parse_bytes("1000", &size), 0);
    assert_int_equal(size, 1000);
}

static void collectives_take_part_unless_they_are_off(void **state)
{
    struct daemon_options o;
    char why[512];
    (void)state;
    assert_int_equal(parse(&o, why, sizeof(why), NULL, NULL), OPTIONS_RUN);
    assert_false(o.no_collectives);
    assert_int_equal(parse(&o, why, sizeof(why), "--collectives", "off"), OPTIONS_RUN);
    assert_true(o.no_collectives);
    assert_int_equal(parse(&o, why, sizeof(why), "--collectives=modelled", NULL), OPTIONS_RUN);
    assert_false(o.no_collectives);
    assert_int_equal(parse(&o, why, sizeof(why), "--collectives", "some"), OPTIONS_WRONG);
    assert_non_null(strstr(why, "'some'"));
}

int main(void)
{
    unsetenv("HOLTER_KEYS");
    unsetenv("HOLTER_RULES");
    unsetenv("HOLTER_SESSION");
    setenv("HOLTER_DAEMON", "ipc:///tmp/holter-options-test", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test(windows_are_from_100_ms_to_60_s),
        cmocka_unit_test(tcp_endpoints_need_keys_or_on_this_host_permission),
        cmocka_unit_test(unknown_words_are_named),
        cmocka_unit_test(recording_is_on_unless_it_is_put_off),
        cmocka_unit_test(a_replay_is_recorded_only_when_that_is_asked_for),
        cmocka_unit_test(how_a_replay_goes_is_said_of_replays_only),
        cmocka_unit_test(a_recording_has_a_size_of_16_MiB_and_more),
        cmocka_unit_test(collectives_take_part_unless_they_are_off),
        cmocka_unit_test(rules_come_from_the_command_line_before_the_environment),
        cmocka_unit_test(credentials_of_a_fleet_come_from_the_command_line_before_the_environment),
        cmocka_unit_test(a_fleet_needs_servers_and_a_name),
        cmocka_unit_test(a_job_is_exported_from_a_fleet_into_a_recording),
        cmocka_unit_test(the_cluster_is_named_by_option_then_environment_then_slurm),
        cmocka_unit_test(an_external_url_is_one_that_alertmanager_takes),
        cmocka_unit_test(metrics_are_off_unless_asked_for_and_never_of_a_replay),
        cmocka_unit_test(sinks_of_the_command_line_come_to_those_of_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
