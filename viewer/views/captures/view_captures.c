/* View "captures": the last calls of ranks before an alert or a request, as one row of bars for
 * each thread, with the time of the alert. */
#include "viewer/views/views.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/captures/plot.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>

enum { HEAD = 54, MOMENTS = 20, AXIS = 22, GUTTER = 78, MARGIN = 18, LABEL = 14 };

/* ---- head ---- */

/* Gaps in the capture, or the uncertainty of its times. */
static void captures_view_add_facts(const struct stage *s, const struct capture *c, char *out,
                                    size_t room)
{
    snprintf(out, room, "%s, %s", format_clock(c->asked_ns, 1).text, piece_capture_size(c).text);
    if (c->answered < c->nodes)
        text_append(out, room, ", %llu of %llu nodes so far", (unsigned long long)c->answered,
                    (unsigned long long)c->nodes);
    if (c->left_out)
        text_append(out, room, ", %s more had no room here", quantity_grouped(c->left_out).text);
    if (c->error_ns && c->error_ns != WIRE_ANY && s->model->host_count > 1)
        text_append(out, room, ", clocks \xc2\xb1%s", format_duration((double)c->error_ns).text);
}

/* Buttons for the next older and newer capture. @return width */
static double captures_view_add_steps(const struct stage *s, const struct capture *c, double right,
                                      double y)
{
    const struct captures *all = &s->model->captures;
    char text[48];
    if (all->count < 2)
        return 0;
    double x = right;
    x -= scene_width(s->brush.scene, TEXT_SMALL, 0, "newer  ]") + 20;
    widget_button(&s->brush, x, y, "newer  ]", 0, COMMAND_CAPTURE_STEP, 1);
    x -= 8 + scene_width(s->brush.scene, TEXT_SMALL, 0, "older  [") + 20;
    widget_button(&s->brush, x, y, "older  [", 0, COMMAND_CAPTURE_STEP, 0);
    snprintf(text, sizeof text, "%u of %u", all->count - (uint32_t)(c - all->items), all->count);
    double w = scene_width(s->brush.scene, TEXT_SMALL, TEXT_FIGURES, text) + 1;
    x -= 10 + w;
    scene_text(s->brush.scene, x, y + 4, w, TEXT_SMALL, TEXT_FIGURES, s->brush.theme->second, text);
    return right - x;
}

/* Reason of the capture, and since when it applied. Of an alert it is what the alert says now: what
 * is kept with the capture has the figures of the moment in which it fired. */
static void captures_view_add_reason(const struct stage *s, const struct capture *c, char *out,
                                     size_t room)
{
    const struct alert *a = c->alert ? alerts_find(&s->model->alerts, c->alert) : NULL;
    if (a && !c->fault[0])
        snprintf(out, room, "alert %llu: %s", (unsigned long long)a->id, a->title);
    else
        snprintf(out, room, "%s", c->fault[0] ? c->fault : c->reason);
    if (a && !c->fault[0] && (int64_t)a->onset_ns < c->begin_ns)
        text_append(out, room, "; it began %s before the oldest call here",
                    format_duration((double)(c->begin_ns - (int64_t)a->onset_ns)).text);
}

static void captures_view_add_head(const struct stage *s, const struct capture *c, struct box panel)
{
    static const char *const rows[] = {"all ranks", "rank by rank"};
    const struct theme *t = s->brush.theme;
    char title[64], what[400];
    double right = panel.x + panel.w - 12, left = panel.x + 12, shares[MODEL_CLASSES];
    right -= captures_view_add_steps(s, c, right, panel.y + 6);
    right -= 12 + widget_choice(&s->brush, right - 12, panel.y + 6, rows, 2, s->ui->capture.rows,
                                COMMAND_CAPTURE_ROWS);
    right -= 12 + piece_read_back(s, right - 12, panel.y + 6);
    snprintf(title, sizeof title, "Capture %llu", (unsigned long long)c->id);
    captures_view_add_facts(s, c, what, sizeof what);
    widget_title(&s->brush, left, panel.y + 7, right - left, title, what);
    for (int k = 0; k < MODEL_CLASSES; k++)
        shares[k] = (double)c->class_ns[k];
    right = panel.x + panel.w - 12;
    double room = panel.w * 0.5, legend = piece_class_legend_width(s, shares);
    if (legend <= room)
        right -= piece_class_legend(s, right, panel.y + 34, shares) + 16;
    captures_view_add_reason(s, c, what, sizeof what);
    scene_text(s->brush.scene, left, panel.y + 32, right - left, TEXT_SMALL, TEXT_CLAUSES,
               c->fault[0] ? t->warn : t->second, what);
}

/* ---- around the plot ---- */

static void captures_view_add_axis(const struct stage *s, const struct captures_plot *p, double y,
                                   double h)
{
    const struct theme *t = s->brush.theme;
    double span = (double)(p->span.end_ns - p->span.begin_ns);
    double step = nice_ceil(span * 96 / p->span.w),
           first = ceil((double)(p->span.begin_ns - p->capture->asked_ns) / step);
    for (double k = first; k * step < span + (double)(p->span.begin_ns - p->capture->asked_ns);
         k++) {
        double x = p->box.x + lane_x(&p->span, p->capture->asked_ns + (int64_t)(k * step));
        scene_line(s->brush.scene, x, y, x, y + h, 1, t->grid);
        if (x < p->box.x + 34 || x > p->box.x + p->box.w - 34)
            continue;
        struct quantity text = quantity_print("%s%s", k < 0 ? "\xe2\x88\x92" : "+",
                                              format_duration(fabs(k * step)).text);
        scene_text(s->brush.scene, x - 44, y + h + 5, 88, TEXT_AXIS, TEXT_CENTRE | TEXT_FIGURES,
                   t->second, k == 0 ? "captured" : text.text);
    }
}

/* Labels of the rows, as many as fit. */
static void captures_view_add_labels(struct stage *s, const struct captures_plot *p)
{
    const struct theme *t = s->brush.theme;
    uint32_t step = (uint32_t)fmax(ceil(LABEL / p->lanes.height), 1);
    for (uint32_t i = 0; i < p->lanes.count; i++) {
        const struct capture_thread *thread =
            &p->capture->threads[p->lanes.first + i * p->lanes.per];
        struct box box = {p->box.x - GUTTER + 4, p->box.y + i * p->lanes.height, GUTTER - 12,
                          p->lanes.height};
        int marked =
            thread->rank < UINT32_MAX && ui_marks_rank(s->ui, s->model, (uint32_t)thread->rank);
        char text[48];
        if (p->lanes.per == 1) {
            struct scene_hit *hit =
                scene_hit(s->brush.scene, box, HIT_RANK, thread->rank, thread->thread);
            hit->list = LIST_CAPTURE + 1;
            hit->row = p->lanes.first + i;
            hit->selected = marked != 0;
        }
        if (i % step)
            continue;
        if (thread->thread)
            snprintf(text, sizeof text, "%llu.%llu", (unsigned long long)thread->rank,
                     (unsigned long long)thread->thread);
        else
            snprintf(text, sizeof text, step == 1 ? "rank %llu" : "%llu",
                     (unsigned long long)thread->rank);
        scene_text(s->brush.scene, box.x,
                   box.y + (step == 1 ? floor((box.h - text_line(TEXT_AXIS)) / 2) : -3), box.w,
                   TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES, marked ? t->accent : t->second, text);
        if (box_has(box, s->brush.mouse_x, s->brush.mouse_y) && thread->rank < UINT32_MAX)
            piece_rank_tip(s, (uint32_t)thread->rank);
    }
}

struct moment {
    int64_t at_ns;
    const char *text;
    color_t color;
};

enum { MOST_MOMENTS = 3 };

struct label {
    double x; /* position of the line; NaN: not visible */
    double left, w;
};

/* Does a label cross the line of another moment, or an earlier label? */
static int captures_view_crosses(const struct label labels[MOST_MOMENTS], int own)
{
    const struct label *l = &labels[own];
    for (int k = 0; k < MOST_MOMENTS; k++) {
        if (k == own || isnan(labels[k].x))
            continue;
        if (labels[k].x > l->left - 2 && labels[k].x < l->left + l->w + 2)
            return 1;
        if (k < own && l->left < labels[k].left + labels[k].w + 6 &&
            labels[k].left < l->left + l->w + 6)
            return 1;
    }
    return 0;
}

/* A line for each marked time, with its label right of it, else left of it, where there is room. */
static void captures_view_add_moments(const struct stage *s, const struct captures_plot *p,
                                      double y, double h)
{
    const struct theme *t = s->brush.theme;
    const struct alert *a =
        p->capture->alert ? alerts_find(&s->model->alerts, p->capture->alert) : NULL;
    const struct moment all[MOST_MOMENTS] = {
        {a && a->fired_ns ? (int64_t)a->fired_ns : INT64_MIN, "the alert fired", t->bad},
        {a ? (int64_t)a->onset_ns : INT64_MIN, "it set in", t->warn},
        {p->capture->asked_ns, "captured", t->accent},
    };
    struct label labels[MOST_MOMENTS];
    for (int i = 0; i < MOST_MOMENTS; i++) {
        double x = floor(p->box.x + lane_x(&p->span, all[i].at_ns)) + 0.5;
        int seen = all[i].at_ns != INT64_MIN && x >= p->box.x && x <= p->box.x + p->box.w;
        labels[i] = (struct label){.x = seen ? x : NAN};
        if (seen)
            scene_line(s->brush.scene, x, y, x, y + MOMENTS + h, 1.5, all[i].color);
    }
    for (int i = 0; i < MOST_MOMENTS; i++) {
        struct label *l = &labels[i];
        if (isnan(l->x))
            continue;
        l->w = scene_width(s->brush.scene, TEXT_AXIS_STRONG, 0, all[i].text) + 2;
        l->left = l->x + 5;
        if (l->left + l->w > p->box.x + p->box.w || captures_view_crosses(labels, i))
            l->left = l->x - 5 - l->w;
        if (l->left < p->box.x || captures_view_crosses(labels, i))
            l->w = 0;
        else
            scene_text(s->brush.scene, l->left, y + 1, l->w, TEXT_AXIS_STRONG, 0, all[i].color,
                       all[i].text);
    }
}

/* ---- the view ---- */

static void plot_layout(struct stage *s, const struct capture *c, struct box panel)
{
    struct box room = {panel.x + GUTTER, panel.y + HEAD + MOMENTS, panel.w - GUTTER - MARGIN,
                       panel.h - HEAD - MOMENTS - AXIS};
    struct captures_plot p = {.capture = c, .box = room, .span = {.w = room.w}};
    uint32_t last = 0;
    if (room.w < 40 || room.h < LANES_LEGIBLE_HEIGHT)
        return;
    ui_capture_span(s->ui, c, &p.span.begin_ns, &p.span.end_ns);
    p.lanes = lanes_fit(c->thread_count, room.h);
    if (s->ui->capture.rows && p.lanes.height < LANES_LEGIBLE_HEIGHT)
        p.lanes = lanes_fit_legible(c->thread_count, room.h, s->ui->list.scroll[LIST_CAPTURE]);
    p.box.h = p.lanes.height * p.lanes.count;
    if (p.lanes.per == 1)
        piece_list(s, (struct box){panel.x + 4, room.y, panel.w - 8, p.box.h + 0.5}, LIST_CAPTURE,
                   c->thread_count, p.lanes.height, &last);
    captures_view_add_axis(s, &p, room.y, p.box.h);
    captures_view_add_labels(s, &p);
    scene_panel(s->brush.scene,
                (struct box){room.x, panel.y + HEAD, room.w + MARGIN / 2.0, p.box.h + MOMENTS}, 0,
                "captures.plot");
    scene_overlay(s->brush.scene);
    captures_plot_layout(s, &p);
    captures_view_add_moments(s, &p, panel.y + HEAD, p.box.h);
    captures_plot_tip(s, &p);
}

static void captures_layout(struct stage *s, struct box box)
{
    struct box panel = box_inset(box, 14, 10);
    const struct capture *c = ui_capture(s->ui, s->model);
    if (c && c->calls)
        panel = piece_list_panel(panel, HEAD + MOMENTS + AXIS, c->thread_count, LANES_MAX_HEIGHT);
    if (!c)
        panel.h = fmin(panel.h, PIECE_EMPTY_HEIGHT);
    piece_panel(s, panel, "captures");
    if (!c) {
        widget_title(&s->brush, panel.x + 12, panel.y + 7, panel.w - 24, "Captures", "");
        piece_read_back(s, panel.x + panel.w - 12, panel.y + 6);
        piece_empty(s, panel, "No capture so far", PIECE_NO_CAPTURE);
        return;
    }
    captures_view_add_head(s, c, panel);
    if (c->calls)
        plot_layout(s, c, panel);
    else
        piece_empty(s, panel, "No calls were captured", c->fault[0] ? c->fault : NULL);
}

static void captures_view_finish(struct pictures *pictures)
{
    picture_finish(&pictures->captures);
}

const struct view captures_view = {.layout = captures_layout, .finish = captures_view_finish};
