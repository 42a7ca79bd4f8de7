/* Exchanges of whole blocks of a mapping, which find improvements that single exchanges, and
 * annealing of these, do not find.
 *
 * Good mappings of grids are products: the same arrangement repeated along dimensions that are
 * independent of it. Two such mappings differ by exchanges of whole blocks, and each of these
 * exchanges on its own is a great loss. So some dimensions are chosen at random, where a ring of 4
 * counts as two dimensions of 2; processes that differ only along the other dimensions form a
 * block, and the inside of blocks does not change. The graph of the blocks, which is much smaller,
 * is annealed in a network of the chosen dimensions; then processes are exchanged downhill. The
 * search continues from mappings that are hardly worse (iterated local search; coarsening as in
 * multilevel partitioning, but along the network instead of the graph).
 *
 * It applies only where all seats of a Cartesian network are in use, with equally many on each
 * vertex. Memory: 12 bytes a process, 8 bytes a spot, and about 2 MB. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_BLOCKS_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_BLOCKS_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"
#include "daemon/analysis/network/remap/remap_search.h"

struct remap_blocks;

/** @param graph,places  borrowed, until remap_blocks_destroy()
 *  @return 0, -ENOMEM or -HOLTER_EEMPTY: there are no such blocks */
int remap_blocks_create(struct remap_blocks **out, const struct remap_graph *graph,
                        const struct remap_places *places, uint64_t seed);

/** NULL is fine. */
void remap_blocks_destroy(struct remap_blocks *blocks);

/** Start from this mapping of all processes. @param cost  its sum of weight x distance */
void remap_blocks_load(struct remap_blocks *blocks, const uint32_t *slots, double cost);

/** Sum of weight x distance of the best mapping so far. */
double remap_blocks_cost(const struct remap_blocks *blocks);

/** Make one random choice of blocks and try it.
 * @param search  of the same graph and places, for the descent; overwritten
 * @param work  increased by the work done
 * @return 1: the search holds a better mapping; 0: it does not; or -ENOMEM */
int remap_blocks_step(struct remap_blocks *blocks, struct remap_search *search, uint64_t *work);

#endif
