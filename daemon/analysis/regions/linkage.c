/* Average-linkage clustering by a nearest-neighbour chain: see linkage.h. */
#include "daemon/analysis/regions/linkage.h"

#include "daemon/analysis/tables/arena.h"
#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/disjoint_sets.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUARTERS 4u
#define NONE UINT32_MAX

/* Link of a cluster to another one. */
struct link {
    uint32_t cluster; /* or a cluster that has merged into it since: see disjoint_find_root() */
    uint64_t sum;     /* of the weights (36 R) between both, in quarters */
};

/* The best partner so far. */
struct nearest {
    uint32_t cluster;
    uint32_t size; /* of that cluster, when it was found */
    double height;
};

/* A cluster is named by its lowest vertex. */
struct cluster {
    uint32_t count;         /* links */
    bool chained;           /* is on the chain */
    double height;          /* of the merge that made it; infinite for a vertex */
    struct link *links;     /* owned; NULL: not searched yet, the links are the vertex's row */
    struct nearest nearest; /* as found last; cluster NONE: never */
};

struct linkage {
    uint32_t capacity;
    struct arena memory; /* of all arrays, which are indexed by vertex */
    struct cluster *clusters;
    uint32_t *parent; /* itself, or the cluster that it merged into */
    uint32_t *size;
    uint64_t *sum;   /* zero except while links are gathered */
    uint32_t *seen;  /* clusters whose sum is not zero */
    uint32_t *chain; /* each cluster is the nearest of the one before it */
    uint32_t length;
    const struct correlation *correlation;
    struct linkage_history history;
};

int linkage_create(struct linkage **out)
{
    struct linkage *linkage = calloc(1, sizeof(*linkage));
    if (linkage == NULL)
        return -ENOMEM;
    *out = linkage;
    return 0;
}

void linkage_destroy(struct linkage *linkage)
{
    if (linkage == NULL)
        return;
    arena_finish(&linkage->memory);
    free(linkage);
}

static int linkage_reserve(struct linkage *l, uint32_t need)
{
    if (need <= l->capacity)
        return 0;
    arena_finish(&l->memory);
    l->capacity = 0;
    ARENA_TAKE(&l->memory, l->clusters, need);
    ARENA_TAKE(&l->memory, l->parent, need);
    ARENA_TAKE(&l->memory, l->size, need);
    ARENA_TAKE(&l->memory, l->sum, need);
    ARENA_TAKE(&l->memory, l->seen, need + 1); /* written one past the last */
    ARENA_TAKE(&l->memory, l->chain, need);
    if (l->memory.failed)
        return -ENOMEM;
    l->capacity = need;
    return 0;
}

static uint32_t linkage_group_of(const struct linkage *l, uint32_t vertex)
{
    return vertex < l->history.vertices ? l->history.group[vertex] : 0;
}

/* Add a link to the sum of the cluster that it leads to. There is no branch on whether this cluster
 * is seen for the first time, because the processor could not predict it.
 * @return how many clusters are in l->seen */
static inline uint32_t linkage_add_link(struct linkage *l, uint32_t to, uint64_t sum, uint32_t seen)
{
    to = disjoint_find_root(l->parent, to);
    l->seen[seen] = to;
    seen += l->sum[to] == 0;
    l->sum[to] += sum;
    return seen;
}

static uint32_t linkage_gather_row(struct linkage *l, uint32_t self)
{
    uint32_t count, seen = 0, group = linkage_group_of(l, self);
    const struct correlate *row = correlation_row(l->correlation, self, &count);
    for (uint32_t i = 0; group == 0 && i < count; i++)
        seen = linkage_add_link(l, row[i].vertex, (uint64_t)row[i].weight * QUARTERS, seen);
    for (uint32_t i = 0; group != 0 && i < count; i++) {
        bool together = linkage_group_of(l, row[i].vertex) == group;
        uint32_t quarters = QUARTERS + (together ? l->history.quarters : 0);
        seen = linkage_add_link(l, row[i].vertex, (uint64_t)row[i].weight * quarters, seen);
    }
    return seen;
}

/* Add up the weights to each other cluster in l->sum. @return how many clusters are in l->seen */
static uint32_t linkage_gather_links(struct linkage *l, uint32_t self)
{
    const struct cluster *cluster = &l->clusters[self];
    uint32_t seen = 0;
    l->sum[self] = 1; /* counts as seen: links within the cluster are left out */
    if (cluster->links == NULL)
        seen = linkage_gather_row(l, self);
    for (uint32_t i = 0; cluster->links != NULL && i < cluster->count; i++)
        seen = linkage_add_link(l, cluster->links[i].cluster, cluster->links[i].sum, seen);
    l->sum[self] = 0;
    return seen;
}

/* Whether self should merge with `one` rather than with the best so far: see the order in
 * linkage.h. */
static bool linkage_is_nearer(uint32_t self, const struct nearest *one, const struct nearest *best)
{
    if (best->cluster == NONE || one->height != best->height)
        return best->cluster == NONE || one->height > best->height;
    if (one->size != best->size)
        return one->size < best->size;
    uint32_t low = one->cluster < self ? one->cluster : self;
    uint32_t best_low = best->cluster < self ? best->cluster : self;
    return low != best_low ? low < best_low : one->cluster < best->cluster;
}

/* Search all links of a cluster, and store them as one link to each other cluster. @return 0 or
 * -ENOMEM */
static int linkage_search_nearest(struct linkage *l, uint32_t self)
{
    struct cluster *cluster = &l->clusters[self];
    struct nearest best = {.cluster = NONE};
    uint64_t unit = (uint64_t)l->size[self] * CORRELATION_ONE * QUARTERS;
    struct link *links = cluster->links;
    uint32_t row;
    correlation_row(l->correlation, self, &row);
    if (links == NULL && (links = malloc(((size_t)row + 1) * sizeof(*links))) == NULL)
        return -ENOMEM;
    uint32_t seen = linkage_gather_links(l, self);
    for (uint32_t i = 0; i < seen; i++) {
        struct nearest one = {.cluster = l->seen[i], .size = l->size[l->seen[i]]};
        links[i] = (struct link){.cluster = one.cluster, .sum = l->sum[one.cluster]};
        one.height = (double)links[i].sum / (double)(unit * one.size);
        l->sum[one.cluster] = 0;
        if (linkage_is_nearer(self, &one, &best))
            best = one;
    }
    cluster->links = links;
    cluster->count = seen;
    cluster->nearest = best;
    return 0;
}

/* Find the cluster to merge with. It stays the same until one of the two merges. */
static int linkage_find_nearest(struct linkage *l, uint32_t self)
{
    const struct nearest *known = &l->clusters[self].nearest;
    bool stays = known->cluster != NONE && l->parent[known->cluster] == known->cluster &&
                 l->size[known->cluster] == known->size;
    return stays ? 0 : linkage_search_nearest(l, self);
}

/* Merge two clusters of the chain, so that both have lists of links. Links of both to a third
 * cluster stay separate until they are gathered the next time. */
static int linkage_merge_clusters(struct linkage *l, uint32_t one, uint32_t other, double height,
                                  struct linkage_merge *out)
{
    uint32_t a = one < other ? one : other, b = one < other ? other : one;
    struct cluster *low = &l->clusters[a], *high = &l->clusters[b];
    if (ARRAY_RESIZE(low->links, low->count + high->count + 1) != 0)
        return -ENOMEM;
    memcpy(low->links + low->count, high->links, high->count * sizeof(*low->links));
    low->count += high->count;
    l->size[a] += l->size[b];
    low->height = fmin(height, fmin(low->height, high->height));
    low->nearest.cluster = NONE;
    array_release(&high->links);
    l->parent[b] = a;
    *out = (struct linkage_merge){.a = a, .b = b, .vertices = l->size[a], .height = low->height};
    return 0;
}

static void linkage_push_chain(struct linkage *l, uint32_t cluster)
{
    l->clusters[cluster].chained = true;
    l->chain[l->length++] = cluster;
}

static void linkage_pop_chain(struct linkage *l, uint32_t count)
{
    for (; count > 0; count--)
        l->clusters[l->chain[--l->length]].chained = false;
}

/* Extend the chain by a cluster, or merge its last two. @return 1: merged, 0 or -ENOMEM */
static int linkage_step_chain(struct linkage *l, struct linkage_merge *out)
{
    uint32_t top = l->chain[l->length - 1];
    if (linkage_find_nearest(l, top) != 0)
        return -ENOMEM;
    const struct nearest nearest = l->clusters[top].nearest;
    if (!l->clusters[nearest.cluster].chained) {
        linkage_push_chain(l, nearest.cluster);
        return 0;
    }
    /* The nearest cluster can only be further down the chain where sums exceed the 53 bits of a
     * double and rounding has made a mean larger. */
    bool before = l->chain[l->length - 2] == nearest.cluster;
    linkage_pop_chain(l, before ? 2 : l->length);
    return linkage_merge_clusters(l, top, nearest.cluster, nearest.height, out) == 0 ? 1 : -ENOMEM;
}

/* Merge until one cluster is left. @return 0 or -ENOMEM */
static int linkage_merge_all(struct linkage *l, const uint32_t *members, uint32_t count,
                             struct linkage_merge *merges)
{
    uint32_t merged = 0, next = 0; /* the member to try next as the beginning of a chain */
    int rc = 0;
    while (rc >= 0 && merged < count - 1) {
        for (; l->length == 0; next = (next + 1) % count)
            if (l->parent[members[next]] == members[next])
                linkage_push_chain(l, members[next]);
        rc = linkage_step_chain(l, &merges[merged]);
        merged += rc == 1;
    }
    return rc < 0 ? rc : 0;
}

int linkage_run(struct linkage *l, const struct correlation *correlation,
                const struct linkage_history *history, const uint32_t *members, uint32_t count,
                struct linkage_merge *merges)
{
    if (linkage_reserve(l, correlation_vertices(correlation)) != 0)
        return -ENOMEM;
    l->correlation = correlation;
    l->history = *history;
    l->length = 0;
    for (uint32_t i = 0; i < count; i++) {
        l->clusters[members[i]] =
            (struct cluster){.height = INFINITY, .nearest = {.cluster = NONE}};
        l->parent[members[i]] = members[i];
        l->size[members[i]] = 1;
    }
    int rc = linkage_merge_all(l, members, count, merges);
    for (uint32_t i = 0; i < count; i++)
        array_release(&l->clusters[members[i]].links);
    return rc;
}

int linkage_compare(const void *left, const void *right)
{
    const struct linkage_merge *a = left, *b = right;
    return 8 * ORDER(b->height, a->height) + 4 * ORDER(a->vertices, b->vertices) +
           2 * ORDER(a->a, b->a) + ORDER(a->b, b->b);
}
