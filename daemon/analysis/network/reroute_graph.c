/* Links by vertex, and distances to a destination: see reroute_graph.h. */
#include "daemon/analysis/network/reroute_graph.h"

#include <errno.h>
#include <string.h>

#define NONE TOPOLOGY_NONE
#define BEYOND (UINT32_MAX / 2) /* longer than any route; small enough to be added to */

/* The ends of a link that routes can use: a route is a list of vertices, so of several links
 * between two of them it is the first. */
static int graph_link(const struct topology *topology, uint32_t link, uint32_t *from, uint32_t *to)
{
    return topology_link(topology, link, from, to) &&
           topology_link_between(topology, *from, *to) == link;
}

/* Sort the links by the vertex at one end. */
static void graph_sort_links(struct reroute_graph *g, const struct topology *topology)
{
    uint32_t links = topology_links(topology), from, to;
    for (uint32_t link = 0; link < links; link++) {
        if (!graph_link(topology, link, &from, &to))
            continue;
        g->begin[link] = from;
        g->first[from + 1]++;
        g->first_in[to + 1]++;
    }
    for (uint32_t v = 0; v < g->vertex_count; v++) {
        g->first[v + 1] += g->first[v];
        g->first_in[v + 1] += g->first_in[v];
    }
    for (uint32_t link = links; link-- > 0;) { /* each row fills from its end: see the caller */
        if (!graph_link(topology, link, &from, &to))
            continue;
        g->edges[--g->first[from + 1]] = (struct reroute_edge){to, link};
        g->in[--g->first_in[to + 1]] = from;
    }
}

/* After graph_sort_links() first[v + 1] is where v begins. */
static void graph_shift_first(uint32_t *first, uint32_t count, uint32_t end)
{
    for (uint32_t v = 0; v < count; v++)
        first[v] = first[v + 1];
    first[count] = end;
}

static int graph_init_links(struct reroute_graph *g, const struct topology *topology)
{
    uint32_t links = topology_links(topology), end = 0, from, to;
    ARENA_TAKE(&g->memory, g->first, g->vertex_count + 1u);
    ARENA_TAKE(&g->memory, g->edges, links);
    ARENA_TAKE(&g->memory, g->begin, links);
    ARENA_TAKE(&g->memory, g->first_in, g->vertex_count + 1u);
    ARENA_TAKE(&g->memory, g->in, links);
    if (g->memory.failed)
        return -ENOMEM;
    graph_sort_links(g, topology);
    for (uint32_t link = 0; link < links; link++)
        end += graph_link(topology, link, &from, &to) != 0;
    graph_shift_first(g->first, g->vertex_count, end);
    graph_shift_first(g->first_in, g->vertex_count, end);
    return 0;
}

int reroute_graph_init(struct reroute_graph *g, const struct topology *topology)
{
    const struct topology_spec *spec = topology_spec(topology);
    memset(g, 0, sizeof(*g));
    g->topology = topology;
    g->vertex_count = topology_vertices(topology);
    g->destination = NONE;
    ARENA_TAKE(&g->memory, g->closed, g->vertex_count);
    ARENA_TAKE(&g->memory, g->distance, g->vertex_count);
    ARENA_TAKE(&g->memory, g->known, g->vertex_count);
    if (g->memory.failed)
        return -ENOMEM;
    memset(g->distance, 0xff, g->vertex_count * sizeof(*g->distance));
    if (spec->kind == TOPOLOGY_FAT_TREE || spec->kind == TOPOLOGY_DRAGONFLY)
        memset(g->closed, 1, topology_nodes(topology));
    /* There a route by the rule is a shortest path; one that is given need not be. */
    g->measured = spec->kind == TOPOLOGY_CARTESIAN && spec->route_count == 0;
    return graph_init_links(g, topology);
}

void reroute_graph_finish(struct reroute_graph *g)
{
    arena_finish(&g->memory);
}

/* Search breadth first, against the links. */
static void graph_search_back(struct reroute_graph *g)
{
    uint32_t begin = 0, end = 0;
    for (uint32_t v = 0; v < g->vertex_count; v++)
        g->distance[v] = BEYOND;
    g->distance[g->destination] = 0;
    g->known[end++] = g->destination;
    while (begin < end) {
        uint32_t at = g->known[begin++];
        if (g->closed[at] && at != g->destination)
            continue;
        for (uint32_t e = g->first_in[at]; e < g->first_in[at + 1]; e++) {
            uint32_t from = g->in[e];
            if (g->distance[from] != BEYOND)
                continue;
            g->distance[from] = g->distance[at] + 1;
            g->known[end++] = from;
        }
    }
}

void reroute_graph_towards(struct reroute_graph *g, uint32_t destination)
{
    if (destination == g->destination)
        return;
    g->destination = destination;
    if (!g->measured) {
        graph_search_back(g);
        return;
    }
    for (uint32_t i = 0; i < g->known_count; i++)
        g->distance[g->known[i]] = NONE;
    g->known_count = 0;
}

uint32_t reroute_graph_measure(struct reroute_graph *g, uint32_t vertex)
{
    g->distance[vertex] = topology_distance(g->topology, vertex, g->destination);
    g->known[g->known_count++] = vertex;
    return g->distance[vertex];
}
