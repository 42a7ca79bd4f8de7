/* Traffic between vertices, and the loads that it puts on links. */
#include "daemon/analysis/network/remap/remap_flows.h"

#include "daemon/analysis/network/link_loads.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

ORDER_FUNCTION(remap_flows_compare_ends, struct remap_flow,
               2 * ORDER(a->source, b->source) + ORDER(a->destination, b->destination))

ORDER_FUNCTION(remap_flows_compare_loads, struct remap_flow,
               8 * ORDER(b->heaviest, a->heaviest) + 4 * ORDER(b->bytes, a->bytes) +
                   2 * ORDER(a->source, b->source) + ORDER(a->destination, b->destination))

static int remap_flows_load(struct remap_flows *flows)
{
    struct link_loads *loads = NULL;
    uint32_t links = topology_links(flows->topology);
    int code = link_loads_create(&loads, flows->topology);
    for (size_t i = 0; code == 0 && i < flows->count; i++) {
        const struct remap_flow *f = &flows->rows[i];
        code =
            link_loads_add(loads, &(struct load_change){f->source, f->destination,
                                                        (int64_t)f->bytes, (int64_t)f->messages});
    }
    if (code == 0) {
        const struct link_load *values = link_loads_values(loads);
        for (uint32_t l = 0; l < links; l++)
            flows->bytes[l] = values[l].bytes;
    }
    link_loads_destroy(loads);
    return code;
}

int remap_flows_set(struct remap_flows *flows, const struct topology *topology,
                    const struct remap_edge *edges, size_t edge_count, const uint32_t *seats)
{
    size_t used = 0;
    *flows = (struct remap_flows){
        .topology = topology,
        .rows = malloc((edge_count + 1) * sizeof(*flows->rows)),
        .bytes = malloc(((size_t)topology_links(topology) + 1) * sizeof(*flows->bytes)),
    };
    if (flows->rows == NULL || flows->bytes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < edge_count; i++) {
        const struct remap_edge *e = &edges[i];
        struct remap_flow flow = {seats[e->from], seats[e->to], e->bytes, e->messages, 0};
        if (flow.source != flow.destination)
            flows->rows[used++] = flow;
    }
    qsort(flows->rows, used, sizeof(*flows->rows), remap_flows_compare_ends);
    for (size_t i = 0; i < used; i++) {
        struct remap_flow *last = flows->count == 0 ? NULL : &flows->rows[flows->count - 1];
        if (last != NULL && remap_flows_compare_ends(last, &flows->rows[i]) == 0) {
            last->bytes += flows->rows[i].bytes;
            last->messages += flows->rows[i].messages;
        } else {
            flows->rows[flows->count++] = flows->rows[i];
        }
    }
    return remap_flows_load(flows);
}

void remap_flows_finish(struct remap_flows *flows)
{
    free(flows->rows);
    free(flows->bytes);
}

const struct remap_flow *remap_flows_find(const struct remap_flows *flows, uint32_t source,
                                          uint32_t destination)
{
    struct remap_flow key = {.source = source, .destination = destination};
    return bsearch(&key, flows->rows, flows->count, sizeof(key), remap_flows_compare_ends);
}

int remap_flows_measure(struct remap_flows *flows)
{
    uint32_t room = topology_diameter(flows->topology) + 1,
             *links = malloc((size_t)room * sizeof(*links));
    if (links == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < flows->count; i++) {
        struct remap_flow *f = &flows->rows[i];
        uint32_t length = topology_route(flows->topology, f->source, f->destination, links, room);
        for (uint32_t l = 0; length != TOPOLOGY_NONE && l < length && l < room; l++)
            if (flows->bytes[links[l]] > f->heaviest)
                f->heaviest = flows->bytes[links[l]];
    }
    free(links);
    return 0;
}

void remap_flows_sort(struct remap_flows *flows)
{
    qsort(flows->rows, flows->count, sizeof(*flows->rows), remap_flows_compare_loads);
}
