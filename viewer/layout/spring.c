/* Multilevel force-directed layout: coarsening, initial positions, forces, publishing. */
#include "viewer/layout/spring.h"

#include "holter/order.h"
#include "viewer/layout/mix.h"
#include "viewer/layout/quadtree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS = 20,
    SMALLEST = 24,      /* smaller graphs are not coarsened */
    COARSE_ROUNDS = 10, /* rounds on a coarser graph, and */
    LEVEL_ROUNDS = 5,   /* as many more with each level: the smallest cost least and unfold most */
    FINE_ROUNDS = 70,   /* rounds on the whole graph */
    SHOWN_ROUNDS = 8,   /* rounds after which the arrangement is usable */
    WARM_ROUNDS = 45,
};

static const double repulsion = 0.2;
static const double together = 0.16; /* attraction to the centre */
static const double anchor = 0.12;   /* attraction to the previous position, if known */
static const double wide = 1.45;     /* aspect ratio: screens are wider than high */

/* One level of the hierarchy: the whole graph, or a coarser one with merged vertices. */
struct level {
    struct point *at;
    double *mass;
    uint32_t *coarse; /* by vertex: its representative on the next coarser level */
    struct spring_edge *edges;
    uint32_t count, edge_count;
};

struct spring_layout {
    struct level levels[LEVELS];
    uint32_t level_count, level; /* current level, from the coarsest to 0 */
    uint64_t *keys;
    struct point *force;
    struct point *home; /* initial positions of the whole graph's vertices; NULL: arbitrary */
    struct quadtree tree;
    uint32_t round, at; /* round of this level; next vertex of this round */
    double step, energy, energy_before;
    int better; /* rounds in which the energy fell */
    int warm, calm, built;
};

static void spring_level_finish(struct level *l)
{
    free(l->at);
    free(l->mass);
    free(l->coarse);
    free(l->edges);
}

static void spring_layout_destroy(struct spring_layout *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->level_count; i++)
        spring_level_finish(&l->levels[i]);
    free(l->keys);
    free(l->force);
    free(l->home);
    quadtree_finish(&l->tree);
    free(l);
}

void spring_finish(struct spring *s)
{
    spring_layout_destroy(s->layout);
    free(s->places);
    *s = (struct spring){0};
}

static int spring_level_create(struct level *l, uint32_t count, uint32_t edge_count)
{
    l->count = count;
    l->edge_count = edge_count;
    l->at = calloc(count + 1u, sizeof *l->at);
    l->mass = calloc(count + 1u, sizeof *l->mass);
    l->coarse = calloc(count + 1u, sizeof *l->coarse);
    l->edges = calloc(edge_count + 1u, sizeof *l->edges);
    return l->at && l->mass && l->coarse && l->edges ? 0 : -ENOMEM;
}

/* ---- coarser graphs ---- */

ORDER_FUNCTION(spring_compare_heavier, struct spring_edge,
               4 * ORDER(b->weight, a->weight) + 2 * ORDER(a->a, b->a) + ORDER(a->b, b->b))

ORDER_FUNCTION(spring_compare_by_ends, struct spring_edge,
               2 * ORDER(a->a, b->a) + ORDER(a->b, b->b))

/* Match pairs along heavy edges between light vertices; each pair becomes one vertex. @return
 * number of vertices that remain */
static uint32_t spring_match(struct level *l)
{
    struct spring_edge *order = malloc((l->edge_count + 1u) * sizeof *order);
    uint32_t next = 0;
    if (!order)
        return 0;
    for (uint32_t i = 0; i < l->edge_count; i++) {
        order[i] = l->edges[i];
        order[i].weight /= l->mass[order[i].a] * l->mass[order[i].b];
    }
    qsort(order, l->edge_count, sizeof *order, spring_compare_heavier);
    for (uint32_t i = 0; i < l->count; i++)
        l->coarse[i] = UINT32_MAX;
    for (uint32_t i = 0; i < l->edge_count; i++)
        if (l->coarse[order[i].a] == UINT32_MAX && l->coarse[order[i].b] == UINT32_MAX)
            l->coarse[order[i].a] = l->coarse[order[i].b] = next++;
    /* An unmatched vertex joins its first neighbour's pair, so that stars shrink too. */
    for (uint32_t i = 0; i < l->edge_count; i++) {
        uint32_t *a = &l->coarse[order[i].a], *b = &l->coarse[order[i].b];
        *a = *a == UINT32_MAX ? *b : *a;
        *b = *b == UINT32_MAX ? *a : *b;
    }
    for (uint32_t i = 0; i < l->count; i++)
        l->coarse[i] = l->coarse[i] == UINT32_MAX ? next++ : l->coarse[i];
    free(order);
    return next;
}

static int spring_coarsen(struct level *l, struct level *up)
{
    uint32_t count = spring_match(l), kept = 0;
    if (!count || spring_level_create(up, count, l->edge_count) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < l->count; i++)
        up->mass[l->coarse[i]] += l->mass[i];
    for (uint32_t i = 0; i < l->edge_count; i++) {
        uint32_t a = l->coarse[l->edges[i].a], b = l->coarse[l->edges[i].b];
        if (a != b)
            up->edges[kept++] =
                (struct spring_edge){a < b ? a : b, a < b ? b : a, l->edges[i].weight};
    }
    qsort(up->edges, kept, sizeof *up->edges, spring_compare_by_ends);
    up->edge_count = 0;
    for (uint32_t i = 0; i < kept; i++) {
        struct spring_edge *last = up->edge_count ? &up->edges[up->edge_count - 1] : NULL;
        if (last && last->a == up->edges[i].a && last->b == up->edges[i].b)
            last->weight += up->edges[i].weight;
        else
            up->edges[up->edge_count++] = up->edges[i];
    }
    return 0;
}

/* ---- where they begin ---- */

static double spring_jitter(uint64_t key)
{
    return mix_jitter(key * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x632be59bd9b4e019));
}

static void spring_begin_cold(struct spring_layout *l)
{
    struct level *top = &l->levels[l->level_count - 1];
    double size = sqrt(top->count);
    for (uint32_t i = 0; i < top->count; i++)
        top->at[i] = (struct point){wide * size * spring_jitter(2ull * i),
                                    size * spring_jitter(2ull * i + 1)};
}

/* Vertices without a position begin between their neighbours that have one, else in the centre. */
static int spring_begin_warm(struct spring_layout *l, const struct spring_vertex *v, double unit)
{
    struct level *g = &l->levels[0];
    uint32_t *seen = calloc(g->count + 1u, sizeof *seen);
    if (!seen)
        return -ENOMEM;
    for (uint32_t i = 0; i < g->count; i++)
        if (v[i].known)
            g->at[i] = (struct point){v[i].at.x / unit, v[i].at.y / unit};
    for (uint32_t i = 0; i < g->edge_count; i++) {
        for (int end = 0; end < 2; end++) {
            uint32_t at = end ? g->edges[i].a : g->edges[i].b,
                     to = end ? g->edges[i].b : g->edges[i].a;
            if (v[at].known || !v[to].known)
                continue;
            g->at[at].x += (g->at[to].x - g->at[at].x) / ++seen[at];
            g->at[at].y += (g->at[to].y - g->at[at].y) / seen[at];
        }
    }
    for (uint32_t i = 0; i < g->count; i++) { /* no two vertices may coincide */
        g->at[i].x += 0.05 * spring_jitter(l->keys[i]);
        g->at[i].y += 0.05 * spring_jitter(l->keys[i] ^ UINT64_C(0x5bd1e995));
    }
    free(seen);
    l->home = malloc((g->count + 1u) * sizeof *l->home);
    if (!l->home)
        return -ENOMEM;
    memcpy(l->home, g->at, g->count * sizeof *l->home);
    return 0;
}

/* Each vertex begins at the position of its representative: merged vertices and edges have the sums
 * of masses and weights, so a coarser graph is as large as the whole. */
static void spring_refine(struct spring_layout *l)
{
    const struct level *up = &l->levels[l->level];
    struct level *g = &l->levels[--l->level];
    for (uint32_t i = 0; i < g->count; i++) {
        uint64_t key = l->level ? i : l->keys[i];
        g->at[i].x = up->at[g->coarse[i]].x + 0.3 * spring_jitter(2 * key);
        g->at[i].y = up->at[g->coarse[i]].y + 0.3 * spring_jitter(2 * key + 1);
    }
}

static void spring_begin_level(struct spring_layout *l)
{
    const struct level *g = &l->levels[l->level];
    l->round = l->at = 0;
    l->better = 0;
    l->energy_before = INFINITY;
    l->step = l->calm                                      ? 0.12
              : l->level + 1 == l->level_count && !l->warm ? 0.4 * sqrt(g->count) + 0.2
                                                           : 0.35;
}

static int spring_fill(struct spring_layout *l, const struct spring_vertex *vertices,
                       uint32_t count, const struct spring_edge *edges, uint32_t edge_count)
{
    struct level *g = &l->levels[0];
    l->level_count = 1;
    if (spring_level_create(g, count, edge_count) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        g->mass[i] = vertices[i].mass > 0 ? vertices[i].mass : 1;
        l->keys[i] = vertices[i].key;
    }
    if (edge_count)
        memcpy(g->edges, edges, edge_count * sizeof *edges);
    while (!l->warm && l->level_count < LEVELS) {
        struct level *last = &l->levels[l->level_count - 1];
        if (last->count <= SMALLEST)
            break;
        l->level_count++;
        if (spring_coarsen(last, last + 1) < 0)
            return -ENOMEM;
        if ((last + 1)->count > last->count * 9 / 10) { /* hardly any edges remain */
            spring_level_finish(last + 1);
            *(last + 1) = (struct level){0};
            l->level_count--;
            break;
        }
    }
    return 0;
}

int spring_set(struct spring *s, const struct spring_vertex *vertices, uint32_t count,
               const struct spring_edge *edges, uint32_t edge_count, double unit, int calm)
{
    struct spring_layout *l = calloc(1, sizeof *l);
    uint32_t known = 0;
    if (!l)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        known += vertices[i].known != 0;
    l->warm = unit > 0 && known > count / 2;
    l->calm = l->warm && calm;
    l->keys = calloc(count + 1u, sizeof *l->keys);
    l->force = calloc(count + 1u, sizeof *l->force);
    int error = l->keys && l->force ? spring_fill(l, vertices, count, edges, edge_count) : -ENOMEM;
    if (!error && l->warm)
        error = spring_begin_warm(l, vertices, unit);
    if (error) {
        spring_layout_destroy(l);
        return error;
    }
    l->level = l->level_count - 1;
    if (!l->warm)
        spring_begin_cold(l);
    spring_begin_level(l);
    spring_layout_destroy(s->layout);
    s->layout = l;
    return 0;
}

/* ---- forces ---- */

static void spring_attract(struct spring_layout *l)
{
    const struct level *g = &l->levels[l->level];
    for (uint32_t i = 0; i < g->edge_count; i++) {
        const struct spring_edge *e = &g->edges[i];
        double dx = g->at[e->b].x - g->at[e->a].x, dy = g->at[e->b].y - g->at[e->a].y;
        double pull = e->weight * sqrt(dx * dx + dy * dy);
        l->force[e->a].x += dx * pull;
        l->force[e->a].y += dy * pull;
        l->force[e->b].x -= dx * pull;
        l->force[e->b].y -= dy * pull;
    }
}

/* Repulsion on one vertex. @return number of cells and points examined */
static uint64_t spring_repulse(struct spring_layout *l, uint32_t i)
{
    const struct level *g = &l->levels[l->level];
    struct point away = {0, 0};
    uint64_t looked = quadtree_push(&l->tree, g->at, g->mass, i, &away);
    double mass = g->mass[i];
    l->force[i].x += mass * (repulsion * away.x - together / wide * g->at[i].x);
    l->force[i].y += mass * (repulsion * away.y - together * wide * g->at[i].y);
    if (l->home) {
        l->force[i].x += mass * anchor * (l->home[i].x - g->at[i].x);
        l->force[i].y += mass * anchor * (l->home[i].y - g->at[i].y);
    }
    return looked;
}

static void spring_move(struct spring_layout *l)
{
    struct level *g = &l->levels[l->level];
    l->energy = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        double length = hypot(l->force[i].x, l->force[i].y);
        l->energy += length * length;
        if (!(length > 0))
            continue;
        double far = fmin(l->step, length / g->mass[i]); /* vertices almost at rest move less */
        g->at[i].x += l->force[i].x / length * far;
        g->at[i].y += l->force[i].y / length * far;
    }
    if (l->energy < l->energy_before) {
        if (++l->better >= 5) {
            l->better = 0;
            l->step = l->calm ? l->step : l->step / 0.9;
        }
    } else {
        l->better = 0;
        l->step *= 0.9;
    }
    l->energy_before = l->energy;
}

/* ---- what is shown ---- */

/* Rotate an arrangement with arbitrary initial positions so that its longer axis is horizontal. */
static void spring_rotate_level(struct level *g)
{
    double xx = 0, xy = 0, yy = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        xx += g->at[i].x * g->at[i].x;
        xy += g->at[i].x * g->at[i].y;
        yy += g->at[i].y * g->at[i].y;
    }
    double angle = 0.5 * atan2(2 * xy, xx - yy), c = cos(angle), s = sin(angle);
    for (uint32_t i = 0; i < g->count; i++)
        g->at[i] =
            (struct point){c * g->at[i].x + s * g->at[i].y, -s * g->at[i].x + c * g->at[i].y};
}

static void spring_centre(struct level *g)
{
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (uint32_t i = 0; i < g->count; i++) {
        x0 = fmin(x0, g->at[i].x);
        x1 = fmax(x1, g->at[i].x);
        y0 = fmin(y0, g->at[i].y);
        y1 = fmax(y1, g->at[i].y);
    }
    for (uint32_t i = 0; i < g->count; i++) {
        g->at[i].x -= (x0 + x1) / 2;
        g->at[i].y -= (y0 + y1) / 2;
    }
}

static void spring_show_progress(struct spring *s)
{
    struct spring_layout *l = s->layout;
    struct level *g = &l->levels[0];
    struct point *places = malloc((g->count + 1u) * sizeof *places);
    if (!places)
        return;
    spring_centre(g);
    double w = 0, h = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        w = fmax(w, fabs(g->at[i].x));
        h = fmax(h, fabs(g->at[i].y));
    }
    double unit = 1 / fmax(fmax(w, h), 0.5);
    for (uint32_t i = 0; i < g->count; i++)
        places[i] = (struct point){g->at[i].x * unit, g->at[i].y * unit};
    free(s->places);
    s->places = places;
    s->count = g->count;
    s->unit = unit;
    s->half = (struct point){w * unit, h * unit};
    s->version++;
}

static uint32_t spring_rounds_of_level(const struct spring_layout *l)
{
    return l->calm ? WARM_ROUNDS : l->level ? COARSE_ROUNDS + LEVEL_ROUNDS * l->level : FINE_ROUNDS;
}

/* A round, or a part of one. @return number of pairwise forces computed */
static uint64_t spring_run_round(struct spring *s, uint64_t units)
{
    struct spring_layout *l = s->layout;
    const struct level *g = &l->levels[l->level];
    uint64_t done = 0;
    if (!l->built) {
        if (quadtree_build(&l->tree, g->at, g->mass, g->count) < 0)
            l->tree.count = 0; /* no repulsion when memory runs out */
        memset(l->force, 0, g->count * sizeof *l->force);
        spring_attract(l);
        l->built = 1;
        done += g->edge_count + 4ull * g->count;
    }
    while (l->at < g->count && done < units)
        done += spring_repulse(l, l->at++);
    if (l->at < g->count)
        return done;
    spring_move(l);
    l->at = 0;
    l->built = 0;
    l->round++;
    return done + g->count;
}

static void spring_end_round(struct spring *s)
{
    struct spring_layout *l = s->layout;
    int last = !l->level;
    if (l->round < spring_rounds_of_level(l) && l->energy > 1e-12) {
        if (last && !l->calm && l->round == SHOWN_ROUNDS) {
            if (!l->warm)
                spring_rotate_level(&l->levels[0]);
            spring_show_progress(s);
        }
        return;
    }
    if (!last) {
        spring_refine(l);
        spring_begin_level(l);
        return;
    }
    if (!l->warm && l->round < SHOWN_ROUNDS)
        spring_rotate_level(&l->levels[0]);
    spring_show_progress(s);
    spring_layout_destroy(l);
    s->layout = NULL;
}

int spring_work(struct spring *s, uint64_t units)
{
    uint64_t done = 0;
    while (s->layout && done < units) {
        done += spring_run_round(s, units - done) + 1;
        if (!s->layout->built)
            spring_end_round(s);
    }
    return s->layout != NULL;
}
