/* The rows of a capture: bars where there is room for them, cells of pixels where there are many.
 */
#ifndef HOLTER_VIEWER_VIEWS_CAPTURES_PLOT_H
#define HOLTER_VIEWER_VIEWS_CAPTURES_PLOT_H

#include "viewer/layout/lanes.h"
#include "viewer/views/common/view.h"

struct captures_plot {
    const struct capture *capture;
    struct box box; /**< as high as its lanes */
    struct lanes lanes;
    struct lane_span span;
};

/** Bars or cells, with what can be pointed at. The panel that is open clips them. */
void captures_plot_layout(struct stage *stage, const struct captures_plot *plot);

/** What is under the mouse. */
void captures_plot_tip(struct stage *stage, const struct captures_plot *plot);

#endif
