/* Communication regions: components, the cut of the hierarchy, and the identities of regions. */
#include "daemon/analysis/regions/regions.h"

#include "daemon/analysis/tables/arena.h"
#include "daemon/analysis/tables/disjoint_sets.h"
#include "holter/bisect.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_HOLD 4.0
#define QUARTERS 4u
#define NONE UINT32_MAX
/* A region keeps the id of a former one only when they share at least 1/STABLE_SHARE of both. */
#define STABLE_SHARE 4u

/* The result of an update; it becomes the state when all of the update has succeeded. Arrays are
 * indexed by vertex. */
struct partition {
    uint32_t vertices;   /* that are covered */
    uint32_t *component; /* owned; lowest vertex of the connected component; NONE: no edges */
    uint32_t *parent;    /* owned; while cutting: towards the lowest vertex of the region */
    uint32_t *region;    /* owned; id, 0: none */
    struct linkage_merge *merges; /* owned; in the order in which they happen */
    size_t merge_count;
    struct region_info *list; /* owned; by id */
    size_t list_count;
};

struct regions {
    struct regions_params params;
    uint32_t quarters; /* of hold */
    struct correlation *correlation;
    struct partition now;
    uint32_t next_id;
};

/* ---- life ------------------------------------------------------------------- */

static void regions_partition_finish(struct partition *p)
{
    free(p->component);
    free(p->parent);
    free(p->region);
    free(p->merges);
    free(p->list);
    *p = (struct partition){0};
}

static int regions_partition_init(struct partition *out, uint32_t vertices)
{
    size_t capacity = (size_t)vertices + 1;
    struct partition p = {.vertices = vertices,
                          .component = malloc(capacity * sizeof(*p.component)),
                          .parent = malloc(capacity * sizeof(*p.parent)),
                          .region = calloc(capacity, sizeof(*p.region)),
                          .merges = malloc(capacity * sizeof(*p.merges)),
                          .list = malloc(capacity * sizeof(*p.list))};
    if (p.component == NULL || p.parent == NULL || p.region == NULL || p.merges == NULL ||
        p.list == NULL) {
        regions_partition_finish(&p);
        return -ENOMEM;
    }
    *out = p;
    return 0;
}

int regions_create(struct regions **out, const struct regions_params *params)
{
    if (!(params->threshold > 0) || isinf(params->threshold) || !(params->hold >= 0) ||
        params->hold > MAXIMUM_HOLD)
        return -HOLTER_ERANGE;
    struct regions *regions = calloc(1, sizeof(*regions));
    if (regions == NULL)
        return -ENOMEM;
    const struct correlation_params correlation = {
        .max_vertices = params->max_vertices, .hub = params->hub, .max_pairs = params->max_pairs};
    regions->params = *params;
    regions->quarters = (uint32_t)lround(params->hold * QUARTERS);
    regions->next_id = params->first_id > 0 ? params->first_id : 1;
    int rc = correlation_create(&regions->correlation, &correlation);
    if (rc != 0) {
        regions_destroy(regions);
        return rc;
    }
    *out = regions;
    return 0;
}

void regions_destroy(struct regions *regions)
{
    if (regions == NULL)
        return;
    correlation_destroy(regions->correlation);
    regions_partition_finish(&regions->now);
    free(regions);
}

int regions_edge(struct regions *r, uint32_t a, uint32_t b, int present)
{
    return correlation_edge(r->correlation, a, b, present != 0);
}

/* ---- connected components ----------------------------------------------------- */

/* List the vertices of the component of `from`.
 * @param touched  set: whether an edge of it changed
 * @return how many are in members */
static uint32_t regions_walk_component(const struct correlation *correlation, uint32_t from,
                                       struct partition *p, uint32_t *members, bool *touched)
{
    uint32_t count = 1;
    members[0] = from;
    p->component[from] = from;
    *touched = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t degree;
        const uint32_t *partners = correlation_partners(correlation, members[i], &degree);
        *touched = *touched || correlation_touched(correlation, members[i]);
        for (uint32_t j = 0; j < degree; j++) {
            if (p->component[partners[j]] != NONE)
                continue;
            p->component[partners[j]] = from;
            members[count++] = partners[j];
        }
    }
    return count;
}

/* Cluster the components in which an edge changed; the others keep their merges.
 * @param kept  set: by lowest vertex, whether the component keeps its merges; zero before */
static int regions_cluster_components(const struct regions *r, struct partition *p, bool *kept)
{
    const struct linkage_history history = {
        .group = r->now.region, .vertices = r->now.vertices, .quarters = r->quarters};
    struct linkage *linkage = NULL;
    uint32_t *members = malloc(((size_t)p->vertices + 1) * sizeof(*members));
    int rc = members == NULL ? -ENOMEM : linkage_create(&linkage);
    for (uint32_t v = 0; rc == 0 && v < p->vertices; v++) {
        uint32_t degree;
        bool touched;
        correlation_partners(r->correlation, v, &degree);
        if (degree == 0 || p->component[v] != NONE)
            continue;
        uint32_t count = regions_walk_component(r->correlation, v, p, members, &touched);
        kept[v] = !touched;
        if (!touched)
            continue;
        rc = linkage_run(linkage, r->correlation, &history, members, count,
                         p->merges + p->merge_count);
        p->merge_count += count - 1;
    }
    linkage_destroy(linkage);
    free(members);
    return rc;
}

/* Copy the merges of components without a changed edge, and sort all. */
static void regions_list_merges(const struct regions *r, struct partition *p, const bool *kept)
{
    for (size_t i = 0; i < r->now.merge_count; i++) {
        uint32_t component = p->component[r->now.merges[i].a];
        if (component != NONE && kept[component])
            p->merges[p->merge_count++] = r->now.merges[i];
    }
    qsort(p->merges, p->merge_count, sizeof(*p->merges), linkage_compare);
}

/* ---- the cut -------------------------------------------------------------------- */

static void regions_join_roots(struct partition *p, uint32_t one, uint32_t other)
{
    one = disjoint_find_root(p->parent, one);
    other = disjoint_find_root(p->parent, other);
    if (one < other)
        p->parent[other] = one;
    else
        p->parent[one] = other;
}

/* Apply the merges above the threshold, and further merges while there are too many regions. */
static void regions_cut_hierarchy(const struct regions *r, struct partition *p)
{
    size_t clusters = 0, maximum = r->params.max_regions;
    for (uint32_t v = 0; v < p->vertices; v++) {
        p->parent[v] = v;
        clusters += p->component[v] != NONE;
    }
    for (size_t i = 0; i < p->merge_count; i++, clusters--) {
        if (p->merges[i].height <= r->params.threshold && (maximum == 0 || clusters <= maximum))
            break;
        regions_join_roots(p, p->merges[i].a, p->merges[i].b);
    }
}

/* Find the region that a single vertex should join.
 * @param roots  of each vertex, before any single vertex joined
 * @param sums   all zero, and left so
 * @param seen   scratch space for all vertices */
static uint32_t regions_closest_root(const struct correlation *correlation, uint32_t alone,
                                     const uint32_t *roots, const uint32_t *sizes, uint64_t *sums,
                                     uint32_t *seen)
{
    uint32_t count, found = 0, best = alone;
    double best_mean = 0;
    const struct correlate *row = correlation_row(correlation, alone, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = roots[row[i].vertex];
        if (sums[to] == 0)
            seen[found++] = to;
        sums[to] += row[i].weight;
    }
    for (uint32_t i = 0; i < found; i++) {
        uint32_t to = seen[i];
        double mean = (double)sums[to] / sizes[to];
        bool smaller = sizes[to] < sizes[best] || (sizes[to] == sizes[best] && to < best);
        if (best == alone || mean > best_mean || (!(mean < best_mean) && smaller)) {
            best = to;
            best_mean = mean;
        }
        sums[to] = 0;
    }
    return best;
}

/* Single vertices join the regions with which they are most correlated, all at once. */
static int regions_join_singles(const struct regions *r, struct partition *p)
{
    size_t capacity = (size_t)p->vertices + 1;
    uint64_t *sums = calloc(capacity, sizeof(*sums));
    uint32_t *roots = calloc(capacity * 3, sizeof(*roots));
    uint32_t *sizes = roots + capacity, *seen = sizes + capacity;
    for (uint32_t v = 0; roots != NULL && v < p->vertices; v++) {
        roots[v] = disjoint_find_root(p->parent, v);
        sizes[roots[v]]++;
    }
    for (uint32_t v = 0; sums != NULL && roots != NULL && v < p->vertices; v++)
        if (p->component[v] != NONE && roots[v] == v && sizes[v] == 1)
            regions_join_roots(p, v,
                               regions_closest_root(r->correlation, v, roots, sizes, sums, seen));
    int rc = sums == NULL || roots == NULL ? -ENOMEM : 0;
    free(sums);
    free(roots);
    return rc;
}

/* ---- identities ------------------------------------------------------------------- */

/* Vertices that a region shares with a former one. */
struct overlap {
    uint32_t former; /* id */
    uint32_t root;   /* lowest vertex of the region */
    uint32_t shared;
};

ORDER_FUNCTION(regions_compare_places, struct overlap,
               2 * ORDER(a->former, b->former) + ORDER(a->root, b->root))

ORDER_FUNCTION(regions_compare_shared, struct overlap,
               4 * ORDER(b->shared, a->shared) + regions_compare_places(a, b))

static uint32_t regions_former_of(const struct regions *r, uint32_t vertex)
{
    return vertex < r->now.vertices ? r->now.region[vertex] : 0;
}

/* All overlaps, the largest first; ties by former id. @return how many */
static size_t regions_find_overlaps(const struct regions *r, struct partition *p,
                                    struct overlap *out)
{
    size_t count = 0, kept = 0;
    for (uint32_t v = 0; v < p->vertices; v++)
        if (p->component[v] != NONE && regions_former_of(r, v) != 0)
            out[count++] = (struct overlap){.former = regions_former_of(r, v),
                                            .root = disjoint_find_root(p->parent, v),
                                            .shared = 1};
    qsort(out, count, sizeof(*out), regions_compare_places);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && regions_compare_places(&out[kept - 1], &out[i]) == 0)
            out[kept - 1].shared++;
        else
            out[kept++] = out[i];
    }
    qsort(out, kept, sizeof(*out), regions_compare_shared);
    return kept;
}

static const struct region_info *regions_find_former(const struct regions *r, uint32_t id)
{
    size_t low = BISECT(i, 0, r->now.list_count, r->now.list[i].id < id);
    return low < r->now.list_count && r->now.list[low].id == id ? &r->now.list[low] : NULL;
}

/* Give the ids of former regions to the regions that share most vertices with them.
 * @param sizes, infos  by lowest vertex
 * @param taken         by position of the former region in its list: its id is given */
static void regions_inherit_ids(const struct regions *r, const struct overlap *overlaps,
                                size_t count, const uint32_t *sizes, struct region_info *infos,
                                bool *taken)
{
    for (size_t i = 0; i < count; i++) {
        const struct overlap *o = &overlaps[i];
        const struct region_info *former = regions_find_former(r, o->former);
        struct region_info *info = &infos[o->root];
        uint64_t together = (uint64_t)former->vertices + sizes[o->root] - o->shared;
        if (info->id != 0 || taken[former - r->now.list] ||
            (uint64_t)o->shared * STABLE_SHARE < together)
            continue;
        taken[former - r->now.list] = true;
        info->id = former->id;
        info->since = former->since;
    }
}

ORDER_FUNCTION(regions_compare_ids, struct region_info, ORDER(a->id, b->id))

/* Number the new regions in the order of their lowest vertices; fill in list and region. */
static void regions_number_new(struct partition *p, const uint32_t *sizes,
                               struct region_info *infos, uint64_t window, uint32_t *next_id)
{
    for (uint32_t v = 0; v < p->vertices; v++) {
        if (p->component[v] == NONE)
            continue;
        uint32_t lowest = disjoint_find_root(p->parent, v);
        struct region_info *info = &infos[lowest];
        if (info->id == 0) {
            info->id = (*next_id)++;
            info->since = window;
        }
        if (lowest == v) {
            info->vertices = sizes[v];
            p->list[p->list_count++] = *info;
        }
        p->region[v] = info->id;
    }
    qsort(p->list, p->list_count, sizeof(*p->list), regions_compare_ids);
}

static int regions_identify(const struct regions *r, struct partition *p, uint64_t window,
                            uint32_t *next_id)
{
    size_t capacity = (size_t)p->vertices + 1;
    struct arena memory = {.newest = NULL};
    struct overlap *overlaps = arena_take(&memory, capacity, sizeof(*overlaps));
    uint32_t *sizes = arena_take(&memory, capacity, sizeof(*sizes));
    struct region_info *infos = arena_take(&memory, capacity, sizeof(*infos));
    bool *taken = arena_take(&memory, r->now.list_count + 1, sizeof(*taken));
    const int rc = memory.failed ? -ENOMEM : 0;
    if (rc == 0) {
        for (uint32_t v = 0; v < p->vertices; v++)
            sizes[disjoint_find_root(p->parent, v)]++;
        size_t count = regions_find_overlaps(r, p, overlaps);
        regions_inherit_ids(r, overlaps, count, sizes, infos, taken);
        regions_number_new(p, sizes, infos, window, next_id);
    }
    arena_finish(&memory);
    return rc;
}

/* ---- update and results -------------------------------------------------------------- */

static int regions_is_changed(const struct regions *r, const struct partition *p)
{
    for (uint32_t v = 0; v < p->vertices; v++)
        if (p->region[v] != regions_former_of(r, v))
            return 1;
    return 0;
}

/* The components and the hierarchy of each. */
static int regions_make_hierarchy(const struct regions *r, struct partition *p)
{
    bool *kept = calloc((size_t)p->vertices + 1, sizeof(*kept));
    for (uint32_t v = 0; v < p->vertices; v++)
        p->component[v] = NONE;
    int rc = kept == NULL ? -ENOMEM : regions_cluster_components(r, p, kept);
    if (rc == 0)
        regions_list_merges(r, p, kept);
    free(kept);
    return rc;
}

static int regions_make_partition(struct regions *r, struct partition *p, uint64_t window,
                                  uint32_t *next_id)
{
    int rc = correlation_update(r->correlation);
    rc = rc == 0 ? regions_partition_init(p, correlation_vertices(r->correlation)) : rc;
    rc = rc == 0 ? regions_make_hierarchy(r, p) : rc;
    if (rc != 0)
        return rc;
    regions_cut_hierarchy(r, p);
    rc = regions_join_singles(r, p);
    return rc == 0 ? regions_identify(r, p, window, next_id) : rc;
}

int regions_update(struct regions *r, uint64_t window, int *changed)
{
    struct partition next = {0};
    uint32_t next_id = r->next_id;
    int differs = 0;
    if (correlation_changed(r->correlation)) {
        int rc = regions_make_partition(r, &next, window, &next_id);
        if (rc != 0) {
            regions_partition_finish(&next);
            return rc;
        }
        differs = regions_is_changed(r, &next);
        regions_partition_finish(&r->now);
        r->now = next;
        r->next_id = next_id;
        correlation_clear_changes(r->correlation);
    }
    if (changed != NULL)
        *changed = differs;
    return 0;
}

uint32_t regions_of(const struct regions *r, uint32_t vertex)
{
    return regions_former_of(r, vertex);
}

size_t regions_list(const struct regions *r, struct region_info *out, size_t capacity)
{
    for (size_t i = 0; out != NULL && i < r->now.list_count && i < capacity; i++)
        out[i] = r->now.list[i];
    return r->now.list_count;
}

uint32_t regions_next_id(const struct regions *r)
{
    return r->next_id;
}

/* ---- state -------------------------------------------------------------------------- */

static void regions_partition_copy_state(struct state_bytes *b, struct partition *p)
{
    const size_t capacity = (size_t)p->vertices + 1;
    STATE_ARRAY(b, p->component, p->vertices, capacity);
    STATE_ARRAY(b, p->parent, 0, capacity); /* while cutting */
    STATE_ARRAY(b, p->region, p->vertices, capacity);
    STATE_ARRAY(b, p->merges, p->merge_count, capacity);
    STATE_ARRAY(b, p->list, p->list_count, capacity);
}

void regions_copy_state(struct state_bytes *b, struct regions **out)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct regions *r = *out;
    correlation_copy_state(b, &r->correlation);
    regions_partition_copy_state(b, &r->now);
}
