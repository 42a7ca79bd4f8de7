/* The list of all views. The only source of the views, beside the frame, that knows them all. */
#include "viewer/views/views.h"

#include <stdlib.h>

const struct view *const views[VIEWS] = {
    [VIEW_LIVE] = &live_view,           [VIEW_COMMGRAM] = &commgram_view,
    [VIEW_REGIONS] = &regions_view,     [VIEW_ALERTS] = &alerts_view,
    [VIEW_MATRIX] = &matrix_view,       [VIEW_PAIRS] = &pairs_view,
    [VIEW_RANKS] = &ranks_view,         [VIEW_CALLS] = &calls_view,
    [VIEW_NODES] = &nodes_view,         [VIEW_JOBS] = &jobs_view,
    [VIEW_LINKS] = &links_view,         [VIEW_NETWORK] = &network_view,
    [VIEW_CAPTURES] = &captures_view,   [VIEW_TORUS] = &torus_view,
    [VIEW_ROUTES] = &routes_view,       [VIEW_DEPENDENCIES] = &dependencies_view,
    [VIEW_CRITERIA] = &criteria_view,   [VIEW_ATTRIBUTION] = &attribution_view,
    [VIEW_LANDSCAPE] = &landscape_view, [VIEW_OVERVIEW] = &overview_view,
    [VIEW_MONITOR] = &monitor_view,     [VIEW_WHAT_IF] = &what_if_view,
};

void pictures_finish(struct pictures *pictures)
{
    for (int i = 0; i < VIEWS; i++)
        if (views[i]->finish)
            views[i]->finish(pictures);
    pictures_finish_shared(pictures);
    for (int i = 0; i < 2; i++) {
        if (pictures->beside[i])
            pictures_finish(pictures->beside[i]);
        free(pictures->beside[i]);
    }
    *pictures = (struct pictures){0};
}
