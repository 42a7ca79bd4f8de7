/* Heat map of ranks over time. */
#include "viewer/views/live/view_live_parts.h"

#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>

struct raster {
    uint64_t first, last; /* windows across */
    uint64_t per_column;  /* windows in a column */
    uint32_t ranks, per_row;
    int w, h;
};

static struct raster heat_fit_raster(const struct stage *s, struct box plot,
                                     const struct timeline *l)
{
    struct raster r = {0};
    const struct model *m = s->model;
    if (!timeline_windows(m, l, &r.first, &r.last) || !m->rank_count)
        return r;
    uint64_t windows = r.last - r.first + 1;
    uint32_t px = (uint32_t)fmax(plot.w, 1), py = (uint32_t)fmax(plot.h, 1);
    r.per_column = (windows + px - 1) / px;
    r.first = r.first / r.per_column * r.per_column;
    windows = r.last - r.first + 1;
    r.ranks = m->rank_count;
    const uint64_t group = m->group > 1 ? m->group : 1, per_pixel = py * group;
    r.per_row = (uint32_t)((r.ranks + per_pixel - 1) / per_pixel * group);
    r.w = (int)((windows + r.per_column - 1) / r.per_column);
    r.h = (int)((r.ranks + r.per_row - 1) / r.per_row);
    return r;
}

/* Add the ranks of one slot to all columns that it covers: waiting time to cells, observed time to
 * weights. */
static void heat_add_slot(const struct raster *r, const struct history_slot *slot, double *waiting,
                          double *watched)
{
    uint64_t a = slot->first > r->first ? slot->first : r->first;
    uint64_t b = slot->last < r->last ? slot->last : r->last;
    for (uint64_t c = (a - r->first) / r->per_column; c <= (b - r->first) / r->per_column; c++) {
        for (uint32_t i = 0; i < slot->count && slot->items[i] < r->ranks; i++) {
            const uint64_t *figures = slot->values + (size_t)i * RANK_COLUMNS;
            size_t cell = (size_t)(slot->items[i] / r->per_row) * (size_t)r->w + c;
            waiting[cell] += (double)model_waiting_ns(figures);
            watched[cell] += (double)figures[RANK_TIME_NS];
        }
    }
}

static uint64_t heat_compute_key(const struct stage *s, const struct raster *r)
{
    const uint64_t parts[] = {
        s->model->details_version, r->first, r->last, (uint64_t)r->w, (uint64_t)r->h,
        (uint64_t)s->ui->theme};
    return mix_numbers(7, parts, sizeof parts / sizeof *parts);
}

/* Share at the bright end of the map: rounded, so that it seldom changes. */
static double heat_scale_end(const double *waiting, const double *watched, size_t cells)
{
    static const double ends[] = {0.05, 0.1, 0.2, 0.5};
    double most = 0;
    for (size_t i = 0; i < cells; i++)
        if (watched[i] > 0)
            most = fmax(most, waiting[i] / watched[i]);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (most <= ends[i])
            return ends[i];
    return 1;
}

static int heat_paint(const struct stage *s, const struct raster *r)
{
    struct picture *p = &s->pictures->heat;
    uint64_t key = heat_compute_key(s, r);
    if (p->key == key && p->image.w == r->w && p->image.h == r->h)
        return 0;
    /* cells hold waiting time in the upper half and observed time in the lower half: double height,
     * cut afterwards */
    if (picture_size(s->pictures, p, r->w, r->h * 2) < 0)
        return -1;
    p->image.h = r->h;
    size_t cells = (size_t)r->w * (size_t)r->h;
    double *waiting = s->pictures->cells, *watched = waiting + cells;
    const struct history *h = &s->model->rank_history;
    for (size_t i = 0; i < h->count; i++)
        if (h->slots[i].last >= r->first && h->slots[i].first <= r->last)
            heat_add_slot(r, &h->slots[i], waiting, watched);
    p->high = heat_scale_end(waiting, watched, cells);
    for (size_t i = 0; i < cells; i++)
        if (watched[i] > 0)
            p->image.pixels[i] =
                color_pixel(theme_map(s->brush.theme, waiting[i] / watched[i] / p->high));
    p->key = key;
    p->image.version++;
    return 0;
}

static void heat_add_rank_axis(const struct stage *s, const struct raster *r, struct box plot)
{
    double step = fmax(nice_ceil(r->ranks * 30 / plot.h), 1);
    if (step < 3)
        step = ceil(step);
    for (double rank = 0; rank < r->ranks; rank += ceil(step)) {
        double y = plot.y + (rank + 0.5) / r->ranks * plot.h - 7;
        if (y + 14 > plot.y + plot.h + 4)
            break;
        scene_textf(s->brush.scene, plot.x - 46, fmax(y, plot.y - 2), 40, TEXT_AXIS,
                    TEXT_RIGHT | TEXT_FIGURES, s->brush.theme->second, "%s",
                    piece_rank_axis(rank, step).text);
    }
}

static void heat_tip(struct stage *s, const struct raster *r, struct box plot)
{
    if (!box_has(plot, s->brush.mouse_x, s->brush.mouse_y) || !s->hover ||
        s->hover->kind != HIT_TIME)
        return;
    uint32_t rank = (uint32_t)((s->brush.mouse_y - plot.y) / plot.h * r->ranks);
    if (r->per_row <= 1)
        piece_rank_tip(s, rank < r->ranks ? rank : r->ranks - 1);
    else
        tooltip_add_text(&s->tip, 0,
                         piece_ranks(s->model, rank / r->per_row * r->per_row, r->per_row).text);
}

/* The daemon does not report earlier windows rank by rank for very large jobs, or after a seek of a
 * replay: explain an empty part of the picture, once. */
static void heat_explain_empty(const struct stage *s, const struct timeline *line, struct box plot,
                               uint64_t length)
{
    const struct history *h = &s->model->rank_history;
    int replay = s->model->playback.known;
    double from = plot.x, end = plot.x + plot.w, widest = 0, at = plot.x;
    for (size_t k = 0; k <= h->count; k++) {
        double x = k < h->count ? timeline_x(line, (int64_t)(h->slots[k].first * length)) : end;
        double w = fmin(x, end) - from;
        if (w > widest && (replay || k == 0)) {
            widest = w;
            at = from;
        }
        if (k < h->count)
            from = fmax(timeline_x(line, (int64_t)((h->slots[k].last + 1) * length)), from);
    }
    if (widest > 220)
        scene_textf(s->brush.scene, at, plot.y + plot.h / 2 - 7, widest, TEXT_AXIS, TEXT_CENTRE,
                    s->brush.theme->second, "%s only %s",
                    s->model->group > 1 ? "group by group" : "rank by rank",
                    replay ? "where the replay has been" : "since this viewer connected");
}

/* Frames around selected ranks; neighbours share a frame. */
static void heat_mark_selected(const struct stage *s, const struct raster *r, struct box plot)
{
    enum select_kind kind = s->ui->selection.kind;
    for (uint32_t rank = 0; rank < r->ranks && kind != SELECT_NONE; rank++) {
        if (!ui_marks_rank(s->ui, s->model, rank))
            continue;
        uint32_t end = rank + 1;
        while (end < r->ranks && ui_marks_rank(s->ui, s->model, end))
            end++;
        double h = fmax(plot.h * (end - rank) / r->ranks, 2), y = plot.y + plot.h * rank / r->ranks;
        scene_outline(s->brush.scene, (struct box){plot.x, y - 1, plot.w, h + 2}, 0, 1,
                      s->brush.theme->text);
        rank = end;
    }
}

void heat_layout(struct stage *s, struct box box, const struct timeline *line)
{
    struct box plot = {line->x, box.y + 34, line->w, box.h - 34 - 20};
    struct raster r = heat_fit_raster(s, plot, line);
    piece_panel(s, box, "heat");
    int shown = r.w > 0 && plot.h >= 24 && heat_paint(s, &r) == 0;
    double used = 0;
    char what[96];
    if (shown && s->model->rank_history.count && box.w > 430) {
        struct quantity end = quantity_print("%.0f\xc2\xa0%%", s->pictures->heat.high * 100);
        used = widget_map_legend(&s->brush, box.x + box.w - 12, box.y + 9, "0\xc2\xa0%", end.text) +
               12;
    }
    if (r.per_row > 1)
        snprintf(what, sizeof what, "share of time, each row the mean of %s ranks",
                 quantity_grouped(r.per_row).text);
    else
        snprintf(what, sizeof what, "share of time, rank by rank");
    widget_title(&s->brush, box.x + 12, box.y + 6, box.w - 24 - used, "Waiting", what);
    if (!shown) {
        piece_empty(s, plot, "No figures of single ranks yet", NULL);
        return;
    }
    heat_add_rank_axis(s, &r, plot);
    timeline_axis(s, line, plot.y + plot.h + 3);
    scene_panel(s->brush.scene, plot, 0, "heat.plot");
    scene_overlay(s->brush.scene);
    uint64_t length = series_newest(&s->model->series)->length_ns;
    double x0 = timeline_x(line, (int64_t)(r.first * length));
    double x1 = timeline_x(line, (int64_t)((r.first + (uint64_t)r.w * r.per_column) * length));
    scene_image(s->brush.scene, (struct box){x0, plot.y, x1 - x0, plot.h},
                &s->pictures->heat.image);
    heat_explain_empty(s, line, plot, length);
    heat_mark_selected(s, &r, plot);
    timeline_gaps(s, line, plot, 0);
    timeline_cursor(s, line, plot);
    struct scene_hit *hit = scene_hit(s->brush.scene, plot, HIT_TIME, 1, 0);
    hit->x0 = (double)line->begin;
    hit->x1 = (double)line->end;
    heat_tip(s, &r, plot);
}
