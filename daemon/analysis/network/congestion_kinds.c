/* Kinds of links: see congestion.h. */
#include "daemon/analysis/network/congestion_kinds.h"

#include "daemon/analysis/tables/arena.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

#define MAXIMUM_DISTANCE 255u /* links to the nearest node; also where there are more */

/* A link, and its make as a number: links of equal makes are of one kind. */
struct made {
    uint64_t make;
    uint32_t link;
};

/* The arrays of the search; by vertex unless said otherwise. */
struct work {
    const struct topology *topology;
    uint32_t vertices, links;
    uint8_t *distance; /* links to the nearest node, at most FAR */
    uint32_t *group;   /* dragonfly: of a router, by the nodes on it; else NULL */
    uint32_t *queue;
    uint32_t *out; /* links that leave a vertex */
    uint32_t capacity;
    struct made *made;
    struct arena memory; /* of all arrays */
};

/* Search breadth first from all nodes. */
static void kinds_measure_distances(struct work *w)
{
    uint32_t begin = 0, end = 0;
    for (uint32_t v = 0; v < w->vertices; v++) {
        w->distance[v] = MAXIMUM_DISTANCE;
        if (topology_vertex_kind(w->topology, v) != VERTEX_NODE)
            continue;
        w->distance[v] = 0;
        w->queue[end++] = v;
    }
    while (begin < end) {
        uint32_t at = w->queue[begin++], from, to;
        uint32_t count = topology_out(w->topology, at, w->out, w->capacity);
        for (uint32_t i = 0;
             i < count && i < w->capacity && w->distance[at] + 1u < MAXIMUM_DISTANCE; i++) {
            if (!topology_link(w->topology, w->out[i], &from, &to) ||
                w->distance[to] != MAXIMUM_DISTANCE)
                continue;
            w->distance[to] = (uint8_t)(w->distance[at] + 1);
            w->queue[end++] = to;
        }
    }
}

static void kinds_find_groups(struct work *w)
{
    for (uint32_t link = 0; link < w->links; link++) {
        uint32_t from, to, at[TOPOLOGY_DIMENSIONS];
        if (topology_link(w->topology, link, &from, &to) &&
            topology_coordinates(w->topology, from, at) > 0)
            w->group[to] = at[0];
    }
}

static uint64_t kinds_link_make(const struct work *w, uint32_t link, uint32_t from, uint32_t to)
{
    const struct topology_spec *spec = topology_spec(w->topology);
    uint64_t make = (uint64_t)topology_vertex_kind(w->topology, from) << 60 |
                    (uint64_t)topology_vertex_kind(w->topology, to) << 56 |
                    (uint64_t)w->distance[from] << 48 | (uint64_t)w->distance[to] << 40;
    uint32_t dimension = 0;
    int direction = 0;
    if (spec->kind == TOPOLOGY_CARTESIAN &&
        topology_link_axis(w->topology, link, &dimension, &direction) &&
        spec->dimensions[dimension].connection == TOPOLOGY_ALL)
        make |= dimension + 1;
    if (w->group != NULL && w->distance[from] > 0 && w->distance[to] > 0)
        make |= w->group[from] != w->group[to];
    return make;
}

ORDER_FUNCTION(kinds_compare_makes, struct made, ORDER(a->make, b->make))

static void kinds_number_links(struct work *w, uint32_t *kinds, uint32_t *count)
{
    uint32_t made = 0, kind = 0;
    for (uint32_t link = 0; link < w->links; link++) {
        uint32_t from, to;
        kinds[link] = 0;
        if (topology_link(w->topology, link, &from, &to))
            w->made[made++] = (struct made){kinds_link_make(w, link, from, to), link};
    }
    qsort(w->made, made, sizeof(*w->made), kinds_compare_makes);
    for (uint32_t i = 0; i < made; i++) {
        kind += i > 0 && w->made[i].make != w->made[i - 1].make;
        kinds[w->made[i].link] = kind;
    }
    *count = kind + 1;
}

int congestion_kinds(const struct topology *topology, uint32_t *kinds, uint32_t *count)
{
    struct work w = {.topology = topology,
                     .vertices = topology_vertices(topology),
                     .links = topology_links(topology),
                     .capacity = 1};
    int dragonfly = topology_spec(topology)->kind == TOPOLOGY_DRAGONFLY;
    for (uint32_t v = 0; v < w.vertices; v++) {
        uint32_t out = topology_out(topology, v, NULL, 0);
        w.capacity = out > w.capacity ? out : w.capacity;
    }
    ARENA_TAKE(&w.memory, w.distance, w.vertices);
    if (dragonfly)
        ARENA_TAKE(&w.memory, w.group, w.vertices);
    ARENA_TAKE(&w.memory, w.queue, w.vertices);
    ARENA_TAKE(&w.memory, w.out, w.capacity);
    ARENA_TAKE(&w.memory, w.made, (size_t)w.links + 1);
    const int code = w.memory.failed ? -ENOMEM : 0;
    if (code == 0) {
        if (dragonfly)
            kinds_find_groups(&w);
        kinds_measure_distances(&w);
        kinds_number_links(&w, kinds, count);
    }
    arena_finish(&w.memory);
    return code;
}
