/* Figures of messages and lanes: relative latency (PCLVis, Eq. 1), load balance (Eq. 7-8). */
#include "daemon/analysis/dependencies/dependency_state.h"

#include "daemon/analysis/tables/load_balance.h"
#include "holter/order.h"
#include "holter/size_class.h"

#include <errno.h>
#include <stdlib.h>

void dependency_balance(struct dependency_graph *graph)
{
    struct load_balance balance = {.processes = 0};
    for (uint32_t i = 0; i < graph->lane_count; i++)
        load_balance_add(&balance, (double)graph->lanes[i].messages);
    for (uint32_t i = 0; i < graph->lane_count; i++)
        load_balance_deviate(&balance, (double)graph->lanes[i].messages);
    for (uint32_t i = 0; i < graph->lane_count; i++)
        graph->lanes[i].balance = load_balance_of(&balance, (double)graph->lanes[i].messages);
}

struct timed {
    int64_t ns;
    uint32_t class; /* size class and locality */
    uint32_t edge;
};

ORDER_FUNCTION(dependency_figures_compare, struct timed,
               4 * ORDER(a->class, b->class) + 2 * ORDER(a->ns, b->ns) + ORDER(a->edge, b->edge))

static uint32_t dependency_figures_class(const struct dependency_graph *g,
                                         const struct dependency_edge *e)
{
    uint32_t from = g->lanes[g->nodes[e->from].lane].host, to = g->lanes[g->nodes[e->to].lane].host;
    return 2u * size_class_of(e->bytes) + (from != to);
}

/* The reference of the job for a class; 0: not known. */
static uint64_t dependency_figures_reference(const struct dependency_wishes *w, uint32_t class)
{
    for (size_t i = 0; w != NULL && i < w->criteria_count; i++) {
        const struct wire_criterion_row *row = &w->criteria[i];
        if (row->messages > 0 && row->reference_ns <= INT64_MAX &&
            2 * row->size_class + row->locality == class)
            return row->reference_ns;
    }
    return 0;
}

/* Set the relative latencies of the rows of one class, which are sorted by time. Without a
 * reference, the criterion is their median, or the lower one of two. */
static void dependency_figures_divide(struct dependencies *d, const struct timed *rows,
                                      uint32_t count, uint64_t reference_ns)
{
    int64_t usual = reference_ns > 0 ? (int64_t)reference_ns : rows[(count - 1) / 2].ns;
    d->counts.referenced += reference_ns > 0 ? count : 0;
    for (uint32_t i = 0; i < count; i++)
        d->ranks.edges[rows[i].edge].latency =
            usual > 0 && rows[i].ns > 0 ? (double)rows[i].ns / (double)usual : 0;
}

/* Set the mean latencies of nodes and lanes over the messages that they received. */
static void dependency_figures_means(struct dependency_graph *g)
{
    for (uint32_t i = 0; i < g->edge_count; i++) {
        const struct dependency_edge *e = &g->edges[i];
        struct dependency_node *node = &g->nodes[e->to];
        struct dependency_lane *lane = &g->lanes[node->lane];
        if (e->latency <= 0)
            continue;
        node->latency += e->latency;
        lane->latency += e->latency;
        node->timed++;
        lane->timed++;
    }
    for (uint32_t i = 0; i < g->node_count; i++)
        g->nodes[i].latency /= g->nodes[i].timed == 0 ? 1 : g->nodes[i].timed;
    for (uint32_t i = 0; i < g->lane_count; i++)
        g->lanes[i].latency /= g->lanes[i].timed == 0 ? 1 : g->lanes[i].timed;
}

int dependency_latencies(struct dependencies *d, const struct dependency_wishes *wishes)
{
    struct dependency_graph *g = &d->ranks;
    struct timed *rows = malloc((g->edge_count + (size_t)1) * sizeof *rows);
    if (rows == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < g->edge_count; i++)
        rows[i] =
            (struct timed){g->edges[i].transfer_ns, dependency_figures_class(g, &g->edges[i]), i};
    qsort(rows, g->edge_count, sizeof *rows, dependency_figures_compare);
    for (uint32_t i = 0, end; i < g->edge_count; i = end) {
        for (end = i; end < g->edge_count && rows[end].class == rows[i].class; end++)
            continue;
        dependency_figures_divide(d, rows + i, end - i,
                                  dependency_figures_reference(wishes, rows[i].class));
    }
    free(rows);
    dependency_figures_means(g);
    return 0;
}
