/* Geometry of a CommGram picture: positions of bars and ribbons in a given size. Coordinates are
 * logical pixels from the top left of the plot. */
#ifndef HOLTER_VIEWER_VIEWS_COMMGRAM_COLUMNS_H
#define HOLTER_VIEWER_VIEWS_COMMGRAM_COLUMNS_H

#include "viewer/model/model_commgram.h"

/** Centres of both ends and width of a ribbon. */
struct columns_ribbon {
    float y0, y1, width;
    float size; /**< binary logarithm of the mean bytes of its messages */
};

/** Zero-initialised is empty. Arrays are owned. */
struct columns {
    uint64_t version; /**< version of the picture; 0: none yet */
    double w, h, pixel;
    uint32_t count;        /**< number of phases: bars are in count + 1 columns */
    double bar_w, step;    /**< width of a bar; distance between columns of bars */
    float *tops, *bottoms; /**< by bar */
    struct columns_ribbon *ribbons;
    uint32_t ribbon_count;
    double per_byte;              /**< ribbon width for each byte */
    double size_least, size_most; /**< range of message sizes, as whole binary logarithms */
    uint32_t thin_ribbons;        /**< number of ribbons narrower than a pixel */
    uint32_t thin_bars;           /**< number of bars that touch because there are too many */
    double thin_width;            /**< minimum width of a drawn ribbon */
};

/** Compute the geometry unless it is up to date.
 * @param pixel  logical pixels of a device pixel
 * @return 0 or -ENOMEM */
int columns_build(struct columns *columns, const struct commgram_picture *picture, double w,
                  double h, double pixel);
void columns_finish(struct columns *columns);

/** Left edge of a column of bars. */
double columns_x(const struct columns *columns, uint32_t column);

/** Bar or ribbon under a point; COMMGRAM_NONE: none. Of several ribbons the one whose centre line
 * is nearest. low and high limit the sizes that are visible.
 * @param others  receives the number of other ribbons at the point */
uint32_t columns_bar_at(const struct columns *columns, const struct commgram_picture *picture,
                        double x, double y);
uint32_t columns_ribbon_at(const struct columns *columns, const struct commgram_picture *picture,
                           double x, double y, double low, double high, uint32_t *others);

/** Phase at a horizontal position; positions beyond the last phase count as the last. */
uint32_t columns_phase_at(const struct columns *columns, double x);

#endif
