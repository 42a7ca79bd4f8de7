/* Beside the plots: the causes of the current alert, largest share first, and the three things that
 * can be done: O1 remap, O2 change the pattern, O3 wait or move (PCLVis, section 6). */
#include "viewer/layout/format.h"
#include "viewer/views/attribution/view_attribution_parts.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAD = 12, CAUSE = 20 };

/* What the causes of an alert can be answered by. */
enum option { OPTION_REMAP, OPTION_PATTERN, OPTION_WAIT, OPTION_OTHER, OPTIONS = OPTION_OTHER };

static enum option advice_option_of(const char *cause)
{
    static const struct {
        const char *cause;
        enum option option;
    } answers[] = {{"mapping", OPTION_REMAP},
                   {"pattern", OPTION_PATTERN},
                   {"network", OPTION_WAIT},
                   {"background", OPTION_WAIT},
                   {"slow-node", OPTION_WAIT}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (!strcmp(answers[i].cause, cause))
            return answers[i].option;
    return OPTION_OTHER;
}

/* The picked alert, else the newest that fires, else the newest, of those with causes. */
static const struct alert *advice_alert(const struct stage *s)
{
    const struct alerts *all = &s->model->alerts;
    const struct alert *best = s->ui->alert_picked ? alerts_find(all, s->ui->alert) : NULL;
    if (best)
        return best;
    for (int firing = 1; firing >= 0; firing--)
        for (uint32_t i = 0; i < all->count; i++)
            if (all->items[i].cause_count && (!firing || all->items[i].state == ALERT_FIRING))
                return &all->items[i];
    return NULL;
}

/* Where the next line goes; what would not fit above `end` is left out. */
struct column_pen {
    struct stage *stage;
    double x, y, w, end;
};

static void advice_paragraph(struct column_pen *p, enum text_style style, color_t color, int lines,
                             const char *text)
{
    struct scene *scene = p->stage->brush.scene;
    int room = (int)floor((p->end - p->y) / text_line(style));
    lines = lines < room ? lines : room;
    if (lines > 0 && *text)
        p->y += scene_paragraph(scene, p->x, p->y, p->w, style, color, lines, text) + 3;
}

/* ---- causes ---- */

static void advice_add_cause(struct column_pen *p, const struct alert *a, uint32_t i, int lines)
{
    piece_cause(p->stage, (struct box){p->x, p->y, p->w, CAUSE}, a, i);
    p->y += CAUSE - 2;
    advice_paragraph(p, TEXT_AXIS, p->stage->brush.theme->second, lines, a->causes[i].text);
    p->y += 3;
}

/* As many lines as the text of each cause can have so that all causes fit. */
static int advice_lines(const struct alert *a, double room)
{
    int lines = 3;
    while (lines > 1 && a->cause_count * (CAUSE + 3 + lines * text_line(TEXT_AXIS)) > room)
        lines--;
    return lines;
}

static void advice_add_causes(struct column_pen *p, const struct alert *a, double end)
{
    const struct theme *t = p->stage->brush.theme;
    char text[200];
    if (!a) {
        advice_paragraph(
            p, TEXT_SMALL, t->second, 4,
            "No alert has causes so far: latency did not grow, or it is not known why. "
            "The plots show what speaks for each of them.");
        return;
    }
    snprintf(text, sizeof text, "%s%s", a->title, a->state == ALERT_RESOLVED ? " (resolved)" : "");
    double y = p->y;
    advice_paragraph(p, TEXT_SMALL, a->state == ALERT_FIRING ? t->bad : t->second, 3, text);
    scene_hit(p->stage->brush.scene, (struct box){p->x, y, p->w, p->y - y}, HIT_ALERT, a->id, 0);
    p->y += 4;
    if (!a->cause_count)
        advice_paragraph(p, TEXT_SMALL, t->second, 2, "It is not known what causes it.");
    int lines = advice_lines(a, end - p->y);
    uint32_t i = 0;
    while (i < a->cause_count && p->y + CAUSE + lines * text_line(TEXT_AXIS) <= end)
        advice_add_cause(p, a, i++, lines);
    if (i < a->cause_count && p->y + text_line(TEXT_AXIS) <= end) {
        snprintf(text, sizeof text, "and %s",
                 quantity_things(a->cause_count - i, "smaller cause").text);
        advice_paragraph(p, TEXT_AXIS, t->second, 1, text);
    }
}

/* ---- what can be done ---- */

static void advice_add_gain(struct column_pen *p, const char *name, const char *what,
                            const char *unit)
{
    const struct theme *t = p->stage->brush.theme;
    const struct network_gain *g =
        suggestion_gain(&p->stage->model->network.suggestions[SUGGEST_MAPPING], name);
    char text[160];
    if (!g || p->y + text_line(TEXT_SMALL) > p->end)
        return;
    double share = g->before > 0 ? (g->after - g->before) / g->before : 0;
    if (fabs(share) < 0.0005)
        snprintf(text, sizeof text, "%s stay %s", what, format_si(g->before, unit).text);
    else
        snprintf(text, sizeof text, "%s %s \xe2\x86\x92 %s, %+.1f\xc2\xa0%%", what,
                 format_si(g->before, unit).text, format_si(g->after, unit).text, share * 100);
    advice_paragraph(p, TEXT_SMALL, share < 0 ? t->good : t->second, 2, text);
}

/* What a remapping would bring: the daemon's prediction where there is one, else a way to ask. */
static void advice_add_prediction(struct column_pen *p)
{
    struct stage *s = p->stage;
    const struct theme *t = s->brush.theme;
    const struct suggestion *g = &s->model->network.suggestions[SUGGEST_MAPPING];
    char text[160];
    if (g->ready) {
        advice_add_gain(p, "inter-node-messages", "predicted: messages between nodes", "");
        advice_add_gain(p, "hop-bytes", "hop-bytes", "B");
        if (!g->gain_count)
            advice_paragraph(p, TEXT_SMALL, t->second, 1, "The answer predicts no gain.");
    } else if (g->waiting) {
        snprintf(text, sizeof text, "searching for a mapping, %s", format_share(g->progress).text);
        advice_paragraph(p, TEXT_SMALL, t->second, 1, text);
    } else if (g->error) {
        advice_paragraph(p, TEXT_SMALL, t->bad, 2, g->error_text);
    } else if (s->model->host_count == 1) {
        advice_paragraph(p, TEXT_SMALL, t->second, 2,
                         "All ranks are on one node: no other mapping has fewer messages between "
                         "nodes.");
    } else if (!s->model->network.topology) {
        advice_paragraph(p, TEXT_SMALL, t->second, 2,
                         "No network is known, so no mapping can be judged.");
    } else if (p->y + 24 <= p->end) {
        const char *label = "Ask for its gain";
        double w = scene_width(s->brush.scene, TEXT_SMALL, 0, label) + 20;
        scene_rect(s->brush.scene, (struct box){p->x, p->y, w, 24}, 5, t->line);
        widget_button(&s->brush, p->x, p->y, label, 0, COMMAND_REMAP, 0);
        p->y += 28;
    }
}

static double advice_share(const struct alert *a, enum option option)
{
    double share = 0;
    for (uint32_t i = 0; a && i < a->cause_count; i++)
        if (advice_option_of(a->causes[i].name) == option && !isnan(a->causes[i].share))
            share += a->causes[i].share;
    return share;
}

static void advice_add_option(struct column_pen *p, const struct alert *a, enum option option)
{
    static const char *const names[OPTIONS] = {"O1 Remap the ranks", "O2 Change the pattern",
                                               "O3 Wait, or move the job"};
    static const char *const what[OPTIONS] = {
        "Ranks that communicate much on one node, or on near ones.",
        "Combine messages, or spread the part of ranks that stand out.",
        "Until traffic of others ends, or off the slow nodes and links."};
    const struct theme *t = p->stage->brush.theme;
    double share = advice_share(a, option);
    int first = a && a->cause_count && advice_option_of(a->causes[0].name) == option;
    if (p->y + text_line(TEXT_STRONG) > p->end)
        return;
    scene_text(p->stage->brush.scene, p->x, p->y, p->w - 62, TEXT_STRONG, 0,
               first       ? t->accent
               : share > 0 ? t->text
                           : t->second,
               names[option]);
    if (a && a->cause_count)
        scene_text(p->stage->brush.scene, p->x + p->w - 60, p->y + 1, 60, TEXT_SMALL,
                   TEXT_RIGHT | TEXT_FIGURES, share > 0 ? t->text : t->second,
                   share > 0 ? format_share(share).text : "no cause");
    p->y += text_line(TEXT_STRONG) + 1;
    advice_paragraph(p, TEXT_SMALL, first ? t->text : t->second, first ? 4 : 2,
                     first && a->advice[0] ? a->advice : what[option]);
    if (option == OPTION_REMAP)
        advice_add_prediction(p);
    p->y += 5;
}

void attribution_add_advice(struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct alert *a = advice_alert(s);
    struct column_pen p = {s, box.x + PAD, box.y + 38, box.w - 2 * PAD, box.y + box.h - 8};
    double options = fmin(270, box.h * 0.5);
    piece_panel(s, box, "attribution.advice");
    widget_title(&s->brush, p.x, box.y + 8, p.w, "Causes",
                 a && a->cause_count ? "share of the growth" : "");
    advice_add_causes(&p, a, p.end - options);
    p.y = fmin(p.y + 6, p.end - options);
    scene_line(s->brush.scene, p.x, p.y, p.x + p.w, p.y, 1, t->line);
    p.y += 8;
    if (a && a->cause_count && advice_option_of(a->causes[0].name) == OPTION_OTHER) {
        char text[600];
        snprintf(text, sizeof text, "%s", a->advice[0] ? a->advice : "Look at the first cause.");
        advice_paragraph(&p, TEXT_SMALL, t->accent, 3, text);
        p.y += 4;
    }
    for (int option = 0; option < OPTIONS; option++)
        advice_add_option(&p, a, (enum option)option);
    scene_end_panel_at(s->brush.scene, fmin(p.y, p.end) + 8);
}
