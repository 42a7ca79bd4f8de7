/* Reads the entries of a rules file by a table of keys. */
#include "daemon/alert/rules_entry.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FAULTS_MAXIMUM 100u
#define TARGET_MAXIMUM_BYTES 4096u

/* ---- faults -------------------------------------------------------------- */

void entry_fault(struct entry_reader *r, unsigned line, const char *key, const char *format, ...)
{
    char why[400], text[700];
    if (r->faults++ > FAULTS_MAXIMUM)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    if (r->faults > FAULTS_MAXIMUM)
        snprintf(text, sizeof(text), "%s: and more", r->name);
    else if (line == 0)
        snprintf(text, sizeof(text), "%s", why);
    else
        snprintf(text, sizeof(text), "%.200s:%u: %.40s%s%s", r->name, line, key,
                 key[0] == '\0' ? "" : ": ", why);
    for (char *c = text; *c != '\0'; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    r->on_fault(r->user, text);
}

const char *entry_node_name(const struct tree_node *node)
{
    return node->kind == TREE_TEXT ? "a text" : node->kind == TREE_LIST ? "a list" : "a map";
}

/* @return the text of a value, or NULL after a fault */
static const char *entry_text(struct entry_reader *r, const char *key,
                              const struct tree_node *value)
{
    if (value->kind != TREE_TEXT)
        entry_fault(r, value->line, key, "%s stands here, one value is expected",
                    entry_node_name(value));
    else if (value->text[0] == '\0')
        entry_fault(r, value->line, key, "the value is missing");
    else
        return value->text;
    return NULL;
}

/* ---- values -------------------------------------------------------------- */

static void entry_read_name(struct entry_reader *r, const struct entry_key *key, const char *text,
                            unsigned line, char out[65])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strlen(text);
    if (length > 64 || strspn(text, letters) != length)
        entry_fault(r, line, key->name, "'%.70s': 1 to 64 letters, digits, - _ . are expected",
                    text);
    else
        memcpy(out, text, length + 1);
}

/* @return 0, or -1 after a fault */
static int entry_read_word(struct entry_reader *r, const struct entry_key *key, const char *text,
                           unsigned line, size_t *out)
{
    char why[300];
    if (rules_value_parse_word(text, key->words->list, key->words->count, out, why, sizeof(why)) ==
        0)
        return 0;
    entry_fault(r, line, key->name, "%s", why);
    return -1;
}

static void entry_read_words(struct entry_reader *r, const struct entry_key *key,
                             const struct tree_node *value, uint64_t *out)
{
    uint64_t bits = 0;
    const struct tree_node *item = value->kind == TREE_LIST ? value->child : value;
    int is_list = value->kind == TREE_LIST;
    if (item == NULL) {
        entry_fault(r, value->line, key->name, "the list is empty");
        return;
    }
    for (; item != NULL; item = is_list ? item->next : NULL) {
        size_t at;
        const char *text = entry_text(r, key->name, item);
        if (text == NULL || entry_read_word(r, key, text, item->line, &at) != 0)
            continue;
        if ((bits >> at & 1) != 0)
            entry_fault(r, item->line, key->name, "'%s' stands there twice", key->words->list[at]);
        else
            bits |= UINT64_C(1) << at;
    }
    *out = bits;
}

static void entry_read_number(struct entry_reader *r, const struct entry_key *key, const char *text,
                              unsigned line, void *out)
{
    char why[300];
    double number;
    if (rules_value_parse_number(text, &key->range, &number, why, sizeof(why)) != 0)
        entry_fault(r, line, key->name, "%s", why);
    else if (key->type == ENTRY_REAL)
        *(double *)out = number;
    else
        *(uint64_t *)out = (uint64_t)(number + 0.5);
}

static void entry_check_url(struct entry_reader *r, const struct entry_key *key, const char *text,
                            unsigned line)
{
    const char *host = strncmp(text, "http://", 7) == 0    ? text + 7
                       : strncmp(text, "https://", 8) == 0 ? text + 8
                                                           : NULL;
    if (host == NULL || host[0] == '\0' || host[0] == '/' || strpbrk(text, " \t\n?#") != NULL)
        entry_fault(r, line, key->name, "'%.80s' is no address such as http://127.0.0.1:9093",
                    text);
}

void entry_read_target(struct entry_reader *r, const struct entry_key *key, const char *text,
                       unsigned line, char **out)
{
    if (strlen(text) > TARGET_MAXIMUM_BYTES) {
        entry_fault(r, line, key->name, "longer than %u bytes", TARGET_MAXIMUM_BYTES);
        return;
    }
    if (key->type == ENTRY_URL)
        entry_check_url(r, key, text, line);
    *out = strdup(text);
    if (*out == NULL)
        entry_fault(r, line, key->name, "no memory");
}

static void entry_read_text(struct entry_reader *r, const struct entry_key *key, const char *text,
                            unsigned line, void *out)
{
    size_t word;
    switch (key->type) {
    case ENTRY_NAME:
        entry_read_name(r, key, text, line, out);
        return;
    case ENTRY_WORD:
        if (entry_read_word(r, key, text, line, &word) == 0)
            *(unsigned *)out = (unsigned)word;
        return;
    case ENTRY_TARGET:
    case ENTRY_URL:
        entry_read_target(r, key, text, line, out);
        return;
    case ENTRY_INTEGER:
    case ENTRY_REAL:
        entry_read_number(r, key, text, line, out);
        return;
    case ENTRY_KIND: /* was read before all others */
    case ENTRY_WORDS:
        return;
    }
}

static void entry_read_value(struct entry_reader *r, const struct entry_key *key,
                             const struct tree_node *value, void *entry)
{
    void *at = (char *)entry + key->offset;
    if (key->type == ENTRY_WORDS) {
        entry_read_words(r, key, value, at);
        return;
    }
    const char *text = entry_text(r, key->name, value);
    if (text != NULL)
        entry_read_text(r, key, text, value->line, at);
}

/* ---- entries ------------------------------------------------------------- */

static const struct entry_key *entry_find_key(const struct entry_section *s, const char *name,
                                              unsigned kinds)
{
    for (size_t i = 0; i < s->key_count; i++) {
        if (strcmp(s->keys[i].name, name) == 0 && (s->keys[i].kinds & kinds) != 0)
            return &s->keys[i];
    }
    return NULL;
}

unsigned entry_line(const struct tree_node *map, const char *name)
{
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        if (k->kind == TREE_TEXT && strcmp(k->text, name) == 0)
            return k->line;
    }
    return 0;
}

int entry_is_repeated(const struct tree_node *map, const struct tree_node *key)
{
    for (const struct tree_node *k = map->child; k != key; k = k->next->next) {
        if (k->kind == TREE_TEXT && strcmp(k->text, key->text) == 0)
            return 1;
    }
    return 0;
}

/* Names of the keys that entries of this kind have. */
static void entry_list_keys(const struct entry_section *s, unsigned kinds, char *out,
                            size_t capacity)
{
    int n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < s->key_count; i++) {
        if ((s->keys[i].kinds & kinds) != 0 && n >= 0 && (size_t)n < capacity)
            n += snprintf(out + n, capacity - (size_t)n, "%s%s", n == 0 ? "" : ", ",
                          s->keys[i].name);
    }
}

int entry_read_kind(struct entry_reader *r, const struct entry_section *s,
                    const struct tree_node *map)
{
    char why[300];
    size_t kind;
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        if (k->kind != TREE_TEXT || strcmp(k->text, "kind") != 0)
            continue;
        const char *text = entry_text(r, "kind", k->next);
        if (text == NULL)
            return -1;
        if (rules_value_parse_word(text, s->kinds.list, s->kinds.count, &kind, why, sizeof(why)) ==
            0)
            return (int)kind;
        entry_fault(r, k->next->line, "kind", "%s", why);
        return -1;
    }
    entry_fault(r, map->line, "kind", "is missing in this %s", s->item);
    return -1;
}

void entry_read_keys(struct entry_reader *r, const struct entry_section *s,
                     const struct tree_node *map, int kind, void *entry)
{
    char known[300];
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        const struct entry_key *key;
        if (k->kind != TREE_TEXT) {
            entry_fault(r, k->line, "", "%s stands where a key is expected", entry_node_name(k));
        } else if (entry_is_repeated(map, k)) {
            entry_fault(r, k->line, k->text, "stands there twice");
        } else if ((key = entry_find_key(s, k->text, ENTRY_OF(kind))) != NULL) {
            entry_read_value(r, key, k->next, entry);
        } else {
            entry_list_keys(s, ENTRY_OF(kind), known, sizeof(known));
            entry_fault(r, k->line, k->text, "%s; a %s of kind %s has %s",
                        entry_find_key(s, k->text, ENTRY_EVERY) != NULL ? "does not belong here"
                                                                        : "unknown key",
                        s->item, s->kinds.list[kind], known);
        }
    }
}
