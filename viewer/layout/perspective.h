/* Perspective view of points in a ball of radius 1: x to the right, y up and z towards the eye
 * before it is turned; on the screen x to the right, y down, z away from the eye. Pure geometry. */
#ifndef HOLTER_VIEWER_LAYOUT_PERSPECTIVE_H
#define HOLTER_VIEWER_LAYOUT_PERSPECTIVE_H

struct space {
    double turn[3][3]; /**< rows: right, down, away */
};

/** Set the viewing direction. @param yaw, pitch  radians; both 0: along z */
void space_set_view(struct space *out, double yaw, double pitch);

/** Position of a point on the screen; away is -1, near, to 1. */
void space_point(const struct space *space, const double at[3], double *x, double *y, double *away);

#endif
