/* The graph of dependencies as its view keeps it, and how it lies in the plot. Private to the view.
 */
#ifndef HOLTER_VIEWER_VIEWS_DEPENDENCIES_DEPENDENCY_PICTURE_H
#define HOLTER_VIEWER_VIEWS_DEPENDENCIES_DEPENDENCY_PICTURE_H

#include "daemon/analysis/dependencies/dependencies.h"
#include "viewer/layout/bundle.h"
#include "viewer/layout/section.h"
#include "viewer/views/common/view.h"

struct dependency_picture {
    uint64_t key;     /**< of what the graph was made of; 0: there is none */
    uint64_t subject; /**< the capture and the time that it was made of */
    size_t made_of;   /**< ends of messages that the capture had then */
    struct dependencies d;
    struct dependency_graph hosts; /**< lanes by host */
    uint64_t hosts_key;
    const struct dependency_graph *graph; /**< the one that is shown: d.ranks or hosts */
    uint64_t graph_key;
    uint32_t *lane_of; /**< owned; by lane of d.ranks: lane of the graph that is shown */
    double labels_w;   /**< width of the widest label of a lane */
    uint64_t labels_key;
    uint8_t *marked; /**< owned; by lane that is shown: it has a selected rank */
    int some_marked; /**< ranks are selected */
    uint32_t *chain; /**< owned; events, the last one first */
    uint32_t chain_count;
    uint64_t chain_key;
    uint32_t *model_host; /**< owned; by host of the capture: its index in the model */
    uint64_t model_host_key;
    double *cells; /**< owned; working memory */
    size_t cells_capacity;
    struct bundle bundle; /**< picture of the edges */
    uint64_t drawn_key, making_key;
    struct box drawn, making; /**< section that it shows */
    int64_t slowest_ns;       /**< greatest transfer time */
};

/** How the graph lies in the plot: plane coordinates are columns and lanes. */
struct dependency_plot {
    const struct capture *capture;
    struct dependency_picture *picture;
    struct section v;
    uint32_t columns;           /**< all: layers or steps */
    uint32_t first_lane, lanes; /**< visible ones */
    int steps;
    double gutter; /**< left of the lanes, for their labels */
};

/** Bring the graph of a capture up to date. @return NULL: without memory */
struct dependency_picture *dependency_picture_make(struct stage *stage, const struct capture *c);
void dependency_picture_destroy(struct dependency_picture *picture);

/** Index of a lane's host in the model; UINT32_MAX: not known. */
uint32_t dependency_picture_host(const struct dependency_picture *picture,
                                 const struct dependency_lane *lane);

/** Lane of an event in the graph that is shown. */
uint32_t dependency_plot_lane(const struct dependency_plot *plot, uint32_t event);

/** Screen position of an event. */
struct point dependency_plot_event(const struct dependency_plot *plot, uint32_t event);

/** Nodes or events, the chain, hits and tooltips, in the open panel. */
void dependency_plot_layout(struct stage *stage, const struct dependency_plot *plot);

/** Glyphs of this radius or a larger one have bars. */
#define DEPENDENCY_FULL_RADIUS 15.0

/** Radius of the glyphs where they have room. */
double dependency_glyph_radius(const struct dependency_plot *plot);

/** The CS-glyph of a node (PCLVis, Fig. 9). */
void dependency_glyph_layout(struct stage *stage, const struct dependency_plot *plot,
                             uint32_t node);

/** Lines of the tooltip about a message. */
void dependency_glyph_message_tip(struct stage *stage, const struct dependency_plot *plot,
                                  uint32_t event);

/** The picture of all edges, and a part of the work for the next one. */
void dependency_edges_layout(struct stage *stage, const struct dependency_plot *plot);

/** The messages of a node, one by one. */
void dependency_edges_of_node(struct stage *stage, const struct dependency_plot *plot,
                              uint32_t node);

/** Collectives: a bar over the lanes of their ranks, between those that enter and those that leave.
 */
void collective_bars_layout(struct stage *stage, const struct dependency_plot *plot);

/** Lines of the tooltip about a collective. */
void collective_bars_tip(struct stage *stage, const struct dependency_plot *plot,
                         uint32_t collective);

/** A curve from one event to another. */
void dependency_edges_curve(struct stage *stage, const struct dependency_plot *plot, uint32_t from,
                            uint32_t to, double width, color_t color);

#endif
