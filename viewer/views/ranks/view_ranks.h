/* View "ranks": time of each rank by class of call, as a profile and a table. */
#ifndef HOLTER_VIEWER_VIEWS_RANKS_VIEW_RANKS_H
#define HOLTER_VIEWER_VIEWS_RANKS_VIEW_RANKS_H

#include "viewer/views/common/view.h"

extern const struct view ranks_view;

#endif
