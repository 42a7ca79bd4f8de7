/* Values and keys of YAML files that describe networks, with reports of their faults. */
#include "daemon/topology/topology_yaml.h"

#include <stdio.h>
#include <string.h>

/* The kind of a value: "a list". Static text. */
static const char *yaml_kind(const struct tree_node *node)
{
    return node->kind == TREE_TEXT ? "a text" : node->kind == TREE_LIST ? "a list" : "a map";
}

const char *yaml_text(struct yaml_reader *r, const char *key, const struct tree_node *value)
{
    if (value->kind == TREE_TEXT && value->text[0] != '\0')
        return value->text;
    if (value->kind == TREE_TEXT)
        fault_at(r->faults, value->line, "%s: the value is missing", key);
    else
        fault_at(r->faults, value->line, "%s: %s stands here, one value is expected", key,
                 yaml_kind(value));
    return NULL;
}

int yaml_is_kind(struct yaml_reader *r, const char *key, const struct tree_node *value,
                 enum tree_kind kind)
{
    static const char *const wanted[] = {"one value", "a list", "keys and values"};
    if (value->kind == kind)
        return 1;
    fault_at(r->faults, value->line, "%s: %s stands here, %s %s expected", key, yaml_kind(value),
             wanted[kind], kind == TREE_MAP ? "are" : "is");
    return 0;
}

int yaml_number(struct yaml_reader *r, const char *key, const struct tree_node *value,
                uint32_t most, uint32_t *out)
{
    const char *text = yaml_text(r, key, value);
    uint64_t number = 0;
    size_t length = text == NULL ? 0 : strlen(text);
    if (text == NULL)
        return 0;
    for (const char *c = text; *c >= '0' && *c <= '9' && length <= 10; c++)
        number = number * 10 + (uint64_t)(*c - '0');
    if (length > 10 || strspn(text, "0123456789") != length || number > most) {
        fault_at(r->faults, value->line, "%s: '%.40s' is no number from 0 to %u", key, text, most);
        return 0;
    }
    *out = (uint32_t)number;
    return 1;
}

int yaml_yes_no(struct yaml_reader *r, const char *key, const struct tree_node *value, int *out)
{
    const char *text = yaml_text(r, key, value);
    if (text == NULL)
        return 0;
    *out = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
    if (*out || strcmp(text, "no") == 0 || strcmp(text, "false") == 0)
        return 1;
    fault_at(r->faults, value->line, "%s: '%.40s' is neither yes nor no", key, text);
    return 0;
}

void yaml_copy_text(struct yaml_reader *r, const char *key, const struct tree_node *value,
                    char *out, size_t room)
{
    const char *text = yaml_text(r, key, value);
    if (text != NULL && strlen(text) >= room)
        fault_at(r->faults, value->line, "%s: longer than %zu bytes", key, room - 1);
    else if (text != NULL)
        snprintf(out, room, "%s", text);
}

void yaml_capacity(struct yaml_reader *r, const struct tree_node *value, double *out)
{
    const char *text = yaml_text(r, "capacity", value);
    if (text != NULL && !build_capacity(text, out))
        fault_at(r->faults, value->line,
                 "capacity: '%.40s' is none such as 10 Gbit/s, 1.25 GB/s or a number of bytes a "
                 "second",
                 text);
}

/* ---- keys ---------------------------------------------------------------- */

const struct tree_node *yaml_value(const struct tree_node *map, const char *key)
{
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        if (k->kind == TREE_TEXT && strcmp(k->text, key) == 0)
            return k->next;
    }
    return NULL;
}

static int yaml_value_is_repeated(const struct tree_node *map, const struct tree_node *key)
{
    for (const struct tree_node *k = map->child; k != key; k = k->next->next) {
        if (k->kind == TREE_TEXT && strcmp(k->text, key->text) == 0)
            return 1;
    }
    return 0;
}

void yaml_check_keys(struct yaml_reader *r, const struct tree_node *map, const char *what,
                     const char *known)
{
    char wanted[80];
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        if (k->kind != TREE_TEXT) {
            fault_at(r->faults, k->line, "%s stands where a key is expected", yaml_kind(k));
            continue;
        }
        snprintf(wanted, sizeof(wanted), " %.70s ", k->text);
        if (strchr(k->text, ' ') != NULL || strstr(known, wanted) == NULL)
            fault_at(r->faults, k->line, "%.60s: unknown key; %s has%.*s", k->text, what,
                     (int)strlen(known) - 1, known);
        else if (yaml_value_is_repeated(map, k))
            fault_at(r->faults, k->line, "%s: stands there twice", k->text);
    }
}

int yaml_word(struct yaml_reader *r, const char *key, const struct tree_node *value,
              const char *const *words, int count)
{
    const char *text = yaml_text(r, key, value);
    char list[200] = "";
    size_t used = 0;
    if (text == NULL)
        return -1;
    for (int i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ",
                                 words[i]);
    }
    fault_at(r->faults, value->line, "%s: '%.40s' is none of %s", key, text, list);
    return -1;
}
