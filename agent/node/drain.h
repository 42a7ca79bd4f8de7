/* How long the agent may sleep between two drains.
 * Each drain moves the cache line with the ring's head away from the rank that writes it, and on a
 * full node takes a core from a rank for a moment, so drains should be few: with a drain every 0.2
 * ms the agent costs the ranks 70 ns a call, every 1 ms 28 ns. But a ring that is not read in time
 * is overwritten. Therefore the agent sleeps until the fastest ring is DRAIN_FILL full at its
 * expected rate, between DRAIN_MINIMUM_NS and DRAIN_MAXIMUM_NS. The expected rate is the highest
 * one observed, with slow decay: simulations repeat their bursts, and a drain too many costs
 * microseconds, one too few loses records. A burst that was not expected wakes the agent by the
 * ring's alarm (holter/ring.h) when the ring is half full. */
#ifndef HOLTER_AGENT_NODE_DRAIN_H
#define HOLTER_AGENT_NODE_DRAIN_H

#include <stdint.h>

#define DRAIN_MINIMUM_NS UINT64_C(1000000)
#define DRAIN_MAXIMUM_NS UINT64_C(50000000)
#define DRAIN_IDLE_NS UINT64_C(100000000) /**< with no rank on the node */
#define DRAIN_FILL 0.25                   /**< leaves time for a late wake-up on a full node */

/** Pace of one ring. Zero-initialised: not drained yet. */
struct drain_pace {
    double expected;  /**< records per nanosecond */
    uint64_t last_ns; /**< CLOCK_MONOTONIC of the last drain; 0: none yet */
};

/** Records a drain that found this many records, lost ones included. */
void drain_pace_observe(struct drain_pace *pace, uint64_t records, uint64_t now_ns);

/** How long until the ring should be drained again, between DRAIN_MINIMUM_NS and DRAIN_MAXIMUM_NS.
 */
uint64_t drain_pace_wait(const struct drain_pace *pace, uint64_t capacity);

#endif
