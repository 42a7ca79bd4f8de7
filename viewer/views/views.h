/* The list of all views, for the program and for the frame around the views. */
#ifndef HOLTER_VIEWER_VIEWS_VIEWS_H
#define HOLTER_VIEWER_VIEWS_VIEWS_H

#include "viewer/views/common/view.h"

/** The views, by enum view_id. */
extern const struct view *const views[VIEWS];

/** @return index of the view of that name, or -1 */
int view_by_name(const char *name);

/** Free what all views keep; the pictures are empty after it. */
void pictures_finish(struct pictures *pictures);

#endif
