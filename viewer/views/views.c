#include "viewer/views/view.h"

#include "viewer/views/alerts/alerts.h"
#include "viewer/views/calls/calls.h"
#include "viewer/views/captures/captures.h"
#include "viewer/views/commgram/commgram.h"
#include "viewer/views/jobs/jobs.h"
#include "viewer/views/links/links.h"
#include "viewer/views/live/live.h"
#include "viewer/views/matrix/matrix.h"
#include "viewer/views/network/network.h"
#include "viewer/views/nodes/nodes.h"
#include "viewer/views/pairs/pairs.h"
#include "viewer/views/ranks/ranks.h"
#include "viewer/views/regions/regions.h"
#include "viewer/views/routes/routes.h"
#include "viewer/views/torus/torus.h"

#include <string.h>

const struct view *const views[VIEWS] = {
    [VIEW_LIVE] = &live_view,         [VIEW_COMMGRAM] = &commgram_view,
    [VIEW_REGIONS] = &regions_view,   [VIEW_ALERTS] = &alerts_view,
    [VIEW_MATRIX] = &matrix_view,     [VIEW_PAIRS] = &pairs_view,
    [VIEW_RANKS] = &ranks_view,       [VIEW_CALLS] = &calls_view,
    [VIEW_NODES] = &nodes_view,       [VIEW_JOBS] = &jobs_view,
    [VIEW_LINKS] = &links_view,       [VIEW_NETWORK] = &network_view,
    [VIEW_CAPTURES] = &captures_view, [VIEW_TORUS] = &torus_view,
    [VIEW_ROUTES] = &routes_view,
};

int view_by_name(const char *name)
{
    for (int i = 0; i < VIEWS; i++)
        if (!strcmp(views[i]->name, name))
            return i;
    return -1;
}
