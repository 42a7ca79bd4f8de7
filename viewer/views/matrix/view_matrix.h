/* View "matrix": messages or bytes of each pair; source down, destination across, colour on a log
 * scale. */
#ifndef HOLTER_VIEWER_VIEWS_MATRIX_VIEW_MATRIX_H
#define HOLTER_VIEWER_VIEWS_MATRIX_VIEW_MATRIX_H

#include "viewer/views/common/view.h"

/** The matrix as a panel. large: with choices, titles of axes, and figures in cells that are large
 * enough. */
void matrix_panel(struct stage *stage, struct box box, int large);

#endif
