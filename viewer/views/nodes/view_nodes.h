/* View "nodes": cost of the monitor on each node, losses, accuracy of its clock. */
#ifndef HOLTER_VIEWER_VIEWS_NODES_VIEW_NODES_H
#define HOLTER_VIEWER_VIEWS_NODES_VIEW_NODES_H

#include "viewer/views/common/view.h"

extern const struct view nodes_view;

#endif
