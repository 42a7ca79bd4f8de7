/* Reads the entries of a rules file by a table of keys. */
#include "daemon/alert/rules_entry.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#if HOLTER_CURL
#include <curl/curl.h>
#endif

#define TARGET_MAXIMUM_BYTES 4096u

/* ---- values -------------------------------------------------------------- */

static void entry_read_name(struct faults *r, const struct entry_key *key,
                            const struct tree_node *value, char out[65])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strlen(value->text);
    if (length > 64 || strspn(value->text, letters) != length)
        fault_at(r, value->line, "%s: '%.70s': 1 to 64 letters, digits, - _ . are expected",
                 key->name, value->text);
    else
        memcpy(out, value->text, length + 1);
}

static void entry_read_words(struct faults *r, const struct entry_key *key,
                             const struct tree_node *value, uint64_t *out)
{
    uint64_t bits = 0;
    const struct tree_node *item = value->kind == TREE_LIST ? value->child : value;
    int is_list = value->kind == TREE_LIST;
    if (item == NULL) {
        fault_at(r, value->line, "%s: the list is empty", key->name);
        return;
    }
    for (; item != NULL; item = is_list ? item->next : NULL) {
        int at = tree_word(r, key->name, item, key->words->list, key->words->count);
        if (at >= 0 && (bits >> at & 1) != 0)
            fault_at(r, item->line, "%s: '%s' stands there twice", key->name, key->words->list[at]);
        bits |= at < 0 ? 0 : UINT64_C(1) << at;
    }
    *out = bits;
}

static void entry_read_number(struct faults *r, const struct entry_key *key,
                              const struct tree_node *value, void *out)
{
    char why[300];
    double number;
    if (rules_value_parse_number(value->text, &key->range, &number, why, sizeof(why)) != 0)
        fault_at(r, value->line, "%s: %s", key->name, why);
    else if (key->type == ENTRY_REAL)
        *(double *)out = number;
    else
        *(uint64_t *)out = (uint64_t)(number + 0.5);
}

/* Also its port, as the library sees it that will connect. */
static int entry_is_url(const char *text)
{
#if HOLTER_CURL
    CURLU *url = curl_url();
    const int is_url = url != NULL && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK;
    curl_url_cleanup(url);
    return is_url;
#else
    return text[0] != '\0';
#endif
}

int entry_is_target(const struct entry_key *key, const char *text, char *why, size_t capacity)
{
    const char *host = strncmp(text, "http://", 7) == 0    ? text + 7
                       : strncmp(text, "https://", 8) == 0 ? text + 8
                                                           : NULL;
    int is_url = host != NULL && host[0] != '\0' && host[0] != '/' &&
                 strpbrk(text, " \t\n?#") == NULL && entry_is_url(text);
    if (strlen(text) > TARGET_MAXIMUM_BYTES)
        snprintf(why, capacity, "longer than %u bytes", TARGET_MAXIMUM_BYTES);
    else if (strcmp(key->name, "path") == 0 && strncmp(text, "~/", 2) == 0)
        snprintf(why, capacity, "'~' does not stand for a home directory here");
    else if (key->type == ENTRY_URL && !is_url)
        snprintf(why, capacity, "'%.80s' is no address such as http://127.0.0.1:9093", text);
    else if (key->type == ENTRY_URL && !HOLTER_CURL)
        snprintf(why, capacity,
                 "this build of Holter sends nothing to Alertmanager: it was made "
                 "without libcurl");
    else
        return 1;
    return 0;
}

static void entry_read_target(struct faults *r, const struct entry_key *key,
                              const struct tree_node *value, char **out)
{
    char why[200] = "no memory";
    if (!entry_is_target(key, value->text, why, sizeof(why)) ||
        (*out = strdup(value->text)) == NULL)
        fault_at(r, value->line, "%s: %s", key->name, why);
}

static void entry_read_value(struct faults *r, const struct entry_key *key,
                             const struct tree_node *value, void *entry)
{
    void *at = (char *)entry + key->offset;
    if (key->type == ENTRY_WORDS) {
        entry_read_words(r, key, value, at);
    } else if (key->type == ENTRY_WORD) {
        int word = tree_word(r, key->name, value, key->words->list, key->words->count);
        if (word >= 0)
            *(unsigned *)at = (unsigned)word;
    } else if (key->type == ENTRY_KIND || tree_text(r, key->name, value) == NULL) {
        return; /* the kind was read before all others */
    } else if (key->type == ENTRY_NAME) {
        entry_read_name(r, key, value, at);
    } else if (key->type == ENTRY_TARGET || key->type == ENTRY_URL) {
        entry_read_target(r, key, value, at);
    } else {
        entry_read_number(r, key, value, at);
    }
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

int entry_read_kind(struct faults *r, const struct entry_section *s, const struct tree_node *map)
{
    const struct tree_node *kind = tree_value(map, "kind");
    if (kind != NULL)
        return tree_word(r, "kind", kind, s->kinds.list, s->kinds.count);
    fault_at(r, map->line, "kind: is missing in this %s", s->item);
    return -1;
}

void entry_read_keys(struct faults *r, const struct entry_section *s, const struct tree_node *map,
                     int kind, void *entry)
{
    char known[300];
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        const struct entry_key *key;
        if (k->kind != TREE_TEXT) {
            fault_at(r, k->line, "%s stands where a key is expected", tree_kind_name(k));
        } else if (tree_is_repeated(map, k)) {
            fault_at(r, k->line, "%.40s: stands there twice", k->text);
        } else if ((key = entry_find_key(s, k->text, ENTRY_OF(kind))) != NULL) {
            entry_read_value(r, key, k->next, entry);
        } else {
            entry_list_keys(s, ENTRY_OF(kind), known, sizeof(known));
            fault_at(r, k->line, "%.40s: %s; a %s of kind %s has %s", k->text,
                     entry_find_key(s, k->text, ENTRY_EVERY) != NULL ? "does not belong here"
                                                                     : "unknown key",
                     s->item, s->kinds.list[kind], known);
        }
    }
}
