/* Every alert of the job, with its evidence. */
#ifndef HOLTER_VIEWER_VIEWS_ALERTS_VIEW_ALERTS_H
#define HOLTER_VIEWER_VIEWS_ALERTS_VIEW_ALERTS_H

#include "viewer/views/common/view.h"

extern const struct view alerts_view;

#endif
