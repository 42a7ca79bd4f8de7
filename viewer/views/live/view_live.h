/* View "live": strips of messages, bytes and time in MPI over time, latency by region, an overview
 * of the whole job, and below them the matrix and the heat map of waiting. */
#ifndef HOLTER_VIEWER_VIEWS_LIVE_VIEW_LIVE_H
#define HOLTER_VIEWER_VIEWS_LIVE_VIEW_LIVE_H

#include "viewer/views/common/view.h"

extern const struct view live_view;

#endif
