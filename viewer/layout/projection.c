/* Modified central projection of Cartesian networks: places, wires, bundles. */
#include "viewer/layout/projection.h"

#include "holter/error.h"

/* Length of an open end where a link wraps around. */
static const double open_end = 0.3;

static int projection_set_axis(struct projection_axis *axis, const struct topology_spec *spec,
                               uint32_t dimension)
{
    *axis = (struct projection_axis){PROJECTION_NONE, 1, 0};
    if (dimension == PROJECTION_NONE)
        return 0;
    if (dimension >= spec->dimension_count)
        return -HOLTER_EUSAGE;
    const struct topology_dimension *d = &spec->dimensions[dimension];
    axis->dimension = dimension;
    axis->size = d->size;
    axis->ring = d->connection != TOPOLOGY_MESH && d->size > 2;
    return 0;
}

int projection_init(struct projection *out, const struct topology *topology,
                    const uint32_t shown[3], int view, const uint32_t *slice)
{
    const struct topology_spec *spec = topology_spec(topology);
    struct projection p = {0};
    uint64_t places = 1;
    if (spec->kind != TOPOLOGY_CARTESIAN || view < 0 || view > 2)
        return -HOLTER_EUSAGE;
    for (int i = 0; i < 3; i++) {
        uint32_t dimension = shown[(view + i) % 3];
        if (projection_set_axis(&p.axes[i], spec, dimension) < 0)
            return -HOLTER_EUSAGE;
        for (int k = 0; k < i; k++)
            if (dimension != PROJECTION_NONE && p.axes[k].dimension == dimension)
                return -HOLTER_EUSAGE;
        places *= p.axes[i].size;
    }
    for (uint32_t d = 0; d < TOPOLOGY_DIMENSIONS; d++) {
        int seen = p.axes[0].dimension == d || p.axes[1].dimension == d || p.axes[2].dimension == d;
        p.slice[d] = seen || !slice || d >= spec->dimension_count ? PROJECTION_NONE : slice[d];
        if (p.slice[d] != PROJECTION_NONE && p.slice[d] >= spec->dimensions[d].size)
            return -HOLTER_EUSAGE;
    }
    p.places = (uint32_t)places;
    *out = p;
    return 0;
}

/* ---- places ---- */

uint32_t projection_place_at(const struct projection *p, const uint32_t at[PROJECTION_AXES])
{
    return (at[0] * p->axes[1].size + at[1]) * p->axes[2].size + at[2];
}

void projection_coordinates(const struct projection *p, uint32_t place,
                            uint32_t out[PROJECTION_AXES])
{
    out[2] = place % p->axes[2].size;
    out[1] = place / p->axes[2].size % p->axes[1].size;
    out[0] = place / p->axes[2].size / p->axes[1].size;
}

uint32_t projection_place(const struct projection *p, const struct topology *topology,
                          uint32_t node)
{
    uint32_t c[TOPOLOGY_DIMENSIONS] = {0}, at[PROJECTION_AXES];
    if (node >= topology_nodes(topology))
        return PROJECTION_NONE;
    uint32_t count = topology_coordinates(topology, node, c);
    for (uint32_t d = 0; d < count; d++)
        if (p->slice[d] != PROJECTION_NONE && p->slice[d] != c[d])
            return PROJECTION_NONE;
    for (int i = 0; i < PROJECTION_AXES; i++)
        at[i] = p->axes[i].dimension == PROJECTION_NONE ? 0 : c[p->axes[i].dimension];
    return projection_place_at(p, at);
}

/* Position of a stack, side of the centre it is on, and distance of a depth from the centre. */
static double projection_stack_at(uint32_t size, uint32_t coordinate)
{
    return coordinate - (size - 1) / 2.0;
}

static double projection_side_of_centre(double at)
{
    return at < 0 ? -1 : 1; /* a stack in the centre counts as right of it */
}

static double projection_depth_distance(const struct projection *p, double depth)
{
    double size = p->axes[PROJECTION_DEPTH].size;
    return size > 1 ? PROJECTION_SPREAD * ((depth + 0.5) / size - 0.5) : 0;
}

static void projection_point_at(const struct projection *p, uint32_t across, uint32_t upright,
                                double depth, double *x, double *y)
{
    double u = projection_stack_at(p->axes[PROJECTION_ACROSS].size, across),
           v = -projection_stack_at(p->axes[PROJECTION_UPRIGHT].size, upright),
           out = projection_depth_distance(p, depth);
    *x = u + projection_side_of_centre(u) * out;
    *y = v + projection_side_of_centre(v) * out;
}

void projection_point(const struct projection *p, uint32_t place, double *x, double *y)
{
    uint32_t at[PROJECTION_AXES];
    projection_coordinates(p, place, at);
    projection_point_at(p, at[PROJECTION_ACROSS], at[PROJECTION_UPRIGHT], at[PROJECTION_DEPTH], x,
                        y);
}

void projection_extent(const struct projection *p, double *w, double *h)
{
    double edge = PROJECTION_SPREAD / 2 + open_end;
    *w = (p->axes[PROJECTION_ACROSS].size - 1) / 2.0 + edge;
    *h = (p->axes[PROJECTION_UPRIGHT].size - 1) / 2.0 + edge;
}

/* ---- wires ---- */

uint32_t projection_halves(const struct projection *p)
{
    return p->places * 2 * PROJECTION_AXES;
}

static int projection_axis_of(const struct projection *p, uint32_t dimension)
{
    for (int i = 0; i < PROJECTION_AXES; i++)
        if (p->axes[i].dimension == dimension)
            return i;
    return -1;
}

uint32_t projection_half(const struct projection *p, const struct topology *topology, uint32_t link)
{
    uint32_t from, to, dimension, at[PROJECTION_AXES], end[PROJECTION_AXES];
    int direction;
    if (!topology_link(topology, link, &from, &to) ||
        !topology_link_axis(topology, link, &dimension, &direction))
        return PROJECTION_NONE;
    int axis = projection_axis_of(p, dimension);
    uint32_t source = axis < 0 ? PROJECTION_NONE : projection_place(p, topology, from);
    if (source == PROJECTION_NONE)
        return PROJECTION_NONE;
    uint32_t destination = projection_place(p, topology, to), size = p->axes[axis].size;
    projection_coordinates(p, source, at);
    projection_coordinates(p, destination, end);
    uint32_t a = at[axis], b = end[axis];
    /* In a ring of two nodes each node is both neighbours of the other: use the lower node's wire.
     */
    int up = b == a + 1 || (size > 2 && a == size - 1 && b == 0);
    int down = a == b + 1 || (size > 2 && b == size - 1 && a == 0);
    if (!up && !down)
        return PROJECTION_NONE;
    return ((up ? source : destination) * PROJECTION_AXES + (uint32_t)axis) * 2 + !up;
}

int projection_wire(const struct projection *p, uint32_t wire, uint32_t *from, uint32_t *to)
{
    uint32_t at[PROJECTION_AXES], axis = wire % PROJECTION_AXES, place = wire / PROJECTION_AXES;
    if (place >= p->places)
        return 0;
    projection_coordinates(p, place, at);
    int last = at[axis] + 1 == p->axes[axis].size;
    if (last && !p->axes[axis].ring)
        return 0;
    at[axis] = last ? 0 : at[axis] + 1;
    *from = place;
    *to = projection_place_at(p, at);
    return 1;
}

static int projection_wraps(const struct projection *p, uint32_t wire)
{
    uint32_t at[PROJECTION_AXES], axis = wire % PROJECTION_AXES;
    projection_coordinates(p, wire / PROJECTION_AXES, at);
    return at[axis] + 1 == p->axes[axis].size;
}

/* Number of rectangles around a stack; each is a ring. */
static uint32_t projection_around(uint32_t size, uint32_t at)
{
    return at < size - 1 - at ? at : size - 1 - at;
}

/* 1 if a wire across or upright runs along its ring: both ends are on one rectangle, on the side of
 * it that has the wire's direction. */
static int projection_runs_along_ring(const struct projection *p, uint32_t wire)
{
    uint32_t at[PROJECTION_AXES], axis = wire % PROJECTION_AXES;
    uint32_t other = axis == PROJECTION_ACROSS ? PROJECTION_UPRIGHT : PROJECTION_ACROSS;
    projection_coordinates(p, wire / PROJECTION_AXES, at);
    uint32_t size = p->axes[axis].size, ring = projection_around(p->axes[other].size, at[other]);
    return at[axis] >= ring && at[axis] + 1 < size && at[axis] + 1 + ring < size;
}

int projection_shows(const struct projection *p, unsigned axes, uint32_t wire)
{
    unsigned axis = wire % PROJECTION_AXES,
             both = 1u << PROJECTION_ACROSS | 1u << PROJECTION_UPRIGHT;
    uint32_t from, to;
    if (!(axes >> axis & 1) || !projection_wire(p, wire, &from, &to))
        return 0;
    if (axis == PROJECTION_DEPTH || (axes & both) != both)
        return 1;
    /* if only one direction is shown, its links cannot overlap those of the other */
    if (p->axes[PROJECTION_ACROSS].size == 1 || p->axes[PROJECTION_UPRIGHT].size == 1)
        return 1;
    return projection_runs_along_ring(p, wire);
}

/* The open end of a wire that wraps around; it leaves a place outwards or, along the depth, also
 * inwards. */
static struct projection_line projection_open_line(const struct projection *p, uint32_t place,
                                                   uint32_t axis, int last)
{
    struct projection_line l;
    uint32_t at[PROJECTION_AXES];
    projection_point(p, place, &l.x0, &l.y0);
    l.x1 = l.x0;
    l.y1 = l.y0;
    if (axis == PROJECTION_ACROSS) {
        l.x1 += last ? open_end : -open_end;
    } else if (axis == PROJECTION_UPRIGHT) {
        l.y1 += last ? -open_end : open_end;
    } else {
        projection_coordinates(p, place, at);
        double depth = at[PROJECTION_DEPTH] + (last ? 0.5 : -0.5);
        projection_point_at(p, at[PROJECTION_ACROSS], at[PROJECTION_UPRIGHT], depth, &l.x1, &l.y1);
    }
    return l;
}

void projection_lines(const struct projection *p, uint32_t wire, struct projection_line out[2])
{
    uint32_t from, to, axis = wire % PROJECTION_AXES;
    if (!projection_wire(p, wire, &from, &to)) {
        out[0] = out[1] = (struct projection_line){0};
        return;
    }
    if (projection_wraps(p, wire)) {
        out[0] = projection_open_line(p, from, axis, 1);
        out[1] = projection_open_line(p, to, axis, 0);
        return;
    }
    projection_point(p, from, &out[0].x0, &out[0].y0);
    projection_point(p, to, &out[1].x0, &out[1].y0);
    out[0].x1 = out[1].x1 = (out[0].x0 + out[1].x0) / 2;
    out[0].y1 = out[1].y1 = (out[0].y0 + out[1].y0) / 2;
}

/* ---- bundles ---- */

static uint32_t projection_stacks(const struct projection *p)
{
    return p->axes[PROJECTION_ACROSS].size * p->axes[PROJECTION_UPRIGHT].size;
}

uint32_t projection_bundles(const struct projection *p)
{
    return projection_stacks(p) * PROJECTION_AXES;
}

uint32_t projection_bundle(const struct projection *p, uint32_t wire)
{
    return wire / PROJECTION_AXES % projection_stacks(p) * PROJECTION_AXES + wire % PROJECTION_AXES;
}

uint32_t projection_bundle_wire(const struct projection *p, uint32_t bundle)
{
    uint32_t from, to; /* the wire at depth 0 has the bundle's own number */
    return projection_wire(p, bundle, &from, &to) ? bundle : PROJECTION_NONE;
}

static void projection_middle_of(const struct projection *p, uint32_t place, double *x, double *y)
{
    uint32_t at[PROJECTION_AXES];
    projection_coordinates(p, place, at);
    *x = projection_stack_at(p->axes[PROJECTION_ACROSS].size, at[PROJECTION_ACROSS]);
    *y = -projection_stack_at(p->axes[PROJECTION_UPRIGHT].size, at[PROJECTION_UPRIGHT]);
}

int projection_bundle_lines(const struct projection *p, uint32_t bundle,
                            struct projection_line out[2])
{
    uint32_t from = 0, to = 0, axis = bundle % PROJECTION_AXES;
    struct projection_line *l = &out[0];
    projection_wire(p, bundle, &from, &to);
    projection_middle_of(p, from, &l->x0, &l->y0);
    projection_middle_of(p, to, &l->x1, &l->y1);
    if (axis == PROJECTION_DEPTH) {
        double half = PROJECTION_SPREAD / 2, x = projection_side_of_centre(l->x0) * half,
               y = projection_side_of_centre(l->y0) * half;
        *l = (struct projection_line){l->x0 - x, l->y0 - y, l->x0 + x, l->y0 + y};
        return 1;
    }
    if (!projection_wraps(p, bundle))
        return 1;
    double x = axis == PROJECTION_ACROSS ? open_end : 0,
           y = axis == PROJECTION_UPRIGHT ? -open_end : 0;
    out[1] = (struct projection_line){l->x1, l->y1, l->x1 - x, l->y1 - y};
    out[0] = (struct projection_line){l->x0, l->y0, l->x0 + x, l->y0 + y};
    return 2;
}
