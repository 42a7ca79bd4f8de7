/* Agglomeration: merges of neighbouring clusters, the best first. */
#include "daemon/analysis/communities/community_tree.h"

#include "daemon/analysis/tables/arena.h"
#include "daemon/analysis/tables/disjoint_sets.h"
#include "daemon/analysis/tables/heap.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX
/* Looks at links after which merging goes on in rounds, for each link and vertex there is. A star
 * of n vertices would take n/4 without. */
#define MAXIMUM_LOOKS 128u

struct link {
    double weight;
    uint32_t to; /* a cluster, or one that has since merged into it: see disjoint_find_root() */
};

/* Vertices, then merges: a cluster does not change. A pair of clusters is looked after by the later
 * of the two, which is the reason that it had to look around anyway. */
struct cluster {
    double strength;
    double between;     /* to the best */
    uint32_t best;      /* of those that were there before; NONE: none left */
    uint32_t node, low; /* in the tree; its lowest vertex */
    uint32_t next;      /* the next of those that became one cluster and whose links are not one
                           list yet; NONE: the last */
    uint32_t last;      /* of these */
    uint32_t count;
    bool owns;          /* the links; a vertex's first ones are its row */
    struct link *links; /* to all others; none: see next */
};

/* A cluster and its best, by the lowest vertices of the two. */
struct candidate {
    double score;
    uint32_t low, high, owner;
};

struct growth {
    struct community_tree *tree;
    enum community_by by;
    uint32_t vertices, count; /* clusters from the graph; with those that merged */
    struct arena memory;      /* of all arrays, with room for twice the vertices */
    struct cluster *clusters;
    uint32_t *parent;       /* itself, or the cluster that it merged into */
    double *sum;            /* zero between searches */
    uint32_t *seen;         /* clusters that have a sum */
    struct link *rows;      /* the vertices' links */
    struct candidate *heap; /* the best is first; owners may have merged since */
    uint32_t waiting;       /* in the heap */
    uint64_t looks;         /* links that may still be examined */
};

static bool community_grow_is_before(const struct candidate *a, const struct candidate *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    if (a->low != b->low)
        return a->low < b->low;
    return a->high != b->high ? a->high < b->high : a->owner < b->owner;
}

static struct candidate make_candidate(const struct growth *g, uint32_t owner, uint32_t other,
                                       double between)
{
    const struct cluster *a = &g->clusters[owner], *b = &g->clusters[other];
    return (struct candidate){
        .score = community_score(g->by, between, a->strength, b->strength, g->tree->per_total),
        .low = a->low < b->low ? a->low : b->low,
        .high = a->low < b->low ? b->low : a->low,
        .owner = owner};
}

/* The best of the links whose clusters are still what they were. @return false: none is */
static bool find_best(struct growth *g, uint32_t self, struct candidate *best)
{
    struct cluster *c = &g->clusters[self];
    const struct cluster *clusters = g->clusters;
    const struct link *end = c->links + c->count;
    const uint32_t *parent = g->parent;
    const double strength = c->strength, per_total = g->tree->per_total;
    const enum community_by by = g->by;
    double maximum = -INFINITY;
    c->best = NONE;
    for (const struct link *link = c->links; link < end; link++) {
        uint32_t to = link->to;
        if (parent[to] != to)
            continue;
        /* The rest is compared only for candidates that are not worse. */
        if (community_score(by, link->weight, strength, clusters[to].strength, per_total) < maximum)
            continue;
        struct candidate one = make_candidate(g, self, to, link->weight);
        if (c->best != NONE && !community_grow_is_before(&one, best))
            continue;
        *best = one;
        maximum = one.score;
        c->best = to;
        c->between = link->weight;
    }
    g->looks -= c->count < g->looks ? c->count : g->looks;
    return c->best != NONE;
}

static void free_links(struct cluster *c)
{
    if (c->owns)
        free(c->links);
    c->links = NULL;
    c->owns = false;
    c->count = 0;
}

/* Make one list of the links of all that the cluster consists of. @return 0 or -ENOMEM */
static int community_grow_gather(struct growth *g, uint32_t self)
{
    struct cluster *c = &g->clusters[self];
    double *sum = g->sum;
    uint32_t seen = 0, *list = g->seen;
    for (uint32_t part = self; part != NONE; part = g->clusters[part].next) {
        const struct cluster *p = &g->clusters[part];
        g->looks -= p->count < g->looks ? p->count : g->looks;
        for (const struct link *link = p->links, *end = link + p->count; link < end; link++) {
            uint32_t to = g->parent[link->to] == link->to ? link->to
                                                          : disjoint_find_root(g->parent, link->to);
            if (to == self)
                continue;
            list[seen] = to;
            seen += sum[to] == 0;
            sum[to] += link->weight;
        }
    }
    struct link *links = malloc(((size_t)seen + 1) * sizeof(*links));
    for (uint32_t i = 0; i < seen; i++) {
        if (links != NULL)
            links[i] = (struct link){sum[list[i]], list[i]};
        sum[list[i]] = 0;
    }
    if (links == NULL)
        return -ENOMEM;
    for (uint32_t part = self, next; part != NONE; part = next) {
        struct cluster *p = &g->clusters[part];
        next = p->next;
        free_links(p);
        p->next = NONE;
    }
    c->links = links;
    c->owns = true;
    c->count = seen;
    c->last = self;
    return 0;
}

/* One cluster of two, its links not gathered yet. @return the cluster */
static uint32_t community_grow_join(struct growth *g, uint32_t a, uint32_t b, double between)
{
    uint32_t self = g->count++;
    struct cluster *left = &g->clusters[a], *right = &g->clusters[b], *c = &g->clusters[self];
    const struct community_join merge = {left->node, right->node, between, left->strength,
                                         right->strength};
    *c = (struct cluster){.strength = left->strength + right->strength,
                          .best = NONE,
                          .node = community_tree_join(g->tree, &merge),
                          .low = left->low < right->low ? left->low : right->low,
                          .next = a,
                          .last = right->last};
    g->clusters[left->last].next = b;
    g->parent[a] = g->parent[b] = g->parent[self] = self;
    return self;
}

/* ---- one merge after the other ------------------------------------------------- */

HEAP(candidate_heap, struct candidate, community_grow_is_before)

static void community_grow_pop(struct growth *g)
{
    g->waiting--;
    candidate_heap_sink(g->heap, g->waiting, 0, g->heap[g->waiting]);
}

/* Merge the best pair, or find that what was best is no more. @return 0 or -ENOMEM */
static int community_grow_step(struct growth *g)
{
    uint32_t owner = g->heap[0].owner;
    if (g->parent[owner] != owner) {
        community_grow_pop(g);
        return 0;
    }
    uint32_t best = g->clusters[owner].best;
    if (g->parent[best] == best) {
        owner = community_grow_join(g, owner, best, g->clusters[owner].between);
        if (community_grow_gather(g, owner) != 0)
            return -ENOMEM;
    }
    /* Entries of the owner only become worse: its new best one sinks from the top. */
    if (find_best(g, owner, &g->heap[0]))
        candidate_heap_sink(g->heap, g->waiting, 0, g->heap[0]);
    else
        community_grow_pop(g);
    return 0;
}

static int grow_greedily(struct growth *g)
{
    int rc = 0;
    for (uint32_t v = 0; v < g->vertices; v++)
        g->waiting += find_best(g, v, &g->heap[g->waiting]);
    for (uint32_t i = g->waiting / 2; i-- > 0;)
        candidate_heap_sink(g->heap, g->waiting, i, g->heap[i]);
    while (rc == 0 && g->waiting > 0 && g->looks > 0)
        rc = community_grow_step(g);
    return rc;
}

/* ---- in rounds ----------------------------------------------------------------- */

ORDER_FUNCTION(compare_candidates, struct candidate,
               community_grow_is_before(a, b) ? -1 : community_grow_is_before(b, a))

/* Each cluster with its best of all. @return 0 or -ENOMEM */
static int community_grow_propose(struct growth *g)
{
    int rc = 0;
    g->waiting = 0;
    for (uint32_t i = 0; rc == 0 && i < g->count; i++) {
        if (g->parent[i] != i)
            continue;
        rc = community_grow_gather(g, i);
        g->waiting += rc == 0 && find_best(g, i, &g->heap[g->waiting]);
    }
    qsort(g->heap, g->waiting, sizeof(*g->heap), compare_candidates);
    return rc;
}

/* Who has not merged yet in this round joins what its best became: at least half of the clusters go
 * in each round. Its own links are up to date and tell the weight between the two. */
static int grow_in_rounds(struct growth *g)
{
    int rc;
    while ((rc = community_grow_propose(g)) == 0 && g->waiting > 0)
        for (uint32_t i = 0; i < g->waiting; i++) {
            uint32_t owner = g->heap[i].owner;
            if (g->parent[owner] != owner)
                continue;
            const struct cluster *c = &g->clusters[owner];
            uint32_t to = disjoint_find_root(g->parent, c->best);
            double between = 0;
            for (uint32_t j = 0; j < c->count; j++)
                between +=
                    disjoint_find_root(g->parent, c->links[j].to) == to ? c->links[j].weight : 0;
            community_grow_join(g, owner, to, between);
        }
    return rc;
}

/* ---- begin and end ------------------------------------------------------------- */

static int growth_init(struct growth *g, struct community_tree *tree,
                       const struct community_graph *graph)
{
    size_t capacity = 2 * (size_t)graph->vertices + 1, links = graph->first[graph->vertices];
    *g = (struct growth){.tree = tree,
                         .vertices = graph->vertices,
                         .count = graph->vertices,
                         .looks = (links + graph->vertices) * MAXIMUM_LOOKS};
    ARENA_TAKE(&g->memory, g->clusters, capacity);
    ARENA_TAKE(&g->memory, g->parent, capacity);
    ARENA_TAKE(&g->memory, g->sum, capacity);
    ARENA_TAKE(&g->memory, g->seen, capacity); /* written one past the last */
    ARENA_TAKE(&g->memory, g->rows, links + 1);
    ARENA_TAKE(&g->memory, g->heap, capacity);
    return g->memory.failed ? -ENOMEM : 0;
}

static void growth_fill(struct growth *g, const struct community_graph *graph,
                        const uint32_t *group, const uint32_t *node)
{
    struct link *link = g->rows;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        struct cluster *c = &g->clusters[v];
        *c = (struct cluster){.strength = graph->strength[v],
                              .best = NONE,
                              .node = node[v],
                              .low = g->tree->low[node[v]],
                              .next = NONE,
                              .last = v,
                              .links = link};
        g->parent[v] = v;
        for (uint32_t i = graph->first[v]; i < graph->first[v + 1]; i++)
            if (group == NULL || group[graph->to[i]] == group[v])
                *link++ = (struct link){graph->weight[i], graph->to[i]};
        c->count = (uint32_t)(link - c->links);
    }
}

static void growth_finish(struct growth *g, uint32_t filled)
{
    for (uint32_t i = 0; i < filled; i++)
        free_links(&g->clusters[i]);
    arena_finish(&g->memory);
}

int community_tree_grow(struct community_tree *tree, const struct community_graph *graph,
                        enum community_by by, const uint32_t *group, uint32_t *node)
{
    struct growth g;
    int rc = growth_init(&g, tree, graph);
    if (rc != 0) {
        growth_finish(&g, 0);
        return rc;
    }
    g.by = by;
    growth_fill(&g, graph, group, node);
    rc = grow_greedily(&g);
    rc = rc == 0 && g.waiting > 0 ? grow_in_rounds(&g) : rc;
    for (uint32_t v = 0; v < graph->vertices; v++)
        node[v] = g.clusters[disjoint_find_root(g.parent, v)].node;
    growth_finish(&g, g.count);
    return rc;
}
