/* Perspective view of a grid in space. */
#include "viewer/layout/lattice.h"

#include <math.h>

/* Length of an open end in distances between neighbours, and strength of the perspective. */
static const double open_end = 0.38, perspective = 0.22;

void lattice_set_view(struct lattice *l, const struct projection *p, double yaw, double pitch)
{
    double cy = cos(yaw), sy = sin(yaw), cp = cos(pitch), sp = sin(pitch), square = 0;
    for (int i = 0; i < PROJECTION_AXES; i++)
        square += pow(p->axes[i].size - 1 + 2 * open_end, 2);
    *l = (struct lattice){.projection = p, .step = 2 / sqrt(square)};
    /* x, y (up) and z (towards the eye) of the grid to right, down and away */
    const double turn[3][3] = {{cy, 0, sy}, {-sp * sy, -cp, sp * cy}, {cp * sy, -sp, -cp * cy}};
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 3; k++)
            l->turn[row][k] = turn[row][k];
}

static void lattice_project_point(const struct lattice *l, const double at[3], double *x, double *y,
                                  double *away)
{
    static const unsigned axis[3] = {PROJECTION_ACROSS, PROJECTION_UPRIGHT, PROJECTION_DEPTH};
    double seen[3] = {0};
    for (int k = 0; k < 3; k++) {
        double from_middle = (at[k] - (l->projection->axes[axis[k]].size - 1) / 2.0) * l->step;
        for (int row = 0; row < 3; row++)
            seen[row] += l->turn[row][k] * from_middle;
    }
    double nearer = 1 / (1 + perspective * seen[2]);
    *x = seen[0] * nearer;
    *y = seen[1] * nearer;
    *away = seen[2];
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
