/* Networks of all kinds: creating them, checks, and the operations that do not depend on the kind.
 */
#include "daemon/analysis/network/topology.h"

#include "daemon/analysis/network/topology_inner.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct topology_rules *const kinds[] = {
    [TOPOLOGY_CARTESIAN] = &topology_cartesian, [TOPOLOGY_DRAGONFLY] = &topology_dragonfly,
    [TOPOLOGY_FAT_TREE] = &topology_fat_tree,   [TOPOLOGY_TREE] = &topology_tree,
    [TOPOLOGY_GRAPH] = &topology_graph,
};

static int topology_ends_exist(const char *text, size_t capacity)
{
    return memchr(text, '\0', capacity) != NULL;
}

static int topology_check_dimensions(const struct topology_spec *spec, const struct refusal *why)
{
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        const struct topology_dimension *dimension = &spec->dimensions[d];
        if (!topology_ends_exist(dimension->name, sizeof dimension->name))
            return refusal_set(why, "the name of dimension %u does not end", d + 1);
        if ((uint32_t)dimension->connection > TOPOLOGY_ALL)
            return refusal_set(why, "dimension %u is linked in no known way", d + 1);
    }
    return 0;
}

static int topology_check_lists(const struct topology_spec *spec, const struct refusal *why)
{
    for (uint32_t v = 0; v < spec->vertex_count; v++) {
        const struct topology_named *vertex = &spec->vertices[v];
        if (!topology_ends_exist(vertex->name, sizeof vertex->name))
            return refusal_set(why, "the name of vertex %u does not end", v);
        if ((uint32_t)vertex->kind > VERTEX_PROCESS)
            return refusal_set(why, "vertex %u is of no known kind", v);
    }
    for (uint32_t e = 0; e < spec->edge_count; e++) {
        const struct topology_edge *edge = &spec->edges[e];
        if (!topology_ends_exist(edge->interface, sizeof edge->interface))
            return refusal_set(why, "the interface of link %u does not end", e);
        if (!isfinite(edge->capacity) || edge->capacity < 0)
            return refusal_set(why, "the capacity of link %u is no number of bytes a second", e);
    }
    return 0;
}

/* Check what holds for every kind. */
static int topology_check(const struct topology_spec *spec, const struct refusal *why)
{
    size_t known = sizeof kinds / sizeof *kinds;
    if ((uint32_t)spec->kind >= known)
        return refusal_set(why, "the network is of no known kind");
    if ((uint32_t)spec->tie > TOPOLOGY_TIE_MINUS)
        return refusal_set(why, "no known rule for ties");
    if (!topology_ends_exist(spec->name, sizeof spec->name))
        return refusal_set(why, "the name of the network does not end");
    if (!isfinite(spec->capacity) || spec->capacity < 0)
        return refusal_set(why, "the capacity is no number of bytes a second");
    if (spec->dimension_count > TOPOLOGY_DIMENSIONS)
        return refusal_limit(why, "%u dimensions: at most %u are possible", spec->dimension_count,
                             TOPOLOGY_DIMENSIONS);
    if (spec->vertex_count > TOPOLOGY_MAX_VERTICES)
        return refusal_limit(why, "%u vertices: at most %u are possible", spec->vertex_count,
                             TOPOLOGY_MAX_VERTICES);
    if (spec->edge_count > TOPOLOGY_MAXIMUM_LINKS)
        return refusal_limit(why, "%u links: at most %u are possible", spec->edge_count,
                             TOPOLOGY_MAXIMUM_LINKS);
    int error = topology_check_dimensions(spec, why);
    return error ? error : topology_check_lists(spec, why);
}

static int topology_make(struct topology *topology, const struct refusal *why)
{
    int error = topology->rules->make(topology, why);
    if (!error)
        error = topology_labels_make(topology, why);
    if (!error)
        error = topology_given_make(topology, why);
    return error;
}

int topology_create(struct topology **out, const struct topology_spec *spec, char *why,
                    size_t capacity)
{
    struct refusal reason = {why, capacity};
    int error = topology_check(spec, &reason);
    if (error)
        return error;
    struct topology *topology = calloc(1, sizeof *topology);
    if (!topology || topology_spec_copy(&topology->spec, spec) != 0) {
        free(topology);
        refusal_set(&reason, "no memory");
        return -ENOMEM;
    }
    topology->rules = kinds[spec->kind];
    error = topology_make(topology, &reason);
    if (error) {
        if (error == -ENOMEM)
            refusal_set(&reason, "no memory");
        topology_destroy(topology);
        return error;
    }
    *out = topology;
    return 0;
}

void topology_destroy(struct topology *topology)
{
    if (!topology)
        return;
    if (topology->rules->finish)
        topology->rules->finish(topology);
    free(topology->labels);
    free(topology->given);
    topology_spec_finish(&topology->spec);
    free(topology);
}

const struct topology_spec *topology_spec(const struct topology *topology)
{
    return &topology->spec;
}

const struct topology_grid *topology_grid(const struct topology *topology)
{
    return topology->spec.kind == TOPOLOGY_CARTESIAN ? &topology->grid : NULL;
}

uint32_t topology_nodes(const struct topology *topology)
{
    return topology->nodes;
}

uint32_t topology_vertices(const struct topology *topology)
{
    return topology->vertices;
}

uint32_t topology_links(const struct topology *topology)
{
    return topology->links;
}

uint32_t topology_diameter(const struct topology *topology)
{
    return topology->diameter;
}

int topology_link(const struct topology *topology, uint32_t link, uint32_t *from, uint32_t *to)
{
    return link < topology->links && topology->rules->link(topology, link, from, to);
}

uint32_t topology_link_between(const struct topology *topology, uint32_t from, uint32_t to)
{
    if (from >= topology->vertices || to >= topology->vertices || from == to)
        return TOPOLOGY_NONE;
    return topology->rules->between(topology, from, to);
}

uint32_t topology_reverse(const struct topology *topology, uint32_t link)
{
    uint32_t from, to;
    if (!topology_link(topology, link, &from, &to))
        return TOPOLOGY_NONE;
    return topology->rules->reverse ? topology->rules->reverse(topology, link)
                                    : topology->rules->between(topology, to, from);
}

double topology_capacity(const struct topology *topology, uint32_t link)
{
    const struct topology_spec *spec = &topology->spec;
    if ((spec->kind == TOPOLOGY_TREE || spec->kind == TOPOLOGY_GRAPH) && link < spec->edge_count &&
        spec->edges[link].capacity > 0)
        return spec->edges[link].capacity;
    return spec->capacity;
}

uint32_t topology_out(const struct topology *topology, uint32_t vertex, uint32_t *links,
                      uint32_t capacity)
{
    return vertex < topology->vertices ? topology->rules->out(topology, vertex, links, capacity)
                                       : 0;
}

uint32_t topology_distance(const struct topology *topology, uint32_t source, uint32_t destination)
{
    if (source >= topology->vertices || destination >= topology->vertices)
        return TOPOLOGY_NONE;
    if (source == destination)
        return 0;
    const struct topology_given *given = topology_given_find(topology, source, destination);
    if (given)
        return given->count - 1;
    return topology->rules->distance
               ? topology->rules->distance(topology, source, destination)
               : topology->rules->route(topology, source, destination, NULL, 0);
}

uint32_t topology_route(const struct topology *topology, uint32_t source, uint32_t destination,
                        uint32_t *links, uint32_t capacity)
{
    if (source >= topology->vertices || destination >= topology->vertices)
        return TOPOLOGY_NONE;
    if (source == destination)
        return 0;
    const struct topology_given *given = topology_given_find(topology, source, destination);
    return given ? topology_given_route(topology, given, links, capacity)
                 : topology->rules->route(topology, source, destination, links, capacity);
}

static int topology_given_crosses(const struct topology_given *given, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i + 1 < given->count; i++)
        if (given->path[i] == from && given->path[i + 1] == to)
            return 1;
    return 0;
}

/* Walks the route: for dragonflies and fat trees, whose routes are short. */
static int topology_walk_crosses(const struct topology *topology, uint32_t source,
                                 uint32_t destination, uint32_t link)
{
    uint32_t links[2 * TOPOLOGY_DIMENSIONS];
    uint32_t count =
        topology->rules->route(topology, source, destination, links, 2 * TOPOLOGY_DIMENSIONS);
    for (uint32_t i = 0; count != TOPOLOGY_NONE && i < count; i++)
        if (links[i] == link)
            return 1;
    return 0;
}

int topology_crosses(const struct topology *topology, uint32_t source, uint32_t destination,
                     uint32_t link)
{
    uint32_t from, to;
    if (source >= topology->vertices || destination >= topology->vertices ||
        source == destination || !topology_link(topology, link, &from, &to))
        return 0;
    const struct topology_given *given = topology_given_find(topology, source, destination);
    if (given) /* of several links between two vertices, routes use the first */
        return topology->rules->between(topology, from, to) == link &&
               topology_given_crosses(given, from, to);
    if (!topology->rules->crosses)
        return topology_walk_crosses(topology, source, destination, link);
    return topology->rules->crosses(topology, source, destination, link);
}
