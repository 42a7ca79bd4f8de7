/* View "landscape": one metric of every function or code region over all ranks, as a list, a
 * matrix, a histogram, walls in space, or points where formulas put them (ParaProf). */
#include "holter/plain_text.h"
#include "viewer/views/landscape/landscape_drawing.h"
#include "viewer/views/views.h"

#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EVENT_ROW = 22, SIDE = 186 };

/* ---- the list of events ---- */

static void landscape_event_row(struct stage *s, const struct landscape_drawing *d, struct box row,
                                uint32_t event)
{
    const struct theme *t = s->brush.theme;
    const struct landscape_choice *c = &s->ui->landscape;
    enum rank_figure figure = c->events[c->event].figure;
    int on = d->events[c->event] == event, hover = box_has(row, s->brush.mouse_x, s->brush.mouse_y);
    double total = rank_calls_total(&d->calls, event, figure), most = 0;
    for (uint32_t i = 0; i < d->calls.count; i++) {
        double other = rank_calls_total(&d->calls, i, figure);
        most = fmax(most, isnan(other) ? 0 : other);
    }
    if (on || hover)
        scene_rect(s->brush.scene, row, 4, on ? t->line : t->raised);
    struct quantity sum = landscape_quantity(figure, total);
    double w = scene_width(s->brush.scene, TEXT_AXIS, TEXT_FIGURES, sum.text) + 1;
    scene_text(s->brush.scene, row.x + 6, row.y + 2, row.w - w - 18, TEXT_AXIS, TEXT_MIDDLE,
               on || hover ? t->text : t->second, landscape_event_name(s, d, event));
    scene_text(s->brush.scene, row.x + row.w - w - 4, row.y + 2, w, TEXT_AXIS, TEXT_FIGURES,
               on || hover ? t->text : t->second, sum.text);
    widget_bar(&s->brush, (struct box){row.x + 6, row.y + 17, row.w - 12, 2},
               most > 0 && !isnan(total) ? total / most : 0, on ? t->accent : t->info);
    struct scene_hit *hit =
        scene_hit(s->brush.scene, row, HIT_BUTTON, COMMAND_LANDSCAPE_EVENT, d->calls.ids[event]);
    hit->list = 0;
}

static void landscape_add_events(struct stage *s, const struct landscape_drawing *d, struct box box)
{
    static const char *const by[RANK_CALLS_BYS] = {"functions", "code regions"};
    uint32_t last;
    widget_choice(&s->brush, box.x + box.w, box.y, by, RANK_CALLS_BYS, (int)s->ui->landscape.by,
                  COMMAND_LANDSCAPE_BY);
    struct box list = {box.x, box.y + 30, box.w, box.h - 30};
    uint32_t first = piece_list(s, list, LIST_EVENTS, d->calls.count, EVENT_ROW, &last);
    for (uint32_t i = first; i < last; i++)
        landscape_event_row(
            s, d,
            (struct box){list.x, list.y + (i - first) * EVENT_ROW, list.w - 10, EVENT_ROW - 1}, i);
}

/* ---- the range of values ---- */

static void landscape_add_level(const struct stage *s, const struct landscape_drawing *d,
                                struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct landscape_choice *c = &s->ui->landscape;
    const double ends = 70;
    struct box bar = {box.x + ends, box.y + 6, box.w - 2 * ends, 12};
    double at[2] = {bar.x + c->low * bar.w, bar.x + c->high * bar.w};
    double low = d->low + (d->high - d->low) * c->low, high = d->low + (d->high - d->low) * c->high;
    if (c->shape == LANDSCAPE_MATRIX) /* its colours are those of another scale */
        scene_rect(s->brush.scene, bar, 0, t->info);
    else
        scene_image(s->brush.scene, bar, &t->map_image);
    struct box dimmed[2] = {{bar.x, bar.y, at[0] - bar.x, bar.h},
                            {at[1], bar.y, bar.x + bar.w - at[1], bar.h}};
    if (c->low > c->high)
        dimmed[0] = (struct box){at[1], bar.y, at[0] - at[1], bar.h};
    for (int i = 0; i < (c->low > c->high ? 1 : 2); i++)
        if (dimmed[i].w > 0.5)
            scene_rect(s->brush.scene, dimmed[i], 0, color_fade(t->panel, 0.85));
    for (int i = 0; i < 2; i++) {
        struct box handle = {at[i] - 3, bar.y - 3, 6, bar.h + 6};
        scene_rect(s->brush.scene, handle, 2, t->text);
        scene_outline(s->brush.scene, handle, 2, 1, t->panel);
    }
    scene_text(s->brush.scene, box.x, box.y + 5, ends - 8, TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES,
               t->text, landscape_colored_text(s, d, low).text);
    scene_text(s->brush.scene, bar.x + bar.w + 8, box.y + 5, ends - 8, TEXT_AXIS, TEXT_FIGURES,
               t->text, landscape_colored_text(s, d, high).text);
    struct scene_hit *hit =
        scene_hit(s->brush.scene, (struct box){bar.x - 4, box.y, bar.w + 8, 24}, HIT_LEVEL, 0, 0);
    hit->x0 = -4 / bar.w;
    hit->x1 = 1 + 4 / bar.w;
}

/* ---- controls of layouts ---- */

static const char *landscape_layout_name(const struct stage *s)
{
    uint32_t index;
    const struct formulas *f = landscape_layout(&s->ui->landscape, &index);
    return f ? formulas_name(f, index) : "none";
}

/* Whether the chosen layout has formulas over an event. */
static int landscape_uses_event(const struct stage *s, int event)
{
    static const char *const words[3] = {"val", "min", "max"};
    uint32_t index;
    const struct formulas *f = landscape_layout(&s->ui->landscape, &index);
    char name[24];
    for (int i = 0; f && i < 3; i++) {
        snprintf(name, sizeof name, "event%d.%s", event, words[i]);
        if (formulas_uses(f, index, name))
            return 1;
    }
    return 0;
}

static int landscape_event_count(const struct stage *s)
{
    int count = LANDSCAPE_EVENTS;
    while (count > 1 && !landscape_uses_event(s, count - 1))
        count--;
    return count;
}

static void landscape_add_axis(const struct stage *s, const struct landscape_drawing *d, int axis,
                               struct box box)
{
    const struct theme *t = s->brush.theme;
    static const char *const names[3] = {"x", "y", "z"};
    const struct landscape_axis *a = &s->ui->landscape.axes[axis];
    const struct landscape_scale *scale = &d->scales[axis];
    struct box bar = {box.x + 16, box.y + 9, box.w - 16 - 132, 6};
    char text[32] = "all";
    uint32_t bin = landscape_bin(scale, a->at);
    if (a->mode == LANDSCAPE_AXIS_MEAN)
        snprintf(text, sizeof text, "mean");
    else if (a->mode == LANDSCAPE_AXIS_SLICE && scale->bins)
        snprintf(text, sizeof text, "%.4g", scale->values[bin]);
    scene_text(s->brush.scene, box.x, box.y + 5, 14, TEXT_AXIS_STRONG, 0, t->text, names[axis]);
    scene_rect(s->brush.scene, bar, 3, t->line);
    if (a->mode == LANDSCAPE_AXIS_SLICE && scale->bins) {
        double x = bar.x + (bin + 0.5) / scale->bins * bar.w;
        scene_rect(s->brush.scene, (struct box){x - 3, bar.y - 4, 6, 14}, 2, t->accent);
    }
    struct scene_hit *hit = scene_hit(s->brush.scene, (struct box){bar.x, box.y, bar.w, 24},
                                      HIT_SLICE, (uint64_t)axis, 0);
    hit->x0 = 0;
    hit->x1 = 1;
    scene_text(s->brush.scene, bar.x + bar.w + 6, box.y + 5, 40, TEXT_AXIS, TEXT_FIGURES,
               a->mode ? t->text : t->second, text);
    widget_button(&s->brush, bar.x + bar.w + 46, box.y, "all", a->mode == LANDSCAPE_AXIS_ALL,
                  COMMAND_LANDSCAPE_AXIS_ALL, (uint64_t)axis);
    widget_button(&s->brush, bar.x + bar.w + 82, box.y, "mean", a->mode == LANDSCAPE_AXIS_MEAN,
                  COMMAND_LANDSCAPE_AXIS_MEAN, (uint64_t)axis);
}

/* Correlations of what lies along the axes and of the colour, over the visible ranks. */
static void landscape_format_correlations(const struct landscape_drawing *d, char *out,
                                          size_t capacity)
{
    static const char *const names[FORMULA_AXES] = {"x", "y", "z", "colour"};
    const double *values[FORMULA_AXES] = {d->points.axes[0], d->points.axes[1], d->points.axes[2],
                                          d->colored};
    snprintf(out, capacity, "Correlation:");
    for (int i = 0; i < FORMULA_AXES; i++) {
        for (int k = i + 1; k < FORMULA_AXES; k++) {
            double r = rank_calls_correlation(values[i], values[k], d->shown, d->ranks);
            if (isnan(r))
                text_append(out, capacity, "  %s-%s none", names[i], names[k]);
            else
                text_append(out, capacity, "  %s-%s %+.2f", names[i], names[k], r);
        }
    }
}

static void landscape_add_fault(const struct stage *s, const struct landscape_drawing *d,
                                struct box box)
{
    char text[400];
    snprintf(text, sizeof text, "%s:%u:%u: %s",
             d->given ? s->ui->landscape.given_name : "built-in layouts", d->fault.line,
             d->fault.column, d->fault.text);
    piece_empty(s, box, "This layout has no points", text);
}

static void landscape_layout_shape(struct stage *s, struct landscape_drawing *d, struct box box)
{
    char text[400];
    double w = (box.w - 32) / 3;
    struct box plot = {box.x, box.y, box.w, box.h - 52};
    if (d->fault.line) {
        landscape_add_fault(s, d, box);
        return;
    }
    for (int axis = 0; axis < 3; axis++)
        landscape_add_axis(s, d, axis,
                           (struct box){floor(box.x + axis * (w + 16)), box.y + box.h - 46, w, 24});
    if (d->points.not_finite)
        snprintf(text, sizeof text, "%s ranks have no place: line %u: %s",
                 quantity_grouped(d->points.not_finite).text, d->points.not_finite_at.line,
                 d->points.not_finite_at.text);
    else
        landscape_format_correlations(d, text, sizeof text);
    scene_text(s->brush.scene, box.x, box.y + box.h - 16, box.w, TEXT_AXIS, 0,
               d->points.not_finite ? s->brush.theme->warn : s->brush.theme->second, text);
    landscape_points(s, d, plot);
}

/* ---- the view ---- */

/* Second line: what is shown, and of what range of values. @return right end of the free space */
static double landscape_add_choices(const struct stage *s, const struct landscape_drawing *d,
                                    struct box panel)
{
    static const char *const figures[RANK_FIGURES] = {"time", "mean", "calls", "bytes"};
    static const char *const slots[LANDSCAPE_EVENTS] = {"0", "1", "2", "3"};
    const struct landscape_choice *c = &s->ui->landscape;
    double right = panel.x + panel.w - 12, y = panel.y + 38;
    double level = fmin(300, fmax(panel.w * 0.28, 220));
    landscape_add_level(s, d, (struct box){right - level, y, level, 24});
    right -= level + 10;
    right -= widget_choice(&s->brush, right, y, figures, RANK_FIGURES,
                           (int)c->events[c->event].figure, COMMAND_LANDSCAPE_FIGURE) +
             8;
    if (c->shape != LANDSCAPE_LAYOUT)
        return right;
    int count = landscape_event_count(s);
    if (count > 1)
        right -=
            widget_choice(&s->brush, right, y, slots, count, c->event, COMMAND_LANDSCAPE_SLOT) + 8;
    char name[80];
    snprintf(name, sizeof name, "layout: %.24s", landscape_layout_name(s));
    double w = scene_width(s->brush.scene, TEXT_SMALL, 0, name) + 20;
    if (right - w > panel.x + 60) {
        widget_button(&s->brush, right - w, y, name, 1, COMMAND_LANDSCAPE_LAYOUT, 0);
        right -= w + 8;
    }
    return right;
}

static void landscape_add_head(const struct stage *s, const struct landscape_drawing *d,
                               struct box panel)
{
    static const char *const shapes[LANDSCAPE_SHAPES] = {"list", "matrix", "histogram", "3D",
                                                         "layout"};
    const struct landscape_choice *c = &s->ui->landscape;
    char what[160], means[200];
    struct quantity unit = landscape_unit(s->model);
    double right = panel.x + panel.w - 12;
    right -= widget_choice(&s->brush, right, panel.y + 6, shapes, LANDSCAPE_SHAPES, (int)c->shape,
                           COMMAND_LANDSCAPE_SHAPE) +
             8;
    const int all = c->shape == LANDSCAPE_MATRIX || c->shape == LANDSCAPE_WALLS;
    snprintf(what, sizeof what, "%s of %s%s, %s", landscape_figure_name(c->events[c->event].figure),
             all ? c->by == RANK_CALLS_REGION ? "each code region by " : "each function by "
             : d->events[c->event] == RANK_CALLS_NONE
                 ? "nothing"
                 : landscape_event_name(s, d, d->events[c->event]),
             all ? unit.text : "",
             s->range->callers_kind == RANGE_START && s->range->kind != RANGE_START
                 ? "since the start"
                 : piece_range_text(s).text);
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 20, "Metrics", what);
    right = landscape_add_choices(s, d, panel);
    landscape_format_means(s, d, means, sizeof means);
    scene_text(s->brush.scene, panel.x + 12, panel.y + 43, right - panel.x - 20, TEXT_AXIS,
               TEXT_CLAUSES, s->brush.theme->second, means);
}

static void landscape_add_left_out(const struct stage *s, const struct landscape_drawing *d,
                                   struct box box)
{
    char text[160] = "";
    if (s->model->callers_left_out)
        snprintf(text, sizeof text, "%s rows too many to be sent",
                 quantity_grouped(s->model->callers_left_out).text);
    else if (d->calls.left_out)
        snprintf(text, sizeof text, "%u with less time not shown", d->calls.left_out);
    if (text[0])
        scene_text(s->brush.scene, box.x, box.y + box.h - 14, box.w, TEXT_AXIS, 0,
                   s->brush.theme->warn, text);
}

static void landscape_view_layout(struct stage *s, struct box box)
{
    static void (*const shapes[LANDSCAPE_SHAPES])(struct stage *, struct landscape_drawing *,
                                                  struct box) = {
        [LANDSCAPE_LIST] = landscape_list,           [LANDSCAPE_MATRIX] = landscape_matrix,
        [LANDSCAPE_HISTOGRAM] = landscape_histogram, [LANDSCAPE_WALLS] = landscape_walls,
        [LANDSCAPE_LAYOUT] = landscape_layout_shape,
    };
    struct box panel = box_inset(box, 14, 10);
    struct landscape_drawing *d = s->pictures->landscape;
    piece_panel(s, panel, "landscape");
    if (!d)
        d = s->pictures->landscape = calloc(1, sizeof *d);
    if (!d || landscape_update(s, d) < 0) {
        piece_empty(s, panel, "Out of memory", NULL);
        return;
    }
    landscape_add_head(s, d, panel);
    double top = panel.y + 72, h = panel.y + panel.h - 10 - top;
    struct box side = {panel.x + 12, top, SIDE, h};
    if (!d->calls.count) {
        piece_empty(s, (struct box){panel.x, top, panel.w, h}, "No calls in this span of time",
                    "Calls, bytes and time of each function by rank appear here.");
        return;
    }
    landscape_add_left_out(s, d, side);
    side.h -= s->model->callers_left_out || d->calls.left_out ? 18 : 0;
    landscape_add_events(s, d, side);
    double x = panel.x + 12 + SIDE + 14;
    shapes[s->ui->landscape.shape](s, d, (struct box){x, top, panel.x + panel.w - 12 - x, h});
}

static void landscape_finish_pictures(struct pictures *pictures)
{
    landscape_destroy(pictures->landscape);
    pictures->landscape = NULL;
}

const struct view landscape_view = {.layout = landscape_view_layout,
                                    .finish = landscape_finish_pictures};
