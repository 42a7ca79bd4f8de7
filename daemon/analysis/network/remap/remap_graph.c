/* The communication graph of a remapping problem: directed flows and rows of partners. */
#include "daemon/analysis/network/remap/remap_graph.h"

#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sort by receiver, then stably by sender: two counting sorts. */
static void remap_graph_sort_flows(struct remap_flow *flows, struct remap_flow *other,
                                   uint32_t count, uint32_t *start, uint32_t processes)
{
    for (int pass = 0; pass < 2; pass++) {
        struct remap_flow *in = pass == 0 ? flows : other, *out = pass == 0 ? other : flows;
        memset(start, 0, ((size_t)processes + 1) * sizeof(*start));
        for (uint32_t i = 0; i < count; i++)
            start[(pass == 0 ? in[i].to : in[i].from) + 1]++;
        for (uint32_t p = 0; p < processes; p++)
            start[p + 1] += start[p];
        for (uint32_t i = 0; i < count; i++)
            out[start[pass == 0 ? in[i].to : in[i].from]++] = in[i];
    }
}

/* Merge equal pairs. @return number of flows left */
static uint32_t remap_graph_merge_flows(struct remap_flow *flows, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct remap_flow *last = kept > 0 ? &flows[kept - 1] : NULL;
        if (last != NULL && last->from == flows[i].from && last->to == flows[i].to) {
            last->bytes += flows[i].bytes;
            last->messages += flows[i].messages;
        } else {
            flows[kept++] = flows[i];
        }
    }
    return kept;
}

static void remap_graph_find_first(uint32_t *first, const struct remap_flow *flows, uint32_t count,
                                   uint32_t processes)
{
    memset(first, 0, ((size_t)processes + 1) * sizeof(*first));
    for (uint32_t i = 0; i < count; i++)
        first[flows[i].from + 1]++;
    for (uint32_t p = 0; p < processes; p++)
        first[p + 1] += first[p];
}

static uint32_t remap_graph_copy_flows(struct remap_flow *flows,
                                       const struct remap_problem *problem)
{
    uint32_t count = 0;
    for (size_t i = 0; i < problem->edge_count; i++) {
        const struct remap_edge *e = &problem->edges[i];
        if (e->from != e->to && (e->bytes > 0 || e->messages > 0))
            flows[count++] =
                (struct remap_flow){e->from, e->to, (double)e->bytes, (double)e->messages};
    }
    return count;
}

ORDER_FUNCTION(remap_graph_compare_partners, struct remap_partner,
               2 * ORDER(b->weight, a->weight) + ORDER(a->process, b->process))

/* Heaviest first. */
static void remap_graph_sort_row(struct remap_partner *row, uint32_t count)
{
    qsort(row, count, sizeof(*row), remap_graph_compare_partners);
}

/* Merge both directions of every flow and store them as rows of partners. */
static void remap_graph_make_partners(struct remap_graph *graph, struct remap_flow *both,
                                      struct remap_flow *room, uint32_t *start, bool messages)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < graph->flow_count; i++) {
        const struct remap_flow *f = &graph->flows[i];
        const double weight = messages ? f->messages : f->bytes;
        if (!(weight > 0))
            continue;
        both[count++] = (struct remap_flow){f->from, f->to, weight, 0};
        both[count++] = (struct remap_flow){f->to, f->from, weight, 0};
    }
    remap_graph_sort_flows(both, room, count, start, graph->processes);
    kept = remap_graph_merge_flows(both, count);
    remap_graph_find_first(graph->first, both, kept, graph->processes);
    for (uint32_t i = 0; i < kept; i++)
        graph->partners[i] = (struct remap_partner){both[i].to, both[i].bytes};
    for (uint32_t p = 0; p < graph->processes; p++)
        remap_graph_sort_row(graph->partners + graph->first[p],
                             graph->first[p + 1] - graph->first[p]);
}

int remap_graph_init(struct remap_graph *graph, const struct remap_problem *problem, bool messages)
{
    const uint32_t n = problem->processes;
    const size_t edges = problem->edge_count + 1;
    struct remap_flow *both = malloc(2 * edges * sizeof(*both));
    struct remap_flow *room = malloc(2 * edges * sizeof(*room));
    uint32_t *start = malloc(((size_t)n + 1) * sizeof(*start));
    int rc = -ENOMEM;
    *graph = (struct remap_graph){.processes = n};
    ARENA_TAKE(&graph->memory, graph->flows, edges);
    ARENA_TAKE(&graph->memory, graph->flow_first, (size_t)n + 1);
    ARENA_TAKE(&graph->memory, graph->first, (size_t)n + 1);
    ARENA_TAKE(&graph->memory, graph->partners, 2 * edges);
    if (both && room && start && !graph->memory.failed) {
        const uint32_t count = remap_graph_copy_flows(graph->flows, problem);
        remap_graph_sort_flows(graph->flows, room, count, start, n);
        graph->flow_count = remap_graph_merge_flows(graph->flows, count);
        remap_graph_find_first(graph->flow_first, graph->flows, graph->flow_count, n);
        remap_graph_make_partners(graph, both, room, start, messages);
        rc = 0;
    }
    free(both);
    free(room);
    free(start);
    return rc;
}

void remap_graph_finish(struct remap_graph *graph)
{
    arena_finish(&graph->memory);
    *graph = (struct remap_graph){0};
}

double remap_graph_weight(const struct remap_graph *graph, uint32_t one, uint32_t other)
{
    const uint32_t a = graph->first[one + 1] - graph->first[one];
    const uint32_t b = graph->first[other + 1] - graph->first[other];
    const uint32_t row = a <= b ? one : other, wanted = a <= b ? other : one;
    for (uint32_t i = graph->first[row]; i < graph->first[row + 1]; i++)
        if (graph->partners[i].process == wanted)
            return graph->partners[i].weight;
    return 0;
}
