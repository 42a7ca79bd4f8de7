/* Graphs of given links. Of all routes with the fewest links, the one is used that continues to the
 * lowest vertex at each step. The next step is in a table, two bytes for each pair of vertices, as
 * const functions may be called from several threads. */
#include "daemon/analysis/network/topology_edges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_PORTS UINT16_MAX
#define MAXIMUM_WORK (1ull << 31) /* vertices times links: some seconds */

struct graph {
    struct topology_edges edges;
    uint16_t *port; /* owned; by destination, then by vertex: which of its links the route uses */
};

/* Links that enter a vertex, without further ones from the same vertex. */
struct entering {
    uint32_t *first; /* owned; and the end of the last */
    struct entry {
        uint32_t from;
        uint16_t port;
    } * entries; /* owned */
};

static int graph_is_first(const struct topology *topology, const struct topology_edges *edges,
                          uint32_t v, uint32_t position)
{
    return position == edges->first[v] || topology->spec.edges[edges->link[position]].to !=
                                              topology->spec.edges[edges->link[position - 1]].to;
}

static int graph_list_entering(const struct topology *topology, const struct topology_edges *edges,
                               struct entering *entering)
{
    uint32_t count = topology->vertices;
    entering->first = calloc(count + 2u, sizeof *entering->first);
    entering->entries = calloc(topology->links + 1u, sizeof *entering->entries);
    if (!entering->first || !entering->entries)
        return -ENOMEM;
    uint32_t *next = entering->first + 1; /* advances to the next vertex while it is filled */
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t i = edges->first[v]; i < edges->first[v + 1]; i++)
            if (graph_is_first(topology, edges, v, i))
                next[topology->spec.edges[edges->link[i]].to + 1]++;
    for (uint32_t v = 0; v < count; v++)
        next[v + 1] += next[v];
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t i = edges->first[v]; i < edges->first[v + 1]; i++)
            if (graph_is_first(topology, edges, v, i)) {
                uint32_t to = topology->spec.edges[edges->link[i]].to;
                entering->entries[next[to]++] = (struct entry){v, (uint16_t)(i - edges->first[v])};
            }
    return 0;
}

/* Search breadth first, against the links. Ports are in the order of the vertices that they lead
 * to.
 * @param hops, queue  space for all vertices; hops set
 * @return vertices from which the destination can be reached */
static uint32_t graph_spread_search(const struct entering *entering, uint32_t count,
                                    uint32_t destination, uint16_t *port, uint32_t *hops,
                                    uint32_t *queue)
{
    uint32_t seen = 1;
    memset(hops, 0xff, count * sizeof *hops);
    memset(port, 0xff, count * sizeof *port);
    hops[destination] = 0;
    queue[0] = destination;
    for (uint32_t i = 0; i < seen; i++) {
        uint32_t v = queue[i];
        for (uint32_t e = entering->first[v]; e < entering->first[v + 1]; e++) {
            const struct entry *entry = &entering->entries[e];
            if (hops[entry->from] == TOPOLOGY_NONE) {
                hops[entry->from] = hops[v] + 1;
                port[entry->from] = entry->port;
                queue[seen++] = entry->from;
            } else if (hops[entry->from] == hops[v] + 1 && entry->port < port[entry->from]) {
                port[entry->from] = entry->port;
            }
        }
    }
    return seen;
}

static int graph_refuse_unreachable(const struct topology *topology, const struct refusal *why,
                                    const uint32_t *hops, uint32_t destination)
{
    char from[TOPOLOGY_NAME + 1], to[TOPOLOGY_NAME + 1];
    uint32_t v = 0;
    while (hops[v] != TOPOLOGY_NONE)
        v++;
    topology_vertex_name(topology, v, from, sizeof from);
    topology_vertex_name(topology, destination, to, sizeof to);
    return refusal_set(why, "%s cannot be reached from %s", to, from);
}

static int graph_fill_table(struct topology *topology, struct graph *graph,
                            const struct entering *entering, const struct refusal *why)
{
    uint32_t count = topology->vertices;
    uint32_t *hops = calloc(count, sizeof *hops), *queue = calloc(count, sizeof *queue);
    int error = hops && queue ? 0 : -ENOMEM;
    for (uint32_t to = 0; !error && to < count; to++) {
        uint16_t *port = graph->port + (size_t)to * count;
        uint32_t seen = graph_spread_search(entering, count, to, port, hops, queue);
        if (seen < count)
            error = graph_refuse_unreachable(topology, why, hops, to);
        else if (hops[queue[count - 1]] > topology->diameter)
            topology->diameter = hops[queue[count - 1]];
    }
    free(hops);
    free(queue);
    return error;
}

static int graph_check_size(const struct topology *topology, const struct topology_edges *edges,
                            const struct refusal *why)
{
    uint32_t count = topology->vertices;
    if ((uint64_t)count * topology->links > MAXIMUM_WORK)
        return refusal_limit(why, "%u vertices with %u links are too many", count, topology->links);
    for (uint32_t v = 0; v < count; v++)
        if (edges->first[v + 1] - edges->first[v] > MAXIMUM_PORTS)
            return refusal_limit(why, "vertex %u has more than %u links", v, MAXIMUM_PORTS);
    return 0;
}

static int graph_make(struct topology *topology, const struct refusal *why)
{
    uint32_t count = topology->spec.vertex_count;
    if (count > TOPOLOGY_MAXIMUM_GRAPH)
        return refusal_limit(why, "%u vertices: a graph that is no tree has at most %u", count,
                             TOPOLOGY_MAXIMUM_GRAPH);
    struct graph *graph = calloc(1, sizeof *graph);
    topology->state = graph;
    if (!graph)
        return -ENOMEM;
    int error = topology_edges_make(topology, &graph->edges, why);
    if (!error)
        error = graph_check_size(topology, &graph->edges, why);
    if (error)
        return error;
    struct entering entering = {0};
    graph->port = malloc((size_t)count * count * sizeof *graph->port);
    error = graph->port ? graph_list_entering(topology, &graph->edges, &entering) : -ENOMEM;
    if (!error)
        error = graph_fill_table(topology, graph, &entering, why);
    free(entering.first);
    free(entering.entries);
    return error;
}

static void graph_finish(struct topology *topology)
{
    struct graph *graph = topology->state;
    if (!graph)
        return;
    topology_edges_free(&graph->edges);
    free(graph->port);
    free(graph);
}

/* The link that a route to the destination uses from a vertex. */
static uint32_t graph_next_link(const struct topology *topology, uint32_t at, uint32_t destination)
{
    const struct graph *graph = topology->state;
    uint16_t port = graph->port[(size_t)destination * topology->vertices + at];
    return graph->edges.link[graph->edges.first[at] + port];
}

static uint32_t graph_route(const struct topology *topology, uint32_t source, uint32_t destination,
                            uint32_t *links, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t at = source; at != destination;) {
        uint32_t link = graph_next_link(topology, at, destination);
        topology_put(links, capacity, &count, link);
        at = topology->spec.edges[link].to;
    }
    return count;
}

static int graph_crosses(const struct topology *topology, uint32_t source, uint32_t destination,
                         uint32_t link)
{
    for (uint32_t at = source; at != destination;) {
        uint32_t next = graph_next_link(topology, at, destination);
        if (next == link)
            return 1;
        at = topology->spec.edges[next].to;
    }
    return 0;
}

const struct topology_rules topology_graph = {
    .make = graph_make,
    .finish = graph_finish,
    .link = topology_edges_link,
    .between = topology_edges_between,
    .reverse = topology_edges_reverse,
    .out = topology_edges_out,
    .route = graph_route,
    .crosses = graph_crosses,
};
