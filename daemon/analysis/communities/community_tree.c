/* The merges of a dendrogram and their order. */
#include "daemon/analysis/communities/community_tree.h"

#include <errno.h>
#include <stdlib.h>

int community_tree_init(struct community_tree *tree, const struct community_graph *graph)
{
    size_t leaves = graph->vertices;
    *tree = (struct community_tree){.leaves = graph->vertices,
                                    .join = malloc((leaves + 1) * sizeof(*tree->join)),
                                    .low = malloc((2 * leaves + 1) * sizeof(*tree->low)),
                                    .per_total = graph->total > 0 ? 1 / graph->total : 0};
    if (tree->join == NULL || tree->low == NULL) {
        community_tree_finish(tree);
        return -ENOMEM;
    }
    for (uint32_t v = 0; v < leaves; v++)
        tree->low[v] = v;
    return 0;
}

void community_tree_finish(struct community_tree *tree)
{
    free(tree->join);
    free(tree->low);
    *tree = (struct community_tree){0};
}

uint32_t community_tree_join(struct community_tree *tree, const struct community_join *join)
{
    uint32_t node = tree->leaves + tree->count;
    struct community_join *to = &tree->join[tree->count++];
    *to = *join;
    if (tree->low[to->right] < tree->low[to->left]) {
        to->left = join->right;
        to->right = join->left;
        to->left_strength = join->right_strength;
        to->right_strength = join->left_strength;
    }
    tree->low[node] = tree->low[to->left];
    return node;
}

/* ---- order --------------------------------------------------------------------- */

struct place {
    double key;
    uint32_t merge;
};

/* Highest keys first; equal ones keep their order. */
static int community_tree_compare(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->merge < b->merge ? -1 : a->merge > b->merge;
}

/* A merge's key is at most those of the merges that made its clusters: it cannot come before. */
static void community_tree_set_keys(const struct community_tree *tree, struct place *places,
                                    uint32_t within)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct community_join *j = &tree->join[i];
        uint32_t begin = tree->leaves + (i < within ? 0 : within);
        double key =
            community_score(i < within ? COMMUNITY_BY_RESOLUTION : COMMUNITY_BY_GAIN, j->between,
                            j->left_strength, j->right_strength, tree->per_total);
        if (j->left >= begin && places[j->left - tree->leaves].key < key)
            key = places[j->left - tree->leaves].key;
        if (j->right >= begin && places[j->right - tree->leaves].key < key)
            key = places[j->right - tree->leaves].key;
        places[i] = (struct place){key, i};
    }
}

static void community_tree_renumber(struct community_tree *tree, const struct place *places,
                                    struct community_join *join, uint32_t *place_of)
{
    for (uint32_t i = 0; i < tree->count; i++)
        place_of[places[i].merge] = i;
    for (uint32_t i = 0; i < tree->count; i++) {
        struct community_join *j = &join[i];
        *j = tree->join[places[i].merge];
        if (j->left >= tree->leaves)
            j->left = tree->leaves + place_of[j->left - tree->leaves];
        if (j->right >= tree->leaves)
            j->right = tree->leaves + place_of[j->right - tree->leaves];
    }
    for (uint32_t i = 0; i < tree->count; i++)
        tree->low[tree->leaves + i] = tree->low[join[i].left];
}

int community_tree_order(struct community_tree *tree, uint32_t within)
{
    size_t capacity = (size_t)tree->count + 1;
    struct place *places = malloc(capacity * sizeof(*places));
    struct community_join *join = malloc(((size_t)tree->leaves + 1) * sizeof(*join));
    uint32_t *place_of = malloc(capacity * sizeof(*place_of));
    bool ok = places != NULL && join != NULL && place_of != NULL;
    if (ok) {
        community_tree_set_keys(tree, places, within);
        qsort(places, within, sizeof(*places), community_tree_compare);
        qsort(places + within, tree->count - within, sizeof(*places), community_tree_compare);
        community_tree_renumber(tree, places, join, place_of);
        free(tree->join);
        tree->join = join;
        join = NULL;
    }
    free(places);
    free(join);
    free(place_of);
    return ok ? 0 : -ENOMEM;
}
