/* Draws very many ribbons between columns as one picture. Each ribbon is a cubic B-spline of given
 * width from left to right, and adds to the optical density of the pixels it covers by the exact
 * share of their area; density becomes opacity at the end (Beer-Lambert law). So the order does not
 * matter, overlapping ribbons darken, and ribbons narrower than a pixel accumulate correctly (C.
 * Muelder et al., "Visual analysis of inter-process communication for large-scale parallel
 * computing", 2009, call that high-precision alpha blending).
 *
 * The picture is made pixel column by pixel column, in steps of work that the caller limits; the
 * last finished picture remains until the next one is complete. */
#ifndef HOLTER_VIEWER_LAYOUT_RIBBONS_H
#define HOLTER_VIEWER_LAYOUT_RIBBONS_H

#include "viewer/layout/scene.h"

#include <stdint.h>

/** One ribbon, in pixels of the picture. */
struct ribbon {
    float y0, y1;    /**< centre line at the left and right end */
    float width;     /**< measured across the ribbon */
    float share;     /**< position in the colour map, 0 to 1 */
    float density;   /**< optical density of a pixel that it covers completely */
    uint8_t hatched; /**< drawn hatched */
};

/** Ribbons that lie side by side between two columns. */
struct ribbons_gap {
    float x0, x1; /**< pixels */
    uint32_t first, count;
};

/** A bar, drawn over the ribbons; bars narrower than a pixel are blended. */
struct ribbons_bar {
    float x0, x1, y0, y1; /**< pixels */
    color_t color;
};

/** Zero-initialised is empty. */
struct ribbons {
    struct image image; /**< the last finished picture; pixels are owned */
    struct ribbon *items;
    struct ribbons_gap *gaps;
    struct ribbons_bar *bars; /**< all owned; of the picture in progress */
    uint32_t item_count, item_capacity, gap_count, gap_capacity, bar_count, bar_capacity;
    uint32_t *pixels; /**< owned; of the picture in progress */
    float *column;    /**< owned; density, hatched density and colour of one pixel column */
    const color_t *map;
    color_t ground;
    int w, h, busy;
    double scale; /**< pixels per logical pixel, for hatching */
    uint32_t gap; /**< next gap to draw */
    int x;        /**< next pixel column of it; -1: not started */
};

void ribbons_finish(struct ribbons *ribbons);

/** Begin a picture of w x h pixels and cancel the one in progress. Ribbons, gaps and bars follow.
 * @param map  256 colours; must remain valid until the picture is complete
 * @return 0 or -ENOMEM */
int ribbons_begin(struct ribbons *ribbons, int w, int h, double scale, const color_t *map,
                  color_t ground);

/** Begin a gap; ribbons that are added next belong to it. Items are omitted when memory runs out.
 */
void ribbons_gap(struct ribbons *ribbons, double x0, double x1);
void ribbons_add(struct ribbons *ribbons, const struct ribbon *ribbon);
void ribbons_bar(struct ribbons *ribbons, const struct ribbons_bar *bar);

/** Start drawing: everything has been added. */
void ribbons_start(struct ribbons *ribbons);

/** Do a part of the work.
 * @param units  approximate number of crossings of a ribbon and a pixel column
 * @return 1 while work remains, 0 when the picture is complete */
int ribbons_work(struct ribbons *ribbons, uint64_t units);

/** Vertical progress of a ribbon from its left to its right end (0 to 1) at a share of its
 * horizontal way, and its slope there. */
double ribbon_at(double way);
double ribbon_slope(double way);

/** Vertical extent of a ribbon of width 1 at a given slope. */
double ribbon_bulge(double steep);

#endif
