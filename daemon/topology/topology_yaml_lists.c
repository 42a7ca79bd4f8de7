/* Readers of the sections of a YAML description: hosts, switches, links and routes. */
#include "daemon/topology/topology_yaml.h"

#include "daemon/topology/hostlist.h"
#include "holter/error.h"

#include <stdio.h>
#include <string.h>

/* ---- nodes --------------------------------------------------------------- */

struct placing {
    struct yaml_reader *r;
    uint32_t next; /* node of the next host without a place */
    unsigned line;
};

static int yaml_lists_place_host(void *user, const char *name)
{
    struct placing *p = user;
    struct build *b = p->r->build;
    if (b->spec.kind == TOPOLOGY_TREE || b->spec.kind == TOPOLOGY_GRAPH) {
        build_declare(b, name, VERTEX_NODE, p->line);
    } else {
        if (p->next == b->nodes) {
            fault_at(p->r->faults, p->line,
                     "nodes: %s is one more than the %u nodes of the network", name, b->nodes);
            return -HOLTER_EUSAGE;
        }
        build_place(b, name, p->next++, p->line);
    }
    return b->code;
}

static void yaml_lists_place_list(struct yaml_reader *r, const char *text, unsigned line,
                                  struct placing *p)
{
    p->line = line;
    hostlist_expand_key(r->faults, line, "nodes", text, yaml_lists_place_host, p);
}

/* Read a place: [0, 0, 1], or the number of a node. @return 1, or 0, reported */
static int topology_yaml_node_at(struct yaml_reader *r, const struct tree_node *value,
                                 uint32_t *out)
{
    const struct topology_spec *spec = &r->build->spec;
    uint32_t node = 0, d = 0, at;
    if (value->kind == TREE_TEXT)
        return r->build->nodes > 0 && yaml_number(r, "at", value, r->build->nodes - 1, out);
    if (!yaml_is_kind(r, "at", value, TREE_LIST))
        return 0;
    if (spec->kind != TOPOLOGY_CARTESIAN) {
        fault_at(r->faults, value->line, "at: nodes of this network have numbers, no coordinates");
        return 0;
    }
    for (const struct tree_node *item = value->child; item != NULL; item = item->next, d++) {
        if (d == spec->dimension_count)
            break;
        if (!yaml_number(r, "at", item, UINT32_MAX, &at))
            return 0;
        if (at >= spec->dimensions[d].size) {
            fault_at(r->faults, item->line, "at: coordinate %u of dimension %s, whose size is %u",
                     at, spec->dimensions[d].name, spec->dimensions[d].size);
            return 0;
        }
        node = node * spec->dimensions[d].size + at;
    }
    uint32_t given = 0;
    for (const struct tree_node *item = value->child; item != NULL; item = item->next)
        given++;
    if (given != spec->dimension_count) {
        fault_at(r->faults, value->line, "at: %u coordinates, the network has %u dimensions", given,
                 spec->dimension_count);
        return 0;
    }
    *out = node;
    return 1;
}

static void yaml_lists_place_map(struct yaml_reader *r, const struct tree_node *map,
                                 struct placing *p)
{
    const struct tree_node *hosts = tree_value(map, "hosts"), *at = tree_value(map, "at");
    yaml_check_keys(r, map, "an entry of `nodes`", " hosts at ");
    if (hosts == NULL) {
        fault_at(r->faults, map->line, "nodes: `hosts` is missing");
        return;
    }
    const char *text = tree_text(r->faults, "hosts", hosts);
    if (at != NULL && r->build->nodes == 0)
        fault_at(r->faults, at->line, "at: nodes of a tree or graph have no coordinates");
    else if (text != NULL && (at == NULL || topology_yaml_node_at(r, at, &p->next)))
        yaml_lists_place_list(r, text, hosts->line, p);
}

/* Read the hosts: a text, a list of texts and maps, or a map from host to place. */
void yaml_nodes(struct yaml_reader *r, const struct tree_node *value)
{
    struct placing p = {.r = r};
    if (value->kind == TREE_TEXT) {
        const char *text = tree_text(r->faults, "nodes", value);
        if (text != NULL)
            yaml_lists_place_list(r, text, value->line, &p);
        return;
    }
    for (const struct tree_node *item = value->child; item != NULL && r->build->code == 0;
         item = item->next) {
        if (value->kind == TREE_MAP) {
            const char *text = tree_text(r->faults, "nodes", item);
            item = item->next;
            if (r->build->nodes == 0)
                fault_at(r->faults, item->line,
                         "nodes: nodes of a tree or graph have no coordinates");
            else if (text != NULL && topology_yaml_node_at(r, item, &p.next))
                yaml_lists_place_list(r, text, item->line, &p);
        } else if (item->kind == TREE_MAP) {
            yaml_lists_place_map(r, item, &p);
        } else {
            const char *text = tree_text(r->faults, "nodes", item);
            if (text != NULL)
                yaml_lists_place_list(r, text, item->line, &p);
        }
    }
}

/* ---- switches ------------------------------------------------------------ */

struct joining {
    struct yaml_reader *r;
    struct build_link link; /* its ends[1] is the switch */
    int hosts;              /* the names below are hosts: they need not be in `nodes` */
};

static int topology_yaml_join(void *user, const char *name)
{
    struct joining *j = user;
    build_join(j->r->build, name, &j->link, j->hosts);
    return j->r->build->code;
}

static void topology_yaml_join_list(struct yaml_reader *r, const struct tree_node *value,
                                    const char *key, struct joining *j, int hosts)
{
    const char *text = tree_text(r->faults, key, value);
    j->hosts = hosts;
    j->link.line = value->line;
    if (text != NULL)
        hostlist_expand_key(r->faults, value->line, key, text, topology_yaml_join, j);
}

static int yaml_lists_declare_switch(void *user, const char *name)
{
    struct placing *p = user;
    build_declare(p->r->build, name, VERTEX_SWITCH, p->line);
    return p->r->build->code;
}

static void yaml_lists_read_switch_names(struct yaml_reader *r, const struct tree_node *value)
{
    struct placing p = {.r = r, .line = value->line};
    const char *text = tree_text(r->faults, "switches", value);
    if (text != NULL)
        hostlist_expand_key(r->faults, value->line, "switches", text, yaml_lists_declare_switch,
                            &p);
}

void yaml_switch(struct yaml_reader *r, const struct tree_node *map, const char *const words[3])
{
    const struct tree_node *name = tree_value(map, words[0]), *nodes = tree_value(map, words[1]),
                           *below = tree_value(map, words[2]),
                           *capacity = tree_value(map, "capacity");
    struct joining j = {.r = r};
    const char *text = name == NULL ? NULL : tree_text(r->faults, words[0], name);
    if (name == NULL)
        fault_at(r->faults, map->line, "%s: is missing in this switch", words[0]);
    j.link.ends[1] =
        text == NULL ? TOPOLOGY_NONE : build_declare(r->build, text, VERTEX_SWITCH, name->line);
    if (j.link.ends[1] == TOPOLOGY_NONE)
        return;
    if (capacity != NULL)
        yaml_capacity(r, capacity, &j.link.capacity);
    if (nodes != NULL)
        topology_yaml_join_list(r, nodes, words[1], &j, 1);
    if (below != NULL)
        topology_yaml_join_list(r, below, words[2], &j, 0);
}

void yaml_switches(struct yaml_reader *r, const struct tree_node *value)
{
    static const char *const words[] = {"name", "nodes", "switches"};
    if (value->kind == TREE_TEXT) {
        yaml_lists_read_switch_names(r, value);
        return;
    }
    if (!yaml_is_kind(r, "switches", value, TREE_LIST))
        return;
    for (const struct tree_node *item = value->child; item != NULL && r->build->code == 0;
         item = item->next) {
        if (item->kind != TREE_MAP) {
            yaml_lists_read_switch_names(r, item);
            continue;
        }
        yaml_check_keys(r, item, "a switch", " name nodes switches capacity ");
        yaml_switch(r, item, words);
    }
}

/* ---- links and routes ---------------------------------------------------- */

/* Read an end of a link: "n1" or "n1:eth0". */
static int yaml_lists_read_end(struct yaml_reader *r, const struct tree_node *value,
                               struct build_link *link, int end)
{
    char name[TOPOLOGY_NAME + 1];
    const char *text = tree_text(r->faults, "link", value),
               *colon = text == NULL ? NULL : strchr(text, ':');
    if (text == NULL)
        return 0;
    size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
    if (length >= sizeof(name) || (colon != NULL && strlen(colon + 1) > TOPOLOGY_NAME)) {
        fault_at(r->faults, value->line, "link: a name is longer than %u bytes", TOPOLOGY_NAME);
        return 0;
    }
    if (colon != NULL && colon[1] == '\0') {
        fault_at(r->faults, value->line, "link: the interface is missing after '%s'", text);
        return 0;
    }
    memcpy(name, text, length);
    name[length] = '\0';
    if (colon != NULL)
        snprintf(link->interface[end], sizeof(link->interface[end]), "%s", colon + 1);
    link->ends[end] = build_name(r->build, name, value->line);
    return link->ends[end] != TOPOLOGY_NONE;
}

/* Read both ends: [n1:eth0, s1]. */
static int yaml_lists_read_ends(struct yaml_reader *r, const struct tree_node *list,
                                struct build_link *link)
{
    const struct tree_node *first = list->child, *second = first == NULL ? NULL : first->next;
    if (second == NULL || second->next != NULL) {
        fault_at(r->faults, list->line, "link: two ends are expected, such as [n1:eth0, s1]");
        return 0;
    }
    return yaml_lists_read_end(r, first, link, 0) && yaml_lists_read_end(r, second, link, 1);
}

static void yaml_lists_read_link_map(struct yaml_reader *r, const struct tree_node *map,
                                     struct build_link *link)
{
    const struct tree_node *between = tree_value(map, "between"), *from = tree_value(map, "from"),
                           *to = tree_value(map, "to"), *capacity = tree_value(map, "capacity");
    yaml_check_keys(r, map, "a link", " between from to capacity ");
    if (capacity != NULL)
        yaml_capacity(r, capacity, &link->capacity);
    link->one_way = between == NULL;
    if (between != NULL && (from != NULL || to != NULL))
        fault_at(r->faults, map->line, "link: `between` for both directions, or `from` and `to`");
    else if (between != NULL && yaml_is_kind(r, "between", between, TREE_LIST)) {
        if (yaml_lists_read_ends(r, between, link))
            build_link(r->build, link);
    } else if (between == NULL && (from == NULL || to == NULL)) {
        fault_at(r->faults, map->line, "link: `between`, or `from` and `to`, is missing");
    } else if (between == NULL && yaml_lists_read_end(r, from, link, 0) &&
               yaml_lists_read_end(r, to, link, 1)) {
        build_link(r->build, link);
    }
}

void yaml_links(struct yaml_reader *r, const struct tree_node *value)
{
    if (!yaml_is_kind(r, "links", value, TREE_LIST))
        return;
    for (const struct tree_node *item = value->child; item != NULL && r->build->code == 0;
         item = item->next) {
        struct build_link link = {.line = item->line};
        if (item->kind == TREE_MAP)
            yaml_lists_read_link_map(r, item, &link);
        else if (yaml_is_kind(r, "links", item, TREE_LIST) && yaml_lists_read_ends(r, item, &link))
            build_link(r->build, &link);
    }
}

/* Read the routes: a list of lists of names; coordinates as "(0,0,1)". */
void yaml_routes(struct yaml_reader *r, const struct tree_node *value)
{
    if (!yaml_is_kind(r, "routes", value, TREE_LIST))
        return;
    for (const struct tree_node *item = value->child; item != NULL && r->build->code == 0;
         item = item->next) {
        if (!yaml_is_kind(r, "routes", item, TREE_LIST))
            continue;
        build_route(r->build, item->line);
        for (const struct tree_node *word = item->child; word != NULL && r->build->code == 0;
             word = word->next) {
            const char *text = tree_text(r->faults, "routes", word);
            if (text != NULL)
                build_route_word(r->build, text);
        }
    }
}
