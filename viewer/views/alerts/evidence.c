/* Cards of alerts with their evidence, in three levels of detail. */
#include "viewer/views/alerts/evidence.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char dot[] = " \xc2\xb7 ";

/* Growth of more than this a minute is a step, whose slope says nothing. */
static const double STEP_SLOPE = 2;

enum { PAD = 14, CAUSE = 21, INDENT = 96 };

color_t evidence_color(const struct theme *t, const struct alert *a)
{
    return a->state == ALERT_FIRING ? t->bad : a->state == ALERT_PENDING ? t->warn : t->second;
}

static color_t evidence_ground(const struct theme *t, const struct alert *a)
{
    return a->state == ALERT_FIRING    ? t->bad_ground
           : a->state == ALERT_PENDING ? t->warn_ground
                                       : t->panel;
}

const char *evidence_state(const struct alert *a)
{
    static const char *const names[] = {"pending", "firing", "resolved"};
    return names[a->state];
}

/* Append a prefix and a text, unless the text is empty. */
static void evidence_append(char *out, size_t room, const char *before, const char *text)
{
    if (*text)
        text_append(out, room, "%s%s", before, text);
}

/* A list with a space after each comma, so that it can be broken between its parts. */
static void evidence_space_list(const char *list, char *out, size_t room)
{
    size_t n = 0;
    for (const char *c = list; *c && n + 3 < room; c++) {
        out[n++] = *c;
        if (*c == ',' && c[1] != ' ')
            out[n++] = ' ';
    }
    out[n] = 0;
}

void evidence_where(const struct alert *a, char *out, size_t room)
{
    char nodes[260], rank[32];
    *out = 0;
    if (a->region && !a->culprit[0])
        snprintf(out, room, "region %llu", (unsigned long long)a->region);
    if (a->ranks[0]) {
        evidence_append(out, room, "", *out ? dot : "");
        evidence_append(out, room, strpbrk(a->ranks, "-,") ? "ranks " : "rank ", a->ranks);
    } else if (a->rank >= 0) {
        snprintf(rank, sizeof rank, "rank %lld", (long long)a->rank);
        evidence_append(out, room, *out ? dot : "", rank);
    }
    evidence_space_list(a->nodes[0] ? a->nodes : a->host, nodes, sizeof nodes);
    evidence_append(out, room, *out ? " on " : "", nodes);
}

/* "since 14:02:11, inter-node, 64 KiB to 128 KiB"; the time stands in the titles of most. */
static void evidence_circumstances(const struct alert *a, char *out, size_t room)
{
    struct quantity onset = format_clock((int64_t)a->onset_ns, 0);
    *out = 0;
    if (!strstr(a->title, onset.text))
        evidence_append(out, room, "since ", onset.text);
    evidence_append(out, room, *out ? ", " : "",
                    strcmp(a->locality, "both") ? a->locality : "intra- and inter-node");
    evidence_append(out, room, *out ? ", " : "", a->sizes);
}

static void evidence_format_length(const struct stage *s, const struct alert *a, char *out,
                                   size_t room)
{
    snprintf(out, room,
             a->state == ALERT_RESOLVED  ? "resolved, %s"
             : a->state == ALERT_PENDING ? "pending, %s"
                                         : "%s",
             format_duration((double)alert_length_ns(a, model_now_ns(s->model))).text);
}

/* ---- the parts of a card: each returns the height it takes, and draws unless it only measures
 * ---- */

struct pen {
    struct stage *stage;
    double x, y, w;
    int draw;
    struct box capture; /* button that opens the alert's capture; width 0: it has none */
};

static void evidence_paragraph(struct pen *p, enum text_style style, color_t color, int lines,
                               const char *text)
{
    struct scene *scene = p->stage->brush.scene;
    if (!*text)
        return;
    double h = p->draw ? scene_paragraph(scene, p->x, p->y, p->w, style, color, lines, text)
                       : scene_paragraph_height(scene, p->w, style, lines, text);
    p->y += h + 4;
}

/* A text in one or two lines, in the middle of the height of the large figure beside it. */
static void evidence_add_beside(const struct pen *p, const char *text)
{
    struct scene *scene = p->stage->brush.scene;
    const int lines = scene_width(scene, TEXT_SMALL, 0, text) <= p->w ? 1 : 2;
    scene_paragraph(scene, p->x, p->y + (lines == 1 ? 10 : 2), p->w, TEXT_SMALL,
                    p->stage->brush.theme->second, lines, text);
}

static void evidence_add_ratio(struct pen *p, const struct alert *a)
{
    const struct theme *t = p->stage->brush.theme;
    char text[128];
    const int over = a->state == ALERT_RESOLVED;
    if (isnan(a->ratio))
        return;
    if (p->draw) {
        snprintf(text, sizeof text, "what it was%s", over ? " at worst" : "");
        if (!over && a->worst > a->ratio)
            evidence_append(text, sizeof text, ", at worst ", format_ratio(a->worst).text);
        if (!over && a->slope > 0 && a->slope < STEP_SLOPE)
            evidence_append(text, sizeof text, ", ", format_slope(a->slope).text);
        double used = scene_text(p->stage->brush.scene, p->x, p->y, p->w, TEXT_LARGE, 0,
                                 alert_ratio(a) > 1 ? evidence_color(t, a) : t->text,
                                 format_ratio(alert_ratio(a)).text);
        const struct pen beside = {
            .stage = p->stage, .x = p->x + used + 10, .y = p->y, .w = p->w - used - 10};
        evidence_add_beside(&beside, text);
    }
    p->y += 34;
}

/* What the alert costs, and whom it delays. */
static void evidence_add_cost(struct pen *p, const struct alert *a, int lines)
{
    char text[600], victims[2 * sizeof a->victims];
    if (!isnan(a->progress)) {
        const char *does = a->state == ALERT_RESOLVED ? "made" : "makes";
        if (a->progress < WIRE_PROGRESS_SLOWED)
            snprintf(text, sizeof text, "the job %s %.0f\xc2\xa0%% of its progress", does,
                     100 * a->progress);
        else
            snprintf(text, sizeof text, "the job %s progress as before", does);
        text_append(text, sizeof text, ", %s lost", format_duration((double)a->lost_ns).text);
        evidence_paragraph(p, TEXT_SMALL, p->stage->brush.theme->text, 2, text);
    }
    evidence_space_list(a->victims, victims, sizeof victims);
    snprintf(text, sizeof text, "delays ranks %s", victims);
    evidence_paragraph(p, TEXT_SMALL, p->stage->brush.theme->second, lines,
                       a->victims[0] ? text : "");
}

static void evidence_causes(struct pen *p, const struct alert *a, enum evidence_detail detail)
{
    uint32_t most = detail == EVIDENCE_FULL ? ALERT_CAUSES : 4;
    for (uint32_t i = 0; i < a->cause_count && i < most; i++) {
        if (p->draw)
            piece_cause(p->stage, (struct box){p->x, p->y + 1, p->w, CAUSE}, a, i);
        p->y += CAUSE;
        if (detail == EVIDENCE_FULL) {
            struct pen behind = *p;
            behind.x += INDENT;
            behind.w -= INDENT;
            evidence_paragraph(&behind, TEXT_AXIS, p->stage->brush.theme->second, 2,
                               a->causes[i].text);
            p->y = behind.y;
        }
    }
    p->y += a->cause_count ? 4 : 0;
}

/* Facts of the full level of detail only: rule, clock uncertainty, number of updates. */
static void evidence_provenance(struct pen *p, const struct alert *a)
{
    char text[256] = "";
    evidence_append(text, sizeof text, "rule ", a->rule);
    evidence_append(text, sizeof text, *text ? ", severity " : "severity ", a->severity);
    if (a->updates) {
        evidence_append(text, sizeof text,
                        *text ? ", updates: " : "updates: ", quantity_grouped(a->updates).text);
    }
    if (a->error_ns && a->error_ns != WIRE_ANY) {
        evidence_append(text, sizeof text,
                        *text ? ", clocks known to \xc2\xb1" : "clocks known to \xc2\xb1",
                        format_duration((double)a->error_ns).text);
    }
    evidence_paragraph(p, TEXT_AXIS, p->stage->brush.theme->second, 2, text);
}

static void evidence_title(struct pen *p, const struct alert *a, int lines)
{
    const struct theme *t = p->stage->brush.theme;
    struct scene *scene = p->stage->brush.scene;
    char length[96];
    evidence_format_length(p->stage, a, length, sizeof length);
    double w = fmin(scene_width(scene, TEXT_AXIS, TEXT_FIGURES, length) + 1, p->w * 0.5);
    double room = p->w - w - 10;
    if (p->draw) {
        scene_text(scene, p->x + p->w - w, p->y + 3, w, TEXT_AXIS, TEXT_FIGURES, t->second, length);
        scene_paragraph(scene, p->x, p->y, room, TEXT_TITLE, evidence_color(t, a), lines, a->title);
    }
    p->y += scene_paragraph_height(scene, room, TEXT_TITLE, lines, a->title) + 3;
}

static void evidence_captured(struct pen *p, const struct alert *a)
{
    const struct capture *c = captures_of_alert(&p->stage->model->captures, a);
    char text[128];
    if (!c)
        return;
    snprintf(text, sizeof text, "captured: %s", piece_capture_size(c).text);
    p->capture = (struct box){p->x, p->y - 2, p->w, text_line(TEXT_SMALL) + 4};
    evidence_paragraph(p, TEXT_SMALL, p->stage->brush.theme->info, 1, text);
}

static void evidence_body(struct pen *p, const struct alert *a, enum evidence_detail detail)
{
    const struct theme *t = p->stage->brush.theme;
    char text[700];
    int full = detail == EVIDENCE_FULL;
    evidence_title(p, a, 6);
    evidence_where(a, text, sizeof text);
    evidence_paragraph(p, TEXT_SMALL, t->text, full ? 4 : 3, text);
    if (detail == EVIDENCE_LINE)
        return;
    evidence_add_ratio(p, a);
    evidence_add_cost(p, a, full ? 3 : 1);
    if (isnan(a->ratio)) { /* else the text is of what stands here in parts */
        evidence_paragraph(p, TEXT_SMALL, t->text, full ? 6 : 4, a->text);
    } else if (full && a->alternatives[0]) {
        snprintf(text, sizeof text, "no message tells it apart from %s", a->alternatives);
        evidence_paragraph(p, TEXT_SMALL, t->second, 4, text);
    }
    evidence_circumstances(a, text, sizeof text);
    evidence_paragraph(p, TEXT_AXIS, t->second, 2, text);
    if (a->links[0]) {
        snprintf(text, sizeof text, "hot links on their routes: %s", a->links);
        evidence_paragraph(p, TEXT_SMALL, t->warn, full ? 4 : 2, text);
    }
    p->y += 2;
    evidence_causes(p, a, detail);
    evidence_paragraph(p, TEXT_SMALL, a->state == ALERT_RESOLVED ? t->second : t->accent,
                       full ? 6 : 5, a->advice);
    evidence_captured(p, a);
    if (full)
        evidence_provenance(p, a);
}

const struct alert *evidence_alert(const struct stage *s)
{
    const struct alerts *all = &s->model->alerts;
    if (s->ui->alert_picked)
        return alerts_find(all, s->ui->alert);
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].state == ALERT_FIRING)
            return &all->items[i];
    return NULL;
}

void evidence_mark_row(const struct stage *s, struct box row, const struct alert *a)
{
    scene_rect(s->brush.scene, (struct box){row.x, row.y + 3, 4, row.h - 6}, 1.5,
               evidence_color(s->brush.theme, a));
}

double evidence_card(struct stage *s, struct box box, const struct alert *a,
                     enum evidence_detail detail)
{
    const struct theme *t = s->brush.theme;
    struct pen pen = {.stage = s, .x = box.x + PAD, .y = box.y + 10, .w = box.w - 2 * PAD};
    evidence_body(&pen, a, detail);
    double h = pen.y + 6 - box.y;
    if (h > box.h)
        return 0;
    struct box card = {box.x, box.y, box.w, h};
    int picked = s->ui->alert_picked && s->ui->alert == a->id;
    color_t color = evidence_color(t, a);
    scene_rect(s->brush.scene, card, 6, evidence_ground(t, a));
    if (picked || (a->state == ALERT_FIRING && detail != EVIDENCE_LINE))
        scene_outline(s->brush.scene, card, 6, 1, color_fade(color, picked ? 0.9 : 0.35));
    scene_rect(s->brush.scene, (struct box){card.x, card.y, 3, h}, 1.5, color);
    pen = (struct pen){
        .stage = s, .x = box.x + PAD, .y = box.y + 10, .w = box.w - 2 * PAD, .draw = 1};
    evidence_body(&pen, a, detail);
    scene_hit(s->brush.scene, card, HIT_ALERT, a->id, 0);
    const struct capture *c = pen.capture.w > 0 ? captures_of_alert(&s->model->captures, a) : NULL;
    if (c) /* on top of the card's own hit */
        scene_hit(s->brush.scene, pen.capture, HIT_BUTTON, COMMAND_CAPTURE, c->id);
    return h;
}

double evidence_why(struct stage *s, struct box box, const struct alert *a, int draw)
{
    const struct theme *t = s->brush.theme;
    double end = box.y + box.h;
    struct pen pen = {.stage = s, .x = box.x, .y = box.y, .w = box.w, .draw = draw};
    for (uint32_t i = 0; i < a->cause_count && pen.y + CAUSE <= end; i++) {
        if (draw)
            piece_cause(s, (struct box){pen.x, pen.y + 1, pen.w, CAUSE}, a, i);
        pen.y += CAUSE;
        int lines = (int)fmin(floor((end - pen.y) / text_line(TEXT_AXIS)), 2);
        if (lines > 0)
            evidence_paragraph(&pen, TEXT_AXIS, t->second, lines, a->causes[i].text);
    }
    int lines = (int)fmin(floor((end - pen.y) / text_line(TEXT_SMALL)), 6);
    if (!a->cause_count && lines > 0)
        evidence_paragraph(&pen, TEXT_SMALL, t->text, lines,
                           a->text[0] ? a->text : "Nothing is known of the cause.");
    return pen.y - box.y;
}
