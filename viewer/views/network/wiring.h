/* The network as a graph to be drawn: units, which are vertices or groups of them, directed edges
 * between units that carry something, and routes over those edges; with the figures of the time in
 * sight.
 *
 * Routes of groups that take the same way over units are one; what stays within a group is a figure
 * of it. Ways are kept while the same routes are in use, so that new figures cost one addition a
 * step. Memory: about 100 bytes a route and 4 a step of it, 60 an edge, 100 a unit. */
#ifndef HOLTER_VIEWER_VIEWS_NETWORK_WIRING_H
#define HOLTER_VIEWER_VIEWS_NETWORK_WIRING_H

#include "viewer/layout/spring.h"
#include "viewer/model/keymap.h"
#include "viewer/ui/ui.h"

#define WIRING_NONE UINT32_MAX

#define WIRING_METRICS ((int)METRIC_LOAD + 1) /* those that routes are coloured by */

struct wiring_unit {
    uint32_t vertex;   /**< the first one in use */
    uint32_t vertices; /**< in use */
    uint32_t group;    /**< NETWORK_ALONE: a vertex of its own */
    enum topology_vertex kind;
    uint32_t ranks, partners;     /**< units it sends to or receives from */
    uint64_t in, out;             /**< messages from and to other units */
    uint64_t in_bytes, out_bytes; /**< likewise */
    uint64_t transit;             /**< bytes of routes that pass through */
    uint64_t inside;              /**< bytes between vertices within */
    uint8_t marks;                /**< enum flow_mark, or-ed */
};

struct wiring_route {
    uint32_t source, destination; /**< units */
    uint32_t first, count;        /**< steps[]: edges in their order */
    uint32_t flow;   /**< number of the route of the model that it is, the first of them */
    uint32_t flows;  /**< how many it stands for */
    uint32_t length; /**< links, the mean of all it stands for */
    uint64_t bytes, messages;
    double values[WIRING_METRICS];
    uint8_t marks, given; /**< given: one of them takes a suggested way */
};

struct wiring_edge {
    uint32_t from, to; /**< units */
    uint32_t back;     /**< edge the other way; WIRING_NONE */
    uint64_t bytes;
    uint32_t first, count; /**< stack[]: routes over it, once ordered */
};

/** Zero-initialised is empty. Arrays are owned. */
struct wiring {
    uint64_t key; /**< of routes, network and groups that it is built from; 0: nothing */
    struct wiring_unit *units;
    uint32_t unit_count;
    uint32_t *unit_of; /**< by vertex; WIRING_NONE: not in use */
    uint32_t vertex_count;
    struct wiring_edge *edges;
    uint32_t edge_count, edge_room;
    struct wiring_route *routes;
    uint32_t route_count;
    uint32_t
        *route_of; /**< by route of the model; WIRING_NONE: stays within a group, or has no way */
    uint32_t flow_count, flow_room;
    uint32_t *steps;
    uint32_t step_count, step_room;
    int grouped; /**< some units are groups */

    uint32_t *stack;     /**< routes by edge, in order of a figure, those that are shown first */
    uint32_t *order;     /**< routes in that order */
    uint32_t *by_figure; /**< routes by the figure alone */
    double most[WIRING_METRICS];
    uint64_t heaviest;    /**< bytes of an edge */
    uint64_t most_inside; /**< bytes within a group */
    double most_degree;   /**< messages in and out of a unit */
    uint32_t most_partners;
    uint64_t figures_key, sorted_key, order_key, marks_key;

    struct keymap edge_keys, route_keys;
    uint32_t cursor; /**< route of the model that is looked at next, while it is built */
    uint32_t *walk;
    uint32_t walk_room;
};

void wiring_finish(struct wiring *wiring);

/** Of what would be built now. */
uint64_t wiring_key(const struct ui *ui, const struct model *model, const struct flows *flows);

/** Begin to build. @param wiring  empty  @return 0 or -ENOMEM (it stays empty) */
int wiring_begin(struct wiring *wiring, const struct ui *ui, const struct model *model,
                 const struct flows *flows, uint64_t key);

/** Do a share, of at most so many routes. The flows must have those it was begun with.
 *  @return 1 while more is to be done, 0, or -ENOMEM */
int wiring_work(struct wiring *wiring, const struct model *model, const struct flows *flows,
                uint32_t routes);

/** Sum up the figures, if they changed. @return 1 when they did, 0, or -ENOMEM */
int wiring_figures(struct wiring *wiring, const struct flows *flows);

/** Take over what is shown and selected, if that changed. @return 1 when it did */
int wiring_marks(struct wiring *wiring, const struct flows *flows);

/** Stack the routes of each edge: those that the filter lets pass first, the largest figure
 * innermost.
 *  @return 1 when that changed, 0, or -ENOMEM */
int wiring_order(struct wiring *wiring, enum flow_metric metric);

/** Find the other way round of edges and the partners of units, once it is built. @return 0 or
 * -ENOMEM */
int wiring_pair(struct wiring *wiring);

#endif
