/* Parts of view "network": its state between frames and the functions of its sources. */
#ifndef HOLTER_VIEWER_VIEWS_NETWORK_VIEW_NETWORK_PARTS_H
#define HOLTER_VIEWER_VIEWS_NETWORK_VIEW_NETWORK_PARTS_H

#include "viewer/layout/spring.h"
#include "viewer/layout/strokes.h"
#include "viewer/views/common/view.h"
#include "viewer/views/network/wiring.h"

/** A wiring with the positions of its units. */
struct arrangement {
    struct wiring wiring;
    struct spring spring;
    struct point *at; /**< owned; by unit: position, moving towards that of the spring layout; NULL:
                         none yet */
    double *weights;  /**< owned; weights of edges when positions were computed */
    uint64_t at_spring; /**< version of the spring layout that the units have reached */
    uint64_t version;   /**< incremented when a unit moved */
};

struct network_drawing {
    struct arrangement now, next;               /**< the visible graph, and the one in progress */
    uint32_t restarts;                          /**< how often `next` was restarted */
    uint64_t flows_version, graph_version, key; /**< key computed from those versions */

    color_t *colors; /**< owned; by route */
    uint32_t color_count;
    uint64_t colors_key;
    struct strokes strokes;
    uint64_t strokes_key, drawn_key, making_key; /**< keys of the strokes, of the visible picture
                                                    and of the picture in progress */
    struct box drawn, making; /**< sections of the graph that the pictures show */

    uint32_t legend[256]; /**< colour map of in-degree ratios */
    struct image legend_image;
};

void network_drawing_destroy(struct network_drawing *drawing);

/** Transformation from the layout to the plot. */
struct plot {
    struct box box;
    double ux, uy; /**< logical pixels of one unit of the layout, along each axis */
    double cx, cy; /**< position at the centre of the plot */
    double radius; /**< radius of the largest circle */
    double thick;  /**< width of the heaviest edge */
};

double network_plot_x(const struct plot *plot, double x);
double network_plot_y(const struct plot *plot, double y);
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
uint32_t network_route_under(const struct stage *stage, const struct wiring *wiring,
                             const struct arrangement *arrangement, const struct plot *plot);
void network_draw_route(const struct stage *stage, const struct arrangement *arrangement,
                        const struct plot *plot, uint32_t route);

/** Draw the selected link, if any. */
void network_draw_link(const struct stage *stage, const struct arrangement *arrangement,
                       const struct plot *plot);

/** 1 if routes and nodes are few enough to be items of the scene; otherwise they are one picture.
 */
int network_few(const struct wiring *wiring);

/** Add units to the picture: faded ones below the routes; all of them where there are many.
 * @param k  pixels for each logical pixel in a picture whose top left is the plot's; 0: logical
 * pixels of the scene */
void network_add_units(const struct stage *stage, struct network_drawing *drawing,
                       const struct plot *plot, double k);

/** Draw circles and squares with hits and names. @return unit under the mouse; WIRING_NONE: none */
uint32_t network_draw_units(struct stage *stage, const struct network_drawing *drawing,
                            const struct plot *plot);

/** Colour for a share of in-degree, 0 to 1. */
color_t network_in_color(const struct theme *theme, double share);

/** Name of a unit: "A 1, B 0: 32 nodes", or the vertex's name. */
char *network_unit_name(const struct stage *stage, const struct wiring_unit *unit, char *out,
                        size_t room);

void network_unit_tip(struct stage *stage, const struct wiring *wiring, uint32_t unit);
void network_route_tip(struct stage *stage, const struct wiring *wiring, uint32_t route);

/** Buttons in as many rows as needed. @return y below them */
double network_choices(struct stage *stage, struct box box);

/** Legend of colours, sizes and widths. */
void network_legend(struct stage *stage, struct network_drawing *drawing, struct box box);

#endif
