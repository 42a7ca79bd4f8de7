/* Links of trees and graphs: see topology_edges.h. */
#include "daemon/analysis/network/topology_edges.h"

#include "holter/bisect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int edges_check_vertices(struct topology *topology, const struct refusal *why)
{
    const struct topology_spec *spec = &topology->spec;
    if (spec->vertex_count == 0)
        return refusal_set(why, "the network has no vertices");
    if (spec->dimension_count)
        return refusal_set(why, "a network of given links has no dimensions");
    topology->vertices = spec->vertex_count;
    topology->links = spec->edge_count;
    while (topology->nodes < spec->vertex_count &&
           spec->vertices[topology->nodes].kind == VERTEX_NODE)
        topology->nodes++;
    for (uint32_t v = topology->nodes; v < spec->vertex_count; v++)
        if (spec->vertices[v].kind == VERTEX_NODE)
            return refusal_set(why, "node %u (\"%s\") comes after what is no node", v,
                               spec->vertices[v].name);
    return 0;
}

static int edges_check_links(const struct topology_spec *spec, const struct refusal *why)
{
    for (uint32_t e = 0; e < spec->edge_count; e++) {
        const struct topology_edge *edge = &spec->edges[e];
        if (edge->from >= spec->vertex_count || edge->to >= spec->vertex_count)
            return refusal_set(why, "link %u leads from %u to %u, but there are %u vertices", e,
                               edge->from, edge->to, spec->vertex_count);
        if (edge->from == edge->to)
            return refusal_set(why, "link %u leads from vertex %u to itself", e, edge->from);
    }
    return 0;
}

/* One pass of counting sort of `order`, by the vertices at one end of each link.
 * @param first  set to where the links of each vertex begin, and the end of the last */
static void edges_sort(const struct topology_spec *spec, int by_end, uint32_t *first,
                       const uint32_t *order, uint32_t *out)
{
    memset(first, 0, (spec->vertex_count + 1) * sizeof *first);
    for (uint32_t e = 0; e < spec->edge_count; e++)
        first[(by_end ? spec->edges[e].to : spec->edges[e].from) + 1]++;
    for (uint32_t v = 0; v < spec->vertex_count; v++)
        first[v + 1] += first[v];
    for (uint32_t i = 0; i < spec->edge_count; i++) {
        uint32_t e = order ? order[i] : i;
        out[first[by_end ? spec->edges[e].to : spec->edges[e].from]++] = e;
    }
    memmove(first + 1, first, spec->vertex_count * sizeof *first);
    first[0] = 0;
}

int topology_edges_make(struct topology *topology, struct topology_edges *edges,
                        const struct refusal *why)
{
    const struct topology_spec *spec = &topology->spec;
    int error = edges_check_vertices(topology, why);
    if (!error)
        error = edges_check_links(spec, why);
    if (error)
        return error;
    uint32_t *order = malloc((spec->edge_count + 1u) * sizeof *order);
    edges->first = malloc((spec->vertex_count + 1u) * sizeof *edges->first);
    edges->link = malloc((spec->edge_count + 1u) * sizeof *edges->link);
    if (order && edges->first && edges->link) {
        edges_sort(spec, 1, edges->first, NULL, order);
        edges_sort(spec, 0, edges->first, order, edges->link);
    } else {
        error = -ENOMEM;
    }
    free(order);
    return error;
}

void topology_edges_free(struct topology_edges *edges)
{
    free(edges->first);
    free(edges->link);
}

int topology_edges_link(const struct topology *topology, uint32_t link, uint32_t *from,
                        uint32_t *to)
{
    *from = topology->spec.edges[link].from;
    *to = topology->spec.edges[link].to;
    return 1;
}

/* Position of the first link to a vertex, or where it would be if there is none. */
static uint32_t edges_find(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct topology_edges *edges = topology->state;
    return BISECT(i, edges->first[from], edges->first[from + 1],
                  topology->spec.edges[edges->link[i]].to < to);
}

/* The link at a position if it leads from one given vertex to the other; else TOPOLOGY_NONE. */
static uint32_t edges_link_at(const struct topology *topology, uint32_t position, uint32_t from,
                              uint32_t to)
{
    const struct topology_edges *edges = topology->state;
    if (position >= edges->first[from + 1] || topology->spec.edges[edges->link[position]].to != to)
        return TOPOLOGY_NONE;
    return edges->link[position];
}

uint32_t topology_edges_between(const struct topology *topology, uint32_t from, uint32_t to)
{
    return edges_link_at(topology, edges_find(topology, from, to), from, to);
}

/* Of several links between two vertices the first belongs to the first the other way, and so on. */
uint32_t topology_edges_reverse(const struct topology *topology, uint32_t link)
{
    const struct topology_edges *edges = topology->state;
    uint32_t from = topology->spec.edges[link].from, to = topology->spec.edges[link].to;
    uint32_t first = edges_find(topology, from, to);
    /* links to the same vertex are in the order of their numbers */
    uint32_t at = BISECT(i, first, edges->first[from + 1],
                         topology->spec.edges[edges->link[i]].to == to && edges->link[i] < link);
    return edges_link_at(topology, edges_find(topology, to, from) + (at - first), to, from);
}

uint32_t topology_edges_out(const struct topology *topology, uint32_t vertex, uint32_t *links,
                            uint32_t capacity)
{
    const struct topology_edges *edges = topology->state;
    uint32_t count = 0;
    for (uint32_t i = edges->first[vertex]; i < edges->first[vertex + 1]; i++)
        topology_put(links, capacity, &count, edges->link[i]);
    return count;
}
