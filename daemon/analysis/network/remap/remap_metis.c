/* Partitions of the graph of processes by METIS, corrected to exact sizes: see remap_metis.h. */
#include "daemon/analysis/network/remap/remap_metis.h"

#include "holter/error.h"

#include <errno.h>
#include <metis.h>
#include <stdlib.h>

_Static_assert(sizeof(idx_t) == 4, "weights are scaled for 32-bit METIS");

struct sub_graph {
    idx_t vertices;
    idx_t *first, *partner, *weight;
    real_t *share; /* of each part */
    idx_t *part;
};

static void remap_metis_finish(struct sub_graph *g)
{
    free(g->first);
    free(g->partner);
    free(g->weight);
    free(g->share);
    free(g->part);
}

static size_t remap_metis_count_ends(const struct remap_split *split)
{
    size_t ends = 0;
    for (uint32_t i = 0; i < split->count; i++)
        ends += split->graph->first[split->members[i] + 1] - split->graph->first[split->members[i]];
    return ends;
}

/* Weights become whole numbers from 1 on whose sum is below 2^30. */
static double remap_metis_scale_of(const struct remap_split *split, size_t ends)
{
    double sum = 0, largest = 0;
    for (uint32_t i = 0; i < split->count; i++) {
        const uint32_t p = split->members[i];
        for (uint32_t k = split->graph->first[p]; k < split->graph->first[p + 1]; k++) {
            const double weight = split->graph->partners[k].weight;
            sum += weight;
            largest = weight > largest ? weight : largest;
        }
    }
    if (split->plain)
        return sum > 0 ? 5e8 / sum : 0;
    const double room = 5e8 - (double)ends;
    const double scale = sum > 0 && room > 0 ? room / sum : 0;
    return largest * scale > 1e7 ? 1e7 / largest : scale;
}

static int remap_metis_make(struct sub_graph *g, const struct remap_split *split, uint32_t *index)
{
    const struct remap_graph *graph = split->graph;
    const size_t ends = remap_metis_count_ends(split);
    const double scale = remap_metis_scale_of(split, ends);
    idx_t end = 0;
    g->vertices = (idx_t)split->count;
    g->first = malloc(((size_t)split->count + 1) * sizeof(idx_t));
    g->partner = malloc((ends + 1) * sizeof(idx_t));
    g->weight = malloc((ends + 1) * sizeof(idx_t));
    g->share = malloc(split->parts * sizeof(real_t));
    g->part = malloc(((size_t)split->count + 1) * sizeof(idx_t));
    if (!g->first || !g->partner || !g->weight || !g->share || !g->part)
        return -ENOMEM;
    for (uint32_t i = 0; i < split->count; i++)
        index[split->members[i]] = i;
    for (uint32_t i = 0; i < split->count; i++) {
        const uint32_t p = split->members[i];
        g->first[i] = end;
        for (uint32_t k = graph->first[p]; k < graph->first[p + 1]; k++)
            end += index[graph->partners[k].process] != TOPOLOGY_NONE;
        g->part[i] = g->first[i];
    }
    /* each member is entered at its partners, so that all rows are sorted: METIS' results depend on
     * their order */
    for (uint32_t i = 0; i < split->count; i++) {
        const uint32_t p = split->members[i];
        for (uint32_t k = graph->first[p]; k < graph->first[p + 1]; k++) {
            const uint32_t j = index[graph->partners[k].process];
            if (j == TOPOLOGY_NONE)
                continue;
            g->partner[g->part[j]] = (idx_t)i;
            g->weight[g->part[j]++] = 1 + (idx_t)(graph->partners[k].weight * scale);
        }
    }
    g->first[split->count] = end;
    for (uint32_t i = 0; i < split->count; i++)
        index[split->members[i]] = TOPOLOGY_NONE;
    for (uint32_t k = 0; k < split->parts; k++)
        g->share[k] = (real_t)split->sizes[k] / (real_t)split->count;
    return 0;
}

/* How much larger than its size a part may get, in thousandths: the k-way method needs some freedom
 * to move. */
static idx_t remap_metis_ufactor(const struct remap_split *split)
{
    if (split->plain)
        return 1;
    return split->k_way && split->seed % 2 == 0 ? 3 : 1;
}

static int remap_metis_divide(struct sub_graph *g, const struct remap_split *split)
{
    idx_t options[METIS_NOPTIONS], one = 1, parts = (idx_t)split->parts, cut;
    bool even = true;
    for (uint32_t k = 1; k < split->parts; k++)
        even = even && split->sizes[k] == split->sizes[0];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = (idx_t)(split->seed & 0x7fffffff);
    options[METIS_OPTION_UFACTOR] = remap_metis_ufactor(split);
    const int rc = (split->k_way ? METIS_PartGraphKway : METIS_PartGraphRecursive)(
        &g->vertices, &one, g->first, g->partner, NULL, NULL, g->weight, &parts,
        even ? NULL : g->share, NULL, options, &cut, g->part);
    return rc == METIS_OK ? 0 : rc == METIS_ERROR_MEMORY ? -ENOMEM : -HOLTER_EINTERNAL;
}

/* ---- exact sizes ---------------------------------------------------------------- */

/* Weight of a member's partners in each part; `sum` is all zero before the call, and the caller
 * must clear it again. */
static void remap_metis_sum_weights(const struct sub_graph *g, idx_t i, int64_t *sum, int64_t sign)
{
    for (idx_t k = g->first[i]; k < g->first[i + 1]; k++)
        sum[g->part[g->partner[k]]] += sign * g->weight[k];
}

struct change {
    idx_t member, to;
    int64_t gain;
};

/* The move from a part that is too large to one that is too small that loses least. */
static struct change remap_metis_best_move(const struct sub_graph *g, const int64_t *excess,
                                           uint32_t parts, int64_t *sum)
{
    struct change best = {-1, -1, INT64_MIN};
    idx_t empty = -1;
    for (uint32_t k = 0; k < parts && empty < 0; k++)
        if (excess[k] < 0)
            empty = (idx_t)k;
    for (idx_t i = 0; i < g->vertices; i++) {
        const idx_t mine = g->part[i];
        if (excess[mine] <= 0)
            continue;
        remap_metis_sum_weights(g, i, sum, 1);
        if (-sum[mine] + sum[empty] > best.gain)
            best = (struct change){i, empty, -sum[mine] + sum[empty]};
        for (idx_t k = g->first[i]; k < g->first[i + 1]; k++) {
            const idx_t to = g->part[g->partner[k]];
            if (excess[to] < 0 && sum[to] - sum[mine] > best.gain)
                best = (struct change){i, to, sum[to] - sum[mine]};
        }
        for (idx_t k = g->first[i]; k < g->first[i + 1]; k++)
            sum[g->part[g->partner[k]]] = 0;
    }
    return best;
}

/* Move members without searching for the best: for very many moves. */
static void remap_metis_move_any(struct sub_graph *g, int64_t *excess)
{
    uint32_t to = 0;
    for (idx_t i = 0; i < g->vertices; i++) {
        if (excess[g->part[i]] <= 0)
            continue;
        while (excess[to] >= 0)
            to++;
        excess[g->part[i]]--;
        excess[to]++;
        g->part[i] = (idx_t)to;
    }
}

static int remap_metis_balance(struct sub_graph *g, const struct remap_split *split)
{
    int64_t *excess = calloc(split->parts, sizeof(*excess));
    int64_t *sum = calloc(split->parts, sizeof(*sum));
    int64_t wrong = 0;
    if (excess == NULL || sum == NULL) {
        free(excess);
        free(sum);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < split->count; i++)
        excess[g->part[i]]++;
    for (uint32_t k = 0; k < split->parts; k++) {
        excess[k] -= split->sizes[k];
        wrong += excess[k] > 0 ? excess[k] : 0;
    }
    for (uint32_t tries = 0; wrong > 0 && tries < 64; tries++, wrong--) {
        const struct change change = remap_metis_best_move(g, excess, split->parts, sum);
        excess[g->part[change.member]]--;
        excess[change.to]++;
        g->part[change.member] = change.to;
    }
    if (wrong > 0)
        remap_metis_move_any(g, excess);
    free(excess);
    free(sum);
    return 0;
}

int remap_split(const struct remap_split *split, uint32_t *part, uint32_t *index)
{
    struct sub_graph g = {0};
    int rc = remap_metis_make(&g, split, index);
    if (rc == 0)
        rc = remap_metis_divide(&g, split);
    if (rc == 0)
        rc = remap_metis_balance(&g, split);
    for (uint32_t i = 0; rc == 0 && i < split->count; i++)
        part[i] = (uint32_t)g.part[i];
    remap_metis_finish(&g);
    return rc;
}

uint64_t remap_split_work(const struct remap_split *split)
{
    return 50000 + 1200 * (uint64_t)split->count + 150 * (uint64_t)remap_metis_count_ends(split);
}
