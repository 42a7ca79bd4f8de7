/* Bars of a figure by rank (Visuco, section 4.3), with axes, filter and tooltip. */
#include "viewer/layout/format.h"
#include "viewer/views/common/link_classes.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/links/view_links_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 58, FOOT = 66, STEP = 2, NAMED = 16, EQUAL_H = 118, LEAST_H = 190 };

/* Axis of ranks and scale of the figure. */
struct axis {
    struct box plot;
    double places; /**< extent of the axis, from the first rank to the end of the last */
    double most;   /**< value at the right edge */
};

static double metric_rank_place_of(const struct stage *s, double rank)
{
    return s->ui->network.rank_log ? log10(rank + 1) : rank;
}

static double metric_rank_y_of(const struct stage *s, const struct axis *a, double rank)
{
    return a->plot.y + a->plot.h * metric_rank_place_of(s, rank) / fmax(a->places, 1e-9);
}

static double metric_rank_x_of(const struct axis *a, double value)
{
    return a->plot.x + a->plot.w * value / fmax(a->most, 1e-9);
}

static uint8_t metric_rank_marks_of(const struct flows *f, enum flow_metric metric, uint32_t number)
{
    enum flow_kind kind = flows_kind(metric);
    return kind == FLOW_ROUTES  ? f->route_marks[number]
           : kind == FLOW_LINKS ? f->link_marks[number]
                                : f->vertex_marks[number];
}

static void metric_rank_name_of(const struct stage *s, uint32_t number, char *out, size_t room)
{
    const struct network *n = &s->model->network;
    const struct flows *f = &s->range->flows;
    char from[80], to[80];
    switch (flows_kind(s->ui->network.metric)) {
    case FLOW_ROUTES:
        network_vertex_name(n, f->routes[number].source, from, sizeof from);
        network_vertex_name(n, f->routes[number].destination, to, sizeof to);
        snprintf(out, room, "%s \xe2\x86\x92 %s", from, to);
        break;
    case FLOW_LINKS:
        network_link_short_name(n, number, out, room);
        break;
    default:
        network_vertex_name(n, number, out, room);
        break;
    }
}

/* ---- bars ---- */

/* One bar for the ranks from first to last, as long as the largest value among them. */
static void metric_rank_add_bar(struct stage *s, const struct axis *a, uint32_t first,
                                uint32_t last, double y, double h)
{
    const struct flows *f = &s->range->flows;
    const struct theme *t = s->brush.theme;
    enum flow_metric metric = s->ui->network.metric;
    double value = flows_value(f, metric, f->ranked[first]);
    uint8_t marks = 0;
    for (uint32_t i = first; i <= last; i++)
        marks |= metric_rank_marks_of(f, metric, f->ranked[i]);
    color_t color = piece_metric_color(s, metric, value);
    double w = fmax(metric_rank_x_of(a, value) - a->plot.x, 1);
    int shown = marks & FLOW_SHOWN;
    scene_rect(s->brush.scene, (struct box){a->plot.x, y, w, h}, 0,
               shown ? color : color_fade(color, 0.18));
    if (marks & FLOW_SELECTED)
        scene_rect(s->brush.scene, (struct box){a->plot.x - 5, y, 4, fmax(h, 2)}, 0, t->accent);
    if (h < NAMED)
        return;
    char name[200];
    metric_rank_name_of(s, f->ranked[first], name, sizeof name);
    double room = a->plot.w - w - 10;
    int inside = w - 10 > room;
    scene_text(s->brush.scene, inside ? a->plot.x + 6 : a->plot.x + w + 6, y + (h - 15) / 2,
               inside ? w - 10 : room, TEXT_AXIS, TEXT_MIDDLE,
               inside && shown ? theme_on(color) : t->second, name);
}

static void metric_rank_add_bars(struct stage *s, const struct axis *a)
{
    const struct flows *f = &s->range->flows;
    uint32_t n = f->ranked_count;
    double y = a->plot.y, foot = a->plot.y + a->plot.h;
    uint32_t next = 0;
    while (y < foot && next < n) {
        uint32_t first = next, last = first;
        double until = metric_rank_y_of(s, a, first + 1.0);
        if (until < y + STEP) { /* several ranks share a row of pixels */
            double place = (y + STEP - a->plot.y) / a->plot.h * a->places;
            double rank = ceil(ui_rank_at(s->ui, place)) - 1;
            last = rank >= n ? n - 1 : rank > first ? (uint32_t)rank : first;
            until = y + STEP;
        }
        double gap = until - y > 5 ? 1 : 0;
        metric_rank_add_bar(s, a, first, last, y, fmin(until, foot) - y - gap);
        y = until;
        next = last + 1;
    }
}

/* ---- axes ---- */

static void metric_rank_add_rank_tick(const struct stage *s, const struct axis *a, double rank)
{
    const struct theme *t = s->brush.theme;
    double y = metric_rank_y_of(s, a, rank) + 0.5;
    scene_line(s->brush.scene, a->plot.x, y, a->plot.x + a->plot.w, y, 1, t->grid);
    double top = fmin(fmax(y - 8, a->plot.y - 2), a->plot.y + a->plot.h - 13);
    scene_text(s->brush.scene, a->plot.x - LEFT + 4, top, LEFT - 12, TEXT_AXIS,
               TEXT_RIGHT | TEXT_FIGURES, t->second, quantity_grouped((uint64_t)rank + 1).text);
}

static void metric_rank_add_ticks(const struct stage *s, const struct axis *a)
{
    const struct theme *t = s->brush.theme;
    double n = s->range->flows.ranked_count;
    metric_rank_add_rank_tick(s, a, 0);
    if (s->ui->network.rank_log) {
        for (double rank = 10; rank <= n; rank *= 10)
            if (metric_rank_y_of(s, a, rank - 1) > a->plot.y + 16 &&
                metric_rank_y_of(s, a, rank - 1) < a->plot.y + a->plot.h - 8)
                metric_rank_add_rank_tick(s, a, rank - 1);
    } else {
        double step = nice_ceil(n / fmax(floor(a->plot.h / 60), 1));
        for (double rank = fmax(step, 1); rank < n && step >= 1; rank += step)
            if (metric_rank_y_of(s, a, rank - 1) > a->plot.y + 16)
                metric_rank_add_rank_tick(s, a, rank - 1);
    }
    const char *unit = strcmp(flows_metric_unit(s->ui->network.metric), "B") ? "" : "B";
    double step = nice_ceil_unit(a->most / fmax(floor(a->plot.w / 90), 1), unit);
    for (double value = step; value <= a->most && step > 0; value += step) {
        double x = metric_rank_x_of(a, value);
        int whole = s->ui->network.metric == METRIC_LENGTH;
        scene_line(s->brush.scene, x, a->plot.y, x, a->plot.y + a->plot.h, 1, t->grid);
        if (whole && value != floor(value))
            continue;
        scene_text(s->brush.scene, fmin(x - 30, a->plot.x + a->plot.w - 58),
                   a->plot.y + a->plot.h + 3, 60, TEXT_AXIS, TEXT_CENTRE, t->second,
                   format_axis(value, unit).text);
    }
}

/* Range of the filter, if it filters by this figure. */
static void metric_rank_add_filter(const struct stage *s, const struct axis *a)
{
    const struct flow_filter *filter = &s->ui->network.filter;
    const struct flows *f = &s->range->flows;
    if (!filter->ranged || filter->metric != s->ui->network.metric)
        return;
    double x0 = fmax(metric_rank_x_of(a, filter->low), a->plot.x),
           x1 = fmin(metric_rank_x_of(a, filter->high), a->plot.x + a->plot.w);
    uint32_t above = flows_above(f, nextafter(filter->high, INFINITY));
    double y0 = metric_rank_y_of(s, a, above),
           y1 = metric_rank_y_of(s, a, flows_above(f, filter->low));
    struct box box = {x0, y0, fmax(x1 - x0, 2), fmax(y1 - y0, 2)};
    box.h = fmin(box.h, a->plot.y + a->plot.h - box.y);
    scene_rect(s->brush.scene, box, 0, color_fade(s->brush.theme->accent, 0.10));
    scene_outline(s->brush.scene, box, 0, 1.5, s->brush.theme->accent);
}

static void metric_rank_add_tip(struct stage *s, const struct axis *a)
{
    const struct flows *f = &s->range->flows;
    double y = s->brush.mouse_y;
    if (!box_has(a->plot, s->brush.mouse_x, y) || s->ui->mouse.dragging)
        return;
    double at = floor(ui_rank_at(s->ui, (y - a->plot.y) / a->plot.h * a->places));
    if (at < 0 || at >= f->ranked_count)
        return;
    uint32_t number = f->ranked[(uint32_t)at];
    switch (flows_kind(s->ui->network.metric)) {
    case FLOW_ROUTES:
        piece_route_tip(s, f->routes[number].source, f->routes[number].destination);
        break;
    case FLOW_LINKS:
        piece_link_tip(s, number);
        break;
    default:
        piece_vertex_tip(s, number);
        break;
    }
    tooltip_add(
        &s->tip, s->brush.theme->accent, "%s %s: number %s of %s",
        flows_metric_name(s->ui->network.metric),
        piece_metric_text(s->ui->network.metric, flows_value(f, s->ui->network.metric, number))
            .text,
        quantity_grouped((uint64_t)at + 1).text, quantity_grouped(f->ranked_count).text);
}

/* ---- the panel ---- */

/* Buttons to choose the figure, in as many rows as needed. @return y below them */
static double metric_rank_add_choices(const struct stage *s, struct box panel, double y)
{
    double x = panel.x + 8;
    for (int i = 0; i < METRICS; i++) {
        const char *name = flows_metric_name((enum flow_metric)i);
        double w = scene_width(s->brush.scene, TEXT_SMALL, 0, name) + 20;
        if (x + w > panel.x + panel.w - 8 && x > panel.x + 8) {
            x = panel.x + 8;
            y += 25;
        }
        x += widget_button(&s->brush, x, y, name, (int)s->ui->network.metric == i, COMMAND_METRIC,
                           (uint64_t)i);
    }
    return y + 30;
}

static const char *metric_rank_things(enum flow_metric metric)
{
    static const char *const names[] = {"routes", "links", "nodes"};
    return names[flows_kind(metric)];
}

/* Whether all figures are the same: bars of the same length say no more than a sentence. */
static int metric_rank_is_equal(const struct stage *s)
{
    const struct flows *f = &s->range->flows;
    enum flow_metric metric = s->ui->network.metric;
    uint32_t count = f->ranked_count;
    return count > 1 && f->ranked_metric == metric &&
           flows_value(f, metric, f->ranked[0]) * (1 - LINK_ALIKE) <=
               flows_value(f, metric, f->ranked[count - 1]);
}

double metric_rank_height(const struct stage *s, double most)
{
    const int equal = metric_rank_is_equal(s);
    const double need = equal ? EQUAL_H : LEAST_H;
    return need > most ? 0 : equal ? need : most;
}

static void metric_rank_add_sentence(const struct stage *s, struct box box)
{
    const struct flows *f = &s->range->flows;
    enum flow_metric metric = s->ui->network.metric;
    struct quantity value = piece_metric_text(metric, flows_value(f, metric, f->ranked[0]));
    char text[160];
    int load = metric == METRIC_LOAD;
    snprintf(text, sizeof text, "all %s %s %s%s %s", quantity_grouped(f->ranked_count).text,
             metric_rank_things(metric), load ? "carry" : "have ",
             load ? "" : flows_metric_name(metric), value.text);
    scene_paragraph(s->brush.scene, box.x, box.y, box.w, TEXT_BODY, s->brush.theme->text, 2, text);
}

void metric_rank_layout(struct stage *s, struct box panel)
{
    static const char *const scales[] = {"linear", "log"};
    const struct flows *f = &s->range->flows;
    char what[120];
    int equal = metric_rank_is_equal(s);
    piece_panel(s, panel, "metric-rank");
    double right = panel.x + panel.w - 12;
    right -= widget_choice(&s->brush, right, panel.y + 6, scales, 2, s->ui->network.rank_log,
                           COMMAND_RANK_SCALE) +
             8;
    /* in Links the title of the list says it */
    int counted = s->ui->view == VIEW_WHAT_IF && !piece_has_sizes(s->model);
    snprintf(what, sizeof what, "%s %s%s%s%s",
             quantity_grouped(f->ranked_metric == s->ui->network.metric ? f->ranked_count : 0).text,
             metric_rank_things(s->ui->network.metric), equal ? "" : "; drag to filter",
             s->ui->network.applied & FLOWS_OTHER_RUN ? "; after"
             : s->ui->network.applied                 ? "; as suggested"
                                                      : "",
             counted ? "; 1 B is one message" : "");
    widget_title(&s->brush, panel.x + 12, panel.y + 7, right - panel.x - 12, "Largest first", what);
    double y = metric_rank_add_choices(s, panel, panel.y + 36);
    struct axis axis = {
        .plot = {panel.x + LEFT, y + 2, panel.w - LEFT - 16, panel.y + panel.h - y - FOOT - 2},
        .most =
            fmax(f->maximum[s->ui->network.metric], piece_metric_most(s, s->ui->network.metric)),
        .places = metric_rank_place_of(s, f->ranked_count)};
    if (!f->ranked_count || f->ranked_metric != s->ui->network.metric || axis.plot.h < 40) {
        if (axis.plot.h >= 40)
            piece_empty(s, axis.plot, "Nothing to rank",
                        flows_stayed_local(f)         ? "All messages stayed within nodes."
                        : piece_loads_are_measured(s) ? "No messages are known, only counters."
                                                      : NULL);
        return;
    }
    if (equal) {
        metric_rank_add_sentence(s, (struct box){panel.x + 12, y + 2, panel.w - 24, 0});
        return;
    }
    metric_rank_add_ticks(s, &axis);
    metric_rank_add_bars(s, &axis);
    metric_rank_add_filter(s, &axis);
    struct scene_hit *hit =
        scene_hit(s->brush.scene, axis.plot, HIT_METRIC, s->ui->network.metric, 0);
    hit->x1 = axis.most;
    hit->y1 = axis.places;
    piece_metric_legend(s,
                        (struct box){axis.plot.x, axis.plot.y + axis.plot.h + 22, axis.plot.w, 0});
    metric_rank_add_tip(s, &axis);
}
