/* On one node, in place of its links, which are spokes of a memory and say little: for whom its
 * ranks wait, the longest first, with the relative latency of the messages of both. */
#include "daemon/analysis/tables/array.h"
#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/links/view_links_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW = 30 };

enum column_of_delay { WAITS, FOR, BAR, TIME, LATENCY, LATENCY_FOR, COLUMNS };

static const struct table delays_table = {
    .columns =
        {
            [WAITS] = {"rank", 60, TEXT_RIGHT | TEXT_FIGURES, 0, 0},
            [FOR] = {"waits for", 80, TEXT_RIGHT | TEXT_FIGURES, 0, 0},
            [BAR] = {"", 0, 0, 0, 3},
            [TIME] = {"time waited", 110, TEXT_RIGHT | TEXT_FIGURES, 0, 0},
            [LATENCY] = {"latency", 80, TEXT_RIGHT | TEXT_FIGURES, 0, 1},
            [LATENCY_FOR] = {"of the other", 100, TEXT_RIGHT | TEXT_FIGURES, 0, 2},
        },
    .count = COLUMNS,
    .list = LIST_LINKS,
};

static int delays_compare(const void *left, const void *right, void *user)
{
    const uint64_t *waits = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return waits[a] != waits[b] ? (waits[a] < waits[b]) - (waits[a] > waits[b]) : (a > b) - (a < b);
}

/* @return how many pairs there are, in pictures->order; 0 also without memory */
static uint32_t delays_sort(struct stage *s)
{
    struct pictures *p = s->pictures;
    const struct range *r = s->range;
    const uint64_t key = mix_number(mix_number(VIEW_LINKS, r->version), r->waits.count) | 1;
    if (p->order_key == key)
        return p->order_count;
    p->order_key = 0;
    p->order_count = 0;
    if (ARRAY_FIT(p->order, p->order_capacity, (size_t)r->waits.count + 1) != 0)
        return 0;
    for (uint32_t i = 0; i < r->waits.count; i++)
        if (r->waits.figures[i])
            p->order[p->order_count++] = i;
    qsort_r(p->order, p->order_count, sizeof *p->order, delays_compare, r->waits.figures);
    p->order_key = key;
    return p->order_count;
}

static void delays_add_latency(const struct stage *s, struct box row, enum column_of_delay column,
                               uint64_t rank)
{
    const double latency =
        rank < s->range->ranks.count ? range_latency(s->range, (uint32_t)rank) : NAN;
    widget_cell(&s->brush, &delays_table, row, (int)column,
                latency > 1 ? s->brush.theme->warn : s->brush.theme->text,
                format_ratio(latency).text);
}

static void delays_add_row(struct stage *s, struct box row, uint32_t number, uint32_t at)
{
    const struct theme *t = s->brush.theme;
    const struct key key = s->model->waits.keys.keys[number];
    const double ns = (double)s->range->waits.figures[number],
                 most = (double)s->range->waits.figures[s->pictures->order[0]];
    piece_row(s, row, HIT_PAIR, key.lo, key.hi, ui_pair_selected(s->ui, key.lo, key.hi), LIST_LINKS,
              at);
    widget_cell(&s->brush, &delays_table, row, WAITS, t->text,
                quantity_print("%llu", (unsigned long long)key.hi).text);
    widget_cell(&s->brush, &delays_table, row, FOR, t->text,
                quantity_print("%llu", (unsigned long long)key.lo).text);
    const struct box bar = column_box(&delays_table, BAR, row.x, row.w);
    widget_bar(&s->brush, (struct box){bar.x, row.y + 10, fmax(bar.w - 12, 0), 8},
               ns / fmax(most, 1), t->warn);
    widget_cell(&s->brush, &delays_table, row, TIME, t->text, format_duration(ns).text);
    delays_add_latency(s, row, LATENCY, key.hi);
    delays_add_latency(s, row, LATENCY_FOR, key.lo);
    if (box_has(row, s->brush.mouse_x, s->brush.mouse_y))
        piece_pair_tip(s, (uint32_t)key.lo, (uint32_t)key.hi, 1);
}

int delays_layout(struct stage *s, struct box panel)
{
    const struct topology *t = s->model->network.topology;
    if (s->model->host_count != 1 || s->ui->network.what_if.count || s->ui->network.other ||
        s->ui->selection.kind == SELECT_LINK || (t && topology_grid(t)))
        return 0;
    const uint32_t count = delays_sort(s);
    if (!count)
        return 0;
    char what[160];
    piece_panel(s, panel, "links");
    double right = panel.x + panel.w - 12;
    snprintf(what, sizeof what, "%s, %s; one node: its links are those of its memory",
             quantity_things(count, "pair").text, piece_pairs_range_text(s).text);
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 12, "Pairs by delay",
                 what);
    const struct box head = {panel.x + 8, panel.y + 38, panel.w - 20, 24};
    widget_table_head(&s->brush, &delays_table, head, TIME, 1);
    const struct box list = {head.x, head.y + 26, head.w + 8, panel.h - 70};
    uint32_t last, first = piece_list(s, list, LIST_LINKS, count, ROW, &last);
    for (uint32_t i = first; i < last; i++)
        delays_add_row(s, (struct box){list.x, list.y + (i - first) * ROW, head.w, ROW - 2},
                       s->pictures->order[i], i);
    return 1;
}
