/* Where one can be in the viewer: places, each a view, in rooms; the names that people and the
 * command line use for them; and the way back and forward through the places that were visited.
 * Pure: knows neither the job nor the screen. */
#ifndef HOLTER_VIEWER_PLACES_PLACE_H
#define HOLTER_VIEWER_PLACES_PLACE_H

#include <stddef.h>
#include <stdint.h>

enum room_id { ROOM_OVERVIEW, ROOM_COMMUNICATION, ROOM_LATENCY, ROOM_NETWORK, ROOM_SYSTEM, ROOMS };

/** The places; those of a room follow each other in the order of its tabs. */
enum view_id {
    VIEW_OVERVIEW,
    VIEW_LIVE,
    VIEW_COMMGRAM,
    VIEW_MATRIX,
    VIEW_PAIRS,
    VIEW_RANKS,
    VIEW_CALLS,
    VIEW_LANDSCAPE,
    VIEW_ALERTS,
    VIEW_REGIONS,
    VIEW_ATTRIBUTION,
    VIEW_DEPENDENCIES,
    VIEW_CAPTURES,
    VIEW_CRITERIA,
    VIEW_NODES,
    VIEW_JOBS,
    VIEW_MONITOR,
    VIEW_LINKS, /**< this view and all after it show the network */
    VIEW_NETWORK,
    VIEW_TORUS,
    VIEW_ROUTES,
    VIEW_WHAT_IF,
    VIEWS
};

/** Name of a room: in the rail, and in addresses. */
struct room_name {
    const char *label, *name;
};

/** Name of a place: its room, on its tab, in addresses. */
struct place_name {
    enum room_id room;
    const char *label, *name;
    const char *other; /**< a second name that option --view and addresses take; NULL: none */
};

extern const struct room_name room_names[ROOMS];
extern const struct place_name place_names[VIEWS];

/** Place of a name, in any room; -1: there is none. */
int place_find(const char *name);

/** First place of a room. */
enum view_id room_first(enum room_id room);

/* ---- selection ---- */

enum select_kind {
    SELECT_NONE,
    SELECT_RANK,
    SELECT_PAIR,
    SELECT_NODE,
    SELECT_CALL,
    SELECT_REGION,
    SELECT_ALERT, /**< the ranks that carry it */
    SELECT_COMMUNITY,
    SELECT_LINK,   /**< of the network, with its routes and ranks */
    SELECT_ROUTE,  /**< from one vertex to another */
    SELECT_VERTEX, /**< node or switch of the network */
    SELECT_PLANE,  /**< of a Cartesian network: nodes with the same coordinate */
};

struct selection {
    enum select_kind kind;
    uint64_t a, b; /**< rank; source and destination; index of host; number of a kind of call and
                      with which others it is summed (enum call_group); id; identity of a community
                      and a column that shows it; link; two vertices; vertex; dimension and
                      coordinate */
};

/* ---- back and forward ---- */

/** The choices that the way back restores. */
struct place {
    enum view_id view;
    struct selection selection;
    int alert_picked; /**< an alert was chosen, number alert */
    uint64_t alert;
    double matrix_row, matrix_column, matrix_extent;
    uint64_t graph_open;
    int level;
    /* the visible time, which is restored only where the step from here moved it */
    int timed, follow;
    int64_t span_ns, end_ns;
};

#define HISTORY_PLACES 32

/** The places before the present one, and those that one came back from. Zero-initialised: none. */
struct history_of_places {
    struct place back[HISTORY_PLACES], forward[HISTORY_PLACES];
    int back_count, forward_count;
};

/** The present place is left for a new one: it can be returned to, and nothing lies ahead. The
 *  oldest place is forgotten when there are too many. */
void places_leave(struct history_of_places *history, const struct place *present);

/** Steps back or forward. @param present  in: the place that is left; out: the place to be at
 *  @return 1, or 0: there is none, present is unchanged */
int places_back(struct history_of_places *history, struct place *present);
int places_forward(struct history_of_places *history, struct place *present);

#endif
