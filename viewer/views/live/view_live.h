/* The live view: strips of messages, bytes and time in MPI over time, the whole job below them, and
 * under that who talks to whom and who waits when. */
#ifndef HOLTER_VIEWER_VIEWS_LIVE_VIEW_LIVE_H
#define HOLTER_VIEWER_VIEWS_LIVE_VIEW_LIVE_H

#include "viewer/views/common/view.h"

extern const struct view live_view;

#endif
