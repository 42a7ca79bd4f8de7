/* A grid of processes where none is known.
 *
 * Most programs divide space among their processes, but many do not number them along axes, or each
 * has a different number of neighbours (mesh refinement). Their graph is laid out on a
 * three-dimensional mesh first, by halving and annealing: a simple network, on which good layouts
 * are found much more easily than on a torus of five dimensions. The mesh is then embedded in the
 * network digit by digit, like any other grid (remap_grid.h). Several layouts are begun; the best
 * are pursued.
 *
 * Pure but for what remap.h tells of METIS. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_UNFOLD_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_UNFOLD_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

struct remap_unfold;

/** @param graph,places  borrowed
 *  @param budget  work to spend, nanoseconds
 *  @return 0, -ENOMEM, or -HOLTER_EEMPTY: the number of processes does not make a mesh */
int remap_unfold_create(struct remap_unfold **out, const struct remap_graph *graph,
                        const struct remap_places *places, uint64_t seed, uint64_t budget);
void remap_unfold_destroy(struct remap_unfold *unfold);

/** @param work  what was done is added @return 1: done; 0: not yet; or a negative error */
int remap_unfold_step(struct remap_unfold *unfold, uint64_t limit, uint64_t *work);

/** Slot of each process, when done. */
void remap_unfold_slots(const struct remap_unfold *unfold, uint32_t *slots);

#endif
