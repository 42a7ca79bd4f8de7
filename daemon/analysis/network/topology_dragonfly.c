/* Canonical dragonflies (Kim, Dally, Scott, Abts, ISCA 2008), routed minimally.
 *
 * Vertices: nodes (group, router, node), the last fastest; then routers (group, router). Each
 * router is linked to all others of its group, and each group to every other one by one link:
 * global port k = router * global + port of a group leads to group k, or k + 1 if k is not below
 * the group itself
 * ("absolute" or consecutive arrangement; Hastings et al., CLUSTER 2015). Ports that are left over
 * have no link.
 *
 * Links: node n goes up by link n. Router r has links nodes + r * ports + port: nodes first, then
 * the other routers of its group, then its global ports.
 *
 * A route goes to the router from which the global link leaves, over it, and on to the router of
 * the destination: there is exactly one, of at most local, global, local. (A detour by a third
 * group may be as short, when both of its routers are right; minimal routing does not look for
 * that.) */
#include "daemon/analysis/network/topology_inner.h"

struct shape {
    uint32_t groups, routers, nodes,
        global;     /* routers of a group, nodes and global links of a router */
    uint32_t ports; /* of a router */
    uint32_t all;   /* nodes of the network */
};

static struct shape dragonfly_shape(const struct topology *topology)
{
    const struct topology_dimension *d = topology->spec.dimensions;
    struct shape shape = {d[0].size, d[1].size, d[2].size, d[3].size, 0, topology->nodes};
    shape.ports = shape.nodes + shape.routers - 1 + shape.global;
    return shape;
}

static int dragonfly_make(struct topology *topology, const struct refusal *why)
{
    const struct topology_spec *spec = &topology->spec;
    if (spec->dimension_count != 4)
        return refusal_set(why, "a dragonfly is described by groups, routers, nodes, global links");
    if (spec->edge_count)
        return refusal_set(why, "links of a dragonfly follow from its sizes");
    uint64_t count = 1;
    for (uint32_t d = 0; d < 3; d++) {
        if (spec->dimensions[d].size == 0)
            return refusal_set(why, "dimension %u has size 0", d + 1);
        count *= spec->dimensions[d].size;
        if (count > TOPOLOGY_MAX_VERTICES)
            return refusal_limit(why, "more than %u nodes", TOPOLOGY_MAX_VERTICES);
    }
    topology->nodes = (uint32_t)count;
    if (spec->dimensions[3].size > TOPOLOGY_MAXIMUM_LINKS)
        return refusal_limit(why, "more than %u links", TOPOLOGY_MAXIMUM_LINKS);
    struct shape shape = dragonfly_shape(topology);
    uint64_t routers = (uint64_t)shape.groups * shape.routers;
    uint64_t links = count + routers * shape.ports;
    if (count + routers > TOPOLOGY_MAX_VERTICES)
        return refusal_limit(why, "more than %u vertices", TOPOLOGY_MAX_VERTICES);
    if (links > TOPOLOGY_MAXIMUM_LINKS)
        return refusal_limit(why, "more than %u links", TOPOLOGY_MAXIMUM_LINKS);
    if (shape.groups - 1 > (uint64_t)shape.routers * shape.global)
        return refusal_set(why, "the %llu global links of a group do not reach %u other groups",
                           (unsigned long long)shape.routers * shape.global, shape.groups - 1);
    topology->vertices = (uint32_t)(count + routers);
    topology->links = (uint32_t)links;
    const uint32_t up_and_down = count > 1 ? 2 : 1; /* a single node: to its router only */
    topology->diameter =
        up_and_down + (shape.routers > 1) * (shape.groups > 1 ? 2u : 1u) + (shape.groups > 1);
    return 0;
}

/* Number of the router of a node, or of a router itself; from 0. */
static uint32_t dragonfly_router_of(const struct shape *shape, uint32_t vertex)
{
    return vertex < shape->all ? vertex / shape->nodes : vertex - shape->all;
}

static uint32_t dragonfly_node_link(const struct shape *shape, uint32_t router, uint32_t port)
{
    return shape->all + router * shape->ports + port;
}

/* Number of the link to another router of the same group. */
static uint32_t dragonfly_local_link(const struct shape *shape, uint32_t router, uint32_t other)
{
    uint32_t own = router % shape->routers, to = other % shape->routers;
    return dragonfly_node_link(shape, router, shape->nodes + (to < own ? to : to - 1));
}

/* The router of a group that has the link to another group. */
static uint32_t dragonfly_gateway(const struct shape *shape, uint32_t group, uint32_t to)
{
    uint32_t k = to < group ? to : to - 1;
    return group * shape->routers + k / shape->global;
}

static uint32_t dragonfly_global_link(const struct shape *shape, uint32_t group, uint32_t to)
{
    uint32_t k = to < group ? to : to - 1;
    return dragonfly_node_link(shape, dragonfly_gateway(shape, group, to),
                               shape->nodes + shape->routers - 1 + k % shape->global);
}

static int dragonfly_link(const struct topology *topology, uint32_t link, uint32_t *from,
                          uint32_t *to)
{
    struct shape shape = dragonfly_shape(topology);
    if (link < shape.all) {
        *from = link;
        *to = shape.all + link / shape.nodes;
        return 1;
    }
    uint32_t router = (link - shape.all) / shape.ports, port = (link - shape.all) % shape.ports;
    uint32_t group = router / shape.routers, own = router % shape.routers;
    uint32_t end;
    if (port < shape.nodes) {
        end = router * shape.nodes + port;
    } else if (port < shape.nodes + shape.routers - 1) {
        uint32_t other = port - shape.nodes;
        end = shape.all + group * shape.routers + (other < own ? other : other + 1);
    } else {
        uint32_t k = own * shape.global + port - (shape.nodes + shape.routers - 1);
        if (k >= shape.groups - 1)
            return 0;
        end = shape.all + dragonfly_gateway(&shape, k < group ? k : k + 1, group);
    }
    *from = shape.all + router;
    *to = end;
    return 1;
}

static uint32_t dragonfly_between(const struct topology *topology, uint32_t from, uint32_t to)
{
    struct shape shape = dragonfly_shape(topology);
    uint32_t a = dragonfly_router_of(&shape, from), b = dragonfly_router_of(&shape, to);
    if (from < shape.all)
        return to >= shape.all && a == b ? from : TOPOLOGY_NONE;
    if (to < shape.all)
        return a == b ? dragonfly_node_link(&shape, a, to % shape.nodes) : TOPOLOGY_NONE;
    uint32_t group = a / shape.routers, other = b / shape.routers;
    if (group == other)
        return dragonfly_local_link(&shape, a, b);
    if (dragonfly_gateway(&shape, group, other) != a ||
        dragonfly_gateway(&shape, other, group) != b)
        return TOPOLOGY_NONE;
    return dragonfly_global_link(&shape, group, other);
}

static uint32_t dragonfly_out(const struct topology *topology, uint32_t vertex, uint32_t *links,
                              uint32_t capacity)
{
    struct shape shape = dragonfly_shape(topology);
    uint32_t count = 0, from, to;
    if (vertex < shape.all)
        topology_put(links, capacity, &count, vertex);
    else
        for (uint32_t port = 0; port < shape.ports; port++) {
            uint32_t link = dragonfly_node_link(&shape, vertex - shape.all, port);
            if (dragonfly_link(topology, link, &from, &to))
                topology_put(links, capacity, &count, link);
        }
    return count;
}

static uint32_t dragonfly_route(const struct topology *topology, uint32_t source,
                                uint32_t destination, uint32_t *links, uint32_t capacity)
{
    struct shape shape = dragonfly_shape(topology);
    uint32_t at = dragonfly_router_of(&shape, source),
             end = dragonfly_router_of(&shape, destination), count = 0;
    uint32_t group = at / shape.routers, other = end / shape.routers;
    if (source < shape.all)
        topology_put(links, capacity, &count, source);
    if (group != other) {
        uint32_t leave = dragonfly_gateway(&shape, group, other);
        if (at != leave)
            topology_put(links, capacity, &count, dragonfly_local_link(&shape, at, leave));
        topology_put(links, capacity, &count, dragonfly_global_link(&shape, group, other));
        at = dragonfly_gateway(&shape, other, group);
    }
    if (at != end)
        topology_put(links, capacity, &count, dragonfly_local_link(&shape, at, end));
    if (destination < shape.all)
        topology_put(links, capacity, &count,
                     dragonfly_node_link(&shape, end, destination % shape.nodes));
    return count;
}

const struct topology_rules topology_dragonfly = {
    .make = dragonfly_make,
    .link = dragonfly_link,
    .between = dragonfly_between,
    .out = dragonfly_out,
    .route = dragonfly_route,
};
