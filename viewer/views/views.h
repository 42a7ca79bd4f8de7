/* The list of all views, for the program and for the frame around the views. */
#ifndef HOLTER_VIEWER_VIEWS_VIEWS_H
#define HOLTER_VIEWER_VIEWS_VIEWS_H

#include "viewer/views/common/view.h"

/* Each view is defined by the main source of its folder. */
extern const struct view alerts_view, attribution_view, calls_view, captures_view, commgram_view,
    criteria_view, dependencies_view, jobs_view, landscape_view, links_view, live_view, matrix_view,
    monitor_view, network_view, nodes_view, overview_view, pairs_view, ranks_view, regions_view,
    routes_view, torus_view, what_if_view;

/** The views, by enum view_id. */
extern const struct view *const views[VIEWS];

/** Free what all views keep; the pictures are empty after it. */
void pictures_finish(struct pictures *pictures);

#endif
