/* From the graph of a phase to its communities. */
#include "daemon/job/phases/phase_labels.h"

#include "daemon/analysis/communities/communities.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct phase_labels {
    struct communities *communities; /* of the last phase */
    bool *present;                   /* buffer; of the current graph */
    size_t present_capacity;
    struct communities_edge *edges;
    size_t edge_capacity;
    uint64_t between; /* messages of these edges */
};

int phase_labels_create(struct phase_labels **out)
{
    struct communities_params params = COMMUNITIES_DEFAULTS;
    struct phase_labels *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return -ENOMEM;
    params.most_vertices = PHASE_LABELS_RANKS;
    int code = communities_create(&l->communities, &params);
    if (code != 0) {
        phase_labels_destroy(l);
        return code;
    }
    *out = l;
    return 0;
}

void phase_labels_destroy(struct phase_labels *l)
{
    if (l == NULL)
        return;
    communities_destroy(l->communities);
    free(l->present);
    free(l->edges);
    free(l);
}

static void phase_labels_count_edge(struct phase_figures *f, const struct phase_edge *e)
{
    uint64_t *messages = e->modelled ? &f->modelled : &f->messages;
    uint64_t *bytes = e->modelled ? &f->modelled_bytes : &f->bytes;
    *messages += e->messages;
    *bytes += e->bytes;
}

/* Sums of a graph; edges of pairs, and which ranks are there, for the communities.
 * @return edges */
static size_t phase_labels_count_graph(struct phase_labels *l, const struct phase_graph *graph,
                                       uint32_t ranks, struct phase_figures *figures)
{
    size_t count = 0;
    const struct phase_edge *before = NULL;
    for (uint32_t i = 0; i < ranks; i++)
        l->present[i] = false;
    l->between = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const struct phase_edge *e = &graph->edges[i];
        bool same =
            before != NULL && before->source == e->source && before->destination == e->destination;
        before = e;
        phase_labels_count_edge(figures, e);
        figures->pairs += !same;
        if (e->source >= ranks || e->destination >= ranks)
            continue;
        l->present[e->source] = l->present[e->destination] = true;
        if (e->source == e->destination)
            continue;
        double weight = (double)e->messages + (double)e->bytes;
        l->between = saturated_sum(l->between, e->messages);
        if (same)
            l->edges[count - 1].weight += weight;
        else
            l->edges[count++] = (struct communities_edge){e->source, e->destination, weight};
    }
    return count;
}

/* Labels of the ranks that communicate, at the greatest modularity; all are one community where
 * that is below the floor. */
static int phase_labels_cut(const struct phase_labels *l, uint32_t ranks, uint32_t *labels,
                            struct phase_figures *figures)
{
    const struct communities *c = l->communities;
    const bool *present = l->present;
    uint32_t absent = 0;
    uint32_t best = communities_best(c);
    int code = communities_cut(c, ranks - best, labels);
    if (code != 0)
        return code;
    for (uint32_t i = 0; i < ranks; i++)
        absent += !present[i];
    figures->ranks = ranks - absent;
    figures->communities = ranks - best - absent;
    figures->modularity = communities_modularity(c, best);
    double floor = communities_floor((uint32_t)figures->ranks, l->between);
    bool one = figures->communities > 0 && figures->modularity < floor;
    if (one) {
        figures->communities = 1;
        figures->modularity = 0;
    }
    for (uint32_t i = 0; i < ranks; i++)
        labels[i] = !present[i] ? PHASE_LABELS_ABSENT : one ? 0 : labels[i];
    return 0;
}

int phase_labels_find(struct phase_labels *l, uint32_t ranks, const struct phase_graph *graph,
                      uint32_t *out, struct phase_figures *figures)
{
    *figures = (struct phase_figures){.modularity = NAN, .folded = graph->other_messages};
    if (ARRAY_FIT(l->present, l->present_capacity, (size_t)ranks + 1) != 0 ||
        ARRAY_FIT(l->edges, l->edge_capacity, graph->count + 1) != 0)
        return -ENOMEM;
    size_t edges = phase_labels_count_graph(l, graph, ranks, figures);
    int code = ranks == 0 ? -EINVAL : communities_update(l->communities, ranks, l->edges, edges);
    return code != 0 ? code : phase_labels_cut(l, ranks, out, figures);
}

void phase_labels_copy_state(struct state_bytes *b, struct phase_labels **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    STATE_NO_ARRAY(b, (*out)->present, (*out)->present_capacity);
    STATE_NO_ARRAY(b, (*out)->edges, (*out)->edge_capacity);
    communities_copy_state(b, &(*out)->communities);
}
