/* Exchanging two processes, again and again, while that takes load off the most loaded links.
 *
 * What is made small is the sum over links of (load / largest load)^8, by annealing at low
 * temperature: many links are often equally loaded, and the largest load alone would not tell which
 * exchange is a step forward. Processes that use one of the hottest links are moved next to the
 * partner that they use it for, or anywhere. Loads are brought up to date with each exchange: only
 * routes of the two processes change.
 *
 * Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_LINKS_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_LINKS_H

#include "daemon/analysis/network/remap/remap_graph.h"
#include "daemon/analysis/network/remap/remap_places.h"

struct remap_links;

struct remap_links_problem {
    const struct remap_graph *graph;
    const struct remap_places *places;
    const uint32_t *slots; /**< to begin with */
    const uint32_t *movable;
    uint32_t count;
    uint64_t seed;
};

/** What the problem points to, but for slots, is borrowed. @return 0 or -ENOMEM */
int remap_links_create(struct remap_links **out, const struct remap_links_problem *problem);
void remap_links_destroy(struct remap_links *links);

/** @param done  0 to 1: how much of all the work is done, for the temperature
 *  @param work  what was done is added */
void remap_links_step(struct remap_links *links, double done, uint64_t limit, uint64_t *work);

/** The best so far: slot of each process. */
const uint32_t *remap_links_slots(const struct remap_links *links);

#endif
