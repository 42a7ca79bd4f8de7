/* Boxes of tiers and levels of trees. */
#include "viewer/layout/floor_plan.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Width of a box that is not in use, as a share of one that is; space between boxes, likewise;
 * height of the line with a box's name. */
static const double unused = 0.18, between = 0.07, head = 15;

enum { NAMED_WIDTH = 46, NAMED_HEIGHT = 60, PARENTS = 4096 };

struct arranging {
    struct floor_plan *plan;
    const struct topology *topology;
    const struct topology_spec *spec;
    uint32_t *before; /* vertices in use among the nodes before each */
    uint32_t tiers;
    struct box group; /* of the left cabinet of a group of a Cray XC */
    int group_used, cray, failed;
};

static int floor_plan_is_used(const struct arranging *k, uint32_t first, uint32_t count)
{
    return k->before[first + count] > k->before[first];
}

/* Columns of a grid of `count` parts, so that each is as square as can be. */
static uint32_t floor_plan_columns(const struct topology_dimension *d, struct box box)
{
    uint32_t best = 1;
    double least = INFINITY;
    if (strcmp(d->name, "row") == 0 || strcmp(d->name, "column") == 0)
        return d->name[0] == 'r' ? 1 : d->size;
    for (uint32_t c = 1; c <= d->size; c++) {
        uint32_t rows = (d->size + c - 1) / c;
        double cost = fabs(log((box.w / c) / (box.h / rows))) + 0.5 * (c * rows - d->size) / c;
        if (cost < least - 1e-9) {
            least = cost;
            best = c;
        }
    }
    return best;
}

static void floor_plan_add_block(struct arranging *k, const struct floor_block *block)
{
    struct floor_plan *p = k->plan;
    if (ARRAY_FIT(p->blocks, p->block_capacity, p->block_count + 1u) != 0) {
        k->failed = 1;
        return;
    }
    p->blocks[p->block_count++] = *block;
}

static void floor_plan_put(struct arranging *k, uint32_t vertex, double x, double y, double size)
{
    k->plan->at[vertex] = (struct point){x, y};
    k->plan->size[vertex] = (float)size;
    k->plan->width[vertex] = k->plan->beside[vertex] = 0;
}

/* A column or row of a grid of boxes. */
struct floor_span {
    double from, to;
    uint8_t used;
};

/* Divide a length among columns or rows, of which those without use are narrow, with some space
 * between them; between pairs of cabinets there is more.
 * @param all  1: all are as wide */
static void floor_plan_divide(double length, struct floor_span *spans, uint32_t count, int all,
                              int pairs)
{
    double sum = 0, at = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (all || spans[i].used ? 1 : unused) + (pairs && i % 2 ? 3 * between : 0);
    for (uint32_t i = 0; i < count; i++) {
        const double own = (all || spans[i].used ? 1 : unused) / sum * length;
        const double gap = fmin(own, length / count) * between;
        spans[i].from = at + gap / 2;
        spans[i].to = at + own - gap / 2;
        at += own + (pairs && i % 2 ? 3 * between / sum * length : 0);
    }
}

static void floor_plan_fill(struct arranging *k, uint32_t tier, uint32_t first, struct box box);

/* Number of nodes in a box of a tier. */
static uint32_t floor_plan_count_nodes(const struct arranging *k, uint32_t tier)
{
    uint32_t nodes = 1;
    for (uint32_t t = tier + 1; t < k->tiers; t++)
        nodes *= k->spec->dimensions[t].size;
    return nodes;
}

static uint32_t floor_plan_router_of(const struct arranging *k, uint32_t node)
{
    return topology_nodes(k->topology) + node / k->spec->dimensions[2].size;
}

/* All vertices of a box without use are in its middle. */
static void floor_plan_fold(struct arranging *k, uint32_t first, uint32_t nodes, struct box box)
{
    for (uint32_t v = first; v < first + nodes; v++) {
        floor_plan_put(k, v, box.x + box.w / 2, box.y + box.h / 2, 0);
        if (k->spec->kind == TOPOLOGY_DRAGONFLY)
            floor_plan_put(k, floor_plan_router_of(k, v), box.x + box.w / 2, box.y + box.h / 2, 0);
    }
}

/* The group of a Cray XC: a box around a cabinet and the next one. */
static void floor_plan_add_group(struct arranging *k, uint32_t i, struct box part, int used)
{
    if (i % 2 == 0) {
        k->group = part;
        k->group_used = used;
        return;
    }
    const struct box pair = {k->group.x - 3, part.y - 3, part.x + part.w - k->group.x + 6,
                             part.h + 6};
    floor_plan_add_block(
        k, &(struct floor_block){pair, 1, i / 2, (uint8_t)(used || k->group_used), 1});
}

static void floor_plan_add_part(struct arranging *k, uint32_t tier, uint32_t i, uint32_t first,
                                struct box part)
{
    const uint32_t nodes = floor_plan_count_nodes(k, tier);
    const int used = floor_plan_is_used(k, first, nodes), inner = tier + 1 < k->tiers;
    if (k->cray && tier == 1)
        floor_plan_add_group(k, i, part, used);
    if (inner)
        floor_plan_add_block(k, &(struct floor_block){part, tier, i, (uint8_t)used, 0});
    if (inner && !used) {
        floor_plan_fold(k, first, nodes, part);
        return;
    }
    if (inner && part.w >= NAMED_WIDTH && part.h >= NAMED_HEIGHT) {
        part.y += head;
        part.h -= head;
    }
    floor_plan_fill(k, tier + 1, first, part);
}

/* The router of a dragonfly is in the lower part of its box. */
static void floor_plan_add_router(struct arranging *k, uint32_t first, struct box *box)
{
    const double h = box->h * 0.4;
    box->h -= h;
    floor_plan_put(k, floor_plan_router_of(k, first), box->x + box->w / 2, box->y + box->h + h / 2,
                   fmin(box->w, h) * 0.8);
}

static void floor_plan_fill(struct arranging *k, uint32_t tier, uint32_t first, struct box box)
{
    if (tier == k->tiers) {
        floor_plan_put(k, first, box.x + box.w / 2, box.y + box.h / 2, fmin(box.w, box.h) * 0.8);
        return;
    }
    if (k->spec->kind == TOPOLOGY_DRAGONFLY && tier == 2)
        floor_plan_add_router(k, first, &box);
    const uint32_t size = k->spec->dimensions[tier].size, nodes = floor_plan_count_nodes(k, tier),
                   columns = floor_plan_columns(&k->spec->dimensions[tier], box),
                   rows = (size + columns - 1) / columns;
    struct floor_span *x = calloc((size_t)columns + rows, sizeof *x);
    if (!x) {
        k->failed = 1;
        return;
    }
    struct floor_span *y = x + columns;
    for (uint32_t i = 0; i < size; i++)
        if (floor_plan_is_used(k, first + i * nodes, nodes))
            x[i % columns].used = y[i / columns].used = 1;
    const int all = tier + 1 == k->tiers; /* nodes side by side are equally large */
    floor_plan_divide(box.w, x, columns, all, k->cray && tier == 1);
    floor_plan_divide(box.h, y, rows, all, 0);
    for (uint32_t i = 0; i < size && !k->failed; i++) {
        const struct floor_span *c = &x[i % columns], *r = &y[i / columns];
        floor_plan_add_part(
            k, tier, i, first + i * nodes,
            (struct box){box.x + c->from, box.y + r->from, c->to - c->from, r->to - r->from});
    }
    free(x);
}

/* ---- trees ---- */

uint32_t floor_plan_descend(const struct topology *t, uint32_t *order, uint32_t *above,
                            uint32_t *depth)
{
    const uint32_t count = topology_vertices(t);
    uint32_t links[PARENTS], seen = 1, from, to;
    for (uint32_t v = 0; v < count; v++)
        above[v] = TOPOLOGY_NONE;
    order[0] = above[count - 1] = count - 1;
    depth[count - 1] = 0;
    for (uint32_t i = 0; i < seen; i++) {
        uint32_t n = topology_out(t, order[i], links, PARENTS);
        for (uint32_t l = 0; l < n && l < PARENTS; l++) {
            if (!topology_link(t, links[l], &from, &to) || above[to] != TOPOLOGY_NONE)
                continue;
            above[to] = from;
            depth[to] = depth[from] + 1;
            order[seen++] = to;
        }
    }
    return seen;
}

static void floor_plan_put_level(struct arranging *k, uint32_t vertex, double x, uint32_t row,
                                 double share, double w)
{
    struct floor_plan *p = k->plan;
    floor_plan_put(k, vertex, x, (row + 0.5 - p->levels / 2.0) * p->level_height,
                   fmin(fmax(share * w * 0.8, 1), 22));
    p->width[vertex] = (float)(share * w);
}

/* Each vertex is above the middle of the share of the width that its leaves have. */
static int floor_plan_fill_tree(struct arranging *k, double w, double h)
{
    const uint32_t count = topology_vertices(k->topology);
    uint32_t *memory = calloc((size_t)count * 4 + 1, sizeof *memory), deepest = 0;
    double *left = calloc((size_t)count + 1, sizeof *left);
    if (!memory || !left) {
        free(memory);
        free(left);
        return -ENOMEM;
    }
    uint32_t *order = memory, *above = order + count, *depth = above + count,
             *leaves = depth + count;
    const uint32_t seen = floor_plan_descend(k->topology, order, above, depth);
    for (uint32_t i = seen; i-- > 0;) {
        const uint32_t v = order[i];
        leaves[v] += leaves[v] == 0;
        deepest = depth[v] > deepest ? depth[v] : deepest;
        if (above[v] != v)
            leaves[above[v]] += leaves[v];
    }
    k->plan->levels = deepest + 1;
    k->plan->level_height = h / k->plan->levels;
    const double all = leaves[order[0]];
    for (uint32_t i = 0; i < seen; i++) {
        const uint32_t v = order[i];
        const double share = leaves[v] / all, begin = above[v] == v ? 0 : left[above[v]];
        left[above[v]] += share;
        left[v] = begin; /* from here on its children have their shares */
        const double x = (begin + share / 2 - 0.5) * w;
        floor_plan_put_level(k, v, x, depth[v], share, w);
        k->plan->beside[v] = INFINITY;
        if (i > 0 && depth[order[i - 1]] == depth[v])
            k->plan->beside[v] = k->plan->beside[order[i - 1]] =
                (float)(x - k->plan->at[order[i - 1]].x);
    }
    free(memory);
    free(left);
    return 0;
}

static void floor_plan_fill_levels(struct arranging *k, double w, double h)
{
    const uint32_t count = topology_vertices(k->topology), height = k->spec->dimension_count;
    uint32_t sizes[TOPOLOGY_DIMENSIONS + 1] = {0}, index;
    const double names = fmin(70, w / 4); /* space for the names of the levels, on the left */
    w -= names;
    k->plan->levels = height + 1;
    k->plan->level_height = h / k->plan->levels;
    for (uint32_t v = 0; v < count; v++)
        sizes[topology_level(k->topology, v, &index)]++;
    for (uint32_t v = 0; v < count; v++) {
        const uint32_t level = topology_level(k->topology, v, &index);
        const double share = 1.0 / sizes[level];
        floor_plan_put_level(k, v, ((index + 0.5) * share - 0.5) * w + names / 2, height - level,
                             share, w);
    }
}

/* ---- public functions ---- */

int floor_plan_make(struct floor_plan *plan, const struct topology *topology, const uint8_t *used,
                    double w, double h)
{
    const struct topology_spec *spec = topology_spec(topology);
    struct arranging k = {.plan = plan, .topology = topology, .spec = spec};
    const uint32_t count = topology_vertices(topology);
    if (ARRAY_RESIZE(plan->at, (size_t)count + 1) != 0 ||
        ARRAY_RESIZE(plan->size, (size_t)count + 1) != 0 ||
        ARRAY_RESIZE(plan->width, (size_t)count + 1) != 0 ||
        ARRAY_RESIZE(plan->beside, (size_t)count + 1) != 0)
        return -ENOMEM;
    plan->vertex_count = count;
    plan->block_count = plan->levels = 0;
    for (uint32_t v = 0; v < count; v++)
        floor_plan_put(&k, v, 0, 0, 0);
    if (spec->kind == TOPOLOGY_TREE)
        return floor_plan_fill_tree(&k, w, h);
    if (spec->kind == TOPOLOGY_FAT_TREE) {
        floor_plan_fill_levels(&k, w, h);
        return 0;
    }
    const uint32_t nodes = topology_nodes(topology);
    k.tiers = spec->kind == TOPOLOGY_DRAGONFLY ? 3 : spec->dimension_count;
    k.cray = topology_is_cray_xc(spec);
    k.before = calloc((size_t)nodes + 1, sizeof *k.before);
    if (!k.before)
        return -ENOMEM;
    for (uint32_t v = 0; v < nodes; v++)
        k.before[v + 1] = k.before[v] + (used[v] || (spec->kind == TOPOLOGY_DRAGONFLY &&
                                                     used[floor_plan_router_of(&k, v)]));
    floor_plan_fill(&k, 0, 0, (struct box){-w / 2, -h / 2, w, h});
    free(k.before);
    return k.failed ? -ENOMEM : 0;
}

void floor_plan_finish(struct floor_plan *plan)
{
    free(plan->at);
    free(plan->size);
    free(plan->width);
    free(plan->beside);
    free(plan->blocks);
    *plan = (struct floor_plan){0};
}
