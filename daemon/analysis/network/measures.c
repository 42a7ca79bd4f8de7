/* Vertices of one node: see measures.h. */
#include "daemon/analysis/network/measures.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool measures_is_inner(const struct topology *topology, uint32_t vertex)
{
    enum topology_vertex kind = topology_vertex_kind(topology, vertex);
    return kind == VERTEX_CORE || kind == VERTEX_NUMA || kind == VERTEX_PROCESS;
}

/* Vertices within a node belong to the node that they are linked to, directly or through others
 * that belong to it. */
static void measures_spread_node(const struct topology *topology, uint32_t *out, uint32_t *queue,
                                 uint32_t *links, uint32_t capacity)
{
    uint32_t begin = 0, end = 0, vertices = topology_vertices(topology);
    for (uint32_t v = 0; v < vertices; v++)
        if (topology_vertex_kind(topology, v) == VERTEX_NODE)
            queue[end++] = v;
    while (begin < end) {
        uint32_t at = queue[begin++], count = topology_out(topology, at, links, capacity);
        for (uint32_t i = 0; i < count && i < capacity; i++) {
            uint32_t from, to;
            if (!topology_link(topology, links[i], &from, &to) || out[to] != to ||
                !measures_is_inner(topology, to))
                continue;
            out[to] = out[at];
            queue[end++] = to;
        }
    }
}

int measures_nodes(const struct topology *topology, uint32_t *out)
{
    uint32_t vertices = topology_vertices(topology), capacity = 1;
    bool inner = false;
    for (uint32_t v = 0; v < vertices; v++) {
        uint32_t count = topology_out(topology, v, NULL, 0);
        capacity = count > capacity ? count : capacity;
        out[v] = v;
        inner = inner || measures_is_inner(topology, v);
    }
    if (!inner)
        return 0;
    uint32_t *queue = malloc(vertices * sizeof(*queue)), *links = malloc(capacity * sizeof(*links));
    if (queue != NULL && links != NULL)
        measures_spread_node(topology, out, queue, links, capacity);
    int code = queue == NULL || links == NULL ? -ENOMEM : 0;
    free(queue);
    free(links);
    return code;
}
