/* Force-directed layout of a graph with groups: setup, group stage, vertex stage, publishing. */
#include "viewer/layout/graph.h"

#include "holter/order.h"
#include "viewer/layout/mix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP_ROUNDS = 160,
    APART_ROUNDS = 60, /* only separate overlapping discs */
    VERTEX_ROUNDS = 100,
    WARM = 4, /* a graph with previous positions needs a quarter of the rounds, at a quarter of the
                 temperature */
};

static const double vertex_room = 1.55; /* radius of a group's disc per root of its weight */
static const double pi = 3.14159265358979323846;
static const double wide = 1.45; /* aspect ratio of the layout: screens are wider than high */

struct graph_layout {
    struct graph_vertex *vertices; /* x, y relative to the group's centre until published */
    struct graph_group *groups;
    struct graph_edge *edges;
    uint32_t vertex_count, group_count, edge_count;
    double *between;         /* group_count^2: share of common edges, symmetric */
    double *move;            /* displacement: x and y of each group or vertex */
    double *degree;          /* weight of all edges of a vertex */
    uint32_t *head, *next;   /* grid: first vertex of a cell, next vertex of the same cell */
    uint32_t *order, *begin; /* vertices by group, and where each group begins */
    uint32_t round, group_rounds, vertex_rounds;
    uint32_t at; /* group being worked on in the second stage */
    double heat; /* 1: cold start */
    enum { STAGE_GROUPS, STAGE_APART, STAGE_VERTICES, STAGE_DONE } stage;
};

static void graph_layout_destroy(struct graph_layout *l)
{
    if (!l)
        return;
    free(l->vertices);
    free(l->groups);
    free(l->edges);
    free(l->between);
    free(l->move);
    free(l->degree);
    free(l->head);
    free(l->next);
    free(l->order);
    free(l->begin);
    free(l);
}

void graph_finish(struct graph *g)
{
    graph_layout_destroy(g->layout);
    free(g->vertices);
    free(g->groups);
    free(g->edges);
    *g = (struct graph){0};
}

/* Small deterministic offset that keeps vertices from coinciding. */
static double graph_jitter(uint64_t seed, uint64_t key)
{
    return mix_jitter(seed * UINT64_C(0x9e3779b97f4a7c15) ^ key);
}

/* ---- setting up ---- */

static struct graph_layout *graph_layout_create(uint32_t vertices, uint32_t groups, uint32_t edges)
{
    struct graph_layout *l = calloc(1, sizeof *l);
    uint32_t most = vertices > groups ? vertices : groups;
    if (!l)
        return NULL;
    l->vertices = calloc(vertices + 1, sizeof *l->vertices);
    l->groups = calloc(groups + 1, sizeof *l->groups);
    l->edges = calloc((size_t)edges + 1, sizeof *l->edges);
    l->between = calloc((size_t)groups * groups + 1, sizeof *l->between);
    l->move = calloc((size_t)most * 2 + 2, sizeof *l->move);
    l->degree = calloc(vertices + 1, sizeof *l->degree);
    l->head = calloc((size_t)vertices * 2 + 64, sizeof *l->head);
    l->next = calloc(vertices + 1, sizeof *l->next);
    l->order = calloc(vertices + 1, sizeof *l->order);
    l->begin = calloc((size_t)groups + 2, sizeof *l->begin);
    if (l->vertices && l->groups && l->edges && l->between && l->move && l->degree && l->head &&
        l->next && l->order && l->begin)
        return l;
    graph_layout_destroy(l);
    return NULL;
}

static void graph_sort_by_group(struct graph_layout *l)
{
    for (uint32_t i = 0; i < l->vertex_count; i++)
        l->begin[l->vertices[i].group + 1]++;
    for (uint32_t k = 0; k < l->group_count; k++)
        l->begin[k + 1] += l->begin[k];
    for (uint32_t i = 0; i < l->vertex_count; i++) /* next temporarily holds the counts */
        l->order[l->begin[l->vertices[i].group] + l->next[l->vertices[i].group]++] = i;
    memset(l->next, 0, l->vertex_count * sizeof *l->next);
}

static void graph_weigh(struct graph_layout *l)
{
    double most = 0;
    for (uint32_t i = 0; i < l->vertex_count; i++)
        l->groups[l->vertices[i].group].radius += l->vertices[i].weight;
    for (uint32_t k = 0; k < l->group_count; k++)
        l->groups[k].radius = vertex_room * sqrt(l->groups[k].radius) + 0.5;
    for (uint32_t i = 0; i < l->edge_count; i++) {
        const struct graph_edge *e = &l->edges[i];
        uint32_t a = l->vertices[e->a].group, b = l->vertices[e->b].group;
        l->degree[e->a] += e->weight;
        l->degree[e->b] += e->weight;
        if (a == b)
            continue;
        double *there = &l->between[(size_t)a * l->group_count + b],
               *back = &l->between[(size_t)b * l->group_count + a];
        *there += e->weight;
        *back = *there;
        most = fmax(most, *there);
    }
    for (size_t i = 0; most > 0 && i < (size_t)l->group_count * l->group_count; i++)
        l->between[i] /= most;
}

/* Initial positions: groups on an ellipse in their order, vertices along a spiral in theirs, spaced
 * like the turns of the spiral: neighbours in number are often communication partners, and so begin
 * as neighbours. */
static void graph_place_initially(struct graph_layout *l)
{
    double round = 0, at = 0;
    for (uint32_t k = 0; k < l->group_count; k++)
        round += 2.4 * l->groups[k].radius;
    double circle = l->group_count > 1 ? round / (2 * pi) : 0;
    for (uint32_t k = 0; k < l->group_count; k++) {
        struct graph_group *g = &l->groups[k];
        double angle = (at + 1.2 * g->radius) / fmax(round, 1e-9) * 2 * pi - 1.3;
        at += 2.4 * g->radius;
        g->x = circle * sqrt(wide) * cos(angle) + 0.1 * graph_jitter(1, g->key);
        g->y = circle / sqrt(wide) * sin(angle) + 0.1 * graph_jitter(2, g->key);
        uint32_t n = l->begin[k + 1] - l->begin[k];
        for (uint32_t i = 0; i < n; i++) {
            struct graph_vertex *v = &l->vertices[l->order[l->begin[k] + i]];
            double r = g->radius * 0.92 * sqrt(((double)i + 0.5) / n);
            double turn = sqrt(4 * pi * ((double)i + 0.5));
            v->x = r * cos(turn) + 0.02 * graph_jitter(3, v->key);
            v->y = r * sin(turn) + 0.02 * graph_jitter(4, v->key);
        }
    }
}

struct known {
    uint64_t key;
    double x, y;
};

ORDER_FUNCTION(graph_compare_by_key, struct known, ORDER(a->key, b->key))

static const struct known *graph_find_previous(const struct known *known, uint32_t count,
                                               uint64_t key)
{
    const struct known wanted = {.key = key};
    return count ? bsearch(&wanted, known, count, sizeof *known, graph_compare_by_key) : NULL;
}

/* Reuse the positions of groups and vertices that the previous graph had.
 * @return share of the vertices that it had */
static double graph_reuse_places(struct graph_layout *l, const struct graph *g, struct known *known)
{
    double scale = 0; /* from the visible graph, which was scaled to fit, to the layout */
    uint32_t found = 0;
    for (uint32_t k = 0; k < g->group_count; k++)
        known[k] = (struct known){g->groups[k].key, k, 0};
    qsort(known, g->group_count, sizeof *known, graph_compare_by_key);
    for (uint32_t k = 0; k < l->group_count && scale <= 0; k++) {
        const struct known *was = graph_find_previous(known, g->group_count, l->groups[k].key);
        if (was && g->groups[(uint32_t)was->x].radius > 0)
            scale = l->groups[k].radius / g->groups[(uint32_t)was->x].radius;
    }
    for (uint32_t k = 0; k < l->group_count; k++) {
        const struct known *was = graph_find_previous(known, g->group_count, l->groups[k].key);
        if (was) {
            l->groups[k].x = g->groups[(uint32_t)was->x].x * scale;
            l->groups[k].y = g->groups[(uint32_t)was->x].y * scale;
        }
    }
    for (uint32_t i = 0; i < g->vertex_count; i++) {
        const struct graph_vertex *v = &g->vertices[i];
        known[i] = (struct known){v->key, (v->x - g->groups[v->group].x) * scale,
                                  (v->y - g->groups[v->group].y) * scale};
    }
    qsort(known, g->vertex_count, sizeof *known, graph_compare_by_key);
    for (uint32_t i = 0; i < l->vertex_count; i++) {
        const struct known *was = graph_find_previous(known, g->vertex_count, l->vertices[i].key);
        if (was && scale > 0) {
            l->vertices[i].x = was->x;
            l->vertices[i].y = was->y;
            found++;
        }
    }
    return l->vertex_count ? (double)found / l->vertex_count : 0;
}

int graph_set(struct graph *g, const struct graph *from, const struct graph *given)
{
    struct graph_layout *l =
        graph_layout_create(given->vertex_count, given->group_count, given->edge_count);
    uint32_t before =
        from->vertex_count > from->group_count ? from->vertex_count : from->group_count;
    struct known *known = malloc((before + 1) * sizeof *known);
    if (!l || !known) {
        graph_layout_destroy(l);
        free(known);
        return -ENOMEM;
    }
    l->vertex_count = given->vertex_count;
    l->group_count = given->group_count;
    l->edge_count = given->edge_count;
    for (uint32_t i = 0; i < l->vertex_count; i++)
        l->vertices[i] = given->vertices[i];
    for (uint32_t i = 0; i < l->edge_count; i++)
        l->edges[i] = given->edges[i];
    for (uint32_t k = 0; k < l->group_count; k++)
        l->groups[k].key = given->groups[k].key;
    graph_sort_by_group(l);
    graph_weigh(l);
    graph_place_initially(l);
    int warm = graph_reuse_places(l, from, known) > 0.6;
    l->heat = warm ? 1.0 / WARM : 1;
    l->group_rounds = warm ? GROUP_ROUNDS / WARM : GROUP_ROUNDS;
    l->vertex_rounds = warm ? VERTEX_ROUNDS / WARM : VERTEX_ROUNDS;
    free(known);
    graph_layout_destroy(g->layout);
    g->layout = l;
    return 0;
}

/* ---- groups ---- */

/* Displace by the forces, limited by the temperature. */
static void graph_step(double *x, double *y, const double *move, double most)
{
    double length = hypot(move[0], move[1]);
    if (length <= 0)
        return;
    double share = fmin(length, most) / length;
    *x += move[0] * share;
    *y += move[1] * share;
}

static void graph_apply_group_forces(struct graph_layout *l, uint32_t a)
{
    const struct graph_group *p = &l->groups[a];
    double *move = &l->move[2 * (size_t)a];
    move[0] = -0.05 / wide * p->x; /* towards the centre, so that nothing drifts away */
    move[1] = -0.05 * wide * p->y;
    for (uint32_t b = 0; b < l->group_count; b++) {
        const struct graph_group *q = &l->groups[b];
        if (a == b)
            continue;
        double dx = p->x - q->x, dy = p->y - q->y, d = fmax(hypot(dx, dy), 1e-6);
        double ideal = 1.2 * (p->radius + q->radius);
        double push = d < 2.4 * ideal ? ideal * ideal / d : 0;
        double pull = 1.3 * l->between[(size_t)a * l->group_count + b] * d * d / ideal;
        move[0] += dx / d * (push - pull) * 0.1;
        move[1] += dy / d * (push - pull) * 0.1;
    }
}

static void graph_run_group_round(struct graph_layout *l)
{
    double widest = 0;
    for (uint32_t a = 0; a < l->group_count; a++) {
        graph_apply_group_forces(l, a);
        widest = fmax(widest, l->groups[a].radius);
    }
    double left = 1 - (double)l->round / l->group_rounds;
    for (uint32_t a = 0; a < l->group_count; a++)
        graph_step(&l->groups[a].x, &l->groups[a].y, &l->move[2 * (size_t)a],
                   widest * left * l->heat);
}

/* Separate overlapping discs. @return 1 when some overlapped */
static int graph_separate_groups(struct graph_layout *l)
{
    int some = 0;
    for (uint32_t a = 0; a < l->group_count; a++) {
        for (uint32_t b = a + 1; b < l->group_count; b++) {
            struct graph_group *p = &l->groups[a], *q = &l->groups[b];
            double dx = p->x - q->x, dy = p->y - q->y, d = fmax(hypot(dx, dy), 1e-6);
            double least = 1.16 * (p->radius + q->radius) + 1;
            if (d >= least)
                continue;
            double half = (least - d) / 2 * 1.02;
            p->x += dx / d * half;
            p->y += dy / d * half;
            q->x -= dx / d * half;
            q->y -= dy / d * half;
            some = 1;
        }
    }
    return some;
}

/* ---- vertices ---- */

/* Grid over the vertices of a group; cells are as wide as forces reach. */
struct cells {
    uint32_t side;
    double width, from;
};

static uint32_t graph_cell_of(const struct cells *c, double at)
{
    double k = floor((at - c->from) / c->width);
    return (uint32_t)fmin(fmax(k, 0), c->side - 1);
}

static struct cells graph_fill_cells(struct graph_layout *l, uint32_t group, double reach)
{
    double radius = l->groups[group].radius;
    uint32_t n = l->begin[group + 1] - l->begin[group];
    uint32_t most = (uint32_t)sqrt((double)n * 2 + 16); /* side^2 fits into head */
    struct cells c = {.side = (uint32_t)fmin(fmax(floor(2 * radius / reach), 1), most),
                      .from = -radius};
    c.width = 2 * radius / c.side;
    memset(l->head, 0, (size_t)c.side * c.side * sizeof *l->head);
    for (uint32_t i = l->begin[group]; i < l->begin[group + 1]; i++) {
        const struct graph_vertex *v = &l->vertices[l->order[i]];
        uint32_t cell = graph_cell_of(&c, v->y) * c.side + graph_cell_of(&c, v->x);
        l->next[l->order[i]] = l->head[cell];
        l->head[cell] = l->order[i] + 1;
    }
    return c;
}

static uint64_t graph_repulse(struct graph_layout *l, uint32_t at, const struct cells *c,
                              double spacing)
{
    const struct graph_vertex *v = &l->vertices[at];
    uint32_t cx = graph_cell_of(c, v->x), cy = graph_cell_of(c, v->y);
    uint64_t looked = 0;
    double *move = &l->move[2 * (size_t)at], own = sqrt(v->weight);
    for (uint32_t y = cy ? cy - 1 : 0; y <= cy + 1 && y < c->side; y++) {
        for (uint32_t x = cx ? cx - 1 : 0; x <= cx + 1 && x < c->side; x++) {
            for (uint32_t k = l->head[y * c->side + x]; k; k = l->next[k - 1]) {
                const struct graph_vertex *o = &l->vertices[k - 1];
                double dx = v->x - o->x, dy = v->y - o->y, d2 = dx * dx + dy * dy;
                double ideal = spacing * (own + sqrt(o->weight)) / 2;
                looked++;
                if (k - 1 == at || d2 > 4 * ideal * ideal)
                    continue;
                d2 = fmax(d2, 1e-6);
                double push = ideal * ideal / d2; /* k^2/d along the unit vector */
                move[0] += dx * push;
                move[1] += dy * push;
            }
        }
    }
    return looked;
}

static void graph_attract(struct graph_layout *l, double spacing)
{
    for (uint32_t i = 0; i < l->edge_count; i++) {
        const struct graph_edge *e = &l->edges[i];
        struct graph_vertex *a = &l->vertices[e->a], *b = &l->vertices[e->b];
        double share[2] = {e->weight / fmax(l->degree[e->a], 1e-12),
                           e->weight / fmax(l->degree[e->b], 1e-12)};
        if (a->group != b->group) { /* outward, towards the partner's group */
            const struct graph_group *p = &l->groups[a->group], *q = &l->groups[b->group];
            double dx = q->x - p->x, dy = q->y - p->y, d = fmax(hypot(dx, dy), 1e-6);
            for (int end = 0; end < 2; end++) {
                double *move = &l->move[2 * (size_t)(end ? e->b : e->a)];
                double pull = (end ? -1 : 1) * share[end] * 1.1 * spacing / d;
                move[0] += dx * pull;
                move[1] += dy * pull;
            }
            continue;
        }
        double dx = b->x - a->x, dy = b->y - a->y, pull = hypot(dx, dy) / spacing * 0.8;
        l->move[2 * (size_t)e->a] += dx * pull * share[0];
        l->move[2 * (size_t)e->a + 1] += dy * pull * share[0];
        l->move[2 * (size_t)e->b] -= dx * pull * share[1];
        l->move[2 * (size_t)e->b + 1] -= dy * pull * share[1];
    }
}

static void graph_keep_inside(struct graph_vertex *v, double radius)
{
    double d = hypot(v->x, v->y), most = fmax(radius - 0.8 * sqrt(v->weight), radius * 0.05);
    if (d > most) {
        v->x *= most / d;
        v->y *= most / d;
    }
}

/* One round over all groups. @return approximate number of pairs examined */
static uint64_t graph_run_vertex_round(struct graph_layout *l)
{
    uint64_t looked = l->edge_count;
    const double spacing = vertex_room * 1.7;
    memset(l->move, 0, (size_t)l->vertex_count * 2 * sizeof *l->move);
    for (uint32_t k = 0; k < l->group_count; k++) {
        double heaviest = 1;
        for (uint32_t i = l->begin[k]; i < l->begin[k + 1]; i++)
            heaviest = fmax(heaviest, l->vertices[l->order[i]].weight);
        struct cells c = graph_fill_cells(l, k, 2 * spacing * sqrt(heaviest));
        for (uint32_t i = l->begin[k]; i < l->begin[k + 1]; i++)
            looked += graph_repulse(l, l->order[i], &c, spacing);
    }
    double left = 1 - (double)l->round / (l->vertex_rounds + 1);
    if (left > 0.25) /* the last rounds only separate vertices */
        graph_attract(l, spacing);
    for (uint32_t i = 0; i < l->vertex_count; i++) {
        struct graph_vertex *v = &l->vertices[i];
        double radius = l->groups[v->group].radius;
        graph_step(&v->x, &v->y, &l->move[2 * (size_t)i], radius * 0.16 * left * l->heat);
        graph_keep_inside(v, radius);
    }
    return looked;
}

/* ---- the whole ---- */

/* Scale the finished layout to -1 to 1 and make it the visible graph. */
static void graph_publish(struct graph *g)
{
    struct graph_layout *l = g->layout;
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (uint32_t k = 0; k < l->group_count; k++) {
        const struct graph_group *p = &l->groups[k];
        x0 = fmin(x0, p->x - p->radius);
        x1 = fmax(x1, p->x + p->radius);
        y0 = fmin(y0, p->y - p->radius);
        y1 = fmax(y1, p->y + p->radius);
    }
    double cx = (x0 + x1) / 2, cy = (y0 + y1) / 2, scale = 2 / fmax(fmax(x1 - x0, y1 - y0), 1e-9);
    for (uint32_t k = 0; k < l->group_count; k++) {
        l->groups[k].x = (l->groups[k].x - cx) * scale;
        l->groups[k].y = (l->groups[k].y - cy) * scale;
        l->groups[k].radius *= scale;
    }
    for (uint32_t i = 0; i < l->vertex_count; i++) {
        struct graph_vertex *v = &l->vertices[i];
        v->x = v->x * scale + l->groups[v->group].x;
        v->y = v->y * scale + l->groups[v->group].y;
        v->radius = 0.8 * sqrt(v->weight) * scale;
    }
    free(g->vertices);
    free(g->groups);
    free(g->edges);
    g->vertices = l->vertices;
    g->groups = l->groups;
    g->edges = l->edges;
    g->vertex_count = l->vertex_count;
    g->group_count = l->group_count;
    g->edge_count = l->edge_count;
    l->vertices = NULL;
    l->groups = NULL;
    l->edges = NULL;
    graph_layout_destroy(l);
    g->layout = NULL;
    g->version++;
}

/* One round of the current stage. @return approximate number of pairs examined */
static uint64_t graph_run_round(struct graph_layout *l)
{
    uint64_t pairs = (uint64_t)l->group_count * l->group_count;
    switch (l->stage) {
    case STAGE_GROUPS:
        graph_run_group_round(l);
        if (++l->round < l->group_rounds)
            return pairs + 1;
        break;
    case STAGE_APART:
        if (graph_separate_groups(l) && ++l->round < APART_ROUNDS)
            return pairs + 1;
        break;
    default:
        pairs = graph_run_vertex_round(l);
        if (++l->round < l->vertex_rounds)
            return pairs + 1;
        break;
    }
    l->round = 0;
    l->stage++;
    return pairs + 1;
}

int graph_work(struct graph *g, uint64_t units)
{
    uint64_t done = 0;
    while (g->layout && done < units) {
        done += graph_run_round(g->layout);
        if (g->layout->stage == STAGE_DONE)
            graph_publish(g);
    }
    return g->layout != NULL;
}
