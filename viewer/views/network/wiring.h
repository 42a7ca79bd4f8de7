/* The network as a graph to draw: units (vertices or groups of vertices), directed edges between
 * units that carry traffic, and routes over those edges, with the figures of the visible time.
 *
 * Routes between groups that follow the same edges are merged; traffic within a group is a figure
 * of the group. Paths are reused while the same routes are in use, so that new figures cost one
 * addition for each step. Memory: about 100 bytes a route and 4 for each of its steps, 60 an edge,
 * 100 a unit. */
#ifndef HOLTER_VIEWER_VIEWS_NETWORK_WIRING_H
#define HOLTER_VIEWER_VIEWS_NETWORK_WIRING_H

#include "daemon/analysis/tables/key_table.h"
#include "viewer/layout/spring.h"
#include "viewer/ui/ui.h"

#define WIRING_NONE UINT32_MAX

#define WIRING_METRICS                                                                             \
    ((int)METRIC_LOAD + 1) /* metrics that can determine the colours of routes                     \
                            */

struct wiring_unit {
    uint32_t vertex;   /**< first used vertex */
    uint32_t vertices; /**< number of used vertices */
    uint32_t group;    /**< group; NETWORK_ALONE: a single vertex */
    enum topology_vertex kind;
    uint32_t ranks, partners;     /**< partners: units it sends to or receives from */
    uint64_t in, out;             /**< messages from and to other units */
    uint64_t in_bytes, out_bytes; /**< bytes from and to other units */
    uint64_t transit;             /**< bytes of routes that pass through */
    uint64_t inside;              /**< bytes between vertices of the unit */
    uint8_t marks;                /**< enum flow_mark, or-ed */
};

struct wiring_route {
    uint32_t source, destination; /**< units */
    uint32_t first, count;        /**< steps[]: edges in their order */
    uint32_t flow;                /**< index of the model's route, the first of them */
    uint32_t flows;               /**< number of the model's routes that it represents */
    uint32_t length;              /**< links, mean over the routes that it represents */
    uint64_t bytes, messages;
    double values[WIRING_METRICS];
    uint8_t marks, given; /**< given: one of them follows a suggested route */
};

struct wiring_edge {
    uint32_t from, to; /**< units */
    uint32_t back;     /**< edge in the opposite direction; WIRING_NONE */
    uint64_t bytes;
    uint32_t first, count; /**< section of stack[]: routes over the edge, after wiring_order() */
};

/** Zero-initialised is empty. Arrays are owned. */
struct wiring {
    uint64_t key; /**< key of the routes, network and groups that it is built from; 0: empty */
    struct wiring_unit *units;
    uint32_t unit_count;
    uint32_t *unit_of; /**< by vertex; WIRING_NONE: unused vertex */
    uint32_t vertex_count;
    struct wiring_edge *edges;
    uint32_t edge_count, edge_room;
    struct wiring_route *routes;
    uint32_t route_count;
    uint32_t
        *route_of; /**< by route of the model; WIRING_NONE: within a group, or without a path */
    uint32_t flow_count, flow_room;
    uint32_t *steps;
    uint32_t step_count, step_room;
    int grouped; /**< 1: some units are groups */

    uint32_t *stack;     /**< routes by edge, ordered by a figure, visible routes first */
    uint32_t *order;     /**< all routes in that order */
    uint32_t *by_figure; /**< all routes ordered by the figure only */
    double most[WIRING_METRICS];
    uint64_t heaviest;    /**< maximum of bytes over an edge */
    uint64_t most_inside; /**< maximum of bytes within a group */
    double most_degree;   /**< maximum of messages in and out of a unit */
    uint32_t most_partners;
    uint64_t figures_key, sorted_key, order_key, marks_key;

    struct key_table edge_keys, route_keys;
    uint32_t cursor; /**< while building: next route of the model */
    uint32_t *walk;
    uint32_t walk_capacity;
};

void wiring_finish(struct wiring *wiring);

/** Key of the graph that would be built now. */
uint64_t wiring_key(const struct ui *ui, const struct model *model, const struct flows *flows);

/** Begin to build. @param wiring  empty @return 0 or -ENOMEM (it stays empty) */
int wiring_begin(struct wiring *wiring, const struct ui *ui, const struct model *model,
                 const struct flows *flows, uint64_t key);

/** Do a part of the building work, for at most `routes` routes. The flows must contain the same
 * routes as at wiring_begin().
 * @return 1 while work remains, 0, or -ENOMEM */
int wiring_work(struct wiring *wiring, const struct model *model, const struct flows *flows,
                uint32_t routes);

/** Sum the figures if they changed. @return 1 when they did, 0, or -ENOMEM */
int wiring_figures(struct wiring *wiring, const struct flows *flows);

/** Copy the marks of visible and selected routes if they changed. @return 1 when they did */
int wiring_marks(struct wiring *wiring, const struct flows *flows);

/** Stack the routes of each edge: routes that pass the filter first, the largest figure innermost.
 * @return 1 when the order changed, 0, or -ENOMEM */
int wiring_order(struct wiring *wiring, enum flow_metric metric);

/** Find opposite edges and partners of units, after building. @return 0 or -ENOMEM */
int wiring_pair(struct wiring *wiring);

#endif
