/* The places and wires of a projection as a regular grid in space (Landge et al., section 4.3),
 * seen from a direction that the user chooses. Wires that wrap around are open ends at both
 * borders.
 *
 * The grid fits in a ball of radius 1 around its centre; x to the right, y down, z away from the
 * eye. Pure geometry. */
#ifndef HOLTER_VIEWER_LAYOUT_LATTICE_H
#define HOLTER_VIEWER_LAYOUT_LATTICE_H

#include "viewer/layout/perspective.h"
#include "viewer/layout/projection.h"

struct lattice {
    const struct projection
        *projection; /**< borrowed; its axes across, upright and depth are x, y and z */
    struct space space;
    double step;  /**< distance between neighbours */
    double reach; /**< largest x, however far the grid is turned about the upright axis */
};

/** A line in space and the distance of its middle from the eye. */
struct lattice_line {
    struct projection_line line;
    double away; /**< -1, near, to 1 */
};

/** Set the viewing direction.
 * @param projection  along the third dimension: across is x, upright is y, depth is z
 * @param yaw, pitch  radians; both 0: along z, from the side of the highest coordinate */
void lattice_set_view(struct lattice *out, const struct projection *projection, double yaw,
                      double pitch);

/** Position of a place on the screen; away as in struct lattice_line. */
void lattice_point(const struct lattice *lattice, uint32_t place, double *x, double *y,
                   double *away);

/** Both halves of a wire, each from its place. */
void lattice_lines(const struct lattice *lattice, uint32_t wire, struct lattice_line out[2]);

#endif
