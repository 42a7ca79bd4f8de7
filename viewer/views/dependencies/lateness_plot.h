/* Lateness of ranks, window by window, as a map. Private to the view. */
#ifndef HOLTER_VIEWER_VIEWS_DEPENDENCIES_LATENESS_PLOT_H
#define HOLTER_VIEWER_VIEWS_DEPENDENCIES_LATENESS_PLOT_H

#include "viewer/views/common/view.h"

/** Plot and list of causes in a panel whose first line, the title, is taken. Nothing where no
 * window is known. */
void lateness_layout(struct stage *stage, struct box panel);

void lateness_drawing_destroy(struct lateness_drawing *drawing);

#endif
