/* Floor plan of a network with tiers: where its vertices are in a picture of it.
 *
 * Tiers that contain each other (groups, rows, cabinets, ... of dragonflies and all-to-all
 * networks) are boxes in boxes; a tier called "row" stacks its parts, one called "column" has them
 * side by side, others fill their box as squarely as they can. Boxes without a vertex in use are
 * narrow, and all of their vertices in their middle. Trees and fat trees are levels above each
 * other, nodes at the bottom, switches above their middle. Pure geometry, in pixels with (0, 0) in
 * the middle. */
#ifndef HOLTER_VIEWER_LAYOUT_FLOOR_PLAN_H
#define HOLTER_VIEWER_LAYOUT_FLOOR_PLAN_H

#include "daemon/analysis/network/topology.h"
#include "viewer/layout/scene.h"

/** A box of a tier. */
struct floor_block {
    struct box box;
    uint32_t tier;  /**< dimension of the network */
    uint32_t at;    /**< its coordinate in it */
    uint8_t used;   /**< 1: a vertex in it is in use */
    uint8_t joined; /**< 1: two neighbouring cabinets, the group of a Cray XC */
};

/** Zero-initialised is empty. */
struct floor_plan {
    struct point *at; /**< owned; by vertex: its middle */
    float *size;      /**< owned; by vertex: side of its square; 0: in a box that is not in use */
    float *width;     /**< owned; by vertex of a tree: its own part of its level; else 0 */
    float *beside;    /**< owned; by vertex of a tree, not of a fat tree: distance to the next one
                         of its level, of the last to the one before; INFINITY: it is alone */
    uint32_t vertex_count;
    struct floor_block *blocks; /**< owned; outer ones first */
    uint32_t block_count;
    size_t block_capacity;
    uint32_t levels; /**< of a tree: rows of vertices; 0: boxes */
    double level_height;
};

/** Walk a tree, level by level.
 * @param order  receives its vertices by distance from its root, which is the last vertex
 * @param above  by vertex: the one above it, of the root itself; TOPOLOGY_NONE: not reached
 * @param depth  by vertex that was reached: its distance from the root
 * @return number of vertices reached */
uint32_t floor_plan_descend(const struct topology *topology, uint32_t *order, uint32_t *above,
                            uint32_t *depth);

/** Arrange a network that has tiers.
 * @param used  by vertex: 1 if it is in use; the others are drawn smaller
 * @return 0 or -ENOMEM */
int floor_plan_make(struct floor_plan *plan, const struct topology *topology, const uint8_t *used,
                    double w, double h);
void floor_plan_finish(struct floor_plan *plan);

#endif
