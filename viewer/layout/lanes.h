/* Lanes: what goes on in many rows at once, as bars in time, one row below the other. Each stretch
 * of time is of one of LANES_KINDS kinds. Never more is made than there are pixels: stretches that
 * share a pixel become one bar, and rows that share a lane become shares of time.
 *
 * Pure geometry: no colours, no facts of the job. Stretches may come in any order and overlap;
 * where they do not follow each other in time, bars are joined rather than laid one upon the other.
 */
#ifndef HOLTER_VIEWER_LAYOUT_LANES_H
#define HOLTER_VIEWER_LAYOUT_LANES_H

#include <stdint.h>

#define LANES_KINDS 8
#define LANES_HIGH 34.0 /**< a lane is no higher, pixels */
#define LANES_READ 18.0 /**< height of a lane that has its name beside it */
#define LANES_BARS 8.0  /**< lanes of at least this height are bars, of less cells */
#define LANES_LEAST 3.0 /**< a lane is no lower: rows share one then */

/** Which rows stand where. */
struct lanes {
    double height;  /**< of a lane, pixels */
    uint32_t first; /**< row of the first lane in sight */
    uint32_t count; /**< lanes in sight */
    uint32_t per;   /**< rows that share a lane; 1: each has its own */
};

/** All rows within h pixels. */
struct lanes lanes_fit(uint32_t rows, double h);

/** As many as can be read, from a row on. */
struct lanes lanes_read(uint32_t rows, double h, double first);

/** Part of the time axis on w pixels. */
struct lane_span {
    int64_t begin_ns, end_ns; /**< begin before end */
    double w;
};

/** Where a moment lies, pixels from the begin of the span; not limited to it. */
double lane_x(const struct lane_span *span, int64_t ns);

/** What moment lies there. */
int64_t lane_time(const struct lane_span *span, double x);

struct lane_bar {
    double x0, x1;  /**< at least a pixel */
    uint32_t count; /**< stretches in it */
    uint8_t kind;   /**< that has most of its time */
};

/** The bars of a row while they are made. */
struct lane {
    struct lane_span span;
    struct lane_bar *bars; /**< borrowed; room for lane_room() */
    uint32_t count;
    double kinds[LANES_KINDS]; /**< pixels of each kind in the newest bar */
};

/** Most bars that a span can have. */
uint32_t lane_room(const struct lane_span *span);

void lane_begin(struct lane *lane, const struct lane_span *span, struct lane_bar *bars);

/** Add a stretch; what lies outside the span is left out. */
void lane_add(struct lane *lane, int64_t begin_ns, uint64_t length_ns, unsigned kind);

/** Pixels that a span touches. */
uint32_t lane_columns(const struct lane_span *span);

/** Add a stretch to the pixels of a span: cells has a figure for each of lane_columns(), kind by
 * kind, the part of the pixel's time that the kind has had. */
void lane_spread(const struct lane_span *span, double *cells, int64_t begin_ns, uint64_t length_ns,
                 unsigned kind);

/** Kind with most time in a pixel of such cells, and the part of the time that all of them had, of
 * rows rows.
 *  @return LANES_KINDS when there was nothing */
unsigned lane_most(const double *cells, uint32_t columns, uint32_t pixel, uint32_t rows,
                   double *share);

#endif
