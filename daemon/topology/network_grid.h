/* The process grid of a job: its largest Cartesian communicator as agents tell of it
 * (MPI_Cart_create, MPI_Cart_sub), as a network with a node at each coordinate, and where ranks
 * stand in it.
 *
 * Of several the one with most ranks (of at most TOPOLOGY_MOST_VERTICES) is taken; then the one
 * with most dimensions of more than one rank; then the one that was made first of its parent; then
 * the one with the lowest id. So it does not matter in which order agents tell.
 *
 * Ranks of a Cartesian communicator are numbered row-major (MPI 4.0, section 8.5), as nodes of
 * Cartesian networks are: the rank at position p is on node p, wherever it stands in
 * MPI_COMM_WORLD.
 *
 * Memory: 4 bytes a rank of the job. */
#ifndef HOLTER_DAEMON_TOPOLOGY_NETWORK_GRID_H
#define HOLTER_DAEMON_TOPOLOGY_NETWORK_GRID_H

#include "daemon/analysis/network/topology.h"
#include "holter/wire.h"

#include <stddef.h>

#define NETWORK_GRID "cart" /**< what people give to --topology for it */
#define NETWORK_GRID_DIMENSIONS 8u
#define NETWORK_GRID_RANKS (UINT32_C(1) << 24) /**< of a job; higher numbers are wrong */

/** Zero-initialised: none is known. */
struct network_grid {
    uint64_t id, made;
    uint32_t ranks;      /**< 0: none is known */
    uint32_t dimensions; /**< 1 to NETWORK_GRID_DIMENSIONS */
    uint32_t sizes[NETWORK_GRID_DIMENSIONS];
    uint32_t wraps;     /**< bit d: dimension d is periodic */
    uint32_t *place_of; /**< owned; by rank: 1 + position in it; 0: not known */
    uint32_t room;
};

/** Is what a message tells of Cartesian communicators right? Nothing else may be taken.
 *  @param why  set on failure: "carts[3].size is 0"
 *  @return 0 or -HOLTER_ERANGE */
int network_grid_check(const struct wire_ranks *message, char *why, size_t room);

/** Take what a message that was checked tells.
 *  @return 2: the grid is another one than before; 1: places in it are; 0: nothing is; or -ENOMEM
 */
int network_grid_take(struct network_grid *grid, const struct wire_ranks *message);

/** Node of a rank; TOPOLOGY_NONE: it is not in the grid, or not known to be. */
uint32_t network_grid_node(const struct network_grid *grid, uint64_t rank);

/** The grid as a network: dimensions that wrap are tori, the others meshes. Not for one that is not
 * known.
 *  @param out  topology_spec_finish() it */
void network_grid_spec(const struct network_grid *grid, struct topology_spec *out);

void network_grid_finish(struct network_grid *grid);

#endif
