/* Draws very many edges as one picture. Each edge adds a little to the density of the pixels along
 * its course, and density becomes colour, so that a thousand edges stay as legible as ten. Edges
 * between groups are bundled: they bend towards the centres of the groups at both ends (D. Holten,
 * "Hierarchical edge bundles", 2006). The picture is made in strips, in steps of work that the
 * caller limits; the last finished picture remains until the next one is complete. */
#ifndef HOLTER_VIEWER_LAYOUT_BUNDLE_H
#define HOLTER_VIEWER_LAYOUT_BUNDLE_H

#include "viewer/layout/scene.h"

#include <stdint.h>

/** A cubic Bezier curve (first and last point its ends) in pixels of the picture. */
struct bundle_edge {
    struct point at[4];
    color_t color; /**< the opacity is ignored */
    float weight;  /**< contribution to the density; 1 is usual */
};

/** Zero-initialised is empty. */
struct bundle {
    struct image image;        /**< the last finished picture; pixels are owned */
    struct bundle_edge *edges; /**< owned; of the picture in progress */
    uint32_t edge_count, edge_capacity;
    uint32_t *pixels; /**< owned; of the picture in progress */
    float *density;   /**< owned; one strip: red, green, blue and sum for each pixel */
    int w, h, row, busy;
    uint32_t edge; /**< next edge of this strip */
    double strength;
    color_t ground;
};

void bundle_finish(struct bundle *bundle);

/** Begin a picture of w x h pixels and cancel the one in progress. Edges follow. @return 0 or
 * -ENOMEM */
int bundle_begin(struct bundle *bundle, int w, int h, color_t ground);

/** Add an edge; it is omitted when memory runs out. */
void bundle_add(struct bundle *bundle, const struct bundle_edge *edge);

/** The point of a cubic Bezier curve at t, 0 to 1. */
static inline struct point bundle_point(const struct point at[4], double t)
{
    const double u = 1 - t, w[4] = {u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t};
    struct point p = {0, 0};
    for (int k = 0; k < 4; k++) {
        p.x += w[k] * at[k].x;
        p.y += w[k] * at[k].y;
    }
    return p;
}

/** Bend an edge: its control points move towards the centres a and b of the groups at its ends. */
void bundle_bend(struct bundle_edge *edge, struct point a, struct point b);

/** Start drawing: all edges have been added. */
void bundle_start(struct bundle *bundle);

/** Do a part of the work.
 * @param units  approximate number of pixels to draw
 * @return 1 while work remains, 0 when the picture is complete */
int bundle_work(struct bundle *bundle, uint64_t units);

#endif
