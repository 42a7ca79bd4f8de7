/* Merges of a dendrogram that are reused from the previous graph. */
#include "daemon/analysis/communities/community_keep.h"

#include "include/holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define MAXIMUM_STEPS 16u /* in trees, for each link and vertex there is */

static int kept_init(struct community_kept *k, uint32_t vertices)
{
    size_t capacity = (size_t)vertices + 1;
    *k = (struct community_kept){.part = malloc(capacity * sizeof(*k->part)),
                                 .group = malloc(capacity * sizeof(*k->group)),
                                 .node = malloc(capacity * sizeof(*k->node))};
    if (k->part != NULL && k->group != NULL && k->node != NULL)
        return 0;
    community_kept_finish(k);
    return -ENOMEM;
}

void community_kept_finish(struct community_kept *k)
{
    free(k->part);
    free(k->group);
    free(k->node);
    *k = (struct community_kept){0};
}

int community_keep_nothing(struct community_kept *out, const uint32_t *label, uint32_t vertices)
{
    if (kept_init(out, vertices) != 0)
        return -ENOMEM;
    out->parts = vertices;
    for (uint32_t v = 0; v < vertices; v++) {
        out->part[v] = out->node[v] = v;
        out->group[v] = label[v];
    }
    return 0;
}

/* Nodes are those of the tree before. */
struct keeping {
    const struct community_past *past;
    const struct community_graph *graph;
    const uint32_t *label;
    uint32_t nodes;
    uint32_t *parent;   /* owned; NONE: a cluster of the partition */
    double *between;    /* owned; of each merge: the weight now, without vertices that moved */
    bool *open;         /* owned; by node: its merges are not reused */
    uint32_t *new_node; /* owned; NONE: not reused */
    double *strength;   /* owned; of each new node */
    uint64_t steps;     /* still allowed */
};

static int keeping_init(struct keeping *k, const struct community_past *past,
                        const struct community_graph *graph, const uint32_t *label)
{
    uint32_t leaves = graph->vertices, nodes = leaves + past->within;
    size_t capacity = (size_t)nodes + 1;
    *k = (struct keeping){
        .past = past,
        .graph = graph,
        .label = label,
        .nodes = nodes,
        .parent = malloc(capacity * sizeof(*k->parent)),
        .between = malloc(capacity * sizeof(*k->between)),
        .open = calloc(capacity, sizeof(*k->open)),
        .new_node = malloc(capacity * sizeof(*k->new_node)),
        .strength = malloc(capacity * sizeof(*k->strength)),
        .steps = ((uint64_t)graph->first[leaves] + leaves) * MAXIMUM_STEPS,
    };
    if (k->parent == NULL || k->between == NULL || k->open == NULL || k->new_node == NULL ||
        k->strength == NULL)
        return -ENOMEM;
    memset(k->parent, 0xff, capacity * sizeof(*k->parent));
    for (uint32_t i = 0; i < past->within; i++) {
        const struct community_join *join = &past->tree->join[i];
        k->parent[join->left] = k->parent[join->right] = leaves + i;
        k->between[i] = join->between;
    }
    return 0;
}

static void keeping_finish(struct keeping *k)
{
    free(k->parent);
    free(k->between);
    free(k->open);
    free(k->new_node);
    free(k->strength);
}

static bool keeping_has_moved(const struct keeping *k, uint32_t v)
{
    return k->label[v] != k->past->label[v];
}

/* The merge that brought two vertices together. Merges come after those that made their clusters:
 * the lower node is the one to climb from. NONE: none did, or too many steps. */
static uint32_t keeping_find_merge(struct keeping *k, uint32_t a, uint32_t b)
{
    while (a != b && k->steps > 0) {
        uint32_t *low = a < b ? &a : &b;
        *low = k->parent[*low];
        k->steps--;
    }
    return a == b && a != NONE ? a - k->graph->vertices : NONE;
}

static void keeping_change_edge(struct keeping *k, uint32_t a, uint32_t b, double before,
                                double now)
{
    if (k->past->label[a] != k->past->label[b])
        return;
    now = keeping_has_moved(k, a) || keeping_has_moved(k, b) ? 0 : now;
    uint32_t merge = now == before ? NONE : keeping_find_merge(k, a, b);
    if (merge != NONE)
        k->between[merge] += now - before;
}

/* Tell each edge that differs once: from its lower end, or from the only one that is touched. */
static void keeping_change_row(struct keeping *k, uint32_t v, const bool *touched)
{
    const struct community_graph *old = k->past->graph, *new = k->graph;
    uint32_t i = old->first[v], i_end = old->first[v + 1];
    uint32_t j = new->first[v], j_end = new->first[v + 1];
    while (i < i_end || j < j_end) {
        uint32_t from = i < i_end ? old->to[i] : NONE, to = j < j_end ? new->to[j] : NONE;
        uint32_t other = from < to ? from : to;
        double before = from == other ? old->weight[i++] : 0;
        double now = to == other ? new->weight[j++] : 0;
        if (v < other || !touched[other])
            keeping_change_edge(k, v, other, before, now);
    }
}

/* One that has moved is to merge with its closest partner, not with all that the partner is in. */
static void keeping_open_partner(struct keeping *k, uint32_t v)
{
    const struct community_graph *g = k->graph;
    uint32_t best = NONE;
    double maximum = 0;
    for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
        uint32_t to = g->to[i];
        if (k->label[to] != k->label[v] || keeping_has_moved(k, to) || !(g->weight[i] > maximum))
            continue;
        best = to;
        maximum = g->weight[i];
    }
    if (best != NONE)
        k->open[best] = true;
}

static void keeping_copy_merges(struct keeping *k, struct community_tree *tree)
{
    uint32_t leaves = k->graph->vertices;
    for (uint32_t v = 0; v < leaves; v++) {
        k->new_node[v] = keeping_has_moved(k, v) ? NONE : v;
        k->strength[v] = k->graph->strength[v];
    }
    for (uint32_t i = 0; i < k->past->within; i++) {
        const struct community_join *old = &k->past->tree->join[i];
        uint32_t left = k->new_node[old->left], right = k->new_node[old->right];
        uint32_t *node = &k->new_node[leaves + i];
        *node = NONE;
        k->open[leaves + i] = k->open[old->left] || k->open[old->right];
        if (k->open[leaves + i])
            continue;
        if (left == NONE || right == NONE) {
            *node = left == NONE ? right : left;
        } else if (k->between[i] < old->between / 2) {
            k->open[leaves + i] = true;
        } else {
            const struct community_join join = {left, right, k->between[i], k->strength[left],
                                                k->strength[right]};
            *node = community_tree_join(tree, &join);
            k->strength[*node] = join.left_strength + join.right_strength;
        }
    }
}

/* From the root down: a reused node that is not inside another reused one becomes a part. */
static void keeping_number_parts(const struct keeping *k, const struct community_tree *tree,
                                 uint32_t *part, struct community_kept *out)
{
    uint32_t leaves = k->graph->vertices;
    memset(part, 0xff, k->nodes * sizeof(*part));
    for (uint32_t i = k->nodes; i-- > 0;) {
        uint32_t node = i < leaves ? i : k->new_node[i];
        bool alone = i < leaves && k->new_node[i] == NONE; /* it has moved */
        if (alone || (part[i] == NONE && node != NONE)) {
            part[i] = out->parts;
            out->node[out->parts] = node;
            out->group[out->parts++] = k->label[tree->low[node]];
        }
        if (i < leaves) {
            out->part[i] = part[i];
            continue;
        }
        const struct community_join *join = &k->past->tree->join[i - leaves];
        part[join->left] = part[join->right] = part[i];
    }
}

int community_keep(struct community_kept *out, struct community_tree *tree,
                   const struct community_past *past, const struct community_graph *graph,
                   const uint32_t *label, const bool *touched)
{
    struct keeping k;
    struct community_kept kept;
    int rc = kept_init(&kept, graph->vertices);
    if (rc != 0)
        return rc;
    rc = keeping_init(&k, past, graph, label);
    uint32_t *part = malloc(((size_t)k.nodes + 1) * sizeof(*part));
    rc = part == NULL ? -ENOMEM : rc;
    for (uint32_t v = 0; rc == 0 && v < graph->vertices; v++) {
        if (touched[v])
            keeping_change_row(&k, v, touched);
        if (keeping_has_moved(&k, v))
            keeping_open_partner(&k, v);
    }
    if (rc == 0 && k.steps == 0)
        rc = -HOLTER_ELIMIT;
    if (rc == 0) {
        keeping_copy_merges(&k, tree);
        keeping_number_parts(&k, tree, part, &kept);
        *out = kept;
    } else {
        community_kept_finish(&kept);
    }
    free(part);
    keeping_finish(&k);
    return rc;
}
