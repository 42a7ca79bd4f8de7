/* Pairs of ranks, busiest first: who sends how much to whom. */
#ifndef HOLTER_VIEWER_VIEWS_PAIRS_VIEW_PAIRS_H
#define HOLTER_VIEWER_VIEWS_PAIRS_VIEW_PAIRS_H

#include "viewer/views/common/view.h"

extern const struct view pairs_view;

#endif
