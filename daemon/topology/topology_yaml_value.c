/* Values and keys of YAML files that describe networks, with reports of their faults. */
#include "daemon/topology/topology_yaml.h"

#include "holter/plain_text.h"

#include <stdio.h>
#include <string.h>

int yaml_is_kind(struct yaml_reader *r, const char *key, const struct tree_node *value,
                 enum tree_kind kind)
{
    static const char *const wanted[] = {"one value", "a list", "keys and values"};
    if (value->kind == kind)
        return 1;
    fault_at(r->faults, value->line, "%s: %s stands here, %s %s expected", key,
             tree_kind_name(value), wanted[kind], kind == TREE_MAP ? "are" : "is");
    return 0;
}

int yaml_number(struct yaml_reader *r, const char *key, const struct tree_node *value,
                uint32_t most, uint32_t *out)
{
    const char *text = tree_text(r->faults, key, value);
    uint64_t number;
    if (text == NULL)
        return 0;
    const char *end = text_number(text, most, &number);
    if (end == NULL || *end != '\0') {
        fault_at(r->faults, value->line, "%s: '%.40s' is no number from 0 to %u", key, text, most);
        return 0;
    }
    *out = (uint32_t)number;
    return 1;
}

int yaml_yes_no(struct yaml_reader *r, const char *key, const struct tree_node *value, int *out)
{
    const char *text = tree_text(r->faults, key, value);
    if (text == NULL)
        return 0;
    *out = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
    if (*out || strcmp(text, "no") == 0 || strcmp(text, "false") == 0)
        return 1;
    fault_at(r->faults, value->line, "%s: '%.40s' is neither yes nor no", key, text);
    return 0;
}

void yaml_copy_text(struct yaml_reader *r, const char *key, const struct tree_node *value,
                    char *out, size_t capacity)
{
    const char *text = tree_text(r->faults, key, value);
    if (text != NULL && strlen(text) >= capacity)
        fault_at(r->faults, value->line, "%s: longer than %zu bytes", key, capacity - 1);
    else if (text != NULL)
        snprintf(out, capacity, "%s", text);
}

void yaml_capacity(struct yaml_reader *r, const struct tree_node *value, double *out)
{
    const char *text = tree_text(r->faults, "capacity", value);
    if (text != NULL && !build_capacity(text, out))
        fault_at(r->faults, value->line,
                 "capacity: '%.40s' is none such as 10 Gbit/s, 1.25 GB/s or a number of bytes a "
                 "second",
                 text);
}

/* ---- keys ---------------------------------------------------------------- */

void yaml_check_keys(struct yaml_reader *r, const struct tree_node *map, const char *what,
                     const char *known)
{
    char wanted[80];
    for (const struct tree_node *k = map->child; k != NULL; k = k->next->next) {
        if (k->kind != TREE_TEXT) {
            fault_at(r->faults, k->line, "%s stands where a key is expected", tree_kind_name(k));
            continue;
        }
        snprintf(wanted, sizeof(wanted), " %.70s ", k->text);
        if (strchr(k->text, ' ') != NULL || strstr(known, wanted) == NULL)
            fault_at(r->faults, k->line, "%.60s: unknown key; %s has%.*s", k->text, what,
                     (int)strlen(known) - 1, known);
        else if (tree_is_repeated(map, k))
            fault_at(r->faults, k->line, "%s: stands there twice", k->text);
    }
}
