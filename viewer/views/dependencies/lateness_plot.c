/* Lateness while the job runs: windows from left to right, each the sum of the logical steps in it,
 * ranks from top to bottom, coloured by how late they were; beside it the ranks that caused it. */
#include "viewer/views/dependencies/lateness_plot.h"

#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/common/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD = 56, AXIS = 24, GUTTER = 64, CAUSES = 206, ROW = 22, NAMED_RANKS = 48 };

/* Kept between scenes. */
struct lateness_drawing {
    struct picture map;
    struct {
        uint32_t rank;
        uint64_t caused_ns;
    } worst[NAMED_RANKS]; /* most first */
    uint32_t worst_count, causing_ranks;
    uint64_t worst_ns; /* greatest lateness of a rank in a window */
};

/* What a cell of the map is. */
struct lateness_raster {
    uint64_t first, per_column; /* windows */
    uint32_t ranks, per_row;
    int w, h;
};

void lateness_drawing_destroy(struct lateness_drawing *d)
{
    if (d)
        picture_finish(&d->map);
    free(d);
}

static struct lateness_raster lateness_fit(const struct stage *s, struct box plot,
                                           const struct timeline *line)
{
    struct lateness_raster r = {.ranks = s->model->rank_count};
    uint64_t last;
    if (!r.ranks || !timeline_windows(s->model, line, &r.first, &last))
        return r;
    uint32_t wide = (uint32_t)fmax(plot.w, 1), high = (uint32_t)fmax(plot.h, 1);
    r.per_column = (last - r.first + wide) / wide;
    r.first = r.first / r.per_column * r.per_column;
    r.per_row = (r.ranks + high - 1) / high;
    r.w = (int)((last - r.first) / r.per_column + 1);
    r.h = (int)((r.ranks + r.per_row - 1) / r.per_row);
    return r;
}

/* ---- figures --------------------------------------------------------------- */

/* The part of each window that the latest rank of a cell was late. */
static void lateness_add_slot(const struct lateness_raster *r, const struct history_slot *slot,
                              double length_ns, double *cells, uint64_t *caused)
{
    uint64_t end = r->first + (uint64_t)r->w * r->per_column;
    uint64_t a = slot->first > r->first ? slot->first : r->first;
    uint64_t b = slot->last < end ? slot->last : end - 1;
    double all_ns = (double)(slot->last - slot->first + 1) * length_ns;
    for (uint32_t i = 0; i < slot->count && slot->items[i] < r->ranks; i++) {
        const uint64_t *figures = slot->values + (size_t)i * LATE_COLUMNS;
        double share = (double)figures[LATE_NS] / all_ns;
        caused[slot->items[i]] += figures[LATE_CAUSED_NS];
        for (uint64_t c = (a - r->first) / r->per_column; c <= (b - r->first) / r->per_column;
             c++) {
            double *cell = &cells[(size_t)(slot->items[i] / r->per_row) * (size_t)r->w + c];
            *cell = fmax(*cell, share);
        }
    }
}

static void lateness_name_rank(struct lateness_drawing *d, uint32_t rank, uint64_t caused_ns)
{
    uint32_t at = d->worst_count;
    while (at > 0 && caused_ns > d->worst[at - 1].caused_ns)
        at--;
    if (at == NAMED_RANKS)
        return;
    d->worst_count += d->worst_count < NAMED_RANKS;
    for (uint32_t i = d->worst_count - 1; i > at; i--)
        d->worst[i] = d->worst[i - 1];
    d->worst[at].rank = rank;
    d->worst[at].caused_ns = caused_ns;
}

/* Share of a window at the bright end of the map: rounded, so that it seldom changes. */
static double lateness_scale_end(double most)
{
    static const double ends[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (most <= ends[i])
            return ends[i];
    return 1;
}

static void lateness_paint(const struct stage *s, struct lateness_drawing *d,
                           const struct lateness_raster *r, double *cells, uint64_t *caused)
{
    const struct history *h = &s->model->lateness.history;
    double length_ns = (double)series_newest(&s->model->series)->length_ns, most = 0;
    uint64_t end = r->first + (uint64_t)r->w * r->per_column;
    for (size_t i = 0; i < h->count; i++)
        if (h->slots[i].last >= r->first && h->slots[i].first < end)
            lateness_add_slot(r, &h->slots[i], length_ns, cells, caused);
    for (size_t i = 0; i < (size_t)r->w * (size_t)r->h; i++)
        most = fmax(most, cells[i]);
    d->map.high = lateness_scale_end(most);
    d->worst_ns = (uint64_t)(most * length_ns);
    for (size_t i = 0; i < (size_t)r->w * (size_t)r->h; i++)
        d->map.image.pixels[i] = color_pixel(theme_map(s->brush.theme, cells[i] / d->map.high));
    d->worst_count = d->causing_ranks = 0;
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        d->causing_ranks += caused[rank] > 0;
        if (caused[rank] > 0)
            lateness_name_rank(d, rank, caused[rank]);
    }
}

/* @return 0 or -1: without memory */
static int lateness_update(const struct stage *s, struct lateness_drawing *d,
                           const struct lateness_raster *r)
{
    const uint64_t parts[] = {s->model->version, r->first,       r->per_column,
                              (uint64_t)r->w,    (uint64_t)r->h, (uint64_t)s->ui->theme};
    const uint64_t key = mix_numbers(11, parts, sizeof parts / sizeof *parts);
    if (d->map.key == key)
        return 0;
    uint64_t *caused = calloc(r->ranks + (size_t)1, sizeof *caused);
    if (!caused || picture_size(s->pictures, &d->map, r->w, r->h) < 0) {
        free(caused);
        return -1;
    }
    lateness_paint(s, d, r, s->pictures->cells, caused);
    free(caused);
    d->map.key = key;
    d->map.image.version++;
    return 0;
}

/* ---- layout ---------------------------------------------------------------- */

static void lateness_layout_ranks(const struct stage *s, const struct lateness_raster *r,
                                  struct box plot)
{
    double step = ceil(fmax(nice_ceil(r->ranks * 30 / plot.h), 1));
    for (double rank = 0; rank < r->ranks; rank += step) {
        double y = plot.y + (rank + 0.5) / r->ranks * plot.h - 7;
        if (y + 14 <= plot.y + plot.h + 4)
            scene_textf(s->brush.scene, plot.x - GUTTER + 4, fmax(y, plot.y - 2), GUTTER - 10,
                        TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES, s->brush.theme->second, "%s",
                        piece_rank_axis(rank, step).text);
    }
}

static void lateness_layout_causes(struct stage *s, const struct lateness_drawing *d,
                                   struct box box)
{
    const struct theme *t = s->brush.theme;
    uint32_t rows = (uint32_t)fmax((box.h - 24) / ROW, 0);
    scene_text(s->brush.scene, box.x + 4, box.y, box.w - 8, TEXT_SMALL_STRONG, 0, t->text,
               "Caused lateness");
    if (d->worst_count == 0)
        scene_text(s->brush.scene, box.x + 4, box.y + 22, box.w - 8, TEXT_SMALL, 0, t->faint,
                   d->worst_ns ? "by no rank: by messages in flight" : "nothing is late");
    for (uint32_t i = 0; i < d->worst_count && i < rows; i++) {
        struct box row = {box.x, box.y + 22 + i * (double)ROW, box.w, ROW - 1};
        uint32_t rank = d->worst[i].rank;
        int over = box_has(row, s->brush.mouse_x, s->brush.mouse_y);
        scene_hit(s->brush.scene, row, HIT_RANK, rank, 0);
        if (over) {
            scene_rect(s->brush.scene, row, 3, t->raised);
            piece_rank_tip(s, rank);
        }
        scene_textf(s->brush.scene, row.x + 4, row.y + 1, 96, TEXT_SMALL, 0,
                    ui_marks_rank(s->ui, s->model, rank) ? t->accent : t->text, "%s",
                    piece_rank(s->model, rank).text);
        scene_text(s->brush.scene, row.x + 104, row.y + 1, row.w - 108, TEXT_SMALL,
                   TEXT_RIGHT | TEXT_FIGURES, t->second,
                   format_duration((double)d->worst[i].caused_ns).text);
        widget_bar(&s->brush, (struct box){row.x + 4, row.y + ROW - 4, row.w - 8, 2},
                   (double)d->worst[i].caused_ns / (double)d->worst[0].caused_ns, t->warn);
    }
}

static void lateness_tip(struct stage *s, const struct lateness_raster *r, struct box plot)
{
    if (!box_has(plot, s->brush.mouse_x, s->brush.mouse_y) || s->ui->mouse.dragging)
        return;
    uint32_t row = (uint32_t)((s->brush.mouse_y - plot.y) / plot.h * r->h);
    uint32_t rank = row * r->per_row;
    if (r->per_row == 1)
        piece_rank_tip(s, rank < r->ranks ? rank : r->ranks - 1);
    else
        tooltip_add(&s->tip, 0, "the latest of %s", piece_ranks(s->model, rank, r->per_row).text);
}

static void lateness_layout_plot(struct stage *s, const struct lateness_drawing *d,
                                 const struct lateness_raster *r, const struct timeline *line,
                                 struct box plot)
{
    uint64_t length = series_newest(&s->model->series)->length_ns;
    lateness_layout_ranks(s, r, plot);
    timeline_axis(s, line, plot.y + plot.h + 4);
    scene_panel(s->brush.scene, plot, 0, "lateness.plot");
    scene_overlay(s->brush.scene);
    double x0 = timeline_x(line, (int64_t)(r->first * length));
    double x1 = timeline_x(line, (int64_t)((r->first + (uint64_t)r->w * r->per_column) * length));
    scene_image(s->brush.scene, (struct box){x0, plot.y, x1 - x0, plot.h}, &d->map.image);
    timeline_gaps(s, line, plot, 0);
    timeline_alerts(s, line, plot, 0);
    timeline_cursor(s, line, plot);
    struct scene_hit *hit = scene_hit(s->brush.scene, plot, HIT_TIME, 1, 0);
    hit->x0 = (double)line->begin;
    hit->x1 = (double)line->end;
    lateness_tip(s, r, plot);
}

void lateness_layout(struct stage *s, struct box panel)
{
    struct lateness_drawing *d = s->pictures->lateness;
    double causes = panel.w > 620 ? CAUSES : 0;
    struct box plot = {panel.x + GUTTER, panel.y + HEAD, panel.w - GUTTER - 16 - causes,
                       panel.h - HEAD - AXIS - 4};
    struct timeline line = {plot.x, plot.w, 0, 0};
    char what[200];
    if (!d && !(d = s->pictures->lateness = calloc(1, sizeof *d)))
        return;
    ui_visible(s->ui, s->model, &line.begin, &line.end);
    struct lateness_raster r = lateness_fit(s, plot, &line);
    if (plot.w < 80 || plot.h < 40 || !r.w || lateness_update(s, d, &r) < 0)
        return;
    struct quantity end = quantity_print("%.0f\xc2\xa0%% of a window late", d->map.high * 100);
    double used =
        widget_map_legend(&s->brush, panel.x + panel.w - 12, panel.y + 36, "in time", end.text);
    snprintf(what, sizeof what, "at most %s late in a window, caused by %s%s",
             format_duration((double)d->worst_ns).text,
             d->causing_ranks ? quantity_things(d->causing_ranks, "rank").text : "no rank",
             r.per_row > 1 ? "; each row is the latest of several" : "");
    scene_text(s->brush.scene, panel.x + 12, panel.y + 33, panel.w - 36 - used, TEXT_SMALL, 0,
               s->brush.theme->second, what);
    if (causes > 0)
        lateness_layout_causes(
            s, d, (struct box){panel.x + panel.w - causes, plot.y, causes - 10, plot.h});
    lateness_layout_plot(s, d, &r, &line, plot);
}
