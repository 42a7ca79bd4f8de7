/* What the agent itself costs: memory, and time in each watched call. */
#ifndef HOLTER_AGENT_HOST_SELF_H
#define HOLTER_AGENT_HOST_SELF_H

#include <stdint.h>

/** Resident memory of this process that is not shared with others (the ranks' rings, its own
 *  journal), bytes: RssAnon and RssFile of /proc/self/status. */
uint64_t self_resident(void);

/** What one watched call costs, nanoseconds: two time stamps and one record written and published
 * as the probe does it, into a private ring of the default size, median of many batches. Measured
 * in the agent when it starts, on this node's processor. It leaves out the forwarding of the call
 * itself and what the ring displaces from the application's caches. NaN when it cannot be measured.
 */
double self_call_cost(void);

#endif
