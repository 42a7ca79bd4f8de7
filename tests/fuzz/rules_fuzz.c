/* Any text to the reader of alert rules. */
#include "daemon/alert/rules.h"
#include "holter/error.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void on_fault(void *user, const char *text)
{
    unsigned *faults = user;
    FUZZ_HOLDS(strncmp(text, "f:", 2) == 0);
    for (const char *c = text; *c != '\0'; c++)
        FUZZ_HOLDS((unsigned char)*c >= 0x20 && *c != 0x7f);
    ++*faults;
}

static void check_rule(const struct rules *rules, size_t at)
{
    const struct rule *r = &rules->list[at];
    FUZZ_HOLDS(r->name[0] != '\0' && strlen(r->name) <= 64);
    FUZZ_HOLDS(r->kind < RULE_KINDS && r->severity <= SEVERITY_CRITICAL);
    if (r->kind == RULE_LATENCY) {
        FUZZ_HOLDS(r->above > 1 && r->clear >= 1 && r->clear < r->above && r->growth > 0);
        FUZZ_HOLDS(r->least_messages > 0 && r->scopes > 0 && r->scopes < 128);
    }
    if (r->kind == RULE_HANG)
        FUZZ_HOLDS(r->stopped_for_ns <= r->for_ns && r->times_longest >= 1);
    for (size_t i = 0; i < at; i++)
        FUZZ_HOLDS(strcmp(rules->list[i].name, r->name) != 0);
}

static void parse(const char *text, size_t size)
{
    struct rules rules;
    unsigned faults = 0;
    memset(&rules, 0x5a, sizeof rules);
    int error = rules_parse(&rules, "f", text, size, on_fault, &faults);
    FUZZ_HOLDS(error == 0 || error == -HOLTER_EUSAGE || error == -ENOMEM);
    FUZZ_HOLDS((error == 0) == (faults == 0) && faults <= 101);
    if (error != 0) {
        FUZZ_HOLDS(rules.count == (size_t)0x5a5a5a5a5a5a5a5a); /* not touched */
        return;
    }
    FUZZ_HOLDS(rules.count <= RULES_MAXIMUM && rules.sink_count <= RULES_SINKS_MAXIMUM);
    for (size_t i = 0; i < rules.count; i++)
        check_rule(&rules, i);
    for (size_t i = 0; i < rules.sink_count; i++) {
        const struct sink_rule *s = &rules.sinks[i];
        int takes_target = s->kind != SINK_TERMINAL && s->kind != SINK_SYSLOG;
        FUZZ_HOLDS(s->kind < SINK_KINDS && (s->target != NULL) == takes_target);
    }
    rules_finish(&rules);
}

/* As it is, and with what is no text replaced by what means something in YAML: else nearly all that
 * is changed at random fails at its first byte that is no UTF-8. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char telling[] = " :-[]{},#'\"\n&*!|>%?0159smx./\t\\";
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    for (size_t i = 0; i < size; i++) {
        int plain = data[i] == '\n' || (data[i] >= 0x20 && data[i] < 0x7f);
        text[i] = plain ? (char)data[i] : telling[data[i] % (sizeof telling - 1)];
    }
    parse((const char *)data, size);
    parse(text, size);
    free(text);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *out)
{
    static const char *const seeds[] = {
        "rules:\n- kind: latency\n  name: a\n  scope: [job, region]\n  above: 2x\n  clear: 1.5x\n"
        "  for: 500ms\n  clear-for: 1min\n  growth: 5%/min\n  least-messages: 9\n",
        "rules:\n- {kind: hang, for: 10s, stopped-for: 3s, times-longest: 5x}\n- {kind: data-lost}",
        "sinks:\n- {kind: command, command: \"cat\\n\", timeout: 3s}\n- kind: syslog\n"
        "- {kind: file, path: /tmp/x, severity: critical}\n",
        "sinks:\n- kind: alertmanager\n  url: 'http://127.0.0.1:9093'\n  repeat: 20s\n",
        "a: &a [x, *a]\nb: !!map {? [k] : v}\n--- |\n text\n...\n",
    };
    const char *text = number == 0                              ? rules_default_text()
                       : number <= sizeof seeds / sizeof *seeds ? seeds[number - 1]
                                                                : NULL;
    if (text == NULL)
        return SIZE_MAX;
    memcpy(out, text, strlen(text));
    return strlen(text);
}
