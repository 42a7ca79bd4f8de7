/* Exchanging whole blocks of a mapping: what single exchanges, and annealing of them, do not find.
 *
 * Good mappings of grids are products: the same arrangement again and again along dimensions that
 * have nothing to do with it. Between two of them lie exchanges of whole boxes, each of which alone
 * is a great loss. So some dimensions are chosen by chance, a ring of 4 being two dimensions of 2;
 * processes that differ only along these make up a block, and blocks stay as they are inside. The
 * graph of the blocks, much smaller, is annealed in a network of the dimensions that are left; then
 * processes are exchanged downhill. What is hardly worse is gone on from (iterated local search;
 * coarsening as in multilevel partitioning, but along the network instead of the graph).
 *
 * Only where all seats of a Cartesian network are in use, equally many on each vertex. Memory: 12
 * bytes a process, 8 a spot, and about 200 kB.
 *
 * Pure. */
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

/** Begin from this mapping of all processes. @param cost  sum of weight x distance */
void remap_blocks_load(struct remap_blocks *blocks, const uint32_t *slots, double cost);

/** Sum of weight x distance of the best mapping so far. */
double remap_blocks_cost(const struct remap_blocks *blocks);

/** One choice of blocks.
 *  @param search  of the same graph and places, to go downhill with; overwritten
 *  @param work  what was done is added
 *  @return 1: the search holds a mapping that is better; 0: it is not; or -ENOMEM */
int remap_blocks_step(struct remap_blocks *blocks, struct remap_search *search, uint64_t *work);

#endif
