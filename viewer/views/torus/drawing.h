/* What is drawn of a torus, before it has a place on the screen: values, colours and emphasis of
 * the halves of wires and of places. Kept from frame to frame and computed anew only where what it
 * depends on changed. */
#ifndef HOLTER_VIEWER_VIEWS_TORUS_DRAWING_H
#define HOLTER_VIEWER_VIEWS_TORUS_DRAWING_H

#include "viewer/layout/lattice.h"
#include "viewer/layout/projection.h"
#include "viewer/layout/strokes.h"
#include "viewer/views/torus/view_torus.h"

enum {
    TORUS_KEY = 9,
    TORUS_SIDES = 3,
    TORUS_SPACE = 2
}; /* the side whose places are those of the grid in space */

/** Most places that are drawn: beyond, a picture says nothing and takes seconds. About 700 bytes
 * each, and 150 for each panel. */
#define TORUS_PLACES (1u << 17)

/** A projection along one of the dimensions that are seen, and what lies under its halves. */
struct torus_side {
    struct projection projection;
    uint32_t *half_of; /**< owned; by link; PROJECTION_NONE: not seen */
    uint32_t *link_of; /**< owned; by half: its first link, TOPOLOGY_NONE: none */
    uint8_t *lit;      /**< owned; by half: belongs to what is selected */
    unsigned axes;     /**< whose wires are drawn, bits */
};

/** Values of a panel. */
struct torus_values {
    double *halves[TORUS_SIDES];  /**< owned; load */
    double *bundles[TORUS_SIDES]; /**< owned; mean of a bundle's halves */
    double largest;               /**< of the halves */
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
    double top; /**< of the colours: largest load of all panels, rounded up */

    uint8_t *lit;    /**< owned; by place in space */
    color_t *colors; /**< owned; likewise */
    int some;        /**< something is selected: the rest is faint */
    uint64_t lit_key, color_key;

    struct strokes flat[TORUS_PANELS]; /**< projections */
    struct strokes space;
    uint64_t flat_keys[TORUS_PANELS], space_key; /**< what the strokes were made from */
};

/** Bring it up to what is chosen. @return 0; -HOLTER_EUSAGE: there is no Cartesian network;
 * -HOLTER_ELIMIT: it is too large; -ENOMEM */
int torus_prepare(struct stage *stage, struct torus_drawing **out);

/** The same place among those of another side. */
uint32_t torus_place(const struct torus_drawing *drawing, int from, int to, uint32_t place);

/** Is a panel of the network in sight? */
int torus_belongs(const struct stage *stage, int panel);

/** Colour of a load under the range in sight. @return 0: it is below, and not drawn */
color_t torus_color(const struct stage *stage, const struct torus_drawing *drawing, double value);

/** Key of what strokes of a panel depend on. @param where  how they are placed  @param what  which
 * picture */
uint64_t torus_strokes_key(const struct stage *stage, const struct torus_drawing *drawing,
                           int panel, const double (*where)[TORUS_KEY], int what);

/** Name of a dimension. */
const char *torus_dimension(const struct stage *stage, uint32_t dimension);

/* ---- parts of the view ---- */

/** The projection of a panel. @param large  1: with nodes, planes and what can be pointed at */
void torus_plane(struct stage *stage, struct torus_drawing *drawing, struct box box, int panel,
                 int large);

/** A minimap of a panel along one dimension. */
void torus_minimap(struct stage *stage, const struct torus_drawing *drawing, struct box box,
                   int panel, int side);

/** The grid in space. */
void torus_space(struct stage *stage, struct torus_drawing *drawing, struct box box);

/** Axes, legend, and the choices at the top. */
void torus_axes(struct stage *stage, const struct torus_drawing *drawing, struct box box);
void torus_legend(struct stage *stage, const struct torus_drawing *drawing, struct box box);
double torus_choices(struct stage *stage, double right, double y, double least);
void torus_menu(struct stage *stage, struct box box);

/** The whole job's time with what is in sight of it, and what lets it play. */
void torus_time(struct stage *stage, struct box box);

void torus_vertex_tip(struct stage *stage, const struct torus_drawing *drawing, uint32_t place);
void torus_link_tip(struct stage *stage, const struct torus_drawing *drawing, int side,
                    uint32_t half);

#endif
