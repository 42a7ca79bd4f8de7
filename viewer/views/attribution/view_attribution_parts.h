/* Parts of the attribution view: what it keeps between scenes, its three plots, and the advice. */
#ifndef HOLTER_VIEWER_VIEWS_ATTRIBUTION_VIEW_ATTRIBUTION_PARTS_H
#define HOLTER_VIEWER_VIEWS_ATTRIBUTION_VIEW_ATTRIBUTION_PARTS_H

#include "viewer/model/course.h"
#include "viewer/views/common/timeline.h"
#include "viewer/views/common/view.h"

enum { NOW, BEFORE, PERIODS };

/** The figures of the visible time and of the same length of time before it, valid while the key
 * stays the same. */
struct attribution_drawing {
    uint64_t key;
    struct course_bins bins[PERIODS];
    struct crossing crossing[PERIODS];
    struct balance balance[PERIODS];
    struct size_courses sizes[PERIODS];
    uint8_t *marks; /**< owned; by rank: 1, its messages count */
    uint32_t marked, ranks;
};

/** One plot: a box of its panel, with figures at both sides. */
struct attribution_plot {
    struct stage *stage;
    const struct attribution_drawing *drawing;
    struct timeline line;
    struct box plot, readout;
    double low, high; /**< values at foot and top */
    int logarithmic;
};

/** Messages within and between nodes, with their shares as rings (PCLVis, Fig. 10a). */
void attribution_add_mapping(struct stage *stage, const struct attribution_drawing *drawing,
                             struct box box);
/** Load balance of ranks (Fig. 10b). */
void attribution_add_pattern(struct stage *stage, const struct attribution_drawing *drawing,
                             struct box box);
/** Transfer times between nodes by size (Fig. 10c). */
void attribution_add_background(struct stage *stage, const struct attribution_drawing *drawing,
                                struct box box);

/** Begin the panel of a plot: title, axes and the alerts in it.
 *  @param what  after a newline it may have a shorter form, for narrow panels
 *  @param unknown  text in place of the plot; NULL: there is one
 *  @return 0: there is nothing to plot */
int attribution_begin(struct attribution_plot *plot, struct box box, const char *name,
                      const char *title, const char *what, const char *unknown);

/** Horizontal lines at values, labelled with a unit or, with NULL, as durations. */
void attribution_add_axis(const struct attribution_plot *plot, const char *unit);

/** A line through a period's values, with gaps where they are NaN: the period before is thin and
 * faint. */
void attribution_add_line(const struct attribution_plot *plot, const double *values, int period,
                          double width, color_t color);

/** The bin under the mouse; UINT32_MAX: it is elsewhere. */
uint32_t attribution_bin(const struct attribution_plot *plot);

/** "14:02:11" or "14:02:10 to 14:02:14", for tooltips. */
void attribution_tip_time(const struct attribution_plot *plot, uint32_t bin);

/** Marks, cursor and hits over a plot. */
void attribution_end(const struct attribution_plot *plot);

/** Causes of the current alert, and what can be done. */
void attribution_add_advice(struct stage *stage, struct box box);

#endif
