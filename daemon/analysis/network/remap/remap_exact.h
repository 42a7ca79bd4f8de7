/* All permutations of a few processes over their seats, except those that cannot be better than the
 * best so far (Visuco, section 5.2.3, with branch and bound). Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_EXACT_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_EXACT_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

#define REMAP_MAX_EXACT 12u

struct remap_exact;

struct remap_exact_problem {
    const struct remap_graph *graph;
    const struct remap_places *places;
    const uint32_t *slots;   /**< of each process, as given */
    const uint32_t *movable; /**< at most REMAP_MAX_EXACT */
    uint32_t count;
    enum remap_objective objective;
    bool messages;
};

/** @return 0 or -ENOMEM */
int remap_exact_create(struct remap_exact **out, const struct remap_exact_problem *problem);
void remap_exact_destroy(struct remap_exact *exact);

/** @param work  increased by the work done
 * @return 1: all permutations were tried */
int remap_exact_step(struct remap_exact *exact, uint64_t limit, uint64_t *work);

/** The best so far: slot of each process. */
const uint32_t *remap_exact_slots(const struct remap_exact *exact);

#endif
