/* Where the bars and ribbons of a CommGram picture lie: plain figures from a picture and a size.
 * Coordinates are logical pixels from the left top of the plot. */
#ifndef HOLTER_VIEWER_VIEWS_COMMGRAM_COLUMNS_H
#define HOLTER_VIEWER_VIEWS_COMMGRAM_COLUMNS_H

#include "viewer/model/model_commgram.h"

/** Middles of both ends and width across. */
struct columns_ribbon {
    float y0, y1, width;
    float size; /**< binary logarithm of the mean bytes of its messages */
};

/** Zero-initialised is empty. Arrays are owned. */
struct columns {
    uint64_t version; /**< of the picture; 0: nothing yet */
    double w, h, pixel;
    uint32_t count;        /**< phases: there are bars in count + 1 columns */
    double bar_w, step;    /**< width of a bar; from one column of bars to the next */
    float *tops, *bottoms; /**< by bar */
    struct columns_ribbon *ribbons;
    uint32_t ribbon_count;
    double per_byte;              /**< width of a byte */
    double size_least, size_most; /**< of the messages, binary logarithms, whole numbers */
    uint32_t thin_ribbons;        /**< narrower than a pixel */
    uint32_t thin_bars;           /**< so many that no pixel is left between them */
    double thin_width;            /**< at least this wide ribbons are drawn */
};

/** Compute, unless it is there already.
 *  @param pixel  logical pixels of a device pixel
 *  @return 0 or -ENOMEM */
int columns_build(struct columns *columns, const struct commgram_picture *picture, double w,
                  double h, double pixel);
void columns_finish(struct columns *columns);

/** Left edge of a column of bars. */
double columns_x(const struct columns *columns, uint32_t column);

/** Bar or ribbon under a point; COMMGRAM_NONE: none. Of several ribbons the one whose middle is
 * nearest. low and high bound the sizes that can be seen.
 *  @param others  receives how many more ribbons lie there */
uint32_t columns_bar_at(const struct columns *columns, const struct commgram_picture *picture,
                        double x, double y);
uint32_t columns_ribbon_at(const struct columns *columns, const struct commgram_picture *picture,
                           double x, double y, double low, double high, uint32_t *others);

/** Phase that a place belongs to, at most the last. */
uint32_t columns_phase_at(const struct columns *columns, double x);

#endif
