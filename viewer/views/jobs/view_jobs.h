/* View "jobs": the jobs that the daemon knows, to choose one of them. */
#ifndef HOLTER_VIEWER_VIEWS_JOBS_VIEW_JOBS_H
#define HOLTER_VIEWER_VIEWS_JOBS_VIEW_JOBS_H

#include "viewer/views/common/view.h"

extern const struct view jobs_view;

#endif
