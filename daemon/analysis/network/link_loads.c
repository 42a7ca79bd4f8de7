/* Loads of links from pairs of vertices: see link_loads.h. */
#include "daemon/analysis/network/link_loads.h"
#include "include/holter/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE TOPOLOGY_NONE

/* The rings (or lines) of a dimension. The links of a ring are stored together: the links up from
 * coordinate 0, 1, ..., then the links down, each at the place of the lower coordinate that it
 * joins (the link around the end at the place of the last). So a leg down from b to a has the
 * places of the leg up from a to b. */
struct axis {
    enum topology_connection connection;
    uint32_t size, stride;
    struct link_load
        *difference;  /* owned; the load is the sum from the first place of the direction on */
    uint32_t *links;  /* owned; number of the link by place; NONE: there is none */
    uint8_t *touched; /* owned; by ring: 1: changed since the last settle */
    uint32_t *rings;  /* owned; the rings that are touched */
    uint32_t count;
    uint32_t *direct; /* owned; all-to-all: number of the link by ring, from, to; the other arrays
                         are NULL */
};

/* The position of a node in a dimension. Routes correct dimensions in turn, so that a leg has the
 * destination's coordinates in the dimensions corrected before, and the source's in those corrected
 * later; the number of a ring is a sum over both. */
struct position {
    uint32_t coordinate;
    uint32_t before; /* what dimensions corrected before add to the number of the ring */
    uint32_t after;  /* what dimensions corrected later add */
};

struct link_loads {
    const struct topology *topology; /* borrowed */
    uint32_t vertex_count, link_count;
    struct link_load *values;     /* owned */
    struct vertex_load *vertices; /* owned */
    uint32_t *route;              /* owned; capacity for the longest route */
    uint32_t capacity;
    bool cartesian;
    enum topology_tie tie;
    uint32_t axis_count;
    struct axis axes[TOPOLOGY_DIMENSIONS]; /* as routes correct them */
    struct position *positions;            /* owned; of each node, axis by axis */
    uint64_t *given;                       /* owned; pairs with a route by table, ascending */
    size_t given_count;
    size_t bytes;
};

/* Allocate an array of at least one element, so that NULL means failure. */
static void *loads_allocate(struct link_loads *l, size_t count, size_t size)
{
    count = count == 0 ? 1 : count;
    l->bytes += count * size;
    return calloc(count, size);
}

static uint64_t loads_pair_key(uint32_t source, uint32_t destination)
{
    return (uint64_t)source << 32 | destination;
}

static int loads_compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int loads_init_given(struct link_loads *l, const struct topology_spec *spec)
{
    l->given = loads_allocate(l, spec->route_count, sizeof(*l->given));
    if (l->given == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < spec->route_count; i++) {
        const struct topology_table *route = &spec->routes[i];
        if (route->count == 0)
            continue;
        const uint32_t *path = &spec->path[route->first];
        l->given[l->given_count++] = loads_pair_key(path[0], path[route->count - 1]);
    }
    qsort(l->given, l->given_count, sizeof(*l->given), loads_compare_keys);
    return 0;
}

static int loads_init_rings(struct link_loads *l, struct axis *axis)
{
    size_t places = 2 * (size_t)l->vertex_count, rings = l->vertex_count / axis->size;
    if (axis->connection == TOPOLOGY_ALL) {
        size_t links = (size_t)l->vertex_count * axis->size;
        axis->direct = loads_allocate(l, links, sizeof(*axis->direct));
        return axis->direct == NULL ? -ENOMEM : 0;
    }
    axis->difference = loads_allocate(l, places, sizeof(*axis->difference));
    axis->links = loads_allocate(l, places, sizeof(*axis->links));
    axis->touched = loads_allocate(l, rings, sizeof(*axis->touched));
    axis->rings =
        loads_allocate(l, rings + 1, sizeof(*axis->rings)); /* written one past the last */
    if (axis->difference == NULL || axis->links == NULL || axis->touched == NULL ||
        axis->rings == NULL)
        return -ENOMEM;
    memset(axis->links, 0xff, places * sizeof(*axis->links));
    return 0;
}

/* Rings of axis i are numbered by the nodes at their beginning, row-major without that dimension.
 */
static void loads_init_positions(struct link_loads *l, uint32_t i)
{
    const struct axis *axis = &l->axes[i];
    for (uint32_t n = 0; n < l->vertex_count; n++) {
        struct position *spot = &l->positions[(size_t)i * l->vertex_count + n];
        spot->coordinate = n / axis->stride % axis->size;
        for (uint32_t k = 0; k < l->axis_count; k++) {
            const struct axis *other = &l->axes[k];
            uint32_t weight =
                other->stride > axis->stride ? other->stride / axis->size : other->stride;
            uint32_t part = n / other->stride % other->size * weight;
            /* Of dimensions of size 1 several have the same stride: their coordinate is 0. */
            spot->before += k < i ? part : 0;
            spot->after += k > i ? part : 0;
        }
    }
}

static const struct position *loads_positions(const struct link_loads *l, uint32_t i)
{
    return &l->positions[(size_t)i * l->vertex_count];
}

static void loads_place_link(struct link_loads *l, uint32_t link, const uint32_t *place)
{
    uint32_t from, to, dimension;
    int direction;
    if (!topology_link(l->topology, link, &from, &to) ||
        !topology_link_axis(l->topology, link, &dimension, &direction))
        return;
    uint32_t at = place[dimension];
    struct axis *axis = &l->axes[at];
    const struct position *begin = &loads_positions(l, at)[from],
                          *end = &loads_positions(l, at)[to];
    size_t first = 2 * (size_t)axis->size * (begin->before + begin->after);
    if (axis->connection == TOPOLOGY_ALL)
        axis->direct[first / 2 * axis->size + begin->coordinate * axis->size + end->coordinate] =
            link;
    else if (direction == 0)
        axis->links[first + begin->coordinate] = link;
    else
        axis->links[first + axis->size + end->coordinate] = link;
}

static int loads_init_axes(struct link_loads *l, const struct topology_spec *spec)
{
    uint32_t stride = 1, place[TOPOLOGY_DIMENSIONS];
    l->axis_count = spec->dimension_count;
    l->tie = spec->tie;
    for (uint32_t d = l->axis_count; d-- > 0;) {
        const struct topology_dimension *dimension = &spec->dimensions[d];
        place[d] = dimension->step;
        l->axes[dimension->step] = (struct axis){
            .connection = dimension->connection, .size = dimension->size, .stride = stride};
        stride *= dimension->size;
    }
    l->positions =
        loads_allocate(l, (size_t)l->vertex_count * l->axis_count, sizeof(*l->positions));
    if (l->positions == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < l->axis_count; i++) {
        if (loads_init_rings(l, &l->axes[i]) != 0)
            return -ENOMEM;
        loads_init_positions(l, i);
    }
    for (uint32_t link = 0; link < l->link_count; link++)
        loads_place_link(l, link, place);
    return 0;
}

int link_loads_create(struct link_loads **out, const struct topology *topology)
{
    const struct topology_spec *spec = topology_spec(topology);
    struct link_loads *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return -ENOMEM;
    l->topology = topology;
    l->bytes = sizeof(*l);
    l->vertex_count = topology_vertices(topology);
    l->link_count = topology_links(topology);
    l->capacity = topology_diameter(topology);
    l->cartesian = spec->kind == TOPOLOGY_CARTESIAN;
    l->values = loads_allocate(l, l->link_count, sizeof(*l->values));
    l->vertices = loads_allocate(l, l->vertex_count, sizeof(*l->vertices));
    l->route = loads_allocate(l, l->capacity, sizeof(*l->route));
    if (l->values == NULL || l->vertices == NULL || l->route == NULL ||
        loads_init_given(l, spec) != 0 || (l->cartesian && loads_init_axes(l, spec) != 0)) {
        link_loads_destroy(l);
        return -ENOMEM;
    }
    *out = l;
    return 0;
}

void link_loads_destroy(struct link_loads *l)
{
    if (l == NULL)
        return;
    for (uint32_t i = 0; i < l->axis_count; i++) {
        free(l->axes[i].difference);
        free(l->axes[i].links);
        free(l->axes[i].touched);
        free(l->axes[i].rings);
        free(l->axes[i].direct);
    }
    free(l->values);
    free(l->vertices);
    free(l->route);
    free(l->positions);
    free(l->given);
    free(l);
}

static inline void loads_add_to(struct link_load *load, uint64_t bytes, uint64_t messages)
{
    load->bytes += bytes;
    load->messages += messages;
}

static inline bool loads_goes_up(const struct axis *axis, enum topology_tie tie, uint32_t a,
                                 uint32_t b)
{
    if (axis->connection != TOPOLOGY_TORUS || axis->size == 2)
        return b > a;
    uint32_t up = b > a ? b - a : b + axis->size - a;
    uint32_t down = axis->size - up;
    if (up != down)
        return up < down;
    return tie == TOPOLOGY_TIE_PARITY ? a % 2 == 0 : tie == TOPOLOGY_TIE_PLUS;
}

/* Add to the places from the lower end of a leg to the one before its upper end. Without branches
 * that differ from pair to pair: where a equals b, what is added is subtracted at once. */
static inline void loads_add_leg(struct axis *axis, enum topology_tie tie, uint32_t ring,
                                 uint32_t a, uint32_t b, struct link_load load)
{
    struct link_load *first = &axis->difference[2 * (size_t)axis->size * ring];
    uint32_t up = loads_goes_up(axis, tie, a, b), swap = (a ^ b) & (up - 1);
    a ^= swap;
    b ^= swap;
    first += (1 - up) * axis->size;
    uint64_t wraps = b < a ? UINT64_MAX : 0; /* the leg crosses the end of the ring */
    loads_add_to(&first[a], load.bytes, load.messages);
    loads_add_to(&first[b], 0 - load.bytes, 0 - load.messages);
    loads_add_to(&first[0], load.bytes & wraps, load.messages & wraps);
    uint8_t differs = a != b;
    axis->rings[axis->count] = ring;
    axis->count += differs & ~axis->touched[ring] & 1u;
    axis->touched[ring] |= differs;
}

/* Add the legs of all routes in one dimension. */
static void loads_add_dimension(struct link_loads *l, uint32_t i, const struct load_change *changes,
                                size_t count)
{
    struct axis *axis = &l->axes[i];
    const struct position *positions = loads_positions(l, i);
    for (size_t c = 0; c < count; c++) {
        const struct position *from = &positions[changes[c].source],
                              *to = &positions[changes[c].destination];
        uint32_t ring = to->before + from->after, a = from->coordinate, b = to->coordinate;
        struct link_load load = {(uint64_t)changes[c].bytes, (uint64_t)changes[c].messages};
        if (axis->connection != TOPOLOGY_ALL)
            loads_add_leg(axis, l->tie, ring, a, b, load);
        else if (a != b)
            loads_add_to(&l->values[axis->direct[((size_t)ring * axis->size + a) * axis->size + b]],
                         load.bytes, load.messages);
    }
}

/* Dimension by dimension, so that the arrays of one dimension stay in the cache. */
static void loads_add_cartesian(struct link_loads *l, const struct load_change *changes,
                                size_t count)
{
    for (uint32_t i = 0; i < l->axis_count; i++)
        if (l->axes[i].size > 1)
            loads_add_dimension(l, i, changes, count);
}

static int loads_add_walked(struct link_loads *l, const struct load_change *change)
{
    uint32_t length =
        topology_route(l->topology, change->source, change->destination, l->route, l->capacity);
    if (length == NONE || length > l->capacity)
        return -HOLTER_EUNREACHABLE;
    for (uint32_t i = 0; i < length; i++)
        loads_add_to(&l->values[l->route[i]], (uint64_t)change->bytes, (uint64_t)change->messages);
    return 0;
}

/* Add a given route link by link to the differences, because settling overwrites values. */
static int loads_add_given(struct link_loads *l, const struct load_change *change)
{
    uint32_t length =
        topology_route(l->topology, change->source, change->destination, l->route, l->capacity);
    if (length == NONE || length > l->capacity)
        return -HOLTER_EUNREACHABLE;
    for (uint32_t i = 0; i < length; i++) {
        struct load_change hop = *change;
        if (topology_link(l->topology, l->route[i], &hop.source, &hop.destination))
            loads_add_cartesian(l, &hop, 1);
    }
    return 0;
}

static bool loads_is_given(const struct link_loads *l, uint32_t source, uint32_t destination)
{
    uint64_t key = loads_pair_key(source, destination);
    return l->given_count > 0 &&
           bsearch(&key, l->given, l->given_count, sizeof(key), loads_compare_keys) != NULL;
}

static void loads_add_vertices(struct link_loads *l, const struct load_change *change)
{
    struct vertex_load *from = &l->vertices[change->source],
                       *to = &l->vertices[change->destination];
    uint64_t bytes = (uint64_t)change->bytes, messages = (uint64_t)change->messages,
             pairs = (uint64_t)(int64_t)change->pairs;
    if (from == to)
        return;
    from->bytes_out += bytes;
    from->messages_out += messages;
    from->pairs_out += pairs;
    to->bytes_in += bytes;
    to->messages_in += messages;
    to->pairs_in += pairs;
}

int link_loads_add(struct link_loads *l, const struct load_change *change)
{
    uint32_t source = change->source, destination = change->destination;
    int code = 0;
    if (source >= l->vertex_count || destination >= l->vertex_count)
        return -HOLTER_ERANGE;
    if (source == destination)
        return 0;
    if (!l->cartesian)
        code = loads_add_walked(l, change);
    else if (loads_is_given(l, source, destination))
        code = loads_add_given(l, change);
    else
        loads_add_cartesian(l, change, 1);
    if (code == 0)
        loads_add_vertices(l, change);
    return code;
}

static bool loads_are_regular(const struct link_loads *l, const struct load_change *changes,
                              size_t count)
{
    bool plain = l->cartesian && l->given_count == 0;
    for (size_t i = 0; plain && i < count; i++)
        plain = changes[i].source < l->vertex_count && changes[i].destination < l->vertex_count;
    return plain;
}

size_t link_loads_add_many(struct link_loads *l, const struct load_change *changes, size_t count)
{
    size_t left_out = 0;
    bool plain = loads_are_regular(l, changes, count);
    if (plain)
        loads_add_cartesian(l, changes, count);
    for (size_t i = 0; i < count; i++) {
        if (plain)
            loads_add_vertices(l, &changes[i]);
        else
            left_out += link_loads_add(l, &changes[i]) != 0;
    }
    return left_out;
}

static void loads_update_ring(struct link_loads *l, const struct axis *axis, uint32_t ring)
{
    size_t place = 2 * (size_t)axis->size * ring;
    for (unsigned direction = 0; direction < 2; direction++) {
        struct link_load sum = {0, 0};
        for (uint32_t k = 0; k < axis->size; k++, place++) {
            loads_add_to(&sum, axis->difference[place].bytes, axis->difference[place].messages);
            if (axis->links[place] != NONE)
                l->values[axis->links[place]] = sum;
        }
    }
}

const struct link_load *link_loads_update(struct link_loads *l)
{
    for (uint32_t i = 0; i < l->axis_count; i++) {
        struct axis *axis = &l->axes[i];
        for (uint32_t k = 0; k < axis->count; k++) {
            loads_update_ring(l, axis, axis->rings[k]);
            axis->touched[axis->rings[k]] = 0;
        }
        axis->count = 0;
    }
    return l->values;
}

void link_loads_clear(struct link_loads *l)
{
    memset(l->values, 0, l->link_count * sizeof(*l->values));
    memset(l->vertices, 0, l->vertex_count * sizeof(*l->vertices));
    for (uint32_t i = 0; i < l->axis_count; i++) {
        struct axis *axis = &l->axes[i];
        if (axis->connection == TOPOLOGY_ALL)
            continue;
        memset(axis->difference, 0, 2 * (size_t)l->vertex_count * sizeof(*axis->difference));
        memset(axis->touched, 0, l->vertex_count / axis->size);
        axis->count = 0;
    }
}

const struct link_load *link_loads_values(const struct link_loads *l)
{
    return l->values;
}

const struct vertex_load *link_loads_vertices(const struct link_loads *l)
{
    return l->vertices;
}

void link_loads_transit(const struct link_loads *l, struct link_load *out)
{
    memset(out, 0, l->vertex_count * sizeof(*out));
    for (uint32_t link = 0; link < l->link_count; link++) {
        uint32_t from, to;
        const struct link_load *load = &l->values[link];
        if ((load->bytes | load->messages) != 0 && topology_link(l->topology, link, &from, &to))
            loads_add_to(&out[to], load->bytes, load->messages);
    }
    for (uint32_t v = 0; v < l->vertex_count; v++)
        loads_add_to(&out[v], 0 - l->vertices[v].bytes_in, 0 - l->vertices[v].messages_in);
}

size_t link_loads_bytes(const struct link_loads *l)
{
    return l->bytes;
}
