/* Coordinates and names of vertices, and interfaces of nodes. */
#include "daemon/analysis/network/topology_inner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int names_compare_texts(const void *a, const void *b)
{
    return strcmp(((const struct topology_label *)a)->name,
                  ((const struct topology_label *)b)->name);
}

static int names_compare_labels(const void *a, const void *b)
{
    const struct topology_label *first = a, *second = b;
    int order = names_compare_texts(a, b);
    return order ? order : (first->vertex > second->vertex) - (first->vertex < second->vertex);
}

int topology_labels_make(struct topology *topology, const struct refusal *why)
{
    const struct topology_spec *spec = &topology->spec;
    if (spec->vertex_count > topology->vertices)
        return refusal_set(why, "%u names for %u vertices", spec->vertex_count, topology->vertices);
    if (spec->vertex_count == 0)
        return 0;
    topology->labels = malloc(spec->vertex_count * sizeof *topology->labels);
    if (!topology->labels)
        return -ENOMEM;
    uint32_t count = 0;
    for (uint32_t v = 0; v < spec->vertex_count; v++)
        if (spec->vertices[v].name[0])
            topology->labels[count++] = (struct topology_label){spec->vertices[v].name, v};
    qsort(topology->labels, count, sizeof *topology->labels, names_compare_labels);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(topology->labels[i - 1].name, topology->labels[i].name) == 0)
            return refusal_set(why, "vertices %u and %u are both called \"%s\"",
                               topology->labels[i - 1].vertex, topology->labels[i].vertex,
                               topology->labels[i].name);
    topology->label_count = count;
    return 0;
}

/* @return number of coordinates of a node */
static uint32_t names_count_coordinates(const struct topology *topology)
{
    switch (topology->spec.kind) {
    case TOPOLOGY_CARTESIAN:
        return topology->spec.dimension_count;
    case TOPOLOGY_DRAGONFLY:
        return 3;
    default:
        return 0;
    }
}

uint32_t topology_coordinates(const struct topology *topology, uint32_t vertex, uint32_t *out)
{
    uint32_t count = vertex < topology->nodes ? names_count_coordinates(topology) : 0,
             rest = vertex;
    for (uint32_t d = count; d-- > 0;) {
        out[d] = rest % topology->spec.dimensions[d].size;
        rest /= topology->spec.dimensions[d].size;
    }
    return count;
}

uint32_t topology_at(const struct topology *topology, const uint32_t *coordinates)
{
    uint32_t count = names_count_coordinates(topology), node = 0;
    if (count == 0)
        return TOPOLOGY_NONE;
    for (uint32_t d = 0; d < count; d++) {
        if (coordinates[d] >= topology->spec.dimensions[d].size)
            return TOPOLOGY_NONE;
        node = node * topology->spec.dimensions[d].size + coordinates[d];
    }
    return node;
}

enum topology_vertex topology_vertex_kind(const struct topology *topology, uint32_t vertex)
{
    const struct topology_spec *spec = &topology->spec;
    if ((spec->kind == TOPOLOGY_TREE || spec->kind == TOPOLOGY_GRAPH) &&
        vertex < spec->vertex_count)
        return spec->vertices[vertex].kind;
    return vertex < topology->nodes ? VERTEX_NODE : VERTEX_SWITCH;
}

static const char *const kind_words[] = {[VERTEX_NODE] = "node",
                                         [VERTEX_SWITCH] = "switch",
                                         [VERTEX_CORE] = "core",
                                         [VERTEX_NUMA] = "numa",
                                         [VERTEX_PROCESS] = "rank"};
static const char router_word[] = "router"; /* a switch of a dragonfly */

int topology_vertex_name(const struct topology *topology, uint32_t vertex, char *text,
                         size_t capacity)
{
    const struct topology_spec *spec = &topology->spec;
    if (vertex >= topology->vertices)
        return snprintf(text, capacity, "no vertex");
    if (vertex < spec->vertex_count && spec->vertices[vertex].name[0])
        return snprintf(text, capacity, "%s", spec->vertices[vertex].name);
    uint32_t at[TOPOLOGY_DIMENSIONS], count = topology_coordinates(topology, vertex, at);
    if (spec->kind == TOPOLOGY_DRAGONFLY && vertex >= topology->nodes) {
        uint32_t router = vertex - topology->nodes, size = spec->dimensions[1].size;
        return snprintf(text, capacity, "%s (%u,%u)", router_word, router / size, router % size);
    }
    if (count == 0)
        return snprintf(text, capacity, "%s %u", kind_words[topology_vertex_kind(topology, vertex)],
                        vertex < topology->nodes ? vertex : vertex - topology->nodes);
    char whole[TOPOLOGY_DIMENSIONS * 8 + 3] = "";
    size_t length = 0;
    for (uint32_t d = 0; d < count; d++)
        length +=
            (size_t)snprintf(whole + length, sizeof whole - length, "%c%u", d ? ',' : '(', at[d]);
    return snprintf(text, capacity, "%s)", whole);
}

/* Read a decimal number without sign or space. @return the text after it; NULL: there is none */
static const char *names_parse_number(const char *text, uint32_t *out)
{
    uint32_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && at - text < 9; at++)
        value = value * 10 + (uint32_t)(*at - '0');
    *out = value;
    return at == text ? NULL : at;
}

/* Read coordinates such as "(1,0,2)", to the end of the text. @return 0: it is none of them */
static int names_parse_coordinates(const char *text, uint32_t count, uint32_t *at)
{
    if (count == 0 || *text++ != '(')
        return 0;
    for (uint32_t d = 0; d < count; d++) {
        text = names_parse_number(text, &at[d]);
        if (!text || *text != (d + 1 < count ? ',' : ')'))
            return 0;
        text++;
    }
    return *text == '\0';
}

static uint32_t names_find_coordinates(const struct topology *topology, const char *name)
{
    uint32_t at[TOPOLOGY_DIMENSIONS];
    return names_parse_coordinates(name, names_count_coordinates(topology), at)
               ? topology_at(topology, at)
               : TOPOLOGY_NONE;
}

/* Find the router of a dragonfly by a name such as "router (1,3)": group, and router in it. */
static uint32_t names_find_router(const struct topology *topology, const char *name)
{
    const struct topology_dimension *dimensions = topology->spec.dimensions;
    const size_t length = sizeof router_word - 1;
    uint32_t at[2];
    if (topology->spec.kind != TOPOLOGY_DRAGONFLY || strncmp(name, router_word, length) != 0 ||
        name[length] != ' ' || !names_parse_coordinates(name + length + 1, 2, at) ||
        at[0] >= dimensions[0].size || at[1] >= dimensions[1].size)
        return TOPOLOGY_NONE;
    return topology->nodes + at[0] * dimensions[1].size + at[1];
}

/* Find the vertex of a name such as "switch 7". */
static uint32_t names_find_numbered(const struct topology *topology, const char *name)
{
    for (size_t kind = 0; kind < sizeof kind_words / sizeof *kind_words; kind++) {
        size_t length = strlen(kind_words[kind]);
        if (strncmp(name, kind_words[kind], length) != 0 || name[length] != ' ')
            continue;
        uint32_t number;
        const char *end = names_parse_number(name + length + 1, &number);
        if (!end || *end)
            return TOPOLOGY_NONE;
        uint32_t vertex = kind == VERTEX_NODE ? number : number + topology->nodes;
        if (vertex >= topology->vertices || topology_vertex_kind(topology, vertex) != kind)
            return TOPOLOGY_NONE;
        return vertex;
    }
    return TOPOLOGY_NONE;
}

uint32_t topology_find(const struct topology *topology, const char *name)
{
    const struct topology_label key = {.name = name};
    const struct topology_label *label =
        topology->label_count == 0 ? NULL
                                   : bsearch(&key, topology->labels, topology->label_count,
                                             sizeof(key), names_compare_texts);
    if (label != NULL)
        return label->vertex;
    if (name[0] == '(')
        return names_find_coordinates(topology, name);
    uint32_t router = names_find_router(topology, name);
    return router != TOPOLOGY_NONE ? router : names_find_numbered(topology, name);
}

/* Read a name such as "A+": dimension and direction. @return -1: no such dimension */
static int names_parse_axis(const struct topology_spec *spec, const char *interface, int *down)
{
    size_t length = strlen(interface);
    if (length < 2 || (interface[length - 1] != '+' && interface[length - 1] != '-'))
        return -1;
    *down = interface[length - 1] == '-';
    for (uint32_t d = 0; d < spec->dimension_count; d++)
        if (strlen(spec->dimensions[d].name) == length - 1 &&
            strncmp(spec->dimensions[d].name, interface, length - 1) == 0)
            return (int)d;
    return -1;
}

static uint32_t names_cartesian_interface(const struct topology *topology, uint32_t node,
                                          const char *interface)
{
    const struct topology_grid *grid = &topology->grid;
    int down, d = names_parse_axis(&topology->spec, interface, &down);
    if (d < 0 || topology->spec.dimensions[d].connection == TOPOLOGY_ALL || grid->size[d] == 1)
        return TOPOLOGY_NONE;
    uint32_t link = node * grid->ports + grid->port[d] + (grid->size[d] > 2 ? (uint32_t)down : 0);
    uint32_t from, to;
    return topology_link(topology, link, &from, &to) ? link : TOPOLOGY_NONE;
}

static uint32_t names_find_interface(const struct topology *topology, uint32_t node,
                                     const char *interface)
{
    const struct topology_edge *edges = topology->spec.edges;
    uint32_t few[64], count = topology_out(topology, node, few, 64), found = TOPOLOGY_NONE;
    uint32_t *links = few, *many = NULL;
    if (count > 64) {
        links = many = malloc(count * sizeof *many);
        if (!links)
            return TOPOLOGY_NONE;
        topology_out(topology, node, links, count);
    }
    for (uint32_t i = 0; i < count && found == TOPOLOGY_NONE; i++) {
        uint32_t back = topology_reverse(topology, links[i]);
        if (strcmp(edges[links[i]].interface, interface) == 0 ||
            (back != TOPOLOGY_NONE && strcmp(edges[back].interface, interface) == 0 &&
             topology_vertex_kind(topology, edges[back].from) == VERTEX_SWITCH))
            found = links[i];
    }
    free(many);
    return found;
}

/* Does the network name the interface by which a link leaves its node? */
static int names_has_interface(const struct topology *topology, uint32_t link)
{
    const struct topology_edge *edges = topology->spec.edges;
    enum topology_kind kind = topology->spec.kind;
    if (kind != TOPOLOGY_TREE && kind != TOPOLOGY_GRAPH)
        return 0;
    uint32_t back = topology_reverse(topology, link);
    return edges[link].interface[0] != '\0' ||
           (back != TOPOLOGY_NONE && edges[back].interface[0] != '\0' &&
            topology_vertex_kind(topology, edges[back].from) == VERTEX_SWITCH);
}

void topology_interface(const struct topology *topology, uint32_t node, const char *interface,
                        uint32_t *link_out, uint32_t *link_in)
{
    enum topology_kind kind = topology->spec.kind;
    uint32_t out = TOPOLOGY_NONE, only;
    if (node < topology->vertices && interface[0]) {
        if (kind == TOPOLOGY_CARTESIAN)
            out = names_cartesian_interface(topology, node, interface);
        else if (kind == TOPOLOGY_TREE || kind == TOPOLOGY_GRAPH)
            out = names_find_interface(topology, node, interface);
    }
    if (out == TOPOLOGY_NONE && topology_out(topology, node, &only, 1) == 1 &&
        !names_has_interface(topology, only))
        out = only;
    *link_out = out;
    *link_in = out == TOPOLOGY_NONE ? TOPOLOGY_NONE : topology_reverse(topology, out);
}
