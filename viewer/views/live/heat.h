/* Heat map of waiting: each row is one or several ranks, each column one or several windows, the
 * colour is the share of time spent waiting. */
#ifndef HOLTER_VIEWER_VIEWS_LIVE_HEAT_H
#define HOLTER_VIEWER_VIEWS_LIVE_HEAT_H

#include "viewer/views/common/timeline.h"
#include "viewer/views/common/view.h"

void heat_layout(struct stage *stage, struct box box, const struct timeline *line);

#endif
