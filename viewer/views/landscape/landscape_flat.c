/* Figures by rank as a list, as a matrix of functions and ranks, and as a histogram. */
#include "viewer/views/landscape/landscape_drawing.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"
#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/pieces.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- list ---- */

enum { ROW = 24, RANK = 0, NODE, VALUE, AGAINST, BAR, COLUMNS };

static const struct table landscape_table = {
    .columns =
        {
            [RANK] = {"rank", 80, TEXT_RIGHT, 0},
            [NODE] = {"node", 130, 0, 0, 1},
            [VALUE] = {"value", 100, TEXT_RIGHT, 0},
            [AGAINST] = {"of the mean", 100, TEXT_RIGHT, 0, 2},
            [BAR] = {"", 0, 0, 0},
        },
    .count = COLUMNS,
    .list = LIST_LANDSCAPE,
};

static int landscape_compare_ranks(const void *left, const void *right, void *user)
{
    const struct landscape_drawing *d = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return 2 * ORDER(d->colored[b], d->colored[a]) + ORDER(a, b);
}

/* Visible ranks, the largest value first. */
static uint32_t landscape_order_ranks(const struct stage *s, const struct landscape_drawing *d)
{
    struct pictures *p = s->pictures;
    uint32_t n = 0;
    if (p->order_key == d->key && p->order_count == d->shown_count)
        return p->order_count;
    p->order_key = 0;
    if (ARRAY_FIT(p->order, p->order_capacity, d->ranks + 1) != 0)
        return 0;
    for (uint32_t rank = 0; rank < d->ranks; rank++)
        if (d->shown[rank])
            p->order[n++] = rank;
    qsort_r(p->order, n, sizeof *p->order, landscape_compare_ranks, (void *)(uintptr_t)d);
    p->order_count = n;
    p->order_key = d->key;
    return n;
}

void landscape_list(struct stage *s, struct landscape_drawing *d, struct box box)
{
    const struct theme *t = s->brush.theme;
    uint32_t n = landscape_order_ranks(s, d), last;
    double mean = 0;
    for (uint32_t i = 0; i < n; i++)
        mean += d->colored[s->pictures->order[i]] / n;
    struct table fitted = landscape_table, *table = &fitted;
    struct box head = {box.x, box.y, box.w - 12, 24};
    struct box list = {box.x, box.y + 26, box.w, box.h - 26};
    uint32_t first = piece_list(s, list, LIST_LANDSCAPE, n, ROW, &last);
    for (uint32_t i = first; i < last; i++) {
        uint32_t rank = s->pictures->order[i];
        table_need(&s->brush, table, NODE, model_host_of(s->model, rank));
        table_need(&s->brush, table, VALUE, landscape_colored_text(s, d, d->colored[rank]).text);
    }
    widget_table_head(&s->brush, table, head, -1, 0);
    for (uint32_t i = first; i < last; i++) {
        uint32_t rank = s->pictures->order[i];
        struct box row = {list.x, list.y + (i - first) * ROW, head.w, ROW - 1};
        double value = d->colored[rank], share = landscape_share(d, value);
        piece_row(s, row, HIT_RANK, rank, 0, landscape_marks(s, rank), LIST_LANDSCAPE, i);
        widget_cell(&s->brush, table, row, RANK, t->text, quantity_print("%u", rank).text);
        widget_cell(&s->brush, table, row, NODE, t->second, model_host_of(s->model, rank));
        widget_cell(&s->brush, table, row, VALUE, t->text,
                    landscape_colored_text(s, d, value).text);
        widget_cell(&s->brush, table, row, AGAINST, t->second,
                    mean > 0 ? format_ratio(value / mean).text : "-");
        struct box bar = column_box(table, BAR, row.x, row.w);
        widget_bar(&s->brush, (struct box){bar.x, row.y + 8, bar.w, 8},
                   d->high > 0 ? value / d->high : 0, theme_map(t, share));
    }
}

/* ---- matrix ---- */

/* Value of a cell: the mean of its ranks, or of the groups that have ranks in it; NaN: none of them
 * has one. */
static double landscape_cell(const struct stage *s, const struct landscape_drawing *d,
                             uint32_t event, uint32_t first, uint32_t last)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t rank = (uint32_t)model_row_of(s->model, first); rank < last; rank++) {
        double value = rank_calls_value(&d->calls, event, rank, s->ui->landscape.events[0].figure);
        if (isnan(value) || !d->shown[rank])
            continue;
        sum += value;
        n++;
    }
    return n ? sum / n : NAN;
}

/* Shares of a logarithmic scale of three decades below the largest value. */
static double landscape_log_share(double value, double largest)
{
    return value > 0 && largest > 0 ? fmax(1 + log10(value / largest) / 3, 0.02) : NAN;
}

static int landscape_paint_matrix(const struct stage *s, struct landscape_drawing *d, int w)
{
    struct picture *p = &d->matrix;
    uint64_t key = mix_number(mix_number(d->key, (uint64_t)w), (uint64_t)s->ui->theme) | 1;
    double largest = 0;
    if (p->key == key)
        return 0;
    int h = (int)d->calls.count;
    if (picture_size(s->pictures, p, w, h) < 0)
        return -1;
    double *cells = s->pictures->cells;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            uint32_t first = (uint32_t)((uint64_t)x * d->ranks / (uint64_t)w),
                     last = (uint32_t)((uint64_t)(x + 1) * d->ranks / (uint64_t)w);
            double value = landscape_cell(s, d, (uint32_t)y, first, last);
            cells[y * w + x] = value;
            largest = fmax(largest, isnan(value) ? 0 : value);
        }
    }
    for (int i = 0; i < w * h; i++) {
        double share = landscape_log_share(cells[i], largest);
        if (!isnan(share))
            p->image.pixels[i] = color_pixel(theme_map(s->brush.theme, share));
    }
    p->low = largest / 1000;
    p->high = largest;
    p->per_cell = (d->ranks + (uint32_t)w - 1) / (uint32_t)w;
    p->key = key;
    p->image.version++;
    return 0;
}

static void landscape_matrix_marks(struct stage *s, const struct landscape_drawing *d,
                                   struct box plot, double row_h)
{
    double per_rank = plot.w / d->ranks;
    int named = 0;
    for (uint32_t rank = 0; s->ui->selection.kind != SELECT_NONE && rank < d->ranks; rank++) {
        uint32_t end = rank;
        while (end < d->ranks && ui_marks_rank(s->ui, s->model, end))
            end++;
        if (end == rank || ++named > 200)
            continue;
        scene_outline(s->brush.scene,
                      (struct box){plot.x + rank * per_rank - 1, plot.y - 1,
                                   fmax((end - rank) * per_rank, 2) + 2, plot.h + 2},
                      0, 1, s->brush.theme->accent);
        rank = end;
    }
    if (!box_has(plot, s->brush.mouse_x, s->brush.mouse_y))
        return;
    uint32_t w = (uint32_t)d->matrix.image.w,
             cell = (uint32_t)((s->brush.mouse_x - plot.x) / plot.w * w),
             event = (uint32_t)((s->brush.mouse_y - plot.y) / row_h);
    if (cell >= w || event >= d->calls.count)
        return;
    uint32_t first = (uint32_t)((uint64_t)cell * d->ranks / w),
             last = (uint32_t)((uint64_t)(cell + 1) * d->ranks / w);
    enum rank_figure figure = s->ui->landscape.events[0].figure;
    struct box box = {plot.x + cell * plot.w / w, plot.y + event * row_h, plot.w / w, row_h};
    scene_hit(s->brush.scene, box, HIT_RANK, first, 0);
    char name[300];
    if (last > first + 1)
        tooltip_add(&s->tip, 0, "ranks %u to %u", first, last - 1);
    else
        tooltip_add(&s->tip, 0, "%s", piece_rank_on(s->model, first, name, sizeof name));
    tooltip_add(&s->tip, s->brush.theme->second, "%s, %s %s", landscape_event_name(s, d, event),
                landscape_figure_name(figure),
                landscape_quantity(figure, landscape_cell(s, d, event, first, last)).text);
}

void landscape_matrix(struct stage *s, struct landscape_drawing *d, struct box box)
{
    const struct theme *t = s->brush.theme;
    const double names = 130, foot = 44;
    enum rank_figure figure = s->ui->landscape.events[0].figure;
    struct box plot = {floor(box.x + names), floor(box.y), floor(box.w - names),
                       floor(box.h - foot)};
    double row_h = floor(fmin(plot.h / d->calls.count, 72));
    int w = d->ranks < plot.w ? (int)d->ranks : (int)plot.w;
    if (plot.w < 20 || row_h < 2 || landscape_paint_matrix(s, d, w) < 0)
        return;
    plot.h = row_h * d->calls.count;
    int step = (int)ceil(14 / row_h);
    for (uint32_t i = 0; i < d->calls.count; i += (uint32_t)step)
        scene_text(s->brush.scene, box.x, plot.y + i * row_h + fmin(row_h, step * row_h) / 2 - 7,
                   names - 8, TEXT_AXIS, TEXT_RIGHT, d->events[0] == i ? t->text : t->second,
                   landscape_event_name(s, d, i));
    scene_image(s->brush.scene, plot, &d->matrix.image);
    for (uint32_t i = 1; i < d->calls.count && row_h > 5; i++)
        scene_rect(s->brush.scene, (struct box){plot.x, plot.y + i * row_h, plot.w, 1}, 0,
                   t->panel);
    landscape_matrix_marks(s, d, plot, row_h);
    double y = plot.y + plot.h + 4;
    scene_text(s->brush.scene, plot.x, y, 60, TEXT_AXIS, 0, t->second, "rank 0");
    scene_textf(s->brush.scene, plot.x + plot.w - 80, y, 80, TEXT_AXIS, TEXT_RIGHT, t->second, "%u",
                d->ranks - 1);
    double legend = 0;
    if (d->matrix.high > 0)
        legend = widget_map_legend(&s->brush, plot.x + plot.w, y + 18,
                                   landscape_quantity(figure, d->matrix.low).text,
                                   landscape_quantity(figure, d->matrix.high).text);
    char text[160];
    snprintf(text, sizeof text,
             s->model->group > 1      ? "Each cell is the mean of the groups in it; colours are "
                                        "logarithmic."
             : d->matrix.per_cell > 1 ? "Each cell is the mean of up to %llu ranks; colours are "
                                        "logarithmic."
                                      : "Each cell is one rank; colours are logarithmic.",
             (unsigned long long)d->matrix.per_cell);
    scene_text(s->brush.scene, box.x, y + 18, box.w - legend - 12, TEXT_AXIS, 0, t->faint, text);
}

/* ---- histogram ---- */

enum { BINS = 40 };

struct landscape_bars {
    uint32_t counts[BINS], marked[BINS], most;
};

static void landscape_count_bars(const struct stage *s, const struct landscape_drawing *d,
                                 struct landscape_bars *bars)
{
    *bars = (struct landscape_bars){.most = 1};
    for (uint32_t rank = 0; rank < d->ranks; rank++) {
        double share = landscape_share(d, d->colored[rank]);
        if (!isfinite(share) || model_row_of(s->model, rank) != rank)
            continue;
        int bin = share >= 1 ? BINS - 1 : (int)(share * BINS);
        bars->counts[bin]++;
        if (landscape_marks(s, rank))
            bars->marked[bin]++;
        if (bars->counts[bin] > bars->most)
            bars->most = bars->counts[bin];
    }
}

/* Value at a share of the range. */
static struct quantity landscape_value_at(const struct stage *s, const struct landscape_drawing *d,
                                          double share)
{
    return landscape_colored_text(s, d, d->low + (d->high - d->low) * share);
}

static void landscape_add_bar(struct stage *s, const struct landscape_drawing *d,
                              const struct landscape_bars *bars, int i, struct box cell)
{
    const struct theme *t = s->brush.theme;
    double h = cell.h * bars->counts[i] / bars->most,
           marked = cell.h * bars->marked[i] / bars->most;
    double low = i / (double)BINS, high = (i + 1) / (double)BINS, bottom = cell.y + cell.h;
    int shown = landscape_passes(&s->ui->landscape, (low + high) / 2);
    if (bars->counts[i])
        scene_rect(s->brush.scene, (struct box){cell.x + 1, bottom - h, cell.w - 2, h}, 0,
                   color_fade(theme_map(t, (low + high) / 2), shown ? 1 : 0.3));
    if (bars->marked[i])
        scene_outline(s->brush.scene, (struct box){cell.x + 1, bottom - marked, cell.w - 2, marked},
                      0, 2, t->accent);
    scene_hit(s->brush.scene, cell, HIT_BUTTON, COMMAND_LANDSCAPE_LEVEL,
              (uint64_t)(low * LANDSCAPE_LEVELS) << 32 | (uint64_t)(high * LANDSCAPE_LEVELS));
    if (!box_has(cell, s->brush.mouse_x, s->brush.mouse_y))
        return;
    tooltip_add(&s->tip, 0, "%s %s", quantity_grouped(bars->counts[i]).text,
                landscape_unit(s->model).text);
    tooltip_add(&s->tip, t->second, "%s to %s", landscape_value_at(s, d, low).text,
                landscape_value_at(s, d, high).text);
}

void landscape_histogram(struct stage *s, struct landscape_drawing *d, struct box box)
{
    const struct theme *t = s->brush.theme;
    struct landscape_bars bars;
    struct box plot = {floor(box.x + 50), floor(box.y + 8), floor(box.w - 62), floor(box.h - 50)};
    double w = plot.w / BINS, step;
    if (plot.w < 100 || plot.h < 40)
        return;
    landscape_count_bars(s, d, &bars);
    step = fmax(nice_ceil(bars.most / 5.0), 1);
    for (double ranks = 0; ranks <= bars.most; ranks += step) {
        double y = floor(plot.y + plot.h * (1 - ranks / bars.most)) + 0.5;
        scene_line(s->brush.scene, plot.x, y, plot.x + plot.w, y, 1, t->grid);
        scene_text(s->brush.scene, box.x, y - 7, 44, TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES,
                   t->second, format_axis(ranks, "").text);
    }
    for (int i = 0; i < BINS; i++)
        landscape_add_bar(s, d, &bars, i, (struct box){plot.x + i * w, plot.y, w, plot.h});
    for (int i = 0; i <= 4; i++) {
        int flags = i == 4 ? TEXT_RIGHT : i ? TEXT_CENTRE : TEXT_LEFT;
        scene_text(s->brush.scene, plot.x + plot.w * i / 4 - 20.0 * i, plot.y + plot.h + 6, 80,
                   TEXT_AXIS, flags | TEXT_FIGURES, t->second,
                   landscape_value_at(s, d, i / 4.0).text);
    }
    struct quantity unit = landscape_unit(s->model);
    scene_textf(s->brush.scene, box.x, plot.y + plot.h + 26, box.w, TEXT_AXIS, 0, t->faint,
                "%c%s by value; a click on a bar shows its %s only, in every shape.",
                toupper(unit.text[0]), unit.text + 1, s->model->group > 1 ? "groups" : "ranks");
}
