/* View "alerts": a list of the job's alerts, the evidence of the selected one, and where there is
 * room the latency in which it shows. */
#include "viewer/views/views.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/alerts/evidence.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/common/timeline.h"
#include "viewer/views/live/view_live_parts.h"

#include <math.h>
#include <stdio.h>

/* HEAD: what is above and below the rows. NAMES and FIGURES: beside the circles of latency. */
enum {
    ROW = 30,
    TALL_ROW = 46,
    HEAD = 70,
    DETAIL = 400,
    GAP = 10,
    NAMES = 84,
    FIGURES = 108,
    REGIONS = 12
};
enum { STATE, ONSET, LENGTH, TITLE, WHERE, RATIO, CAPTURED, UPDATES, COLUMNS };

static const struct table alerts_table = {
    .columns =
        {
            [STATE] = {"state", 92, 0, 0},
            [ONSET] = {"onset", 76, TEXT_RIGHT, 0},
            [LENGTH] = {"lasts", 96, TEXT_RIGHT, 0, 3},
            [TITLE] = {"what", 0, TEXT_CLAUSES, 0},
            [WHERE] = {"where", 240, 0, 0, 1},
            [RATIO] = {"ratio", 88, TEXT_RIGHT, 0, 2},
            [CAPTURED] = {"captured", 84, TEXT_RIGHT, 0, 4},
            [UPDATES] = {"updates", 74, TEXT_RIGHT, 0, 5},
        },
    .count = COLUMNS,
    .list = LIST_ALERTS,
};

/* A shape for each state, so that states differ without colour: full disc, ring, tick. */
static void alerts_view_add_state_mark(const struct stage *s, double x, double y,
                                       const struct alert *a)
{
    color_t color = evidence_color(s->brush.theme, a);
    if (a->state == ALERT_FIRING) {
        scene_disc(s->brush.scene, x, y, 4.5, color);
    } else if (a->state == ALERT_PENDING) {
        scene_outline(s->brush.scene, (struct box){x - 4.5, y - 4.5, 9, 9}, 4.5, 1.6, color);
    } else {
        scene_points(s->brush.scene);
        scene_point(s->brush.scene, x - 4, y);
        scene_point(s->brush.scene, x - 1, y + 3.5);
        scene_point(s->brush.scene, x + 4.5, y - 4);
        scene_curve(s->brush.scene, 1.6, color);
    }
}

/* Number of calls captured for the alert; a click shows them. */
static void alerts_view_add_captured_cell(const struct stage *s, const struct table *table,
                                          struct box row, const struct alert *a)
{
    const struct capture *c = captures_of_alert(&s->model->captures, a);
    struct box box = column_box(table, CAPTURED, row.x, row.w);
    if (!c || box.w <= 0)
        return;
    widget_cell(&s->brush, table, row, CAPTURED, s->brush.theme->info,
                quantity_print("%s calls", format_si((double)c->calls, "").text).text);
    scene_hit(s->brush.scene, (struct box){box.x, row.y, box.w, row.h}, HIT_BUTTON, COMMAND_CAPTURE,
              c->id);
}

/* The title, in two lines where the rows are tall. */
static void alerts_view_add_title_cell(const struct stage *s, const struct table *table,
                                       struct box row, color_t color, const struct alert *a)
{
    const struct box box = column_box(table, TITLE, row.x, row.w);
    if (row.h < TALL_ROW - 1 ||
        scene_width(s->brush.scene, TEXT_BODY, TEXT_FIGURES, a->title) <= box.w) {
        widget_cell(&s->brush, table, row, TITLE, color, a->title);
        return;
    }
    s->brush.scene->cell = TITLE + 1;
    scene_paragraph(s->brush.scene, box.x, row.y + 5, box.w, TEXT_BODY, color, 2, a->title);
    s->brush.scene->cell = 0;
}

static void alerts_view_add_alert_row(struct stage *s, const struct table *table, struct box row,
                                      const struct alert *a, uint32_t at)
{
    const struct theme *t = s->brush.theme;
    color_t color = a->state == ALERT_RESOLVED ? t->second : t->text;
    char text[700];
    piece_row(s, row, HIT_ALERT, a->id, 0, s->ui->alert_picked && s->ui->alert == a->id,
              LIST_ALERTS, at);
    struct box state = column_box(table, STATE, row.x, row.w);
    const double middle = row.y + floor((row.h + 1) / 2);
    alerts_view_add_state_mark(s, state.x + 8, middle, a);
    scene_text(s->brush.scene, state.x + 20, middle - 9, state.w - 20, TEXT_BODY, 0,
               evidence_color(t, a), evidence_state(a));
    widget_cell(&s->brush, table, row, ONSET, color, format_clock((int64_t)a->onset_ns, 0).text);
    widget_cell(&s->brush, table, row, LENGTH, color,
                format_duration((double)alert_length_ns(a, model_now_ns(s->model))).text);
    alerts_view_add_title_cell(s, table, row, color, a);
    evidence_where(a, text, sizeof text);
    widget_cell(&s->brush, table, row, WHERE, t->second, text);
    widget_cell(&s->brush, table, row, RATIO, color,
                isnan(a->ratio)
                    ? ""
                    : quantity_print("%s %s", a->state == ALERT_RESOLVED ? "worst" : "now",
                                     format_ratio(alert_ratio(a)).text)
                          .text);
    alerts_view_add_captured_cell(s, table, row, a);
    widget_cell(&s->brush, table, row, UPDATES, t->second, quantity_grouped(a->updates).text);
}

static const struct alert *alerts_view_find_shown(const struct stage *s)
{
    const struct alerts *all = &s->model->alerts;
    const struct alert *a = s->ui->alert_picked ? alerts_find(all, s->ui->alert) : NULL;
    for (uint32_t i = 0; i < all->count && !a; i++)
        if (all->items[i].state == ALERT_FIRING)
            a = &all->items[i];
    return a ? a : &all->items[0];
}

/* Give the columns the width that their texts need. @return the height of a row: for two lines if
 * the titles need that */
static double alerts_view_measure(const struct stage *s, struct table *table, double w)
{
    const struct alerts *all = &s->model->alerts;
    char where[700];
    double longest = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct alert *a = &all->items[i];
        longest = fmax(longest, scene_width(s->brush.scene, TEXT_BODY, TEXT_FIGURES, a->title));
        table_need(&s->brush, table, TITLE, a->title);
        evidence_where(a, where, sizeof where);
        table_need(&s->brush, table, WHERE, where);
    }
    return longest <= column_box(table, TITLE, 0, w).w ? ROW : TALL_ROW;
}

/* @return the end of the panel, which is as high as its list */
static double alerts_view_add_list_panel(struct stage *s, struct box panel)
{
    const struct alerts *all = &s->model->alerts;
    struct table table = alerts_table;
    char what[160];
    const double height = alerts_view_measure(s, &table, panel.w - 20);
    panel = piece_list_panel(panel, HEAD, all->count, height);
    piece_panel(s, panel, "alerts");
    snprintf(what, sizeof what, "%u firing, %u pending, %u resolved",
             alerts_count(all, ALERT_FIRING), alerts_count(all, ALERT_PENDING),
             alerts_count(all, ALERT_RESOLVED));
    if (all->dropped)
        text_append(what, sizeof what, "; %llu older ones are no longer listed",
                    (unsigned long long)all->dropped);
    widget_title(&s->brush, panel.x + 12, panel.y + 7, panel.w - 24, "Alerts", what);
    struct box head = {panel.x + 8, panel.y + 38, panel.w - 20, 24};
    struct box list = {head.x, head.y + 26, head.w + 8, panel.h - HEAD};
    uint32_t last, first = piece_list(s, list, LIST_ALERTS, all->count, height, &last);
    widget_table_head(&s->brush, &table, head, -1, 0);
    for (uint32_t i = first; i < last; i++)
        alerts_view_add_alert_row(
            s, &table, (struct box){list.x, list.y + (i - first) * height, head.w, height - 1},
            &all->items[i], i);
    return panel.y + panel.h;
}

static void alerts_view_add_latency(struct stage *s, struct box box)
{
    struct timeline line = {box.x + NAMES, box.w - NAMES - FIGURES, 0, 0};
    if (!evolution_known(s->model) || box.h < evolution_height(s->model, 1, 0))
        return;
    box.h = fmin(box.h, evolution_height(s->model, REGIONS, 1));
    ui_visible(s->ui, s->model, &line.begin, &line.end);
    evolution_layout(s, box, &line);
}

static void alerts_view_add_detail_panel(struct stage *s, struct box box)
{
    const struct alert *a = alerts_view_find_shown(s);
    scene_panel(s->brush.scene, box, 0, "alerts.evidence");
    if (evidence_card(s, box, a, EVIDENCE_FULL) <= 0 &&
        evidence_card(s, box, a, EVIDENCE_CARD) <= 0)
        evidence_card(s, box, a, EVIDENCE_LINE);
}

/* Without alerts, latency has the rest of the window. */
static void alerts_view_add_none(struct stage *s, struct box box)
{
    const struct box panel = {box.x, box.y, box.w, fmin(box.h, PIECE_EMPTY_HEIGHT)};
    const double y = panel.y + panel.h + GAP;
    piece_panel(s, panel, "alerts");
    widget_title(&s->brush, panel.x + 12, panel.y + 7, panel.w - 24, "Alerts", "");
    piece_empty(s, panel, model_ended(s->model) ? "No alert" : "No alert so far",
                "Growing latency, hangs, ranks that died and lost data appear here.");
    alerts_view_add_latency(s, (struct box){box.x, y, box.w, box.y + box.h - y});
}

static void alerts_layout(struct stage *s, struct box box)
{
    struct box inner = box_inset(box, 14, 10);
    if (!s->model->alerts.count) {
        alerts_view_add_none(s, inner);
        return;
    }
    if (inner.w > DETAIL * 2.2) {
        double w = inner.w - DETAIL - GAP;
        double y = GAP + alerts_view_add_list_panel(s, (struct box){inner.x, inner.y, w, inner.h});
        alerts_view_add_latency(s, (struct box){inner.x, y, w, inner.y + inner.h - y});
        alerts_view_add_detail_panel(
            s, (struct box){inner.x + inner.w - DETAIL, inner.y, DETAIL, inner.h});
        return;
    }
    const double most = fmax(floor(inner.h * 0.42), HEAD + 1 + TALL_ROW),
                 y = GAP +
                     alerts_view_add_list_panel(s, (struct box){inner.x, inner.y, inner.w, most}),
                 h = inner.y + inner.h - y;
    if (h > 60 - GAP)
        alerts_view_add_detail_panel(s, (struct box){inner.x, y, inner.w, h});
}

static void alerts_icon(const struct brush *b, struct box box, color_t color)
{
    double x = box.x + box.w / 2, top = box.y + 1, foot = box.y + 15;
    static const double bell[][2] = {{-8, 15},   {-6, 12}, {-5.5, 6}, {-3.5, 2.5}, {0, 1},
                                     {3.5, 2.5}, {5.5, 6}, {6, 12},   {8, 15},     {-8, 15}};
    scene_points(b->scene);
    for (size_t i = 0; i < sizeof bell / sizeof *bell; i++)
        scene_point(b->scene, x + bell[i][0], top + bell[i][1]);
    scene_curve(b->scene, 1.6, color);
    scene_disc(b->scene, x, foot + 3.4, 1.8, color);
}

const struct view alerts_view = {.icon = alerts_icon, .layout = alerts_layout};
