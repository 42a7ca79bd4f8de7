/* Barnes-Hut quadtree. */
#include "viewer/layout/quadtree.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 24, STACK = 4 * DEEPEST + 8 };

static const double small = 1.1; /* a cell this wide at distance 1 counts as one point */
static const double least = 1e-4;

void quadtree_finish(struct quadtree *t)
{
    free(t->cells);
    free(t->next);
    *t = (struct quadtree){0};
}

static uint32_t quadtree_add_cell(struct quadtree *t, double cx, double cy, double width)
{
    if (ARRAY_FIT_AT(t->cells, t->room, t->count) != 0)
        return UINT32_MAX;
    t->cells[t->count] = (struct quadtree_cell){.cx = cx, .cy = cy, .width = width};
    return t->count++;
}

/* Child of a cell that contains a position; created when missing. */
static uint32_t quadtree_find_child(struct quadtree *t, uint32_t cell, struct point at)
{
    struct quadtree_cell *c = &t->cells[cell];
    int right = at.x >= c->cx, low = at.y >= c->cy, k = right + 2 * low;
    if (c->child[k])
        return c->child[k];
    double quarter = c->width / 4;
    uint32_t fresh = quadtree_add_cell(t, c->cx + (right ? quarter : -quarter),
                                       c->cy + (low ? quarter : -quarter), c->width / 2);
    if (fresh != UINT32_MAX)
        t->cells[cell].child[k] = fresh;
    return fresh;
}

static int quadtree_insert(struct quadtree *t, const struct point *places, uint32_t i)
{
    uint32_t cell = 0;
    for (int depth = 0;; depth++) {
        struct quadtree_cell *c = &t->cells[cell];
        if (!c->divided && (!c->first || depth == DEEPEST)) {
            t->next[i] = c->first;
            c->first = i + 1;
            return 0;
        }
        if (!c->divided) { /* its point moves down into a child */
            uint32_t other = c->first - 1, to = quadtree_find_child(t, cell, places[other]);
            if (to == UINT32_MAX)
                return -ENOMEM;
            t->cells[cell].first = 0;
            t->cells[cell].divided = 1;
            t->next[other] = 0;
            t->cells[to].first = other + 1;
        }
        cell = quadtree_find_child(t, cell, places[i]);
        if (cell == UINT32_MAX)
            return -ENOMEM;
    }
}

/* Sum masses from the leaves up: children have higher indices than their parents. */
static void quadtree_add_up(struct quadtree *t, const struct point *places, const double *masses)
{
    for (uint32_t k = t->count; k-- > 0;) {
        struct quadtree_cell *c = &t->cells[k];
        for (uint32_t p = c->first; p; p = t->next[p - 1]) {
            c->mass += masses[p - 1];
            c->x += masses[p - 1] * places[p - 1].x;
            c->y += masses[p - 1] * places[p - 1].y;
        }
        for (int q = 0; q < 4; q++) {
            const struct quadtree_cell *d = &t->cells[c->child[q]];
            if (!c->child[q])
                continue;
            c->mass += d->mass;
            c->x += d->mass * d->x;
            c->y += d->mass * d->y;
        }
        if (c->mass > 0) {
            c->x /= c->mass;
            c->y /= c->mass;
        }
    }
}

int quadtree_build(struct quadtree *t, const struct point *places, const double *masses,
                   uint32_t count)
{
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    t->count = 0;
    if (!count)
        return 0;
    if (ARRAY_FIT_ZERO(t->next, t->points, count) != 0)
        return -ENOMEM;
    memset(t->next, 0, count * sizeof *t->next);
    for (uint32_t i = 0; i < count; i++) {
        x0 = fmin(x0, places[i].x);
        x1 = fmax(x1, places[i].x);
        y0 = fmin(y0, places[i].y);
        y1 = fmax(y1, places[i].y);
    }
    double width = fmax(fmax(x1 - x0, y1 - y0), 1e-6) * 1.001;
    if (quadtree_add_cell(t, (x0 + x1) / 2, (y0 + y1) / 2, width) == UINT32_MAX)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (quadtree_insert(t, places, i) < 0)
            return -ENOMEM;
    quadtree_add_up(t, places, masses);
    return 0;
}

static void quadtree_push_force(struct point *force, struct point at, double x, double y,
                                double mass)
{
    double dx = at.x - x, dy = at.y - y, d2 = dx * dx + dy * dy;
    d2 = d2 < least ? least : d2; /* fmax() would be a call */
    force->x += mass * dx / d2;
    force->y += mass * dy / d2;
}

uint64_t quadtree_push(const struct quadtree *t, const struct point *places, const double *masses,
                       uint32_t i, struct point *force)
{
    uint32_t stack[STACK], top = 0;
    uint64_t looked = 0;
    struct point at = places[i];
    if (!t->count)
        return 0;
    stack[top++] = 0;
    while (top) {
        const struct quadtree_cell *c = &t->cells[stack[--top]];
        double dx = at.x - c->x, dy = at.y - c->y;
        looked++;
        if (c->divided && c->width * c->width < small * small * (dx * dx + dy * dy)) {
            quadtree_push_force(force, at, c->x, c->y, c->mass);
            continue;
        }
        for (uint32_t p = c->first; p; p = t->next[p - 1], looked++)
            if (p - 1 != i)
                quadtree_push_force(force, at, places[p - 1].x, places[p - 1].y, masses[p - 1]);
        for (int q = 0; q < 4 && top < STACK; q++)
            if (c->child[q])
                stack[top++] = c->child[q];
    }
    return looked;
}
