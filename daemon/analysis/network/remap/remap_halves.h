/* A mapping by halving: the network along a dimension, and the processes by METIS, until one spot
 * is left (recursive bisection on both sides: Pellegrini, SHPCC 1994). Each half of the processes
 * goes to the side on which its partners outside are nearer.
 *
 * Pure, except for the effects of METIS that remap.h describes. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_HALVES_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_HALVES_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

/** Which dimension is halved. */
enum remap_cut {
    CUT_LONGEST, /**< the longest; of equally long ones the first */
    CUT_LONGEST_LAST,
    CUT_FIRST, /**< the first, until it is one coordinate wide */
    CUT_LAST,
    CUT_KINDS,
};

struct remap_halves;

/** @param graph,places  borrowed
 *  @return 0 or -ENOMEM */
int remap_halves_create(struct remap_halves **out, const struct remap_graph *graph,
                        const struct remap_places *places, enum remap_cut cut, uint32_t seed);
void remap_halves_destroy(struct remap_halves *halves);

/** Do a piece of the halving.
 * @param work  increased by the work done
 * @return 1: finished; 0: not yet; or a negative error */
int remap_halves_step(struct remap_halves *halves, uint64_t limit, uint64_t *work);

/** Slot of each process, once finished. */
const uint32_t *remap_halves_slots(const struct remap_halves *halves);

#endif
