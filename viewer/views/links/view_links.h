/* View "links": ranking of hot links, and the figures of routes, links and vertices by rank
 * (Visuco, section 4.3). */
#ifndef HOLTER_VIEWER_VIEWS_LINKS_VIEW_LINKS_H
#define HOLTER_VIEWER_VIEWS_LINKS_VIEW_LINKS_H

#include "viewer/views/common/view.h"

extern const struct view links_view;

void links_drawing_destroy(struct links_drawing *drawing);

#endif
