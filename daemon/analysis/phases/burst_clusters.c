/* Live clusters of bursts: a list by time, and a heap of the gaps that may merge. */
#include "daemon/analysis/phases/burst_clusters.h"

#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>

/* A gap whose two clusters may be merged. */
struct candidate {
    int64_t first_ns; /* of the cluster after it */
    uint32_t id;
};

struct burst_clusters {
    struct burst_cluster *at; /* owned */
    struct candidate *heap;   /* owned */
    uint32_t maximum, count, candidates;
    uint32_t free; /* first free cluster; free ones are chained by `after` */
    uint32_t used; /* clusters ever used */
    uint32_t head, tail;
    int64_t limit_ns, closed_ns;
};

int burst_clusters_create(struct burst_clusters **out, uint32_t maximum)
{
    if (maximum < 4 || maximum > UINT32_MAX / 4)
        return -HOLTER_ERANGE;
    struct burst_clusters *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->at = malloc(maximum * sizeof(*c->at));
    c->heap = malloc(maximum * sizeof(*c->heap));
    if (c->at == NULL || c->heap == NULL) {
        burst_clusters_destroy(c);
        return -ENOMEM;
    }
    c->maximum = maximum;
    c->free = c->head = c->tail = BURST_NONE;
    c->limit_ns = INT64_MAX;
    c->closed_ns = INT64_MIN;
    *out = c;
    return 0;
}

void burst_clusters_destroy(struct burst_clusters *clusters)
{
    if (clusters == NULL)
        return;
    free(clusters->at);
    free(clusters->heap);
    free(clusters);
}

uint32_t burst_clusters_count(const struct burst_clusters *c)
{
    return c->count;
}

bool burst_clusters_full(const struct burst_clusters *c)
{
    return c->count == c->maximum;
}

uint32_t burst_clusters_head(const struct burst_clusters *c)
{
    return c->head;
}

uint32_t burst_clusters_tail(const struct burst_clusters *c)
{
    return c->tail;
}

const struct burst_cluster *burst_clusters_at(const struct burst_clusters *c, uint32_t id)
{
    return &c->at[id];
}

int64_t burst_clusters_gap(const struct burst_clusters *c, uint32_t id)
{
    return c->at[id].mean_ns - c->at[c->at[id].before].mean_ns;
}

uint32_t burst_clusters_next(const struct burst_clusters *c)
{
    return c->candidates > 0 ? c->heap[0].id : BURST_NONE;
}

/* ---- the heap of gaps ----------------------------------------------------------- */

static bool burst_clusters_is_sooner(const struct candidate *a, const struct candidate *b)
{
    return a->first_ns < b->first_ns;
}

static void burst_clusters_place(struct burst_clusters *c, uint32_t at, const struct candidate *one)
{
    c->heap[at] = *one;
    c->at[one->id].at = at;
}

static uint32_t burst_clusters_rise(struct burst_clusters *c, uint32_t at,
                                    const struct candidate *one)
{
    for (; at > 0 && burst_clusters_is_sooner(one, &c->heap[(at - 1) / 2]); at = (at - 1) / 2)
        burst_clusters_place(c, at, &c->heap[(at - 1) / 2]);
    return at;
}

static uint32_t burst_clusters_sink(struct burst_clusters *c, uint32_t at,
                                    const struct candidate *one)
{
    for (uint32_t child; (child = 2 * at + 1) < c->candidates; at = child) {
        child += child + 1 < c->candidates &&
                 burst_clusters_is_sooner(&c->heap[child + 1], &c->heap[child]);
        if (!burst_clusters_is_sooner(&c->heap[child], one))
            break;
        burst_clusters_place(c, at, &c->heap[child]);
    }
    return at;
}

static void burst_clusters_place_candidate(struct burst_clusters *c, uint32_t at,
                                           struct candidate one)
{
    burst_clusters_place(c, burst_clusters_sink(c, burst_clusters_rise(c, at, &one), &one), &one);
}

static void burst_clusters_remove(struct burst_clusters *c, uint32_t id)
{
    uint32_t at = c->at[id].at;
    if (at == BURST_NONE)
        return;
    c->at[id].at = BURST_NONE;
    c->candidates--;
    if (at < c->candidates)
        burst_clusters_place_candidate(c, at, c->heap[c->candidates]);
}

/* Whether the clusters on both sides of a cluster's left gap may merge: see the header. */
static bool burst_clusters_is_settled(const struct burst_clusters *c, uint32_t id)
{
    const struct burst_cluster *one = &c->at[id];
    if (one->before == BURST_NONE || one->after == BURST_NONE)
        return false;
    const struct burst_cluster *before = &c->at[one->before];
    int64_t gap = burst_clusters_gap(c, id);
    if (one->first_ns > c->closed_ns && (gap > c->limit_ns || before->first_ns <= c->closed_ns))
        return false;
    if (gap > burst_clusters_gap(c, one->after))
        return false;
    return before->before == BURST_NONE || gap < burst_clusters_gap(c, one->before);
}

static void burst_clusters_refresh(struct burst_clusters *c, uint32_t id)
{
    if (id == BURST_NONE)
        return;
    if (!burst_clusters_is_settled(c, id)) {
        burst_clusters_remove(c, id);
        return;
    }
    if (c->at[id].at == BURST_NONE)
        burst_clusters_place_candidate(c, c->candidates++,
                                       (struct candidate){c->at[id].first_ns, id});
}

/* ---- search --------------------------------------------------------------------- */

uint32_t burst_clusters_find(const struct burst_clusters *c, int64_t time_ns)
{
    uint32_t id = c->tail;
    while (id != BURST_NONE && c->at[id].first_ns > time_ns)
        id = c->at[id].before;
    return id;
}

/* ---- changes -------------------------------------------------------------------- */

static uint32_t burst_clusters_allocate_cluster(struct burst_clusters *c)
{
    uint32_t id = c->free;
    if (id == BURST_NONE)
        return c->used++;
    c->free = c->at[id].after;
    return id;
}

void burst_clusters_add(struct burst_clusters *c, uint32_t before, int64_t time_ns)
{
    uint32_t id = burst_clusters_allocate_cluster(c),
             after = before == BURST_NONE ? c->head : c->at[before].after;
    c->at[id] = (struct burst_cluster){.mean_ns = time_ns,
                                       .first_ns = time_ns,
                                       .last_ns = time_ns,
                                       .before = before,
                                       .after = after,
                                       .at = BURST_NONE};
    *(before == BURST_NONE ? &c->head : &c->at[before].after) = id;
    *(after == BURST_NONE ? &c->tail : &c->at[after].before) = id;
    c->count++;
    burst_clusters_refresh(c, before);
    burst_clusters_refresh(c, id);
    burst_clusters_refresh(c, after);
    if (after != BURST_NONE)
        burst_clusters_refresh(c, c->at[after].after);
}

void burst_clusters_merge(struct burst_clusters *c, uint32_t id)
{
    struct burst_cluster *gone = &c->at[id];
    uint32_t left = gone->before, after = gone->after;
    struct burst_cluster *one = &c->at[left];
    burst_clusters_remove(c, id);
    one->height_ns = gone->mean_ns - one->mean_ns;
    one->mean_ns += one->height_ns / 2;
    one->last_ns = gone->last_ns;
    one->after = after;
    *(after == BURST_NONE ? &c->tail : &c->at[after].before) = left;
    gone->after = c->free;
    c->free = id;
    c->count--;
    burst_clusters_refresh(c, one->before);
    burst_clusters_refresh(c, left);
    burst_clusters_refresh(c, after);
    if (after != BURST_NONE)
        burst_clusters_refresh(c, c->at[after].after);
}

void burst_clusters_extend(struct burst_clusters *c, uint32_t id, int64_t time_ns)
{
    struct burst_cluster *one = &c->at[id];
    if (time_ns > one->last_ns)
        one->last_ns = time_ns;
    if (time_ns >= one->first_ns)
        return;
    burst_clusters_remove(c, id);
    one->first_ns = time_ns;
    burst_clusters_refresh(c, id);
}

void burst_clusters_hold(struct burst_clusters *c, int64_t limit_ns, int64_t closed_ns)
{
    int64_t from = limit_ns == c->limit_ns ? c->closed_ns : INT64_MIN;
    if (limit_ns == c->limit_ns && closed_ns == c->closed_ns)
        return;
    c->limit_ns = limit_ns;
    c->closed_ns = closed_ns;
    uint32_t id = burst_clusters_find(c, from);
    for (id = id == BURST_NONE ? c->head : id; id != BURST_NONE; id = c->at[id].after)
        burst_clusters_refresh(c, id);
}
