/* What watching costs and what it lost, over all agents: for the status line and view "monitor". */
#ifndef HOLTER_VIEWER_VIEWS_MONITOR_COST_H
#define HOLTER_VIEWER_VIEWS_MONITOR_COST_H

#include "viewer/model/model.h"

struct monitor_cost {
    double cpu_share; /**< share of one core, mean over agents */
    double uplink;    /**< bytes per second, mean over agents */
    double call_ns;   /**< mean over agents that measured it; 0: none did */
    uint64_t lost, dropped, clock_error_ns;
    uint32_t rated, measured;
};

struct monitor_cost monitor_cost_of(const struct model *model);

/** Uncertainty of clocks: between two nodes where the latency of pairs is computed, else between a
 * node and the daemon. 0: not known; WIRE_ANY: clocks are not aligned yet */
uint64_t monitor_clock_error(const struct model *model, const struct monitor_cost *cost);

#endif
