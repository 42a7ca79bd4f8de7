/* The job as a graph of rank regions: vertices, edges, figures. */
#include "viewer/views/regions/rank_graph.h"

#include "viewer/layout/mix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More regions than have labels beside them, and fewer discs than have theirs inside. */
enum { LABELS = 24, LABELLED_DISCS = 128 };

void rank_graph_finish(struct rank_graph *n)
{
    free(n->vertices);
    free(n->groups);
    free(n->vertex_of);
    free(n->edge_of);
    free(n->edge_values);
    free(n->vertex_ratios);
    free(n->group_ratios);
    graph_finish(&n->graph);
    *n = (struct rank_graph){0};
}

uint64_t rank_graph_key(const struct model *m, uint64_t open)
{
    uint64_t key = mix_number(11, m->latency.regions_version);
    key = mix_number(key, m->rank_count);
    key = mix_number(key, m->host_count);
    key = mix_number(key, m->pairs.keys.count);
    key = mix_number(key, open);
    for (uint32_t i = 0; i < m->host_count; i++)
        key = mix_number(key, m->hosts[i].ranks);
    for (const char *c = m->job; *c; c++)
        key = mix_number(key, (unsigned char)*c);
    return key;
}

/* ---- vertices ---- */

/* Unit in which a rank is drawn. */
static enum rank_graph_unit rank_graph_unit_of(const struct rank_graph *n, uint64_t region,
                                               uint64_t open)
{
    return n->opened && region == open ? UNIT_RANK : n->unit;
}

static struct key rank_graph_vertex_key(const struct rank_graph *n, const struct model *m,
                                        uint32_t rank, uint64_t open)
{
    rank -= rank % (uint32_t)m->group; /* the one that stands for its group */
    uint64_t region = latency_region_of(&m->latency, rank);
    switch (rank_graph_unit_of(n, region, open)) {
    case UNIT_RANK:
        return (struct key){rank, (uint64_t)UNIT_RANK << 32};
    case UNIT_NODE:
        return (struct key){region, (uint64_t)UNIT_NODE << 32 | m->ranks[rank].node};
    default: /* ranks without a region are grouped in blocks to limit their number */
        return (struct key){region, (uint64_t)UNIT_REGION << 32 | (region ? 0 : rank / 1024 + 1)};
    }
}

static int rank_graph_number_vertices(struct rank_graph *n, const struct model *m, uint64_t open,
                                      struct key_table *keys)
{
    for (uint32_t rank = 0; rank < n->rank_count; rank++) {
        uint32_t v = key_table_add(keys, rank_graph_vertex_key(n, m, rank, open));
        if (v == KEY_NONE)
            return -ENOMEM;
        n->vertex_of[rank] = v;
    }
    return 0;
}

static uint32_t rank_graph_ranks_in(const struct model *m, uint64_t region)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < m->rank_count; rank++)
        count += latency_region_of(&m->latency, rank) == region;
    return count;
}

/* Choose the finest unit that keeps the picture legible. */
static int rank_graph_choose_units(struct rank_graph *n, const struct model *m, uint64_t open,
                                   struct key_table *keys)
{
    n->opened = 0;
    n->unit = UNIT_RANK;
    if (n->rank_count / m->group > NETWORK_VERTICES) {
        n->opened = open && rank_graph_ranks_in(m, open) <= NETWORK_VERTICES;
        n->unit = UNIT_NODE;
    }
    for (;; n->unit++) {
        key_table_finish(keys);
        if (rank_graph_number_vertices(n, m, open, keys) < 0)
            return -ENOMEM;
        int crowded = n->unit == UNIT_NODE && !n->opened && m->latency.region_count > LABELS;
        uint32_t most = crowded ? LABELLED_DISCS : 2 * NETWORK_VERTICES;
        if (n->unit == UNIT_REGION || keys->count <= most)
            return 0;
    }
}

static void rank_graph_fill_vertices(struct rank_graph *n, const struct model *m)
{
    for (uint32_t rank = 0; rank < n->rank_count; rank++) {
        struct rank_graph_vertex *v = &n->vertices[n->vertex_of[rank]];
        uint32_t host = m->ranks[rank].node;
        if (!v->ranks) {
            v->rank = rank;
            v->region = latency_region_of(&m->latency, rank - rank % (uint32_t)m->group);
            v->host = host;
        }
        v->host = v->host == host ? host : UINT32_MAX;
        v->ranks++;
    }
}

/* Groups are the regions in the order of their lowest ranks; regions beyond the maximum form one
 * group. */
static int rank_graph_fill_groups(struct rank_graph *n)
{
    struct key_table regions = {0};
    n->groups = calloc(NETWORK_GROUPS + 1, sizeof *n->groups);
    int error = n->groups ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < n->vertex_count && !error; i++) {
        uint32_t g = key_table_add(&regions, (struct key){n->vertices[i].region, 0});
        n->vertices[i].group = g;
        error = g == KEY_NONE ? -ENOMEM : 0;
    }
    n->group_count = regions.count;
    int together = n->group_count > NETWORK_GROUPS;
    for (uint32_t i = 0; i < n->vertex_count && !error; i++) {
        struct rank_graph_vertex *v = &n->vertices[i];
        v->group = together ? 0 : v->group;
        n->groups[v->group].region = together ? 0 : v->region;
        n->groups[v->group].ranks += v->ranks;
    }
    n->group_count = together ? 1 : n->group_count;
    key_table_finish(&regions);
    return error;
}

/* ---- edges ---- */

static int rank_graph_number_edges(struct rank_graph *n, const struct model *m,
                                   struct key_table *keys)
{
    n->edge_of = malloc(((size_t)n->pair_count + 1) * sizeof *n->edge_of);
    if (!n->edge_of)
        return -ENOMEM;
    for (uint32_t i = 0; i < n->pair_count; i++) {
        struct model_pair p = model_pair_at(&m->pairs, i);
        n->edge_of[i] = NETWORK_NONE;
        if (p.source >= n->rank_count || p.destination >= n->rank_count)
            continue;
        uint32_t a = n->vertex_of[p.source], b = n->vertex_of[p.destination];
        if (a == b)
            continue;
        const struct key key = {a < b ? a : b, a < b ? b : a};
        n->edge_of[i] = key_table_add(keys, key);
        if (n->edge_of[i] == KEY_NONE)
            return -ENOMEM;
    }
    n->edge_count = keys->count;
    return 0;
}

static uint64_t rank_graph_name_of(const struct rank_graph_vertex *v)
{
    uint64_t key = mix_number(17, v->unit);
    key = mix_number(key, v->unit == UNIT_RANK ? v->rank : v->region);
    return mix_number(key, v->unit == UNIT_NODE ? v->host : v->unit == UNIT_REGION ? v->rank : 0);
}

/* Begin the layout. Weights are logarithms of totals since the start: they change slowly, and a
 * heavy pair does not distort the picture. */
static int rank_graph_place_vertices(struct rank_graph *n, const struct rank_graph *from,
                                     const struct model *m, const struct key_table *edge_keys)
{
    struct graph given = {.vertices = calloc(n->vertex_count + 1, sizeof *given.vertices),
                          .groups = calloc(n->group_count + 1, sizeof *given.groups),
                          .edges = calloc((size_t)n->edge_count + 1, sizeof *given.edges),
                          .vertex_count = n->vertex_count,
                          .group_count = n->group_count,
                          .edge_count = n->edge_count};
    int error = given.vertices && given.groups && given.edges ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < n->vertex_count && !error; i++)
        given.vertices[i] = (struct graph_vertex){.key = rank_graph_name_of(&n->vertices[i]),
                                                  .group = n->vertices[i].group,
                                                  .weight = n->vertices[i].ranks};
    for (uint32_t i = 0; i < n->group_count && !error; i++)
        given.groups[i].key = n->groups[i].region + 1;
    for (uint32_t i = 0; i < n->edge_count && !error; i++)
        given.edges[i] = (struct graph_edge){(uint32_t)edge_keys->keys[i].hi,
                                             (uint32_t)edge_keys->keys[i].lo, 0};
    for (uint32_t i = 0; i < n->pair_count && !error; i++)
        if (n->edge_of[i] != NETWORK_NONE)
            given.edges[n->edge_of[i]].weight +=
                (double)m->pairs.sums[(size_t)i * PAIR_COLUMNS + PAIR_MESSAGES];
    for (uint32_t i = 0; i < n->edge_count && !error; i++)
        given.edges[i].weight = log2(2 + given.edges[i].weight);
    if (!error)
        error = graph_set(&n->graph, &from->graph, &given);
    graph_finish(&given);
    return error;
}

static int rank_graph_build_graph(struct rank_graph *n, const struct rank_graph *from,
                                  const struct model *m, uint64_t open)
{
    struct key_table vertices = {0}, edges = {0};
    n->rank_count = m->rank_count;
    n->pair_count = m->pairs.keys.count;
    n->vertex_of = malloc((n->rank_count + 1) * sizeof *n->vertex_of);
    int error = n->vertex_of ? rank_graph_choose_units(n, m, open, &vertices) : -ENOMEM;
    if (!error) {
        n->vertex_count = vertices.count;
        n->vertices = calloc(n->vertex_count + 1, sizeof *n->vertices);
        error = n->vertices ? 0 : -ENOMEM;
    }
    for (uint32_t i = 0; i < n->vertex_count && !error; i++)
        n->vertices[i].unit = (enum rank_graph_unit)(vertices.keys[i].lo >> 32);
    if (!error) {
        rank_graph_fill_vertices(n, m);
        error = rank_graph_fill_groups(n);
    }
    if (!error)
        error = rank_graph_number_edges(n, m, &edges);
    if (!error)
        error = rank_graph_place_vertices(n, from, m, &edges);
    key_table_finish(&vertices);
    key_table_finish(&edges);
    return error;
}

int rank_graph_build(struct rank_graph *n, const struct rank_graph *from, const struct model *m,
                     uint64_t open)
{
    n->key = rank_graph_key(m, open);
    int error = rank_graph_build_graph(n, from, m, open);
    if (error)
        rank_graph_finish(n);
    return error;
}

/* ---- figures ---- */

static void rank_graph_sum_edges(struct rank_graph *n, const struct range *r,
                                 enum pair_column column)
{
    memset(n->edge_values, 0, n->edge_count * sizeof *n->edge_values);
    for (uint32_t i = 0; i < n->pair_count && i < r->pairs.count; i++)
        if (n->edge_of[i] != NETWORK_NONE)
            n->edge_values[n->edge_of[i]] +=
                (double)r->pairs.figures[(size_t)i * PAIR_COLUMNS + column];
    n->most = 0;
    for (uint32_t i = 0; i < n->edge_count; i++)
        n->most = fmax(n->most, n->edge_values[i]);
}

/* Sums of messages become their means. */
static void rank_graph_average(struct rank_graph_ratio *ratio, double messages)
{
    ratio->mean = latency_mean(messages, ratio->mean);
    ratio->error = latency_mean_error(messages, ratio->error);
}

/* Relative latencies of vertices and groups: geometric means weighted by the ranks' messages. */
static void rank_graph_average_ratios(struct rank_graph *n, const struct range *r, double *messages)
{
    uint32_t both = n->vertex_count + n->group_count;
    memset(messages, 0, both * sizeof *messages);
    memset(n->vertex_ratios, 0, n->vertex_count * sizeof *n->vertex_ratios);
    memset(n->group_ratios, 0, n->group_count * sizeof *n->group_ratios);
    for (uint32_t rank = 0; rank < n->rank_count && rank < r->ranks.count; rank++) {
        const uint64_t *f = r->latency.figures + (size_t)rank * LATENCY_COLUMNS;
        uint32_t v = n->vertex_of[rank], g = n->vertices[v].group;
        n->vertex_ratios[v].mean += (double)f[LATENCY_LOGS];
        n->vertex_ratios[v].error += (double)f[LATENCY_ERRORS];
        n->group_ratios[g].mean += (double)f[LATENCY_LOGS];
        n->group_ratios[g].error += (double)f[LATENCY_ERRORS];
        messages[v] += (double)f[LATENCY_MESSAGES];
        messages[n->vertex_count + g] += (double)f[LATENCY_MESSAGES];
    }
    for (uint32_t i = 0; i < n->vertex_count; i++)
        rank_graph_average(&n->vertex_ratios[i], messages[i]);
    for (uint32_t i = 0; i < n->group_count; i++)
        rank_graph_average(&n->group_ratios[i], messages[n->vertex_count + i]);
}

int rank_graph_figures(struct rank_graph *n, const struct range *r, enum pair_column column)
{
    uint64_t key = mix_number(mix_number(mix_number(3, n->key), r->version), (uint64_t)column);
    if (n->values_key == key)
        return 0;
    if (!n->edge_values)
        n->edge_values = malloc(((size_t)n->edge_count + 1) * sizeof *n->edge_values);
    if (!n->vertex_ratios)
        n->vertex_ratios = malloc((n->vertex_count + 1) * sizeof *n->vertex_ratios);
    if (!n->group_ratios)
        n->group_ratios = malloc((n->group_count + 1) * sizeof *n->group_ratios);
    double *messages = malloc((n->vertex_count + n->group_count + 1) * sizeof *messages);
    if (!n->edge_values || !n->vertex_ratios || !n->group_ratios || !messages) {
        free(messages);
        return -ENOMEM;
    }
    rank_graph_sum_edges(n, r, column);
    rank_graph_average_ratios(n, r, messages);
    free(messages);
    n->values_key = key;
    n->figures_version++;
    return 0;
}
