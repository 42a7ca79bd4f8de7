/* View "network": traffic over the links as a graph in which vertices that exchange much are close
 * together (Visuco, section 4.2). Circles are nodes, squares switches; routes are lines over the
 * vertices on their way, stacked on the right-hand side of their direction. */
#ifndef HOLTER_VIEWER_VIEWS_NETWORK_VIEW_NETWORK_H
#define HOLTER_VIEWER_VIEWS_NETWORK_VIEW_NETWORK_H

#include "viewer/views/common/view.h"

extern const struct view network_view;

void network_drawing_destroy(struct network_drawing *drawing);

#endif
