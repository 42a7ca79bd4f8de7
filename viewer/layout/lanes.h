/* Lanes: activity of many rows as bars in time, one row below the other. Each interval is of one of
 * LANES_KINDS kinds. The number of bars is bounded by the pixels: intervals that share a pixel
 * become one bar, and rows that share a lane become shares of time.
 *
 * Pure geometry: no colours, no facts of the job. Intervals may come in any order and overlap; out
 * of order, bars are merged rather than drawn over each other. */
#ifndef HOLTER_VIEWER_LAYOUT_LANES_H
#define HOLTER_VIEWER_LAYOUT_LANES_H

#include <stdint.h>

#define LANES_KINDS 8
#define LANES_MAX_HEIGHT 120.0    /**< maximum height of a lane, pixels */
#define LANES_LEGIBLE_HEIGHT 18.0 /**< height of a lane that has a label */
#define LANES_BAR_HEIGHT 8.0      /**< lanes at least this high show bars, lower ones cells */
#define LANES_MIN_HEIGHT 3.0      /**< minimum height of a lane; below it rows share lanes */

/** Assignment of rows to lanes. */
struct lanes {
    double height;  /**< of a lane, pixels */
    uint32_t first; /**< row of the first visible lane */
    uint32_t count; /**< visible lanes */
    uint32_t per;   /**< rows in each lane */
};

/** Fit all rows into h pixels. */
struct lanes lanes_fit(uint32_t rows, double h);

/** As many lanes as are legible in h pixels, from row `first` on. */
struct lanes lanes_fit_legible(uint32_t rows, double h, double first);

/** Part of the time axis on w pixels. */
struct lane_span {
    int64_t begin_ns, end_ns; /**< begin before end */
    double w;
};

/** Position of a time, in pixels from the begin of the span; not limited to the span. */
double lane_x(const struct lane_span *span, int64_t ns);

/** Time at a position: the inverse of lane_x(). */
int64_t lane_time(const struct lane_span *span, double x);

struct lane_bar {
    double x0, x1;  /**< at least a pixel */
    uint32_t count; /**< intervals in it */
    uint8_t kind;   /**< the kind with most of its time */
};

/** The bars of a row under construction. */
struct lane {
    struct lane_span span;
    struct lane_bar *bars; /**< borrowed; capacity lane_capacity() */
    uint32_t count;
    double kinds[LANES_KINDS]; /**< pixels of each kind in the newest bar */
};

/** Maximum number of bars of a span. */
uint32_t lane_capacity(const struct lane_span *span);

void lane_begin(struct lane *lane, const struct lane_span *span, struct lane_bar *bars);

/** Add an interval; parts outside the span are clipped. */
void lane_add(struct lane *lane, int64_t begin_ns, uint64_t length_ns, unsigned kind);

/** Number of pixels that a span covers. */
uint32_t lane_columns(const struct lane_span *span);

/** Add an interval to the pixels of a span.
 * @param cells  by kind, then by pixel (lane_columns()): share of the pixel's time that the kind
 * occupies */
void lane_spread(const struct lane_span *span, double *cells, int64_t begin_ns, uint64_t length_ns,
                 unsigned kind);

/** Dominant kind of a pixel.
 * @param share  receives the share of the time of all rows that any kind occupies
 * @return LANES_KINDS when the pixel is empty */
unsigned lane_dominant_kind(const double *cells, uint32_t columns, uint32_t pixel, uint32_t rows,
                            double *share);

#endif
