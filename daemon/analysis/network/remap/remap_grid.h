/* Mappings of processes that form a grid.
 *
 * Programs number their processes along the axes of a grid, and send along these axes. Both the
 * axes of that grid and the dimensions of the network are decomposed into digits of prime size; a
 * mapping assigns each digit of the network to a digit of the grid, in some order. Digits are
 * counted forth and back (reflected Gray code), so neighbours on an axis differ by one in one digit
 * and are one link apart. Annealing over the order of digits, scored on sampled edges, finds
 * embeddings such as 16 x 8 x 8 into 4 x 4 x 4 x 8 x 2 in which all neighbours remain neighbours.
 * Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_GRID_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_GRID_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

#define REMAP_MAX_AXES 20u

/** How processes may be numbered. */
enum remap_axes {
    AXES_STRIDES, /**< axes are the differences of partners' numbers that carry the most weight,
                     each a multiple of the previous one */
    AXES_DIGITS,  /**< each prime digit of the numbers belongs to the axis that carries into it:
                     bisection, quadtrees and octrees (Morton) number processes in this way */
    AXES_LINE,    /**< one axis */
    AXES_KINDS,
};

struct remap_grid;

/** @param graph,places  borrowed
 * @return 0, -ENOMEM, or -HOLTER_EEMPTY: the processes form no grid of that kind */
int remap_grid_create(struct remap_grid **out, const struct remap_graph *graph,
                      const struct remap_places *places, enum remap_axes axes, uint64_t seed);
void remap_grid_destroy(struct remap_grid *grid);

/** Search for a better order of digits.
 * @param work  increased by the work done
 * @return was a better order found? */
bool remap_grid_step(struct remap_grid *grid, uint64_t limit, uint64_t *work);

/** The best so far. @param slots  set: slot of each process */
void remap_grid_slots(const struct remap_grid *grid, uint32_t *slots);

#endif
