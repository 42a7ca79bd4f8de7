/* Perspective view of a grid in space. */
#include "viewer/layout/lattice.h"

#include <math.h>

/* Length of an open end in distances between neighbours. */
static const double open_end = 0.38;

void lattice_set_view(struct lattice *l, const struct projection *p, double yaw, double pitch)
{
    double square = 0;
    for (int i = 0; i < PROJECTION_AXES; i++)
        square += pow(p->axes[i].size - 1 + 2 * open_end, 2);
    *l = (struct lattice){.projection = p, .step = 2 / sqrt(square)};
    l->reach = hypot(p->axes[PROJECTION_ACROSS].size - 1 + 2 * open_end,
                     p->axes[PROJECTION_DEPTH].size - 1 + 2 * open_end) /
               sqrt(square);
    space_set_view(&l->space, yaw, pitch);
}

static void lattice_project_point(const struct lattice *l, const double at[3], double *x, double *y,
                                  double *away)
{
    static const unsigned axis[3] = {PROJECTION_ACROSS, PROJECTION_UPRIGHT, PROJECTION_DEPTH};
    double from_middle[3];
    for (int k = 0; k < 3; k++)
        from_middle[k] = (at[k] - (l->projection->axes[axis[k]].size - 1) / 2.0) * l->step;
    space_point(&l->space, from_middle, x, y, away);
}

static void lattice_locate_place(const struct lattice *l, uint32_t place, double at[3])
{
    uint32_t c[PROJECTION_AXES];
    projection_coordinates(l->projection, place, c);
    at[0] = c[PROJECTION_ACROSS];
    at[1] = c[PROJECTION_UPRIGHT];
    at[2] = c[PROJECTION_DEPTH];
}

void lattice_point(const struct lattice *l, uint32_t place, double *x, double *y, double *away)
{
    double at[3];
    lattice_locate_place(l, place, at);
    lattice_project_point(l, at, x, y, away);
}

void lattice_lines(const struct lattice *l, uint32_t wire, struct lattice_line out[2])
{
    static const int of_axis[PROJECTION_AXES] = {2, 0, 1};
    uint32_t ends[2];
    int k = of_axis[wire % PROJECTION_AXES];
    out[0] = out[1] = (struct lattice_line){0};
    if (!projection_wire(l->projection, wire, &ends[0], &ends[1]))
        return;
    for (int half = 0; half < 2; half++) {
        struct projection_line *line = &out[half].line;
        double a[3], b[3], near, far;
        lattice_locate_place(l, ends[half], a);
        lattice_locate_place(l, ends[!half], b);
        double by = b[k] - a[k];
        for (int i = 0; i < 3; i++)
            b[i] = a[i];
        /* a wire that wraps around leads away from its other end */
        b[k] += fabs(by) > 1 ? (by > 0 ? -open_end : open_end) : by / 2;
        lattice_project_point(l, a, &line->x0, &line->y0, &near);
        lattice_project_point(l, b, &line->x1, &line->y1, &far);
        out[half].away = (near + far) / 2;
    }
}
