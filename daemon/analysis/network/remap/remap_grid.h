/* Mappings of processes that form a grid.
 *
 * Programs number their processes along the axes of a grid, and send along them. Both the axes of
 * that grid and the dimensions of the network are taken apart into digits, of prime size; a mapping
 * says which digit of the network is which digit of the grid, and in which order. Digits are
 * counted forth and back (reflected Gray code), so neighbours on an axis differ in one digit by one
 * and are one link apart. Annealing over the order of digits, scored on sampled edges, finds
 * embeddings such as 16 x 8 x 8 into 4 x 4 x 4 x 8 x 2 in which all neighbours stay neighbours.
 *
 * Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_GRID_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_GRID_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

#define REMAP_MOST_AXES 20u

/** How processes may be numbered. */
enum remap_axes {
    AXES_STRIDES, /**< by the differences of partners' numbers that carry most, each a multiple of
                     the one before */
    AXES_LINE,    /**< one axis */
    AXES_KINDS,
    AXES_GIVEN = AXES_KINDS,
};

/** A numbering that is given. */
struct remap_numbering {
    const uint32_t
        *sizes; /**< of the axes, the first the slowest; their product is the number of processes */
    uint32_t count;
    const uint32_t *number; /**< of each process, row-major; borrowed */
};

struct remap_grid;

/** @param graph,places  borrowed
 *  @param given  for AXES_GIVEN, else NULL
 *  @return 0, -ENOMEM, or -HOLTER_EEMPTY: there is no grid of that kind */
int remap_grid_create(struct remap_grid **out, const struct remap_graph *graph,
                      const struct remap_places *places, enum remap_axes axes,
                      const struct remap_numbering *given, uint64_t seed);
void remap_grid_destroy(struct remap_grid *grid);

/** Look for a better order of digits.
 *  @param work  what was done is added @return whether a better one was found */
bool remap_grid_step(struct remap_grid *grid, uint64_t limit, uint64_t *work);

/** The best so far. @param slots  set: slot of each process */
void remap_grid_slots(const struct remap_grid *grid, uint32_t *slots);

#endif
