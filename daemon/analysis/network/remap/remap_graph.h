/* The communication graph for the search of better mappings: directed flows, and the undirected
 * graph of partners. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_GRAPH_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_GRAPH_H

#include "daemon/analysis/network/remap/remap.h"
#include "daemon/analysis/tables/arena.h"
#include "holter/message_key.h"

/** What one process sends to another; each pair occurs once. */
struct remap_flow {
    uint32_t from, to;
    double bytes, messages;
};

struct remap_partner {
    uint32_t process;
    double weight; /**< of both directions, above 0 */
};

struct remap_graph {
    uint32_t processes;
    uint32_t flow_count;
    struct arena memory;            /**< of all arrays */
    struct remap_flow *flows;       /**< by sender, then receiver */
    uint32_t *flow_first;           /**< of each sender; processes + 1 */
    uint32_t *first;                /**< of each process in `partners`; processes + 1 */
    struct remap_partner *partners; /**< of each process: the heaviest first, of equal ones the
                                       lowest process first */
};

/** @param messages  weights are messages instead of bytes
 * @return 0 or -ENOMEM: call finish in this case too */
int remap_graph_init(struct remap_graph *graph, const struct remap_problem *problem, bool messages);
void remap_graph_finish(struct remap_graph *graph);

/** Weight between two processes, 0: none. */
double remap_graph_weight(const struct remap_graph *graph, uint32_t one, uint32_t other);

/** Random numbers (splitmix64: Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t remap_random(uint64_t *state)
{
    return message_key_mix(*state += 0x9e3779b97f4a7c15u);
}

static inline uint32_t remap_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((remap_random(state) >> 32) * bound >> 32);
}

#endif
