/* Lists of rows: which one the keys are in, their order, and what of them is in sight. */
#ifndef HOLTER_VIEWER_UI_UI_LISTS_H
#define HOLTER_VIEWER_UI_UI_LISTS_H

#include "viewer/ui/ui.h"

/** Sort a list by a column; again by the same turns the order round. */
void ui_sort_list(struct ui *ui, uint64_t list, uint64_t column);

/** Move what is in sight of the list that a HIT_LIST stands for. */
void ui_scroll_list(struct ui *ui, const struct scene_hit *hit, double rows);

/** Move the cursor of the view's list by rows and keep it in sight. @return UI_CHANGED, or 0: there
 * is none */
int ui_step_list(struct ui *ui, const struct scene *scene, double rows);

#endif
