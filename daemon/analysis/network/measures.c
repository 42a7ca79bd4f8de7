/* Measures of a mapping: see measures.h. */
#include "daemon/analysis/network/measures.h"
#include "daemon/analysis/network/link_loads.h"
#include "include/holter/error.h"

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

struct seating {
    const struct topology *topology;
    const uint32_t *seats;
    uint32_t processes;
    const uint32_t *nodes;
};

static int measures_add_pair(struct measures *out, const struct seating *s,
                             struct link_loads *loads, const struct measured_pair *pair)
{
    if (pair->source >= s->processes || pair->destination >= s->processes)
        return -HOLTER_ERANGE;
    uint32_t from = s->seats[pair->source], to = s->seats[pair->destination];
    uint32_t vertices = topology_vertices(s->topology);
    if (from >= vertices || to >= vertices)
        return -HOLTER_ERANGE;
    if (from == to)
        return 0;
    uint32_t length = topology_distance(s->topology, from, to);
    if (length == TOPOLOGY_NONE)
        return -HOLTER_EUNREACHABLE;
    out->hop_bytes += (double)pair->bytes * length;
    out->length += length;
    out->longest = length > out->longest ? length : out->longest;
    if (s->nodes[from] != s->nodes[to]) {
        out->inter_node_bytes += (double)pair->bytes;
        out->inter_node_messages += (double)pair->messages;
    }
    struct load_change change = {.source = from,
                                 .destination = to,
                                 .bytes = (int64_t)pair->bytes,
                                 .messages = (int64_t)pair->messages,
                                 .pairs = 1};
    return link_loads_add(loads, &change);
}

int measures_of(struct measures *out, const struct topology *topology, const uint32_t *seats,
                uint32_t processes, const struct measured_pair *pairs, size_t count)
{
    struct measures sum = {0};
    struct link_loads *loads = NULL;
    uint32_t *nodes = malloc(topology_vertices(topology) * sizeof(*nodes));
    struct seating seating = {topology, seats, processes, nodes};
    int code = nodes == NULL ? -ENOMEM : measures_nodes(topology, nodes);
    if (code == 0)
        code = link_loads_create(&loads, topology);
    for (size_t i = 0; code == 0 && i < count; i++)
        code = measures_add_pair(&sum, &seating, loads, &pairs[i]);
    if (code == 0) {
        const struct link_load *values = link_loads_update(loads);
        for (uint32_t link = 0; link < topology_links(topology); link++)
            if ((double)values[link].bytes > sum.max_link)
                sum.max_link = (double)values[link].bytes;
        *out = sum;
    }
    link_loads_destroy(loads);
    free(nodes);
    return code;
}
