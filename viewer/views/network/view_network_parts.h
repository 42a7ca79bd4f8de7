/* Parts of view "network": the graph that it draws, its state between frames and the functions of
 * its sources. */
#ifndef HOLTER_VIEWER_VIEWS_NETWORK_VIEW_NETWORK_PARTS_H
#define HOLTER_VIEWER_VIEWS_NETWORK_VIEW_NETWORK_PARTS_H

#include "daemon/analysis/tables/key_table.h"
#include "viewer/layout/section.h"
#include "viewer/layout/spring.h"
#include "viewer/layout/strokes.h"
#include "viewer/ui/ui.h"
#include "viewer/views/common/view.h"

/* ---- the network as a graph -------------------------------------------------------------
 *
 * Units (vertices or groups of vertices), directed edges between units that carry traffic, and
 * routes over those edges, with the figures of the visible time.
 *
 * Routes between groups that follow the same edges are merged; traffic within a group is a figure
 * of the group. Paths are reused while the same routes are in use, so that new figures cost one
 * addition for each step. Memory: about 100 bytes a route and 4 for each of its steps, 60 an edge,
 * 100 a unit. */

#define WIRING_NONE UINT32_MAX

/* Metrics that can determine the colours of routes. */
#define WIRING_METRICS ((int)METRIC_LOAD + 1)

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
    double real;           /**< bytes in reality, which differ while a what-if is shown */
    uint32_t first, count; /**< section of stack[]: routes over the edge */
};

/** Zero-initialised is empty. Arrays are owned. */
struct wiring {
    uint64_t key; /**< key of the routes, network and groups that it is built from; 0: empty */
    struct wiring_unit *units;
    uint32_t unit_count;
    uint32_t *unit_of; /**< by vertex; WIRING_NONE: unused vertex */
    uint32_t vertex_count;
    struct wiring_edge *edges;
    uint32_t edge_count, edge_capacity;
    struct wiring_route *routes;
    uint32_t route_count;
    uint32_t
        *route_of; /**< by route of the model; WIRING_NONE: within a group, or without a path */
    uint32_t flow_count;
    uint32_t *steps;
    uint32_t step_count, step_capacity;
    int grouped; /**< 1: some units are groups */

    uint32_t *stack;      /**< routes by edge, ordered by a figure, visible routes first */
    uint32_t *order;      /**< all routes in that order */
    uint64_t *edge_bytes; /**< bytes of edges[], side by side for loops over all steps */
    uint32_t *cursors;    /**< by edge: working memory of wiring_order() */
    uint32_t *by_figure;  /**< all routes ordered by the figure only */
    double most[WIRING_METRICS];
    uint64_t heaviest;    /**< maximum of bytes over an edge */
    uint64_t most_inside; /**< maximum of bytes within a group */
    double most_degree;   /**< maximum of messages in and out of a unit */
    uint32_t most_partners;
    uint64_t figures_key, sorted_key, order_key, marks_key;

    struct key_table edge_keys, route_keys;
};

void wiring_finish(struct wiring *wiring);

/** Key of the graph that would be built now. */
uint64_t wiring_key(const struct stage *stage);

/** Build it. While a what-if is shown its units are those of both states. @param wiring empty
 * @return 0 or -ENOMEM (it stays empty) */
int wiring_make(struct wiring *wiring, const struct stage *stage, uint64_t key);

/** Sum the figures if they changed. @return 1 when they did, 0, or -ENOMEM */
int wiring_figures(struct wiring *wiring, const struct stage *stage);

/** Copy the marks of visible and selected routes if they changed. @return 1 when they did */
int wiring_marks(struct wiring *wiring, const struct flows *flows);

/** Key of the order that the routes are to be stacked in. */
uint64_t wiring_order_key(const struct wiring *wiring, enum flow_metric metric);

/** Stack the routes of each edge, unless they are: routes that pass the filter first, the largest
 * figure innermost. Called where stacks are read, as new figures come more often than pictures are
 * made. @return 0 or -ENOMEM */
int wiring_order(struct wiring *wiring, enum flow_metric metric);

/* ---- the view --------------------------------------------------------------------------- */

/** Largest figures of the graph in reality: the scale that all states of the network share. */
struct wiring_scale {
    uint64_t graph_version; /**< of the groups that they belong to */
    uint64_t figures_key;   /**< of the wiring that they are of */
    uint64_t largest;       /**< load of a link then; 0: not known */
    double most[WIRING_METRICS];
    double heaviest, most_inside, most_degree;
    uint32_t most_partners;
};

/** A wiring with the positions of its units. */
struct arrangement {
    uint64_t graph_version, network_version, what_if; /**< versions that it was built from */
    struct wiring wiring;
    struct spring spring;
    struct point *at; /**< owned; by unit: position, moving towards that of the spring layout; NULL:
                         none yet */
    double *weights;  /**< owned; weights of edges when positions were computed */
    uint64_t at_spring; /**< version of the spring layout that the units have reached */
    uint64_t version;   /**< incremented when a unit moved */
};

struct network_drawing {
    struct arrangement now, next; /**< the visible graph, and the one in progress */
    struct wiring_scale scale;
    uint64_t flows_version, real_version, graph_version,
        key; /**< key computed from those versions */

    color_t *colors; /**< owned; by route */
    uint32_t color_count;
    uint64_t colors_key;
    struct strokes strokes;
    uint64_t strokes_key, drawn_key, making_key; /**< keys of the strokes, of the visible picture
                                                    and of the picture in progress */
    struct box drawn, making; /**< sections of the graph that the pictures show */
    struct strokes chosen;    /**< the selected routes, above the picture */
    uint64_t chosen_key;
    int chosen_fits; /**< 0: they are too many for that */

    uint32_t legend[256]; /**< colour map of in-degree ratios */
    struct image legend_image;
};

void network_drawing_destroy(struct network_drawing *drawing);

/** Where the layout is in the plot. */
struct plot {
    struct section section;
    double radius; /**< radius of the largest circle */
    double thick;  /**< width of the heaviest edge */
};

struct plot network_plot_make(const struct stage *stage, const struct arrangement *arrangement,
                              struct box box);

/** Do a part of the building and layout work. @return NULL: there is nothing to show yet */
struct network_drawing *network_arrange(struct stage *stage);

/** Metric that determines the colours of routes. */
enum flow_metric network_metric(const struct ui *ui);

/** 1 if there is a selection that routes or nodes belong to. */
int network_selects(const struct stage *stage, const struct wiring *wiring);

/** Draw all routes; the route under the mouse is drawn on top. */
void network_draw_routes(struct stage *stage, struct network_drawing *drawing,
                         const struct plot *plot);

/** Route under the mouse; WIRING_NONE: none. */
uint32_t network_route_under(const struct stage *stage, struct arrangement *arrangement,
                             const struct plot *plot);
void network_draw_route(const struct stage *stage, const struct arrangement *arrangement,
                        const struct plot *plot, uint32_t route);

/** 1 if a line crosses a box; 0 also where lines are too many to look. */
int network_lines_cross(const struct arrangement *arrangement, const struct plot *plot,
                        struct box box);

/** Draw the selected link, if any. */
void network_draw_link(const struct stage *stage, const struct arrangement *arrangement,
                       const struct plot *plot);

/** 1 if routes and nodes are few enough to be items of the scene; otherwise they are one picture.
 */
int network_few(const struct wiring *wiring);

/** Add units to the picture: faded ones below the routes; all of them where there are many.
 * @param k  pixels for each logical pixel in a picture whose top left is the plot's; 0: logical
 * pixels of the scene
 * @param some  1: those that are not selected are faded */
void network_add_units(const struct stage *stage, struct network_drawing *drawing,
                       const struct plot *plot, double k, int some);

/** Draw circles and squares with hits and names. @return unit under the mouse; WIRING_NONE: none */
uint32_t network_draw_units(struct stage *stage, const struct network_drawing *drawing,
                            const struct plot *plot);

/** Colour for a share of in-degree, 0 to 1. */
color_t network_in_color(const struct theme *theme, double share);

/** Name of a unit: "A 1, B 0: 32 nodes", or the vertex's name. */
char *network_unit_name(const struct stage *stage, const struct wiring_unit *unit, char *out,
                        size_t capacity);

void network_unit_tip(struct stage *stage, const struct wiring *wiring, uint32_t unit);
void network_route_tip(struct stage *stage, const struct wiring *wiring, uint32_t route);

/** Buttons in as many rows as needed. @return y below them */
double network_choices(struct stage *stage, struct box box);

/** Legend of colours, sizes and widths. */
void network_legend(struct stage *stage, struct network_drawing *drawing, struct box box);

#endif
