/* View "routes": routes in the adjacency matrix of the network (Visuco, section 4.4). */
#ifndef HOLTER_VIEWER_VIEWS_ROUTES_VIEW_ROUTES_H
#define HOLTER_VIEWER_VIEWS_ROUTES_VIEW_ROUTES_H

#include "viewer/views/common/view.h"

extern const struct view routes_view;

struct routes_drawing;

void routes_drawing_destroy(struct routes_drawing *drawing);

#endif
