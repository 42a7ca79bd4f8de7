/* View "live": strips of messages, bytes and time in MPI over time, latency by region, an overview
 * of the whole job, and below them the matrix and the heat map of waiting. */
#include "viewer/views/views.h"

#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/common/timeline.h"
#include "viewer/views/live/view_live_parts.h"
#include "viewer/views/matrix/view_matrix.h"

#include "holter/call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GUTTER = 84, READOUT = 108 }; /* width of the figures left and right of a plot */
enum { BYTES = 1 };                  /* number of the strip that needs the sizes of messages */
enum { LOWEST_STRIP = 60 };          /* height that the texts of a strip take */

static double live_view_seconds(const struct window_totals *w)
{
    return w->length_ns ? (double)w->length_ns / 1e9 : 1;
}

static double live_view_messages_rate(const struct window_totals *w)
{
    return (double)w->sent / live_view_seconds(w);
}

static double live_view_bytes_rate(const struct window_totals *w)
{
    return (double)w->sent_bytes / live_view_seconds(w);
}

static double live_view_class_share(const struct window_totals *w, int k)
{
    double time = model_time_of_ranks(w);
    return time > 0 ? (double)w->class_ns[k] / time : 0;
}

static double live_view_mpi_share(const struct window_totals *w)
{
    double sum = 0;
    for (int k = 0; k < MODEL_CLASSES; k++)
        sum += live_view_class_share(w, k);
    return sum;
}

struct strip {
    const char *name, *title, *unit;
    timeline_value *value;
    int stacked;
};

static const struct strip strips[] = {
    {"messages", "Messages", "/s", live_view_messages_rate, 0},
    {"bytes", "Bytes", "B/s", live_view_bytes_rate, 0},
    {"mpi", "Time in MPI", "", live_view_mpi_share, 1},
};

/* Values of the newest visible window and the mean over all visible ones. A share of the ranks'
 * time counts by that time: there is less of it in a window in which ranks began or ended. */
static void live_view_add_readings(const struct stage *s, const struct strip *strip, double *newest,
                                   double *mean)
{
    uint64_t first, last;
    *newest = *mean = NAN;
    if (!ui_windows(s->ui, s->model, &first, &last))
        return;
    double sum = 0, weights = 0;
    for (uint64_t k = first; k <= last; k++) {
        const struct window_totals *w = series_at(&s->model->series, k);
        if (!w)
            continue;
        const double weight = strip->stacked ? model_time_of_ranks(w) : 1;
        *newest = strip->value(w);
        sum += *newest * weight;
        weights += weight;
    }
    if (weights > 0)
        *mean = sum / weights;
}

static struct quantity live_view_figure(const struct strip *strip, double value)
{
    if (isnan(value))
        return quantity_print("\xe2\x80\x93");
    return strip->stacked ? format_share(value) : format_si(value, strip->unit);
}

static void live_view_add_readout(const struct stage *s, const struct strip *strip, struct box box,
                                  color_t color)
{
    double newest, mean;
    live_view_add_readings(s, strip, &newest, &mean);
    struct quantity text = live_view_figure(strip, newest);
    double y = box.y + box.h / 2 - 24;
    static const enum text_style styles[] = {TEXT_LARGE, TEXT_LOGO, TEXT_TITLE};
    size_t style = 0;
    while (style < 2 && scene_width(s->brush.scene, styles[style], 0, text.text) > box.w - 10)
        style++;
    scene_text(s->brush.scene, box.x, y, box.w - 8, styles[style], TEXT_RIGHT, color, text.text);
    scene_textf(s->brush.scene, box.x, y + 32, box.w - 8, TEXT_AXIS, TEXT_RIGHT,
                s->brush.theme->second, "mean %s", live_view_figure(strip, mean).text);
}

static void live_view_add_value_axis(const struct stage *s, const struct strip *strip,
                                     struct box plot, double top)
{
    double unit = (plot.h - (strip->stacked ? 0 : 4)) / top;
    for (int i = 0; i <= 2; i++) {
        double value = top * i / 2, y = floor(plot.y + plot.h - value * unit) + 0.5;
        struct quantity text = strip->stacked ? quantity_print("%.0f\xc2\xa0%%", value * 100)
                                              : format_axis(value, strip->unit);
        scene_line(s->brush.scene, plot.x, y, plot.x + plot.w, y, 1, s->brush.theme->grid);
        if (i == 1 && plot.h < 34)
            continue; /* its label would touch its neighbours */
        if (i > 0 || !strip->stacked)
            scene_text(s->brush.scene, plot.x - GUTTER,
                       fmin(fmax(y - 7, plot.y - 4), plot.y + plot.h - 12), GUTTER - 8, TEXT_AXIS,
                       TEXT_RIGHT | TEXT_FIGURES, s->brush.theme->second, text.text);
    }
}

/* The beat at the end of the curve: a disc with a halo at the newest data. */
static void live_view_add_head(const struct stage *s, const struct strip *strip,
                               const struct timeline *l, struct box plot, double top, color_t color)
{
    const struct window_totals *w = series_newest(&s->model->series);
    if (!s->ui->time.follow || !w || model_ended(s->model))
        return;
    double x = timeline_x(l, (int64_t)(w->start_ns + w->length_ns / 2));
    double y = plot.y + plot.h - fmin(strip->value(w) / top, 1) * (plot.h - 4);
    scene_disc(s->brush.scene, x, y, 8, color_fade(color, 0.22));
    scene_disc(s->brush.scene, x, y, 3.5, color);
}

/* Shares of the classes over the visible windows; callers only test whether they are positive. */
static void live_view_visible_classes(const struct stage *s, double *shares)
{
    uint64_t first, last;
    if (!ui_windows(s->ui, s->model, &first, &last))
        return;
    for (uint64_t k = first; k <= last; k++) {
        const struct window_totals *w = series_at(&s->model->series, k);
        for (int c = 0; w && c < MODEL_CLASSES; c++)
            shares[c] += live_view_class_share(w, c);
    }
}

static void live_view_add_strip_title(const struct stage *s, const struct strip *strip,
                                      struct box box)
{
    static const char *const what[] = {"sent per second", "sent per second",
                                       "share of the ranks' time, by class of call"};
    double shares[MODEL_CLASSES] = {0}, right = box.x + box.w - 12;
    if (strip->stacked) {
        live_view_visible_classes(s, shares);
        right = box.x + box.w - READOUT;
        right -= piece_class_legend(s, right, box.y + 9, shares) + 12;
    }
    widget_title(&s->brush, box.x + 12, box.y + 6, right - box.x - 12, strip->title,
                 what[strip - strips]);
}

static void live_view_layout_strip(struct stage *s, const struct strip *strip,
                                   const struct timeline *l, struct box box)
{
    const struct theme *t = s->brush.theme;
    color_t colors[] = {t->accent, t->info, t->text};
    color_t color = colors[strip - strips];
    struct box plot = {l->x, box.y + 30, l->w, box.h - 38};
    double peak = timeline_peak(s->model, l, strip->value);
    double top = strip->stacked ? 1 : nice_ceil_unit(peak > 0 ? peak : 1, strip->unit);
    scene_panel(s->brush.scene, box, 0, "strip.%s", strip->name);
    scene_rect(s->brush.scene, box, 6, t->panel);
    live_view_add_strip_title(s, strip, box);
    live_view_add_value_axis(s, strip, plot, top);
    timeline_grid(s, l, plot.y, plot.h);
    live_view_add_readout(s, strip, (struct box){plot.x + plot.w, plot.y, READOUT, plot.h}, color);
    scene_panel(s->brush.scene, plot, 0, "strip.%s.plot", strip->name);
    scene_overlay(s->brush.scene);
    if (strip->stacked)
        timeline_stack(s, l, plot, live_view_class_share, MODEL_CLASSES, t->classes);
    else
        timeline_curve(s, l, plot, top, strip->value, color);
    timeline_gaps(s, l, plot, strip == strips);
    timeline_alerts(s, l, plot, strip == strips);
    timeline_cursor(s, l, plot);
    if (!strip->stacked)
        live_view_add_head(s, strip, l, plot, top, color);
    struct scene_hit *hit = scene_hit(s->brush.scene, plot, HIT_TIME, 0, 0);
    hit->x0 = (double)l->begin;
    hit->x1 = (double)l->end;
    timeline_alert_hits(s, l, plot, strip == strips);
    if (strip == strips)
        timeline_captures(s, l, plot);
}

/* Overview: the whole job in a band, with the visible span framed. */
static void live_view_layout_band(struct stage *s, struct box box, int64_t begin, int64_t end)
{
    const struct theme *t = s->brush.theme;
    int64_t oldest, newest;
    ui_whole_time(s->model, &oldest, &newest);
    scene_panel(s->brush.scene, box, 0, "band");
    scene_rect(s->brush.scene, box, 4, t->panel);
    if (newest <= oldest)
        return;
    struct timeline whole = {box.x, box.w, oldest, newest};
    struct box plot = box_inset(box, 0, 3);
    double top = timeline_peak(s->model, &whole, live_view_messages_rate);
    timeline_curve(s, &whole, plot, top > 0 ? top : 1, live_view_messages_rate,
                   color_fade(t->accent, 0.75));
    timeline_gaps(s, &whole, plot, 0);
    timeline_alerts(s, &whole, plot, 0);
    double x0 = fmax(timeline_x(&whole, begin), box.x),
           x1 = fmin(timeline_x(&whole, end), box.x + box.w);
    struct box frame = {x0, box.y, fmax(x1 - x0, 6), box.h};
    if (frame.x + frame.w > box.x + box.w)
        frame.x = box.x + box.w - frame.w;
    scene_rect(s->brush.scene, frame, 4, color_fade(t->text, 0.08));
    scene_outline(s->brush.scene, frame, 4, 1, t->second);
    struct scene_hit *hit = scene_hit(s->brush.scene, box, HIT_BAND, 0, 0);
    hit->x0 = (double)oldest;
    hit->x1 = (double)newest;
}

static void live_view_add_window_tip(struct stage *s)
{
    const struct window_totals *newest = series_newest(&s->model->series);
    if (!s->hover || s->hover->kind != HIT_TIME || !newest || !newest->length_ns ||
        s->ui->mouse.dragging)
        return;
    int64_t at = (int64_t)scene_hit_x(s->hover, s->brush.mouse_x);
    const struct window_totals *w = series_at(&s->model->series, (uint64_t)at / newest->length_ns);
    tooltip_add(&s->tip, 0, "%s", format_clock(at, newest->length_ns < 1000000000).text);
    if (!w) {
        tooltip_add(&s->tip, 0, "no data: this window was not received");
        return;
    }
    tooltip_add(&s->tip, s->brush.theme->text, "%s messages, %s",
                format_si(live_view_messages_rate(w), "/s").text,
                format_si(live_view_bytes_rate(w), "B/s").text);
    tooltip_add(&s->tip, s->brush.theme->text, "%s of the time in MPI",
                format_share(live_view_mpi_share(w)).text);
    for (int c = 0; c < MODEL_CLASSES; c++)
        if (live_view_class_share(w, c) >= 0.0005)
            tooltip_add(&s->tip, 0, "%s %s", format_share(live_view_class_share(w, c)).text,
                        call_class_name((enum call_class)c));
    if (w->agents_missing)
        tooltip_add(&s->tip, s->brush.theme->warn, "%u of %u nodes did not report in time",
                    w->agents_missing, w->agents + w->agents_missing);
    if (w->lost)
        tooltip_add(&s->tip, s->brush.theme->bad, "%s records lost",
                    quantity_grouped(w->lost).text);
}

static void live_view_title_row(struct stage *s, struct box box)
{
    char what[96];
    const struct window_totals *w = series_newest(&s->model->series);
    int64_t begin, end;
    ui_visible(s->ui, s->model, &begin, &end);
    scene_panel(s->brush.scene, box, 0, "live.title");
    snprintf(what, sizeof what, "%s in sight%s", format_duration((double)(end - begin)).text,
             s->ui->time.follow ? "" : ", held");
    double right = box.x + box.w;
    right -= widget_button(&s->brush, right - 30, box.y + 2, "+", 0, COMMAND_TIME_IN, 0);
    widget_button(&s->brush, right - 30, box.y + 2, "\xe2\x88\x92", 0, COMMAND_TIME_OUT, 0);
    right -= 40;
    if (w) {
        char per[80];
        snprintf(per, sizeof per, "one point per window of %s",
                 format_duration((double)w->length_ns).text);
        struct timeline l = {0, box.w - GUTTER - READOUT, begin, end};
        double px = l.w * (double)w->length_ns / (double)(end - begin);
        if (px < 1)
            snprintf(per, sizeof per, "mean and peak of %.0f windows per point", ceil(1 / px));
        double width = scene_width(s->brush.scene, TEXT_AXIS, 0, per);
        if (box.w > 560)
            scene_text(s->brush.scene, right - width - 12, box.y + 7, width + 1, TEXT_AXIS, 0,
                       s->brush.theme->faint, per);
        right -= box.w > 560 ? width + 24 : 0;
    }
    widget_title(&s->brush, box.x, box.y + 4, right - box.x, "Over time", what);
}

/* Matrix and heat map side by side under the strips. */
static void live_view_layout_lower_half(struct stage *s, struct box box, int timed)
{
    if (!timed) {
        matrix_panel(s, box, 0);
        return;
    }
    double side = fmin(box.h, box.w * 0.42);
    double matrix_w = side + 16;
    int64_t begin, end;
    matrix_panel(s, (struct box){box.x, box.y, matrix_w, box.h}, 0);
    ui_visible(s->ui, s->model, &begin, &end);
    struct box right = {box.x + matrix_w + 8, box.y, box.w - matrix_w - 8, box.h};
    struct timeline line = {right.x + 48, right.w - 60, begin, end};
    heat_layout(s, right, &line);
}

/* Heights of the parts: the strips have priority, then latency, then matrix and heat map. */
struct split {
    double strips, evolution;
    int lower;
};

static struct split live_view_split_height(const struct stage *s, double room)
{
    struct split split = {0};
    if (!evolution_known(s->model)) {
        split.lower = room > 426;
        split.strips = split.lower ? fmin(fmax(room * 0.50, 250), 450) : room;
        return split;
    }
    split.strips = fmin(fmax(room * 0.36, 244), 420);
    double rest = room - split.strips - 8, wanted = evolution_height(s->model, 12, 0);
    if (rest < 96) { /* a very low window shows the curve only */
        split.strips = room;
        return split;
    }
    wanted *= fmin(fmax(rest / 700, 1), 1.5); /* enlarge circles where there is room */
    split.evolution = floor(fmin(wanted, fmax(rest * 0.56, 200)));
    split.lower = rest - split.evolution > 176;
    if (!split.lower)
        split.evolution = rest;
    return split;
}

static void live_layout(struct stage *s, struct box box)
{
    int64_t begin, end;
    ui_visible(s->ui, s->model, &begin, &end);
    struct box inner = box_inset(box, 14, 6);
    live_view_title_row(s, (struct box){inner.x, inner.y, inner.w, 28});
    double y = inner.y + 32, foot = inner.y + inner.h;
    if (end <= begin) {
        scene_panel(s->brush.scene, (struct box){inner.x, y, inner.w, foot - y}, 0, "live.empty");
        piece_empty(s, (struct box){inner.x, y, inner.w, foot - y}, "Waiting for the first window",
                    "Figures appear one window after the ranks have called MPI_Init.");
        return;
    }
    struct timeline line = {inner.x + GUTTER, inner.w - GUTTER - READOUT, begin, end};
    struct split split = live_view_split_height(s, foot - y - 18 - 38);
    int timed = model_has_times(s->model);
    int sizes = piece_has_sizes(s->model);
    size_t end_strip = sizeof strips / sizeof *strips - !timed; /* the last one is about times */
    size_t shown = end_strip - !sizes;
    while (shown > 1 && split.strips - 16 < LOWEST_STRIP * (double)shown)
        shown--;
    double h = floor((split.strips - 8 * (double)(shown - 1)) / (double)shown);
    for (size_t i = 0; i < end_strip && shown > 0; i++) {
        if (i == BYTES && !sizes)
            continue;
        shown--;
        live_view_layout_strip(s, &strips[i], &line, (struct box){inner.x, y, inner.w, h});
        y += h + 8;
    }
    scene_panel(s->brush.scene, (struct box){inner.x, y - 6, inner.w, 18}, 0, "live.axis");
    timeline_axis(s, &line, y - 4);
    y += 14;
    live_view_layout_band(s, (struct box){line.x, y, line.w, 28}, begin, end);
    y += 38;
    if (split.evolution > 0) {
        evolution_layout(s, (struct box){inner.x, y, inner.w, split.evolution}, &line);
        y += split.evolution + 8;
    }
    if (split.lower)
        live_view_layout_lower_half(s, (struct box){inner.x, y, inner.w, foot - y}, timed);
    live_view_add_window_tip(s);
}

static void live_view_finish(struct pictures *pictures)
{
    picture_finish(&pictures->heat);
    free(pictures->evolution.order);
    pictures->evolution = (struct evolution){0};
}

const struct view live_view = {.layout = live_layout, .finish = live_view_finish};
