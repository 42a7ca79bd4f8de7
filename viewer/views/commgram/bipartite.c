/* Picture of the CommGram: ribbons in steps, bars, marks, labels, hits. */
#include "viewer/views/commgram/view_commgram_parts.h"

#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/common/timeline.h"

#include <math.h>

enum {
    WORK_UNITS = 1500000, /* work on the picture in one frame: some milliseconds */
    MOST_HITS =
        4096, /* up to this many bars each have a hit; with more, only the bar under the mouse */
    LABEL_PX = 66,
    BRACKET_H = 4,
    OUTLINE_POINTS = 32,
};

/* Range of message sizes that are drawn, as binary logarithms. */
static void bipartite_sizes(const struct stage *s, const struct commgram_drawing *d, double *low,
                            double *high)
{
    *low = s->ui->commgram.size_low;
    /* the highest value of the legend includes sizes that round to it */
    *high = s->ui->commgram.size_high >= d->columns.size_most ? UI_SIZE_MAXIMUM
                                                              : s->ui->commgram.size_high;
}

/* Horizontal offset of the picture while time is being moved and no new picture has arrived. */
static double bipartite_shift(const struct stage *s, struct box plot)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    int64_t begin, end;
    ui_visible(s->ui, s->model, &begin, &end);
    double span = (double)(end - begin), was = (double)(p->asked.to_ns - p->asked.from_ns);
    if (s->ui->time.follow || span <= 0 || fabs(was - span) > span * 0.01)
        return 0;
    double shift = ((double)p->asked.from_ns - (double)begin) / span * plot.w;
    return fabs(shift) < plot.w ? shift : 0;
}

/* ---- ribbons ---- */

static uint64_t bipartite_compute_key(const struct stage *s, const struct commgram_drawing *d)
{
    const struct columns *c = &d->columns;
    const struct selection *sel = &s->ui->selection;
    double low, high;
    bipartite_sizes(s, d, &low, &high);
    uint64_t key = mix_number(mix_number(1, c->version), (uint64_t)s->ui->theme);
    key = mix_real(mix_real(mix_real(key, c->w), c->h), c->pixel);
    key = mix_number(key, sel->kind == SELECT_COMMUNITY ? sel->a + 1 : 0);
    return mix_real(mix_real(key, low), high);
}

static int bipartite_is_chosen(const struct stage *s, const struct commgram_picture *p,
                               uint64_t bar)
{
    return s->ui->selection.kind != SELECT_COMMUNITY ||
           p->bars[bar].community == s->ui->selection.a;
}

static void bipartite_add_ribbon(const struct stage *s, struct commgram_drawing *d, uint32_t i,
                                 double k)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct columns_ribbon *r = &d->columns.ribbons[i];
    double low, high;
    bipartite_sizes(s, d, &low, &high);
    if ((double)r->size < low || (double)r->size > high) {
        d->left_out++;
        return;
    }
    double share =
        ((double)r->size - d->columns.size_least) / (d->columns.size_most - d->columns.size_least);
    double opacity = 0.24 + 0.26 * share; /* ribbons of large messages are more opaque */
    if (!bipartite_is_chosen(s, p, p->ribbons[i].from) &&
        !bipartite_is_chosen(s, p, p->ribbons[i].to)) {
        opacity *= 0.07;
        d->hidden++;
    }
    const struct ribbon item = {
        .y0 = (float)((double)r->y0 * k),
        .y1 = (float)((double)r->y1 * k),
        .width = (float)(fmax((double)r->width, d->columns.thin_width) * k),
        .share = (float)share,
        .density = (float)-log(1 - opacity),
        .hatched = p->ribbons[i].modelled != 0,
    };
    ribbons_add(&d->ribbons, &item);
}

static void bipartite_add_bars(const struct stage *s, struct commgram_drawing *d, double k)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct columns *c = &d->columns;
    for (uint32_t i = 0; i < p->bar_count; i++) {
        double x = columns_x(c, (uint32_t)p->bars[i].column);
        color_t color = theme_community(s->brush.theme, p->bars[i].community);
        if (!bipartite_is_chosen(s, p, i))
            color = color_mix(color, s->brush.theme->panel, 0.7);
        struct ribbons_bar bar = {(float)(x * k), (float)((x + c->bar_w) * k),
                                  (float)((double)c->tops[i] * k),
                                  (float)((double)c->bottoms[i] * k), color};
        if (bar.y1 - bar.y0 >= 3) {
            bar.y0 = roundf(bar.y0);
            bar.y1 = roundf(bar.y1);
        }
        ribbons_bar(&d->ribbons, &bar);
    }
}

static void bipartite_begin_drawing(const struct stage *s, struct commgram_drawing *d, uint64_t key)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct columns *c = &d->columns;
    double k = s->brush.scene->scale;
    if (ribbons_begin(&d->ribbons, (int)lround(c->w * k), (int)lround(c->h * k), k,
                      s->brush.theme->sizes, s->brush.theme->panel) < 0)
        return;
    d->left_out = d->hidden = 0;
    uint32_t i = 0;
    for (uint32_t phase = 0; phase < c->count; phase++) {
        ribbons_gap(&d->ribbons, (columns_x(c, phase) + c->bar_w) * k, columns_x(c, phase + 1) * k);
        for (; i < p->ribbon_count && p->ribbons[i].column == phase; i++)
            bipartite_add_ribbon(s, d, i, k);
    }
    bipartite_add_bars(s, d, k);
    ribbons_start(&d->ribbons);
    d->making_key = key;
}

/* Draw the last finished picture at its present position, and do a part of the next one. */
static void bipartite_draw_ribbons(struct stage *s, struct commgram_drawing *d, struct box plot)
{
    uint64_t key = bipartite_compute_key(s, d);
    if (key != d->drawn_key && !d->ribbons.busy)
        bipartite_begin_drawing(s, d, key);
    if (d->ribbons.busy) {
        if (!ribbons_work(&d->ribbons, WORK_UNITS))
            d->drawn_key = d->making_key;
        s->pictures->busy |= d->drawn_key != key;
    }
    if (d->ribbons.image.pixels)
        scene_image(s->brush.scene, plot, &d->ribbons.image);
}

/* ---- what is marked ---- */

static struct box bipartite_bar_box(const struct columns *c, const struct commgram_picture *p,
                                    uint32_t bar, struct box plot)
{
    double top = (double)c->tops[bar], h = fmax((double)c->bottoms[bar] - top, 1);
    return (struct box){plot.x + columns_x(c, (uint32_t)p->bars[bar].column), plot.y + top,
                        c->bar_w, h};
}

static void bipartite_mark_bar(const struct stage *s, struct box box, color_t color)
{
    scene_outline(s->brush.scene, (struct box){box.x - 2, box.y - 2, box.w + 4, box.h + 4}, 2, 1.5,
                  color);
}

/* Outline of the ribbon under the mouse. */
static void bipartite_mark_ribbon(const struct stage *s, const struct columns *c, uint32_t ribbon,
                                  uint32_t phase, struct box plot)
{
    const struct columns_ribbon *r = &c->ribbons[ribbon];
    double length = c->step - c->bar_w, left = plot.x + columns_x(c, phase) + c->bar_w;
    double width = fmax((double)r->width, 1.2), dy = (double)(r->y1 - r->y0);
    scene_points(s->brush.scene);
    for (int i = 0; i <= OUTLINE_POINTS; i++) {
        double way = (double)i / OUTLINE_POINTS;
        double half = width / 2 * ribbon_bulge(dy * ribbon_slope(way) / length);
        double y = plot.y + (double)r->y0 + dy * ribbon_at(way);
        scene_point(s->brush.scene, left + way * length, y - half);
        scene_point(s->brush.scene, left + way * length, y + half);
    }
    scene_area(s->brush.scene, color_fade(s->brush.theme->text, 0.75));
}

static int bipartite_has_mouse(const struct stage *s, struct box plot)
{
    return box_has(plot, s->brush.mouse_x, s->brush.mouse_y) && !s->ui->mouse.dragging &&
           s->hover &&
           (s->hover->kind == HIT_COMMGRAM || s->hover->kind == HIT_COLUMN ||
            s->hover->kind == HIT_BAR);
}

static void bipartite_add_hover(struct stage *s, struct commgram_drawing *d, struct box plot)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    double x = s->brush.mouse_x - plot.x, y = s->brush.mouse_y - plot.y, low, high;
    uint32_t others = 0;
    if (!bipartite_has_mouse(s, plot))
        return;
    bipartite_sizes(s, d, &low, &high);
    uint32_t bar = columns_bar_at(&d->columns, p, x, y);
    if (bar != COMMGRAM_NONE) {
        bipartite_mark_bar(s, bipartite_bar_box(&d->columns, p, bar, plot), s->brush.theme->text);
        commgram_tip_bar(s, bar);
        return;
    }
    uint32_t ribbon = columns_ribbon_at(&d->columns, p, x, y, low, high, &others);
    if (ribbon != COMMGRAM_NONE) {
        bipartite_mark_ribbon(s, &d->columns, ribbon, (uint32_t)p->ribbons[ribbon].column, plot);
        commgram_tip_ribbon(s, ribbon, others);
        return;
    }
    commgram_tip_column(s, columns_phase_at(&d->columns, x));
}

uint32_t bipartite_hovered(const struct stage *s, const struct commgram_drawing *d)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    if (!s->hover || s->ui->mouse.dragging || !d->columns.version)
        return COMMGRAM_NONE;
    for (uint32_t k = 0; s->hover->kind == HIT_COLUMN && k < p->column_count; k++)
        if (p->columns[k].begin_ns == s->hover->a)
            return k;
    if (s->hover->kind == HIT_BAR && s->hover->a < p->column_count)
        return (uint32_t)s->hover->a;
    return COMMGRAM_NONE;
}

static void bipartite_mark_selected(const struct stage *s, const struct commgram_drawing *d,
                                    struct box plot)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct selection *sel = &s->ui->selection;
    if (sel->kind != SELECT_COMMUNITY || sel->b > p->column_count || !d->columns.version)
        return;
    for (uint32_t i = p->first_bar[sel->b]; i < p->first_bar[sel->b + 1]; i++)
        if (p->bars[i].community == sel->a)
            bipartite_mark_bar(s, bipartite_bar_box(&d->columns, p, i, plot),
                               s->brush.theme->accent);
}

/* ---- labels ---- */

static void bipartite_add_labels(const struct stage *s, const struct commgram_drawing *d,
                                 struct box plot)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct columns *c = &d->columns;
    const struct theme *t = s->brush.theme;
    uint32_t every = (uint32_t)fmax(ceil(LABEL_PX / c->step), 1), under = bipartite_hovered(s, d);
    struct timeline time = {.w = 1};
    if (model_is_timeless(s->model))
        return;
    ui_visible(s->ui, s->model, &time.begin, &time.end);
    for (uint32_t k = 0; k < c->count; k += every) {
        const struct wire_column_row *row = &p->columns[k];
        double w = fmin(c->step * every, 110), x = plot.x + columns_x(c, k) + c->bar_w / 2;
        x += every == 1 ? (c->step - w) / 2 : 0;
        if (x < plot.x - 1 || x + w > plot.x + plot.w + 1)
            continue;
        int flags = (every == 1 ? TEXT_CENTRE : TEXT_LEFT) | TEXT_FIGURES;
        scene_text(s->brush.scene, x, plot.y + plot.h + 6, w, TEXT_AXIS, flags,
                   k == under ? t->text : t->second,
                   timeline_moment(&time, (int64_t)row->begin_ns,
                                   time.end - time.begin < INT64_C(120000000000))
                       .text);
        if (row->end_ns > row->begin_ns)
            scene_textf(s->brush.scene, x, plot.y + plot.h + 20, w, TEXT_AXIS, flags,
                        k == under ? t->text : t->faint, row->open ? "%s \xe2\x80\xa6" : "%s",
                        format_duration((double)(row->end_ns - row->begin_ns)).text);
    }
}

static void bipartite_add_hits(const struct stage *s, const struct commgram_drawing *d,
                               struct box plot, struct box panel)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct columns *c = &d->columns;
    for (uint32_t k = 0; k < c->count; k++) {
        double x0 = fmax(plot.x + columns_x(c, k), panel.x),
               x1 = fmin(plot.x + columns_x(c, k + 1), panel.x + panel.w);
        if (x1 > x0)
            scene_hit(s->brush.scene, (struct box){x0, panel.y, x1 - x0, panel.h}, HIT_COLUMN,
                      p->columns[k].begin_ns, p->columns[k].end_ns);
    }
    uint32_t under = columns_bar_at(c, p, s->brush.mouse_x - plot.x, s->brush.mouse_y - plot.y);
    for (uint32_t i = 0; i < p->bar_count; i++) {
        if (p->bar_count > MOST_HITS && i != under)
            continue;
        struct box box = bipartite_bar_box(c, p, i, plot);
        box.x -= 3;
        box.w += 6;
        if (box.x >= panel.x - 4 && box.x + box.w <= panel.x + panel.w + 4)
            scene_hit(s->brush.scene, box, HIT_BAR, p->bars[i].column, p->bars[i].bar);
    }
}

static void bipartite_mark_span(const struct stage *s, struct box panel)
{
    const struct ui *ui = s->ui;
    if (!ui->mouse.marking || !ui->mouse.dragging || ui->mouse.ground.kind != HIT_COMMGRAM)
        return;
    double x0 = fmax(fmin(ui->mouse.press_x, ui->mouse.x), panel.x),
           x1 = fmin(fmax(ui->mouse.press_x, ui->mouse.x), panel.x + panel.w);
    if (x1 <= x0)
        return;
    scene_rect(s->brush.scene, (struct box){x0, panel.y, x1 - x0, panel.h}, 0,
               color_fade(s->brush.theme->accent, 0.12));
    scene_outline(s->brush.scene, (struct box){x0, panel.y, x1 - x0, panel.h}, 0, 1,
                  s->brush.theme->accent);
}

/* Reason why there is no picture. */
static void bipartite_add_reason(const struct stage *s, struct box panel)
{
    const struct commgram *g = &s->model->commgram;
    const char *title = "Waiting for the picture", *text = "The daemon is asked for it.";
    if (g->error) {
        title = "No picture";
        text = g->error_text;
    } else if (!g->phases.count && !g->points.count && model_ended(s->model)) {
        title = "No messages between ranks";
        text = "None were sent, or only by collectives, and holterd --collectives=off leaves these "
               "out.";
    } else if (!g->phases.count && !g->points.count) {
        title = "No phase is known yet";
        text = "Phases appear once ranks have sent messages for a while.";
    } else if (g->now.version && g->now.column_count) {
        title = "No room for the picture";
        text = "It is shown in a larger window.";
    } else if (g->now.version) {
        title = "No messages in this span of time";
        text = s->ui->commgram.opened[0]    ? "None from or to these ranks."
               : s->ui->commgram.unmodelled ? "Messages that model collectives are switched off."
                                            : "";
    }
    piece_empty(s, panel, title, text);
}

void bipartite_layout(struct stage *s, struct commgram_drawing *d, struct box panel,
                      struct box plot)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    int64_t begin, end;
    ui_visible(s->ui, s->model, &begin, &end);
    piece_panel(s, panel, "commgram.picture");
    struct scene_hit *ground = scene_hit(s->brush.scene, panel, HIT_COMMGRAM, 0, 0);
    double unit = (double)(end - begin) / fmax(plot.w, 1);
    ground->x0 = (double)begin - (plot.x - panel.x) * unit;
    ground->x1 = (double)end + (panel.x + panel.w - plot.x - plot.w) * unit;
    if (columns_build(&d->columns, p, plot.w, plot.h, 1 / s->brush.scene->scale) < 0 ||
        !d->columns.version) {
        bipartite_add_reason(s, panel);
        return;
    }
    struct box moved = plot;
    moved.x += bipartite_shift(s, plot);
    scene_panel(s->brush.scene, (struct box){plot.x - 3, panel.y, plot.w + 6, panel.h}, 0,
                "commgram.plot");
    scene_overlay(s->brush.scene);
    bipartite_draw_ribbons(s, d, moved);
    bipartite_add_hits(s, d, moved, (struct box){plot.x, panel.y, plot.w, panel.h});
    bipartite_mark_selected(s, d, moved);
    bipartite_add_hover(s, d, moved);
    bipartite_add_labels(s, d, moved);
    bipartite_mark_span(s, panel);
}

void bipartite_links(const struct stage *s, const struct commgram_drawing *d, struct box box,
                     const struct timeline *line, struct box plot)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    const struct columns *c = &d->columns;
    const struct theme *t = s->brush.theme;
    scene_panel(s->brush.scene, box, 0, "commgram.links.plot");
    if (!c->version || c->version != p->version)
        return;
    double shift = bipartite_shift(s, plot), left = line->x, right = line->x + line->w;
    uint32_t under = bipartite_hovered(s, d);
    for (uint32_t k = 0; k < c->count; k++) {
        double a = timeline_x(line, (int64_t)p->columns[k].begin_ns),
               b = timeline_x(line, (int64_t)p->columns[k].end_ns);
        double x0 = plot.x + shift + columns_x(c, k) + c->bar_w,
               x1 = plot.x + shift + columns_x(c, k + 1);
        a = fmin(fmax(a, left), right);
        b = fmin(fmax(b, left), right);
        x0 = fmin(fmax(x0, plot.x), plot.x + plot.w);
        x1 = fmin(fmax(x1, plot.x), plot.x + plot.w);
        if (x1 <= x0 || (b <= a && (a <= left || a >= right)))
            continue;
        color_t color = k == under ? t->accent : t->second;
        b = fmax(b, a + 1);
        scene_rect(s->brush.scene, (struct box){a, box.y, b - a, BRACKET_H}, 0,
                   color_fade(color, k == under ? 1
                                     : k % 2    ? 0.7
                                                : 0.45));
        scene_points(s->brush.scene);
        scene_point(s->brush.scene, a, box.y + BRACKET_H);
        scene_point(s->brush.scene, b, box.y + BRACKET_H);
        scene_point(s->brush.scene, x1, box.y + box.h);
        scene_point(s->brush.scene, x0, box.y + box.h);
        scene_polygon(s->brush.scene, color_fade(color, k == under ? 0.34 : k % 2 ? 0.22 : 0.12));
    }
}
