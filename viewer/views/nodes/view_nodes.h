/* Nodes: what the monitor costs there, what was lost, how well the clock is known. */
#ifndef HOLTER_VIEWER_VIEWS_NODES_VIEW_NODES_H
#define HOLTER_VIEWER_VIEWS_NODES_VIEW_NODES_H

#include "viewer/views/common/view.h"

extern const struct view nodes_view;

#endif
