/* Trees of given links: a route goes up to the lowest vertex above both ends, and down. */
#include "daemon/analysis/network/topology_edges.h"

#include <errno.h>
#include <stdlib.h>

/* A vertex of the tree; the root is the last vertex, which is a switch if there is one. */
struct vertex {
    uint32_t parent, up, down; /* links to it and from it; TOPOLOGY_NONE at the root */
    uint32_t depth;
};

struct tree {
    struct topology_edges edges;
    struct vertex *vertices; /* owned */
};

static int tree_refuse_pair(const struct topology *topology, const struct refusal *why,
                            const char *what, uint32_t a, uint32_t b)
{
    char from[TOPOLOGY_NAME + 1], to[TOPOLOGY_NAME + 1];
    topology_vertex_name(topology, a, from, sizeof from);
    topology_vertex_name(topology, b, to, sizeof to);
    return refusal_set(why, "%s %s and %s", what, from, to);
}

/* Search breadth first from the root. @param order  set; space for all vertices */
static int tree_find_parents(const struct topology *topology, const struct tree *tree,
                             uint32_t *order, const struct refusal *why)
{
    const struct topology_edges *edges = &tree->edges;
    struct vertex *vertices = tree->vertices;
    uint32_t count = topology->vertices, seen = 1, root = count - 1;
    for (uint32_t v = 0; v < count; v++)
        vertices[v] = (struct vertex){TOPOLOGY_NONE, TOPOLOGY_NONE, TOPOLOGY_NONE, 0};
    order[0] = root;
    for (uint32_t i = 0; i < seen; i++) {
        uint32_t v = order[i];
        for (uint32_t e = edges->first[v]; e < edges->first[v + 1]; e++) {
            uint32_t link = edges->link[e], child = topology->spec.edges[link].to;
            if (child == vertices[v].parent && vertices[v].up == link)
                continue;
            if (child == root || vertices[child].parent != TOPOLOGY_NONE)
                return tree_refuse_pair(topology, why, "the tree has a circle through", v, child);
            uint32_t up = topology_edges_between(topology, child, v);
            if (up == TOPOLOGY_NONE)
                return tree_refuse_pair(topology, why, "the tree has a link one way only between",
                                        v, child);
            vertices[child] = (struct vertex){v, up, link, vertices[v].depth + 1};
            order[seen++] = child;
        }
    }
    for (uint32_t v = 0; v < count; v++)
        if (v != root && vertices[v].parent == TOPOLOGY_NONE)
            return tree_refuse_pair(topology, why, "no link joins", v, root);
    return 0;
}

/* Find the longest route. @param height  zero; space for all vertices */
static void tree_find_diameter(struct topology *topology, const struct vertex *vertices,
                               const uint32_t *order, uint32_t *height)
{
    uint32_t count = topology->vertices;
    for (uint32_t i = count; i-- > 1;) {
        uint32_t v = order[i], parent = vertices[v].parent;
        if (height[parent] + height[v] + 1 > topology->diameter)
            topology->diameter = height[parent] + height[v] + 1;
        if (height[v] + 1 > height[parent])
            height[parent] = height[v] + 1;
    }
}

static int tree_make(struct topology *topology, const struct refusal *why)
{
    struct tree *tree = calloc(1, sizeof *tree);
    topology->state = tree;
    if (!tree)
        return -ENOMEM;
    int error = topology_edges_make(topology, &tree->edges, why);
    if (error)
        return error;
    uint32_t count = topology->vertices;
    tree->vertices = calloc(count, sizeof *tree->vertices);
    uint32_t *order = calloc(count, sizeof *order), *height = calloc(count, sizeof *height);
    error =
        tree->vertices && order && height ? tree_find_parents(topology, tree, order, why) : -ENOMEM;
    if (!error)
        tree_find_diameter(topology, tree->vertices, order, height);
    free(order);
    free(height);
    return error;
}

static void tree_finish(struct topology *topology)
{
    struct tree *tree = topology->state;
    if (!tree)
        return;
    topology_edges_free(&tree->edges);
    free(tree->vertices);
    free(tree);
}

/* The lowest vertex above both. */
static uint32_t tree_common_ancestor(const struct vertex *vertices, uint32_t a, uint32_t b)
{
    while (a != b)
        if (vertices[a].depth >= vertices[b].depth)
            a = vertices[a].parent;
        else
            b = vertices[b].parent;
    return a;
}

static uint32_t tree_route(const struct topology *topology, uint32_t source, uint32_t destination,
                           uint32_t *links, uint32_t capacity)
{
    const struct vertex *vertices = ((const struct tree *)topology->state)->vertices;
    uint32_t top = tree_common_ancestor(vertices, source, destination), count = 0;
    for (uint32_t v = source; v != top; v = vertices[v].parent)
        topology_put(links, capacity, &count, vertices[v].up);
    uint32_t length = count + vertices[destination].depth - vertices[top].depth, at = length;
    for (uint32_t v = destination; v != top; v = vertices[v].parent)
        if (--at < capacity)
            links[at] = vertices[v].down;
    return length;
}

static int tree_crosses(const struct topology *topology, uint32_t source, uint32_t destination,
                        uint32_t link)
{
    const struct vertex *vertices = ((const struct tree *)topology->state)->vertices;
    uint32_t top = tree_common_ancestor(vertices, source, destination);
    for (uint32_t v = source; v != top; v = vertices[v].parent)
        if (vertices[v].up == link)
            return 1;
    for (uint32_t v = destination; v != top; v = vertices[v].parent)
        if (vertices[v].down == link)
            return 1;
    return 0;
}

const struct topology_rules topology_tree = {
    .make = tree_make,
    .finish = tree_finish,
    .link = topology_edges_link,
    .between = topology_edges_between,
    .reverse = topology_edges_reverse,
    .out = topology_edges_out,
    .route = tree_route,
    .crosses = tree_crosses,
};
