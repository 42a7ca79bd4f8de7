/* How long the agent may leave rings alone, and what drains may cost.
 * Each drain moves the cache line with the ring's head away from the rank that writes it, takes a
 * core from a rank for a moment on a full node, and finds the agent's memory out of the cache, so
 * drains should be few: one for each window, and one when a ring is half full, which wakes the
 * agent by its alarm (holter/ring.h). With a drain every 0.2 ms the agent costs the ranks 70 ns a
 * call, every 1 ms 28 ns; ten a second in place of one cost the agent two thirds more time. */
#ifndef HOLTER_AGENT_NODE_DRAIN_H
#define HOLTER_AGENT_NODE_DRAIN_H

#include <stdint.h>

#define DRAIN_MINIMUM_NS UINT64_C(1000000)
#define DRAIN_MAXIMUM_NS UINT64_C(1000000000)

#define DRAIN_SHARE 0.1           /**< of a core, where ranks use all of them */
#define DRAIN_CREDIT_NS 100000000 /**< of processor time that can be saved up */

/** Processor time that drains may take where ranks use all cores: DRAIN_SHARE of a core, saved up
 * to DRAIN_CREDIT_NS, so that bursts are read. What is not read, the ranks sum (holter/tally.h); it
 * has no latency. While a core is idle there is no limit. Zero-initialised: nothing is known yet.
 */
struct drain_budget {
    uint64_t looked_ns, idle_ns; /**< last observation, and idle time since boot then */
    int full;                    /**< no core was idle */
    double credit_ns;
    uint64_t credit_at_ns; /**< when it was credit_ns */
};

/** Is it time to observe the cores again? Reading their counters takes time on large nodes. */
int drain_budget_is_due(const struct drain_budget *budget, uint64_t now_ns);

/** @param idle_ns  of core_times_read(); 0: not known, so that there is no limit */
void drain_budget_observe(struct drain_budget *budget, uint64_t idle_ns, uint64_t now_ns);

/** When the next drain may begin: now_ns, or later. */
uint64_t drain_budget_next(const struct drain_budget *budget, uint64_t now_ns);

/** A drain has taken so much processor time. */
void drain_budget_spend(struct drain_budget *budget, uint64_t cpu_ns, uint64_t now_ns);

#endif
