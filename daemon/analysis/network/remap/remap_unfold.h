/* A grid of processes where none is known.
 *
 * Most programs divide space among their processes, but many do not number them along axes, or each
 * process has a different number of neighbours (mesh refinement). Their graph is laid out on a
 * three-dimensional mesh first, by halving and annealing: good layouts are found much more easily
 * on this simple network than on a torus of five dimensions. The mesh is then embedded in the
 * network digit by digit, like any other grid (remap_grid.h). Several layouts are started; the best
 * ones are continued.
 *
 * Pure, except for the effects of METIS that remap.h describes. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_UNFOLD_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_UNFOLD_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

struct remap_unfold;

/** @param graph,places  borrowed
 * @param budget  work to spend, in units of remap.c
 * @return 0, -ENOMEM, -HOLTER_EEMPTY: the number of processes does not form a mesh, or
 * -HOLTER_ELIMIT: the budget is too small */
int remap_unfold_create(struct remap_unfold **out, const struct remap_graph *graph,
                        const struct remap_places *places, uint64_t seed, uint64_t budget);
void remap_unfold_destroy(struct remap_unfold *unfold);

/** @param work  increased by the work done
 * @return 1: finished; 0: not yet; or a negative error */
int remap_unfold_step(struct remap_unfold *unfold, uint64_t limit, uint64_t *work);

/** Slot of each process, once finished. */
void remap_unfold_slots(const struct remap_unfold *unfold, uint32_t *slots);

#endif
