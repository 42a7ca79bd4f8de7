/* From the graph of a phase to its communities. */
#include "daemon/job/phases/phase_labels.h"

#include "daemon/analysis/communities/communities.h"
#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_CACHED_EDGES (1u << 18) /* edges of a graph that is kept: 8 MiB */
#define PATTERNS 2u

/* A graph, its results, and the communities that continue from it. */
struct known {
    struct communities *communities;
    struct phase_graph graph; /* owned */
    uint32_t *labels;         /* owned; as returned */
    size_t label_capacity;
    uint32_t ranks; /* 0: no graph is kept */
    bool cold;      /* its communities were computed from scratch, and have not changed since */
    bool missed;    /* the last graph was another one with the same communities */
    struct phase_figures figures;
};

struct phase_labels {
    struct known known[PATTERNS];
    uint32_t now;  /* position of the graph of the last phase */
    bool *present; /* buffer; of the current graph */
    size_t present_capacity;
    struct communities_edge *edges;
    size_t edge_capacity;
};

static int phase_labels_create_communities(struct communities **out)
{
    struct communities_params params = COMMUNITIES_DEFAULTS;
    params.most_vertices = PHASE_LABELS_RANKS;
    return communities_create(out, &params);
}

int phase_labels_create(struct phase_labels **out)
{
    struct phase_labels *l = calloc(1, sizeof(*l));
    int code = l == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; code == 0 && i < PATTERNS; i++)
        code = phase_labels_create_communities(&l->known[i].communities);
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
    for (uint32_t i = 0; i < PATTERNS; i++) {
        communities_destroy(l->known[i].communities);
        phase_graph_finish(&l->known[i].graph);
        free(l->known[i].labels);
    }
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
        if (same)
            l->edges[count - 1].weight += weight;
        else
            l->edges[count++] = (struct communities_edge){e->source, e->destination, weight};
    }
    return count;
}

/* Labels of the ranks that communicate, at the greatest modularity; all are one community where
 * that is below the floor. */
static int phase_labels_cut(const struct communities *c, const bool *present, uint32_t ranks,
                            uint32_t *labels, struct phase_figures *figures)
{
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
    double floor =
        communities_floor((uint32_t)figures->ranks, figures->messages + figures->modelled);
    bool one = figures->communities > 0 && figures->modularity < floor;
    if (one) {
        figures->communities = 1;
        figures->modularity = 0;
    }
    for (uint32_t i = 0; i < ranks; i++)
        labels[i] = !present[i] ? PHASE_LABELS_ABSENT : one ? 0 : labels[i];
    return 0;
}

static bool phase_labels_equal(const struct known *k, uint32_t ranks,
                               const struct phase_graph *graph)
{
    return k->ranks == ranks && ranks > 0 && phase_graph_is_same(&k->graph, graph);
}

/* Return the results of the graph before, which was the same. */
static void phase_labels_report(struct known *k, const struct phase_graph *graph, uint32_t *labels,
                                struct phase_figures *figures)
{
    *figures = k->figures;
    figures->folded = graph->other_messages;
    k->missed = false;
    /* The next graph will share its edges with this one rather than with an older one. Without
     * memory rows are compared. */
    phase_graph_share(&k->graph, graph);
    memcpy(labels, k->labels, k->ranks * sizeof(*labels));
}

/* Keep a graph and its results. Without memory the next graph is analysed, whatever it is. */
static void phase_labels_keep(struct known *k, uint32_t ranks, const struct phase_graph *graph,
                              const uint32_t *labels, const struct phase_figures *figures)
{
    k->ranks = 0;
    if (graph->count > MAXIMUM_CACHED_EDGES ||
        array_fit(&k->labels, sizeof(*k->labels), &k->label_capacity, ranks) != 0 ||
        phase_graph_share(&k->graph, graph) != 0)
        return;
    memcpy(k->labels, labels, ranks * sizeof(*labels));
    k->ranks = ranks;
    k->figures = *figures;
}

/* Compute communities from scratch for a graph unlike the last, in place of the pattern that was
 * not seen for longer. */
static int phase_labels_begin(struct phase_labels *l, uint32_t ranks, size_t count, bool keeps)
{
    struct communities *fresh;
    if (!keeps)
        return communities_update(l->known[l->now].communities, ranks, l->edges, count);
    int code = phase_labels_create_communities(&fresh);
    if (code != 0)
        return code;
    code = communities_update(fresh, ranks, l->edges, count);
    if (code != 0) {
        communities_destroy(fresh);
        return code;
    }
    l->now = 1 - l->now;
    communities_destroy(l->known[l->now].communities);
    l->known[l->now].communities = fresh;
    return 0;
}

/* Keep a graph whose communities have been computed. A graph of which this one is a multiple stays
 * once in its place: a job may have one step in one window and two in the next. */
static void phase_labels_note(struct known *k, uint32_t ranks, const struct phase_graph *graph,
                              const uint32_t *labels, const struct phase_figures *figures)
{
    enum communities_start start = communities_started(k->communities);
    bool stays = start == COMMUNITIES_SAME && k->cold && k->ranks != 0 && !k->missed;
    k->missed = stays;
    if (stays)
        return;
    k->cold = start == COMMUNITIES_COLD;
    phase_labels_keep(k, ranks, graph, labels, figures);
}

int phase_labels_find(struct phase_labels *l, uint32_t ranks, const struct phase_graph *graph,
                      uint32_t *out, struct phase_figures *figures)
{
    struct known *k = &l->known[l->now], *other = &l->known[1 - l->now];
    *figures = (struct phase_figures){.modularity = NAN, .folded = graph->other_messages};
    if (phase_labels_equal(k, ranks, graph)) {
        phase_labels_report(k, graph, out, figures);
        return 0;
    }
    if (array_fit(&l->present, sizeof(*l->present), &l->present_capacity, (size_t)ranks + 1) != 0 ||
        array_fit(&l->edges, sizeof(*l->edges), &l->edge_capacity, graph->count + 1) != 0)
        return -ENOMEM;
    size_t edges = phase_labels_count_graph(l, graph, ranks, figures);
    int code = ranks == 0 ? -EINVAL : 1;
    if (code == 1 && communities_vertices(k->communities) == ranks)
        code = communities_continue(k->communities, ranks, l->edges, edges);
    if (code == 1 && other->cold && phase_labels_equal(other, ranks, graph)) {
        l->now = 1 - l->now; /* the results would be these again */
        phase_labels_report(other, graph, out, figures);
        return 0;
    }
    if (code == 1)
        code = phase_labels_begin(l, ranks, edges, graph->count <= MAXIMUM_CACHED_EDGES);
    k = &l->known[l->now];
    code = code != 0 ? code : phase_labels_cut(k->communities, l->present, ranks, out, figures);
    if (code == 0)
        phase_labels_note(k, ranks, graph, out, figures);
    return code;
}

size_t phase_labels_bytes(const struct phase_labels *l)
{
    size_t bytes = sizeof(*l) + l->present_capacity * sizeof(*l->present) +
                   l->edge_capacity * sizeof(*l->edges);
    for (uint32_t i = 0; i < PATTERNS; i++) {
        const struct known *k = &l->known[i];
        bytes += communities_bytes(k->communities) + phase_graph_bytes(&k->graph) +
                 k->label_capacity * sizeof(*k->labels);
    }
    return bytes;
}
