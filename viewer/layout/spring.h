/* Force-directed layout of a graph: edges attract by their weight, vertices repel each other, and a
 * weak central force holds everything together. After Y. Hu, "Efficient and high quality
 * force-directed graph drawing" (2005), the algorithm of SFDP: multilevel from the coarsest graph
 * to the whole, Barnes-Hut approximation of far vertices, and steps that shorten as the energy
 * falls.
 *
 * The same graph gives the same positions. Vertices with a previous position begin there; where
 * most have one, they only settle. Work is done in steps that the caller limits; a usable
 * arrangement is shown early and then refined, and the previous positions remain until then.
 * Memory: about 400 bytes a vertex and 50 an edge while it works, 16 a vertex afterwards. */
#ifndef HOLTER_VIEWER_LAYOUT_SPRING_H
#define HOLTER_VIEWER_LAYOUT_SPRING_H

#include "viewer/layout/scene.h"

#include <stdint.h>

struct spring_vertex {
    uint64_t key;    /**< seed of its initial position when it has none */
    double mass;     /**< strength of its repulsion; above 0, 1 is usual */
    int known;       /**< it begins at `at` */
    struct point at; /**< position in the previous arrangement: within -1 to 1 */
};

struct spring_edge {
    uint32_t a, b; /**< two different vertices */
    double weight; /**< above 0, 1 is usual */
};

/** Zero-initialised is empty. */
struct spring {
    struct point *places;         /**< owned; within -1 to 1; the longer side is filled */
    uint32_t count;               /**< 0 until there is an arrangement */
    double unit;                  /**< ideal length of edges, in units of places */
    struct point half;            /**< largest coordinate along each axis */
    uint64_t version;             /**< incremented by each published arrangement */
    struct spring_layout *layout; /**< owned; layout in progress, or NULL */
};

void spring_finish(struct spring *spring);

/** Begin an arrangement and cancel the one in progress. The visible arrangement remains until the
 * first usable one.
 * @param unit  `unit` of the arrangement that the vertices' previous positions are from; 0: no
 * vertex has one
 * @param calm  1: vertices with a position only settle; 0: they may move far
 * @return 0 or -ENOMEM (nothing changed) */
int spring_set(struct spring *spring, const struct spring_vertex *vertices, uint32_t vertex_count,
               const struct spring_edge *edges, uint32_t edge_count, double unit, int calm);

/** Do a part of the work. @param units  approximate number of pairwise forces to compute
 * @return 1 while work remains, 0 when positions are final */
int spring_work(struct spring *spring, uint64_t units);

#endif
