/* Live clusters of bursts: a list by time. */
#include "daemon/analysis/phases/burst_clusters.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int burst_clusters_init(struct burst_clusters *c, uint32_t maximum)
{
    *c = (struct burst_clusters){.at = malloc(maximum * sizeof(*c->at)),
                                 .maximum = maximum,
                                 .free = BURST_NONE,
                                 .head = BURST_NONE,
                                 .tail = BURST_NONE};
    return c->at == NULL ? -ENOMEM : 0;
}

void burst_clusters_finish(struct burst_clusters *c)
{
    free(c->at);
}

int64_t burst_clusters_gap(const struct burst_clusters *c, uint32_t id)
{
    return c->at[id].mean_ns - c->at[c->at[id].before].mean_ns;
}

/* ---- search --------------------------------------------------------------------- */

/* Whether the clusters on both sides of a cluster's left gap may merge: see the header. */
static bool burst_clusters_is_settled(const struct burst_clusters *c, uint32_t id, int64_t limit_ns,
                                      int64_t closed_ns)
{
    const struct burst_cluster *one = &c->at[id];
    if (one->before == BURST_NONE || one->after == BURST_NONE)
        return false;
    const struct burst_cluster *before = &c->at[one->before];
    int64_t gap = burst_clusters_gap(c, id);
    if (one->first_ns > closed_ns && (gap > limit_ns || before->first_ns <= closed_ns))
        return false;
    if (gap > burst_clusters_gap(c, one->after))
        return false;
    return before->before == BURST_NONE || gap < burst_clusters_gap(c, one->before);
}

uint32_t burst_clusters_next(const struct burst_clusters *c, int64_t limit_ns, int64_t closed_ns)
{
    uint32_t id = c->head;
    while (id != BURST_NONE && !burst_clusters_is_settled(c, id, limit_ns, closed_ns))
        id = c->at[id].after;
    return id;
}

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
                                       .after = after};
    *(before == BURST_NONE ? &c->head : &c->at[before].after) = id;
    *(after == BURST_NONE ? &c->tail : &c->at[after].before) = id;
    c->count++;
}

void burst_clusters_merge(struct burst_clusters *c, uint32_t id)
{
    struct burst_cluster *gone = &c->at[id];
    uint32_t left = gone->before, after = gone->after;
    struct burst_cluster *one = &c->at[left];
    one->height_ns = gone->mean_ns - one->mean_ns;
    one->mean_ns += one->height_ns / 2;
    one->last_ns = gone->last_ns;
    one->after = after;
    *(after == BURST_NONE ? &c->tail : &c->at[after].before) = left;
    gone->after = c->free;
    c->free = id;
    c->count--;
}

void burst_clusters_extend(struct burst_clusters *c, uint32_t id, int64_t time_ns)
{
    struct burst_cluster *one = &c->at[id];
    one->first_ns = time_ns < one->first_ns ? time_ns : one->first_ns;
    one->last_ns = time_ns > one->last_ns ? time_ns : one->last_ns;
}
