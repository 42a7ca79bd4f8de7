/* The names of rooms and places, and the way back and forward. */
#include "viewer/places/place.h"

#include <string.h>

const struct room_name room_names[ROOMS] = {
    [ROOM_OVERVIEW] = {"Overview", "overview"},
    [ROOM_COMMUNICATION] = {"Communication", "communication"},
    [ROOM_LATENCY] = {"Latency", "latency"},
    [ROOM_NETWORK] = {"Network", "network"},
    [ROOM_SYSTEM] = {"System", "system"},
};

const struct place_name place_names[VIEWS] = {
    [VIEW_OVERVIEW] = {ROOM_OVERVIEW, "Overview", "overview", NULL},
    [VIEW_LIVE] = {ROOM_OVERVIEW, "Over time", "live", NULL},
    [VIEW_COMMGRAM] = {ROOM_COMMUNICATION, "CommGram", "commgram", NULL},
    [VIEW_MATRIX] = {ROOM_COMMUNICATION, "Matrix", "matrix", NULL},
    [VIEW_PAIRS] = {ROOM_COMMUNICATION, "Pairs", "pairs", NULL},
    [VIEW_RANKS] = {ROOM_COMMUNICATION, "Ranks", "ranks", NULL},
    [VIEW_CALLS] = {ROOM_COMMUNICATION, "Calls", "calls", NULL},
    [VIEW_LANDSCAPE] = {ROOM_COMMUNICATION, "Metrics", "landscape", "metrics"},
    [VIEW_ALERTS] = {ROOM_LATENCY, "Alerts", "alerts", NULL},
    [VIEW_REGIONS] = {ROOM_LATENCY, "Regions", "regions", NULL},
    [VIEW_ATTRIBUTION] = {ROOM_LATENCY, "Attribution", "attribution", NULL},
    [VIEW_DEPENDENCIES] = {ROOM_LATENCY, "Graph", "dependencies", "graph"},
    [VIEW_CAPTURES] = {ROOM_LATENCY, "Captures", "captures", NULL},
    [VIEW_CRITERIA] = {ROOM_LATENCY, "Criteria", "criteria", NULL},
    [VIEW_NODES] = {ROOM_SYSTEM, "Nodes", "nodes", NULL},
    [VIEW_JOBS] = {ROOM_SYSTEM, "Jobs", "jobs", NULL},
    [VIEW_MONITOR] = {ROOM_SYSTEM, "Monitor", "monitor", NULL},
    [VIEW_LINKS] = {ROOM_NETWORK, "Links", "links", NULL},
    [VIEW_NETWORK] = {ROOM_NETWORK, "Network", "network", NULL},
    [VIEW_TORUS] = {ROOM_NETWORK, "Topology", "torus", "topology"},
    [VIEW_ROUTES] = {ROOM_NETWORK, "Routes", "routes", NULL},
    [VIEW_WHAT_IF] = {ROOM_NETWORK, "What-if", "what-if", NULL},
};

int place_find(const char *name)
{
    for (int i = 0; i < VIEWS; i++)
        if (!strcmp(place_names[i].name, name) ||
            (place_names[i].other && !strcmp(place_names[i].other, name)))
            return i;
    return -1;
}

enum view_id room_first(enum room_id room)
{
    int view = 0;
    while (view + 1 < VIEWS && place_names[view].room != room)
        view++;
    return (enum view_id)view;
}

/* Push a place; the oldest is forgotten when there are too many. */
static void places_push(struct place *places, int *count, const struct place *place)
{
    if (*count == HISTORY_PLACES)
        memmove(places, places + 1, (size_t)-- * count * sizeof *places);
    places[(*count)++] = *place;
}

void places_leave(struct history_of_places *h, const struct place *present)
{
    places_push(h->back, &h->back_count, present);
    h->forward_count = 0;
}

/* One step from the present place to the newest of `from`; `to` receives the present one. */
static int places_step(struct place *from, int *from_count, struct place *to, int *to_count,
                       struct place *present)
{
    if (!*from_count)
        return 0;
    struct place next = from[--*from_count], left = *present;
    left.timed = next.timed; /* a step that moved time moves it in both directions */
    places_push(to, to_count, &left);
    *present = next;
    return 1;
}

int places_back(struct history_of_places *h, struct place *present)
{
    return places_step(h->back, &h->back_count, h->forward, &h->forward_count, present);
}

int places_forward(struct history_of_places *h, struct place *present)
{
    return places_step(h->forward, &h->forward_count, h->back, &h->back_count, present);
}
