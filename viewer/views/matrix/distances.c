/* Sums of pairs by the distance of their ranks, and the list that shows them. */
#include "viewer/views/matrix/distances.h"

#include "daemon/analysis/tables/array.h"

#include "viewer/layout/format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 14, ROW = 26, HEAD = 36 }; /* HEAD: above the rows */
static const double most_of_all = 0.9; /* single distances are listed where they have this share */

/* A row: distances from first to last. */
struct distance_row {
    uint32_t first, last; /* first above last: all distances that have no row */
    double value;
};

struct matrix_distances {
    uint64_t key;
    double *sums; /* owned; by distance */
    size_t capacity;
    struct distance_row rows[ROWS];
    uint32_t count;
    double total;
};

void matrix_distances_destroy(struct matrix_distances *d)
{
    if (!d)
        return;
    free(d->sums);
    free(d);
}

static uint32_t distances_unit(const struct model *m)
{
    return m->group > 1 ? (uint32_t)m->group : 1;
}

/* @return number of distances that have messages, or -ENOMEM */
static int distances_sum_up(const struct stage *s, struct matrix_distances *d, uint32_t most)
{
    const struct range *r = s->range;
    const uint32_t unit = distances_unit(s->model);
    int used = 0;
    if (ARRAY_FIT(d->sums, d->capacity, most) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < most; i++)
        d->sums[i] = 0;
    d->total = 0;
    for (uint32_t i = 0; i < r->pairs.count; i++) {
        const double value = (double)r->pairs.figures[(size_t)i * PAIR_COLUMNS + s->quantity];
        const struct model_pair pair = model_pair_at(&s->model->pairs, i);
        const uint32_t from = pair.source / unit, to = pair.destination / unit;
        const uint32_t apart = from < to ? to - from : from - to;
        if (value <= 0 || pair.destination == PAIR_OTHERS || apart >= most)
            continue;
        used += d->sums[apart] <= 0;
        d->sums[apart] += value;
        d->total += value;
    }
    return used;
}

/* The distances that carry most, the largest first, and a row of all others if there are more.
 * @return 1: they carry most of all */
static int distances_list_largest(struct matrix_distances *d, uint32_t distances, uint32_t rows,
                                  int used)
{
    const uint32_t single = (uint32_t)used > rows ? rows - 1 : rows;
    double listed = 0;
    d->count = 0;
    for (uint32_t apart = 0; apart < distances; apart++) {
        const double value = d->sums[apart];
        uint32_t at = d->count;
        if (value <= 0 || (at == single && value <= d->rows[at - 1].value))
            continue;
        if (at == single)
            listed -= d->rows[--at].value;
        else
            d->count++;
        for (; at > 0 && d->rows[at - 1].value < value; at--)
            d->rows[at] = d->rows[at - 1];
        d->rows[at] = (struct distance_row){apart, apart, value};
        listed += value;
    }
    if ((uint32_t)used > rows)
        d->rows[d->count++] = (struct distance_row){1, 0, d->total - listed};
    return listed >= most_of_all * d->total;
}

/* Ranges of distances, each as many times as far as the one before, the nearest first. */
static void distances_list_ranges(struct matrix_distances *d, uint32_t distances, uint32_t rows)
{
    for (uint32_t base = 2;; base *= 2) {
        d->count = 0;
        uint32_t needed = 0;
        for (uint64_t first = 0; first < distances; first = first ? first * base : 1) {
            const uint64_t end = first ? first * base : 1;
            double sum = 0;
            for (uint64_t apart = first; apart < end && apart < distances; apart++)
                sum += d->sums[apart];
            if (sum <= 0)
                continue;
            if (needed++ < rows)
                d->rows[d->count++] = (struct distance_row){
                    (uint32_t)first, (uint32_t)(end < distances ? end : distances) - 1, sum};
        }
        if (needed <= rows)
            return;
    }
}

/* @return 0 or -ENOMEM */
static int distances_update(const struct stage *s, struct matrix_distances *d, uint32_t rows)
{
    const uint32_t unit = distances_unit(s->model);
    const uint32_t distances = (s->range->ranks.count + unit - 1) / unit;
    const uint64_t key =
        1 + ((s->range->version * 8 + (uint64_t)s->quantity) * (ROWS + 1) + rows) * MODEL_RANKS +
        unit;
    if (d->key == key)
        return 0;
    const int used = distances_sum_up(s, d, distances);
    if (used < 0)
        return used;
    if (!distances_list_largest(d, distances, rows, used))
        distances_list_ranges(d, distances, rows);
    d->key = key;
    return 0;
}

static struct quantity distances_name(const struct stage *s, const struct distance_row *row)
{
    if (row->first > row->last)
        return quantity_print("all others");
    if (row->last == 0)
        return quantity_print(s->model->group > 1 ? "within a group" : "to itself");
    if (row->first == row->last)
        return quantity_print("%s apart", quantity_grouped(row->first).text);
    return quantity_print("%s to %s apart", quantity_grouped(row->first).text,
                          quantity_grouped(row->last).text);
}

void matrix_distances_layout(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    struct pictures *pictures = s->pictures;
    char what[96];
    const uint32_t rows = (uint32_t)fmin(floor((box.h - HEAD) / ROW), ROWS);
    if (box.h < HEAD + 3 * ROW ||
        (!pictures->distances && !(pictures->distances = calloc(1, sizeof *pictures->distances))))
        return;
    struct matrix_distances *d = pictures->distances;
    if (distances_update(s, d, rows) < 0 || !d->count)
        return;
    snprintf(what, sizeof what, "share of %s, in %s",
             s->quantity == PAIR_BYTES ? "bytes" : "messages",
             s->model->group > 1
                 ? quantity_print("groups of %s ranks", quantity_grouped(s->model->group).text).text
                 : "ranks");
    widget_title(&s->brush, box.x, box.y, box.w, "By distance", what);
    double names = 0, most = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        names = fmax(names, scene_width(s->brush.scene, TEXT_BODY, TEXT_FIGURES,
                                        distances_name(s, &d->rows[i]).text));
        most = fmax(most, d->rows[i].value);
    }
    names = fmin(ceil(names) + 1, box.w - 150);
    for (uint32_t i = 0; i < d->count; i++) {
        const double y = box.y + HEAD + i * ROW, value = d->rows[i].value;
        scene_text(s->brush.scene, box.x, y + 4, names, TEXT_BODY, TEXT_FIGURES, t->text,
                   distances_name(s, &d->rows[i]).text);
        widget_bar(&s->brush, (struct box){box.x + names + 12, y + 9, box.w - names - 76, 8},
                   value / most, t->info);
        scene_text(s->brush.scene, box.x + box.w - 56, y + 4, 56, TEXT_BODY,
                   TEXT_RIGHT | TEXT_FIGURES, t->text, format_share(value / d->total).text);
    }
}
