/* The process grid of a job: its largest Cartesian communicator as agents report it
 * (MPI_Cart_create, MPI_Cart_sub), as a network with a node at each coordinate, and the places of
 * ranks in it.
 *
 * Of several communicators the one with most ranks (of at most TOPOLOGY_MAX_VERTICES) is chosen;
 * then the one with most dimensions of more than one rank; then the one that was made first from
 * its parent; then the one with the lowest id. So the order of the agents' reports does not matter.
 *
 * Ranks of a Cartesian communicator are numbered row-major (MPI 4.0, section 8.5), as nodes of
 * Cartesian networks are: the rank at position p is on node p, whatever its number in
 * MPI_COMM_WORLD.
 *
 * Memory: 4 bytes a rank of the job. */
#ifndef HOLTER_DAEMON_TOPOLOGY_NETWORK_GRID_H
#define HOLTER_DAEMON_TOPOLOGY_NETWORK_GRID_H

#include "daemon/analysis/network/topology.h"
#include "holter/wire.h"

#include <stddef.h>

#define NETWORK_GRID "cart" /**< the word for it as an argument of --topology */
#define NETWORK_GRID_DIMENSIONS 8u
#define NETWORK_GRID_RANKS (UINT32_C(1) << 24) /**< of a job; higher numbers are malformed */

/** Zero-initialised: unknown. */
struct network_grid {
    uint64_t id, made;
    uint32_t ranks;      /**< 0: unknown */
    uint32_t dimensions; /**< 1 to NETWORK_GRID_DIMENSIONS */
    uint32_t sizes[NETWORK_GRID_DIMENSIONS];
    uint32_t wraps;     /**< bit d: dimension d is periodic */
    uint32_t *place_of; /**< owned; by rank: 1 + position in the grid; 0: unknown */
    uint32_t room;
};

/** Validate the Cartesian communicators of a message. Other messages must not be passed on.
 * @param why  set on failure: "carts[3].size is 0"
 * @return 0 or -HOLTER_ERANGE */
int network_grid_check(const struct wire_ranks *message, char *why, size_t room);

/** Update the grid from a validated message.
 * @return 2: another grid was chosen; 1: places in the grid changed; 0: nothing changed; or -ENOMEM
 */
int network_grid_update(struct network_grid *grid, const struct wire_ranks *message);

/** Node of a rank; TOPOLOGY_NONE: it is not in the grid, or not known to be. */
uint32_t network_grid_node(const struct network_grid *grid, uint64_t rank);

/** The grid as a network: dimensions that wrap are tori, the others meshes. The grid must be known.
 * @param out  topology_spec_finish() it */
void network_grid_spec(const struct network_grid *grid, struct topology_spec *out);

void network_grid_finish(struct network_grid *grid);

#endif
