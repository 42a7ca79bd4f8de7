/* Points with masses in a tree of squares; the repulsion by far points is approximated by their
 * common centre of mass (J. Barnes and P. Hut, "A hierarchical O(N log N) force-calculation
 * algorithm", 1986). Memory: about 200 bytes a point. */
#ifndef HOLTER_VIEWER_LAYOUT_QUADTREE_H
#define HOLTER_VIEWER_LAYOUT_QUADTREE_H

#include "viewer/layout/scene.h"

#include <stdint.h>

struct quadtree_cell {
    double x, y, mass; /**< centre of mass of its points */
    double width;
    double cx, cy;     /**< centre of the square */
    uint32_t child[4]; /**< 0: none */
    uint32_t first;    /**< first point + 1 of an undivided cell; the others follow in next */
    int divided;
};

/** Zero-initialised is empty. */
struct quadtree {
    struct quadtree_cell *cells; /**< owned */
    uint32_t *next;              /**< owned; by point: next point + 1 in the same cell */
    uint32_t count, room, points;
};

void quadtree_finish(struct quadtree *tree);

/** Build the tree; its previous content is discarded.
 * @param places  finite
 * @param masses  above 0
 * @return 0 or -ENOMEM */
int quadtree_build(struct quadtree *tree, const struct point *places, const double *masses,
                   uint32_t count);

/** Repulsion on point i by all other points: sum of masses divided by distance, directed away.
 * Cells that look small from there count as one point.
 * @param force  the repulsion is added to it
 * @return number of cells and points examined */
uint64_t quadtree_push(const struct quadtree *tree, const struct point *places,
                       const double *masses, uint32_t i, struct point *force);

#endif
