/* Time axes, gaps, alerts and curves that several views draw over time. */
#include "viewer/views/common/timeline.h"

#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double timeline_x(const struct timeline *l, int64_t ns)
{
    return l->x + l->w * (double)(ns - l->begin) / (double)(l->end - l->begin);
}

/* Whether times are counted from the left edge. */
static int timeline_is_short(const struct timeline *l)
{
    return l->end - l->begin < INT64_C(2000000000);
}

static int64_t timeline_axis_step(const struct timeline *l)
{
    double least = 92 / fmax(l->w, 1) * (double)(l->end - l->begin);
    return timeline_is_short(l) ? (int64_t)fmax(nice_ceil(least), 1)
                                : nice_time_step((int64_t)least);
}

static int64_t timeline_axis_first(const struct timeline *l, int64_t step)
{
    return timeline_is_short(l) ? l->begin + step : (l->begin / step + 1) * step;
}

struct quantity timeline_moment(const struct timeline *l, int64_t ns, int exact)
{
    if (!timeline_is_short(l))
        return format_clock(ns, exact);
    if (ns <= l->begin)
        return quantity_print("0");
    return quantity_print("+%s", format_duration((double)(ns - l->begin)).text);
}

void timeline_axis(const struct stage *s, const struct timeline *l, double y)
{
    int64_t step = timeline_axis_step(l), at = timeline_axis_first(l, step);
    if (model_is_timeless(s->model))
        return;
    for (; at < l->end; at += step) {
        double x = timeline_x(l, at);
        if (x < l->x + 26 || x > l->x + l->w - 26)
            continue;
        scene_text(s->brush.scene, x - 40, y, 80, TEXT_AXIS, TEXT_CENTRE | TEXT_FIGURES,
                   s->brush.theme->second, timeline_moment(l, at, step < 1000000000).text);
    }
}

void timeline_grid(const struct stage *s, const struct timeline *l, double y, double h)
{
    int64_t step = timeline_axis_step(l);
    if (model_is_timeless(s->model))
        return;
    for (int64_t at = timeline_axis_first(l, step); at < l->end; at += step)
        scene_line(s->brush.scene, timeline_x(l, at), y, timeline_x(l, at), y + h, 1,
                   s->brush.theme->grid);
}

int timeline_windows(const struct model *m, const struct timeline *l, uint64_t *first,
                     uint64_t *last)
{
    const struct series *series = &m->series;
    const struct window_totals *newest = series_newest(series);
    if (!newest || !newest->length_ns || l->end <= 0)
        return 0;
    uint64_t oldest = series->first, end = series->first + series->count - 1;
    uint64_t a = l->begin > 0 ? (uint64_t)l->begin / newest->length_ns : 0;
    uint64_t b = (uint64_t)l->end / newest->length_ns + 1;
    a = a > oldest + 1 ? a - 1 : oldest;
    b = b < end ? b : end;
    *first = a;
    *last = b;
    return a <= b;
}

static double timeline_window_x(const struct model *m, const struct timeline *l, uint64_t window)
{
    return timeline_x(l, (int64_t)(window * series_newest(&m->series)->length_ns));
}

/* Diagonal hatching: shows without colour that nothing is known here. */
static void timeline_add_hatch(const struct stage *s, struct box box)
{
    color_t color = color_fade(s->brush.theme->second, 0.22);
    scene_rect(s->brush.scene, box, 0, color_fade(s->brush.theme->second, 0.06));
    double step = 9;
    for (double x = floor((box.x - box.h) / step) * step; x < box.x + box.w; x += step) {
        double x0 = fmax(x, box.x), x1 = fmin(x + box.h, box.x + box.w);
        if (x1 > x0)
            scene_line(s->brush.scene, x0, box.y + box.h - (x0 - x), x1, box.y + box.h - (x1 - x),
                       1, color);
    }
}

/* Small marks at the foot of a plot: a triangle for lost records, a bar where nodes did not report.
 */
static void timeline_add_mark(const struct stage *s, struct box plot, double x,
                              const struct window_totals *w)
{
    const struct theme *t = s->brush.theme;
    double foot = plot.y + plot.h;
    if (w->lost) {
        const struct point corners[] = {{x, foot - 7}, {x + 4, foot}, {x - 4, foot}};
        scene_shape(s->brush.scene, corners, 3, t->bad);
    } else if (w->agents_missing) {
        scene_rect(s->brush.scene, (struct box){x - 1.5, foot - 5, 3, 5}, 0, t->warn);
    }
}

void timeline_gaps(const struct stage *s, const struct timeline *l, struct box plot, int words)
{
    uint64_t first, last;
    if (!timeline_windows(s->model, l, &first, &last))
        return;
    double marked = -1e9;
    for (uint64_t k = first; k <= last; k++) {
        const struct window_totals *w = series_at(&s->model->series, k);
        double x = (timeline_window_x(s->model, l, k) + timeline_window_x(s->model, l, k + 1)) / 2;
        if (w) {
            if ((w->lost || w->agents_missing) && x - marked >= 6 && x >= plot.x + 4 &&
                x <= plot.x + plot.w - 4) {
                timeline_add_mark(s, plot, x, w);
                marked = x;
            }
            continue;
        }
        uint64_t end = k;
        while (end < last && !series_at(&s->model->series, end + 1))
            end++;
        double x0 = fmax(timeline_window_x(s->model, l, k), plot.x);
        double x1 = fmin(timeline_window_x(s->model, l, end + 1), plot.x + plot.w);
        if (x1 > x0)
            timeline_add_hatch(s, (struct box){x0, plot.y, fmax(x1 - x0, 1), plot.h});
        if (words && x1 - x0 > 52)
            scene_text(s->brush.scene, x0, plot.y + plot.h / 2 - 7, x1 - x0, TEXT_AXIS, TEXT_CENTRE,
                       s->brush.theme->second, "no data");
        k = end;
    }
}

/* The span that is being marked, in every plot. */
static void timeline_add_span(const struct stage *s, const struct timeline *l, struct box plot)
{
    const struct ui_mouse_state *mouse = &s->ui->mouse;
    if (!mouse->marking || !scene_hit_is_timed(&mouse->pressed))
        return;
    double press = timeline_x(l, (int64_t)scene_hit_x(&mouse->pressed, mouse->press_x)),
           now = timeline_x(l, (int64_t)scene_hit_x(&mouse->pressed, mouse->x)),
           x0 = fmax(fmin(press, now), plot.x), x1 = fmin(fmax(press, now), plot.x + plot.w);
    if (x1 > x0)
        scene_rect(s->brush.scene, (struct box){x0, plot.y, x1 - x0, plot.h}, 0,
                   color_fade(s->brush.theme->accent, 0.2));
}

void timeline_cursor(const struct stage *s, const struct timeline *l, struct box plot)
{
    const struct scene_hit *hover = s->hover;
    if (s->ui->mouse.dragging)
        timeline_add_span(s, l, plot);
    if (!hover || !scene_hit_is_timed(hover) || s->ui->mouse.dragging)
        return;
    /* The same moment in every plot, also where time runs on another scale. */
    double x = floor(timeline_x(l, (int64_t)scene_hit_x(hover, s->brush.mouse_x))) + 0.5;
    if (x >= plot.x && x < plot.x + plot.w)
        scene_line(s->brush.scene, x, plot.y, x, plot.y + plot.h, 1,
                   color_fade(s->brush.theme->text, 0.35));
}

/* A visible alert and the position of its flag; newer alerts are placed first. */
struct flag {
    const struct alert *alert;
    double x;       /* position of the onset */
    int length;     /* of the title that is shown */
    struct box box; /* of the title; width 0: there is no room for it */
};

enum { FLAGS = 64, FLAG_H = 18 };

static int timeline_flag_is_free(const struct flag *flags, size_t count, struct box box)
{
    for (size_t i = 0; i < count; i++)
        if (flags[i].box.w > 0 && box.x < flags[i].box.x + flags[i].box.w + 4 &&
            flags[i].box.x < box.x + box.w + 4)
            return 0;
    return 1;
}

/* Width of a flag that has the beginning of a title: "node n3", the culprit. The rest of it stands
 * once in each view, as headline or card. @return 0: it is too wide */
static double timeline_flag_width(const struct stage *s, const struct alert *a, double most,
                                  int *length)
{
    char text[sizeof a->title];
    const char *rest = strstr(a->title, ": ");
    *length = rest ? (int)(rest - a->title) : (int)strlen(a->title);
    snprintf(text, sizeof text, "%.*s", *length, a->title);
    double w = scene_width(s->brush.scene, TEXT_AXIS_STRONG, 0, text) + 14;
    return w > most ? 0 : w;
}

static size_t timeline_place_flags(const struct stage *s, const struct timeline *l, struct box plot,
                                   int words, struct flag *flags)
{
    static const enum alert_state order[] = {ALERT_FIRING, ALERT_PENDING, ALERT_RESOLVED};
    const struct alerts *all = &s->model->alerts;
    size_t n = 0;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        for (uint32_t i = 0; i < all->count && n < FLAGS; i++) {
            const struct alert *a = &all->items[i];
            double x = floor(timeline_x(l, (int64_t)a->onset_ns)) + 0.5;
            if (a->state != order[k] || x < plot.x || x > plot.x + plot.w)
                continue;
            int length;
            double w = timeline_flag_width(s, a, plot.w / 2, &length);
            struct box box = {x + w > plot.x + plot.w ? x - w : x, plot.y, w, FLAG_H};
            if (!words || box.x < plot.x || !timeline_flag_is_free(flags, n, box))
                box.w = 0;
            flags[n++] = (struct flag){a, x, length, box};
        }
    }
    return n;
}

static color_t timeline_alert_color(const struct theme *t, const struct alert *a)
{
    return a->state == ALERT_FIRING    ? t->bad
           : a->state == ALERT_PENDING ? t->warn
                                       : color_fade(t->second, 0.7);
}

void timeline_alerts(const struct stage *s, const struct timeline *l, struct box plot, int words)
{
    const struct theme *t = s->brush.theme;
    struct flag flags[FLAGS];
    size_t n = timeline_place_flags(s, l, plot, words, flags);
    for (size_t i = n; i-- > 0;) {
        const struct alert *a = flags[i].alert;
        color_t color = timeline_alert_color(t, a);
        uint64_t end = a->onset_ns + alert_length_ns(a, model_now_ns(s->model));
        double x1 = fmin(timeline_x(l, (int64_t)end), plot.x + plot.w);
        scene_rect(s->brush.scene, (struct box){flags[i].x, plot.y, x1 - flags[i].x, 2}, 0,
                   color_fade(color, 0.55));
        for (double y = plot.y; y < plot.y + plot.h; y += 6)
            scene_line(s->brush.scene, flags[i].x, y, flags[i].x, fmin(y + 3, plot.y + plot.h), 1,
                       color);
    }
    for (size_t i = 0; i < n; i++) {
        const struct alert *a = flags[i].alert;
        struct box box = flags[i].box;
        if (box.w <= 0)
            continue;
        scene_rect(s->brush.scene, box, 0,
                   a->state == ALERT_FIRING    ? t->bad_ground
                   : a->state == ALERT_PENDING ? t->warn_ground
                                               : t->raised);
        scene_rect(s->brush.scene,
                   (struct box){box.x < flags[i].x ? box.x + box.w - 2 : box.x, box.y, 2, box.h}, 0,
                   timeline_alert_color(t, a));
        scene_textf(s->brush.scene, box.x + 8, box.y + 2, box.w - 13, TEXT_AXIS_STRONG, 0,
                    a->state == ALERT_RESOLVED ? t->second : timeline_alert_color(t, a), "%.*s",
                    flags[i].length, a->title);
    }
}

void timeline_alert_hits(const struct stage *s, const struct timeline *l, struct box plot,
                         int words)
{
    struct flag flags[FLAGS];
    size_t n = timeline_place_flags(s, l, plot, words, flags);
    for (size_t i = 0; i < n; i++)
        if (flags[i].box.w > 0)
            scene_hit(s->brush.scene, flags[i].box, HIT_ALERT, flags[i].alert->id, 0);
}

void timeline_captures(struct stage *s, const struct timeline *l, struct box plot)
{
    const struct captures *all = &s->model->captures;
    const struct theme *t = s->brush.theme;
    double before = INFINITY; /* position of the next newer capture that has a mark */
    for (uint32_t i = 0; i < all->count; i++) {
        const struct capture *c = &all->items[i];
        double x = floor(timeline_x(l, c->asked_ns)) + 0.5, y = plot.y + plot.h - 9;
        if (x < plot.x + 6 || x > plot.x + plot.w - 6 || fabs(before - x) < 8)
            continue;
        struct box box = {x - 7, y - 7, 14, 14};
        int hover = box_has(box, s->brush.mouse_x, s->brush.mouse_y);
        scene_disc(s->brush.scene, x, y, 5, t->panel);
        scene_outline(s->brush.scene, (struct box){x - 5, y - 5, 10, 10}, 5, 2,
                      hover ? t->text : t->info);
        scene_hit(s->brush.scene, box, HIT_BUTTON, COMMAND_CAPTURE, c->id);
        before = x;
        if (!hover)
            continue;
        tooltip_add(&s->tip, 0, "captured: %s", piece_capture_size(c).text);
        tooltip_add(&s->tip, 0, "%.120s", c->reason);
        tooltip_add(&s->tip, 0, "click to see the calls");
    }
}

double timeline_peak(const struct model *m, const struct timeline *l, timeline_value *value)
{
    uint64_t first, last;
    double peak = 0;
    if (!timeline_windows(m, l, &first, &last))
        return 0;
    for (uint64_t k = first; k <= last; k++) {
        const struct window_totals *w = series_at(&m->series, k);
        peak = w ? fmax(peak, value(w)) : peak;
    }
    return peak;
}

/* Number of windows for one point of a curve: one, or as many as share a pixel. */
static uint64_t timeline_windows_per_point(const struct timeline *l, const struct model *m)
{
    double length = (double)series_newest(&m->series)->length_ns;
    double px = l->w * length / (double)(l->end - l->begin);
    return px >= 1 ? 1 : (uint64_t)ceil(1 / px);
}

struct bucket {
    double x, mean, peak;
    int count; /* number of windows with data; 0: a gap */
};

/* Aggregate the windows of one point. Buckets start at multiples of their width, so that the curve
 * does not flicker while time advances. */
static struct bucket timeline_fill_bucket(const struct stage *s, const struct timeline *l,
                                          uint64_t first, uint64_t width, timeline_value *value)
{
    struct bucket b = {0};
    for (uint64_t k = first; k < first + width; k++) {
        const struct window_totals *w = series_at(&s->model->series, k);
        if (!w)
            continue;
        double v = value(w);
        b.mean += v;
        b.peak = fmax(b.peak, v);
        b.count++;
    }
    b.mean = b.count ? b.mean / b.count : 0;
    b.x =
        (timeline_window_x(s->model, l, first) + timeline_window_x(s->model, l, first + width)) / 2;
    return b;
}

/* One uninterrupted run of a curve: translucent area, peaks, line. */
static void timeline_add_run(const struct stage *s, struct box plot, double top,
                             const struct bucket *run, size_t count, uint64_t width, color_t color)
{
    struct scene *scene = s->brush.scene;
    double foot = plot.y + plot.h, unit = (plot.h - 4) / top;
    if (count == 1) {
        scene_disc(scene, run[0].x, foot - run[0].mean * unit, 1.5, color);
        return;
    }
    for (int peaks = width > 1; peaks >= 0; peaks--) {
        scene_points(scene);
        for (size_t i = 0; i < count; i++) {
            scene_point(scene, run[i].x, foot - (peaks ? run[i].peak : run[i].mean) * unit);
            scene_point(scene, run[i].x, foot);
        }
        scene_area(scene, color_fade(color, peaks ? 0.10 : 0.14));
    }
    scene_points(scene);
    for (size_t i = 0; i < count; i++)
        scene_point(scene, run[i].x, foot - run[i].mean * unit);
    scene_curve(scene, 1.6, color);
}

enum { STRETCH = 512 };

void timeline_curve(const struct stage *s, const struct timeline *l, struct box plot, double top,
                    timeline_value *value, color_t color)
{
    uint64_t first, last;
    if (!timeline_windows(s->model, l, &first, &last) || !(top > 0))
        return;
    uint64_t width = timeline_windows_per_point(l, s->model);
    struct bucket run[STRETCH];
    size_t n = 0;
    for (uint64_t k = first / width * width; k <= last; k += width) {
        struct bucket b = timeline_fill_bucket(s, l, k, width, value);
        if (!b.count || n == STRETCH) {
            if (n)
                timeline_add_run(s, plot, top, run, n, width, color);
            /* a full run continues from its last point; after a gap a new run starts */
            if (b.count)
                run[0] = run[n - 1];
            n = b.count ? 1 : 0;
        }
        if (b.count)
            run[n++] = b;
    }
    if (n)
        timeline_add_run(s, plot, top, run, n, width, color);
}

/* Mean shares of the windows of one point, of the ranks' time: there is less of it in a window in
 * which ranks began or ended. @return number of windows with data */
static int timeline_mean_shares(const struct stage *s, uint64_t first, uint64_t width,
                                double (*share)(const struct window_totals *, int), int count,
                                double *out)
{
    int n = 0;
    double time = 0;
    for (int c = 0; c < count; c++)
        out[c] = 0;
    for (uint64_t k = first; k < first + width; k++) {
        const struct window_totals *w = series_at(&s->model->series, k);
        const double weight = w ? model_time_of_ranks(w) : 0;
        for (int c = 0; w && c < count; c++)
            out[c] += share(w, c) * weight;
        time += weight;
        n += w != NULL;
    }
    for (int c = 0; c < count && time > 0; c++)
        out[c] /= time;
    return n;
}

/* One class of a stack of areas. */
struct timeline_layer {
    const struct stage *stage;
    const struct timeline *timeline;
    struct box plot;
    uint64_t first, last; /* windows */
    uint64_t width;       /* windows for each point */
    double (*share)(const struct window_totals *, int);
    int class, count; /* class of this layer, classes of the stack */
    color_t color;
};

/* Draw a layer over all points; the area ends at gaps. */
static void timeline_draw_layer(const struct timeline_layer *layer)
{
    struct scene *scene = layer->stage->brush.scene;
    const struct model *model = layer->stage->model;
    uint64_t width = layer->width;
    double foot = layer->plot.y + layer->plot.h, shares[MODEL_CLASSES], some = 0;
    scene_points(scene);
    for (uint64_t at = layer->first / width * width; at <= layer->last; at += width) {
        if (!timeline_mean_shares(layer->stage, at, width, layer->share, layer->count, shares)) {
            scene_area(scene, some > 0 ? layer->color : 0);
            scene_points(scene);
            continue;
        }
        double below = 0;
        for (int c = 0; c < layer->class; c++)
            below += shares[c];
        some += shares[layer->class];
        double x0 = timeline_window_x(model, layer->timeline, at),
               x1 = timeline_window_x(model, layer->timeline, at + width);
        for (int edge = 0; edge < 2; edge++) {
            double x = edge ? x1 - 0.5 * (width == 1 && x1 - x0 > 4)
                            : x0 + 0.5 * (width == 1 && x1 - x0 > 4);
            scene_point(scene, x, foot - fmin(below + shares[layer->class], 1) * layer->plot.h);
            scene_point(scene, x, foot - fmin(below, 1) * layer->plot.h);
        }
    }
    if (some > 0)
        scene_area(scene, layer->color);
    scene_points(scene);
}

void timeline_stack(const struct stage *s, const struct timeline *l, struct box plot,
                    double (*share)(const struct window_totals *, int), int count,
                    const color_t *colors)
{
    uint64_t first, last;
    if (!timeline_windows(s->model, l, &first, &last))
        return;
    uint64_t width = timeline_windows_per_point(l, s->model);
    for (int k = 0; k < count; k++)
        timeline_draw_layer(
            &(struct timeline_layer){s, l, plot, first, last, width, share, k, count, colors[k]});
}
