#include "daemon/rules.h"

#include "daemon/rules_value.h"
#include "daemon/yaml_tree.h"
#include "holter/error.h"
#include "holter/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FAULTS 100u
#define MOST_VALUES 8192u
#define SECOND UINT64_C(1000000000)
#define HOUR_NS 3600e9
#define MOST_KEYS 16u
#define MOST_TARGET 4096u

static const char *const rule_kinds[] = {
#define X(NAME, text, most) text,
    RULE_KINDS_LIST(X)
#undef X
};

static const unsigned rule_most[] = {
#define X(NAME, text, most) most,
    RULE_KINDS_LIST(X)
#undef X
};

static const char *const sink_kinds[] = {"terminal", "file", "command", "syslog", "alertmanager"};
static const char *const switches[] = {"false", "true"};
static const char *const severities[] = {"info", "warning", "critical"};
/* In the order of enum series_scope. */
static const char *const scopes[] = {"job", "intra-node", "inter-node", "region"};

static const struct rule rule_fallbacks[RULE_KINDS] = {
    [RULE_LATENCY] = {.severity = SEVERITY_WARNING,
                      .capture = 1,
                      .scopes = 15,
                      .above = 1.5,
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
    [RULE_DATA_LOST] = {.severity = SEVERITY_WARNING},
    [RULE_RECORDING_STOPPED] = {.severity = SEVERITY_WARNING},
};

static const struct sink_rule sink_fallbacks[SINK_KINDS] = {
    [SINK_COMMAND] = {.timeout_ns = 10 * SECOND},
    [SINK_ALERTMANAGER] = {.timeout_ns = 10 * SECOND, .repeat_ns = 60 * SECOND},
};

/* ---- keys ---------------------------------------------------------------- */

enum key_type {
    KEY_KIND,
    KEY_NAME,
    KEY_SEVERITY,
    KEY_SWITCH,
    KEY_SCOPES,
    KEY_INTEGER,
    KEY_REAL,
    KEY_TARGET
};

struct key {
    const char *name;
    unsigned kinds; /* bits of those that have it */
    enum key_type type;
    size_t offset;
    enum measure measure;
    double least, most;
};

#define EVERY (~0u)
#define OF(kind) (1u << (kind))
#define RULE_AT(member) offsetof(struct rule, member)
#define SINK_AT(member) offsetof(struct sink_rule, member)

static const struct key rule_keys[] = {
    {"kind", EVERY, KEY_KIND, 0, 0, 0, 0},
    {"name", EVERY, KEY_NAME, RULE_AT(name), 0, 0, 0},
    {"severity", EVERY, KEY_SEVERITY, RULE_AT(severity), 0, 0, 0},
    {"capture", EVERY, KEY_SWITCH, RULE_AT(capture), 0, 0, 0},
    {"scope", OF(RULE_LATENCY), KEY_SCOPES, RULE_AT(scopes), 0, 0, 0},
    {"above", OF(RULE_LATENCY), KEY_REAL, RULE_AT(above), MEASURE_RATIO, 1.01, 1000},
    {"clear", OF(RULE_LATENCY), KEY_REAL, RULE_AT(clear), MEASURE_RATIO, 1, 1000},
    {"growth", OF(RULE_LATENCY), KEY_REAL, RULE_AT(growth), MEASURE_GROWTH, 1e-4, 100},
    {"least-messages", OF(RULE_LATENCY), KEY_INTEGER, RULE_AT(least_messages), MEASURE_COUNT, 1,
     1e9},
    {"for", OF(RULE_LATENCY), KEY_INTEGER, RULE_AT(for_ns), MEASURE_TIME, 0, HOUR_NS},
    {"clear-for", OF(RULE_LATENCY), KEY_INTEGER, RULE_AT(clear_for_ns), MEASURE_TIME, 0, HOUR_NS},
    {"for", OF(RULE_HANG), KEY_INTEGER, RULE_AT(for_ns), MEASURE_TIME, 1e9, 24 * HOUR_NS},
    {"stopped-for", OF(RULE_HANG), KEY_INTEGER, RULE_AT(stopped_for_ns), MEASURE_TIME, 1e9,
     24 * HOUR_NS},
    {"times-longest", OF(RULE_HANG), KEY_REAL, RULE_AT(times_longest), MEASURE_RATIO, 1, 1000},
};

static const struct key sink_keys[] = {
    {"kind", EVERY, KEY_KIND, 0, 0, 0, 0},
    {"severity", EVERY, KEY_SEVERITY, SINK_AT(severity), 0, 0, 0},
    {"path", OF(SINK_FILE), KEY_TARGET, SINK_AT(target), 0, 0, 0},
    {"command", OF(SINK_COMMAND), KEY_TARGET, SINK_AT(target), 0, 0, 0},
    {"url", OF(SINK_ALERTMANAGER), KEY_TARGET, SINK_AT(target), 0, 0, 0},
    {"timeout", OF(SINK_COMMAND) | OF(SINK_ALERTMANAGER), KEY_INTEGER, SINK_AT(timeout_ns),
     MEASURE_TIME, 1e8, 600e9},
    {"repeat", OF(SINK_ALERTMANAGER), KEY_INTEGER, SINK_AT(repeat_ns), MEASURE_TIME, 1e9, HOUR_NS},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct section {
    const char *item; /* "rule", "sink" */
    const char *const *kinds;
    size_t kind_count;
    const struct key *keys;
    size_t key_count;
};

static const struct section rule_section = {"rule", rule_kinds, RULE_KINDS, rule_keys,
                                            COUNT(rule_keys)};
static const struct section sink_section = {"sink", sink_kinds, SINK_KINDS, sink_keys,
                                            COUNT(sink_keys)};

/* ---- faults -------------------------------------------------------------- */

struct reader {
    const char *name;
    rules_fault *tell;
    void *user;
    unsigned faults;
};

__attribute__((format(printf, 4, 5))) static void fault(struct reader *r, unsigned line,
                                                        const char *key, const char *format, ...)
{
    char why[400], text[700];
    if (r->faults++ > MOST_FAULTS)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    if (r->faults > MOST_FAULTS)
        snprintf(text, sizeof(text), "%s: and more", r->name);
    else if (line == 0)
        snprintf(text, sizeof(text), "%s", why);
    else
        snprintf(text, sizeof(text), "%.200s:%u: %.40s%s%s", r->name, line, key,
                 key[0] == '\0' ? "" : ": ", why);
    for (char *c = text; *c != '\0'; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    r->tell(r->user, text);
}

static const char *node_name(const struct tree_node *node)
{
    return node->kind == TREE_TEXT ? "a text" : node->kind == TREE_LIST ? "a list" : "a map";
}

/* A text where one is wanted. @return it, or NULL after telling */
static const char *text_of(struct reader *r, const char *key, const struct tree_node *value)
{
    if (value->kind != TREE_TEXT)
        fault(r, value->line, key, "%s stands here, one value is wanted", node_name(value));
    else if (value->text[0] == '\0')
        fault(r, value->line, key, "the value is missing");
    else
        return value->text;
    return NULL;
}

/* ---- values -------------------------------------------------------------- */

static void read_name(struct reader *r, const char *text, unsigned line, char out[65])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strlen(text);
    if (length > 64 || strspn(text, letters) != length)
        fault(r, line, "name", "'%.70s': 1 to 64 letters, digits, - _ . are wanted", text);
    else
        memcpy(out, text, length + 1);
}

static void read_scopes(struct reader *r, const struct tree_node *value, uint64_t *out)
{
    uint64_t bits = 0;
    const struct tree_node *item = value->kind == TREE_LIST ? value->child : value;
    int is_list = value->kind == TREE_LIST;
    if (item == NULL) {
        fault(r, value->line, "scope", "the list is empty");
        return;
    }
    for (; item != NULL; item = is_list ? item->next : NULL) {
        char why[200];
        size_t at;
        const char *text = text_of(r, "scope", item);
        if (text == NULL)
            continue;
        if (value_word(text, scopes, COUNT(scopes), &at, why, sizeof(why)) != 0)
            fault(r, item->line, "scope", "%s", why);
        else if ((bits >> at & 1) != 0)
            fault(r, item->line, "scope", "'%s' stands there twice", scopes[at]);
        else
            bits |= UINT64_C(1) << at;
    }
    *out = bits;
}

static void check_url(struct reader *r, const char *text, unsigned line)
{
    const char *host = strncmp(text, "http://", 7) == 0    ? text + 7
                       : strncmp(text, "https://", 8) == 0 ? text + 8
                                                           : NULL;
    if (host == NULL || host[0] == '\0' || host[0] == '/' || strpbrk(text, " \t\n?#") != NULL)
        fault(r, line, "url", "'%.80s' is no address such as http://127.0.0.1:9093", text);
}

static void read_target(struct reader *r, const struct key *key, const char *text, unsigned line,
                        char **out)
{
    if (strlen(text) > MOST_TARGET) {
        fault(r, line, key->name, "longer than %u bytes", MOST_TARGET);
        return;
    }
    if (strcmp(key->name, "url") == 0)
        check_url(r, text, line);
    *out = strdup(text);
    if (*out == NULL)
        fault(r, line, key->name, "no memory");
}

static void read_value(struct reader *r, const struct key *key, const struct tree_node *value,
                       void *entry)
{
    char why[300];
    void *at = (char *)entry + key->offset;
    double number;
    size_t word;
    if (key->type == KEY_SCOPES) {
        read_scopes(r, value, at);
        return;
    }
    const char *text = text_of(r, key->name, value);
    if (text == NULL || key->type == KEY_KIND)
        return;
    if (key->type == KEY_NAME) {
        read_name(r, text, value->line, at);
    } else if (key->type == KEY_TARGET) {
        read_target(r, key, text, value->line, at);
    } else if (key->type == KEY_SEVERITY) {
        if (value_word(text, severities, COUNT(severities), &word, why, sizeof(why)) == 0)
            *(enum severity *)at = (enum severity)word;
        else
            fault(r, value->line, key->name, "%s", why);
    } else if (key->type == KEY_SWITCH) {
        if (value_word(text, switches, COUNT(switches), &word, why, sizeof(why)) == 0)
            *(int *)at = word == 1;
        else
            fault(r, value->line, key->name, "%s", why);
    } else if (value_number(text, key->measure, key->least, key->most, &number, why, sizeof(why)) !=
               0) {
        fault(r, value->line, key->name, "%s", why);
    } else if (key->type == KEY_REAL) {
        *(double *)at = number;
    } else {
        *(uint64_t *)at = (uint64_t)(number + 0.5);
    }
}

/* ---- entries of a section ------------------------------------------------ */

static const struct key *find_key(const struct section *s, const char *name, unsigned kinds)
{
    for (size_t i = 0; i < s->key_count; i++) {
        if (strcmp(s->keys[i].name, name) == 0 && (s->keys[i].kinds & kinds) != 0)
            return &s->keys[i];
    }
    return NULL;
}

/* Line of a key in an entry, 0 when it is not given. */
static unsigned line_of(const struct tree_node *map, const char *name)
{
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        if (k->kind == TREE_TEXT && strcmp(k->text, name) == 0)
            return k->line;
    }
    return 0;
}

static int is_repeated(const struct tree_node *map, const struct tree_node *key)
{
    for (const struct tree_node *k = map->child; k != key; k = k->next->next) {
        if (k->kind == TREE_TEXT && strcmp(k->text, key->text) == 0)
            return 1;
    }
    return 0;
}

/* Names of the keys that entries of this kind have. */
static void list_keys(const struct section *s, unsigned kinds, char *out, size_t room)
{
    int n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < s->key_count; i++) {
        if ((s->keys[i].kinds & kinds) != 0 && n >= 0 && (size_t)n < room)
            n += snprintf(out + n, room - (size_t)n, "%s%s", n == 0 ? "" : ", ", s->keys[i].name);
    }
}

/* @return the kind of the entry, or -1 after telling */
static int read_kind(struct reader *r, const struct section *s, const struct tree_node *map)
{
    char why[300];
    size_t kind;
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        if (k->kind != TREE_TEXT || strcmp(k->text, "kind") != 0)
            continue;
        const char *text = text_of(r, "kind", k->next);
        if (text == NULL)
            return -1;
        if (value_word(text, s->kinds, s->kind_count, &kind, why, sizeof(why)) == 0)
            return (int)kind;
        fault(r, k->next->line, "kind", "%s", why);
        return -1;
    }
    fault(r, map->line, "kind", "is missing in this %s", s->item);
    return -1;
}

static void read_keys(struct reader *r, const struct section *s, const struct tree_node *map,
                      int kind, void *entry)
{
    char known[300];
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        const struct key *key;
        if (k->kind != TREE_TEXT) {
            fault(r, k->line, "", "%s stands where a key is wanted", node_name(k));
        } else if (is_repeated(map, k)) {
            fault(r, k->line, k->text, "stands there twice");
        } else if ((key = find_key(s, k->text, 1u << kind)) != NULL) {
            read_value(r, key, k->next, entry);
        } else {
            list_keys(s, 1u << kind, known, sizeof(known));
            fault(r, k->line, k->text, "%s; a %s of kind %s has %s",
                  find_key(s, k->text, EVERY) != NULL ? "does not belong here" : "unknown key",
                  s->item, s->kinds[kind], known);
        }
    }
}

/* ---- rules and sinks ----------------------------------------------------- */

static void check_latency(struct reader *r, const struct tree_node *map, struct rule *rule)
{
    unsigned line = line_of(map, "clear");
    if (line == 0)
        rule->clear = 1 + 0.4 * (rule->above - 1);
    else if (rule->clear >= rule->above)
        fault(r, line, "clear", "%gx is not below `above`, %gx", rule->clear, rule->above);
}

static void check_hang(struct reader *r, const struct tree_node *map, struct rule *rule)
{
    unsigned line = line_of(map, "stopped-for");
    if (line == 0)
        rule->stopped_for_ns = rule->for_ns < 3 * SECOND ? rule->for_ns : 3 * SECOND;
    else if (rule->stopped_for_ns > rule->for_ns)
        fault(r, line, "stopped-for", "%gs is longer than `for`, %gs",
              (double)rule->stopped_for_ns * 1e-9, (double)rule->for_ns * 1e-9);
}

static void check_rule(struct reader *r, const struct tree_node *map, const struct rules *rules,
                       struct rule *rule)
{
    unsigned line = line_of(map, "name"), same = 0;
    if (rule->name[0] == '\0')
        snprintf(rule->name, sizeof(rule->name), "%s", rule_kinds[rule->kind]);
    for (size_t i = 0; i < rules->count; i++) {
        same += rules->list[i].kind == rule->kind;
        if (strcmp(rules->list[i].name, rule->name) == 0)
            fault(r, line == 0 ? map->line : line, "name", "'%s' is another rule's already",
                  rule->name);
    }
    if (same >= rule_most[rule->kind])
        fault(r, line_of(map, "kind"), "kind", "there is a rule of kind %s already",
              rule_kinds[rule->kind]);
    if (rule->kind == RULE_LATENCY)
        check_latency(r, map, rule);
    if (rule->kind == RULE_HANG)
        check_hang(r, map, rule);
}

static void read_rule(struct reader *r, const struct tree_node *map, struct rules *rules)
{
    int kind = read_kind(r, &rule_section, map);
    if (kind < 0)
        return;
    if (rules->count == RULES_MOST) {
        fault(r, map->line, "rules", "more than %u of them", RULES_MOST);
        return;
    }
    struct rule rule = rule_fallbacks[kind];
    rule.kind = (enum rule_kind)kind;
    read_keys(r, &rule_section, map, kind, &rule);
    check_rule(r, map, rules, &rule);
    rules->list[rules->count++] = rule;
}

static int takes_target(enum sink_kind kind)
{
    return kind == SINK_FILE || kind == SINK_COMMAND || kind == SINK_ALERTMANAGER;
}

static int same_sink(const struct sink_rule *a, const struct sink_rule *b)
{
    if (a->kind != b->kind || a->target == NULL || b->target == NULL)
        return a->kind == b->kind && a->target == b->target;
    return strcmp(a->target, b->target) == 0;
}

static void read_sink(struct reader *r, const struct tree_node *map, struct rules *rules)
{
    int kind = read_kind(r, &sink_section, map);
    if (kind < 0)
        return;
    if (rules->sink_count == RULES_SINKS) {
        fault(r, map->line, "sinks", "more than %u of them", RULES_SINKS);
        return;
    }
    struct sink_rule *sink = &rules->sinks[rules->sink_count];
    *sink = sink_fallbacks[kind];
    sink->kind = (enum sink_kind)kind;
    read_keys(r, &sink_section, map, kind, sink);
    if (takes_target(sink->kind) && sink->target == NULL) {
        for (size_t i = 0; i < sink_section.key_count; i++) {
            const struct key *key = &sink_section.keys[i];
            if (key->type == KEY_TARGET && (key->kinds & 1u << kind) != 0 &&
                line_of(map, key->name) == 0)
                fault(r, map->line, key->name, "is missing in this sink of kind %s",
                      sink_kinds[kind]);
        }
    }
    for (size_t i = 0; i < rules->sink_count; i++) {
        if (same_sink(&rules->sinks[i], sink))
            fault(r, map->line, "kind", "the same sink stands there twice");
    }
    rules->sink_count++;
}

typedef void read_item(struct reader *r, const struct tree_node *map, struct rules *rules);

static void read_list(struct reader *r, const char *key, const struct tree_node *list,
                      struct rules *rules, read_item *read)
{
    if (list->kind != TREE_LIST) {
        fault(r, list->line, key, "%s stands here, a list is wanted (`- kind: ...`)",
              node_name(list));
        return;
    }
    for (const struct tree_node *item = list->child; item != NULL; item = item->next) {
        if (item->kind == TREE_MAP)
            read(r, item, rules);
        else
            fault(r, item->line, key, "%s stands here, keys and values are wanted",
                  node_name(item));
    }
}

static void read_root(struct reader *r, const struct tree_node *root, struct rules *rules)
{
    if (root->kind != TREE_MAP) {
        fault(r, root->line, "", "%s stands here, `rules:` or `sinks:` is wanted", node_name(root));
        return;
    }
    for (const struct tree_node *k = root->child; k != NULL; k = k->next->next) {
        if (k->kind != TREE_TEXT)
            fault(r, k->line, "", "%s stands where a key is wanted", node_name(k));
        else if (is_repeated(root, k))
            fault(r, k->line, k->text, "stands there twice");
        else if (strcmp(k->text, "rules") == 0)
            read_list(r, "rules", k->next, rules, read_rule);
        else if (strcmp(k->text, "sinks") == 0)
            read_list(r, "sinks", k->next, rules, read_sink);
        else
            fault(r, k->line, k->text, "unknown key; a file has rules, sinks");
    }
}

/* ---- reading ------------------------------------------------------------- */

/* Sections that are not given are those of the defaults. */
static int complete(const struct tree_node *root, struct rules *rules)
{
    struct rules defaults;
    int has_rules = line_of(root, "rules") != 0, has_sinks = line_of(root, "sinks") != 0;
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
        defaults.sink_count = 0; /* the targets are ours now */
    }
    rules_finish(&defaults);
    return 0;
}

int rules_parse(struct rules *out, const char *name, const char *text, size_t length,
                rules_fault *tell, void *user)
{
    struct reader r = {name, tell, user, 0};
    struct tree tree = {0};
    struct rules rules = {.count = 0};
    char why[200] = "no memory";
    unsigned line = 1;
    int code = tree_read(&tree, text, length, MOST_VALUES, &line, why, sizeof(why));
    if (code != 0) {
        fault(&r, line, "", "%s", why);
        return code;
    }
    read_root(&r, &tree.nodes[0], &rules);
    if (r.faults == 0 && (code = complete(&tree.nodes[0], &rules)) != 0)
        fault(&r, 1, "", "no memory");
    tree_finish(&tree);
    if (r.faults > 0) {
        rules_finish(&rules);
        return code != 0 ? code : -HOLTER_EUSAGE;
    }
    *out = rules;
    return 0;
}

/* @return bytes read, or a negative error */
static ssize_t read_bytes(const char *path, char *out, size_t room)
{
    struct stat status;
    size_t length = 0;
    ssize_t n = 1;
    /* Opening a pipe that nobody writes would block. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int code = fstat(fd, &status) != 0 || fcntl(fd, F_SETFL, 0) != 0 ? -errno
               : S_ISDIR(status.st_mode)                             ? -EISDIR
                                                                     : 0;
    while (code == 0 && length < room && n > 0) {
        n = read(fd, out + length, room - length);
        code = n < 0 ? -errno : 0;
        length += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    return code != 0 ? code : (ssize_t)length;
}

int rules_read(struct rules *out, const char *path, rules_fault *tell, void *user)
{
    struct reader r = {path, tell, user, 0};
    char *text = malloc(RULES_BYTES + 1);
    ssize_t length = text == NULL ? -ENOMEM : read_bytes(path, text, RULES_BYTES + 1);
    int code = 0;
    if (length < 0) {
        char why[400];
        snprintf(why, sizeof(why), "%.200s: %s", path, holter_strerror((int)length));
        tell(user, why);
        code = (int)length;
    } else if ((size_t)length > RULES_BYTES) {
        fault(&r, 1, "", "the file is longer than %zu KiB", RULES_BYTES >> 10);
        code = -HOLTER_EUSAGE;
    } else {
        code = rules_parse(out, path, text, (size_t)length, tell, user);
    }
    free(text);
    return code;
}

void rules_finish(struct rules *rules)
{
    /* One more than are counted: a sink that was read half. */
    for (size_t i = 0; i < RULES_SINKS; i++)
        free(rules->sinks[i].target);
    *rules = (struct rules){.count = 0};
}

/* ---- questions ----------------------------------------------------------- */

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

enum severity severity_of(const char *name)
{
    for (size_t i = 0; name != NULL && i < COUNT(severities); i++) {
        if (strcmp(name, severities[i]) == 0)
            return (enum severity)i;
    }
    return SEVERITY_WARNING;
}

struct told {
    char *why;
    size_t room;
};

static void tell_one(void *user, const char *text)
{
    struct told *told = user;
    snprintf(told->why, told->room, "%s", text);
}

int rules_add_sink(struct rules *rules, enum sink_kind kind, const char *target, char *why,
                   size_t room)
{
    struct told told = {why, room};
    struct reader r = {"option", tell_one, &told, 0};
    struct sink_rule sink = sink_fallbacks[kind];
    sink.kind = kind;
    sink.target = (char *)(uintptr_t)target;
    for (size_t i = 0; i < rules->sink_count; i++) {
        if (same_sink(&rules->sinks[i], &sink))
            return 0; /* the file's has filters of its own */
    }
    sink.target = NULL;
    if (rules->sink_count == RULES_SINKS) {
        snprintf(why, room, "more than %u sinks", RULES_SINKS);
        return -HOLTER_EUSAGE;
    }
    for (size_t i = 0; i < sink_section.key_count; i++) {
        const struct key *key = &sink_keys[i];
        if (key->type != KEY_TARGET || (key->kinds & 1u << kind) == 0)
            continue;
        if (target == NULL || target[0] == '\0') {
            snprintf(why, room, "%s is empty", key->name);
            return -HOLTER_EUSAGE;
        }
        read_target(&r, key, target, 0, &sink.target);
    }
    if (r.faults > 0) {
        free(sink.target);
        return -HOLTER_EUSAGE;
    }
    rules->sinks[rules->sink_count++] = sink;
    return 0;
}
