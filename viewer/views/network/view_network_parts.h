/* What view "network" keeps from frame to frame, and how it draws it. */
#ifndef HOLTER_VIEWER_VIEWS_NETWORK_VIEW_NETWORK_PARTS_H
#define HOLTER_VIEWER_VIEWS_NETWORK_VIEW_NETWORK_PARTS_H

#include "viewer/layout/spring.h"
#include "viewer/layout/strokes.h"
#include "viewer/views/common/view.h"
#include "viewer/views/network/wiring.h"

/** A wiring with the places of its units. */
struct arrangement {
    struct wiring wiring;
    struct spring spring;
    struct point
        *at; /**< owned; by unit, on their way to the places of the spring; NULL: none yet */
    double *weights;    /**< owned; of edges when places were computed */
    uint64_t at_spring; /**< version of the spring that they reached */
    uint64_t version;   /**< raised when one moved */
};

struct network_drawing {
    struct arrangement now, next;               /**< what is shown, and what is being built */
    uint32_t restarts;                          /**< times that the next one was begun anew */
    uint64_t flows_version, graph_version, key; /**< the key of those versions */

    color_t *colors; /**< owned; by route */
    uint32_t color_count;
    uint64_t colors_key;
    struct strokes strokes;
    uint64_t strokes_key, drawn_key,
        making_key;           /**< of strokes; of the picture that is shown, made */
    struct box drawn, making; /**< what they show, in places */

    uint32_t legend[256]; /**< colours of in-degree ratios */
    struct image legend_image;
};

/** How places lie in the plot. */
struct plot {
    struct box box;
    double ux, uy; /**< logical pixels of one unit of places, along each axis */
    double cx, cy; /**< place in the middle */
    double radius; /**< largest circle */
    double thick;  /**< of the heaviest edge */
};

double plot_x(const struct plot *plot, double x);
double plot_y(const struct plot *plot, double y);
struct plot plot_of(const struct stage *stage, const struct arrangement *arrangement,
                    struct box box);

/** Do a share of what there is to build and arrange. @return NULL: there is nothing to show yet */
struct network_drawing *network_arrange(struct stage *stage);

/** The metric that routes are coloured by. */
enum flow_metric network_metric(const struct ui *ui);

/** Is there a selection that routes or nodes belong to? */
int network_selects(const struct stage *stage, const struct wiring *wiring);

/** All routes, and the one under the mouse on top. */
void network_draw_routes(struct stage *stage, struct network_drawing *drawing,
                         const struct plot *plot);

/** Route under the mouse; WIRING_NONE: none. */
uint32_t network_route_under(const struct stage *stage, const struct wiring *wiring,
                             const struct arrangement *arrangement, const struct plot *plot);
void network_draw_route(const struct stage *stage, const struct arrangement *arrangement,
                        const struct plot *plot, uint32_t route);

/** Is a unit left out by the filter, or by the selection (some: there is one)? Then it lies below
 * the routes. */
int network_faded(const struct stage *stage, const struct wiring *wiring, int some, uint32_t unit);

/** The selected link, if one is. */
void network_draw_link(const struct stage *stage, const struct arrangement *arrangement,
                       const struct plot *plot);

double network_radius(const struct stage *stage, const struct wiring *wiring,
                      const struct plot *plot, uint32_t unit);

/** Are routes and nodes few enough to be items of the scene? Else they are one picture. */
int network_few(const struct wiring *wiring);

/** Those that belong into the picture: faded ones behind the routes; all, where they are many.
 *  @param k  pixels of a logical one in a picture whose left top is the plot's; 0: as it is */
void network_add_units(const struct stage *stage, struct network_drawing *drawing,
                       const struct plot *plot, double k);

/** Circles and squares with their hits and names. @return unit under the mouse; WIRING_NONE: none
 */
uint32_t network_draw_units(struct stage *stage, const struct network_drawing *drawing,
                            const struct plot *plot);

/** Colour for a share of in-degree, 0 to 1. */
color_t network_in_color(const struct theme *theme, double share);

/** "A 1, B 0: 32 nodes" or the vertex' name. */
char *network_unit_name(const struct stage *stage, const struct wiring_unit *unit, char *out,
                        size_t room);

void network_unit_tip(struct stage *stage, const struct wiring *wiring, uint32_t unit);
void network_route_tip(struct stage *stage, const struct wiring *wiring, uint32_t route);

/** Buttons in as many rows as they need. @return y below them */
double network_choices(struct stage *stage, struct box box);

/** What colours, sizes and widths mean. */
void network_legend(struct stage *stage, struct network_drawing *drawing, struct box box);

#endif
