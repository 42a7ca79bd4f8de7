/* Very many ribbons between columns as one picture. Each ribbon is a cubic B-spline from left to
 * right, as wide as it is told, and adds to the optical density of the pixels it covers by the
 * exact share of their area; density becomes opacity at the end (Beer and Lambert's law). So the
 * order does not matter, ribbons that lie upon each other darken, and those narrower than a pixel
 * add up to what they are together (C. Muelder et al., "Visual analysis of inter-process
 * communication for large-scale parallel computing", 2009, calls that high-precision alpha
 * blending).
 *
 * The picture is made pixel column by pixel column, in shares of work that the caller limits; the
 * last finished one stays until the next is done. */
#ifndef HOLTER_VIEWER_LAYOUT_RIBBONS_H
#define HOLTER_VIEWER_LAYOUT_RIBBONS_H

#include "viewer/layout/scene.h"

#include <stdint.h>

/** One ribbon, in pixels of the picture. */
struct ribbon {
    float y0, y1;    /**< its middle at the left and right end */
    float width;     /**< across */
    float share;     /**< place in the map of colours, 0 to 1 */
    float density;   /**< optical density where it covers a pixel as a whole */
    uint8_t hatched; /**< drawn in strokes */
};

/** Ribbons that lie side by side between two columns. */
struct ribbons_gap {
    float x0, x1; /**< pixels */
    uint32_t first, count;
};

/** A bar, drawn over the ribbons; bars narrower than a pixel share it. */
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
    uint32_t item_count, item_room, gap_count, gap_room, bar_count, bar_room;
    uint32_t *pixels; /**< owned; of the picture in progress */
    float *column;    /**< owned; density, hatched density and colour of one pixel column */
    const color_t *map;
    color_t ground;
    int w, h, busy;
    double scale; /**< pixels per logical pixel, for the strokes */
    uint32_t gap; /**< next one */
    int x;        /**< next pixel column of it; -1: not begun */
};

void ribbons_finish(struct ribbons *ribbons);

/** Begin a picture of w x h pixels; one in progress is given up. Ribbons, gaps and bars follow.
 *  @param map  256 colours; must stay until the picture is done
 *  @return 0 or -ENOMEM */
int ribbons_begin(struct ribbons *ribbons, int w, int h, double scale, const color_t *map,
                  color_t ground);

/** Begin a gap; the ribbons that are added next lie in it. Without memory it is left out. */
void ribbons_gap(struct ribbons *ribbons, double x0, double x1);
void ribbons_add(struct ribbons *ribbons, const struct ribbon *ribbon);
void ribbons_bar(struct ribbons *ribbons, const struct ribbons_bar *bar);

/** All is there. */
void ribbons_start(struct ribbons *ribbons);

/** Do a share of the work.
 *  @param units  about how many crossings of a ribbon and a pixel column
 *  @return 1 while more is to be done */
int ribbons_work(struct ribbons *ribbons, uint64_t units);

/** How far a ribbon has gone from its left to its right end (0 to 1) at a share of its way, and how
 * steeply. */
double ribbon_at(double way);
double ribbon_slope(double way);

/** Upright height of a ribbon of width 1 by its steepness. */
double ribbon_bulge(double steep);

#endif
