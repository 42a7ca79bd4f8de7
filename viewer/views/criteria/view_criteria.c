/* View "criteria": what a message normally takes, by its size (PCLVis, section 4.1, Fig. 2). Both
 * axes are logarithmic. Of each size class within and between nodes the recent median with the
 * times between which four fifths of its messages lie, and the reference. */
#include "viewer/views/views.h"

#include "viewer/layout/format.h"
#include "viewer/views/common/pieces.h"

#include <math.h>
#include <stdio.h>

enum { HEAD = 64, FOOT = 44, GUTTER = 70, REACH = 14 };

/* The plot: logarithms of bytes and of nanoseconds at its edges. Size 0 lies at half a byte. */
struct criteria_plot {
    struct stage *stage;
    struct box box;
    double left, right, low, high;
};

static const double ZERO_BYTES = 0.5;

/* Middle of a size class in bytes; the axis has no place for 0. */
static double criteria_bytes(const struct wire_criterion_row *row)
{
    uint16_t class_ = (uint16_t)row->size_class;
    double floor = (double)size_class_floor(class_),
           span = exp2((double)size_class_bits(row->size_class));
    return row->size_class == 0 ? ZERO_BYTES : floor + (span - 1) / 2;
}

static int criteria_is_usable(const struct wire_criterion_row *row)
{
    return row->locality < 2 && row->size_class < SIZE_CLASSES && row->recent_ns > 0;
}

/* Of the usable rows; one of messages within nodes and between them counts once. */
static uint32_t criteria_count_classes(const struct latency *l)
{
    uint8_t used[SIZE_CLASSES] = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->criteria_count; i++) {
        const struct wire_criterion_row *row = &l->criteria[i];
        if (!criteria_is_usable(row) || used[row->size_class])
            continue;
        used[row->size_class] = 1;
        count++;
    }
    return count;
}

static double criteria_x(const struct criteria_plot *p, double bytes)
{
    return p->box.x + 12 + (log2(bytes) - p->left) / (p->right - p->left) * (p->box.w - 24);
}

static double criteria_y(const struct criteria_plot *p, double ns)
{
    return p->box.y + p->box.h - 8 - (log2(ns) - p->low) / (p->high - p->low) * (p->box.h - 16);
}

/* Limits around all that is shown. @return 0: there is nothing */
static int criteria_fit(struct criteria_plot *p)
{
    const struct latency *l = &p->stage->model->latency;
    double least = INFINITY, most = 0, small = INFINITY, large = 0;
    for (uint32_t i = 0; i < l->criteria_count; i++) {
        const struct wire_criterion_row *row = &l->criteria[i];
        if (!criteria_is_usable(row))
            continue;
        double bytes = criteria_bytes(row), low = (double)row->recent_ns, high = low;
        low = row->low_ns ? fmin(low, (double)row->low_ns) : low;
        low = row->reference_ns ? fmin(low, (double)row->reference_ns) : low;
        high = fmax(high,
                    (double)(row->high_ns > row->reference_ns ? row->high_ns : row->reference_ns));
        least = fmin(least, low);
        most = fmax(most, high);
        small = fmin(small, bytes);
        large = fmax(large, bytes);
    }
    if (!(most > 0))
        return 0;
    p->left = floor(log2(small) * 2) / 2 - 0.25;
    p->right = fmax(ceil(log2(large) * 2) / 2 + 0.25, p->left + 3);
    p->low = log2(nice_floor(least));
    p->high = fmax(log2(nice_ceil(most)), p->low + 3);
    return 1;
}

/* ---- axes ---- */

static void criteria_add_sizes(const struct criteria_plot *p)
{
    const struct theme *t = p->stage->brush.theme;
    struct scene *scene = p->stage->brush.scene;
    double room = (p->box.w - 24) / (p->right - p->left);
    double step = fmax(1, ceil(70 / room));
    for (double at = ceil(p->left / step) * step; at <= p->right; at += step) {
        double x = floor(criteria_x(p, exp2(at))) + 0.5;
        scene_line(scene, x, p->box.y, x, p->box.y + p->box.h, 1, t->grid);
        if (at >= 0 && x > p->box.x + 34 && x < p->box.x + p->box.w - 34)
            scene_text(scene, x - 34, p->box.y + p->box.h + 4, 68, TEXT_AXIS,
                       TEXT_CENTRE | TEXT_FIGURES, t->second, quantity_bytes(exp2(at)).text);
    }
}

/* Messages without bytes have a place of their own, left of one byte. */
static void criteria_add_zero(const struct criteria_plot *p)
{
    if (p->left <= log2(ZERO_BYTES))
        scene_text(p->stage->brush.scene, criteria_x(p, ZERO_BYTES) - 20, p->box.y + p->box.h + 4,
                   40, TEXT_AXIS, TEXT_CENTRE | TEXT_FIGURES, p->stage->brush.theme->second, "0");
}

static void criteria_add_times(const struct criteria_plot *p)
{
    const struct theme *t = p->stage->brush.theme;
    double step = log2(10), first = ceil(p->low / step - 1e-9) * step;
    static const double parts[] = {1, 2, 5};
    int all = (p->box.h - 16) * step / (p->high - p->low) >= 90; /* labels have room */
    for (double at = first + step * floor((p->high - first) / step + 1); at >= first - step;
         at -= step) {
        for (int i = 2; i >= 0; i--) {
            double value = at + log2(parts[i]), y = floor(criteria_y(p, exp2(value))) + 0.5;
            if (value > p->high + 1e-9 || value < p->low - 1e-9)
                continue;
            scene_line(p->stage->brush.scene, p->box.x, y, p->box.x + p->box.w, y, 1,
                       i ? color_fade(t->grid, 0.5) : t->grid);
            if (i && !all)
                continue;
            scene_text(p->stage->brush.scene, p->box.x - GUTTER, y - 7, GUTTER - 8, TEXT_AXIS,
                       TEXT_RIGHT | TEXT_FIGURES, t->second, format_duration(exp2(value)).text);
        }
    }
}

/* ---- curves ---- */

static color_t criteria_color(const struct theme *t, uint64_t locality)
{
    return locality ? t->accent : t->info;
}

enum criteria_kind { CRITERIA_RECENT, CRITERIA_REFERENCE };

static uint64_t criteria_value(const struct wire_criterion_row *row, enum criteria_kind kind)
{
    return kind == CRITERIA_RECENT ? row->recent_ns : row->reference_ns;
}

/* A line through the medians of a locality, in order of size: that of the reference is thin. */
static void criteria_add_curve(const struct criteria_plot *p, uint64_t locality,
                               enum criteria_kind kind)
{
    const struct latency *l = &p->stage->model->latency;
    color_t color = criteria_color(p->stage->brush.theme, locality);
    scene_points(p->stage->brush.scene);
    for (uint32_t i = 0; i < l->criteria_count; i++) {
        const struct wire_criterion_row *row = &l->criteria[i];
        uint64_t ns = criteria_value(row, kind);
        if (criteria_is_usable(row) && row->locality == locality && ns > 0)
            scene_point(p->stage->brush.scene, criteria_x(p, criteria_bytes(row)),
                        criteria_y(p, (double)ns));
    }
    scene_curve(p->stage->brush.scene, kind == CRITERIA_RECENT ? 1.6 : 1,
                color_fade(color, kind == CRITERIA_RECENT ? 0.8 : 0.45));
}

/* The times between which four fifths of a class's messages lie, its reference as a ring, and its
 * median: a disc, small where it is interpolated. */
static void criteria_add_class(const struct criteria_plot *p, const struct wire_criterion_row *row)
{
    struct scene *scene = p->stage->brush.scene;
    color_t color = criteria_color(p->stage->brush.theme, row->locality);
    double x = criteria_x(p, criteria_bytes(row)), y = criteria_y(p, (double)row->recent_ns);
    x += row->locality ? 1.5 : -1.5; /* beside each other where both have the same size */
    if (row->low_ns && row->high_ns >= row->low_ns) {
        double top = criteria_y(p, (double)row->high_ns), foot = criteria_y(p, (double)row->low_ns);
        scene_line(scene, x, top, x, foot, 2, color_fade(color, 0.5));
        scene_line(scene, x - 3, top, x + 3, top, 1, color_fade(color, 0.8));
        scene_line(scene, x - 3, foot, x + 3, foot, 1, color_fade(color, 0.8));
    }
    if (row->reference_ns) {
        double at = criteria_y(p, (double)row->reference_ns);
        scene_outline(scene, (struct box){x - 3, at - 3, 6, 6}, 3, 1, color_fade(color, 0.9));
    }
    scene_disc(scene, x, y, row->messages ? 4 : 2, color);
}

/* ---- what the mouse is over ---- */

static const struct wire_criterion_row *criteria_under_mouse(const struct criteria_plot *p)
{
    const struct latency *l = &p->stage->model->latency;
    const struct brush *b = &p->stage->brush;
    const struct wire_criterion_row *best = NULL;
    double nearest = REACH;
    if (!box_has(p->box, b->mouse_x, b->mouse_y) || p->stage->ui->mouse.dragging)
        return NULL;
    for (uint32_t i = 0; i < l->criteria_count; i++) {
        const struct wire_criterion_row *row = &l->criteria[i];
        if (!criteria_is_usable(row))
            continue;
        double top = criteria_y(p, (double)(row->high_ns ? row->high_ns : row->recent_ns)),
               foot = criteria_y(p, (double)(row->low_ns ? row->low_ns : row->recent_ns));
        double dy = fmax(fmax(top - b->mouse_y, b->mouse_y - foot), 0);
        double d = hypot(criteria_x(p, criteria_bytes(row)) - b->mouse_x, dy);
        if (d < nearest) {
            nearest = d;
            best = row;
        }
    }
    return best;
}

static void criteria_add_tip(const struct criteria_plot *p, const struct wire_criterion_row *row)
{
    struct tooltip *tip = &p->stage->tip;
    const struct theme *t = p->stage->brush.theme;
    const char *where = row->locality ? "between nodes" : "within a node";
    uint64_t floor = size_class_floor((uint16_t)row->size_class),
             last = floor + (UINT64_C(1) << size_class_bits(row->size_class)) - 1;
    uint64_t error = p->stage->model->latency.error_ns;
    if (last > floor)
        tooltip_add(tip, 0, "%s to %s bytes, %s", quantity_grouped(floor).text,
                    quantity_grouped(last).text, where);
    else
        tooltip_add(tip, 0, "%s byte%s, %s", quantity_grouped(floor).text, floor == 1 ? "" : "s",
                    where);
    if (row->messages)
        tooltip_add(tip, 0, "%s messages in the horizon", quantity_grouped(row->messages).text);
    else
        tooltip_add(tip, t->warn, "no messages of late: interpolated between other sizes");
    tooltip_add(tip, t->text, "median %s", format_duration((double)row->recent_ns).text);
    if (row->high_ns)
        tooltip_add(tip, 0, "four fifths take %s to %s", format_duration((double)row->low_ns).text,
                    format_duration((double)row->high_ns).text);
    if (row->reference_ns)
        tooltip_add(tip, row->recent_ns > row->reference_ns * 3 / 2 ? t->bad : t->text,
                    "reference %s: now %s of it", format_duration((double)row->reference_ns).text,
                    format_ratio((double)row->recent_ns / (double)row->reference_ns).text);
    if (row->window_messages)
        tooltip_add(tip, 0, "newest window: %s messages, median %s",
                    quantity_grouped(row->window_messages).text,
                    format_duration((double)row->window_ns).text);
    if (row->locality && error && error != WIRE_ANY)
        tooltip_add(tip, 0, "clocks known to \xc2\xb1%s", format_duration((double)error).text);
}

/* ---- the panel ---- */

/* The keys, side by side as far as they fit. */
static void criteria_add_keys(const struct stage *s, struct box box)
{
    const struct theme *t = s->brush.theme;
    static const char *const texts[] = {"within a node", "between nodes", "disc: recent median",
                                        "bar: four fifths of the messages", "ring: reference"};
    double x = box.x;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double w = scene_width(s->brush.scene, TEXT_AXIS, 0, texts[i]);
        if (x + w + 20 > box.x + box.w)
            return;
        if (i < 2)
            scene_rect(s->brush.scene, (struct box){x, box.y + 6, 12, 3}, 1, criteria_color(t, i));
        x += i < 2 ? 18 : 0;
        scene_text(s->brush.scene, x, box.y, w + 1, TEXT_AXIS, 0, t->second, texts[i]);
        x += w + 22;
    }
}

static void criteria_draw(struct criteria_plot *p)
{
    struct stage *s = p->stage;
    const struct latency *l = &s->model->latency;
    const struct wire_criterion_row *under = criteria_under_mouse(p);
    criteria_add_sizes(p);
    criteria_add_zero(p);
    criteria_add_times(p);
    scene_panel(s->brush.scene, p->box, 0, "criteria.plot");
    scene_overlay(s->brush.scene);
    for (uint64_t locality = 0; locality < 2; locality++) {
        criteria_add_curve(p, locality, CRITERIA_REFERENCE);
        criteria_add_curve(p, locality, CRITERIA_RECENT);
    }
    for (uint32_t i = 0; i < l->criteria_count; i++)
        if (criteria_is_usable(&l->criteria[i]))
            criteria_add_class(p, &l->criteria[i]);
    if (!under)
        return;
    double x = criteria_x(p, criteria_bytes(under)) + (under->locality ? 1.5 : -1.5),
           y = criteria_y(p, (double)under->recent_ns);
    scene_outline(s->brush.scene, (struct box){x - 7, y - 7, 14, 14}, 7, 1.5, s->brush.theme->text);
    criteria_add_tip(p, under);
}

static void criteria_layout(struct stage *s, struct box box)
{
    struct box panel = box_inset(box, 14, 10);
    const struct latency *l = &s->model->latency;
    struct criteria_plot p = {.stage = s,
                              .box = {panel.x + GUTTER + 8, panel.y + HEAD, panel.w - GUTTER - 28,
                                      panel.h - HEAD - FOOT}};
    piece_panel(s, panel, "criteria");
    widget_title(&s->brush, panel.x + 12, panel.y + 8, panel.w - 24, "Criteria",
                 "what a message of a size normally takes, send to receive");
    if (!criteria_fit(&p)) {
        piece_empty(s, panel, "No latency criteria yet",
                    l->known ? "No message was matched so far."
                             : "They are published with the first messages that are matched.");
        return;
    }
    if (p.box.h < 60)
        return;
    const uint32_t classes = criteria_count_classes(l);
    criteria_add_keys(s, (struct box){panel.x + 12, panel.y + 36, panel.w - 24, 16});
    scene_textf(s->brush.scene, panel.x + 14, p.box.y + p.box.h + 22, panel.w - 28, TEXT_AXIS, 0,
                s->brush.theme->second,
                "%u size class%s in use; bytes of a message to the right, time upwards, both "
                "logarithmic.",
                classes, classes == 1 ? "" : "es");
    criteria_draw(&p);
}

const struct view criteria_view = {.layout = criteria_layout};
