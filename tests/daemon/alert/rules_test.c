/* Rules files: what is read, and which faults are reported. */
#include "daemon/alert/rules.h"
#include "daemon/analysis/scopes/scopes.h"
#include "holter/error.h"
#include "holter/wire.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

/* The reported faults, one a line. */
struct rule_faults {
    unsigned count;
    char text[65536];
};

static void on_fault(void *user, const char *text)
{
    struct rule_faults *faults = user;
    size_t used = strlen(faults->text);
    faults->count++;
    snprintf(faults->text + used, sizeof(faults->text) - used, "%s\n", text);
}

static struct rule_faults faults;

static int parse_bytes(struct rules *out, const char *text, size_t length)
{
    faults = (struct rule_faults){0};
    return rules_parse(out, "f.yaml", text, length, on_fault, &faults);
}

/* Parse what has to be right. */
static struct rules right(const char *text)
{
    struct rules rules;
    if (parse_bytes(&rules, text, strlen(text)) != 0)
        fail_msg("refused: %s", faults.text);
    assert_int_equal(faults.count, 0);
    return rules;
}

/* Parse what has to be refused, with this among the reported faults. */
static void wrong(const char *text, const char *expected)
{
    struct rules untouched = {.count = 77};
    assert_int_equal(parse_bytes(&untouched, text, strlen(text)), -HOLTER_EUSAGE);
    assert_int_equal(untouched.count, 77);
    if (strstr(faults.text, expected) == NULL)
        fail_msg("'%s' is not in:\n%s", expected, faults.text);
}

static void wrong_rule(const char *keys, const char *expected)
{
    char text[512];
    snprintf(text, sizeof(text), "rules:\n  - kind: latency\n    %s\n", keys);
    wrong(text, expected);
}

static void defaults_are_a_valid_file_with_every_kind(void **state)
{
    struct rules rules;
    (void)state;
    assert_int_equal(rules_default(&rules), 0);
    for (int kind = 0; kind < RULE_KINDS; kind++)
        assert_non_null(rules_next(&rules, (enum rule_kind)kind, NULL));
    assert_int_equal(rules.sink_count, 1);
    assert_int_equal(rules.sinks[0].kind, SINK_TERMINAL);
    struct rules parsed = right(rules_default_text());
    assert_memory_equal(parsed.list, rules.list, sizeof(rules.list));
    rules_finish(&parsed);
    rules_finish(&rules);
}

static void a_rule_with_its_kind_alone_is_the_default_one(void **state)
{
    struct rules defaults;
    (void)state;
    assert_int_equal(rules_default(&defaults), 0);
    for (size_t i = 0; i < defaults.count; i++) {
        char text[256];
        const struct rule *rule = &defaults.list[i];
        snprintf(text, sizeof(text), "rules: [{kind: %s, name: %s}]", rule_kind_name(rule->kind),
                 rule->name);
        struct rules one = right(text);
        assert_int_equal(one.count, 1);
        assert_memory_equal(&one.list[0], rule, sizeof(*rule));
        rules_finish(&one);
    }
    rules_finish(&defaults);
}

static void every_key_is_read_with_its_unit(void **state)
{
    struct rules rules = right("rules:\n"
                               "  - name: slow.1\n"
                               "    kind: latency\n"
                               "    scope: [node, inter-node]\n"
                               "    above: 2.5x\n"
                               "    clear: 2x\n"
                               "    growth: 60 %/h\n"
                               "    for: 500ms\n"
                               "    clear-for: 1 min\n"
                               "    least-messages: 7\n"
                               "    severity: critical\n"
                               "  - kind: hang\n"
                               "    for: 0.5min\n"
                               "    stopped-for: 2s\n"
                               "    times-longest: 3x\n");
    const struct rule *rule = rules_next(&rules, RULE_LATENCY, NULL);
    (void)state;
    assert_string_equal(rule->name, "slow.1");
    assert_int_equal(rule->scopes, 1 << SCOPE_NODE | 1 << SCOPE_INTER);
    assert_true(rule->above == 2.5 && rule->clear == 2);
    assert_float_equal(rule->growth, 0.01, 1e-12);
    assert_int_equal(rule->for_ns, SECOND / 2);
    assert_int_equal(rule->clear_for_ns, 60 * SECOND);
    assert_int_equal(rule->least_messages, 7);
    assert_int_equal(rule->severity, SEVERITY_CRITICAL);
    assert_null(rules_next(&rules, RULE_LATENCY, rule));
    const struct rule *hang = rules_next(&rules, RULE_HANG, NULL);
    assert_string_equal(hang->name, "hang");
    assert_int_equal(hang->for_ns, 30 * SECOND);
    assert_int_equal(hang->stopped_for_ns, 2 * SECOND);
    assert_true(hang->times_longest == 3);
    assert_null(rules_next(&rules, RULE_RANK_DIED, NULL)); /* taken out: not announced */
    rules_finish(&rules);
}

static void sinks_have_their_targets_and_filters(void **state)
{
    struct rules rules = right("sinks:\n"
                               "  - {kind: file, path: /tmp/a.jsonl, severity: critical}\n"
                               "  - {kind: command, command: \"cat >&2\", timeout: 3s}\n"
                               "  - kind: syslog\n"
                               "  - {kind: alertmanager, url: 'http://h:9093', repeat: 20s}\n");
    (void)state;
    assert_int_equal(rules.sink_count, 4);
    assert_string_equal(rules.sinks[0].target, "/tmp/a.jsonl");
    assert_int_equal(rules.sinks[0].severity, SEVERITY_CRITICAL);
    assert_string_equal(rules.sinks[1].target, "cat >&2");
    assert_int_equal(rules.sinks[1].timeout_ns, 3 * SECOND);
    assert_int_equal(rules.sinks[1].severity, SEVERITY_INFO);
    assert_null(rules.sinks[2].target);
    assert_int_equal(rules.sinks[3].repeat_ns, 20 * SECOND);
    assert_int_equal(rules.sinks[3].timeout_ns, 10 * SECOND);
    assert_non_null(rules_next(&rules, RULE_HANG, NULL)); /* the rules are the built-in ones */
    rules_finish(&rules);
    rules = right("rules: []\n");
    assert_int_equal(rules.count, 0);
    assert_int_equal(rules.sink_count, 1);
    rules_finish(&rules);
}

static void clear_follows_above_when_it_is_not_given(void **state)
{
    struct rules rules = right("rules: [{kind: latency, above: 1.1x}]");
    (void)state;
    assert_float_equal(rules.list[0].clear, 1.04, 1e-12);
    rules_finish(&rules);
    rules = right("rules: [{kind: hang, for: 2s}]");
    assert_int_equal(rules.list[0].stopped_for_ns, 2 * SECOND);
    rules_finish(&rules);
}

static void wrong_units_are_named_with_line_and_key(void **state)
{
    (void)state;
    wrong_rule("above: 1.5", "f.yaml:3: above: '1.5' has no unit; x is expected");
    wrong_rule("above: 150%", "f.yaml:3: above: '150%' has a wrong unit");
    wrong_rule("for: 2", "f.yaml:3: for: '2' has no unit; us, ms, s, min or h is expected");
    wrong_rule("for: 2x", "f.yaml:3: for: '2x' has a wrong unit");
    wrong_rule("for: 2 s s", "f.yaml:3: for: '2 s s' has a wrong unit");
    wrong_rule("growth: 10%",
               "f.yaml:3: growth: '10%' has a wrong unit; %/min, %/h or %/s is expected");
    wrong_rule("least-messages: 20s", "f.yaml:3: least-messages: '20s' has a wrong unit");
    wrong_rule("least-messages: 2.5", "is no whole number");
    wrong_rule("for: -2s", "f.yaml:3: for: '-2s' is negative");
    wrong_rule("for: 1.2.3s", "is no number");
    wrong_rule("for: 1e3s", "has a wrong unit");
    wrong_rule("for: nan", "is no number");
    wrong_rule("for: .s", "is no number");
    wrong_rule("above: 0x10", "has a wrong unit");
}

static void wrong_values_are_named(void **state)
{
    (void)state;
    wrong_rule("above: 1x", "above: '1x' is out of range: 1.01x to 1000x");
    wrong_rule("for: 2h", "for: '2h' is out of range: 0s to 3600s");
    wrong_rule("for: 99999999999999999999999999999999999999s", "is no number");
    wrong_rule("severity: bad", "severity: 'bad' is none of info, warning, critical");
    wrong_rule("scope: [job, region]", "scope: 'region' is none of job, intra-node");
    wrong_rule("scope: [job, job]", "scope: 'job' stands there twice");
    wrong_rule("scope: []", "scope: the list is empty");
    wrong_rule("scope: {a: b}", "scope: a map stands here");
    wrong_rule("name: a b", "name: 'a b'");
    wrong_rule("name: ''", "name: the value is missing");
    wrong_rule("for:", "f.yaml:3: for: the value is missing");
    wrong_rule("for: [2s]", "for: a list stands here, one value is expected");
    wrong("rules: [{name: x}]", "f.yaml:1: kind: is missing in this rule");
    wrong("rules: [{kind: latencies}]", "kind: 'latencies' is none of latency, hang");
    wrong("sinks: [{kind: file}]", "path: is missing in this sink of kind file");
    wrong("sinks: [{kind: file, path: ~/alerts}]", "path: '~' does not stand for a home directory");
    wrong("sinks: [{kind: alertmanager, url: 127.0.0.1:9093}]", "is no address");
    wrong("sinks: [{kind: alertmanager, url: 'http://'}]", "is no address");
    wrong("sinks: [{kind: alertmanager, url: 'http://h:99999'}]", "is no address");
    wrong("sinks: [{kind: alertmanager, url: 'http://h:93x'}]", "is no address");
    wrong("sinks: [{kind: command, command: x, timeout: 1h}]", "timeout: '1h' is out of range");
}

static void unknown_keys_are_named_with_those_that_are_known(void **state)
{
    (void)state;
    wrong_rule("abov: 2x", "f.yaml:3: abov: unknown key; a rule of kind latency has kind, name");
    wrong("rules:\n  - kind: hang\n    above: 2x\n", "f.yaml:3: above: does not belong here");
    wrong("rules:\n  - kind: rank-died\n    for: 2s\n", "f.yaml:3: for: does not belong here");
    wrong("rule: []", "f.yaml:1: rule: unknown key; a file has rules, sinks");
    wrong("sinks: [{kind: syslog, path: /x}]", "path: does not belong here");
    wrong_rule("? [a]\n    : b", "a list stands where a key is expected");
}

static void contradictions_are_named(void **state)
{
    (void)state;
    wrong_rule("above: 1.5x\n    clear: 1.5x", "f.yaml:4: clear: 1.5x is not below `above`, 1.5x");
    wrong_rule("clear: 3x", "f.yaml:3: clear: 3x is not below `above`, 1.2x");
    wrong("rules: [{kind: hang, for: 2s, stopped-for: 3s}]", "stopped-for: 3s is longer than");
    wrong("rules:\n- {kind: latency, name: a}\n- {kind: hang, name: a}",
          "f.yaml:3: name: 'a' is another rule's already");
    wrong("rules:\n- {kind: latency}\n- {kind: latency}", "name: 'latency' is another rule's");
    wrong("rules:\n- {kind: hang}\n- {kind: hang, name: b}",
          "f.yaml:3: kind: there is a rule of kind hang already");
    wrong_rule("above: 2x\n    above: 3x", "f.yaml:4: above: stands there twice");
    wrong("rules: []\nrules: []", "f.yaml:2: rules: stands there twice");
    wrong("sinks:\n- {kind: syslog}\n- {kind: syslog, severity: info}", "f.yaml:3: kind: the same");
    wrong("sinks:\n- {kind: file, path: a}\n- {kind: file, path: a}", "the same sink");
}

static void all_faults_are_reported_not_only_the_first(void **state)
{
    (void)state;
    wrong("rules:\n"
          "  - kind: latency\n"
          "    above: 1\n"
          "    colour: red\n"
          "  - kind: hang\n"
          "    for: 3x\n"
          "  - {}\n"
          "sinks:\n"
          "  - kind: pager\n",
          "f.yaml:3: above");
    assert_int_equal(faults.count, 5);
    assert_non_null(strstr(faults.text, "f.yaml:4: colour"));
    assert_non_null(strstr(faults.text, "f.yaml:6: for"));
    assert_non_null(strstr(faults.text, "f.yaml:7: kind: is missing"));
    assert_non_null(strstr(faults.text, "f.yaml:9: kind: 'pager'"));
}

static void other_shapes_are_refused(void **state)
{
    (void)state;
    wrong("", "f.yaml:1: the file holds nothing");
    wrong("# nothing\n", "the file holds nothing");
    wrong("text", "a text stands here, `rules:` or `sinks:` is expected");
    wrong("- a", "a list stands here");
    wrong("rules: latency", "rules: a text stands here, a list is expected");
    wrong("rules: {kind: latency}", "rules: a map stands here, a list is expected");
    wrong("rules: [latency]", "rules: a text stands here, keys and values are expected");
    wrong("rules: []\n---\nrules: []\n", "f.yaml:2: a second document begins");
    wrong("rules:\n\t- kind: latency", "f.yaml:2: not YAML");
    wrong("rules: [\n", "not YAML");
    wrong("rules: \xff\xfe", "not YAML");
    wrong("rules: !!binary aGk=", "anchors (&) and tags (!) are not taken");
    wrong("rules: &a []", "anchors (&) and tags (!) are not taken");
    wrong("rules: [{kind: \"lat\\0ency\"}]", "a text holds a NUL byte");
    wrong("rules: [{kind: \"a\\nb\\e[31m\"}]", "kind: 'a?b?[31m'");
}

static void hostile_files_are_bounded(void **state)
{
    size_t length = 0;
    static char text[RULES_BYTES + 64];
    (void)state;
    wrong("a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n", "f.yaml:1: anchors");
    wrong("rules: [*a]", "not taken");
    memset(text, '[', 100000);
    text[100000] = '\0';
    wrong(text, "nested too deeply");
    memset(text, '{', 100000);
    wrong(text, "nested too deeply");
    for (length = 0; length < 100000; length += 2)
        memcpy(text + length, "- ", 2);
    text[length] = '\0';
    wrong(text, "nested too deeply");
    length = (size_t)sprintf(text, "rules:\n");
    while (length < 200000)
        length += (size_t)sprintf(text + length, "- x\n");
    wrong(text, "too many values");
    length = (size_t)sprintf(text, "rules:\n");
    for (int i = 0; i < 3000; i++)
        length += (size_t)sprintf(text + length, "- x\n");
    wrong(text, "f.yaml: and more");
    assert_int_equal(faults.count, 101);
    length = (size_t)sprintf(text, "rules:\n");
    for (int i = 0; i < 100; i++)
        length += (size_t)sprintf(text + length, "- {kind: latency, name: n%d}\n", i);
    wrong(text, "f.yaml:66: rules: more than 64 of them");
}

static void files_that_cannot_be_read_are_reported(void **state)
{
    struct rules rules;
    char directory[DIRECTORY_ROOM], path[96];
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/r", directory);
    faults = (struct rule_faults){0};
    assert_int_equal(rules_read(&rules, path, on_fault, &faults), -ENOENT);
    assert_int_equal(faults.count, 1);
    assert_int_equal(rules_read(&rules, directory, on_fault, &faults), -EISDIR);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(rules_read(&rules, path, on_fault, &faults), -HOLTER_EUSAGE);
    assert_non_null(strstr(faults.text, "holds nothing"));
    assert_int_equal(rules_read(&rules, "/dev/zero", on_fault, &faults), -HOLTER_EUSAGE);
    assert_non_null(strstr(faults.text, "longer than 256 KiB"));
    assert_int_equal(faults.count, 4);
    assert_int_equal(directory_remove(directory), 0);
}

static void sinks_of_the_command_line_are_checked_alike(void **state)
{
    struct rules rules;
    char why[300];
    (void)state;
    assert_int_equal(rules_default(&rules), 0);
    assert_int_equal(rules_add_sink(&rules, SINK_SYSLOG, NULL, why, sizeof(why)), 0);
    assert_int_equal(rules_add_sink(&rules, SINK_FILE, "/tmp/x", why, sizeof(why)), 0);
    assert_int_equal(rules_add_sink(&rules, SINK_ALERTMANAGER, "ftp://x", why, sizeof(why)),
                     -HOLTER_EUSAGE);
    assert_non_null(strstr(why, "ftp://x"));
    assert_int_equal(rules_add_sink(&rules, SINK_COMMAND, "", why, sizeof(why)), -HOLTER_EUSAGE);
    assert_int_equal(rules.sink_count, 3);
    assert_int_equal(rules_add_sink(&rules, SINK_SYSLOG, NULL, why, sizeof(why)), 0);
    assert_int_equal(rules.sink_count, 3); /* it was there */
    while (rules.sink_count < RULES_SINKS_MAXIMUM) {
        char file[32];
        snprintf(file, sizeof(file), "/tmp/%zu", rules.sink_count);
        assert_int_equal(rules_add_sink(&rules, SINK_FILE, file, why, sizeof(why)), 0);
    }
    assert_int_equal(rules_add_sink(&rules, SINK_FILE, "/", why, sizeof(why)), -HOLTER_EUSAGE);
    rules_finish(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_a_valid_file_with_every_kind),
        cmocka_unit_test(a_rule_with_its_kind_alone_is_the_default_one),
        cmocka_unit_test(every_key_is_read_with_its_unit),
        cmocka_unit_test(sinks_have_their_targets_and_filters),
        cmocka_unit_test(clear_follows_above_when_it_is_not_given),
        cmocka_unit_test(wrong_units_are_named_with_line_and_key),
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(unknown_keys_are_named_with_those_that_are_known),
        cmocka_unit_test(contradictions_are_named),
        cmocka_unit_test(all_faults_are_reported_not_only_the_first),
        cmocka_unit_test(other_shapes_are_refused),
        cmocka_unit_test(hostile_files_are_bounded),
        cmocka_unit_test(files_that_cannot_be_read_are_reported),
        cmocka_unit_test(sinks_of_the_command_line_are_checked_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
