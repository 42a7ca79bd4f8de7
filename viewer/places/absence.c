/* Which places a job has no data for, and why. */
#include "viewer/places/absence.h"

static const char *absence_of_network(const struct model *m, enum view_id view)
{
    const struct network *n = &m->network;
    const struct topology_spec *spec = n->topology ? topology_spec(n->topology) : NULL;
    if (!n->topology && n->fault[0])
        return n->fault;
    if (!n->topology && m->daemon.topology_fault[0])
        return m->daemon.topology_fault;
    if (!n->topology)
        return "No network is known: there was neither a topology file nor one from the agents.";
    if (view == VIEW_TORUS &&
        (!spec || (!spec->dimension_count && !topology_has_tiers(n->topology))))
        return "The network has neither coordinates nor levels: it is a graph. "
               "Its picture is in Network.";
    if (view != VIEW_LINKS && view != VIEW_TORUS && !m->pairs.keys.count)
        return "No message between two ranks has been seen.";
    return NULL;
}

static const char *absence_of_latency(const struct model *m, enum view_id view)
{
    switch (view) {
    case VIEW_REGIONS:
        return m->pairs.keys.count ? NULL : "No message between two ranks has been seen.";
    case VIEW_ATTRIBUTION:
        return m->pairs.keys.count || m->alerts.count
                   ? NULL
                   : "No message between two ranks has been seen, and there was no alert.";
    case VIEW_CRITERIA:
        return m->latency.criteria_count ? NULL
               : m->latency.known ? "No message was matched so far, so no transfer time is known."
                                  : "The stream has no transfer times of messages.";
    case VIEW_CAPTURES:
    case VIEW_DEPENDENCIES:
        if (view == VIEW_DEPENDENCIES && m->lateness.version && m->calls.keys.count)
            return NULL; /* of calls it is known by window who was late */
        return m->captures.count || model_can_read_back(m)
                   ? NULL
                   : "No calls were captured, and this job can no "
                     "longer be asked for its last ones.";
    default:
        return NULL;
    }
}

const char *place_absence(const struct model *m, enum view_id view)
{
    if (!m->job[0])
        return NULL;
    switch (view) {
    case VIEW_LIVE:
        return model_is_one_window(m) ? "The job is one window: nothing is over time." : NULL;
    case VIEW_MATRIX:
    case VIEW_PAIRS:
        return m->pairs.keys.count ? NULL : "No message between two ranks has been seen.";
    case VIEW_RANKS:
        return m->rank_count ? NULL : "There are no figures of single ranks.";
    case VIEW_CALLS:
        return m->calls.keys.count ? NULL : "There are no figures of single MPI functions.";
    case VIEW_LANDSCAPE:
        return m->callers.keys.count ? NULL
                                     : "There are no figures of MPI functions at single ranks.";
    case VIEW_NODES:
        return model_has_agents(m) ? NULL
                                   : "No agent has reported: a trace that was imported has none.";
    default:
        return view >= VIEW_LINKS ? absence_of_network(m, view) : absence_of_latency(m, view);
    }
}

enum view_id room_place(const struct model *m, enum room_id room, enum view_id last)
{
    if (!place_absence(m, last))
        return last;
    for (int view = 0; view < VIEWS; view++)
        if (place_names[view].room == room && !place_absence(m, (enum view_id)view))
            return (enum view_id)view;
    return last;
}

enum view_id place_next(const struct model *m, enum view_id view, int step)
{
    int next = (int)view;
    do
        next = (next + step + VIEWS) % VIEWS;
    while (next != (int)view && (place_names[next].room != place_names[view].room ||
                                 place_absence(m, (enum view_id)next)));
    return (enum view_id)next;
}
