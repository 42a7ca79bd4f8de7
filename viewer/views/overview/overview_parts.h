/* Parts of view "overview". */
#ifndef HOLTER_VIEWER_VIEWS_OVERVIEW_OVERVIEW_PARTS_H
#define HOLTER_VIEWER_VIEWS_OVERVIEW_OVERVIEW_PARTS_H

#include "viewer/views/common/view.h"

/** Where, why, and what to do. @param count  of the panels that there is room for, 2 or 3 */
void overview_add_fault(struct stage *stage, const struct alert *alert, const struct box *panels,
                        int count);

/** The height that its parts take beside each other in panels of that width. */
double overview_fault_height(struct stage *stage, const struct alert *alert,
                             const struct box *panels, int count);

/** Of a job that is well: who talks to whom, rates, or sums if it is one window, balance. */
void overview_add_calm(struct stage *stage, const struct box *panels, int count);

#endif
