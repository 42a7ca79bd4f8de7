/* Parses a YAML text into a tree of bounded size: see yaml_tree.h. */
#include "daemon/topology/yaml_tree.h"

#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reading {
    struct tree tree;
    struct tree_node *open[TREE_DEPTH]; /* lists and maps that are not closed yet */
    struct tree_node *last[TREE_DEPTH]; /* last child of each */
    size_t depth, most;
    struct tree_fault *fault;
};

static int yaml_tree_report_fault(struct reading *r, const yaml_event_t *event, const char *why)
{
    r->fault->line = (unsigned)event->start_mark.line + 1;
    snprintf(r->fault->why, sizeof(r->fault->why), "%s", why);
    return -HOLTER_EUSAGE;
}

static int yaml_tree_add(struct reading *r, const yaml_event_t *event, enum tree_kind kind,
                         char *text)
{
    if (r->tree.count == r->most)
        return yaml_tree_report_fault(r, event, "too many values");
    struct tree_node *node = &r->tree.nodes[r->tree.count++];
    *node = (struct tree_node){
        .kind = kind, .line = (unsigned)event->start_mark.line + 1, .text = text};
    if (r->depth > 0) {
        struct tree_node **last = &r->last[r->depth - 1];
        *(*last == NULL ? &r->open[r->depth - 1]->child : &(*last)->next) = node;
        *last = node;
    }
    if (kind == TREE_TEXT)
        return 0;
    if (r->depth == TREE_DEPTH)
        return yaml_tree_report_fault(r, event, "nested too deeply");
    r->open[r->depth] = node;
    r->last[r->depth++] = NULL;
    return 0;
}

static int yaml_tree_add_text(struct reading *r, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL)
        return yaml_tree_report_fault(r, event, "anchors (&) and tags (!) are not taken");
    if (memchr(value, '\0', length) != NULL)
        return yaml_tree_report_fault(r, event, "a text holds a NUL byte");
    char *text = strdup(value);
    if (text == NULL)
        return -ENOMEM;
    size_t before = r->tree.count;
    int code = yaml_tree_add(r, event, TREE_TEXT, text);
    if (r->tree.count == before)
        free(text);
    return code;
}

/* @return 1 at the end, 0 to continue, or a negative error */
static int yaml_tree_handle_event(struct reading *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_STREAM_END_EVENT:
        return 1;
    case YAML_DOCUMENT_START_EVENT:
        return r->tree.count > 0 ? yaml_tree_report_fault(r, event, "a second document begins") : 0;
    case YAML_ALIAS_EVENT:
        return yaml_tree_report_fault(r, event, "aliases (*) are not taken");
    case YAML_SCALAR_EVENT:
        return yaml_tree_add_text(r, event);
    case YAML_SEQUENCE_START_EVENT:
        if (event->data.sequence_start.anchor != NULL || event->data.sequence_start.tag != NULL)
            return yaml_tree_report_fault(r, event, "anchors (&) and tags (!) are not taken");
        return yaml_tree_add(r, event, TREE_LIST, NULL);
    case YAML_MAPPING_START_EVENT:
        if (event->data.mapping_start.anchor != NULL || event->data.mapping_start.tag != NULL)
            return yaml_tree_report_fault(r, event, "anchors (&) and tags (!) are not taken");
        return yaml_tree_add(r, event, TREE_MAP, NULL);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        return 0;
    default:
        return 0;
    }
}

static int yaml_tree_read_all(struct reading *r, yaml_parser_t *parser)
{
    int code = 0;
    while (code == 0) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            if (parser->error == YAML_MEMORY_ERROR)
                return -ENOMEM;
            r->fault->line = (unsigned)parser->problem_mark.line + 1;
            snprintf(r->fault->why, sizeof(r->fault->why), "not YAML: %s",
                     parser->problem == NULL ? "it cannot be read" : parser->problem);
            return -HOLTER_EUSAGE;
        }
        code = yaml_tree_handle_event(r, &event);
        yaml_event_delete(&event);
    }
    if (code == 1 && r->tree.count == 0) {
        *r->fault = (struct tree_fault){1, "the file holds nothing"};
        return -HOLTER_EUSAGE;
    }
    return code == 1 ? 0 : code;
}

int tree_read(struct tree *out, const char *text, size_t length, size_t most,
              struct tree_fault *fault)
{
    yaml_parser_t parser;
    /* A value takes at least a byte, except for empty ones, each of which has a colon or dash. */
    size_t values = length < most / 2 ? 2 * length + 2 : most;
    struct reading r = {.most = values, .fault = fault};
    *fault = (struct tree_fault){1, "no memory"};
    r.tree.nodes = calloc(values, sizeof(*r.tree.nodes));
    if (r.tree.nodes == NULL || !yaml_parser_initialize(&parser)) {
        free(r.tree.nodes);
        return -ENOMEM;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    int code = yaml_tree_read_all(&r, &parser);
    yaml_parser_delete(&parser);
    if (code != 0) {
        tree_finish(&r.tree);
        return code;
    }
    *out = r.tree;
    return 0;
}

void tree_finish(struct tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        free(tree->nodes[i].text);
    free(tree->nodes);
    *tree = (struct tree){0};
}

/* ---- nodes ----------------------------------------------------------------- */

const char *tree_kind_name(const struct tree_node *node)
{
    return node->kind == TREE_TEXT ? "a text" : node->kind == TREE_LIST ? "a list" : "a map";
}

const struct tree_node *tree_key(const struct tree_node *map, const char *name)
{
    const struct tree_node *k = map == NULL || map->kind != TREE_MAP ? NULL : map->child;
    while (k != NULL && (k->kind != TREE_TEXT || strcmp(k->text, name) != 0))
        k = k->next->next;
    return k;
}

const struct tree_node *tree_value(const struct tree_node *map, const char *key)
{
    const struct tree_node *k = tree_key(map, key);
    return k == NULL ? NULL : k->next;
}

int tree_is_repeated(const struct tree_node *map, const struct tree_node *key)
{
    return tree_key(map, key->text) != key;
}

const char *tree_text(struct faults *faults, const char *key, const struct tree_node *value)
{
    if (value->kind != TREE_TEXT)
        fault_at(faults, value->line, "%s: %s stands here, one value is expected", key,
                 tree_kind_name(value));
    else if (value->text[0] == '\0')
        fault_at(faults, value->line, "%s: the value is missing", key);
    else
        return value->text;
    return NULL;
}

int tree_word(struct faults *faults, const char *key, const struct tree_node *value,
              const char *const *words, size_t count)
{
    const char *text = tree_text(faults, key, value);
    char list[300] = "";
    size_t used = 0;
    for (size_t i = 0; text != NULL && i < count; i++) {
        if (strcmp(text, words[i]) == 0)
            return (int)i;
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ",
                                     words[i]);
    }
    if (text != NULL)
        fault_at(faults, value->line, "%s: '%.40s' is none of %s", key, text, list);
    return -1;
}
