/* What watching costs and what it lost, over all agents. */
#include "viewer/views/monitor/cost.h"

#include <math.h>

struct monitor_cost monitor_cost_of(const struct model *m)
{
    struct monitor_cost c = {0};
    for (uint32_t i = 0; i < m->node_count; i++) {
        const struct model_node *n = &m->nodes[i];
        c.lost += n->now.lost;
        c.dropped += n->now.windows_dropped;
        c.clock_error_ns =
            n->now.clock_error_ns > c.clock_error_ns ? n->now.clock_error_ns : c.clock_error_ns;
        if (!isnan(n->now.call_cost_ns) && n->now.call_cost_ns > 0) {
            c.call_ns += n->now.call_cost_ns;
            c.measured++;
        }
        double cpu_share, uplink;
        if (!n->now.rss_bytes || !model_node_rates(m, n, &cpu_share, &uplink))
            continue;
        c.cpu_share += cpu_share;
        c.uplink += uplink;
        c.rated++;
    }
    c.cpu_share /= c.rated ? c.rated : 1;
    c.uplink /= c.rated ? c.rated : 1;
    c.call_ns /= c.measured ? c.measured : 1;
    return c;
}

uint64_t monitor_clock_error(const struct model *m, const struct monitor_cost *cost)
{
    return m->latency.error_ns ? m->latency.error_ns : cost->clock_error_ns;
}
