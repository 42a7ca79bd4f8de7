/* State of view "torus" before positions on the screen: values, colours and emphasis of halves of
 * wires and of places. Each part is recomputed only when its inputs changed. */
#ifndef HOLTER_VIEWER_VIEWS_TORUS_DRAWING_H
#define HOLTER_VIEWER_VIEWS_TORUS_DRAWING_H

#include "viewer/layout/lattice.h"
#include "viewer/layout/projection.h"
#include "viewer/layout/section.h"
#include "viewer/layout/strokes.h"
#include "viewer/views/common/view.h"

enum {
    TORUS_KEY = 9,
    TORUS_SIDES = 3,
    TORUS_SPACE = 2, /* index of the side whose places are those of the grid in space */
};

/** Maximum number of places drawn: larger pictures are illegible and take seconds. About 700 bytes
 * each, and 150 for each panel. */
#define TORUS_PLACES (1u << 17)

/** A projection along one of the visible dimensions, and the links of its halves. */
struct torus_side {
    struct projection projection;
    uint32_t *half_of; /**< owned; by link; PROJECTION_NONE: not visible */
    uint32_t *link_of; /**< owned; by half: its first link, TOPOLOGY_NONE: none */
    uint8_t *lit;      /**< owned; by half: 1 if it belongs to the selection */
    unsigned axes;     /**< bits of the axes whose wires are drawn */
};

/** Values of a panel. */
struct torus_values {
    double *halves[TORUS_SIDES];  /**< owned; load, or its difference from the reality; the fold
                                     combines links that coincide */
    double *bundles[TORUS_SIDES]; /**< owned; mean of a bundle's halves */
    double largest;               /**< largest load of the halves, in reality if differences are
                                     shown */
    uint64_t key;
};

struct torus_drawing {
    struct torus_side sides[TORUS_SIDES];
    uint64_t network_key; /**< network and choice of dimensions that the sides were made for */
    uint32_t places;
    uint32_t *node_of;  /**< owned; by place in space: its first node */
    uint32_t *place_of; /**< owned; by node: its place in space; PROJECTION_NONE */
    uint32_t node_count;
    uint32_t nodes_in_place;

    struct torus_values values[TORUS_PANELS];
    double own_top; /**< largest load of the panels of this drawing, rounded up */
    double top;     /**< maximum of the colour map: own_top, or that of the other visible state if
                       it is larger */

    uint8_t *lit;    /**< owned; by place in space: 1 if it belongs to the selection */
    color_t *colors; /**< owned; likewise */
    int some;        /**< 1: there is a selection, all else is faint */
    uint64_t lit_key, color_key;

    struct strokes flat[TORUS_PANELS]; /**< projections */
    struct strokes space;
    uint64_t flat_keys[TORUS_PANELS], space_key; /**< keys of the inputs of the strokes */
};

void torus_drawing_destroy(struct torus_drawing *drawing);

/** Update the drawing for the present choices.
 * @return 0; -HOLTER_EUSAGE: there is no Cartesian network; -HOLTER_ELIMIT: it is too large;
 * -ENOMEM */
int torus_prepare(struct stage *stage, struct torus_drawing **out);

/** Index of a place on another side. */
uint32_t torus_place(const struct torus_drawing *drawing, int from, int to, uint32_t place);

/** 1 if a panel belongs to the visible network. */
int torus_belongs(const struct stage *stage, int panel);

/** Colour of a load of a panel, or of its difference, in the visible range. @return 0: it is below
 * the range and not drawn */
color_t torus_color(const struct stage *stage, const struct torus_drawing *drawing, int panel,
                    double value);

/** Key of the inputs of a panel's strokes. @param where  key of the positions @param what  which
 * picture */
uint64_t torus_strokes_key(const struct stage *stage, const struct torus_drawing *drawing,
                           int panel, const double (*where)[TORUS_KEY], int what);

/** Maximum number of links that coincide in a half. */
uint32_t torus_coinciding(const struct torus_drawing *drawing);

/** Name of a dimension. */
const char *torus_dimension(const struct stage *stage, uint32_t dimension);

/* ---- parts of the view ---- */

/** The projection of a panel. @param large  1: with nodes, planes and hits */
void torus_plane(struct stage *stage, struct torus_drawing *drawing, struct box box, int panel,
                 int large);

/** A minimap of a panel along one dimension. */
void torus_minimap(struct stage *stage, const struct torus_drawing *drawing, struct box box,
                   int panel, int side);

/** The grid in space. */
void torus_space(struct stage *stage, struct torus_drawing *drawing, struct box box);

/** Axes, legend, choices at the top and the menu of restrictions. */
void torus_axes(struct stage *stage, const struct torus_drawing *drawing, struct box box);
void torus_legend(struct stage *stage, const struct torus_drawing *drawing, struct box box);
void torus_node_legend(struct stage *stage, struct box box);
double torus_choices(struct stage *stage, double right, double y, double least);
void torus_menu(struct stage *stage, struct box box);

/** Time line of the whole job with the visible time, and buttons to animate it. */
void torus_time(struct stage *stage, struct box box);

/* What the projection and the grid in space share. */

/** Distance of a point from a line. */
double torus_distance(double x, double y, const struct projection_line *line);

/** A hit for the link under the mouse. @param half  PROJECTION_NONE: there is none */
void torus_add_link_hit(const struct stage *stage, const struct torus_drawing *drawing, int side,
                        uint32_t half);

/** Tooltip of the node or link under the mouse. @return its hit, or NULL */
const struct scene_hit *torus_tip_under(struct stage *stage, const struct torus_drawing *drawing,
                                        struct box plot, int side, uint32_t half);

/** The box that is being marked with the mouse. */
void torus_add_marked_box(const struct stage *stage);

#endif
