/* Points with masses in a tree of squares, so that the push of far ones on a point is that of their
 * common middle (J. Barnes and P. Hut, "A hierarchical O(N log N) force-calculation algorithm",
 * 1986). Memory: about 200 bytes a point. */
#ifndef HOLTER_VIEWER_LAYOUT_QUADTREE_H
#define HOLTER_VIEWER_LAYOUT_QUADTREE_H

#include "viewer/layout/scene.h"

#include <stdint.h>

struct quadtree_cell {
    double x, y, mass; /**< middle of its points, weighted */
    double width;
    double cx, cy;     /**< its own middle */
    uint32_t child[4]; /**< 0: none */
    uint32_t first;    /**< point + 1 of a cell that is not divided; the others follow in next */
    int divided;
};

/** Zero-initialised is empty. */
struct quadtree {
    struct quadtree_cell *cells; /**< owned */
    uint32_t *next;              /**< owned; point + 1 in the same cell */
    uint32_t count, room, points;
};

void quadtree_finish(struct quadtree *tree);

/** Build it anew. Masses above 0; places finite. @return 0 or -ENOMEM */
int quadtree_build(struct quadtree *tree, const struct point *places, const double *masses,
                   uint32_t count);

/** Sum of masses by distance, away from each, on point i: of all other points; cells that look
 * small from there count as one. @param force  added to  @return cells and points looked at */
uint64_t quadtree_push(const struct quadtree *tree, const struct point *places,
                       const double *masses, uint32_t i, struct point *force);

#endif
