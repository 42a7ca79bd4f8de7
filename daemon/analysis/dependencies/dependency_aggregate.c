/* The graph of hosts: all nodes of the ranks of one host in one layer are one node. */
#include "daemon/analysis/dependencies/dependency_state.h"

#include "daemon/analysis/tables/saturate.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

void dependency_graph_finish(struct dependency_graph *graph)
{
    free(graph->nodes);
    free(graph->edges);
    free(graph->lanes);
    *graph = (struct dependency_graph){0};
}

/* Where a lane or node of ranks goes. */
struct place {
    uint32_t lane, layer, from;
};

ORDER_FUNCTION(dependency_aggregate_compare, struct place,
               4 * ORDER(a->lane, b->lane) + 2 * ORDER(a->layer, b->layer) +
                   ORDER(a->from, b->from))

static double dependency_aggregate_mean(double a, uint64_t a_count, double b, uint64_t b_count)
{
    uint64_t count = a_count + b_count;
    return count == 0 ? 0 : (a * (double)a_count + b * (double)b_count) / (double)count;
}

/* The lowest rank's lane of each host, by which hosts are ordered.
 * @param first  set: by host */
static void dependency_aggregate_order(const struct dependency_graph *g, uint32_t *first)
{
    for (uint32_t i = g->lane_count; i-- > 0;)
        first[g->lanes[i].host] = i;
}

/* @param first  by host, see above
 * @param to  set: by lane of ranks, its lane */
static void dependency_aggregate_lanes(const struct dependency_graph *g, uint32_t open,
                                       struct dependency_graph *out, struct place *places,
                                       const uint32_t *first, uint32_t *to)
{
    /* Lanes of ranks are by rank: the second key keeps those of the open host apart. */
    for (uint32_t i = 0; i < g->lane_count; i++)
        places[i] =
            (struct place){first[g->lanes[i].host], g->lanes[i].host == open ? i + 1 : 0, i};
    qsort(places, g->lane_count, sizeof *places, dependency_aggregate_compare);
    for (uint32_t i = 0; i < g->lane_count; i++) {
        const struct dependency_lane *lane = &g->lanes[places[i].from];
        if (i == 0 || places[i].lane != places[i - 1].lane || places[i].layer > 0)
            out->lanes[out->lane_count++] =
                (struct dependency_lane){.id = places[i].layer > 0 ? lane->id : lane->host,
                                         .host = lane->host,
                                         .is_host = places[i].layer == 0};
        struct dependency_lane *sum = &out->lanes[out->lane_count - 1];
        to[places[i].from] = out->lane_count - 1;
        sum->latency =
            dependency_aggregate_mean(sum->latency, sum->timed, lane->latency, lane->timed);
        sum->timed += lane->timed;
        sum->ranks++;
        sum->messages += lane->messages;
        sum->caused_ns = saturated_sum(sum->caused_ns, lane->caused_ns);
        if (lane->lateness_ns > sum->lateness_ns)
            sum->lateness_ns = lane->lateness_ns;
    }
    dependency_balance(out);
}

static void dependency_aggregate_add_node(struct dependency_node *sum,
                                          const struct dependency_node *n)
{
    int first = sum->count == 0;
    sum->latency = dependency_aggregate_mean(sum->latency, sum->timed, n->latency, n->timed);
    sum->timed += n->timed;
    sum->first = first ? n->first : DEPENDENCY_NONE;
    sum->count += n->count;
    sum->first_step = first || n->first_step < sum->first_step ? n->first_step : sum->first_step;
    sum->last_step = n->last_step > sum->last_step ? n->last_step : sum->last_step;
    sum->receives += n->receives;
    sum->sends += n->sends;
    sum->received_bytes = saturated_sum(sum->received_bytes, n->received_bytes);
    sum->sent_bytes = saturated_sum(sum->sent_bytes, n->sent_bytes);
    sum->begin_ns = first || n->begin_ns < sum->begin_ns ? n->begin_ns : sum->begin_ns;
    sum->end_ns = first || n->end_ns > sum->end_ns ? n->end_ns : sum->end_ns;
    sum->lateness_ns = n->lateness_ns > sum->lateness_ns ? n->lateness_ns : sum->lateness_ns;
    sum->caused_ns = saturated_sum(sum->caused_ns, n->caused_ns);
}

static void dependency_aggregate_nodes(const struct dependency_graph *g,
                                       struct dependency_graph *out, struct place *places,
                                       const uint32_t *lane_to, uint32_t *to)
{
    for (uint32_t i = 0; i < g->node_count; i++)
        places[i] = (struct place){lane_to[g->nodes[i].lane], g->nodes[i].layer, i};
    qsort(places, g->node_count, sizeof *places, dependency_aggregate_compare);
    for (uint32_t i = 0; i < g->node_count; i++) {
        const struct place *p = &places[i];
        if (i == 0 || p->lane != p[-1].lane || p->layer != p[-1].layer)
            out->nodes[out->node_count++] =
                (struct dependency_node){.lane = p->lane, .layer = p->layer};
        to[p->from] = out->node_count - 1;
        dependency_aggregate_add_node(&out->nodes[out->node_count - 1], &g->nodes[p->from]);
    }
    out->layers = g->layers;
}

static void dependency_aggregate_edges(const struct dependency_graph *g,
                                       struct dependency_graph *out, const uint32_t *to)
{
    for (uint32_t i = 0; i < g->edge_count; i++) {
        out->edges[i] = g->edges[i];
        out->edges[i].from = to[g->edges[i].from];
        out->edges[i].to = to[g->edges[i].to];
    }
    out->edge_count = g->edge_count;
    dependency_sort_edges(out);
    uint32_t kept = 0;
    double sum_ns = 0; /* of transfer times, of the last one that was kept */
    for (uint32_t i = 0; i < out->edge_count; i++) {
        const struct dependency_edge e = out->edges[i];
        struct dependency_edge *sum = kept == 0 ? NULL : &out->edges[kept - 1];
        if (sum == NULL || sum->from != e.from || sum->to != e.to) {
            out->edges[kept++] = e;
            sum_ns = (double)e.transfer_ns;
            continue;
        }
        sum_ns += (double)e.transfer_ns;
        sum->messages++;
        sum->transfer_ns = (int64_t)(sum_ns / (double)sum->messages);
        sum->bytes = saturated_sum(sum->bytes, e.bytes);
        if (e.latency <= sum->latency)
            continue;
        sum->latency = e.latency;
        sum->send = e.send;
        sum->receive = e.receive;
    }
    out->edge_count = kept;
}

int dependencies_aggregate(const struct dependencies *d, uint32_t open,
                           struct dependency_graph *out)
{
    const struct dependency_graph *g = &d->ranks;
    struct dependency_graph hosts = {0};
    uint32_t host_count = 0;
    for (uint32_t i = 0; i < g->lane_count; i++)
        if (g->lanes[i].host >= host_count)
            host_count = g->lanes[i].host + 1;
    struct place *places = malloc((g->node_count + g->lane_count + (size_t)1) * sizeof *places);
    uint32_t *first = malloc((host_count + (size_t)1) * sizeof *first);
    uint32_t *to = malloc((g->node_count + g->lane_count + (size_t)1) * sizeof *to);
    hosts.nodes = calloc(g->node_count + (size_t)1, sizeof *hosts.nodes);
    hosts.edges = calloc(g->edge_count + (size_t)1, sizeof *hosts.edges);
    hosts.lanes = calloc(g->lane_count + (size_t)1, sizeof *hosts.lanes);
    int enough = places && first && to && hosts.nodes && hosts.edges && hosts.lanes;
    if (enough) {
        dependency_aggregate_order(g, first);
        dependency_aggregate_lanes(g, open, &hosts, places, first, to);
        dependency_aggregate_nodes(g, &hosts, places, to, to + g->lane_count);
        dependency_aggregate_edges(g, &hosts, to + g->lane_count);
        *out = hosts;
    } else {
        dependency_graph_finish(&hosts);
    }
    free(places);
    free(first);
    free(to);
    return enough ? 0 : -ENOMEM;
}
