/* Evolution strip: rows of circles, marks of periods, labels, tooltips, legend. */
#include "viewer/views/live/view_live_parts.h"

#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"

#include "holter/size_class.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    TITLE = 32,  /* title and the choice of how time is shown */
    LEGEND = 18, /* what the marks and the colours mean, below the title */
    HEAD = TITLE + LEGEND,
    FOOT = 20,    /* time axis */
    ROW = 21,     /* minimum height of a row */
    TALLEST = 34, /* maximum height of a row */
    SMALLEST = 2, /* radius of the smallest circle */
    FIXED = 3,    /* rows of the job and both localities, which do not scroll: at most */
};

/* Whether any of its messages were matched: between nodes none is, of a job on one. */
static uint32_t evolution_has_messages(const struct latency_series *series)
{
    for (uint32_t i = series ? series->count : 0; i-- > 0;)
        if (series->points[i].messages)
            return 1;
    return 0;
}

int evolution_known(const struct model *m)
{
    return evolution_has_messages(latency_find(&m->latency, SERIES_JOB, 0)) > 0;
}

/* Rows of the job and the localities. */
static uint32_t evolution_fixed_rows(const struct model *m)
{
    uint32_t n = 0;
    for (uint32_t scope = SERIES_JOB; scope < SERIES_REGION; scope++)
        n += evolution_has_messages(latency_find(&m->latency, (enum series_scope)scope, 0));
    return n;
}

double evolution_height(const struct model *m, uint32_t most, int tallest)
{
    uint32_t fixed = evolution_fixed_rows(m), regions = 0;
    for (uint32_t i = 0; i < m->latency.series_count; i++)
        regions += m->latency.series[i].scope == SERIES_REGION;
    return HEAD + FOOT +
           (fixed + (double)(regions < most ? regions : most)) * (tallest ? TALLEST : ROW);
}

/* ---- a row ---- */

struct row {
    const struct latency_series *series;
    const char *name; /* NULL: a region */
    struct box box;   /* over the whole panel */
    double most;      /* nanoseconds lost per window that the largest circle represents */
};

/* Growth is a wedge that thickens to the right, a steady period a bracket: distinct without colour.
 */
static void evolution_add_growth_mark(const struct stage *s, double x0, double x1, double y)
{
    const struct point corners[] = {{x0, y}, {x0, y - 0.8}, {x1, y - 3.6}, {x1, y}};
    scene_shape(s->brush.scene, corners, 4, s->brush.theme->bad);
}

static void evolution_add_steady_mark(const struct stage *s, double x0, double x1, double y)
{
    color_t color = s->brush.theme->warn;
    scene_rect(s->brush.scene, (struct box){x0, y - 1.5, x1 - x0, 1.5}, 0, color);
    scene_rect(s->brush.scene, (struct box){x0, y - 5, 1.5, 5}, 0, color);
    scene_rect(s->brush.scene, (struct box){x1 - 1.5, y - 5, 1.5, 5}, 0, color);
}

static void evolution_add_marks(const struct stage *s, const struct evolution_plot *p,
                                const struct row *row)
{
    const struct latency_series *series = row->series;
    if (!p->count)
        return;
    uint64_t from = p->columns[0].first, to = p->columns[p->count - 1].last;
    for (uint32_t i = latency_position(series, from);
         i < series->count && series->points[i].first <= to; i++) {
        enum series_trend trend = series->points[i].trend;
        if (trend == TREND_CALM)
            continue;
        uint32_t end = i;
        while (end + 1 < series->count && series->points[end + 1].trend == trend &&
               series->points[end + 1].first <= to)
            end++;
        double x0 = fmax(evolution_x(p, series->points[i].first), p->box.x);
        double x1 = fmin(evolution_x(p, series->points[end].last + 1), p->box.x + p->box.w);
        double y = floor(row->box.y + row->box.h - 1);
        if (x1 > x0 + 1 && trend == TREND_GROWTH)
            evolution_add_growth_mark(s, x0, x1 - 1, y);
        else if (x1 > x0 + 1)
            evolution_add_steady_mark(s, x0, x1 - 1, y);
        i = end;
    }
}

/* A series that the daemon judges calm has no colour of alarm: on many ranks or a busy network its
 * usual latency may be above the best that was seen. Far above, one of its scopes has grown: the
 * alert of a node or a link begins before that of the series. */
static color_t evolution_color(const struct theme *theme, const struct latency_point *at)
{
    const int usual = at->trend == TREND_CALM && at->typical < EVOLUTION_UNUSUAL;
    return theme_latency(theme, usual ? fmin(at->typical, EVOLUTION_CALM) : at->typical);
}

static void evolution_add_circles(const struct stage *s, const struct evolution_plot *p,
                                  const struct row *row)
{
    double y = row->box.y + row->box.h / 2 - 1;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct evolution_column *c = &p->columns[i];
        struct latency_point at;
        if (c->x < p->box.x || c->x > p->box.x + p->box.w || !evolution_at(row->series, c, &at))
            continue;
        double largest = fmin(row->box.h / 2 - 1.5, c->w / 2 * 1.05);
        if (!at.messages || isnan(at.typical)) {
            scene_disc(s->brush.scene, c->x, y, 1, s->brush.theme->faint);
            continue;
        }
        double share = evolution_lost(&at) / fmax(row->most, 1);
        /* the area represents the time lost, but even the smallest circle must show its colour */
        scene_disc(s->brush.scene, c->x, y, fmax(sqrt(fmin(share, 1)) * largest, SMALLEST),
                   evolution_color(s->brush.theme, &at));
    }
}

/* Newest visible latency, and its trend in words: of one window, however many a circle stands for,
 * so that the figure is the same in a window of any width. */
static void evolution_add_reading(const struct stage *s, const struct evolution_plot *p,
                                  const struct row *row)
{
    static const char *const words[] = {"", "growing", "high"};
    const struct theme *t = s->brush.theme;
    struct latency_point at = {.typical = NAN};
    uint32_t column = p->count, i = row->series->count;
    while (column > 0 &&
           p->columns[column - 1].x - p->columns[column - 1].w / 2 >= p->box.x + p->box.w)
        column--;
    for (; column > 0 && i > 0 && row->series->points[i - 1].last >= p->columns[0].first; i--) {
        const struct latency_point *point = &row->series->points[i - 1];
        if (point->first > p->columns[column - 1].last || !point->messages || isnan(point->typical))
            continue;
        at = *point;
        break;
    }
    double right = row->box.x + row->box.w - 14, y = row->box.y + row->box.h / 2 - 8;
    /* a period of high latency may have windows below the reference: those are not called high */
    const enum series_trend trend = at.typical < 1 ? TREND_CALM : at.trend;
    color_t color = trend == TREND_GROWTH ? t->bad : trend == TREND_STEADY ? t->warn : t->text;
    scene_text(s->brush.scene, right - 40, y, 40, TEXT_SMALL_STRONG, TEXT_RIGHT | TEXT_FIGURES,
               color, format_ratio(at.typical).text);
    scene_text(s->brush.scene, right - 86, y + 1, 46, TEXT_AXIS, TEXT_RIGHT, color, words[trend]);
}

static void evolution_add_label(const struct stage *s, const struct evolution_plot *p,
                                const struct row *row)
{
    const struct theme *t = s->brush.theme;
    double y = row->box.y + row->box.h / 2 - 8, x = row->box.x + 10, w = p->box.x - x - 8;
    if (row->name) {
        scene_text(s->brush.scene, x, y + 1, w, TEXT_AXIS, 0, t->second, row->name);
        return;
    }
    scene_rect(s->brush.scene, (struct box){x, y + 5, 7, 7}, 2, theme_region(t, row->series->id));
    char text[40];
    snprintf(text, sizeof text, "region %llu", (unsigned long long)row->series->id);
    const char *number = text + strlen("region ");
    int fits = scene_width(s->brush.scene, TEXT_AXIS, 0, text) <= w - 12;
    scene_text(s->brush.scene, x + 12, y + 1, w - 12, TEXT_AXIS, 0, t->text, fits ? text : number);
}

/* ---- what the mouse is over ---- */

static void evolution_add_parts_line(struct stage *s, const struct latency_point *at)
{
    double transfer = (double)at->part_ns[LATENCY_NETWORK] +
                      (double)at->part_ns[LATENCY_LATE_RECEIVER] +
                      (double)at->part_ns[LATENCY_JOINT];
    if (transfer <= 0)
        return;
    tooltip_add(&s->tip, 0, "of the time %.0f\xc2\xa0%% network, %.0f\xc2\xa0%% late receiver",
                (double)at->part_ns[LATENCY_NETWORK] / transfer * 100,
                (double)at->part_ns[LATENCY_LATE_RECEIVER] / transfer * 100);
    tooltip_add(&s->tip, 0, "waiting for late senders, beside it: %.0f\xc2\xa0%%",
                (double)at->part_ns[LATENCY_LATE_SENDER] / transfer * 100);
}

/* The criterion of the size class with most messages. */
static void evolution_add_criterion_line(struct stage *s, const struct latency_series *series)
{
    const struct latency *l = &s->model->latency;
    const struct wire_criterion_row *best = NULL;
    uint64_t locality = series->scope == SERIES_INTER;
    for (uint32_t i = 0; i < l->criteria_count; i++)
        if (l->criteria[i].locality == locality &&
            (!best || l->criteria[i].messages > best->messages))
            best = &l->criteria[i];
    if (!best || (series->scope != SERIES_INTRA && series->scope != SERIES_INTER))
        return;
    tooltip_add(&s->tip, 0, "%s take %s, reference %s",
                format_si((double)size_class_floor((uint16_t)best->size_class), "B").text,
                format_duration((double)best->recent_ns).text,
                format_duration((double)best->reference_ns).text);
}

static void evolution_add_row_tip(struct stage *s, const struct evolution_plot *p,
                                  const struct row *row)
{
    if (!box_has(row->box, s->brush.mouse_x, s->brush.mouse_y) || s->ui->mouse.dragging)
        return;
    const struct evolution_column *c = NULL;
    for (uint32_t i = 0; i < p->count; i++)
        if (fabs(s->brush.mouse_x - p->columns[i].x) <= p->columns[i].w / 2)
            c = &p->columns[i];
    struct latency_point at;
    char name[48];
    snprintf(name, sizeof name, "%s", row->name ? row->name : "");
    if (!row->name)
        snprintf(name, sizeof name, "region %llu", (unsigned long long)row->series->id);
    if (!c || s->brush.mouse_x < p->box.x || !evolution_at(row->series, c, &at)) {
        tooltip_add(&s->tip, 0, "%s", name);
        evolution_add_criterion_line(s, row->series);
        return;
    }
    tooltip_add(
        &s->tip, 0, at.windows > 1 ? "%s, %s to %s" : "%s, %s", name,
        format_clock((int64_t)(at.first * p->length_ns), p->length_ns < 1000000000).text,
        format_clock((int64_t)((at.last + 1) * p->length_ns), p->length_ns < 1000000000).text);
    if (!at.messages) {
        tooltip_add(&s->tip, 0, "no messages matched");
        return;
    }
    tooltip_add(&s->tip, s->brush.theme->text, "typically %s the reference",
                format_ratio(at.typical).text);
    tooltip_add(&s->tip, 0, "mean %s, of the recent level %s", format_ratio(at.reference).text,
                format_ratio(at.recent).text);
    tooltip_add(
        &s->tip, 0, "transfer time %s",
        format_duration_within(latency_transfer_ns(&at), (double)at.error_ns / (double)at.messages)
            .text);
    tooltip_add(&s->tip, s->brush.theme->text, "%s lost a window, over what messages normally take",
                format_duration(evolution_lost(&at)).text);
    tooltip_add(&s->tip, 0, "%s of %s messages delayed", quantity_grouped(at.delayed).text,
                quantity_grouped(at.messages).text);
    evolution_add_parts_line(s, &at);
    if (at.trend != TREND_CALM)
        tooltip_add(&s->tip, at.trend == TREND_GROWTH ? s->brush.theme->bad : s->brush.theme->warn,
                    at.trend == TREND_GROWTH ? "in a period of growth"
                                             : "in a steady period: high without return");
    evolution_add_criterion_line(s, row->series);
}

/* ---- the panel ---- */

static void evolution_add_background(const struct stage *s, const struct row *row)
{
    const struct theme *t = s->brush.theme;
    int selected = !row->name && s->ui->selection.kind == SELECT_REGION &&
                   s->ui->selection.a == row->series->id;
    int hover = box_has(row->box, s->brush.mouse_x, s->brush.mouse_y);
    struct box box = box_inset(row->box, 4, 0);
    if (selected || hover)
        scene_rect(s->brush.scene, box, 3,
                   selected ? t->raised : color_mix(t->panel, t->raised, 0.5));
    if (selected)
        scene_rect(s->brush.scene, (struct box){box.x, box.y + 2, 3, box.h - 4}, 1.5, t->accent);
}

static void evolution_add_row_hits(const struct stage *s, const struct evolution_plot *p,
                                   const struct row *row, uint32_t number)
{
    struct scene *scene = s->brush.scene;
    struct box label = {row->box.x, row->box.y, p->box.x - row->box.x, row->box.h};
    struct box time = {p->box.x, row->box.y, p->box.w, row->box.h};
    for (int part = 0; part < 2; part++) {
        struct scene_hit *hit =
            scene_hit(scene, part ? time : label, row->name ? HIT_SERIES : HIT_REGION,
                      row->name ? row->series->scope : row->series->id, 0);
        if (part && !p->compressed) {
            hit->x0 = (double)p->line->begin;
            hit->x1 = (double)p->line->end;
        }
        if (!part && !row->name) {
            hit->list = LIST_SERIES + 1;
            hit->row = number;
            hit->selected =
                s->ui->selection.kind == SELECT_REGION && s->ui->selection.a == row->series->id;
        }
    }
}

/* Axis of compressed time: a bracket over three circles and the length of the segment. */
static void evolution_add_compressed_axis(const struct stage *s, const struct evolution *e,
                                          const struct evolution_plot *p)
{
    const struct theme *t = s->brush.theme;
    double y = p->box.y + p->box.h, free_from = p->box.x - 30;
    for (uint32_t i = 0; i < e->segment_count; i++) {
        const struct evolution_segment *seg = &e->segments[i];
        double x0 = evolution_x(p, seg->first), x1 = evolution_x(p, seg->last + 1);
        struct quantity text;
        if (i + 1 == e->segment_count && p->count)
            x1 = p->columns[p->count - 1].x + p->columns[p->count - 1].w / 2;
        if (seg->calm) {
            double length = (double)(seg->last - seg->first + 1) * (double)p->length_ns;
            scene_rect(s->brush.scene, (struct box){x0 + 3, y + 1, x1 - x0 - 6, 1}, 0, t->faint);
            scene_rect(s->brush.scene, (struct box){x0 + 3, y - 2, 1, 4}, 0, t->faint);
            scene_rect(s->brush.scene, (struct box){x1 - 4, y - 2, 1, 4}, 0, t->faint);
            if (length >= 120e9 && length < 3600e9) /* seconds are omitted */
                text = quantity_print("%.0f\xc2\xa0min", length / 60e9);
            else
                text = format_duration(length);
        } else {
            text = format_clock((int64_t)(seg->first * p->length_ns), 0);
            scene_line(s->brush.scene, floor(x0) + 0.5, p->box.y, floor(x0) + 0.5, y, 1, t->line);
        }
        double w = scene_width(s->brush.scene, TEXT_AXIS, TEXT_FIGURES, text.text) + 1;
        double x = seg->calm ? (x0 + x1 - w) / 2 : x0;
        if (x < free_from + 6 || x + w > p->box.x + p->box.w + 40)
            continue;
        scene_text(s->brush.scene, x, y + 4, w, TEXT_AXIS, TEXT_FIGURES,
                   seg->calm ? t->faint : t->second, text.text);
        free_from = x + w;
    }
}

/* What marks and colours mean, in a line of its own: beside the title one of both would be cut. */
static void evolution_add_legend(const struct stage *s, double left, double right, double y)
{
    const struct theme *t = s->brush.theme;
    for (int steady = 0; steady < 2; steady++) {
        const char *word = steady ? "high" : "growth";
        double w = scene_width(s->brush.scene, TEXT_AXIS, 0, word);
        (steady ? evolution_add_steady_mark : evolution_add_growth_mark)(s, left, left + 24,
                                                                         y + 10);
        scene_text(s->brush.scene, left + 30, y, w + 1, TEXT_AXIS, 0, t->second, word);
        left += w + 44;
    }
    widget_latency_legend(&s->brush, right, y);
}

static void evolution_add_title(const struct stage *s, struct box box, uint32_t shown, uint32_t all)
{
    static const char *const labels[] = {"as it ran", "compressed"};
    char what[160];
    double left = box.x + 12, right = box.x + box.w - 12;
    right -=
        widget_choice(&s->brush, right, box.y + 5, labels, 2, s->ui->compress, COMMAND_COMPRESS) +
        8;
    if (shown == 0 && all > 0) /* there is room for the job only */
        snprintf(what, sizeof what, "of the job; colour: times the reference; size: time lost");
    else if (shown < all)
        snprintf(what, sizeof what,
                 "%u of %u regions, slowest first; colour: times the reference; size: time lost",
                 shown, all);
    else
        snprintf(what, sizeof what, "colour: times the reference; size: time lost");
    widget_title(&s->brush, left, box.y + 6, right - left, "Latency by region", what);
}

static void evolution_add_row(struct stage *s, const struct evolution_plot *p, struct row *row,
                              uint32_t number)
{
    evolution_add_background(s, row);
    evolution_add_label(s, p, row);
    scene_rect(s->brush.scene,
               (struct box){p->box.x, floor(row->box.y + row->box.h / 2 - 1), p->box.w, 1}, 0,
               s->brush.theme->grid);
    evolution_add_circles(s, p, row);
    evolution_add_marks(s, p, row);
    evolution_add_reading(s, p, row);
    evolution_add_row_hits(s, p, row, number);
    evolution_add_row_tip(s, p, row);
}

/* Rows of the job and the localities. @return number of rows */
static uint32_t evolution_add_fixed_rows(struct stage *s, const struct evolution_plot *p,
                                         struct box rows, double row_h, uint32_t most)
{
    static const char *const names[FIXED] = {"job", "intra-node", "inter-node"};
    const struct latency *l = &s->model->latency;
    uint32_t n = 0;
    double scale = 0; /* one for all, so that what is lost within and between nodes compares */
    for (uint32_t scope = SERIES_JOB; scope < SERIES_REGION; scope++)
        scale = fmax(scale, evolution_most_lost(latency_find(l, (enum series_scope)scope, 0), p));
    for (uint32_t scope = SERIES_JOB; scope < SERIES_REGION && n < most; scope++) {
        const struct latency_series *series = latency_find(l, (enum series_scope)scope, 0);
        struct row row = {
            series, names[scope], {rows.x, rows.y + n * row_h, rows.w - 8, row_h}, scale};
        if (!evolution_has_messages(series))
            continue;
        evolution_add_row(s, p, &row, 0);
        n++;
    }
    return n;
}

static uint32_t evolution_add_region_rows(struct stage *s, const struct evolution_plot *p,
                                          const struct evolution *e, struct box rows, double row_h)
{
    const struct latency *l = &s->model->latency;
    uint32_t last, first = piece_list(s, rows, LIST_SERIES, e->order_count, row_h, &last);
    double scale = 0;
    for (uint32_t i = first; i < last; i++)
        scale = fmax(scale, evolution_most_lost(&l->series[e->order[i]], p));
    for (uint32_t i = first; i < last; i++) {
        struct row row = {&l->series[e->order[i]],
                          NULL,
                          {rows.x, rows.y + (i - first) * row_h, rows.w - 8, row_h},
                          scale};
        evolution_add_row(s, p, &row, i);
    }
    return last - first;
}

void evolution_layout(struct stage *s, struct box box, const struct timeline *line)
{
    const struct window_totals *newest = series_newest(&s->model->series);
    const struct evolution *e = evolution_update(s);
    uint32_t fixed = evolution_fixed_rows(s->model);
    /* in a low window rows go before what marks and colours mean */
    int legend = box.h >= HEAD + FOOT + fmin(fixed + e->order_count, 3) * ROW;
    double head = legend ? HEAD : TITLE;
    struct box rows = {box.x, box.y + head, box.w, box.h - head - FOOT};
    struct evolution_plot p = {.line = line,
                               .box = {line->x, rows.y, line->w, rows.h},
                               .length_ns = newest ? newest->length_ns : 1,
                               .compressed = s->ui->compress};
    piece_panel(s, box, "evolution");
    evolution_columns(s, e, &p);
    uint32_t room = (uint32_t)fmax(floor(rows.h / ROW), 1);
    fixed = room >= fixed + (e->order_count > 1 ? 2 : 1) ? fixed : 1;
    uint32_t wanted = fixed + e->order_count;
    double row_h = fmin(floor(rows.h / (wanted < room ? wanted : room)), TALLEST);
    if (!p.compressed) {
        struct scene_hit *hit = scene_hit(s->brush.scene, p.box, HIT_TIME, 2, 0);
        hit->x0 = (double)line->begin;
        hit->x1 = (double)line->end;
    }
    fixed = evolution_add_fixed_rows(s, &p, rows, row_h, fixed);
    rows.y += fixed * row_h;
    rows.h -= fixed * row_h;
    uint32_t shown = rows.h >= row_h ? evolution_add_region_rows(s, &p, e, rows, row_h) : 0;
    if (legend)
        evolution_add_legend(s, box.x + 12, box.x + box.w - 12, box.y + TITLE);
    evolution_add_title(s, box, shown, e->order_count);
    if (p.compressed) {
        evolution_add_compressed_axis(s, e, &p);
    } else {
        timeline_axis(s, line, p.box.y + p.box.h + 3);
        timeline_cursor(s, line, p.box);
    }
}
