/* View "captures": the last calls of ranks before an alert or a request, as one row of bars for
 * each thread, with the time of the alert. */
#ifndef HOLTER_VIEWER_VIEWS_CAPTURES_VIEW_CAPTURES_H
#define HOLTER_VIEWER_VIEWS_CAPTURES_VIEW_CAPTURES_H

#include "viewer/views/common/view.h"

extern const struct view captures_view;

#endif
