/* Links as they are told. */
#include "daemon/analysis/network/congestion_inner.h"

#include <math.h>

int congestion_link(const struct congestion *c, uint32_t link, struct congestion_link *out)
{
    uint32_t from, to;
    if (!topology_link(c->topology, link, &from, &to))
        return 0;
    const struct track *track = &c->tracks[link];
    const struct link_counts *counts = &c->counts[link];
    const struct link_load *load = &link_loads_values(c->loads)[link],
                           *latency = &link_loads_values(c->latencies)[link];
    double capacity = c->pasts[link].capacity;
    bool ratio = counts->counter != CONGESTION_UNKNOWN && !counts->packets && counts->modelled > 0;
    double log_mean = (double)(int64_t)latency->bytes / CONGESTION_UNIT / (double)latency->messages;
    *out = (struct congestion_link){
        .link = link,
        .from = from,
        .to = to,
        .state = track->state,
        .since = c->pasts[link].since,
        .messages = load->messages,
        .bytes = load->bytes,
        .average = c->weight > 0 ? track_average(track) / c->weight : 0,
        .peak = track->peak,
        .share = capacity > 0 && c->begun ? (double)load->bytes / (capacity * c->seconds) : NAN,
        .latency = latency->messages > 0 ? exp(log_mean) : NAN,
        .measured = counts->counter,
        .packets = counts->packets,
        .ratio = ratio ? counts->measured / counts->modelled : NAN,
    };
    return 1;
}

size_t congestion_hot(const struct congestion *c, struct congestion_link *out, size_t room)
{
    size_t count = 0;
    for (uint32_t link = 0; count < c->hot && count < room && link < c->link_count; link++) {
        if (c->tracks[link].state >= CONGESTION_HOT)
            count += (size_t)congestion_link(c, link, &out[count]);
    }
    return c->hot;
}

size_t congestion_links(const struct congestion *c, struct congestion_link *out, size_t room)
{
    size_t count = 0;
    for (uint32_t link = 0; link < c->link_count; link++) {
        const struct track *track = &c->tracks[link];
        uint32_t from, to;
        if ((track->state == CONGESTION_IDLE && track_average(track) < c->weight / 2 &&
             c->counts[link].counter == CONGESTION_UNKNOWN) ||
            !topology_link(c->topology, link, &from, &to))
            continue;
        if (count < room)
            congestion_link(c, link, &out[count]);
        count++;
    }
    return count;
}
