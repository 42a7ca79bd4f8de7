/* Parts of view "routes": the detailed route view of Visuco, section 4.4. */
#ifndef HOLTER_VIEWER_VIEWS_ROUTES_VIEW_ROUTES_PARTS_H
#define HOLTER_VIEWER_VIEWS_ROUTES_VIEW_ROUTES_PARTS_H

#include "viewer/layout/adjacency.h"
#include "viewer/views/common/view.h"

/* ---- order ---- */

/** Order of the vertices as rows, and its levels, outermost first. */
struct route_order {
    uint64_t key;
    uint32_t count;
    uint32_t *vertex; /**< owned; by row */
    uint32_t *row;    /**< owned; by vertex */
    uint8_t *starts;  /**< owned; as described in adjacency.h */
    uint32_t levels;
    char names[ADJACENCY_LEVELS][20]; /**< "A", "group", "node" */
    uint32_t dimension[ADJACENCY_LEVELS];
    int tiers; /**< 1: row, column, cage, slot, cpu of a Cray XC, in this order (Visuco,
                * section 7.4)
                */
};

/** Order the vertices as the user chose. @return 0 or -ENOMEM */
int route_order_update(struct route_order *order, const struct model *model, const struct ui *ui);
void route_order_finish(struct route_order *order);

/** Label of the block of a level that contains a row, as "3". */
char *route_order_label(const struct route_order *order, const struct topology *topology, int level,
                        uint32_t row, char *out, size_t room);

/* ---- what is shown ---- */

/** Flags of marks and hops. */
enum route_mark {
    ROUTE_HOP = 1,
    ROUTE_SUGGESTED = 2,
    ROUTE_SOURCE = 4,
    ROUTE_DESTINATION = 8,
    ROUTE_ADJACENT = 16,
};

/** A pair of vertices, later of cells, between which routes step. */
struct route_hop {
    uint32_t from, to;
    uint32_t mark;
    double load; /**< largest load of its links */
    double real; /**< likewise in reality, which differs while a what-if is shown */
};

/** Order of hops by both ends, for qsort(3). */
int route_layer_compare_by_cells(const void *left, const void *right);

/** Visible routes and the links they use, each once. */
struct route_set {
    uint64_t key, version;
    uint32_t routes, all;   /**< visible routes, and all routes in use */
    uint32_t suggested;     /**< visible routes that have, or follow, a suggested path */
    uint32_t heaviest;      /**< number of largest routes that are shown; 0: others are shown */
    int selected;           /**< the routes of the selection are shown; a call, say, has none */
    double bytes;           /**< bytes of the visible routes */
    struct route_hop *hops; /**< owned; vertices */
    uint32_t count, room;
    uint8_t *marks; /**< owned; by vertex; enum route_mark */
    uint32_t vertex_count;
};

int route_set_update(struct route_set *set, const struct stage *stage);
void route_set_finish(struct route_set *set);

/* ---- pictures ---- */

/** The matrix at one resolution: cells, pairs of adjacent cells, hops of routes. */
struct route_layer {
    uint64_t key, pair_key, version;
    struct adjacency_cells cells;
    struct route_hop *pairs; /**< owned; adjacent cells, each pair once, sorted by from, then to */
    uint32_t pair_count, pair_capacity;
    struct route_hop *hops; /**< owned; hops between cells; never from a cell to itself */
    uint32_t hop_count, hop_capacity;
    uint8_t *marks; /**< owned; by cell */
    uint32_t mark_capacity;
    struct picture picture;
};

struct routes_drawing {
    struct route_order order;
    struct route_set set;
    struct adjacency_axis axis;
    uint8_t *used; /**< owned; by row: 1 if a visible route passes */
    uint32_t used_capacity;
    uint64_t axis_key, axis_version;
    struct route_layer whole, lens;
};

/** A section of the matrix shown in a box; x, y and size are shares of the whole matrix. */
struct route_window {
    struct box box;
    double x, y, extent;
    const char *name;
};

/** Update a layer for what a section needs. @return 0 or -ENOMEM */
int route_layer_update(struct stage *stage, struct routes_drawing *drawing,
                       struct route_layer *layer, const struct route_window *window);
void route_layer_finish(struct route_layer *layer);

/** Draw squares, routes and marks of a layer in a panel. */
void route_paint(struct stage *stage, struct routes_drawing *drawing, struct route_layer *layer,
                 const struct route_window *window);

/** Bands with coordinates of rows and columns, level by level, left of and above the matrix.
 * @return maximum height and width of the bands */
double route_bands_capacity(const struct routes_drawing *drawing);
void route_bands(struct stage *stage, const struct routes_drawing *drawing,
                 const struct route_window *window, double room);

/** Outlines of the blocks on the diagonal that routes pass. */
void route_blocks(struct stage *stage, const struct routes_drawing *drawing,
                  const struct route_window *window);

/** Number of blocks of a level that visible routes pass; level -1: groups of a Cray XC. @param all
 * receives the number of all blocks */
uint32_t route_blocks_passed(const struct routes_drawing *drawing, int level, uint32_t *all);

/** Hover and tooltip in a section. */
void route_hover(struct stage *stage, const struct routes_drawing *drawing,
                 const struct route_layer *layer, const struct route_window *window);

#endif
