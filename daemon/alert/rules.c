/* Reads rules files: sections, rules and sinks, by tables of keys. */
#include "daemon/alert/rules.h"

#include "daemon/alert/rules_entry.h"
#include "holter/error.h"
#include "holter/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAXIMUM 8192u
#define SECOND UINT64_C(1000000000)
#define HOUR_NS 3600e9

static const char *const rule_kinds[] = {
#define X(NAME, text, most) text,
    RULE_KINDS_LIST(X)
#undef X
};

static const unsigned rule_maxima[] = {
#define X(NAME, text, most) most,
    RULE_KINDS_LIST(X)
#undef X
};

static const char *const sink_kinds[] = {"terminal", "file", "command", "syslog", "alertmanager"};
static const char *const switches[] = {"false", "true"};
static const char *const severities[] = {"info", "warning", "critical"};
/* In the order of enum scope_kind (daemon/analysis/scopes/scopes.h). */
static const char *const scopes[] = {"job",       "intra-node", "inter-node", "node",
                                     "node-pair", "link",       "rank"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct entry_words severity_words = {severities, COUNT(severities)};
static const struct entry_words switch_words = {switches, COUNT(switches)};
static const struct entry_words scope_words = {scopes, COUNT(scopes)};

static const struct rule rule_fallbacks[RULE_KINDS] = {
    [RULE_LATENCY] = {.severity = SEVERITY_WARNING,
                      .capture = 1,
                      .scopes = 127,
                      .above = 1.2,
                      .growth = 0.1,
                      .least_messages = 20,
                      .for_ns = SECOND / 2,
                      .clear_for_ns = 5 * SECOND},
    [RULE_HANG] = {.severity = SEVERITY_CRITICAL,
                   .capture = 1,
                   .for_ns = 10 * SECOND,
                   .times_longest = 5},
    [RULE_RANK_DIED] = {.severity = SEVERITY_CRITICAL, .capture = 1},
    [RULE_AGENT_LOST] = {.severity = SEVERITY_WARNING},
    [RULE_RANKS_UNWATCHED] = {.severity = SEVERITY_WARNING},
    [RULE_DATA_LOST] = {.severity = SEVERITY_WARNING},
    [RULE_RECORDING_STOPPED] = {.severity = SEVERITY_WARNING},
};

static const struct sink_rule sink_fallbacks[SINK_KINDS] = {
    [SINK_COMMAND] = {.timeout_ns = 10 * SECOND},
    [SINK_ALERTMANAGER] = {.timeout_ns = 10 * SECOND, .repeat_ns = 60 * SECOND},
};

/* ---- keys ---------------------------------------------------------------- */

#define LATENCY ENTRY_OF(RULE_LATENCY)
#define HANG ENTRY_OF(RULE_HANG)
#define COMMAND ENTRY_OF(SINK_COMMAND)
#define ALERTMANAGER ENTRY_OF(SINK_ALERTMANAGER)
#define RULE_AT(member) offsetof(struct rule, member)
#define SINK_AT(member) offsetof(struct sink_rule, member)
#define NUMBER(measure, minimum, maximum)                                                          \
    NULL,                                                                                          \
    {                                                                                              \
        measure, minimum, maximum                                                                  \
    }
#define NO_NUMBER                                                                                  \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }

static const struct entry_key rule_keys[] = {
    {"kind", ENTRY_EVERY, ENTRY_KIND, 0, NULL, NO_NUMBER},
    {"name", ENTRY_EVERY, ENTRY_NAME, RULE_AT(name), NULL, NO_NUMBER},
    {"severity", ENTRY_EVERY, ENTRY_WORD, RULE_AT(severity), &severity_words, NO_NUMBER},
    {"capture", ENTRY_EVERY, ENTRY_WORD, RULE_AT(capture), &switch_words, NO_NUMBER},
    {"scope", LATENCY, ENTRY_WORDS, RULE_AT(scopes), &scope_words, NO_NUMBER},
    {"above", LATENCY, ENTRY_REAL, RULE_AT(above), NUMBER(MEASURE_RATIO, 1.01, 1000)},
    {"clear", LATENCY, ENTRY_REAL, RULE_AT(clear), NUMBER(MEASURE_RATIO, 1, 1000)},
    {"growth", LATENCY, ENTRY_REAL, RULE_AT(growth), NUMBER(MEASURE_GROWTH, 1e-4, 100)},
    {"least-messages", LATENCY, ENTRY_INTEGER, RULE_AT(least_messages),
     NUMBER(MEASURE_COUNT, 1, 1e9)},
    {"for", LATENCY, ENTRY_INTEGER, RULE_AT(for_ns), NUMBER(MEASURE_TIME, 0, HOUR_NS)},
    {"clear-for", LATENCY, ENTRY_INTEGER, RULE_AT(clear_for_ns), NUMBER(MEASURE_TIME, 0, HOUR_NS)},
    {"for", HANG, ENTRY_INTEGER, RULE_AT(for_ns), NUMBER(MEASURE_TIME, 1e9, 24 * HOUR_NS)},
    {"stopped-for", HANG, ENTRY_INTEGER, RULE_AT(stopped_for_ns),
     NUMBER(MEASURE_TIME, 1e9, 24 * HOUR_NS)},
    {"times-longest", HANG, ENTRY_REAL, RULE_AT(times_longest), NUMBER(MEASURE_RATIO, 1, 1000)},
};

static const struct entry_key sink_keys[] = {
    {"kind", ENTRY_EVERY, ENTRY_KIND, 0, NULL, NO_NUMBER},
    {"severity", ENTRY_EVERY, ENTRY_WORD, SINK_AT(severity), &severity_words, NO_NUMBER},
    {"path", ENTRY_OF(SINK_FILE), ENTRY_TARGET, SINK_AT(target), NULL, NO_NUMBER},
    {"command", COMMAND, ENTRY_TARGET, SINK_AT(target), NULL, NO_NUMBER},
    {"url", ALERTMANAGER, ENTRY_URL, SINK_AT(target), NULL, NO_NUMBER},
    {"timeout", COMMAND | ALERTMANAGER, ENTRY_INTEGER, SINK_AT(timeout_ns),
     NUMBER(MEASURE_TIME, 1e8, 600e9)},
    {"repeat", ALERTMANAGER, ENTRY_INTEGER, SINK_AT(repeat_ns), NUMBER(MEASURE_TIME, 1e9, HOUR_NS)},
};

static const struct entry_section rule_section = {
    "rule", {rule_kinds, RULE_KINDS}, rule_keys, COUNT(rule_keys)};
static const struct entry_section sink_section = {
    "sink", {sink_kinds, SINK_KINDS}, sink_keys, COUNT(sink_keys)};

static int rules_key_is_target(const struct entry_key *key, enum sink_kind kind)
{
    return (key->type == ENTRY_TARGET || key->type == ENTRY_URL) &&
           (key->kinds & ENTRY_OF(kind)) != 0;
}

/* ---- rules and sinks ----------------------------------------------------- */

/* Line of a key, 0 when it is not given. */
static unsigned rules_line(const struct tree_node *map, const char *name)
{
    const struct tree_node *key = tree_key(map, name);
    return key == NULL ? 0 : key->line;
}

static void rules_check_latency(struct faults *r, const struct tree_node *map, struct rule *rule)
{
    unsigned line = rules_line(map, "clear");
    if (line == 0)
        rule->clear = 1 + 0.4 * (rule->above - 1);
    else if (rule->clear >= rule->above)
        fault_at(r, line, "clear: %gx is not below `above`, %gx", rule->clear, rule->above);
}

static void rules_check_hang(struct faults *r, const struct tree_node *map, struct rule *rule)
{
    unsigned line = rules_line(map, "stopped-for");
    if (line == 0)
        rule->stopped_for_ns = rule->for_ns < 3 * SECOND ? rule->for_ns : 3 * SECOND;
    else if (rule->stopped_for_ns > rule->for_ns)
        fault_at(r, line, "stopped-for: %gs is longer than `for`, %gs",
                 (double)rule->stopped_for_ns * 1e-9, (double)rule->for_ns * 1e-9);
}

static void rules_check_rule(struct faults *r, const struct tree_node *map,
                             const struct rules *rules, struct rule *rule)
{
    unsigned line = rules_line(map, "name"), same = 0;
    if (rule->name[0] == '\0')
        snprintf(rule->name, sizeof(rule->name), "%s", rule_kinds[rule->kind]);
    for (size_t i = 0; i < rules->count; i++) {
        same += rules->list[i].kind == rule->kind;
        if (strcmp(rules->list[i].name, rule->name) == 0)
            fault_at(r, line == 0 ? map->line : line, "name: '%s' is another rule's already",
                     rule->name);
    }
    if (same >= rule_maxima[rule->kind])
        fault_at(r, rules_line(map, "kind"), "kind: there is a rule of kind %s already",
                 rule_kinds[rule->kind]);
    if (rule->kind == RULE_LATENCY)
        rules_check_latency(r, map, rule);
    if (rule->kind == RULE_HANG)
        rules_check_hang(r, map, rule);
}

static void rules_read_rule(struct faults *r, const struct tree_node *map, struct rules *rules)
{
    int kind = entry_read_kind(r, &rule_section, map);
    if (kind < 0)
        return;
    if (rules->count == RULES_MAXIMUM) {
        fault_at(r, map->line, "rules: more than %u of them", RULES_MAXIMUM);
        return;
    }
    struct rule rule = rule_fallbacks[kind];
    rule.kind = (enum rule_kind)kind;
    entry_read_keys(r, &rule_section, map, kind, &rule);
    rules_check_rule(r, map, rules, &rule);
    rules->list[rules->count++] = rule;
}

static int rules_sink_has_target(enum sink_kind kind)
{
    return kind == SINK_FILE || kind == SINK_COMMAND || kind == SINK_ALERTMANAGER;
}

static int rules_equal_sinks(const struct sink_rule *a, const struct sink_rule *b)
{
    if (a->kind != b->kind || a->target == NULL || b->target == NULL)
        return a->kind == b->kind && a->target == b->target;
    return strcmp(a->target, b->target) == 0;
}

static void rules_read_sink(struct faults *r, const struct tree_node *map, struct rules *rules)
{
    int kind = entry_read_kind(r, &sink_section, map);
    if (kind < 0)
        return;
    if (rules->sink_count == RULES_SINKS_MAXIMUM) {
        fault_at(r, map->line, "sinks: more than %u of them", RULES_SINKS_MAXIMUM);
        return;
    }
    struct sink_rule *sink = &rules->sinks[rules->sink_count];
    *sink = sink_fallbacks[kind];
    sink->kind = (enum sink_kind)kind;
    entry_read_keys(r, &sink_section, map, kind, sink);
    if (rules_sink_has_target(sink->kind) && sink->target == NULL) {
        for (size_t i = 0; i < sink_section.key_count; i++) {
            const struct entry_key *key = &sink_section.keys[i];
            if (rules_key_is_target(key, sink->kind) && tree_key(map, key->name) == NULL)
                fault_at(r, map->line, "%.40s: is missing in this sink of kind %s", key->name,
                         sink_kinds[kind]);
        }
    }
    for (size_t i = 0; i < rules->sink_count; i++) {
        if (rules_equal_sinks(&rules->sinks[i], sink))
            fault_at(r, map->line, "kind: the same sink stands there twice");
    }
    rules->sink_count++;
}

typedef void rules_item_reader(struct faults *r, const struct tree_node *map, struct rules *rules);

static void rules_read_list(struct faults *r, const char *key, const struct tree_node *list,
                            struct rules *rules, rules_item_reader *read)
{
    if (list->kind != TREE_LIST) {
        fault_at(r, list->line, "%.40s: %s stands here, a list is expected (`- kind: ...`)", key,
                 tree_kind_name(list));
        return;
    }
    for (const struct tree_node *item = list->child; item != NULL; item = item->next) {
        if (item->kind == TREE_MAP)
            read(r, item, rules);
        else
            fault_at(r, item->line, "%.40s: %s stands here, keys and values are expected", key,
                     tree_kind_name(item));
    }
}

static void rules_read_root(struct faults *r, const struct tree_node *root, struct rules *rules)
{
    if (root->kind != TREE_MAP) {
        fault_at(r, root->line, "%s stands here, `rules:` or `sinks:` is expected",
                 tree_kind_name(root));
        return;
    }
    for (const struct tree_node *k = root->child; k != NULL; k = k->next->next) {
        if (k->kind != TREE_TEXT)
            fault_at(r, k->line, "%s stands where a key is expected", tree_kind_name(k));
        else if (tree_is_repeated(root, k))
            fault_at(r, k->line, "%.40s: stands there twice", k->text);
        else if (strcmp(k->text, "rules") == 0)
            rules_read_list(r, "rules", k->next, rules, rules_read_rule);
        else if (strcmp(k->text, "sinks") == 0)
            rules_read_list(r, "sinks", k->next, rules, rules_read_sink);
        else
            fault_at(r, k->line, "%.40s: unknown key; a file has rules, sinks", k->text);
    }
}

/* ---- reading ------------------------------------------------------------- */

/* Sections that are not given are those of the defaults. */
static int rules_add_defaults(const struct tree_node *root, struct rules *rules)
{
    struct rules defaults;
    int has_rules = tree_key(root, "rules") != NULL, has_sinks = tree_key(root, "sinks") != NULL;
    if (has_rules && has_sinks)
        return 0;
    int code = rules_default(&defaults);
    if (code != 0)
        return code;
    if (!has_rules) {
        memcpy(rules->list, defaults.list, sizeof(rules->list));
        rules->count = defaults.count;
    }
    if (!has_sinks) {
        memcpy(rules->sinks, defaults.sinks, sizeof(rules->sinks));
        rules->sink_count = defaults.sink_count;
        defaults.sink_count = 0; /* the targets were moved */
    }
    rules_finish(&defaults);
    return 0;
}

int rules_parse(struct rules *out, const char *name, const char *text, size_t length,
                file_fault *on_fault, void *user)
{
    struct faults r = {name, on_fault, user, 0};
    struct tree tree = {0};
    struct rules rules = {.count = 0};
    struct tree_fault fault;
    int code = tree_read(&tree, text, length, VALUES_MAXIMUM, &fault);
    if (code != 0) {
        fault_at(&r, fault.line, "%s", fault.why);
        return code;
    }
    rules_read_root(&r, &tree.nodes[0], &rules);
    if (r.count == 0 && (code = rules_add_defaults(&tree.nodes[0], &rules)) != 0)
        fault_at(&r, 1, "no memory");
    tree_finish(&tree);
    if (r.count > 0) {
        rules_finish(&rules);
        return code != 0 ? code : -HOLTER_EUSAGE;
    }
    *out = rules;
    return 0;
}

int rules_read(struct rules *out, const char *path, file_fault *on_fault, void *user)
{
    struct faults faults = {path, on_fault, user, 0};
    char *text;
    size_t length;
    int code = file_text(&text, &length, path, RULES_BYTES, &faults);
    if (code != 0)
        return code == -HOLTER_ELIMIT ? -HOLTER_EUSAGE : code;
    code = rules_parse(out, path, text, length, on_fault, user);
    free(text);
    return code;
}

void rules_finish(struct rules *rules)
{
    /* All places, as a sink that was read in part is not counted. */
    for (size_t i = 0; i < RULES_SINKS_MAXIMUM; i++)
        free(rules->sinks[i].target);
    *rules = (struct rules){.count = 0};
}

/* ---- accessors ----------------------------------------------------------- */

const struct rule *rules_next(const struct rules *rules, enum rule_kind kind,
                              const struct rule *after)
{
    for (size_t i = after == NULL ? 0 : (size_t)(after - rules->list) + 1; i < rules->count; i++) {
        if (rules->list[i].kind == kind)
            return &rules->list[i];
    }
    return NULL;
}

const char *rule_kind_name(enum rule_kind kind)
{
    return rule_kinds[kind];
}

const char *severity_name(enum severity severity)
{
    return severities[severity];
}

enum severity severity_parse(const char *name)
{
    for (size_t i = 0; name != NULL && i < COUNT(severities); i++) {
        if (strcmp(name, severities[i]) == 0)
            return (enum severity)i;
    }
    return SEVERITY_WARNING;
}

int rules_add_sink(struct rules *rules, enum sink_kind kind, const char *target, char *why,
                   size_t capacity)
{
    struct sink_rule sink = sink_fallbacks[kind];
    sink.kind = kind;
    sink.target = (char *)(uintptr_t)target;
    for (size_t i = 0; i < rules->sink_count; i++) {
        if (rules_equal_sinks(&rules->sinks[i], &sink))
            return 0; /* the one of the file has its own filters */
    }
    sink.target = NULL;
    if (rules->sink_count == RULES_SINKS_MAXIMUM) {
        snprintf(why, capacity, "more than %u sinks", RULES_SINKS_MAXIMUM);
        return -HOLTER_EUSAGE;
    }
    for (size_t i = 0; i < sink_section.key_count; i++) {
        const struct entry_key *key = &sink_keys[i];
        if (!rules_key_is_target(key, kind))
            continue;
        if (target == NULL || target[0] == '\0') {
            snprintf(why, capacity, "%s is empty", key->name);
            return -HOLTER_EUSAGE;
        }
        if (!entry_is_target(key, target, why, capacity))
            return -HOLTER_EUSAGE;
        if ((sink.target = strdup(target)) == NULL) {
            snprintf(why, capacity, "no memory");
            return -ENOMEM;
        }
    }
    rules->sinks[rules->sink_count++] = sink;
    return 0;
}
