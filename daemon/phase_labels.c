#include "daemon/phase_labels.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/communities.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEPT (1u << 18) /* edges: 8 MiB */

struct phase_labels {
    struct communities *communities;
    /* The last graph and its figures, if its communities are those that are known. */
    struct phase_edge *before; /* owned */
    size_t before_count, before_room;
    uint32_t before_ranks; /* 0: not known */
    struct phase_figures figures;
    bool *present; /* room */
    size_t present_room;
    struct communities_edge *edges;
    size_t edge_room;
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
        free(l);
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
    free(l->before);
    free(l->present);
    free(l->edges);
    free(l);
}

static void count_edge(struct phase_figures *f, const struct phase_edge *e)
{
    uint64_t *messages = e->modelled ? &f->modelled : &f->messages;
    uint64_t *bytes = e->modelled ? &f->modelled_bytes : &f->bytes;
    *messages += e->messages;
    *bytes += e->bytes;
}

/* Sums of a graph; edges of pairs, and which ranks are there, for the communities.
 * @return edges */
static size_t count_graph(struct phase_labels *l, const struct phase_graph *graph, uint32_t ranks,
                          struct phase_figures *figures)
{
    size_t count = 0;
    const struct phase_edge *before = NULL;
    for (uint32_t i = 0; i < ranks; i++)
        l->present[i] = false;
    for (size_t i = 0; i < graph->count; i++) {
        const struct phase_edge *e = &graph->edges[i];
        bool same =
            before != NULL && before->source == e->source && before->destination == e->destination;
        before = e;
        count_edge(figures, e);
        figures->pairs += !same;
        if (e->source >= ranks || e->destination >= ranks)
            continue;
        l->present[e->source] = l->present[e->destination] = true;
        if (e->source == e->destination)
            continue;
        double weight = (double)e->messages + (double)e->bytes;
        if (same)
            l->edges[count - 1].weight += weight;
        else
            l->edges[count++] = (struct communities_edge){e->source, e->destination, weight};
    }
    return count;
}

/* Labels of the ranks that communicate, at the greatest modularity. */
static int cut(struct phase_labels *l, uint32_t ranks, uint32_t *labels,
               struct phase_figures *figures)
{
    uint32_t absent = 0;
    uint32_t best = communities_best(l->communities);
    int code = communities_cut(l->communities, ranks - best, labels);
    if (code != 0)
        return code;
    for (uint32_t i = 0; i < ranks; i++) {
        labels[i] = l->present[i] ? labels[i] : PHASE_LABELS_ABSENT;
        absent += !l->present[i];
    }
    figures->ranks = ranks - absent;
    figures->communities = ranks - best - absent;
    figures->modularity = communities_modularity(l->communities, best);
    return 0;
}

static bool is_same(const struct phase_labels *l, uint32_t ranks, const struct phase_graph *graph)
{
    return l->before_ranks == ranks && l->before_count == graph->count && ranks > 0 &&
           (graph->count == 0 ||
            memcmp(l->before, graph->edges, graph->count * sizeof(*l->before)) == 0);
}

/* Without memory the next graph is looked at, whatever it is. */
static void keep(struct phase_labels *l, uint32_t ranks, const struct phase_graph *graph,
                 const struct phase_figures *figures)
{
    l->before_ranks = 0;
    if (graph->count > KEPT ||
        array_fit(&l->before, sizeof(*l->before), &l->before_room, graph->count) != 0)
        return;
    if (graph->count > 0)
        memcpy(l->before, graph->edges, graph->count * sizeof(*l->before));
    l->before_count = graph->count;
    l->before_ranks = ranks;
    l->figures = *figures;
}

int phase_labels_find(struct phase_labels *l, uint32_t ranks, const struct phase_graph *graph,
                      uint32_t *out, struct phase_figures *figures)
{
    *figures = (struct phase_figures){.modularity = NAN, .folded = graph->other_messages};
    if (is_same(l, ranks, graph)) {
        uint64_t folded = figures->folded;
        *figures = l->figures;
        figures->folded = folded;
        return cut(l, ranks, out, figures);
    }
    if (array_fit(&l->present, sizeof(*l->present), &l->present_room, (size_t)ranks + 1) != 0 ||
        array_fit(&l->edges, sizeof(*l->edges), &l->edge_room, graph->count + 1) != 0)
        return -ENOMEM;
    l->before_ranks = 0;
    size_t edges = count_graph(l, graph, ranks, figures);
    int code = ranks == 0 ? -EINVAL : communities_update(l->communities, ranks, l->edges, edges);
    code = code != 0 ? code : cut(l, ranks, out, figures);
    if (code == 0)
        keep(l, ranks, graph, figures);
    return code;
}

size_t phase_labels_bytes(const struct phase_labels *l)
{
    return sizeof(*l) + communities_bytes(l->communities) + l->present_room * sizeof(*l->present) +
           l->edge_room * sizeof(*l->edges) + l->before_room * sizeof(*l->before);
}
