/* Reading the ranks' tick clock together with CLOCK_MONOTONIC. */
#ifndef HOLTER_AGENT_NODE_TICK_CLOCK_READ_H
#define HOLTER_AGENT_NODE_TICK_CLOCK_READ_H

#include "daemon/analysis/clocks/tick_clock.h"

/** Read both clocks as closely together as possible. 0 ticks where there is no counter. */
struct tick_anchor tick_clock_read(void);

#endif
