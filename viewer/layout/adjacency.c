/* Folding and aggregation of the rows of an adjacency matrix. */
#include "viewer/layout/adjacency.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Share of the side for one band, and the maximum for all bands together. */
static const double band_share = 0.006, bands_most = 0.25;

/* With fewer cells than this the matrix shows nothing: blocks are split instead. */
enum { FEW = 48 };

/* ---- folding ---- */

static int adjacency_reserve(struct adjacency_axis *a, uint32_t count)
{
    int error = ARRAY_RESIZE(a->at, (size_t)count + 1);
    return error ? error : array_resize(&a->folded, (size_t)count + 1);
}

static void adjacency_fold_blocks(struct adjacency_axis *a, const uint8_t *starts, int fold,
                                  const uint8_t *used)
{
    for (uint32_t first = 0, end; first < a->count; first = end) {
        uint8_t some = used[first] != 0;
        for (end = first + 1; end < a->count && starts[end] > fold; end++)
            some |= used[end] != 0;
        if (some)
            continue;
        memset(a->folded + first, 1, end - first);
        a->open -= end - first;
        a->bands += first == 0 || !a->folded[first - 1];
        a->blocks++;
    }
}

int adjacency_fold(struct adjacency_axis *a, const uint8_t *starts, uint32_t count, int fold,
                   const uint8_t *used)
{
    if (adjacency_reserve(a, count) < 0)
        return -ENOMEM;
    a->count = a->open = count;
    a->bands = a->blocks = 0;
    memset(a->folded, 0, (size_t)count + 1);
    if (fold >= 0 && used && memchr(used, 1, count))
        adjacency_fold_blocks(a, starts, fold, used);
    double band = a->bands ? fmin(band_share, bands_most / a->bands) : 0;
    a->open_share = 1 - band * a->bands;
    double each = a->open ? a->open_share / a->open : 0, at = 0;
    for (uint32_t r = 0, end; r < count; r = end) {
        for (end = r + 1; end < count && a->folded[end] == a->folded[r]; end++)
            ;
        double step = a->folded[r] ? band / (end - r) : each;
        for (uint32_t i = r; i < end; i++)
            a->at[i] = at + step * (i - r);
        at += step * (end - r);
    }
    a->at[count] = 1;
    return 0;
}

uint32_t adjacency_row(const struct adjacency_axis *a, double place)
{
    uint32_t low = 0, high = a->count;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (a->at[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void adjacency_axis_finish(struct adjacency_axis *a)
{
    free(a->at);
    free(a->folded);
    *a = (struct adjacency_axis){0};
}

/* ---- cells ---- */

/* Form cells of `group` blocks of a level.
 * @param c  NULL: only count
 * @return number of cells that hold open rows */
static uint32_t adjacency_cut(struct adjacency_cells *c, const struct adjacency_axis *a,
                              const uint8_t *starts, int level, uint32_t group)
{
    uint32_t count = 0, open = 0, within = 0;
    for (uint32_t r = 0; r < a->count; r++) {
        int fresh = r == 0 || a->folded[r] != a->folded[r - 1];
        if (r > 0 && starts[r] < level)
            within = 0; /* a block of the next outer level begins */
        else if (r > 0 && starts[r] == level)
            within++;
        fresh |= starts[r] < level || (starts[r] == level && within % group == 0);
        if (a->folded[r] && r > 0 && a->folded[r - 1])
            fresh = 0;
        if (fresh && c)
            c->first[count] = r;
        count += fresh != 0;
        open += fresh && !a->folded[r];
        if (c)
            c->cell[r] = count - 1;
    }
    if (c) {
        c->first[count] = a->count;
        c->count = count;
        c->level = level;
        c->group = group;
    }
    return open;
}

static void adjacency_choose(const struct adjacency_axis *a, const uint8_t *starts, int levels,
                             double least, int *level, uint32_t *group)
{
    *group = 1;
    for (*level = levels - 1; *level > 0; --*level)
        if (a->open_share >= least * adjacency_cut(NULL, a, starts, *level, 1))
            break;
    uint32_t cells = adjacency_cut(NULL, a, starts, *level, 1);
    int fits = a->open_share >= least * cells;
    if ((fits && cells >= FEW) || (fits && *level == levels - 1))
        return;
    /* Too few cells, or too many even with the outermost blocks: join neighbouring blocks. */
    int inner = fits ? *level + 1 : *level;
    for (uint32_t g = 2; g / 2 < a->count; g *= 2) {
        uint32_t n = adjacency_cut(NULL, a, starts, inner, g);
        if (fits && n <= cells)
            return;
        if (a->open_share >= least * n || (!fits && n <= 1)) {
            *level = inner;
            *group = g;
            return;
        }
    }
}

int adjacency_reduce(struct adjacency_cells *c, const struct adjacency_axis *a,
                     const uint8_t *starts, uint32_t levels, double least)
{
    int level;
    uint32_t group;
    if (ARRAY_RESIZE(c->first, (size_t)a->count + 1) != 0 ||
        ARRAY_RESIZE(c->cell, (size_t)a->count + 1) != 0)
        return -ENOMEM;
    adjacency_choose(a, starts, levels ? (int)levels : 1, least, &level, &group);
    adjacency_cut(c, a, starts, level, group);
    c->most = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t n = c->first[i + 1] - c->first[i];
        if (!a->folded[c->first[i]] && n > c->most)
            c->most = n;
    }
    return 0;
}

void adjacency_cells_finish(struct adjacency_cells *c)
{
    free(c->first);
    free(c->cell);
    *c = (struct adjacency_cells){0};
}
