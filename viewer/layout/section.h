/* The section of a plane that a plot shows: where its points are on the screen. */
#ifndef HOLTER_VIEWER_LAYOUT_SECTION_H
#define HOLTER_VIEWER_LAYOUT_SECTION_H

#include "viewer/layout/scene.h"

struct section {
    struct box box; /**< of the plot, in logical pixels */
    double ux, uy;  /**< logical pixels of one unit of the plane, along each axis */
    double cx, cy;  /**< point of the plane in the middle of the box */
};

double section_x(const struct section *section, double x);
double section_y(const struct section *section, double y);

/** 1 if a square around a point of the screen reaches into the plot. */
int section_shows(const struct section *section, double x, double y, double reach);

/** The section in coordinates of the plane. */
struct box section_of_plane(const struct section *section);

/** Add the hit of the whole plot; its values are coordinates of the plane. */
void section_hit(const struct section *section, struct scene *scene, enum hit_kind kind,
                 uint64_t a);

/** Draw a picture of another section of the plane at its place in this one. */
void section_image(const struct section *section, struct scene *scene, struct box of_plane,
                   const struct image *image);

#endif
