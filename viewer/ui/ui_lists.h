/* Lists of rows: which one has the keyboard cursor, their order, and their visible rows. */
#ifndef HOLTER_VIEWER_UI_UI_LISTS_H
#define HOLTER_VIEWER_UI_UI_LISTS_H

#include "viewer/ui/ui.h"

/** Sorts a list by a column; the same column again reverses the order. */
void ui_sort_list(struct ui *ui, uint64_t list, uint64_t column);

/** Scrolls the list that a HIT_LIST belongs to. */
void ui_scroll_list(struct ui *ui, const struct scene_hit *hit, double rows);

/** Moves the cursor of the view's list by rows and keeps it visible. @return UI_CHANGED, or 0:
 * there is none */
int ui_step_list(struct ui *ui, const struct scene *scene, double rows);

#endif
