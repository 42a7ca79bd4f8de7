/* Extended generalised fat trees, XGFT(h; m1..mh; w1..wh) (Oehring et al., IPPS 1995), with D-mod-K
 * routing (Zahavi, J. Parallel Distrib. Comput. 2012).
 *
 * A vertex of level l has digits x_1 .. x_h; x_i is below w_i up to level l and below m_i above it,
 * and x_1 varies fastest. Its neighbours at level l + 1 differ in x_(l+1) only, which there is the
 * port that leads up, and at level l the port that leads down. Nodes are level 0, numbered first;
 * then come the switches, level by level.
 *
 * Links: up from level 0, down from level 1, up from level 1, ... each vertex by vertex, port by
 * port.
 *
 * A route from source to destination d climbs until d is below it, by port floor(d / (w_1 .. w_l))
 * mod w_(l+1) at level l, and descends by the digits of d. Only routes between nodes are known. */
#include "daemon/analysis/network/topology_inner.h"

#include <errno.h>
#include <stdlib.h>

struct levels {
    uint32_t height;
    uint32_t m[TOPOLOGY_DIMENSIONS + 1], w[TOPOLOGY_DIMENSIONS + 1]; /* from 1 */
    uint32_t below[TOPOLOGY_DIMENSIONS + 1]; /* m_1 .. m_l: nodes below a vertex of level l */
    uint32_t wide[TOPOLOGY_DIMENSIONS + 1];  /* w_1 .. w_l */
    /* of level l, with an end: first vertex, first link up and first link down */
    uint32_t first[TOPOLOGY_DIMENSIONS + 2], up[TOPOLOGY_DIMENSIONS + 2];
    uint32_t down[TOPOLOGY_DIMENSIONS + 2];
};

/* Vertices of a level; TOPOLOGY_MAX_VERTICES + 1: more than are allowed. */
static uint64_t fat_tree_level_size(const struct levels *levels, uint32_t level)
{
    uint64_t count = 1;
    for (uint32_t i = 1; i <= levels->height; i++) {
        count *= i <= level ? levels->w[i] : levels->m[i];
        if (count > TOPOLOGY_MAX_VERTICES)
            return TOPOLOGY_MAX_VERTICES + 1u;
    }
    return count;
}

static int fat_tree_count_levels(struct topology *topology, struct levels *levels,
                                 const struct refusal *why)
{
    uint64_t vertices = 0, links = 0;
    levels->below[0] = levels->wide[0] = 1;
    for (uint32_t l = 0; l <= levels->height; l++) {
        uint64_t size = fat_tree_level_size(levels, l);
        levels->first[l] = (uint32_t)vertices;
        levels->down[l] = (uint32_t)links;
        links += l > 0 ? size * levels->m[l] : 0;
        levels->up[l] = (uint32_t)links;
        links += l < levels->height ? size * levels->w[l + 1] : 0;
        vertices += size;
        if (vertices > TOPOLOGY_MAX_VERTICES)
            return refusal_limit(why, "more than %u vertices", TOPOLOGY_MAX_VERTICES);
        if (links > TOPOLOGY_MAXIMUM_LINKS)
            return refusal_limit(why, "more than %u links", TOPOLOGY_MAXIMUM_LINKS);
        if (l > 0) { /* no larger than the lowest and highest level, which fit */
            levels->below[l] = levels->below[l - 1] * levels->m[l];
            levels->wide[l] = levels->wide[l - 1] * levels->w[l];
        }
    }
    levels->first[levels->height + 1] = (uint32_t)vertices;
    topology->nodes = levels->first[1];
    topology->vertices = (uint32_t)vertices;
    topology->links = (uint32_t)links;
    return 0;
}

static int fat_tree_make(struct topology *topology, const struct refusal *why)
{
    const struct topology_spec *spec = &topology->spec;
    if (spec->dimension_count == 0)
        return refusal_set(why, "the fat tree has no levels");
    if (spec->edge_count)
        return refusal_set(why, "links of a fat tree follow from its levels");
    struct levels *levels = calloc(1, sizeof *levels);
    topology->state = levels;
    if (!levels)
        return -ENOMEM;
    levels->height = spec->dimension_count;
    for (uint32_t l = 1; l <= levels->height; l++) {
        levels->m[l] = spec->dimensions[l - 1].size;
        levels->w[l] = spec->dimensions[l - 1].up;
        if (levels->m[l] == 0 || levels->w[l] == 0)
            return refusal_set(why, "level %u of the fat tree has no %s", l,
                               levels->m[l] ? "parents" : "children");
        if (levels->m[l] > 1) /* otherwise no two nodes meet at this level first */
            topology->diameter = 2 * l;
    }
    return fat_tree_count_levels(topology, levels, why);
}

static void fat_tree_finish(struct topology *topology)
{
    free(topology->state);
}

static uint32_t fat_tree_level_of(const struct levels *levels, uint32_t vertex)
{
    uint32_t l = 0;
    while (vertex >= levels->first[l + 1])
        l++;
    return l;
}

/* Digit l of a vertex of level l - 1 (a child) or l (a parent), counted within its level. */
static uint32_t fat_tree_digit(const struct levels *levels, uint32_t l, uint32_t index, int parent)
{
    return index / levels->wide[l - 1] % (parent ? levels->w[l] : levels->m[l]);
}

/* The vertex that differs in digit l only and is at the other one of levels l - 1 and l. */
static uint32_t fat_tree_sibling(const struct levels *levels, uint32_t l, uint32_t index,
                                 int parent, uint32_t value)
{
    uint32_t low = index % levels->wide[l - 1], rest = index / levels->wide[l - 1];
    uint32_t high = rest / (parent ? levels->w[l] : levels->m[l]);
    uint32_t other =
        low + levels->wide[l - 1] * (value + (parent ? levels->m[l] : levels->w[l]) * high);
    return levels->first[parent ? l - 1 : l] + other;
}

static uint32_t fat_tree_up_link(const struct levels *levels, uint32_t level, uint32_t index,
                                 uint32_t port)
{
    return levels->up[level] + index * levels->w[level + 1] + port;
}

static uint32_t fat_tree_down_link(const struct levels *levels, uint32_t level, uint32_t index,
                                   uint32_t port)
{
    return levels->down[level] + index * levels->m[level] + port;
}

static int fat_tree_link(const struct topology *topology, uint32_t link, uint32_t *from,
                         uint32_t *to)
{
    const struct levels *levels = topology->state;
    uint32_t l = levels->height;
    while (link < levels->down[l])
        l--;
    if (l < levels->height && link >= levels->up[l]) {
        uint32_t index = (link - levels->up[l]) / levels->w[l + 1];
        *from = levels->first[l] + index;
        *to = fat_tree_sibling(levels, l + 1, index, 0, (link - levels->up[l]) % levels->w[l + 1]);
    } else {
        uint32_t index = (link - levels->down[l]) / levels->m[l];
        *from = levels->first[l] + index;
        *to = fat_tree_sibling(levels, l, index, 1, (link - levels->down[l]) % levels->m[l]);
    }
    return 1;
}

static uint32_t fat_tree_between(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct levels *levels = topology->state;
    uint32_t a = fat_tree_level_of(levels, from), b = fat_tree_level_of(levels, to);
    uint32_t own = from - levels->first[a], other = to - levels->first[b];
    if (b == a + 1) {
        uint32_t port = fat_tree_digit(levels, b, other, 1);
        return fat_tree_sibling(levels, b, own, 0, port) == to
                   ? fat_tree_up_link(levels, a, own, port)
                   : TOPOLOGY_NONE;
    }
    if (a == b + 1) {
        uint32_t port = fat_tree_digit(levels, a, other, 0);
        return fat_tree_sibling(levels, a, own, 1, port) == to
                   ? fat_tree_down_link(levels, a, own, port)
                   : TOPOLOGY_NONE;
    }
    return TOPOLOGY_NONE;
}

static uint32_t fat_tree_out(const struct topology *topology, uint32_t vertex, uint32_t *links,
                             uint32_t capacity)
{
    const struct levels *levels = topology->state;
    uint32_t l = fat_tree_level_of(levels, vertex), index = vertex - levels->first[l], count = 0;
    for (uint32_t port = 0; l > 0 && port < levels->m[l]; port++)
        topology_put(links, capacity, &count, fat_tree_down_link(levels, l, index, port));
    for (uint32_t port = 0; l < levels->height && port < levels->w[l + 1]; port++)
        topology_put(links, capacity, &count, fat_tree_up_link(levels, l, index, port));
    return count;
}

/* The lowest level with a switch above both nodes. */
static uint32_t fat_tree_meeting_level(const struct levels *levels, uint32_t source,
                                       uint32_t destination)
{
    uint32_t l = 0;
    while (source / levels->below[l] != destination / levels->below[l])
        l++;
    return l;
}

static uint32_t fat_tree_distance(const struct topology *topology, uint32_t source,
                                  uint32_t destination)
{
    if (source >= topology->nodes || destination >= topology->nodes)
        return TOPOLOGY_NONE;
    return 2 * fat_tree_meeting_level(topology->state, source, destination);
}

static uint32_t fat_tree_route(const struct topology *topology, uint32_t source,
                               uint32_t destination, uint32_t *links, uint32_t capacity)
{
    const struct levels *levels = topology->state;
    if (source >= topology->nodes || destination >= topology->nodes)
        return TOPOLOGY_NONE;
    uint32_t top = fat_tree_meeting_level(levels, source, destination), count = 0, at = source;
    for (uint32_t l = 0; l < top; l++) {
        uint32_t port = destination / levels->wide[l] % levels->w[l + 1];
        topology_put(links, capacity, &count,
                     fat_tree_up_link(levels, l, at - levels->first[l], port));
        at = fat_tree_sibling(levels, l + 1, at - levels->first[l], 0, port);
    }
    for (uint32_t l = top; l > 0; l--) {
        uint32_t port = destination / levels->below[l - 1] % levels->m[l];
        topology_put(links, capacity, &count,
                     fat_tree_down_link(levels, l, at - levels->first[l], port));
        at = fat_tree_sibling(levels, l, at - levels->first[l], 1, port);
    }
    return count;
}

const struct topology_rules topology_fat_tree = {
    .make = fat_tree_make,
    .finish = fat_tree_finish,
    .link = fat_tree_link,
    .between = fat_tree_between,
    .out = fat_tree_out,
    .distance = fat_tree_distance,
    .route = fat_tree_route,
};
