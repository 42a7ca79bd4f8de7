/* Plot of a capture: a row for each thread, as bars where there is room for them, as colour cells
 * where there are many rows. */
#ifndef HOLTER_VIEWER_VIEWS_CAPTURES_PLOT_H
#define HOLTER_VIEWER_VIEWS_CAPTURES_PLOT_H

#include "viewer/layout/lanes.h"
#include "viewer/views/common/view.h"

struct captures_plot {
    const struct capture *capture;
    struct box box; /**< height: that of its lanes */
    struct lanes lanes;
    struct lane_span span;
};

/** Bars or cells with their hits, in the open panel, which clips them. */
void captures_plot_layout(struct stage *stage, const struct captures_plot *plot);

/** Tooltip of the calls under the mouse. */
void captures_plot_tip(struct stage *stage, const struct captures_plot *plot);

#endif
