/* The pace of drains: the rate expected of a ring, and how long that lets the agent sleep. */
#include "agent/node/drain.h"

#define FORGET_NS 6e10 /* time after which a rate that did not occur again counts half */

void drain_pace_observe(struct drain_pace *pace, uint64_t records, uint64_t now_ns)
{
    if (pace->last_ns != 0 && now_ns > pace->last_ns) {
        double elapsed = (double)(now_ns - pace->last_ns);
        double rate = (double)records / elapsed;
        /* 2^-x near 0 is 1 - x ln 2: elapsed is milliseconds */
        double kept = 1 - 0.693 * (elapsed < FORGET_NS ? elapsed : FORGET_NS) / FORGET_NS;
        pace->expected = pace->expected * kept > rate ? pace->expected * kept : rate;
    }
    pace->last_ns = now_ns;
}

uint64_t drain_pace_wait(const struct drain_pace *pace, uint64_t capacity)
{
    double wait = DRAIN_FILL * (double)capacity / (pace->expected > 1e-12 ? pace->expected : 1e-12);
    if (wait >= (double)DRAIN_MAXIMUM_NS)
        return DRAIN_MAXIMUM_NS;
    return wait <= (double)DRAIN_MINIMUM_NS ? DRAIN_MINIMUM_NS : (uint64_t)wait;
}
