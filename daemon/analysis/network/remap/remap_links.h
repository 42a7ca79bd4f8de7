/* Exchanges of two processes that take load off the most loaded links.
 *
 * The annealing, at low temperature, minimises the sum over links of (load / largest load)^8: many
 * links are often equally loaded, and the largest load alone would not show which exchange is
 * progress. Processes that use one of the hottest links are moved next to the partner that they use
 * it for, or anywhere. Loads are updated with each exchange: only the routes of the two processes
 * change. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_LINKS_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_LINKS_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

struct remap_links;

struct remap_links_problem {
    const struct remap_graph *graph;
    const struct remap_places *places;
    const uint32_t *slots; /**< initial slot of each process */
    const uint32_t *movable;
    uint32_t count;
    uint64_t seed;
};

/** The arrays that the problem points to, except slots, are borrowed. @return 0 or -ENOMEM */
int remap_links_create(struct remap_links **out, const struct remap_links_problem *problem);
void remap_links_destroy(struct remap_links *links);

/** @param done  0 to 1: share of the whole work that is done, which sets the temperature
 * @param work  increased by the work done */
void remap_links_step(struct remap_links *links, double done, uint64_t limit, uint64_t *work);

/** The best so far: slot of each process. */
const uint32_t *remap_links_slots(const struct remap_links *links);

#endif
