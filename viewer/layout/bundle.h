/* Very many edges as one picture: each adds a little to the density along its way, and density
 * becomes colour over a ground, so that a thousand edges stay as legible as ten. Edges between
 * groups are bundled: they bend towards the middles of the groups at both ends (D. Holten,
 * "Hierarchical edge bundles", 2006). The picture is made in strips, in shares of work that the
 * caller limits; the last finished one stays until the next is done. */
#ifndef HOLTER_VIEWER_LAYOUT_BUNDLE_H
#define HOLTER_VIEWER_LAYOUT_BUNDLE_H

#include "viewer/layout/scene.h"

#include <stdint.h>

/** A cubic Bezier curve (first and last point its ends) in pixels of the picture. */
struct bundle_edge {
    struct point at[4];
    color_t color; /**< its opacity counts for nothing */
    float weight;  /**< how much it adds; 1 is usual */
};

/** Zero-initialised is empty. */
struct bundle {
    struct image image;        /**< the last finished picture; pixels are owned */
    struct bundle_edge *edges; /**< owned; of the picture in progress */
    uint32_t edge_count, edge_room;
    uint32_t *pixels; /**< owned; of the picture in progress */
    float *density;   /**< owned; one strip: red, green, blue and sum for each pixel */
    int w, h, row, busy;
    uint32_t edge; /**< next one of this strip */
    double strength;
    color_t ground;
};

void bundle_finish(struct bundle *bundle);

/** Begin a picture of w x h pixels; one in progress is given up. Edges follow. @return 0 or
 * -ENOMEM */
int bundle_begin(struct bundle *bundle, int w, int h, color_t ground);

/** Add an edge. Without memory it is left out. */
void bundle_add(struct bundle *bundle, const struct bundle_edge *edge);

/** Bend an edge: control points go towards the middles a and b of the groups at its ends. */
void bundle_bend(struct bundle_edge *edge, struct point a, struct point b);

/** All edges are there. */
void bundle_start(struct bundle *bundle);

/** Do a share of the work.
 *  @param units  about how many pixels may be touched
 *  @return 1 while more is to be done */
int bundle_work(struct bundle *bundle, uint64_t units);

#endif
