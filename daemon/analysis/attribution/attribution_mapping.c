/* How many messages could stay within nodes, if ranks were placed otherwise. */
#include "daemon/analysis/attribution/attribution_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Clusters grow along the heaviest partners, each from the lowest rank that is in no cluster yet.
 */
struct growth {
    const struct attribution *a;
    uint32_t *cluster; /* by rank; UINT32_MAX: in none yet */
    uint64_t *pull;    /* by rank: messages with the cluster that grows */
    uint32_t *touched; /* ranks with a pull */
    uint32_t touched_count;
};

static void mapping_join_cluster(struct growth *g, uint32_t rank, uint32_t cluster)
{
    g->cluster[rank] = cluster;
    for (uint32_t i = 0; i < ATTRIBUTION_PARTNERS; i++) {
        const struct attribution_partner p = g->a->partners[rank][i];
        const uint32_t other = p.rank;
        if (p.messages == 0 || other >= g->a->rank_count || g->cluster[other] != UINT32_MAX)
            continue;
        if (g->pull[other] == 0)
            g->touched[g->touched_count++] = other;
        g->pull[other] += p.messages;
    }
}

/* Find the rank with the largest pull, of several the lowest. @return UINT32_MAX: none */
static uint32_t mapping_strongest_rank(const struct growth *g)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < g->touched_count; i++) {
        uint32_t r = g->touched[i];
        if (g->cluster[r] != UINT32_MAX)
            continue;
        if (best == UINT32_MAX || g->pull[r] > g->pull[best] ||
            (g->pull[r] == g->pull[best] && r < best))
            best = r;
    }
    return best;
}

static void mapping_grow_clusters(struct growth *g)
{
    const struct attribution *a = g->a;
    uint32_t seed = 0;
    for (uint32_t n = 0; n < a->node_count; n++) {
        for (uint32_t size = 0; size < a->nodes[n].ranks; size++) {
            uint32_t rank = mapping_strongest_rank(g);
            while (rank == UINT32_MAX && seed < a->rank_count && g->cluster[seed] != UINT32_MAX)
                seed++;
            if (rank == UINT32_MAX && seed >= a->rank_count)
                break;
            mapping_join_cluster(g, rank == UINT32_MAX ? seed : rank, n);
        }
        for (uint32_t i = 0; i < g->touched_count; i++)
            g->pull[g->touched[i]] = 0;
        g->touched_count = 0;
    }
}

/* Shares of messages between ranks of one cluster, and of one node. */
static void mapping_count_inside(const struct attribution *a, const uint32_t *cluster,
                                 double *share, double *given)
{
    double all = 0, inside = 0, now = 0;
    for (uint32_t r = 0; r < a->rank_count; r++) {
        for (uint32_t i = 0; i < ATTRIBUTION_PARTNERS; i++) {
            const struct attribution_partner p = a->partners[r][i];
            if (p.messages == 0 || p.rank >= a->rank_count)
                continue;
            all += (double)p.messages;
            if (cluster[p.rank] == cluster[r] && cluster[r] != UINT32_MAX)
                inside += (double)p.messages;
            if (attribution_node_of(a, r) == attribution_node_of(a, p.rank) &&
                attribution_node_of(a, r) != ATTRIBUTION_NO_NODE)
                now += (double)p.messages;
        }
    }
    *share = all > 0 ? inside / all : NAN;
    *given = all > 0 ? now / all : NAN;
}

int attribution_reachable(const struct attribution *a, double *share, double *given)
{
    size_t room = (size_t)a->rank_count + 1;
    struct growth g = {.a = a,
                       .cluster = malloc(room * sizeof(uint32_t)),
                       .pull = calloc(room, sizeof(uint64_t)),
                       .touched = malloc(room * sizeof(uint32_t))};
    int error = g.cluster == NULL || g.pull == NULL || g.touched == NULL ? -ENOMEM : 0;
    if (error == 0) {
        memset(g.cluster, 0xff, room * sizeof(uint32_t));
        mapping_grow_clusters(&g);
        mapping_count_inside(a, g.cluster, share, given);
    }
    free(g.cluster);
    free(g.pull);
    free(g.touched);
    return error;
}
