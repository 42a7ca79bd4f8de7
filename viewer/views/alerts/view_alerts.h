/* View "alerts": a list of the job's alerts, and the evidence of the selected one. */
#ifndef HOLTER_VIEWER_VIEWS_ALERTS_VIEW_ALERTS_H
#define HOLTER_VIEWER_VIEWS_ALERTS_VIEW_ALERTS_H

#include "viewer/views/common/view.h"

extern const struct view alerts_view;

#endif
