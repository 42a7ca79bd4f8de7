/* View "commgram" (CommGram): the curve of communication patterns over time, and below it the
 * phases of the visible time as bars of communities with the messages between them. */
#include "viewer/views/views.h"

#include "proto/rank_spans.h"
#include "viewer/layout/format.h"
#include "viewer/views/commgram/view_commgram_parts.h"
#include "viewer/views/common/pieces.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE = 30, AXIS = 17, LINKS = 22, LABELS = 38, FOOT = 26, BADGES = 24, BAND = 20 };
enum { REASON = 52, REASON_TITLE = 30 /* height of why there is no picture */ };

static void commgram_drawing_destroy(struct commgram_drawing *d)
{
    if (!d)
        return;
    columns_finish(&d->columns);
    ribbons_finish(&d->ribbons);
    free(d);
}

/* ---- path and detail ---- */

/* A level of the path as text: its time span, and its ranks where it narrows them. */
static void commgram_view_format_level(const struct stage *s, int level, char *out, size_t capacity)
{
    const struct ui *ui = s->ui;
    struct ui_level here = {
        .follow = ui->time.follow, .span_ns = ui->time.span_ns, .end_ns = ui->time.end_ns};
    const char *ranks = ui->commgram.opened, *before = "";
    if (level < ui->commgram.level) {
        here = ui->commgram.levels[level];
        ranks = ui->commgram.levels[level].opened;
    }
    if (level > 0)
        before = ui->commgram.levels[level - 1].opened;
    int64_t begin, end, oldest, newest;
    ui_visible(ui, s->model, &begin, &end);
    ui_whole_time(s->model, &oldest, &newest);
    if (level < ui->commgram.level) {
        end = here.follow ? newest : here.end_ns;
        begin = end - here.span_ns > oldest ? end - here.span_ns : oldest;
    }
    if (level > 0 && strcmp(ranks, before) != 0) {
        char all[COMMGRAM_LIST];
        commgram_format_asked(s->model, ranks, all, sizeof all);
        snprintf(out, capacity, "%s %.*s%s", rank_spans_noun(all), 18, all,
                 strlen(all) > 18 ? "\xe2\x80\xa6" : "");
        return;
    }
    struct quantity length = format_duration((double)(end - begin));
    if (model_is_timeless(s->model))
        snprintf(out, capacity, "whole time");
    else if (here.follow)
        snprintf(out, capacity, "%s %s", begin > oldest ? "last" : "whole time,", length.text);
    else
        snprintf(out, capacity, "%s, %.20s",
                 format_clock(begin, end - begin < INT64_C(20000000000)).text, length.text);
}

/* The path from the first view to the present detail; only its last parts where there is little
 * room. */
static void commgram_view_add_path(const struct stage *s, double x, double y, double w)
{
    static const char sign[] = "\xe2\x80\xba"; /* single right-pointing angle */
    char texts[UI_LEVELS + 1][96];
    double widths[UI_LEVELS + 1], used = 0;
    int first = s->ui->commgram.level;
    for (int i = 0; i <= s->ui->commgram.level; i++) {
        commgram_view_format_level(s, i, texts[i], sizeof texts[i]);
        widths[i] = scene_width(s->brush.scene, TEXT_SMALL, 0, texts[i]) + 20;
    }
    for (; first >= 0 && used + widths[first] <= w; first--)
        used += widths[first] + 10;
    for (int i = first + 1; i <= s->ui->commgram.level; i++) {
        if (i > 0)
            scene_text(s->brush.scene, x - 3, y + 3, 10, TEXT_SMALL, 0, s->brush.theme->faint,
                       sign);
        x += i > 0 ? 4 : 0;
        if (i < s->ui->commgram.level)
            widget_button(&s->brush, x, y, texts[i], 0, COMMAND_LEVEL, (uint64_t)i);
        else
            scene_text(s->brush.scene, x + 10, y + 4, widths[i], TEXT_SMALL, 0,
                       s->brush.theme->text, texts[i]);
        x += widths[i] + 4;
    }
}

/* "- 24 phases +" at the right of a row. @return its width; 0: there is no room for it */
static double commgram_view_add_stepper(const struct stage *s, struct box row, uint64_t value,
                                        const char *what, uint64_t command)
{
    char text[64];
    if (value > 0)
        snprintf(text, sizeof text, "%s %s", quantity_grouped(value).text, what);
    else
        snprintf(text, sizeof text, "%s as found", what);
    double w = scene_width(s->brush.scene, TEXT_SMALL, TEXT_FIGURES, text);
    double button = scene_width(s->brush.scene, TEXT_SMALL, 0, "+") + 20;
    double right = row.x + row.w, x = right - button, y = row.y;
    if (w + 2 * button + 1 > row.w)
        return 0;
    widget_button(&s->brush, x, y, "+", 0, command, 1);
    x -= w + 1;
    scene_text(s->brush.scene, x, y + 4, w + 1, TEXT_SMALL, TEXT_FIGURES, s->brush.theme->text,
               text);
    button = scene_width(s->brush.scene, TEXT_SMALL, 0, "\xe2\x88\x92") + 20;
    x -= button;
    widget_button(&s->brush, x, y, "\xe2\x88\x92", 0, command, 0);
    return right - x;
}

static void commgram_view_title_row(const struct stage *s, struct box box)
{
    struct box row = {box.x, box.y + 2, box.w, box.h - 2};
    scene_panel(s->brush.scene, box, 0, "commgram.title");
    const char *collectives = s->ui->commgram.unmodelled ? "collectives off" : "with collectives";
    double w = scene_width(s->brush.scene, TEXT_SMALL, 0, collectives) + 20;
    widget_button(&s->brush, row.x + row.w - w, row.y, collectives, !s->ui->commgram.unmodelled,
                  COMMAND_MODELLED, 0);
    row.w -= w + 8;
    row.w -=
        commgram_view_add_stepper(s, row, s->ui->commgram.communities,
                                  s->ui->commgram.communities == 1 ? "community" : "communities",
                                  COMMAND_COMMUNITIES) +
        4;
    row.w -= commgram_view_add_stepper(s, row, s->ui->commgram.phases,
                                       s->ui->commgram.phases == 1 ? "phase" : "phases",
                                       COMMAND_PHASES) +
             12;
    double x = widget_title(&s->brush, row.x, box.y + 4, row.w, "CommGram", "") + 12;
    commgram_view_add_path(s, x, row.y, row.x + row.w - x);
}

/* ---- foot: figures, legend, badges ---- */

/* Colour map of message sizes with the visible range marked; right edge at x. @return width */
static double commgram_view_add_legend(const struct stage *s, const struct commgram_drawing *d,
                                       double right, double y)
{
    const struct theme *t = s->brush.theme;
    const struct columns *c = &d->columns;
    struct scene *scene = s->brush.scene;
    const double bar = 150, gap = 10;
    double low = fmin(fmax(s->ui->commgram.size_low, c->size_least), c->size_most),
           high = fmin(fmax(s->ui->commgram.size_high, low), c->size_most),
           range = c->size_most - c->size_least;
    struct quantity low_text = commgram_format_size(low);
    struct quantity high_text = quantity_print("%s per message", commgram_format_size(high).text);
    double wh = scene_width(scene, TEXT_AXIS, TEXT_FIGURES, high_text.text),
           wl = scene_width(scene, TEXT_AXIS, TEXT_FIGURES, low_text.text);
    scene_text(scene, right - wh, y + 3, wh + 1, TEXT_AXIS, TEXT_FIGURES, t->second,
               high_text.text);
    struct box box = {right - wh - gap - bar, y + 6, bar, 8};
    scene_image(scene, box, &t->sizes_image);
    double x0 = box.x + bar * (low - c->size_least) / range,
           x1 = box.x + bar * (high - c->size_least) / range;
    if (x0 > box.x)
        scene_rect(scene, (struct box){box.x, box.y, x0 - box.x, box.h}, 0,
                   color_fade(t->ground, 0.8));
    if (x1 < box.x + bar)
        scene_rect(scene, (struct box){x1, box.y, box.x + bar - x1, box.h}, 0,
                   color_fade(t->ground, 0.8));
    for (int k = 0; k < 2; k++) {
        double x = k ? x1 : x0;
        scene_rect(scene, (struct box){x - 2.5, box.y - 4, 5, box.h + 8}, 2, t->text);
    }
    scene_text(scene, box.x - gap - wl, y + 3, wl + 1, TEXT_AXIS, TEXT_FIGURES, t->second,
               low_text.text);
    struct scene_hit *hit =
        scene_hit(scene, (struct box){box.x - 6, y, bar + 12, 20}, HIT_SIZES, 0, 0);
    hit->x0 = c->size_least - range * 6 / bar;
    hit->x1 = c->size_most + range * 6 / bar;
    return wh + wl + bar + 2 * gap;
}

static void commgram_view_add_foot(const struct stage *s, const struct commgram_drawing *d,
                                   struct box box)
{
    const struct commgram_picture *p = &s->model->commgram.now;
    char text[160];
    scene_panel(s->brush.scene, box, 0, "commgram.foot");
    if (!d->columns.version)
        return;
    double right = box.x + box.w - commgram_view_add_legend(s, d, box.x + box.w, box.y + 2) - 16;
    snprintf(text, sizeof text, "%s, bars: %s of ranks, ribbons: what they send",
             quantity_things(p->column_count, "phase").text,
             quantity_things(p->bar_count, "group").text);
    double w = scene_width(s->brush.scene, TEXT_AXIS, TEXT_FIGURES, text);
    scene_text(s->brush.scene, box.x, box.y + 5, fmin(w + 1, right - box.x), TEXT_AXIS,
               TEXT_FIGURES | TEXT_CLAUSES, s->brush.theme->second, text);
    static const char help[] = "wheel: phases, with Shift communities \xc2\xb7 drag: time \xc2\xb7 "
                               "Shift drag: mark \xc2\xb7 "
                               "double click: open";
    double left = box.x + w + 18;
    if (scene_width(s->brush.scene, TEXT_AXIS, 0, help) < right - left)
        scene_text(s->brush.scene, left, box.y + 5, right - left, TEXT_AXIS, 0,
                   s->brush.theme->faint, help);
}

/* Badges: what the picture simplifies or omits. */
static void commgram_view_collect_filter_badges(const struct stage *s,
                                                const struct commgram_drawing *d, struct tooltip *b)
{
    const struct theme *t = s->brush.theme;
    const struct commgram *g = &s->model->commgram;
    struct commgram_request wish;
    char ranks[COMMGRAM_LIST];
    commgram_format_asked(s->model, g->now.asked.ranks, ranks, sizeof ranks);
    if (ranks[0])
        tooltip_add(b, t->accent, "only messages from or to %s %.*s%s", rank_spans_noun(ranks), 24,
                    ranks, strlen(ranks) > 24 ? "\xe2\x80\xa6" : "");
    if (ui_commgram_request(s->ui, s->model, &wish) == 2)
        tooltip_add(b, t->warn, "the selected ranks are too many to pick out");
    if (s->ui->selection.kind == SELECT_COMMUNITY)
        tooltip_add(b, t->accent, "only ribbons of community %" PRIu64, s->ui->selection.a);
    if (d->left_out)
        tooltip_add(b, t->accent, "%s ribbons of other sizes left out",
                    quantity_grouped(d->left_out).text);
    if (!g->now.asked.modelled)
        tooltip_add(b, t->second, "without collectives");
}

static struct tooltip commgram_view_collect_badges(const struct stage *s,
                                                   const struct commgram_drawing *d)
{
    const struct theme *t = s->brush.theme;
    const struct commgram *g = &s->model->commgram;
    const struct commgram_picture *p = &g->now;
    struct tooltip b = {0};
    uint64_t modelled = 0, folded = 0;
    for (uint32_t k = 0; k < p->column_count; k++) {
        modelled += p->columns[k].modelled != 0;
        folded += p->columns[k].folded;
    }
    if (g->error)
        tooltip_add(&b, t->bad, "an older picture: %.60s", g->error_text);
    commgram_view_collect_filter_badges(s, d, &b);
    if (p->resolved && p->resolved < p->asked.phases)
        tooltip_add(&b, t->warn, "no finer phases are stored");
    if (folded)
        tooltip_add(&b, t->warn, "%s messages whose pair is not known are not drawn",
                    quantity_grouped(folded).text);
    if (p->ignored)
        tooltip_add(&b, t->warn, "%s rows could not be read", quantity_grouped(p->ignored).text);
    if (d->columns.thin_ribbons)
        tooltip_add(&b, t->second, "%s ribbons narrower than a pixel drawn together",
                    quantity_grouped(d->columns.thin_ribbons).text);
    if (d->columns.thin_bars)
        tooltip_add(&b, t->second, "%s bars with no pixel between them",
                    quantity_grouped(d->columns.thin_bars).text);
    if (modelled)
        tooltip_add(&b, t->second, "hatched: model collectives");
    return b;
}

static void commgram_view_add_badge_row(const struct stage *s, const struct tooltip *b,
                                        struct box box)
{
    const struct theme *t = s->brush.theme;
    double x = box.x;
    scene_panel(s->brush.scene, box, 0, "commgram.badges");
    for (int i = 0; i < b->count; i++) {
        double w = scene_width(s->brush.scene, TEXT_AXIS, TEXT_FIGURES, b->lines[i]) + 24;
        if (x + w > box.x + box.w && i > 0) {
            double more = box.x + box.w - x;
            if (more > 50)
                scene_textf(s->brush.scene, x, box.y + 5, more, TEXT_AXIS, 0, t->second,
                            "and %d more", b->count - i);
            return;
        }
        struct box pill = {x, box.y + 2, fmin(w, box.w), 19};
        scene_outline(s->brush.scene, pill, 9, 1, t->line);
        scene_disc(s->brush.scene, x + 10, pill.y + 9.5, 3, b->colors[i]);
        scene_text(s->brush.scene, x + 18, pill.y + 2, pill.w - 24, TEXT_AXIS, TEXT_FIGURES,
                   t->text, b->lines[i]);
        x += w + 6;
    }
}

/* ---- the whole ---- */

/* In place of picture, foot and badges. */
static void commgram_view_add_no_room(const struct stage *s, struct box box)
{
    if (box.h < REASON_TITLE)
        return;
    scene_panel(s->brush.scene, box, 0, "commgram.empty");
    piece_empty(s, box, "No room for the picture",
                box.h < REASON ? NULL : "It is shown in a larger window.");
}

static void commgram_layout(struct stage *s, struct box box)
{
    int64_t begin, end;
    struct pictures *pictures = s->pictures;
    if (!pictures->commgram && !(pictures->commgram = calloc(1, sizeof *pictures->commgram)))
        return;
    struct commgram_drawing *d = pictures->commgram;
    ui_visible(s->ui, s->model, &begin, &end);
    struct box inner = box_inset(box, 14, 6);
    double y = inner.y + TITLE + 2, foot_y = inner.y + inner.h;
    commgram_view_title_row(s, (struct box){inner.x, inner.y, inner.w, TITLE});
    if (end <= begin) {
        scene_panel(s->brush.scene, (struct box){inner.x, y, inner.w, foot_y - y}, 0,
                    "commgram.empty");
        piece_empty(s, (struct box){inner.x, y, inner.w, foot_y - y},
                    "Waiting for the first window",
                    "Figures appear one window after the ranks have called MPI_Init.");
        return;
    }
    struct timeline line = {inner.x + 10, inner.w - 20, begin, end};
    double band = inner.h > 640 ? BAND : 0, strip = floor(fmax(inner.h * 0.22, 88));
    if (band > 0) {
        strip_band_layout(s, d, (struct box){line.x, y, line.w, band});
        y += band + 6;
    }
    strip_curve_layout(s, d, (struct box){inner.x, y, inner.w, strip}, &line);
    y += strip;
    scene_panel(s->brush.scene, (struct box){inner.x, y, inner.w, AXIS}, 0, "commgram.axis");
    timeline_axis(s, &line, y + 2);
    y += AXIS;
    double links = y;
    y += LINKS;
    struct box panel = {inner.x, y, inner.w, foot_y - FOOT - BADGES - y};
    if (panel.h < REASON) {
        commgram_view_add_no_room(s, (struct box){inner.x, y, inner.w, foot_y - y});
        return;
    }
    struct box plot = {line.x, panel.y + 8, line.w, panel.h - 8 - LABELS};
    bipartite_layout(s, d, panel, plot);
    bipartite_links(s, d, (struct box){inner.x, links, inner.w, LINKS}, &line, plot);
    commgram_view_add_foot(s, d, (struct box){inner.x, foot_y - FOOT - BADGES, inner.w, FOOT});
    struct tooltip badges = {0};
    if (d->columns.version)
        badges = commgram_view_collect_badges(s, d);
    commgram_view_add_badge_row(s, &badges,
                                (struct box){inner.x, foot_y - BADGES, inner.w, BADGES});
}

static void commgram_view_finish(struct pictures *pictures)
{
    commgram_drawing_destroy(pictures->commgram);
    pictures->commgram = NULL;
}

const struct view commgram_view = {.layout = commgram_layout, .finish = commgram_view_finish};
