/* View "pairs": the busiest pairs of ranks, or all pairs of the selected rank. */
#ifndef HOLTER_VIEWER_VIEWS_PAIRS_VIEW_PAIRS_H
#define HOLTER_VIEWER_VIEWS_PAIRS_VIEW_PAIRS_H

#include "viewer/views/common/view.h"

extern const struct view pairs_view;

#endif
