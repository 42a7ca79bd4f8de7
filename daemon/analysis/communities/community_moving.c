/* Moving single vertices between communities while modularity grows. */
#include "daemon/analysis/communities/community_moving.h"

#include "daemon/analysis/tables/arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
/* Moves end by themselves, since each gains, but where weights grow along a path each vertex may
 * push the one before it, which takes the square of its length. Others look at a vertex about five
 * times. */
#define MAXIMUM_LOOKS 12u
#define SMALL 512u /* vertices of a graph that may shrink by one at a time */

/* Number labels from 0 up by first appearance. @param label  of each, below count
 *  @return how many differ, or -ENOMEM */
static int64_t community_number(uint32_t *label, uint32_t count)
{
    uint32_t *number = malloc(((size_t)count + 1) * sizeof(*number)), next = 0;
    if (number == NULL)
        return -ENOMEM;
    memset(number, 0xff, count * sizeof(*number));
    for (uint32_t i = 0; i < count; i++) {
        if (number[label[i]] == NONE)
            number[label[i]] = next++;
        label[i] = number[label[i]];
    }
    free(number);
    return next;
}

double community_quality(const struct community_graph *g, const uint32_t *label)
{
    double *strength = calloc((size_t)g->vertices + 1, sizeof(*strength)), within = 0, square = 0;
    if (strength == NULL)
        return NAN;
    for (uint32_t v = 0; v < g->vertices; v++) {
        strength[label[v]] += g->strength[v];
        within += g->loops[v];
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
            within += label[g->to[i]] == label[v] ? g->weight[i] : 0;
    }
    for (uint32_t c = 0; c < g->vertices && g->total > 0; c++)
        square += (strength[c] / g->total) * (strength[c] / g->total);
    free(strength);
    return g->total > 0 ? within / g->total - square : 0;
}

/* ---- moving -------------------------------------------------------------------- */

struct moving {
    const struct community_graph *graph;
    double per_total;
    uint32_t *label;     /* borrowed */
    struct arena memory; /* of all arrays below */
    double *strength;    /* of each community */
    uint32_t *members;   /* of each community: how many */
    double *sum;         /* weight to each community; zero between searches */
    uint32_t *seen;      /* communities that have a sum */
    uint32_t *empty;     /* labels without members */
    uint32_t empties;
};

static int moving_init(struct moving *m, const struct community_graph *g, uint32_t *label)
{
    size_t capacity = (size_t)g->vertices + 1;
    *m = (struct moving){.graph = g, .per_total = g->total > 0 ? 1 / g->total : 0, .label = label};
    ARENA_TAKE(&m->memory, m->strength, capacity);
    ARENA_TAKE(&m->memory, m->members, capacity);
    ARENA_TAKE(&m->memory, m->sum, capacity);
    ARENA_TAKE(&m->memory, m->seen, capacity); /* written one past the last */
    ARENA_TAKE(&m->memory, m->empty, capacity);
    if (m->memory.failed)
        return -ENOMEM;
    for (uint32_t v = 0; v < g->vertices; v++) {
        m->strength[label[v]] += g->strength[v];
        m->members[label[v]]++;
    }
    for (uint32_t c = g->vertices; c-- > 0;)
        if (m->members[c] == 0)
            m->empty[m->empties++] = c;
    return 0;
}

/* The community in which a vertex, removed from its own, gains most: its own if none is better.
 * @param within  by vertex; only communities of vertices with the same value count; NULL: all */
static uint32_t find_community(struct moving *m, uint32_t v, const uint32_t *within)
{
    const struct community_graph *g = m->graph;
    const uint32_t *label = m->label, *neighbour = g->to;
    const double *strength = m->strength, per_total = m->per_total;
    double *sum = m->sum;
    uint32_t own = label[v], best = own, seen = 0, *list = m->seen;
    for (uint32_t i = g->first[v], end = g->first[v + 1]; i < end; i++) {
        uint32_t to = label[neighbour[i]];
        if (within != NULL && within[neighbour[i]] != within[v])
            continue;
        list[seen] = to;
        seen += sum[to] == 0;
        sum[to] += g->weight[i];
    }
    double self = g->strength[v];
    double maximum = community_gain(sum[own], self, strength[own] - self, per_total);
    sum[own] = 0;
    if (maximum < 1 && m->members[own] > 1 && within == NULL) { /* better alone */
        maximum = 1;
        best = m->empty[m->empties - 1];
    }
    for (uint32_t i = 0; i < seen; i++) {
        uint32_t c = list[i];
        double score = community_gain(sum[c], self, strength[c], per_total);
        sum[c] = 0;
        if (c != own && (score > maximum || (score == maximum && best != own && c < best))) {
            maximum = score;
            best = c;
        }
    }
    return best;
}

static void community_moving_move_vertex(struct moving *m, uint32_t v, uint32_t to)
{
    uint32_t from = m->label[v];
    if (m->members[to]++ == 0)
        m->empties--; /* it was the top */
    if (--m->members[from] == 0) {
        m->empty[m->empties++] = from;
        m->strength[from] = 0; /* the exact 0, without a rounding error */
    } else {
        m->strength[from] -= m->graph->strength[v];
    }
    m->strength[to] += m->graph->strength[v];
    m->label[v] = to;
}

/* A first-in, first-out queue; each vertex is in it at most once. */
struct queue {
    uint32_t *vertex; /* owned */
    bool *waits;      /* owned; of each vertex */
    uint32_t capacity, begin, count;
};

static int queue_init(struct queue *q, uint32_t capacity, const bool *begin)
{
    *q = (struct queue){.vertex = malloc(((size_t)capacity + 1) * sizeof(*q->vertex)),
                        .waits = calloc((size_t)capacity + 1, sizeof(*q->waits)),
                        .capacity = capacity};
    if (q->vertex == NULL || q->waits == NULL)
        return -ENOMEM;
    for (uint32_t v = 0; v < capacity; v++)
        if (begin == NULL || begin[v]) {
            q->waits[v] = true;
            q->vertex[q->count++] = v;
        }
    return 0;
}

static void queue_finish(struct queue *q)
{
    free(q->vertex);
    free(q->waits);
}

static void queue_push(struct queue *q, uint32_t v)
{
    uint32_t at = q->begin + q->count;
    if (q->waits[v])
        return;
    q->waits[v] = true;
    q->vertex[at < q->capacity ? at : at - q->capacity] = v;
    q->count++;
}

static uint32_t queue_pop(struct queue *q)
{
    uint32_t v = q->vertex[q->begin];
    q->begin = q->begin + 1 < q->capacity ? q->begin + 1 : 0;
    q->count--;
    q->waits[v] = false;
    return v;
}

static void move_all(struct moving *m, struct queue *q)
{
    const struct community_graph *g = m->graph;
    for (uint64_t looks = (uint64_t)g->vertices * MAXIMUM_LOOKS; q->count > 0 && looks > 0;
         looks--) {
        uint32_t v = queue_pop(q), to = find_community(m, v, NULL);
        if (to == m->label[v])
            continue;
        community_moving_move_vertex(m, v, to);
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
            if (m->label[g->to[i]] != to)
                queue_push(q, g->to[i]);
    }
}

int community_move(const struct community_graph *graph, uint32_t *label, const bool *begin)
{
    struct moving moving;
    struct queue queue = {0};
    int rc = moving_init(&moving, graph, label);
    rc = rc == 0 ? queue_init(&queue, graph->vertices, begin) : rc;
    if (rc == 0)
        move_all(&moving, &queue);
    queue_finish(&queue);
    arena_finish(&moving.memory);
    return rc;
}

/* ---- levels -------------------------------------------------------------------- */

/* Communities within communities: vertices, each alone at first, join others of the same label
 * where that gains. Whatever has been joined stays. @return how many, or -ENOMEM */
static int64_t community_moving_refine(const struct community_graph *g, const uint32_t *label,
                                       uint32_t *refined)
{
    struct moving m;
    for (uint32_t v = 0; v < g->vertices; v++)
        refined[v] = v;
    int64_t rc = moving_init(&m, g, refined);
    for (uint32_t v = 0; rc == 0 && v < g->vertices; v++) {
        uint32_t to = m.members[refined[v]] == 1 ? find_community(&m, v, label) : refined[v];
        if (to != refined[v])
            community_moving_move_vertex(&m, v, to);
    }
    arena_finish(&m.memory);
    return rc < 0 ? rc : community_number(refined, g->vertices);
}

struct levels {
    const struct community_graph *whole;
    struct community_graph graph; /* owned; contracted: no vertices before the first contraction */
    uint32_t *node;               /* owned; of each vertex: that of the graph */
    uint32_t *label;              /* owned; of each node */
    uint32_t *refined;            /* owned; scratch: of each node */
};

/* One vertex of each part, which keeps the label of its members. */
static int community_moving_climb(struct levels *l, const struct community_graph *g, uint32_t parts)
{
    struct community_graph next;
    uint32_t *label = malloc(((size_t)parts + 1) * sizeof(*label));
    if (label == NULL)
        return -ENOMEM;
    if (community_graph_contract(&next, g, l->refined, parts) != 0) {
        free(label);
        return -ENOMEM;
    }
    for (uint32_t v = 0; v < g->vertices; v++)
        label[l->refined[v]] = l->label[v];
    for (uint32_t v = 0; v < l->whole->vertices; v++)
        l->node[v] = l->refined[l->node[v]];
    free(l->label);
    l->label = label;
    community_graph_finish(&l->graph);
    l->graph = next;
    return 0;
}

/* Levels that hardly shrink would be many. */
static bool is_smaller(const struct community_graph *g, int64_t parts)
{
    return parts < (g->vertices > SMALL ? g->vertices - g->vertices / 16 : g->vertices);
}

/* @return communities when there is no further level, 0 when there is, or -ENOMEM */
static int64_t community_moving_coarsen_level(struct levels *l)
{
    const struct community_graph *g = l->graph.vertices == 0 ? l->whole : &l->graph;
    int64_t count = community_move(g, l->label, NULL);
    count = count < 0 ? count : community_number(l->label, g->vertices);
    if (count < 0 || count == g->vertices)
        return count;
    int64_t parts = community_moving_refine(g, l->label, l->refined);
    if (parts < 0)
        return parts;
    if (!is_smaller(g, parts)) { /* little to refine: whole communities move next */
        memcpy(l->refined, l->label, g->vertices * sizeof(*l->refined));
        parts = count;
    }
    if (!is_smaller(g, parts))
        return count;
    return community_moving_climb(l, g, (uint32_t)parts);
}

int64_t community_optimise(const struct community_graph *graph, uint32_t *label)
{
    size_t capacity = (size_t)graph->vertices + 1;
    struct levels l = {.whole = graph,
                       .node = malloc(capacity * sizeof(*l.node)),
                       .label = malloc(capacity * sizeof(*l.label)),
                       .refined = malloc(capacity * sizeof(*l.refined))};
    int64_t count = l.node == NULL || l.label == NULL || l.refined == NULL ? -ENOMEM : 0;
    for (uint32_t v = 0; count == 0 && v < graph->vertices; v++) {
        l.node[v] = v;
        l.label[v] = label[v];
    }
    if (graph->vertices > 0)
        while (count == 0)
            count = community_moving_coarsen_level(&l);
    for (uint32_t v = 0; count > 0 && v < graph->vertices; v++)
        label[v] = l.label[l.node[v]];
    community_graph_finish(&l.graph);
    free(l.node);
    free(l.label);
    free(l.refined);
    return count < 0 ? count : community_number(label, graph->vertices);
}
