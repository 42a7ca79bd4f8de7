/* Nodes and edges of the graph: PCLVis, Algorithm 1. */
#include "daemon/analysis/dependencies/dependency_state.h"

#include "daemon/analysis/tables/saturate.h"
#include "holter/call.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

static int dependency_nodes_allocate(struct dependencies *d)
{
    struct dependency_graph *g = &d->ranks;
    g->nodes = calloc(d->event_count + (size_t)1, sizeof *g->nodes);
    g->edges = calloc(d->event_count / 2 + (size_t)1, sizeof *g->edges);
    g->lanes = calloc(d->event_count + (size_t)1, sizeof *g->lanes);
    return g->nodes && g->edges && g->lanes ? 0 : -ENOMEM;
}

static void dependency_nodes_add_event(struct dependency_node *n, const struct dependency_event *e)
{
    if (n->count++ == 0) {
        n->first_step = e->step;
        n->begin_ns = e->begin_ns;
        n->end_ns = e->end_ns;
    }
    n->last_step = e->step;
    n->begin_ns = e->begin_ns < n->begin_ns ? e->begin_ns : n->begin_ns;
    n->end_ns = e->end_ns > n->end_ns ? e->end_ns : n->end_ns;
    n->lateness_ns = e->lateness_ns > n->lateness_ns ? e->lateness_ns : n->lateness_ns;
    n->caused_ns = saturated_sum(n->caused_ns, e->caused_ns);
    if (e->collective != DEPENDENCY_NONE)
        return;
    n->receives += e->receive;
    n->sends += !e->receive;
    uint64_t *bytes = e->receive ? &n->received_bytes : &n->sent_bytes;
    *bytes = saturated_sum(*bytes, e->bytes);
}

static void dependency_nodes_add_lane(struct dependency_lane *lane,
                                      const struct dependency_event *e)
{
    lane->messages += e->collective == DEPENDENCY_NONE;
    lane->lateness_ns = e->lateness_ns > lane->lateness_ns ? e->lateness_ns : lane->lateness_ns;
    lane->caused_ns = saturated_sum(lane->caused_ns, e->caused_ns);
}

/* A receive after a send begins a node, and so does a rank. */
static void dependency_nodes_build(struct dependencies *d, const struct dependency_ends *ends)
{
    struct dependency_graph *g = &d->ranks;
    uint32_t host = 0;
    for (uint32_t i = 0; i < d->event_count; i++) {
        struct dependency_event *e = &d->events[i];
        int begins = i == 0 || d->events[i - 1].rank != e->rank;
        if (begins) {
            while (ends->ranks[host].rank != e->rank)
                host++;
            g->lanes[g->lane_count++] =
                (struct dependency_lane){.id = e->rank, .host = ends->ranks[host].host, .ranks = 1};
        }
        if (begins || (e->receive && !d->events[i - 1].receive))
            g->nodes[g->node_count++] =
                (struct dependency_node){.lane = g->lane_count - 1, .first = i};
        e->node = g->node_count - 1;
        dependency_nodes_add_event(&g->nodes[e->node], e);
        dependency_nodes_add_lane(&g->lanes[g->lane_count - 1], e);
    }
}

static uint64_t dependency_nodes_value(const struct dependencies *d, uint32_t event)
{
    return d->ranks.nodes[d->events[event].node].layer + UINT64_C(1);
}

/* In the order of events all receives of a node come before its sends: once a layer is used, it is
 * final. */
static void dependency_nodes_layer(struct dependencies *d)
{
    struct dependency_graph *g = &d->ranks;
    for (uint32_t i = 0; i < d->collective_count; i++)
        d->collectives[i].entered = 0;
    for (uint32_t i = 0; i < d->event_count; i++) {
        const struct dependency_event *e = &d->events[d->order[i]];
        struct dependency_node *n = &g->nodes[e->node];
        if (n->first == d->order[i] && e->node > 0 && n[-1].lane == n->lane)
            n->layer = n[-1].layer + 1;
        if (e->receive && e->match != DEPENDENCY_NONE) {
            uint32_t layer = g->nodes[d->events[e->match].node].layer + 1;
            n->layer = layer > n->layer ? layer : n->layer;
        }
        if (dependencies_waits_in_collective(d, e)) {
            uint32_t layer = (uint32_t)dependency_steps_most(d, e->member, dependency_nodes_value,
                                                             d->collectives[e->collective].layer);
            n->layer = layer > n->layer ? layer : n->layer;
        } else if (dependencies_is_awaited(d, e)) {
            struct dependency_collective *c = &d->collectives[e->collective];
            c->layer = n->layer + 1 > c->layer ? n->layer + 1 : c->layer;
        }
        g->layers = n->layer + 1 > g->layers ? n->layer + 1 : g->layers;
    }
}

ORDER_FUNCTION(dependency_nodes_compare_edges, struct dependency_edge,
               4 * ORDER(a->from, b->from) + 2 * ORDER(a->to, b->to) + ORDER(a->send, b->send))

void dependency_sort_edges(struct dependency_graph *graph)
{
    qsort(graph->edges, graph->edge_count, sizeof *graph->edges, dependency_nodes_compare_edges);
}

static void dependency_nodes_connect(struct dependencies *d)
{
    struct dependency_graph *g = &d->ranks;
    for (uint32_t i = 0; i < d->event_count; i++) {
        struct dependency_event *r = &d->events[i];
        if (!r->receive || r->match == DEPENDENCY_NONE)
            continue;
        const struct dependency_event *s = &d->events[r->match];
        int64_t transfer_ns = r->end_ns - s->begin_ns;
        g->edges[g->edge_count++] = (struct dependency_edge){.from = s->node,
                                                             .to = r->node,
                                                             .send = r->match,
                                                             .receive = i,
                                                             .messages = 1,
                                                             .bytes = s->bytes,
                                                             .transfer_ns = transfer_ns};
        d->counts.backward += transfer_ns < 0;
    }
    dependency_sort_edges(g);
    for (uint32_t i = 0; i < g->edge_count; i++)
        d->events[g->edges[i].send].edge = d->events[g->edges[i].receive].edge = i;
    d->counts.matched = g->edge_count;
}

int dependency_nodes(struct dependencies *d, const struct dependency_ends *e,
                     const struct dependency_wishes *wishes)
{
    if (dependency_nodes_allocate(d) != 0)
        return -ENOMEM;
    dependency_nodes_build(d, e);
    dependency_nodes_layer(d);
    dependency_nodes_connect(d);
    dependency_balance(&d->ranks);
    return dependency_latencies(d, wishes);
}
