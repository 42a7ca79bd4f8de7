/* View "overview": is the job well and since when, the pattern of communication with the alerts on
 * it, and below that, from left to right, where, why and what to do; of a job that is well, what it
 * does: who talks to whom, its rates, its balance. Of a job of whose links only counters are known,
 * these. */
#include "viewer/views/overview/overview_parts.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/alerts/evidence.h"
#include "viewer/views/commgram/view_commgram_parts.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/links/view_links.h"
#include "viewer/views/live/view_live_parts.h"
#include "viewer/views/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERDICT = 58, AXIS = 20, GAP = 8, FIRST = 66, NAMES = 84, FIGURES = 108 };
/* Of a fault: the least heights of the curve and of what the job does, rows of latency at most. */
enum { CURVE = 140, CALM = 200, REGIONS = 12 };

/* The alert that the overview is about: the picked one, else of those that fire, or are pending,
 * the worst. NULL: the job is well. */
static const struct alert *overview_alert(const struct stage *s)
{
    static const enum alert_state order[] = {ALERT_FIRING, ALERT_PENDING};
    const struct alerts *all = &s->model->alerts;
    const struct alert *worst = s->ui->alert_picked ? alerts_find(all, s->ui->alert) : NULL;
    for (size_t k = 0; k < 2 && !worst; k++)
        for (uint32_t i = 0; i < all->count; i++)
            if (all->items[i].state == order[k] &&
                (!worst || alert_is_worse(&all->items[i], worst)))
                worst = &all->items[i];
    return worst;
}

/* ---- the verdict ---- */

/* "running for 12 min", "ended after 49 s", and that a replay shows it. */
static void overview_format_life(const struct stage *s, char *out, size_t room)
{
    const struct model *m = s->model;
    int64_t begin, end;
    ui_whole_time(m, &begin, &end);
    int64_t start = m->start_ns ? (int64_t)m->start_ns : begin;
    int64_t until = m->end_ns ? (int64_t)m->end_ns : end;
    struct quantity length = format_duration((double)(until > start ? until - start : 0));
    snprintf(out, room, "%s%s %s", m->playback.known ? "replay: " : "",
             model_ended(m)      ? m->state
             : m->playback.known ? "at"
                                 : "running for",
             length.text);
    if (model_is_timeless(m))
        snprintf(out, room, "imported, without times");
    else if (model_ended(m))
        snprintf(out, room, "%s%s after %s", m->playback.known ? "replay: " : "", m->state,
                 length.text);
}

static void overview_format_cost(const struct stage *s, const struct alert *a, char *out,
                                 size_t room)
{
    int over = a->state == ALERT_RESOLVED;
    struct quantity length = format_duration((double)alert_length_ns(a, model_now_ns(s->model)));
    uint32_t more = alerts_count(&s->model->alerts, ALERT_FIRING) - (a->state == ALERT_FIRING);
    struct quantity onset = format_clock((int64_t)a->onset_ns, 0);
    if (strstr(a->title, onset.text))
        snprintf(out, room, "for %s", length.text);
    else
        snprintf(out, room, "%s %s, for %s", over ? "was so from" : "since", onset.text,
                 length.text);
    if (!isnan(a->progress) && a->lost_ns > 0) /* its progress is in the title */
        text_append(out, room, "; the job %s %s", over ? "lost" : "has lost",
                    format_duration((double)a->lost_ns).text);
    if (more)
        text_append(out, room, "; %s", quantity_things(more, "more alert").text);
}

/* The largest latency of a region, or of the job, in a window that has a colour of alarm in the
 * strip: there may be one without an alert. */
static void overview_format_highest(const struct latency *l, char *out, size_t room)
{
    const struct latency_series *worst = NULL;
    double most = 0;
    uint32_t above = 0;
    for (uint32_t i = 0; i < l->series_count; i++) {
        const struct latency_series *series = &l->series[i];
        double highest = 0;
        if (series->scope != SERIES_REGION && series->scope != SERIES_JOB)
            continue;
        for (uint32_t k = 0; k < series->count; k++)
            if (series->points[k].highest >=
                (series->points[k].trend == TREND_CALM ? EVOLUTION_UNUSUAL : EVOLUTION_CALM))
                highest = fmax(highest, series->points[k].highest);
        above += highest > 0 && series->scope == SERIES_REGION;
        if (highest > most) {
            most = highest;
            worst = series;
        }
    }
    out[0] = 0;
    if (!worst)
        return;
    const struct quantity ratio = format_ratio(most);
    if (worst->scope == SERIES_JOB)
        snprintf(out, room, "; latency of the job was up to %s of the reference", ratio.text);
    else
        snprintf(out, room, "; latency of region %llu was up to %s of the reference",
                 (unsigned long long)worst->id, ratio.text);
    above -= worst->scope == SERIES_REGION;
    if (above)
        text_append(out, room, ", high in %u %sregion%s too", above,
                    worst->scope == SERIES_REGION ? "more " : "", above == 1 ? "" : "s");
}

/* Links that are congested in the newest window, though no latency grows. */
static void overview_format_congested(const struct stage *s, char *out, size_t room)
{
    const struct network *n = &s->model->network;
    const uint64_t count = model_ended(s->model) ? 0 : n->counts.states[LINK_CONGESTED];
    char name[2 * TOPOLOGY_NAME + 8];
    out[0] = 0;
    for (uint32_t i = 0; count == 1 && n->topology && i < n->link_count && !out[0]; i++)
        if (n->links[i].state == LINK_CONGESTED)
            snprintf(out, room, "; link %s is congested",
                     network_link_name(n, (uint32_t)n->links[i].link, name, sizeof name));
    if (count > 0 && !out[0])
        snprintf(out, room, "; %s link%s congested", quantity_grouped(count).text,
                 count == 1 ? " is" : "s are");
}

/* Headline and details of a job without a pending or firing alert. */
static const char *overview_format_calm(const struct stage *s, char *out, size_t room)
{
    const struct alerts *all = &s->model->alerts;
    uint32_t resolved = alerts_count(all, ALERT_RESOLVED);
    uint64_t lost_ns = 0;
    for (uint32_t i = 0; i < all->count; i++)
        lost_ns += all->items[i].lost_ns;
    char highest[160], congested[160];
    const struct quantity alerts = quantity_things(resolved, "alert");
    overview_format_highest(&s->model->latency, highest, sizeof highest);
    overview_format_congested(s, congested, sizeof congested);
    if (!resolved)
        snprintf(out, room, "no alert%s%s%s", model_ended(s->model) ? "" : " so far", congested,
                 highest);
    else if (lost_ns)
        snprintf(out, room, "%s, all resolved; the job lost %s%s", alerts.text,
                 format_duration((double)lost_ns).text, congested);
    else
        snprintf(out, room, "%s, all resolved%s", alerts.text, congested);
    return !strcmp(s->model->state, "died")        ? "The job died"
           : !strcmp(s->model->state, "lost")      ? "The job was lost"
           : !strcmp(s->model->state, "cut short") ? "The recording ends before the job"
           : model_ended(s->model)                 ? "The job has ended"
           : resolved                              ? "The job is well again"
                                                   : "The job is well";
}

static void overview_add_verdict(struct stage *s, struct box box, const struct alert *a)
{
    const struct theme *t = s->brush.theme;
    struct scene *scene = s->brush.scene;
    char life[128], cost[256];
    int bad = a && a->state != ALERT_RESOLVED,
        died = !strcmp(s->model->state, "died") || !strcmp(s->model->state, "lost");
    color_t color = a ? evidence_color(t, a) : died ? t->bad : t->good;
    piece_panel(s, box, "overview.verdict");
    double x = box.x + 24, y = box.y + box.h / 2;
    if (bad || died) { /* a diamond; a disc of a job that is well: its shape differs as well as its
                          colour */
        const struct point corners[] = {{x, y - 10}, {x + 10, y}, {x, y + 10}, {x - 10, y}};
        scene_shape(scene, corners, 4, color);
    } else {
        scene_disc(scene, x, y, 8, color);
    }
    overview_format_life(s, life, sizeof life);
    double w = scene_width(scene, TEXT_SMALL, 0, life) + 1, left = box.x + 46;
    double room = box.x + box.w - 14 - left;
    if (w < room * 0.4) {
        scene_text(scene, box.x + box.w - 14 - w, box.y + 9, w, TEXT_SMALL, 0, t->second, life);
        room -= w + 16;
    }
    const char *title = a ? a->title : overview_format_calm(s, cost, sizeof cost);
    if (a)
        overview_format_cost(s, a, cost, sizeof cost);
    scene_text(scene, left, box.y + 7, room, TEXT_TITLE, TEXT_CLAUSES,
               bad || died ? color : t->text, title);
    scene_text(scene, left, box.y + 29, box.x + box.w - 14 - left, TEXT_SMALL, TEXT_CLAUSES,
               t->second, cost);
    if (a)
        scene_hit(scene, box, HIT_ALERT, a->id, 0);
}

/* ---- the parts below the curve ---- */

/* Three panels side by side, or two in a narrow window and where there is height for two in one
 * column. @return how many */
static int overview_split(const struct stage *s, struct box box, struct box out[3])
{
    if (box.w >= 620 && box.h < 640 && !model_is_one_window(s->model)) {
        double w = floor((box.w - 2 * GAP) / 3);
        for (int i = 0; i < 3; i++)
            out[i] = (struct box){box.x + i * (w + GAP), box.y, w, box.h};
        return 3;
    }
    double w = floor((box.w - GAP) / 2);
    for (int i = 0; i < 2; i++)
        out[i] = (struct box){box.x + i * (w + GAP), box.y, w, box.h};
    return 2;
}

/* Three lines on what one sees. */
static void overview_add_first(const struct stage *s, struct box box)
{
    static const char *const lines[] = {
        "The curve is the pattern of communication: flat while it stays, a step where it changes.",
        "Below it: where something is wrong, why, and what to do; of a calm job, what it does.",
        "Click anything: it is selected in all views. The rail leads to the rooms, ? to the keys."};
    scene_panel(s->brush.scene, box, 0, "overview.first");
    for (int i = 0; i < 3; i++)
        scene_text(s->brush.scene, box.x + 2, box.y + 4 + i * 20, box.w - 100, TEXT_SMALL, 0,
                   s->brush.theme->second, lines[i]);
    double w = scene_width(s->brush.scene, TEXT_SMALL, 0, "understood") + 20;
    widget_button(&s->brush, box.x + box.w - w, box.y + 20, "understood", 0, COMMAND_UNDERSTOOD, 0);
}

/* The visible time. Where latency is shown below the curve, both have the same scale. */
static struct timeline overview_line(const struct stage *s, struct box box, int gutters)
{
    struct timeline line = {box.x + (gutters ? NAMES : 10),
                            box.w - (gutters ? NAMES + FIGURES : 20), 0, 0};
    ui_visible(s->ui, s->model, &line.begin, &line.end);
    return line;
}

static void overview_add_curve(struct stage *s, struct box box, const struct timeline *line)
{
    struct pictures *pictures = s->pictures;
    if (!pictures->commgram && !(pictures->commgram = calloc(1, sizeof *pictures->commgram)))
        return;
    strip_curve_layout(s, pictures->commgram, box, line);
    struct box axis = {box.x, box.y + box.h, box.w, AXIS};
    scene_panel(s->brush.scene, axis, 0, "overview.axis");
    timeline_axis(s, line, axis.y + 2);
}

/* Heights of the parts from the curve on. */
struct heights {
    double curve, parts, evolution, rest; /* 0: not shown */
};

/* The curve and what is below it come first, then latency by region, which shows since when; in a
 * large window what the job does stands below a fault, too. What is left over is the curve's.
 * @param fault  what the parts of a fault take; 0: the job is well */
static struct heights overview_split_height(const struct stage *s, double room, double fault)
{
    if (model_is_one_window(s->model))
        return (struct heights){.parts = room};
    struct heights h = {.curve = floor(fmin(fmax(room * 0.32, 84), 220))};
    double least = fault > 0 ? fault : 254, below = room - h.curve - AXIS - 4;
    if (below - 4 < 120)
        h.curve = fmax(room - AXIS, 60);
    below = room - h.curve - AXIS - 4;
    h.parts = below < 100 ? 0 : below;
    if (evolution_known(s->model) && below >= least + GAP + evolution_height(s->model, 1, 0)) {
        h.evolution = fmin(below - least - GAP, evolution_height(s->model, REGIONS, 1));
        h.parts = below - h.evolution - GAP;
    }
    double more = h.parts - least;
    if (fault > 0 && more + h.curve - CURVE > CALM + GAP) {
        h.curve -= fmax(CALM + GAP - more, 0);
        h.rest = fmax(more - GAP, CALM);
        h.parts = least;
    } else if (fault > 0 || (h.evolution > 0 && more > 80)) {
        more = fault > 0 ? fmax(more, 0) : fmin(floor(more / 2), 100);
        h.curve += more;
        h.parts -= more;
    }
    return h;
}

static void overview_layout(struct stage *s, struct box box)
{
    const struct alert *a = overview_alert(s);
    struct box inner = box_inset(box, 14, 8), parts[3];
    double y = inner.y, foot = inner.y + inner.h;
    if (!series_newest(&s->model->series)) {
        piece_panel(s, inner, "overview");
        piece_empty(s, inner, "Waiting for the first window",
                    "Figures appear one window after the ranks have called MPI_Init.");
        return;
    }
    overview_add_verdict(s, (struct box){inner.x, y, inner.w, VERDICT}, a);
    y += VERDICT + GAP;
    if (s->ui->overlay.first_run && foot - y > 320) {
        overview_add_first(s, (struct box){inner.x, y, inner.w, FIRST});
        y += FIRST;
    }
    if (!a && piece_loads_are_measured(s) && !s->model->pairs.keys.count) {
        hot_links_layout(s, (struct box){inner.x, y, inner.w, foot - y});
        return;
    }
    int count = overview_split(s, (struct box){inner.x, y, inner.w, 0}, parts);
    struct heights h =
        overview_split_height(s, foot - y, a ? overview_fault_height(s, a, parts, count) : 0);
    struct timeline line = overview_line(s, inner, h.evolution > 0);
    if (h.curve > 0) {
        overview_add_curve(s, (struct box){inner.x, y, inner.w, h.curve}, &line);
        y += h.curve + AXIS + 4;
    }
    if (h.parts <= 0)
        return;
    count = overview_split(s, (struct box){inner.x, y, inner.w, h.parts}, parts);
    if (a)
        overview_add_fault(s, a, parts, count);
    else
        overview_add_calm(s, parts, count);
    y += h.parts + GAP;
    if (h.evolution > 0) {
        evolution_layout(s, (struct box){inner.x, y, inner.w, h.evolution}, &line);
        y += h.evolution + GAP;
    }
    if (h.rest <= 0)
        return;
    count = overview_split(s, (struct box){inner.x, y, inner.w, h.rest}, parts);
    overview_add_calm(s, parts, count);
}

static void overview_icon(const struct brush *b, struct box box, color_t color)
{
    static const double beat[][2] = {{0, 0.5},   {0.3, 0.5}, {0.38, 0.3}, {0.48, 0.85},
                                     {0.6, 0.1}, {0.7, 0.5}, {1, 0.5}};
    scene_points(b->scene);
    for (size_t i = 0; i < sizeof beat / sizeof *beat; i++)
        scene_point(b->scene, box.x + beat[i][0] * box.w, box.y + beat[i][1] * box.h);
    scene_curve(b->scene, 1.8, color);
}

const struct view overview_view = {.icon = overview_icon, .layout = overview_layout};
