/* View "attribution": why latency grows (PCLVis, section 6, Fig. 10). Mapping, pattern and
 * background over time, for the selected ranks and the visible time, with the period before as thin
 * lines; beside it the causes of the current alert and what can be done. */
#include "viewer/views/views.h"

#include "daemon/analysis/tables/rank_list.h"

#include "viewer/layout/format.h"
#include "viewer/layout/mix.h"
#include "viewer/views/attribution/view_attribution_parts.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 36, GAP = 10, FOOT = 18, ADVICE = 316, NARROW_ADVICE = 264 };

static void attribution_drawing_destroy(struct attribution_drawing *d)
{
    if (d)
        free(d->marks);
    free(d);
}

/* ---- figures ---- */

/* Which ranks count: those selected, in a job by groups with their groups, or all. @return a hash
 * of them; 0: there is no memory */
static uint64_t attribution_mark(const struct stage *s, struct attribution_drawing *d)
{
    const struct model *m = s->model;
    uint64_t key = 5;
    uint8_t *marks = realloc(d->marks, (size_t)m->rank_count + 1);
    if (!marks)
        return 0;
    d->marks = marks;
    d->ranks = m->rank_count;
    d->marked = 0;
    for (uint32_t r = 0; r < m->rank_count; r++) {
        marks[r] =
            (uint8_t)(ui_marks_rank(s->ui, m, r) || ui_row_selected(s->ui, m, model_row_of(m, r)));
        d->marked += marks[r];
        if (marks[r])
            key = mix_number(key, r + 1);
    }
    return key | 1;
}

static int attribution_compute(const struct model *m, struct attribution_drawing *d)
{
    const uint8_t *marks = d->marked ? d->marks : NULL;
    int error = 0;
    for (int p = 0; p < PERIODS && !error; p++) {
        const struct balance *balance = p == BEFORE ? &d->balance[NOW] : NULL;
        const struct size_courses *sizes = p == BEFORE ? &d->sizes[NOW] : NULL;
        course_crossing(m, d->bins[p], marks, &d->crossing[p]);
        error = course_balance(m, d->bins[p], marks, balance, &d->balance[p]);
        error = error ? error : course_sizes(m, d->bins[p], sizes, &d->sizes[p]);
    }
    return error;
}

/* The figures of the visible time, computed when something changed. @return NULL: there are none */
static struct attribution_drawing *attribution_update(struct stage *s)
{
    struct pictures *pictures = s->pictures;
    uint64_t first, last;
    if (!pictures->attribution &&
        !(pictures->attribution = calloc(1, sizeof *pictures->attribution)))
        return NULL;
    struct attribution_drawing *d = pictures->attribution;
    uint64_t key = attribution_mark(s, d);
    if (!key || !ui_windows(s->ui, s->model, &first, &last))
        return NULL;
    key = mix_number(mix_number(mix_number(key, first), last), s->model->version);
    for (const char *c = s->model->job; *c; c++)
        key = mix_number(key, (unsigned char)*c);
    if (d->key == key)
        return d;
    d->bins[NOW] = course_bins(first, last);
    d->bins[BEFORE] = course_before(d->bins[NOW], s->model->series.first);
    if (attribution_compute(s->model, d) < 0)
        return NULL;
    d->key = key;
    return d;
}

/* ---- what all plots share ---- */

enum { GUTTER = 70, READOUT = 184, TITLE_H = 30 };

/* A title with what it is about. @param what  after a newline it has a shorter form, which is
 * written where the first does not fit */
static void attribution_add_title(const struct stage *s, struct box line, const char *title,
                                  const char *what)
{
    char whole[320];
    const char *brief = strchr(what, '\n');
    snprintf(whole, sizeof whole, "%.*s", (int)(brief ? brief - what : 319), what);
    double w = scene_width(s->brush.scene, TEXT_TITLE, 0, title) + 8 +
               scene_width(s->brush.scene, TEXT_SMALL, 0, whole);
    widget_title(&s->brush, line.x, line.y, line.w, title, brief && w > line.w ? brief + 1 : whole);
}

int attribution_begin(struct attribution_plot *p, struct box box, const char *name,
                      const char *title, const char *what, const char *unknown)
{
    struct stage *s = p->stage;
    piece_panel(s, box, name);
    attribution_add_title(s, (struct box){box.x + 12, box.y + 6, box.w - 24, 0}, title, what);
    p->plot = (struct box){box.x + 12 + GUTTER, box.y + TITLE_H,
                           fmax(box.w - 24 - GUTTER - READOUT, 20), box.h - TITLE_H - 10};
    p->readout = (struct box){p->plot.x + p->plot.w + 12, p->plot.y, READOUT - 12, p->plot.h};
    ui_visible(s->ui, s->model, &p->line.begin, &p->line.end);
    p->line.x = p->plot.x;
    p->line.w = p->plot.w;
    if (!unknown)
        return p->plot.h > 16;
    double w = fmin(box.w - 48, 620);
    double h = scene_paragraph_height(s->brush.scene, w, TEXT_BODY, 3, unknown);
    scene_paragraph(s->brush.scene, box.x + (box.w - w) / 2,
                    fmax(box.y + TITLE_H, box.y + TITLE_H + (p->plot.h - h) / 2), w, TEXT_BODY,
                    s->brush.theme->second, 3, unknown);
    return 0;
}

static double attribution_y(const struct attribution_plot *p, double value)
{
    double share = p->logarithmic ? log(value / p->low) / log(p->high / p->low)
                                  : (value - p->low) / (p->high - p->low);
    return p->plot.y + p->plot.h - fmin(fmax(share, 0), 1) * (p->plot.h - 4);
}

static void attribution_add_tick(const struct attribution_plot *p, double value, const char *unit)
{
    const struct theme *t = p->stage->brush.theme;
    double y = floor(attribution_y(p, value)) + 0.5;
    struct quantity text = unit ? format_axis(value, unit) : format_duration(value);
    scene_line(p->stage->brush.scene, p->plot.x, y, p->plot.x + p->plot.w, y, 1, t->grid);
    scene_text(p->stage->brush.scene, p->plot.x - GUTTER,
               fmin(fmax(y - 7, p->plot.y - 4), p->plot.y + p->plot.h - 12), GUTTER - 8, TEXT_AXIS,
               TEXT_RIGHT | TEXT_FIGURES, t->second, text.text);
}

void attribution_add_axis(const struct attribution_plot *p, const char *unit)
{
    int middle = p->plot.h >= 48;
    attribution_add_tick(p, p->low, unit);
    attribution_add_tick(p, p->high, unit);
    if (middle)
        attribution_add_tick(
            p, p->logarithmic ? nice_floor(sqrt(p->low * p->high)) : (p->low + p->high) / 2, unit);
    timeline_grid(p->stage, &p->line, p->plot.y, p->plot.h);
}

/* Position of the middle of a bin; bins of the period before lie over those of the visible time. */
static double attribution_x(const struct attribution_plot *p, uint32_t bin)
{
    const struct course_bins *bins = &p->drawing->bins[NOW];
    double length = (double)series_newest(&p->stage->model->series)->length_ns;
    double window = (double)bins->first + ((double)bin + 0.5) * (double)bins->per;
    return timeline_x(&p->line, (int64_t)(window * length));
}

void attribution_add_line(const struct attribution_plot *p, const double *values, int period,
                          double width, color_t color)
{
    struct scene *scene = p->stage->brush.scene;
    const struct course_bins *bins = &p->drawing->bins[period];
    uint32_t skipped = p->drawing->bins[NOW].count - bins->count, points = 0;
    scene_points(scene);
    for (uint32_t b = 0; b <= bins->count; b++) {
        if (b < bins->count && !isnan(values[b])) {
            scene_point(scene, attribution_x(p, skipped + b), attribution_y(p, values[b]));
            points++;
            continue;
        }
        if (points == 1) /* alone between gaps */
            scene_disc(scene, attribution_x(p, skipped + b - 1), attribution_y(p, values[b - 1]),
                       width, color);
        scene_curve(scene, width, color);
        scene_points(scene);
        points = 0;
    }
}

uint32_t attribution_bin(const struct attribution_plot *p)
{
    const struct stage *s = p->stage;
    const struct course_bins *bins = &p->drawing->bins[NOW];
    const struct window_totals *w = series_newest(&s->model->series);
    if (!box_has(p->plot, s->brush.mouse_x, s->brush.mouse_y) || s->ui->mouse.dragging || !w)
        return UINT32_MAX;
    double ns = (double)p->line.begin +
                (s->brush.mouse_x - p->line.x) / p->line.w * (double)(p->line.end - p->line.begin);
    double bin = floor((ns / (double)w->length_ns - (double)bins->first) / (double)bins->per);
    return bin >= 0 && bin < bins->count ? (uint32_t)bin : UINT32_MAX;
}

void attribution_tip_time(const struct attribution_plot *p, uint32_t bin)
{
    const struct course_bins *bins = &p->drawing->bins[NOW];
    uint64_t length = series_newest(&p->stage->model->series)->length_ns;
    uint64_t window = bins->first + bin * bins->per;
    tooltip_add(&p->stage->tip, 0, "%s to %s",
                format_clock((int64_t)(window * length), length < 1000000000).text,
                format_clock((int64_t)((window + bins->per) * length), length < 1000000000).text);
}

void attribution_end(const struct attribution_plot *p)
{
    struct stage *s = p->stage;
    timeline_gaps(s, &p->line, p->plot, 0);
    timeline_alerts(s, &p->line, p->plot, 0);
    timeline_cursor(s, &p->line, p->plot);
    struct scene_hit *hit = scene_hit(s->brush.scene, p->plot, HIT_TIME, 0, 0);
    hit->x0 = (double)p->line.begin;
    hit->x1 = (double)p->line.end;
}

/* ---- the whole ---- */

/* @return 0: there is no room for them */
static int attribution_list_ranks(const struct attribution_drawing *d, char *out, size_t capacity)
{
    struct rank_runs runs;
    rank_runs_begin(&runs, out, capacity, "");
    for (uint32_t r = 0; r < d->ranks; r++)
        if (d->marks[r])
            rank_runs_add(&runs, r, r);
    return rank_runs_end(&runs);
}

/* "ranks 0-3, 60 s; thin and faint: as long a time before it", and its first part after a newline
 */
static void attribution_format_scope(const struct stage *s, const struct attribution_drawing *d,
                                     char *out, size_t capacity)
{
    char ranks[80];
    uint64_t length = series_newest(&s->model->series)->length_ns;
    struct quantity span =
        format_duration((double)(d->bins[NOW].count * d->bins[NOW].per * length));
    if (model_is_timeless(s->model))
        span = quantity_print("whole time");
    if (!d->marked)
        snprintf(ranks, sizeof ranks, "all ranks");
    else if (!attribution_list_ranks(d, ranks, sizeof ranks))
        snprintf(ranks, sizeof ranks, "%s selected ranks", quantity_grouped(d->marked).text);
    const char *kind = d->marked && ranks[0] >= '0' && ranks[0] <= '9' && d->marked > 1 ? "ranks "
                       : d->marked == 1                                                 ? "rank "
                                                                                        : "";
    snprintf(out, capacity, "%s%s, %s; %s\n%s%s, %s", kind, ranks, span.text,
             d->bins[BEFORE].count ? "thin and faint: as long a time before it"
                                   : "nothing was before it",
             kind, ranks, span.text);
}

static void attribution_add_head(const struct stage *s, const struct attribution_drawing *d,
                                 struct box box)
{
    char scope[320] = "no windows yet";
    piece_panel(s, box, "attribution");
    double right = box.x + box.w - 12;
    right -= piece_quantity_choice(s, right, box.y + 6) + 12;
    if (d)
        attribution_format_scope(s, d, scope, sizeof scope);
    attribution_add_title(s, (struct box){box.x + 12, box.y + 8, right - box.x - 12, 0},
                          "Attribution", scope);
}

static void attribution_layout(struct stage *s, struct box box)
{
    struct box inner = box_inset(box, 14, 10);
    struct attribution_drawing *d = attribution_update(s);
    double side = inner.w >= 860 ? ADVICE : NARROW_ADVICE;
    struct box left = {inner.x, inner.y, inner.w - side - GAP, inner.h};
    attribution_add_head(s, d, (struct box){left.x, left.y, left.w, HEAD});
    attribution_add_advice(s, (struct box){left.x + left.w + GAP, inner.y, side, inner.h});
    double y = left.y + HEAD + GAP, h = floor((left.h - HEAD - FOOT - 3 * GAP) / 3);
    if (!d) {
        struct box empty = {left.x, y, left.w, left.h - HEAD - GAP};
        piece_panel(s, empty, "attribution.none");
        piece_empty(s, empty, "No figures yet", NULL);
        return;
    }
    attribution_add_mapping(s, d, (struct box){left.x, y, left.w, h});
    attribution_add_pattern(s, d, (struct box){left.x, y + h + GAP, left.w, h});
    attribution_add_background(s, d, (struct box){left.x, y + 2 * (h + GAP), left.w, h});
    struct timeline line = {left.x + 12 + GUTTER, fmax(left.w - 24 - GUTTER - READOUT, 20), 0, 0};
    ui_visible(s->ui, s->model, &line.begin, &line.end);
    struct box axis = {left.x, y + 3 * (h + GAP) - GAP + 2, left.w, FOOT};
    scene_panel(s->brush.scene, axis, 0, "attribution.axis");
    timeline_axis(s, &line, axis.y);
}

static void attribution_finish(struct pictures *pictures)
{
    attribution_drawing_destroy(pictures->attribution);
    pictures->attribution = NULL;
}

const struct view attribution_view = {.layout = attribution_layout, .finish = attribution_finish};
