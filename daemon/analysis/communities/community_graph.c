/* Weighted undirected graphs: build, contract, compare, modularity. */
#include "daemon/analysis/communities/community_graph.h"

#include "daemon/analysis/tables/arena.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* @param links  entries of all rows together, or more */
static int community_graph_allocate(struct community_graph *g, uint32_t vertices, size_t links)
{
    *g = (struct community_graph){
        .vertices = vertices,
        .first = calloc((size_t)vertices + 2, sizeof(*g->first)),
        .to = malloc((links + 1) * sizeof(*g->to)),
        .weight = malloc((links + 1) * sizeof(*g->weight)),
        .loops = calloc((size_t)vertices + 1, sizeof(*g->loops)),
        .strength = calloc((size_t)vertices + 1, sizeof(*g->strength)),
    };
    if (g->first != NULL && g->to != NULL && g->weight != NULL && g->loops != NULL &&
        g->strength != NULL)
        return 0;
    community_graph_finish(g);
    return -ENOMEM;
}

void community_graph_finish(struct community_graph *g)
{
    free(g->first);
    free(g->to);
    free(g->weight);
    free(g->loops);
    free(g->strength);
    *g = (struct community_graph){0};
}

static bool community_graph_is_valid(uint32_t vertices, const struct communities_edge *edge)
{
    return edge->a < vertices && edge->b < vertices && edge->weight >= COMMUNITIES_MINIMUM_WEIGHT &&
           edge->weight <= COMMUNITIES_MAXIMUM_WEIGHT; /* false for a NaN */
}

struct half {
    uint32_t from, to;
    double weight;
};

/* From counts at [v + 2] to begins at [v + 1], which filling moves on to ends. */
static void community_graph_add_up(uint32_t *first, uint32_t vertices)
{
    for (uint32_t v = 1; v <= vertices; v++)
        first[v + 1] += first[v];
}

/* Both directions of all edges, ordered by their target. */
static void order_by_target(struct half *halves, uint32_t *first, uint32_t vertices,
                            const struct communities_edge *edges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        first[edges[i].a + 2] += edges[i].a != edges[i].b;
        first[edges[i].b + 2] += edges[i].a != edges[i].b;
    }
    community_graph_add_up(first, vertices);
    for (size_t i = 0; i < count; i++) {
        const struct communities_edge *e = &edges[i];
        if (e->a == e->b)
            continue;
        halves[first[e->b + 1]++] = (struct half){e->a, e->b, e->weight};
        halves[first[e->a + 1]++] = (struct half){e->b, e->a, e->weight};
    }
}

/* Entries of the same target stand next to each other: make them one. */
static void sum_duplicates(struct community_graph *g)
{
    uint32_t kept = 0, begin = 0;
    for (uint32_t v = 0; v < g->vertices; v++) {
        uint32_t row = kept, end = g->first[v + 1];
        for (uint32_t i = begin; i < end; i++) {
            if (kept > row && g->to[kept - 1] == g->to[i]) {
                g->weight[kept - 1] += g->weight[i];
                continue;
            }
            g->to[kept] = g->to[i];
            g->weight[kept++] = g->weight[i];
        }
        begin = end;
        g->first[v + 1] = kept;
    }
}

static void sum_strengths(struct community_graph *g)
{
    g->total = 0;
    for (uint32_t v = 0; v < g->vertices; v++) {
        g->strength[v] = g->loops[v];
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
            g->strength[v] += g->weight[i];
        g->total += g->strength[v];
    }
}

/* Edges in any order: ordering them by target first makes rows ascend. */
static int community_graph_fill_rows(struct community_graph *g,
                                     const struct communities_edge *edges, size_t count)
{
    struct half *halves = malloc((2 * count + 1) * sizeof(*halves));
    if (halves == NULL)
        return -ENOMEM;
    order_by_target(halves, g->first, g->vertices, edges, count);
    /* A graph has as many entries from a vertex as to it: the same begins serve again. */
    uint32_t links = g->vertices == 0 ? 0 : g->first[g->vertices];
    memmove(g->first + 1, g->first, g->vertices * sizeof(*g->first));
    g->first[0] = 0;
    for (uint32_t i = 0; i < links; i++) {
        uint32_t at = g->first[halves[i].from + 1]++;
        g->to[at] = halves[i].to;
        g->weight[at] = halves[i].weight;
    }
    free(halves);
    for (size_t i = 0; i < count; i++)
        if (edges[i].a == edges[i].b)
            g->loops[edges[i].a] += 2 * edges[i].weight;
    sum_duplicates(g);
    return 0;
}

int community_graph_build(struct community_graph *out, uint32_t vertices,
                          const struct communities_edge *edges, size_t count)
{
    struct community_graph g;
    for (size_t i = 0; i < count; i++)
        if (!community_graph_is_valid(vertices, &edges[i]))
            return -HOLTER_ERANGE;
    if (community_graph_allocate(&g, vertices, 2 * count) != 0)
        return -ENOMEM;
    if (community_graph_fill_rows(&g, edges, count) != 0) {
        community_graph_finish(&g);
        return -ENOMEM;
    }
    sum_strengths(&g);
    *out = g;
    return 0;
}

/* ---- contraction --------------------------------------------------------------- */

struct contraction {
    struct arena memory; /* of all arrays */
    uint32_t *first;     /* of each part's members, in `member` */
    uint32_t *member;    /* vertices by part */
    uint32_t *seen;      /* parts that have a sum */
    double *sum;         /* of each part; zero between rows */
};

static int contraction_init(struct contraction *c, const struct community_graph *g,
                            const uint32_t *part, uint32_t parts)
{
    ARENA_TAKE(&c->memory, c->first, (size_t)parts + 2);
    ARENA_TAKE(&c->memory, c->member, (size_t)g->vertices + 1);
    ARENA_TAKE(&c->memory, c->seen, (size_t)parts + 1); /* written one past the last */
    ARENA_TAKE(&c->memory, c->sum, (size_t)parts + 1);
    if (c->memory.failed)
        return -ENOMEM;
    for (uint32_t v = 0; v < g->vertices; v++)
        c->first[part[v] + 2]++;
    community_graph_add_up(c->first, parts);
    for (uint32_t v = 0; v < g->vertices; v++)
        c->member[c->first[part[v] + 1]++] = v;
    return 0;
}

static void contract_row(struct contraction *c, struct community_graph *out, uint32_t self,
                         const struct community_graph *g, const uint32_t *part)
{
    uint32_t seen = 0, at = out->first[self];
    for (uint32_t m = c->first[self]; m < c->first[self + 1]; m++) {
        uint32_t v = c->member[m];
        out->loops[self] += g->loops[v];
        out->strength[self] += g->strength[v];
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            uint32_t to = part[g->to[i]];
            if (to == self) {
                out->loops[self] += g->weight[i];
                continue;
            }
            c->seen[seen] = to;
            seen += c->sum[to] == 0;
            c->sum[to] += g->weight[i];
        }
    }
    for (uint32_t i = 0; i < seen; i++, at++) {
        out->to[at] = c->seen[i];
        out->weight[at] = c->sum[c->seen[i]];
        c->sum[c->seen[i]] = 0;
    }
    out->first[self + 1] = at;
}

int community_graph_contract(struct community_graph *out, const struct community_graph *graph,
                             const uint32_t *part, uint32_t parts)
{
    struct community_graph g = {0};
    struct contraction c = {0};
    int rc = contraction_init(&c, graph, part, parts);
    rc = rc == 0 ? community_graph_allocate(
                       &g, parts, graph->vertices == 0 ? 0 : graph->first[graph->vertices])
                 : rc;
    for (uint32_t p = 0; rc == 0 && p < parts; p++)
        contract_row(&c, &g, p, graph, part);
    arena_finish(&c.memory);
    g.total = graph->total;
    if (rc == 0)
        *out = g;
    return rc;
}

/* ---- comparison ---------------------------------------------------------------- */

/* Both rows ascend. */
static double compare_row(const struct community_graph *a, const struct community_graph *b,
                          uint32_t v)
{
    uint32_t i = a->first[v], j = b->first[v], i_end = a->first[v + 1], j_end = b->first[v + 1];
    double sum = fabs(a->loops[v] - b->loops[v]);
    while (i < i_end || j < j_end) {
        if (j == j_end || (i < i_end && a->to[i] < b->to[j]))
            sum += a->weight[i++];
        else if (i == i_end || b->to[j] < a->to[i])
            sum += b->weight[j++];
        else
            sum += fabs(a->weight[i++] - b->weight[j++]);
    }
    return sum;
}

double community_graph_compare(const struct community_graph *before,
                               const struct community_graph *after, bool *touched)
{
    double sum = 0;
    for (uint32_t v = 0; v < after->vertices; v++) {
        double one = compare_row(before, after, v);
        touched[v] = one > 0;
        sum += one;
    }
    return sum;
}
