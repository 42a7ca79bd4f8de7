/* Reader of the YAML description of a network, holter-topology(5). */
#include "daemon/topology/topology_yaml.h"

#include "daemon/topology/yaml_tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MOST_VALUES (1u << 21)

/* ---- dimensions ---------------------------------------------------------- */

static void topology_yaml_set_size(struct yaml_reader *r, const struct tree_node *value,
                                   struct topology_dimension *dimension)
{
    if (yaml_number(r, "size", value, TOPOLOGY_MAX_VERTICES, &dimension->size) &&
        dimension->size == 0)
        fault_at(r->faults, value->line, "size: a dimension has 1 coordinate at least");
}

static void topology_yaml_read_dimension_map(struct yaml_reader *r, const struct tree_node *map,
                                             struct topology_dimension *dimension)
{
    static const char *const connections[] = {"torus", "mesh", "all"};
    const struct tree_node *name = tree_value(map, "name"), *size = tree_value(map, "size"),
                           *wrap = tree_value(map, "wrap"),
                           *connection = tree_value(map, "connection");
    int wraps, word;
    yaml_check_keys(r, map, "a dimension", " name size wrap connection ");
    if (name != NULL)
        yaml_copy_text(r, "name", name, dimension->name, sizeof(dimension->name));
    if (size == NULL)
        fault_at(r->faults, map->line, "size: is missing in this dimension");
    else
        topology_yaml_set_size(r, size, dimension);
    if (wrap != NULL && connection != NULL)
        fault_at(r->faults, wrap->line, "wrap: `connection` says it already");
    else if (wrap != NULL && yaml_yes_no(r, "wrap", wrap, &wraps))
        dimension->connection = wraps ? TOPOLOGY_TORUS : TOPOLOGY_MESH;
    else if (connection != NULL &&
             (word = tree_word(r->faults, "connection", connection, connections, 3)) >= 0)
        dimension->connection = (enum topology_connection)word;
}

static void topology_yaml_check_name(struct yaml_reader *r, const struct topology_spec *spec,
                                     uint32_t d, unsigned line)
{
    for (uint32_t other = 0; other < d; other++) {
        if (strcmp(spec->dimensions[other].name, spec->dimensions[d].name) == 0)
            fault_at(r->faults, line, "dimensions: two of them are called %s",
                     spec->dimensions[d].name);
    }
}

/* Formats: [4, 4, 8], [{name: A, size: 4}, ...] or {x: 8, y: 8}. */
static void topology_yaml_read_dimensions(struct yaml_reader *r, const struct tree_node *value,
                                          enum topology_connection usual)
{
    struct topology_spec *spec = &r->build->spec;
    uint64_t nodes = 1;
    if (value->kind == TREE_TEXT) {
        yaml_is_kind(r, "dimensions", value, TREE_LIST);
        return;
    }
    for (const struct tree_node *item = value->child; item != NULL; item = item->next) {
        if (spec->dimension_count == TOPOLOGY_DIMENSIONS) {
            fault_at(r->faults, item->line, "dimensions: more than %u", TOPOLOGY_DIMENSIONS);
            return;
        }
        uint32_t d = spec->dimension_count++;
        struct topology_dimension *dimension = &spec->dimensions[d];
        dimension->connection = usual;
        dimension->name[0] = (char)('A' + d);
        if (value->kind == TREE_MAP) {
            yaml_copy_text(r, "dimensions", item, dimension->name, sizeof(dimension->name));
            item = item->next;
        }
        if (item->kind == TREE_MAP)
            topology_yaml_read_dimension_map(r, item, dimension);
        else
            topology_yaml_set_size(r, item, dimension);
        topology_yaml_check_name(r, spec, d, item->line);
        nodes *= dimension->size;
        if (nodes > TOPOLOGY_MAX_VERTICES) {
            fault_at(r->faults, item->line, "dimensions: more than %u nodes",
                     TOPOLOGY_MAX_VERTICES);
            return;
        }
    }
    if (spec->dimension_count == 0)
        fault_at(r->faults, value->line, "dimensions: there is none");
}

static void topology_yaml_read_order(struct yaml_reader *r, const struct tree_node *value)
{
    struct topology_spec *spec = &r->build->spec;
    uint32_t seen = 0, step = 0, d;
    if (spec->kind != TOPOLOGY_CARTESIAN) {
        fault_at(r->faults, value->line, "order: only dimensions have an order");
        return;
    }
    if (!yaml_is_kind(r, "order", value, TREE_LIST))
        return;
    for (const struct tree_node *item = value->child; item != NULL; item = item->next) {
        const char *text = tree_text(r->faults, "order", item);
        if (text == NULL)
            return;
        for (d = 0; d < spec->dimension_count && strcmp(spec->dimensions[d].name, text) != 0;)
            d++;
        if (d == spec->dimension_count) {
            fault_at(r->faults, item->line, "order: no dimension is called %.40s", text);
            return;
        }
        if ((seen & 1u << d) != 0)
            fault_at(r->faults, item->line, "order: %s stands there twice", text);
        seen |= 1u << d;
        spec->dimensions[d].step = step++;
    }
    if (step != spec->dimension_count)
        fault_at(r->faults, value->line, "order: %u of %u dimensions are named", step,
                 spec->dimension_count);
}

/* ---- the file ------------------------------------------------------------ */

#define ROOT_KEYS " name network kind dimensions order tie capacity nodes switches links routes "

static void topology_yaml_refuse_key(struct yaml_reader *r, const struct tree_node *root,
                                     const char *keys, const char *kind)
{
    char word[20];
    for (const char *at = keys; *at != '\0';) {
        size_t length = strcspn(at, " ");
        snprintf(word, sizeof(word), "%.*s", (int)length, at);
        const struct tree_node *value = tree_value(root, word);
        if (value != NULL)
            fault_at(r->faults, value->line, "%s: does not belong to a %s", word, kind);
        at += length + (at[length] == ' ');
    }
}

static void topology_yaml_read_short(struct yaml_reader *r, const struct tree_node *value)
{
    struct build *b = r->build;
    char why[300];
    struct topology *topology;
    const char *text = tree_text(r->faults, "network", value);
    if (text == NULL)
        return;
    int code = topology_short(&b->spec, text, why, sizeof(why));
    if (code == 0 && (code = topology_create(&topology, &b->spec, why, sizeof(why))) == 0) {
        b->nodes = topology_nodes(topology);
        topology_destroy(topology);
    }
    if (code == -ENOMEM)
        b->code = code;
    else if (code != 0)
        fault_at(r->faults, value->line, "network: %s", why);
}

static void topology_yaml_read_kind(struct yaml_reader *r, const struct tree_node *root,
                                    const struct tree_node *value)
{
    static const char *const kinds[] = {"torus", "mesh", "cartesian", "tree", "graph"};
    const struct tree_node *dimensions = tree_value(root, "dimensions");
    struct topology_spec *spec = &r->build->spec;
    int kind = tree_word(r->faults, "kind", value, kinds, 5);
    if (kind < 0)
        return;
    if (kind >= 3) {
        spec->kind = kind == 3 ? TOPOLOGY_TREE : TOPOLOGY_GRAPH;
        topology_yaml_refuse_key(r, root, "dimensions order tie", kinds[kind]);
        return;
    }
    if (dimensions == NULL) {
        fault_at(r->faults, value->line, "dimensions: are missing");
        return;
    }
    topology_yaml_read_dimensions(r, dimensions, kind == 1 ? TOPOLOGY_MESH : TOPOLOGY_TORUS);
    if (r->faults->count > 0)
        return;
    topology_spec_order(spec);
    r->build->nodes = 1;
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        r->build->nodes *= spec->dimensions[d].size;
}

static void topology_yaml_read_shape(struct yaml_reader *r, const struct tree_node *root)
{
    static const char *const ties[] = {"parity", "plus", "minus"};
    const struct tree_node *network = tree_value(root, "network"), *kind = tree_value(root, "kind"),
                           *order = tree_value(root, "order"), *tie = tree_value(root, "tie");
    int word;
    if (network != NULL && kind != NULL)
        fault_at(r->faults, kind->line, "kind: `network` says it already");
    else if (network != NULL)
        topology_yaml_read_short(r, network);
    else if (kind != NULL)
        topology_yaml_read_kind(r, root, kind);
    else
        fault_at(r->faults, root->line,
                 "`network` (a short form such as torus:4,4,8) or `kind` is missing");
    if (network != NULL)
        topology_yaml_refuse_key(r, root, "dimensions", "short form");
    if (r->build->nodes > 0)
        topology_yaml_refuse_key(r, root, "switches links",
                                 "network whose links follow from its kind");
    if (r->faults->count > 0 || r->build->code != 0)
        return;
    if (order != NULL)
        topology_yaml_read_order(r, order);
    if (tie != NULL && (word = tree_word(r->faults, "tie", tie, ties, 3)) >= 0)
        r->build->spec.tie = (enum topology_tie)word;
}

/* Report the faults so far first: in a wrong network all hosts would be wrong. */
static void topology_yaml_read_root(struct yaml_reader *r, const struct tree_node *root)
{
    const struct tree_node *name = tree_value(root, "name"), *nodes = tree_value(root, "nodes"),
                           *switches = tree_value(root, "switches"),
                           *links = tree_value(root, "links"), *routes = tree_value(root, "routes"),
                           *capacity = tree_value(root, "capacity");
    yaml_check_keys(r, root, "a topology", ROOT_KEYS);
    topology_yaml_read_shape(r, root);
    if (name != NULL)
        yaml_copy_text(r, "name", name, r->build->spec.name, sizeof(r->build->spec.name));
    if (capacity != NULL)
        yaml_capacity(r, capacity, &r->build->spec.capacity);
    if (r->faults->count > 0 || r->build->code != 0)
        return;
    if (nodes != NULL)
        yaml_nodes(r, nodes);
    if (switches != NULL)
        yaml_switches(r, switches);
    if (links != NULL)
        yaml_links(r, links);
    if (routes != NULL)
        yaml_routes(r, routes);
}

int topology_yaml(struct topology_file *out, const char *text, size_t length, struct faults *faults)
{
    struct tree tree = {0};
    struct build build;
    struct yaml_reader r = {&build, faults};
    struct tree_fault fault;
    int code = tree_read(&tree, text, length, MOST_VALUES, &fault);
    if (code != 0) {
        fault_at(faults, fault.line, "%s", fault.why);
        return code;
    }
    build_begin(&build, faults);
    out->format = TOPOLOGY_FORMAT_YAML;
    if (tree.nodes[0].kind == TREE_LIST) {
        out->format = TOPOLOGY_FORMAT_SLURM_YAML;
        yaml_slurm(&r, &tree.nodes[0]);
    } else if (yaml_is_kind(&r, "topology", &tree.nodes[0], TREE_MAP)) {
        topology_yaml_read_root(&r, &tree.nodes[0]);
    }
    code = build_end(&build, out);
    build_finish(&build);
    tree_finish(&tree);
    return code;
}
