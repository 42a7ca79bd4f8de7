/* Dendrogram of communities, from scratch or from the one of the graph before. */
#include "daemon/analysis/communities/communities.h"

#include "daemon/analysis/communities/community_moving.h"
#include "daemon/analysis/communities/community_tree.h"
#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE COMMUNITIES_NONE
#define MAXIMUM_ROUNDS 8u /* of moving at all levels; two to four are usual */
#define MINIMUM_GAIN 1e-4 /* of modularity, for another round */
#define EQUAL 1e-12       /* modularities that are so close are equal */

/* All that an update makes. */
struct result {
    struct community_graph graph;
    struct community_tree tree;
    uint32_t *label;                  /* owned; that partition */
    struct communities_merge *merges; /* owned; as many as the tree has */
    double singles;                   /* modularity of level 0 */
    uint32_t best;
};

struct communities {
    struct communities_params params;
    struct communities_edge
        *edges; /* owned: edges of the last update, and the sum of their weights */
    size_t edge_count, edge_capacity;
    double weight;
    enum communities_start started;
    double drift; /* share of the weight that changed since the last cold start */
    struct result result;
};

static void result_finish(struct result *r)
{
    community_graph_finish(&r->graph);
    community_tree_finish(&r->tree);
    free(r->label);
    free(r->merges);
    *r = (struct result){0};
}

int communities_create(struct communities **out, const struct communities_params *params)
{
    if (params->most_vertices > COMMUNITIES_MAXIMUM_VERTICES ||
        params->most_edges > COMMUNITIES_MAXIMUM_EDGES ||
        !(params->restart >= 0 && params->restart <= 1))
        return -HOLTER_ERANGE;
    struct communities *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->params = *params;
    *out = c;
    return 0;
}

void communities_destroy(struct communities *communities)
{
    if (communities == NULL)
        return;
    result_finish(&communities->result);
    free(communities->edges);
    free(communities);
}

/* ---- the partition ------------------------------------------------------------- */

/* Move at all levels until that gains little. @return modularity, or a negative error below -1 */
static double communities_improve(const struct community_graph *g, uint32_t *label)
{
    double before = community_quality(g, label);
    for (uint32_t round = 0; round < MAXIMUM_ROUNDS; round++) {
        int64_t count = community_optimise(g, label);
        double now = count < 0 ? 0 : community_quality(g, label);
        if (count < 0)
            return (double)count;
        bool little = !(now > before + MINIMUM_GAIN);
        before = now;
        if (little)
            break;
    }
    return before;
}

/* The best level of the plain greedy dendrogram. */
static int communities_merge_greedily(const struct community_graph *g, uint32_t *label)
{
    struct community_tree tree;
    double now = 0, best = 0;
    uint32_t merges = 0;
    int rc = community_tree_init(&tree, g);
    if (rc != 0)
        return rc;
    for (uint32_t v = 0; v < g->vertices; v++)
        label[v] = v;
    rc = community_tree_grow(&tree, g, COMMUNITY_BY_GAIN, NULL, label);
    for (uint32_t i = 0; i < tree.count; i++) {
        const struct community_join *j = &tree.join[i];
        now += community_gain(j->between, j->left_strength, j->right_strength, tree.per_total) - 1;
        merges = now > best + EQUAL ? i + 1 : merges;
        best = now > best + EQUAL ? now : best;
    }
    for (uint32_t v = 0; v < g->vertices; v++)
        label[v] = v;
    for (uint32_t i = 0; i < merges; i++)
        label[tree.low[tree.join[i].right]] = tree.low[tree.join[i].left];
    for (uint32_t v = 0; v < g->vertices; v++) /* whom it merged into is below it: is a root's */
        label[v] = label[label[v]];
    community_tree_finish(&tree);
    return rc;
}

/* The better of what moving makes of the greedy partition and of single vertices. Each is misled
 * where the other is not: regular grids, random graphs. */
static int communities_find_partition(const struct community_graph *g, uint32_t *label)
{
    uint32_t *other = malloc(((size_t)g->vertices + 1) * sizeof(*other));
    int rc = other == NULL ? -ENOMEM : communities_merge_greedily(g, label);
    for (uint32_t v = 0; rc == 0 && v < g->vertices; v++)
        other[v] = v;
    double one = rc == 0 ? communities_improve(g, label) : rc,
           two = one < -1 ? one : communities_improve(g, other);
    if (one >= -1 && two > one + EQUAL)
        memcpy(label, other, g->vertices * sizeof(*label));
    free(other);
    return two < -1 ? -ENOMEM : 0;
}

/* ---- the dendrogram ------------------------------------------------------------ */

/* Number the clusters that the merges so far made. @param node  in: of each vertex; out: of each
 * cluster @param part  set: of each vertex, the number of its cluster @return how many */
static int64_t communities_number_clusters(const struct community_tree *tree, uint32_t *node,
                                           uint32_t *part)
{
    uint32_t *number = malloc((2 * (size_t)tree->leaves + 1) * sizeof(*number)), count = 0;
    if (number == NULL)
        return -ENOMEM;
    memset(number, 0xff, 2 * (size_t)tree->leaves * sizeof(*number));
    for (uint32_t v = 0; v < tree->leaves; v++) {
        uint32_t cluster = node[v];
        if (number[cluster] == NONE) {
            node[count] = cluster; /* count is at most v: that element was read already */
            number[cluster] = count++;
        }
        part[v] = number[cluster];
    }
    free(number);
    return count;
}

/* Merge within the communities of the partition, then these: each is one vertex of a contracted
 * graph. */
static int communities_grow_tree(struct result *r, uint32_t *node)
{
    struct community_graph top;
    for (uint32_t v = 0; v < r->graph.vertices; v++)
        node[v] = v;
    int rc = community_tree_grow(&r->tree, &r->graph, COMMUNITY_BY_RESOLUTION, r->label, node);
    if (rc != 0)
        return rc;
    const uint32_t within = r->tree.count;
    const int64_t count = communities_number_clusters(&r->tree, node, r->label);
    rc = count < 0 ? (int)count
                   : community_graph_contract(&top, &r->graph, r->label, (uint32_t)count);
    if (rc != 0)
        return rc;
    rc = community_tree_grow(&r->tree, &top, COMMUNITY_BY_GAIN, NULL, node);
    community_graph_finish(&top);
    return rc == 0 ? community_tree_order(&r->tree, within) : rc;
}

static int communities_make_tree(struct result *r)
{
    uint32_t *node = malloc(((size_t)r->graph.vertices + 1) * sizeof(*node));
    int rc = node == NULL ? -ENOMEM : community_tree_init(&r->tree, &r->graph);
    rc = rc == 0 ? communities_grow_tree(r, node) : rc;
    free(node);
    return rc;
}

/* What users see of the tree. */
static int communities_list_merges(struct result *r)
{
    const struct community_tree *t = &r->tree;
    uint32_t *size = malloc(((size_t)t->leaves + t->count + 1) * sizeof(*size));
    r->merges = malloc(((size_t)t->count + 1) * sizeof(*r->merges));
    if (size == NULL || r->merges == NULL) {
        free(size);
        return -ENOMEM;
    }
    for (uint32_t v = 0; v < t->leaves; v++) {
        double share = r->graph.strength[v] * t->per_total;
        r->singles += r->graph.loops[v] * t->per_total - share * share;
        size[v] = 1;
    }
    double modularity = r->singles, best = r->singles;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct community_join *j = &t->join[i];
        size[t->leaves + i] = size[j->left] + size[j->right];
        modularity += 2 * (j->between * t->per_total -
                           j->left_strength * t->per_total * (j->right_strength * t->per_total));
        r->merges[i] = (struct communities_merge){t->low[j->left], t->low[j->right],
                                                  size[t->leaves + i], modularity};
        if (modularity > best + EQUAL) {
            best = modularity;
            r->best = i + 1;
        }
    }
    free(size);
    return 0;
}

/* ---- updates ------------------------------------------------------------------- */

enum made { MADE, SAME };

/* @return enum made, or -ENOMEM */
static int communities_make_result(struct communities *c, struct result *r)
{
    const struct result *before = &c->result;
    bool comparable = before->graph.vertices == r->graph.vertices && r->graph.vertices > 0;
    bool *touched = malloc(((size_t)r->graph.vertices + 1) * sizeof(*touched));
    r->label = malloc(((size_t)r->graph.vertices + 1) * sizeof(*r->label));
    if (touched == NULL || r->label == NULL) {
        free(touched);
        return -ENOMEM;
    }
    double changed = comparable ? community_graph_compare(&before->graph, &r->graph, touched) : 0;
    double drift = c->drift + (changed > 0 ? changed / r->graph.total : 0);
    bool warm = comparable && drift <= c->params.restart; /* false where the total is 0 */
    int rc = comparable && changed == 0 ? SAME : MADE;
    if (rc == 0 && warm) { /* from the partition before, beginning at what is touched */
        memcpy(r->label, before->label, r->graph.vertices * sizeof(*r->label));
        rc = community_move(&r->graph, r->label, touched);
    } else if (rc == 0) {
        rc = communities_find_partition(&r->graph, r->label);
    }
    if (rc == 0)
        rc = communities_make_tree(r);
    if (rc == 0)
        rc = communities_list_merges(r);
    if (rc == 0) {
        c->started = warm ? COMMUNITIES_WARM : COMMUNITIES_COLD;
        c->drift = warm ? drift : 0;
    }
    free(touched);
    return rc;
}

static double communities_sum_weights(const struct communities_edge *edges, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += edges[i].weight;
    return sum;
}

/* Is this the graph of before, but for one factor in all weights, which changes no modularity?
 * Phases of a job that repeats itself are so, of more and fewer repetitions. */
static bool communities_is_multiple(const struct communities *c, uint32_t vertices,
                                    const struct communities_edge *edges, size_t count)
{
    if (count == 0 || count != c->edge_count || vertices != c->result.graph.vertices)
        return false;
    double factor = communities_sum_weights(edges, count) / c->weight;
    for (size_t i = 0; i < count; i++) {
        const struct communities_edge *e = &edges[i], *before = &c->edges[i];
        double difference = e->weight - before->weight * factor;
        if (e->a != before->a || e->b != before->b || !(e->weight >= COMMUNITIES_MINIMUM_WEIGHT) ||
            !(e->weight <= COMMUNITIES_MAXIMUM_WEIGHT) || !(fabs(difference) <= EQUAL * e->weight))
            return false;
    }
    return true;
}

/* Stores the edges for the next warm start. Without memory the next graph has none. */
static void communities_store_edges(struct communities *c, const struct communities_edge *edges,
                                    size_t count)
{
    c->edge_count = 0;
    if (count == 0 || ARRAY_FIT(c->edges, c->edge_capacity, count) != 0)
        return;
    memcpy(c->edges, edges, count * sizeof(*edges));
    c->edge_count = count;
    c->weight = communities_sum_weights(edges, count);
}

int communities_update(struct communities *c, uint32_t vertices,
                       const struct communities_edge *edges, size_t count)
{
    struct result result = {0};
    if (vertices > c->params.most_vertices || count > c->params.most_edges)
        return -HOLTER_ELIMIT;
    if (communities_is_multiple(c, vertices, edges, count)) {
        c->started = COMMUNITIES_SAME;
        return 0;
    }
    int rc = community_graph_build(&result.graph, vertices, edges, count);
    rc = rc == 0 ? communities_make_result(c, &result) : rc;
    if (rc == 0) {
        result_finish(&c->result);
        c->result = result;
        communities_store_edges(c, edges, count);
        return 0;
    }
    result_finish(&result);
    if (rc != SAME)
        return rc;
    c->started = COMMUNITIES_SAME;
    return 0;
}

/* ---- results ------------------------------------------------------------------- */

enum communities_start communities_started(const struct communities *c)
{
    return c->started;
}

const struct communities_merge *communities_merges(const struct communities *c, uint32_t *count)
{
    *count = c->result.tree.count;
    return c->result.merges;
}

double communities_modularity(const struct communities *c, uint32_t level)
{
    const struct result *r = &c->result;
    uint32_t last = level < r->tree.count ? level : r->tree.count;
    return last == 0 ? r->singles : r->merges[last - 1].modularity;
}

uint32_t communities_best(const struct communities *c)
{
    return c->result.best;
}

double communities_floor(uint32_t ranks, uint64_t messages)
{
    double chance = messages > 0 ? sqrt((double)ranks / (2 * (double)messages)) : 0;
    return fmin(fmax(chance, COMMUNITIES_FLOOR), 3 * COMMUNITIES_FLOOR);
}

int communities_cut(const struct communities *c, uint32_t count, uint32_t *labels)
{
    uint32_t vertices = c->result.graph.vertices, next = 0;
    if (count > vertices || count < vertices - c->result.tree.count)
        return -HOLTER_ERANGE;
    for (uint32_t v = 0; v < vertices; v++)
        labels[v] = v;
    for (uint32_t i = 0; i < vertices - count; i++)
        labels[c->result.merges[i].b] = c->result.merges[i].a;
    for (uint32_t v = 0; v < vertices; v++) /* whom it merged into is below it: has its label */
        labels[v] = labels[v] == v ? next++ : labels[labels[v]];
    return 0;
}

/* ---- state --------------------------------------------------------------------- */

static void result_copy_state(struct state_bytes *b, struct result *r)
{
    struct community_graph *g = &r->graph;
    struct community_tree *t = &r->tree;
    const size_t vertices = g->vertices, nodes = (size_t)t->leaves + t->count;
    STATE_ARRAY(b, g->first, vertices + 1, vertices + 2);
    const size_t links = g->first == NULL ? 0 : g->first[vertices];
    STATE_ARRAY(b, g->to, links, links + 1);
    STATE_ARRAY(b, g->weight, links, links + 1);
    STATE_ARRAY(b, g->loops, vertices, vertices + 1);
    STATE_ARRAY(b, g->strength, vertices, vertices + 1);
    STATE_ARRAY(b, t->join, t->count, (size_t)t->leaves + 1);
    STATE_ARRAY(b, t->low, nodes, 2 * (size_t)t->leaves + 1);
    STATE_ARRAY(b, r->label, vertices, vertices + 1);
    STATE_ARRAY(b, r->merges, t->count, (size_t)t->count + 1);
}

void communities_copy_state(struct state_bytes *b, struct communities **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    STATE_ARRAY(b, (*out)->edges, (*out)->edge_count, (*out)->edge_capacity);
    result_copy_state(b, &(*out)->result);
}
