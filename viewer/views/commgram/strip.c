/* The CommGram curve: drawing by pixel columns, with gaps where nobody sends, dashed where it may
 * still change, its axis and overview. */
#include "viewer/views/commgram/view_commgram_parts.h"

#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"

#include "holter/bisect.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { TITLE_H = 26, DASH = 5, SPACE = 4 };

/* Pixels: pauses as wide as this are gaps of the line; phases are at least so long. */
static const double idle_gap = 12, shortest = 2;

/* ---- what is drawn ---- */

/* The phases of a curve: those of the picture under it; of the job, as they were closed, in the
 * overview and until there is a picture. */
struct phases_drawn {
    const struct commgram *gram;
    int of_picture;
    uint32_t count;
};

struct phase_drawn {
    int64_t begin, end;
    double height;
    int open;
};

static struct phases_drawn strip_phases(const struct commgram *g, int of_picture)
{
    of_picture = of_picture && g->now.version && g->now.column_count > 0;
    return (struct phases_drawn){g, of_picture, of_picture ? g->now.column_count : g->points.count};
}

static struct phase_drawn strip_phase(const struct phases_drawn *p, uint32_t i)
{
    if (p->of_picture) {
        const struct wire_column_row *c = &p->gram->now.columns[i];
        return (struct phase_drawn){(int64_t)c->begin_ns, (int64_t)c->end_ns, c->height,
                                    c->open != 0};
    }
    const struct wire_curve_point_row *c = commgram_point(p->gram, i);
    return (struct phase_drawn){(int64_t)c->begin_ns, (int64_t)c->end_ns, c->height,
                                c->provisional != 0};
}

/* First phase that ends at a time or later; the number of phases when there is none. */
static uint32_t strip_phase_at(const struct phases_drawn *p, int64_t ns)
{
    const uint64_t at = ns > 0 ? (uint64_t)ns : 0;
    if (!p->of_picture)
        return commgram_point_at(p->gram, at);
    return BISECT(i, 0, p->count, p->gram->now.columns[i].end_ns < at);
}

static void strip_extend_heights(struct commgram_drawing *d, const struct phases_drawn *phases,
                                 int *some)
{
    for (uint32_t i = 0; i < phases->count; i++) {
        double height = strip_phase(phases, i).height;
        d->low = *some ? fmin(d->low, height) : height;
        d->high = *some ? fmax(d->high, height) : height;
        *some = 1;
    }
}

/* Range of the curve over the whole job, so that heights stay constant while time moves, and over
 * the picture. */
static void strip_find_heights(struct commgram_drawing *d, const struct commgram *g)
{
    int some = 0;
    if (d->heights_of == g->version + 1)
        return;
    d->heights_of = g->version + 1;
    d->low = d->high = 0;
    for (int of_picture = 0; of_picture < 2; of_picture++) {
        const struct phases_drawn phases = strip_phases(g, of_picture);
        strip_extend_heights(d, &phases, &some);
    }
}

/* ---- the line ---- */

struct trace {
    const struct stage *stage;
    double foot_y, low, unit; /* y of the lowest point, its value, pixels of one unit */
    double width;
    color_t color;
    /* points in one pixel column become a vertical line */
    double x, first, last, top, foot;
    int some, broken; /* a pixel column is in progress; the line is dashed */
    int drawn;        /* a phase was */
    double pen_x, pen_y;
    int down; /* the pen has a position */
    double dashed;
};

static double strip_y_of_height(const struct trace *t, double height)
{
    return t->foot_y - (height - t->low) * t->unit;
}

/* Draw a dashed line from the pen's position. */
static void strip_dash_to(struct trace *t, double x, double y)
{
    struct scene *scene = t->stage->brush.scene;
    double length = hypot(x - t->pen_x, y - t->pen_y), at = 0;
    while (at < length) {
        double in = fmod(t->dashed, DASH + SPACE), rest = in < DASH ? DASH - in : DASH + SPACE - in;
        double end = fmin(at + rest, length);
        if (in < DASH && end > at) {
            scene_points(scene);
            for (int k = 0; k < 2; k++) {
                double share = (k ? end : at) / length;
                scene_point(scene, t->pen_x + (x - t->pen_x) * share,
                            t->pen_y + (y - t->pen_y) * share);
            }
            scene_curve(scene, t->width, color_fade(t->color, 0.7));
        }
        t->dashed += end - at;
        at = end > at ? end : length;
    }
}

static void strip_pen_to(struct trace *t, double x, double y)
{
    if (!t->broken)
        scene_point(t->stage->brush.scene, x, y);
    else if (t->down)
        strip_dash_to(t, x, y);
    t->pen_x = x;
    t->pen_y = y;
    t->down = 1;
}

static void strip_flush_pixel(struct trace *t)
{
    if (!t->some)
        return;
    strip_pen_to(t, t->x, t->first);
    if (t->top < fmin(t->first, t->last) || t->foot > fmax(t->first, t->last)) {
        strip_pen_to(t, t->x, t->top);
        strip_pen_to(t, t->x, t->foot);
    }
    if (t->last != t->first)
        strip_pen_to(t, t->x, t->last);
    t->some = 0;
}

static void strip_trace_to(struct trace *t, double x, double y)
{
    if (t->some && x - t->x < 0.75) {
        t->last = y;
        t->top = fmin(t->top, y);
        t->foot = fmax(t->foot, y);
        return;
    }
    strip_flush_pixel(t);
    t->x = x;
    t->first = t->last = t->top = t->foot = y;
    t->some = 1;
}

/* Draw the line so far; the next one begins anywhere. */
static void strip_end_line(struct trace *t)
{
    strip_flush_pixel(t);
    if (!t->broken)
        scene_curve(t->stage->brush.scene, t->width, t->color);
    t->down = 0;
    scene_points(t->stage->brush.scene);
}

/* A phase: level from its begin to its end, and a step from the phase before, if the pause between
 * them is short: programs compute between two exchanges of one pattern. */
static void strip_trace_phase(struct trace *t, const struct phase_drawn *phase, double x0,
                              double x1)
{
    double y = strip_y_of_height(t, phase->height);
    int follows = t->drawn && x0 - t->x < idle_gap;
    if (t->drawn && (!follows || (phase->open && !t->broken))) {
        double last = t->last;
        strip_end_line(t);
        if (!follows && y == last) /* the pattern stays; nothing is sent meanwhile */
            scene_line(t->stage->brush.scene, t->x, y, x0, y, 1, color_fade(t->color, 0.5));
        t->broken = phase->open;
        if (follows)
            strip_trace_to(t, t->x, last);
    }
    t->broken = phase->open;
    if (follows)
        strip_trace_to(t, x0, t->last);
    strip_trace_to(t, x0, y);
    strip_trace_to(t, fmax(x1, x0 + shortest), y);
    t->drawn = 1;
}

/* Vertical scale of the curve; flags of alerts are above it where there is room. */
static void strip_set_scale(struct trace *t, const struct commgram_drawing *d, struct box plot)
{
    double range = d->high - d->low, margin = fmin(6, plot.h / 5), room = plot.h - 2 * margin;
    room -= room > 60 ? 18 : 0;
    t->foot_y = plot.y + plot.h - margin;
    t->low = range > 0 ? d->low : d->low - 1; /* a constant curve is centred */
    t->unit = range > 0 ? room / range : room / 2;
}

/* Position of an end of a phase. What is far out of sight is cut off: an open phase is dashed, and
 * in a short visible time its dashes could be without number. */
static double strip_x(const struct timeline *l, struct box plot, int64_t ns)
{
    const double outside = 4 * idle_gap;
    return fmin(fmax(timeline_x(l, ns), plot.x - outside), plot.x + plot.w + outside);
}

static void strip_draw_curve(const struct stage *s, struct commgram_drawing *d,
                             const struct phases_drawn *phases, const struct timeline *l,
                             struct box plot, double width)
{
    color_t color = s->brush.theme->accent;
    struct trace t = {
        .stage = s, .width = width, .color = width < 2 ? color_fade(color, 0.75) : color};
    strip_find_heights(d, phases->gram);
    strip_set_scale(&t, d, plot);
    uint32_t i = strip_phase_at(phases, l->begin);
    i = i ? i - 1 : 0; /* start one phase before the left edge */
    scene_points(s->brush.scene);
    for (int beyond = 0; i < phases->count && !beyond; i++) {
        const struct phase_drawn phase = strip_phase(phases, i);
        beyond = phase.begin > l->end;
        strip_trace_phase(&t, &phase, strip_x(l, plot, phase.begin), strip_x(l, plot, phase.end));
    }
    strip_end_line(&t);
}

/* The beat at the end of the curve: a disc with a halo. */
static void strip_add_beat(const struct stage *s, const struct commgram_drawing *d,
                           const struct phases_drawn *phases, const struct timeline *l,
                           struct box plot)
{
    if (!phases->count || !s->ui->time.follow || model_ended(s->model))
        return;
    const struct phase_drawn last = strip_phase(phases, phases->count - 1);
    struct trace t;
    strip_set_scale(&t, d, plot);
    double y = strip_y_of_height(&t, last.height);
    double x = fmin(timeline_x(l, last.end), plot.x + plot.w - 4);
    if (x < plot.x)
        return;
    scene_disc(s->brush.scene, x, y, 8, color_fade(s->brush.theme->accent, 0.22));
    scene_disc(s->brush.scene, x, y, 3.5, s->brush.theme->accent);
}

/* Highlight the spans of the phase under the mouse, in the curve or in the picture. */
static void strip_mark_span(const struct stage *s, const struct timeline *l, struct box plot,
                            const struct phase_drawn *phase)
{
    double a = fmax(timeline_x(l, phase->begin), plot.x),
           b = fmin(timeline_x(l, phase->end), plot.x + plot.w);
    if (b >= plot.x && a <= plot.x + plot.w)
        scene_rect(s->brush.scene, (struct box){a, plot.y, fmax(b - a, 2), plot.h}, 0,
                   color_fade(s->brush.theme->accent, 0.13));
}

static void strip_add_hover(struct stage *s, const struct commgram_drawing *d,
                            const struct phases_drawn *phases, const struct timeline *l,
                            struct box plot)
{
    uint32_t column = bipartite_hovered(s, d);
    if (column != COMMGRAM_NONE && phases->of_picture) {
        const struct phase_drawn phase = strip_phase(phases, column);
        strip_mark_span(s, l, plot, &phase);
    }
    if (!s->hover || s->hover->kind != HIT_TIME || s->ui->mouse.dragging)
        return;
    double at = scene_hit_x(s->hover, s->brush.mouse_x), reach = (double)(l->end - l->begin) / l->w;
    uint32_t i = strip_phase_at(phases, (int64_t)(at - reach));
    if (i < phases->count && (double)strip_phase(phases, i).begin <= at + reach) {
        const struct phase_drawn phase = strip_phase(phases, i);
        strip_mark_span(s, l, plot, &phase);
        if (phases->of_picture)
            commgram_tip_column(s, i);
        else
            commgram_tip_point(s, i);
        return;
    }
    tooltip_add(&s->tip, 0, "%s", format_clock((int64_t)at, 1).text);
    tooltip_add(&s->tip, 0, "between phases: no message");
}

/* Short description of the newest phase that is drawn, in the numbers of its tooltip. @return its
 * width */
static double strip_add_newest(const struct stage *s, const struct phases_drawn *phases,
                               struct box box)
{
    const struct commgram *g = phases->gram;
    char text[96], number[48];
    if (!phases->count)
        return 0;
    uint64_t as = 0;
    if (phases->of_picture) {
        const struct wire_column_row *c = &g->now.columns[phases->count - 1];
        as = c->returned ? c->resembles : 0;
        snprintf(number, sizeof number, "phase %u of %u", phases->count, phases->count);
    } else {
        const struct wire_curve_point_row *p = commgram_point(g, phases->count - 1);
        as = p->returned ? p->resembles : 0;
        snprintf(number, sizeof number, "phase %" PRIu64, p->phase);
    }
    if (as)
        snprintf(text, sizeof text, "%s: as phase %" PRIu64, number, as);
    else if (phases->of_picture && phases->count == 1)
        snprintf(text, sizeof text, "%s", number);
    else /* of a picture, only its own phases were compared */
        snprintf(text, sizeof text, "%s: %s", number,
                 phases->of_picture ? "a pattern new in this picture" : "a new pattern");
    double w = scene_width(s->brush.scene, TEXT_AXIS, TEXT_FIGURES, text);
    if (w >= box.w * 0.4)
        return 0;
    scene_text(s->brush.scene, box.x + box.w - w - 12, box.y + 8, w + 1, TEXT_AXIS, TEXT_FIGURES,
               s->brush.theme->second, text);
    return w;
}

void strip_curve_layout(struct stage *s, struct commgram_drawing *d, struct box box,
                        const struct timeline *l)
{
    const struct phases_drawn phases = strip_phases(&s->model->commgram, 1);
    struct box plot = {l->x, box.y + TITLE_H, l->w, box.h - TITLE_H - 4};
    piece_panel(s, box, "commgram.strip");
    widget_title(&s->brush, box.x + 12, box.y + 6, box.w - 40 - strip_add_newest(s, &phases, box),
                 "Pattern of communication",
                 "flat while it stays, back at its height when it returns");
    timeline_grid(s, l, plot.y, plot.h);
    scene_panel(s->brush.scene, plot, 0, "commgram.strip.plot");
    scene_overlay(s->brush.scene);
    strip_add_hover(s, d, &phases, l, plot);
    strip_draw_curve(s, d, &phases, l, plot, 2);
    timeline_gaps(s, l, plot, 1);
    timeline_alerts(s, l, plot, 1);
    timeline_cursor(s, l, plot);
    strip_add_beat(s, d, &phases, l, plot);
    struct scene_hit *hit = scene_hit(s->brush.scene, plot, HIT_TIME, 0, 0);
    hit->x0 = (double)l->begin;
    hit->x1 = (double)l->end;
    timeline_alert_hits(s, l, plot, 1);
    timeline_captures(s, l, plot);
}

void strip_band_layout(struct stage *s, struct commgram_drawing *d, struct box box)
{
    const struct theme *t = s->brush.theme;
    int64_t oldest, newest_ns, begin, end;
    ui_whole_time(s->model, &oldest, &newest_ns);
    ui_visible(s->ui, s->model, &begin, &end);
    scene_panel(s->brush.scene, box, 0, "band");
    scene_rect(s->brush.scene, box, 4, t->panel);
    if (newest_ns <= oldest)
        return;
    const struct phases_drawn phases = strip_phases(&s->model->commgram, 0);
    struct timeline whole = {box.x, box.w, oldest, newest_ns};
    strip_draw_curve(s, d, &phases, &whole, box, 1);
    timeline_alerts(s, &whole, box, 0);
    double x0 = fmin(fmax(timeline_x(&whole, begin), box.x), box.x + box.w - 6),
           x1 = fmin(timeline_x(&whole, end), box.x + box.w);
    struct box frame = {x0, box.y, fmax(x1 - x0, 6), box.h};
    scene_rect(s->brush.scene, frame, 4, color_fade(t->text, 0.08));
    scene_outline(s->brush.scene, frame, 4, 1, t->second);
    struct scene_hit *hit = scene_hit(s->brush.scene, box, HIT_BAND, 0, 0);
    hit->x0 = (double)oldest;
    hit->x1 = (double)newest_ns;
}
