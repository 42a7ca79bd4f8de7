/* Tori, meshes and all-to-all dimensions, routed dimension by dimension. */
#include "daemon/analysis/network/topology_inner.h"

#define UP 0
#define DOWN 1
#define ACROSS 2

static uint32_t cartesian_count_ports(const struct topology_dimension *dimension)
{
    if (dimension->size <= 2)
        return dimension->size - 1;
    return dimension->connection == TOPOLOGY_ALL ? dimension->size - 1 : 2;
}

static uint32_t cartesian_longest_leg(const struct topology_dimension *dimension)
{
    if (dimension->connection == TOPOLOGY_ALL)
        return dimension->size > 1;
    if (dimension->connection == TOPOLOGY_MESH)
        return dimension->size - 1;
    return dimension->size / 2;
}

static int cartesian_make_order(struct topology *topology, const struct refusal *why)
{
    const struct topology_spec *spec = &topology->spec;
    uint32_t seen = 0;
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        uint32_t step = spec->dimensions[d].step;
        if (step >= spec->dimension_count || seen & 1u << step)
            return refusal_set(why, "the order of dimensions is no permutation: %u comes %s", step,
                               step >= spec->dimension_count ? "too late" : "twice");
        seen |= 1u << step;
        topology->grid.order[step] = d;
    }
    return 0;
}

static int cartesian_make(struct topology *topology, const struct refusal *why)
{
    const struct topology_spec *spec = &topology->spec;
    struct topology_grid *grid = &topology->grid;
    uint64_t nodes = 1, ports = 0;
    if (spec->dimension_count == 0)
        return refusal_set(why, "the network has no dimensions");
    if (spec->edge_count)
        return refusal_set(why, "links of a network with dimensions follow from these");
    for (uint32_t d = spec->dimension_count; d-- > 0;) {
        const struct topology_dimension *dimension = &spec->dimensions[d];
        if (dimension->size == 0)
            return refusal_set(why, "dimension %u has size 0", d + 1);
        grid->size[d] = dimension->size;
        grid->stride[d] = (uint32_t)nodes;
        nodes *= dimension->size;
        if (nodes > TOPOLOGY_MAX_VERTICES)
            return refusal_limit(why, "more than %u nodes", TOPOLOGY_MAX_VERTICES);
        topology->diameter += cartesian_longest_leg(dimension);
    }
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        grid->port[d] = (uint32_t)ports;
        ports += cartesian_count_ports(&spec->dimensions[d]);
    }
    if (nodes * ports > TOPOLOGY_MAXIMUM_LINKS)
        return refusal_limit(why, "more than %u links", TOPOLOGY_MAXIMUM_LINKS);
    grid->dimensions = spec->dimension_count;
    grid->ports = (uint32_t)ports;
    topology->nodes = topology->vertices = (uint32_t)nodes;
    topology->links = (uint32_t)(nodes * ports);
    return cartesian_make_order(topology, why);
}

static uint32_t cartesian_coordinate(const struct topology_grid *grid, uint32_t node, uint32_t d)
{
    return node / grid->stride[d] % grid->size[d];
}

/* Port of the first link from coordinate a towards b in a direction. */
static uint32_t cartesian_port_towards(uint32_t size, uint32_t a, uint32_t b, int direction)
{
    if (direction == ACROSS)
        return b < a ? b : b - 1;
    return direction == DOWN && size > 2;
}

/* Cartesian: hops that a route makes along a dimension, and in which direction: 0 up, 1 down, 2
 * all-to-all. Coordinates within the dimension's size. */
static uint32_t topology_leg(const struct topology *topology, uint32_t dimension, uint32_t from,
                             uint32_t to, int *direction)
{
    const struct topology_dimension *along = &topology->spec.dimensions[dimension];
    uint32_t up = to >= from ? to - from : along->size - from + to, down = along->size - up;
    *direction = UP;
    if (from == to)
        return 0;
    switch (along->connection) {
    case TOPOLOGY_ALL:
        *direction = ACROSS;
        return 1;
    case TOPOLOGY_MESH:
        *direction = to > from ? UP : DOWN;
        return to > from ? up : down;
    case TOPOLOGY_TORUS:
        break;
    }
    if (along->size == 2) { /* one link each way, whatever the rule for ties */
        *direction = from == 0 ? UP : DOWN;
        return 1;
    }
    if (up < down)
        return up;
    if (up == down && (topology->spec.tie == TOPOLOGY_TIE_PLUS ||
                       (topology->spec.tie == TOPOLOGY_TIE_PARITY && from % 2 == 0)))
        return up;
    *direction = DOWN;
    return down;
}

/* A link by its dimension, its port within the dimension, and the coordinate at its beginning. */
struct place {
    uint32_t node, dimension, port, at;
};

static struct place cartesian_port_axis(const struct topology *topology, uint32_t link)
{
    const struct topology_grid *grid = &topology->grid;
    struct place place = {.node = link / grid->ports, .port = link % grid->ports};
    uint32_t d = grid->dimensions - 1;
    while (grid->port[d] > place.port)
        d--;
    place.dimension = d;
    place.port -= grid->port[d];
    place.at = cartesian_coordinate(grid, place.node, d);
    return place;
}

/* Coordinate at the end of a link; its size when there is no such link. */
static uint32_t cartesian_port_end(const struct topology *topology, const struct place *place)
{
    uint32_t size = topology->grid.size[place->dimension];
    enum topology_connection connection = topology->spec.dimensions[place->dimension].connection;
    if (size == 2)
        return 1 - place->at;
    if (connection == TOPOLOGY_ALL)
        return place->port < place->at ? place->port : place->port + 1;
    int edge = connection == TOPOLOGY_MESH;
    if (place->port == UP)
        return place->at + 1 < size ? place->at + 1 : edge ? size : 0;
    return place->at > 0 ? place->at - 1 : edge ? size : size - 1;
}

static uint32_t cartesian_move_node(const struct topology_grid *grid, uint32_t node, uint32_t d,
                                    uint32_t from, uint32_t to)
{
    return node - from * grid->stride[d] + to * grid->stride[d];
}

static int cartesian_link(const struct topology *topology, uint32_t link, uint32_t *from,
                          uint32_t *to)
{
    struct place place = cartesian_port_axis(topology, link);
    uint32_t end = cartesian_port_end(topology, &place);
    if (end == topology->grid.size[place.dimension])
        return 0;
    *from = place.node;
    *to = cartesian_move_node(&topology->grid, place.node, place.dimension, place.at, end);
    return 1;
}

/* Direction of the link between neighbouring coordinates; -1: they are not neighbours. */
static int cartesian_step_direction(const struct topology *topology, uint32_t d, uint32_t a,
                                    uint32_t b)
{
    uint32_t size = topology->grid.size[d];
    enum topology_connection connection = topology->spec.dimensions[d].connection;
    if (connection == TOPOLOGY_ALL)
        return ACROSS;
    if (b == a + 1)
        return UP;
    if (a == b + 1)
        return DOWN;
    if (connection == TOPOLOGY_MESH)
        return -1;
    return a == size - 1 && b == 0 ? UP : a == 0 && b == size - 1 ? DOWN : -1;
}

static uint32_t cartesian_between(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct topology_grid *grid = &topology->grid;
    uint32_t along = grid->dimensions;
    for (uint32_t d = 0; d < grid->dimensions; d++)
        if (cartesian_coordinate(grid, from, d) != cartesian_coordinate(grid, to, d)) {
            if (along < grid->dimensions)
                return TOPOLOGY_NONE;
            along = d;
        }
    if (along == grid->dimensions)
        return TOPOLOGY_NONE;
    uint32_t a = cartesian_coordinate(grid, from, along), b = cartesian_coordinate(grid, to, along);
    int direction = cartesian_step_direction(topology, along, a, b);
    if (direction < 0)
        return TOPOLOGY_NONE;
    return from * grid->ports + grid->port[along] +
           cartesian_port_towards(grid->size[along], a, b, direction);
}

static uint32_t cartesian_out(const struct topology *topology, uint32_t vertex, uint32_t *links,
                              uint32_t capacity)
{
    uint32_t count = 0, from, to, ports = topology->grid.ports;
    for (uint32_t port = 0; port < ports; port++)
        if (cartesian_link(topology, vertex * ports + port, &from, &to))
            topology_put(links, capacity, &count, vertex * ports + port);
    return count;
}

static uint32_t cartesian_distance(const struct topology *topology, uint32_t source,
                                   uint32_t destination)
{
    const struct topology_grid *grid = &topology->grid;
    uint32_t distance = 0;
    int direction;
    for (uint32_t d = 0; d < grid->dimensions; d++)
        distance += topology_leg(topology, d, cartesian_coordinate(grid, source, d),
                                 cartesian_coordinate(grid, destination, d), &direction);
    return distance;
}

static uint32_t cartesian_next_coordinate(uint32_t size, uint32_t at, uint32_t to, int direction)
{
    if (direction == ACROSS)
        return to;
    if (direction == UP)
        return at + 1 < size ? at + 1 : 0;
    return at > 0 ? at - 1 : size - 1;
}

static uint32_t cartesian_route(const struct topology *topology, uint32_t source,
                                uint32_t destination, uint32_t *links, uint32_t capacity)
{
    const struct topology_grid *grid = &topology->grid;
    uint32_t count = 0, node = source;
    for (uint32_t step = 0; step < grid->dimensions; step++) {
        uint32_t d = grid->order[step], size = grid->size[d];
        uint32_t at = cartesian_coordinate(grid, source, d),
                 to = cartesian_coordinate(grid, destination, d);
        int direction;
        uint32_t hops = topology_leg(topology, d, at, to, &direction);
        for (; hops > 0; hops--) {
            topology_put(links, capacity, &count,
                         node * grid->ports + grid->port[d] +
                             cartesian_port_towards(size, at, to, direction));
            uint32_t next = cartesian_next_coordinate(size, at, to, direction);
            node = cartesian_move_node(grid, node, d, at, next);
            at = next;
        }
    }
    return count;
}

/* While a route corrects a dimension, those before have the coordinates of its destination and
 * those after the coordinates of its source. */
static int cartesian_crosses(const struct topology *topology, uint32_t source, uint32_t destination,
                             uint32_t link)
{
    const struct topology_grid *grid = &topology->grid;
    struct place place = cartesian_port_axis(topology, link);
    uint32_t d = place.dimension, size = grid->size[d];
    uint32_t step = topology->spec.dimensions[d].step;
    for (uint32_t other = 0; other < grid->dimensions; other++) {
        uint32_t like = topology->spec.dimensions[other].step < step ? destination : source;
        if (other != d && cartesian_coordinate(grid, place.node, other) !=
                              cartesian_coordinate(grid, like, other))
            return 0;
    }
    uint32_t from = cartesian_coordinate(grid, source, d),
             to = cartesian_coordinate(grid, destination, d);
    int direction;
    uint32_t hops = topology_leg(topology, d, from, to, &direction);
    if (hops == 0 || place.port != cartesian_port_towards(size, place.at, to, direction))
        return 0;
    if (direction == ACROSS)
        return place.at == from;
    uint32_t backward =
        direction == UP ? (place.at + size - from) % size : (from + size - place.at) % size;
    return backward < hops;
}

int topology_link_axis(const struct topology *topology, uint32_t link, uint32_t *dimension,
                       int *direction)
{
    uint32_t from, to;
    if (topology->spec.kind != TOPOLOGY_CARTESIAN || !topology_link(topology, link, &from, &to))
        return 0;
    struct place place = cartesian_port_axis(topology, link);
    *dimension = place.dimension;
    if (topology->spec.dimensions[place.dimension].connection == TOPOLOGY_ALL)
        *direction = ACROSS;
    else if (topology->grid.size[place.dimension] == 2)
        *direction = place.at == 0 ? UP : DOWN;
    else
        *direction = place.port == 0 ? UP : DOWN;
    return 1;
}

const struct topology_rules topology_cartesian = {
    .make = cartesian_make,
    .link = cartesian_link,
    .between = cartesian_between,
    .out = cartesian_out,
    .distance = cartesian_distance,
    .route = cartesian_route,
    .crosses = cartesian_crosses,
};
