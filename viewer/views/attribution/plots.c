/* The three plots of the attribution view: mapping, pattern, background. */
#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/attribution/view_attribution_parts.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 17, RING = 24 };

static const double GHOST = 0.42; /* opacity of the period before */

/* "they are received from 14:03:07 on" */
static void plots_format_since(const struct model *m, const struct history *h, char *out,
                               size_t capacity)
{
    uint64_t length = series_newest(&m->series)->length_ns;
    if (h->count)
        snprintf(out, capacity, "they are known from %s on",
                 format_clock((int64_t)(h->slots[0].first * length), 0).text);
    else
        snprintf(out, capacity, "none was received yet");
}

/* ---- mapping ---- */

/* An arc from the top clockwise, as a share of the circle. */
static void plots_add_arc(const struct stage *s, struct point middle, double r, double share,
                          double width, color_t color)
{
    int steps = (int)ceil(fmax(share, 0) * 64);
    scene_points(s->brush.scene);
    for (int i = 0; i <= steps; i++) {
        double a = 2 * acos(-1) * share * i / fmax(steps, 1);
        scene_point(s->brush.scene, middle.x + r * sin(a), middle.y - r * cos(a));
    }
    scene_curve(s->brush.scene, width, color);
}

/* The share of what crosses nodes: now as a thick ring, before as a thin one inside it. */
static void plots_add_ring(const struct stage *s, const struct attribution_drawing *d,
                           struct box box, enum pair_column column)
{
    const struct theme *t = s->brush.theme;
    static const char *const names[] = {"messages", "bytes"};
    double share = crossing_share(&d->crossing[NOW], column),
           before = crossing_share(&d->crossing[BEFORE], column);
    const struct point middle = {box.x + box.w / 2, box.y + RING + 6};
    if (isnan(share))
        return;
    plots_add_arc(s, middle, RING, 1, 7, t->info);
    plots_add_arc(s, middle, RING, share, 7, t->accent);
    if (!isnan(before)) {
        plots_add_arc(s, middle, RING - 7, 1, 1.5, color_fade(t->info, GHOST));
        plots_add_arc(s, middle, RING - 7, before, 1.5, color_fade(t->accent, GHOST));
    }
    scene_textf(s->brush.scene, box.x, middle.y - 7, box.w, TEXT_AXIS_STRONG,
                TEXT_CENTRE | TEXT_FIGURES, t->text, "%.0f\xc2\xa0%%", share * 100);
    double foot = middle.y + RING + 7;
    if (foot + 14 <= box.y + box.h + 4)
        scene_text(s->brush.scene, box.x, foot, box.w, TEXT_AXIS, TEXT_CENTRE, t->second,
                   names[column]);
    if (!isnan(before) && foot + 30 <= box.y + box.h + 4)
        scene_textf(s->brush.scene, box.x, foot + 16, box.w, TEXT_AXIS, TEXT_CENTRE, t->faint,
                    "before %.0f\xc2\xa0%%", before * 100);
}

static void plots_add_key(const struct stage *s, struct box box, double y, color_t color,
                          const char *text)
{
    scene_rect(s->brush.scene, (struct box){box.x, y + 6, 10, 3}, 1, color);
    scene_text(s->brush.scene, box.x + 16, y, box.w - 16, TEXT_AXIS, 0, s->brush.theme->second,
               text);
}

static void mapping_add_readout(const struct attribution_plot *p)
{
    const struct stage *s = p->stage;
    struct box r = p->readout;
    for (int c = 0; c < PAIR_COLUMNS; c++)
        plots_add_ring(s, p->drawing,
                       (struct box){r.x + c * floor(r.w / 2), r.y, floor(r.w / 2), r.h},
                       (enum pair_column)c);
    double y = r.y + 2 * RING + 50;
    if (y + 2 * ROW > r.y + r.h + 4)
        return;
    plots_add_key(s, r, y, s->brush.theme->accent, "between nodes");
    plots_add_key(s, r, y + ROW, s->brush.theme->info, "within a node");
}

/* Rates of a place in a period, or sums of a job without times, NaN where nothing is known. @return
 * the largest */
static double mapping_rates(const struct stage *s, const struct attribution_drawing *d, int period,
                            enum course_place place, double *out)
{
    double length = (double)series_newest(&s->model->series)->length_ns / 1e9, most = 0;
    length = model_is_timeless(s->model) ? 1 : length;
    const struct crossing *c = &d->crossing[period];
    for (uint32_t b = 0; b < d->bins[period].count; b++) {
        out[b] =
            c->windows[b] > 0 ? c->sums[place][s->quantity][b] / (c->windows[b] * length) : NAN;
        most = fmax(most, out[b]); /* passes over NaN */
    }
    return most;
}

/* Of what is counted in a second, or, of a job without times, at all. */
static const char *mapping_unit(const struct stage *s)
{
    static const char *const units[][2] = {{"/s", "B/s"}, {"", "B"}};
    return units[model_is_timeless(s->model)][s->quantity == PAIR_BYTES];
}

static void mapping_add_tip(const struct attribution_plot *p,
                            double rates[PERIODS][COURSE_PLACES][COURSE_BINS])
{
    struct stage *s = p->stage;
    const char *unit = mapping_unit(s);
    uint32_t bin = attribution_bin(p);
    if (bin == UINT32_MAX || isnan(rates[NOW][COURSE_WITHIN][bin]))
        return;
    double within = rates[NOW][COURSE_WITHIN][bin], between = rates[NOW][COURSE_BETWEEN][bin];
    attribution_tip_time(p, bin);
    tooltip_add(&s->tip, s->brush.theme->text, "between nodes %s", format_si(between, unit).text);
    tooltip_add(&s->tip, s->brush.theme->text, "within a node %s", format_si(within, unit).text);
    if (within + between > 0)
        tooltip_add(&s->tip, 0, "%s cross nodes", format_share(between / (within + between)).text);
}

static const char *mapping_unknown(const struct stage *s, const struct attribution_drawing *d,
                                   char *text, size_t capacity)
{
    const struct crossing *c = &d->crossing[NOW];
    const struct history *h = &s->model->rank_history;
    char since[96];
    uint64_t begin = d->bins[NOW].first + d->bins[NOW].per * d->bins[NOW].count;
    if (c->total[COURSE_WITHIN][PAIR_MESSAGES] + c->total[COURSE_BETWEEN][PAIR_MESSAGES] > 0)
        return NULL;
    if (h->count && h->slots[0].first < begin)
        return "These ranks sent no message in this time.";
    plots_format_since(s->model, h, since, sizeof since);
    snprintf(text, capacity, "No figures of ranks for this time: %s.", since);
    return text;
}

void attribution_add_mapping(struct stage *s, const struct attribution_drawing *d, struct box box)
{
    const struct theme *t = s->brush.theme;
    struct attribution_plot p = {.stage = s, .drawing = d};
    double rates[PERIODS][COURSE_PLACES][COURSE_BINS];
    char what[160], text[240];
    double most = 0;
    const char *quantity = s->quantity == PAIR_BYTES ? "bytes" : "messages";
    if (model_is_timeless(s->model))
        snprintf(what, sizeof what, "%s sent, between nodes and within them\n%s", quantity,
                 quantity);
    else
        snprintf(what, sizeof what, "%s sent a second, between nodes and within them\n%s a second",
                 quantity, quantity);
    if (!attribution_begin(&p, box, "attribution.mapping", "A1 Mapping", what,
                           mapping_unknown(s, d, text, sizeof text)))
        return;
    for (int period = 0; period < PERIODS; period++)
        for (int place = 0; place < COURSE_PLACES; place++)
            most = fmax(
                most, mapping_rates(s, d, period, (enum course_place)place, rates[period][place]));
    p.high = nice_ceil_unit(most > 0 ? most : 1, mapping_unit(s));
    attribution_add_axis(&p, mapping_unit(s));
    mapping_add_readout(&p);
    scene_panel(s->brush.scene, p.plot, 0, "attribution.mapping.plot");
    scene_overlay(s->brush.scene);
    for (int period = BEFORE; period >= NOW; period--) {
        double width = period == NOW ? 2 : 1, fade = period == NOW ? 1 : GHOST;
        attribution_add_line(&p, rates[period][COURSE_WITHIN], period, width,
                             color_fade(t->info, fade));
        attribution_add_line(&p, rates[period][COURSE_BETWEEN], period, width,
                             color_fade(t->accent, fade));
    }
    attribution_end(&p);
    mapping_add_tip(&p, rates);
}

/* ---- pattern ---- */

static color_t pattern_color(const struct theme *t, const struct balance *b, uint32_t i)
{
    const color_t standing[] = {t->bad, t->warn, t->accent, t->info, t->good};
    const color_t calm[] = {t->info, t->good, t->accent, t->warn, t->second};
    return b->ranks[i].stands_out ? standing[i] : color_fade(calm[i], 0.75);
}

static void pattern_add_readout(const struct attribution_plot *p)
{
    const struct stage *s = p->stage;
    const struct theme *t = s->brush.theme;
    const struct balance *b = &p->drawing->balance[NOW];
    struct box r = p->readout;
    double y = r.y;
    if (!(b->ranks[0].mean > 0)) {
        scene_text(s->brush.scene, r.x, y, r.w, TEXT_AXIS, 0, t->second, "all are alike");
        return;
    }
    scene_text(s->brush.scene, r.x, y, r.w, TEXT_AXIS, 0, b->standing_out ? t->bad : t->second,
               b->standing_out ? quantity_print("%u rank%s stand%s out:", b->standing_out,
                                                b->standing_out == 1 ? "" : "s",
                                                b->standing_out == 1 ? "s" : "")
                                     .text
                               : "no rank stands out; most:");
    y += ROW;
    for (uint32_t i = 0; i < b->count && y + ROW <= r.y + r.h + 4; i++, y += ROW) {
        const struct balance_rank *rank = &b->ranks[i];
        struct box row = {r.x, y, r.w, ROW};
        scene_rect(s->brush.scene, (struct box){r.x, y + 6, 10, 3}, 1, pattern_color(t, b, i));
        scene_text(s->brush.scene, r.x + 16, y, r.w - 110, TEXT_AXIS, 0,
                   rank->stands_out ? t->text : t->second,
                   piece_rank(p->stage->model, rank->rank).text);
        scene_textf(s->brush.scene, r.x + r.w - 94, y, 48, TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES,
                    rank->stands_out ? t->text : t->second, "LB %.1f", rank->mean);
        scene_textf(s->brush.scene, r.x + r.w - 46, y, 46, TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES,
                    t->second, "%.2fx", rank->load);
        scene_hit(s->brush.scene, row, HIT_RANK, rank->rank, 0);
        if (box_has(row, s->brush.mouse_x, s->brush.mouse_y)) {
            tooltip_add(&p->stage->tip, 0, "%s: load balance %.2f",
                        piece_rank(p->stage->model, rank->rank).text, rank->mean);
            tooltip_add(&p->stage->tip, 0, "it handles %.2f times the messages of the mean rank",
                        rank->load);
        }
    }
}

static void pattern_add_tip(const struct attribution_plot *p)
{
    const struct balance *b = &p->drawing->balance[NOW];
    uint32_t bin = attribution_bin(p);
    if (bin == UINT32_MAX || !b->count || isnan(b->ranks[0].lb[bin]))
        return;
    attribution_tip_time(p, bin);
    for (uint32_t i = 0; i < b->count; i++)
        tooltip_add(&p->stage->tip, p->stage->brush.theme->text, "%s: LB %.2f",
                    piece_rank(p->stage->model, b->ranks[i].rank).text, b->ranks[i].lb[bin]);
    if (!isnan(b->others[bin]))
        tooltip_add(&p->stage->tip, 0, "others: %.2f at most", b->others[bin]);
}

static double pattern_most(const struct attribution_drawing *d)
{
    double most = 2;
    for (int period = 0; period < PERIODS; period++)
        for (uint32_t b = 0; b < d->bins[period].count; b++) {
            most = fmax(most, d->balance[period].others[b]);
            for (uint32_t i = 0; i < d->balance[period].count; i++)
                most = fmax(most, d->balance[period].ranks[i].lb[b]);
        }
    return most;
}

static void pattern_add_lines(const struct attribution_plot *p)
{
    const struct theme *t = p->stage->brush.theme;
    const struct attribution_drawing *d = p->drawing;
    attribution_add_line(p, d->balance[BEFORE].others, BEFORE, 1, color_fade(t->second, 0.25));
    attribution_add_line(p, d->balance[NOW].others, NOW, 1.2, color_fade(t->second, 0.6));
    for (int period = BEFORE; period >= NOW; period--)
        for (uint32_t i = d->balance[NOW].count; i-- > 0;) {
            int out = d->balance[NOW].ranks[i].stands_out;
            color_t color = pattern_color(t, &d->balance[NOW], i);
            attribution_add_line(p, d->balance[period].ranks[i].lb, period,
                                 period == BEFORE ? 1
                                 : out            ? 2
                                                  : 1.3,
                                 period == BEFORE ? color_fade(color, GHOST) : color);
        }
}

void attribution_add_pattern(struct stage *s, const struct attribution_drawing *d, struct box box)
{
    const struct balance *b = &d->balance[NOW];
    struct attribution_plot p = {.stage = s, .drawing = d};
    const char *rows = s->model->group > 1 ? "groups" : "ranks";
    char what[280];
    snprintf(what, sizeof what, "load balance LB of %s", rows);
    if (b->communicating)
        snprintf(what, sizeof what,
                 "load balance LB: messages of a %s against the mean; %s differ by %s%s%s\n"
                 "%s differ by %s",
                 s->model->group > 1 ? "group of ranks" : "rank", rows,
                 format_share(b->spread).text, isnan(d->balance[BEFORE].spread) ? "" : ", before ",
                 isnan(d->balance[BEFORE].spread) ? ""
                                                  : format_share(d->balance[BEFORE].spread).text,
                 rows, format_share(b->spread).text);
    const char *unknown =
        !s->model->rank_history.count ? "No figures of single ranks were received yet."
        : !b->communicating           ? "No rank sent or received a message in this time."
        : b->communicating == 1
            ? "Only one rank communicated: there is no other to compare it with."
        : !b->count ? "The selected ranks sent and received no message in this time."
                    : NULL;
    if (!attribution_begin(&p, box, "attribution.pattern", "A2 Pattern", what, unknown))
        return;
    p.high = nice_ceil(pattern_most(d));
    attribution_add_axis(&p, "");
    pattern_add_readout(&p);
    scene_panel(s->brush.scene, p.plot, 0, "attribution.pattern.plot");
    scene_overlay(s->brush.scene);
    pattern_add_lines(&p);
    attribution_end(&p);
    pattern_add_tip(&p);
}

/* ---- background ---- */

static double background_bytes(const struct size_course *size)
{
    return (double)size_class_floor(size->size_class);
}

/* Sizes from small blue to large green; paler where the time hardly varies. */
static color_t background_color(const struct theme *t, const struct size_courses *c, uint32_t i)
{
    double share = c->count > 1 ? (double)i / (c->count - 1) : 0.5;
    color_t color = t->sizes[(size_t)lround(share * 255)];
    return c->sizes[i].variation >= COURSE_NOISE ? color : color_fade(color, 0.7);
}

static void background_add_readout(const struct attribution_plot *p)
{
    const struct stage *s = p->stage;
    const struct theme *t = s->brush.theme;
    const struct size_courses *c = &p->drawing->sizes[NOW];
    struct box r = p->readout;
    double y = r.y;
    scene_text(s->brush.scene, r.x, y, r.w, TEXT_AXIS, 0, t->second, "size, mean, varies by");
    y += ROW;
    for (uint32_t i = c->count; i-- > 0 && y + ROW <= r.y + r.h + 4; y += ROW) {
        const struct size_course *size = &c->sizes[i];
        scene_rect(s->brush.scene, (struct box){r.x, y + 6, 10, 3}, 1, background_color(t, c, i));
        scene_text(s->brush.scene, r.x + 16, y, 56, TEXT_AXIS, TEXT_FIGURES, t->text,
                   format_si(background_bytes(size), "B").text);
        scene_text(s->brush.scene, r.x + r.w - 98, y, 58, TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES,
                   t->text, format_duration(size->mean_ns).text);
        scene_textf(s->brush.scene, r.x + r.w - 38, y, 38, TEXT_AXIS, TEXT_RIGHT | TEXT_FIGURES,
                    size->variation >= COURSE_NOISE ? t->warn : t->second, "%.0f\xc2\xa0%%",
                    size->variation * 100);
    }
}

static void background_limits(const struct attribution_drawing *d, double *low, double *high)
{
    *low = INFINITY;
    *high = 0;
    for (int period = 0; period < PERIODS; period++)
        for (uint32_t i = 0; i < d->sizes[period].count; i++)
            for (uint32_t b = 0; b < d->bins[period].count; b++) {
                *low = fmin(*low, d->sizes[period].sizes[i].ns[b]); /* passes over NaN */
                *high = fmax(*high, d->sizes[period].sizes[i].ns[b]);
            }
    *low = nice_floor(fmax(*low, 1));
    *high = fmax(nice_ceil(*high), 10 * *low);
}

static void background_add_tip(const struct attribution_plot *p)
{
    const struct size_courses *c = &p->drawing->sizes[NOW];
    uint32_t bin = attribution_bin(p);
    if (bin == UINT32_MAX)
        return;
    attribution_tip_time(p, bin);
    for (uint32_t i = c->count; i-- > 0;)
        if (!isnan(c->sizes[i].ns[bin]))
            tooltip_add(&p->stage->tip, p->stage->brush.theme->text, "messages of %s: %s",
                        format_si(background_bytes(&c->sizes[i]), "B").text,
                        format_duration(c->sizes[i].ns[bin]).text);
    if (p->stage->model->latency.error_ns && p->stage->model->latency.error_ns != WIRE_ANY)
        tooltip_add(&p->stage->tip, 0, "clocks known to \xc2\xb1%s",
                    format_duration((double)p->stage->model->latency.error_ns).text);
}

static const char *background_unknown(const struct stage *s, const struct size_courses *c,
                                      char *text, size_t capacity)
{
    char since[96];
    if (c->count)
        return NULL;
    if (s->model->host_count == 1)
        return "All ranks run on one node: there is no network between nodes to judge.";
    plots_format_since(s->model, &s->model->latency.classes, since, sizeof since);
    snprintf(
        text, capacity,
        "No message between nodes was matched in this time, so its transfer time is not known: "
        "%s.",
        since);
    return text;
}

void attribution_add_background(struct stage *s, const struct attribution_drawing *d,
                                struct box box)
{
    const struct theme *t = s->brush.theme;
    const struct size_courses *c = &d->sizes[NOW];
    struct attribution_plot p = {.stage = s, .drawing = d, .logarithmic = 1};
    char what[240], text[320];
    snprintf(what, sizeof what, "transfer time between nodes by size, of all ranks");
    if (c->more)
        text_append(what, sizeof what, "; %u more size%s not shown", c->more,
                    c->more == 1 ? " is" : "s are");
    text_append(what, sizeof what, "\nbetween nodes, by size");
    if (!attribution_begin(&p, box, "attribution.background", "A3 Background", what,
                           background_unknown(s, c, text, sizeof text)))
        return;
    background_limits(d, &p.low, &p.high);
    attribution_add_axis(&p, NULL);
    background_add_readout(&p);
    scene_panel(s->brush.scene, p.plot, 0, "attribution.background.plot");
    scene_overlay(s->brush.scene);
    for (int period = BEFORE; period >= NOW; period--)
        for (uint32_t i = 0; i < c->count; i++) {
            color_t color = background_color(t, c, i);
            attribution_add_line(&p, d->sizes[period].sizes[i].ns, period, period == NOW ? 1.8 : 1,
                                 period == NOW ? color : color_fade(color, GHOST));
        }
    attribution_end(&p);
    background_add_tip(&p);
}
