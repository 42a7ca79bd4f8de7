/* Places for the vertices of a graph by forces: edges pull by their weight, vertices push each
 * other away, and all are held together loosely. As Y. Hu, "Efficient and high quality
 * force-directed graph drawing" (2005), which SFDP is: from the coarsest of several graphs to the
 * whole, with far vertices taken together, and steps that shorten as the energy falls.
 *
 * The same graph gives the same places. Vertices that have a place begin there; where most have
 * one, they only settle. Work is done in shares that the caller limits; a usable arrangement is
 * shown early and then refined, and until the first the places before stay. Memory: about 400 bytes
 * a vertex and 50 an edge while it works, 16 a vertex afterwards. */
#ifndef HOLTER_VIEWER_LAYOUT_SPRING_H
#define HOLTER_VIEWER_LAYOUT_SPRING_H

#include "viewer/layout/scene.h"

#include <stdint.h>

struct spring_vertex {
    uint64_t key;    /**< gives it a place of its own where it has none */
    double mass;     /**< by which it pushes; above 0, 1 is usual */
    int known;       /**< it begins at place */
    struct point at; /**< as of the arrangement before: within -1 to 1 */
};

struct spring_edge {
    uint32_t a, b; /**< vertices, not the same */
    double weight; /**< above 0, 1 is usual */
};

/** Zero-initialised is empty. */
struct spring {
    struct point *places;         /**< owned; within -1 to 1, the longer side filled */
    uint32_t count;               /**< 0 until there is an arrangement */
    double unit;                  /**< length that edges strive for, in places */
    struct point half;            /**< largest place along each axis */
    uint64_t version;             /**< raised by each arrangement that is shown */
    struct spring_layout *layout; /**< owned; in progress; NULL: all is done */
};

void spring_finish(struct spring *spring);

/** Begin an arrangement; one in progress is given up, the one that is shown stays until the first
 * share that makes a usable one.
 *  @param unit  of the arrangement that places of vertices are from; 0: none has one
 *  @param calm  what has a place only settles; 0: it may go far
 *  @return 0 or -ENOMEM (nothing changed) */
int spring_set(struct spring *spring, const struct spring_vertex *vertices, uint32_t vertex_count,
               const struct spring_edge *edges, uint32_t edge_count, double unit, int calm);

/** Do a share. @param units  about how many forces between two may be computed
 *  @return 1 while more is to be done, 0 when places are final */
int spring_work(struct spring *spring, uint64_t units);

#endif
