/* How long the agent may sleep between two drains.
 *
 * Each drain takes the cache line with the ring's head from the rank that writes it, and on a full
 * node takes a core from a rank for a moment, so drains should be few: woken every 0.2 ms the agent
 * costs the ranks 70 ns a call, every 1 ms 28 ns. But a ring that is not read in time is
 * overwritten. So: sleep until the fastest ring is DRAIN_FILL full at the rate expected of it,
 * between DRAIN_LEAST and DRAIN_MOST.
 *
 * The rate expected is the highest seen, forgotten slowly: simulations repeat their bursts, and the
 * cost of a drain too many is microseconds, of one too few lost records. A burst that was not
 * expected wakes the agent by the ring's alarm (holter/ring.h) when the ring is half full.
 */
#ifndef HOLTER_AGENT_NODE_DRAIN_H
#define HOLTER_AGENT_NODE_DRAIN_H

#include <stdint.h>

#define DRAIN_MINIMUM_NS UINT64_C(1000000)
#define DRAIN_MAXIMUM_NS UINT64_C(50000000)
#define DRAIN_IDLE_NS UINT64_C(100000000) /**< with no rank on the node */
#define DRAIN_FILL 0.25                   /**< room for being woken late on a full node */

/** Pace of one ring. Zero-initialised is a ring of which nothing is known. */
struct drain_pace {
    double expected;  /**< records per nanosecond */
    uint64_t last_ns; /**< CLOCK_MONOTONIC of the last drain; 0: none yet */
};

/** A drain found so many records, lost ones included. */
void drain_pace_observe(struct drain_pace *pace, uint64_t records, uint64_t now_ns);

/** How long until the ring should be drained again, between DRAIN_MINIMUM_NS and DRAIN_MAXIMUM_NS.
 */
uint64_t drain_pace_wait(const struct drain_pace *pace, uint64_t capacity);

#endif
