/* View "calls": which MPI functions take how much time, on which communicator, in which code
 * region. */
#ifndef HOLTER_VIEWER_VIEWS_CALLS_VIEW_CALLS_H
#define HOLTER_VIEWER_VIEWS_CALLS_VIEW_CALLS_H

#include "viewer/views/common/view.h"

extern const struct view calls_view;

#endif
