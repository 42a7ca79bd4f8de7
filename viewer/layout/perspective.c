/* Perspective view of points in space. */
#include "viewer/layout/perspective.h"

#include <math.h>

static const double perspective = 0.22;

void space_set_view(struct space *s, double yaw, double pitch)
{
    double cy = cos(yaw), sy = sin(yaw), cp = cos(pitch), sp = sin(pitch);
    *s = (struct space){{{cy, 0, sy}, {-sp * sy, -cp, sp * cy}, {cp * sy, -sp, -cp * cy}}};
}

void space_point(const struct space *s, const double at[3], double *x, double *y, double *away)
{
    double seen[3] = {0};
    for (int k = 0; k < 3; k++)
        for (int row = 0; row < 3; row++)
            seen[row] += s->turn[row][k] * at[k];
    double nearer = 1 / (1 + perspective * seen[2]);
    *x = seen[0] * nearer;
    *y = seen[1] * nearer;
    *away = seen[2];
}
