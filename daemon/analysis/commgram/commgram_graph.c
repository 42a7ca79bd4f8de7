/* The graph of one phase in a picture, and its dendrogram. */
#include "daemon/analysis/commgram/commgram_graph.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/saturate.h"
#include "holter/error.h"
#include "holter/message_key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int commgram_graph_init(struct commgram_graph *g, const struct commgram_params *params)
{
    const struct communities_params p = {
        .most_vertices = params->ranks,
        .most_edges = COMMGRAM_MAXIMUM_EDGES,
        .restart = 0}; /* never start from a previous result: see the head of commgram.h */
    *g = (struct commgram_graph){
        .ranks = params->ranks, .modelled = params->modelled, .cache = params->cache};
    int rc = communities_create(&g->communities, &p);
    if (rc != 0)
        return rc;
    g->active = malloc(params->ranks * sizeof(*g->active));
    g->merges = malloc(params->ranks * sizeof(*g->merges));
    return g->active == NULL || g->merges == NULL ? -ENOMEM : 0;
}

void commgram_graph_finish(struct commgram_graph *g)
{
    communities_destroy(g->communities);
    free(g->active);
    free(g->edges);
    free(g->merges);
}

static int commgram_graph_copy_edges(struct commgram_graph *g, const struct phase_edge *edges,
                                     size_t count)
{
    if (count > COMMGRAM_MAXIMUM_EDGES)
        return -HOLTER_ELIMIT;
    if (ARRAY_FIT(g->edges, g->capacity, count) != 0)
        return -ENOMEM;
    memset(g->active, 0, g->ranks * sizeof(*g->active));
    g->count = 0;
    g->active_count = 0;
    g->messages = 0;
    for (size_t i = 0; i < count; i++) {
        const struct phase_edge *e = &edges[i];
        if (!commgram_graph_has(g, e) || (e->modelled != 0 && !g->modelled))
            continue;
        g->active_count += !g->active[e->source];
        g->active[e->source] = true;
        g->active_count += !g->active[e->destination];
        g->active[e->destination] = true;
        if (e->source == e->destination)
            continue;
        g->messages = saturated_sum(g->messages, e->messages);
        g->edges[g->count++] = (struct communities_edge){e->source, e->destination,
                                                         (double)e->messages + (double)e->bytes};
    }
    return 0;
}

static struct commgram_key commgram_graph_key_of(const struct commgram_graph *g)
{
    struct commgram_key key = {message_key_mix(g->ranks), message_key_mix(~(uint64_t)g->count)};
    for (size_t i = 0; i < g->count; i++) {
        const struct communities_edge *e = &g->edges[i];
        uint64_t ends = (uint64_t)e->a << 32 | e->b, weight;
        memcpy(&weight, &e->weight, sizeof(weight));
        uint64_t edge = message_key_mix(ends + UINT64_C(0x9e3779b97f4a7c15)) + weight;
        key.high = message_key_mix(key.high ^ edge);
        key.low = message_key_mix(key.low + edge * UINT64_C(0xd6e8feb86659fd93));
    }
    return key;
}

/* Computes the dendrogram of the graph, in memory of the graph. */
static int commgram_graph_find_merges(struct commgram_graph *g)
{
    struct commgram_key key = {0, 0};
    struct commgram_dendrogram known;
    if (g->cache != NULL) {
        key = commgram_graph_key_of(g);
        if (commgram_cache_get(g->cache, &key, &known) && known.count < g->ranks) {
            memcpy(g->merges, known.merges, known.count * sizeof(*known.merges));
            g->merge_count = known.count;
            g->best = known.best;
            g->modularity = known.modularity;
            g->cached++;
            return 0;
        }
    }
    int rc = communities_update(g->communities, g->ranks, g->edges, g->count);
    if (rc != 0)
        return rc;
    const struct communities_merge *merges = communities_merges(g->communities, &g->merge_count);
    for (uint32_t i = 0; i < g->merge_count; i++)
        g->merges[i] = (struct commgram_merge){merges[i].a, merges[i].b};
    g->best = communities_best(g->communities);
    g->modularity = communities_modularity(g->communities, g->best);
    known = (struct commgram_dendrogram){g->merges, g->merge_count, g->best, g->modularity};
    if (g->cache != NULL)
        commgram_cache_put(g->cache, &key, &known);
    return 0;
}

/* Labels of a graph that is one community. */
static uint32_t commgram_graph_join_all(const struct commgram_graph *g, uint32_t *labels)
{
    for (uint32_t r = 0; r < g->ranks; r++)
        labels[r] = g->active[r] ? 0 : COMMGRAM_ABSENT;
    return g->active_count > 0;
}

static struct commgram_tree commgram_graph_tree(const struct commgram_graph *g)
{
    return (struct commgram_tree){g->ranks, g->active, g->merges, g->merge_count};
}

int commgram_graph_read(struct commgram_graph *g, const struct phase_edge *edges, size_t count,
                        struct commgram_parts *out)
{
    int rc = commgram_graph_copy_edges(g, edges, count);
    rc = rc == 0 ? commgram_graph_find_merges(g) : rc;
    if (rc != 0)
        return rc;
    const struct commgram_tree tree = commgram_graph_tree(g);
    uint32_t communities = g->active_count > g->best ? g->active_count - g->best : 1;
    rc = commgram_cut(&tree, communities, out->labels, &out->count);
    out->modularity = g->modularity;
    if (rc == 0 && out->modularity < communities_floor(g->active_count, g->messages)) {
        out->count = commgram_graph_join_all(g, out->labels);
        out->modularity = 0;
    }
    return rc;
}

int commgram_graph_cut(const struct commgram_graph *g, const struct commgram_parts *found,
                       uint32_t communities, uint32_t *labels, uint32_t *label_count)
{
    const struct commgram_tree tree = commgram_graph_tree(g);
    if (found->count > 1 || communities >= g->active_count)
        return commgram_cut(&tree, communities, labels, label_count);
    *label_count = commgram_graph_join_all(g, labels);
    return 0;
}
