/* Bands of coordinates beside the route matrix, and outlines of blocks on its diagonal. */
#include "viewer/views/routes/view_routes_parts.h"

#include <math.h>

enum { BAND = 15, MOST_BANDS = 6, LABEL_GAP = 7 };

double route_bands_capacity(const struct routes_drawing *d)
{
    return BAND * fmin(d->order.levels, MOST_BANDS) + 4;
}

static double route_bands_position(const struct route_window *w, double share, int down)
{
    return down ? w->box.y + (share - w->y) / w->extent * w->box.h
                : w->box.x + (share - w->x) / w->extent * w->box.w;
}

/* First row after the block of a level that contains a row. */
static uint32_t route_bands_block_end(const struct route_order *o, uint32_t row, int level)
{
    uint32_t end = row + 1;
    while (end < o->count && o->starts[end] > level)
        end++;
    return end;
}

/* One band: one level along one side. */
static void route_bands_add_band(const struct stage *s, const struct routes_drawing *d,
                                 const struct route_window *w, int level, int down, double at)
{
    const struct route_order *o = &d->order;
    const struct adjacency_axis *a = &d->axis;
    const struct theme *t = s->brush.theme;
    double from = down ? w->y : w->x, edge = down ? w->box.y : w->box.x;
    double length = down ? w->box.h : w->box.w;
    double free = 0; /* up to here a label would run into the one before */
    uint32_t row = adjacency_row(a, from), number = 0;
    while (row > 0 && o->starts[row] > level)
        row--;
    for (uint32_t end; row < o->count && a->at[row] < from + w->extent; row = end, number++) {
        end = route_bands_block_end(o, row, level);
        double begin = fmax(route_bands_position(w, a->at[row], down), edge);
        double stop = fmin(route_bands_position(w, a->at[end], down), edge + length);
        char text[80];
        if (a->folded[row] || stop - begin < 2)
            continue;
        struct box box = down ? (struct box){at, begin, BAND - 1, stop - begin - 1}
                              : (struct box){begin, at, stop - begin - 1, BAND - 1};
        scene_rect(s->brush.scene, box, 0, color_mix(t->panel, t->line, number % 2 ? 0.9 : 0.5));
        route_order_label(o, s->model->network.topology, level, row, text, sizeof text);
        double wide = scene_width(s->brush.scene, TEXT_AXIS, TEXT_FIGURES, text);
        double left = box.x + (box.w - wide) / 2;
        if (box.w < wide || box.h < 12 || (!down && left < free))
            continue;
        free = left + wide + LABEL_GAP;
        scene_text(s->brush.scene, box.x, box.y + box.h / 2 - 7, box.w, TEXT_AXIS,
                   TEXT_CENTRE | TEXT_FIGURES, t->second, text);
    }
}

/* 1 if the blocks of a level are wide enough to be distinguished. */
static int route_bands_is_readable(const struct routes_drawing *d, const struct route_window *w,
                                   int level)
{
    uint32_t blocks = 0;
    for (uint32_t r = 0; r < d->order.count; r++)
        blocks += d->order.starts[r] <= level && !d->axis.folded[r];
    return blocks && w->box.w / w->extent * d->axis.open_share / blocks >= 3;
}

void route_bands(struct stage *s, const struct routes_drawing *d, const struct route_window *w,
                 double room)
{
    int levels = (int)fmin(d->order.levels, MOST_BANDS);
    for (int l = 0; l < levels; l++) {
        double x = w->box.x - room + BAND * l, y = w->box.y - room + BAND * l;
        const char *name = d->order.names[l];
        int shown = route_bands_is_readable(d, w, l);
        if (scene_width(s->brush.scene, TEXT_AXIS_STRONG, 0, name) < BAND)
            scene_text(s->brush.scene, x, w->box.y + w->box.h + 1, BAND - 1, TEXT_AXIS_STRONG,
                       TEXT_CENTRE, s->brush.theme->second, name);
        scene_text(s->brush.scene, w->box.x + w->box.w + 4, y, 46, TEXT_AXIS_STRONG, 0,
                   shown ? s->brush.theme->second : s->brush.theme->faint, name);
        if (!shown)
            continue;
        route_bands_add_band(s, d, w, l, 0, y);
        route_bands_add_band(s, d, w, l, 1, x);
    }
}

/* ---- blocks on the diagonal ---- */

static void route_bands_add_block(const struct stage *s, const struct routes_drawing *d,
                                  const struct route_window *w, uint32_t row, uint32_t end,
                                  double width, color_t color)
{
    double begin = d->axis.at[row], stop = d->axis.at[end];
    double x0 = route_bands_position(w, begin, 0), x1 = route_bands_position(w, stop, 0);
    double y0 = route_bands_position(w, begin, 1), y1 = route_bands_position(w, stop, 1);
    const struct box *b = &w->box;
    if (x1 - x0 < 8 || x1 < b->x || y1 < b->y || x0 > b->x + b->w || y0 > b->y + b->h)
        return;
    double cut_x0 = fmax(x0, b->x), cut_y0 = fmax(y0, b->y);
    double cut_x1 = fmin(x1, b->x + b->w), cut_y1 = fmin(y1, b->y + b->h);
    if (y0 >= b->y)
        scene_rect(s->brush.scene,
                   (struct box){cut_x0, y0, cut_x1 - cut_x0, fmin(width, b->y + b->h - y0)}, 0,
                   color);
    if (y1 <= b->y + b->h)
        scene_rect(s->brush.scene,
                   (struct box){cut_x0, fmax(y1 - width, b->y), cut_x1 - cut_x0, width}, 0, color);
    if (x0 >= b->x)
        scene_rect(s->brush.scene,
                   (struct box){x0, cut_y0, fmin(width, b->x + b->w - x0), cut_y1 - cut_y0}, 0,
                   color);
    if (x1 <= b->x + b->w)
        scene_rect(s->brush.scene,
                   (struct box){fmax(x1 - width, b->x), cut_y0, width, cut_y1 - cut_y0}, 0, color);
}

static int route_bands_is_passed(const struct routes_drawing *d, uint32_t row, uint32_t end)
{
    for (uint32_t r = row; r < end; r++)
        if (d->used[r])
            return 1;
    return 0;
}

/* A group of a Cray XC is two neighbouring columns (cabinets) of one row. */
static uint32_t route_bands_group_end(const struct route_order *o, uint32_t row)
{
    uint32_t end = route_bands_block_end(o, row, 1);
    return end < o->count && o->starts[end] > 0 ? route_bands_block_end(o, end, 1) : end;
}

uint32_t route_blocks_passed(const struct routes_drawing *d, int level, uint32_t *all)
{
    uint32_t some = 0;
    *all = 0;
    for (uint32_t row = 0, end; row < d->order.count; row = end, ++*all) {
        end = level < 0 ? route_bands_group_end(&d->order, row)
                        : route_bands_block_end(&d->order, row, level);
        some += route_bands_is_passed(d, row, end) ? 1 : 0;
    }
    return some;
}

void route_blocks(struct stage *s, const struct routes_drawing *d, const struct route_window *w)
{
    const struct route_order *o = &d->order;
    const struct theme *t = s->brush.theme;
    int last = (int)o->levels - 2, tiers = o->tiers;
    for (int l = tiers ? 2 : last < 1 ? last : 1; l >= (tiers ? 1 : 0); l--) {
        for (uint32_t row = 0, end; row < o->count; row = end) {
            end = route_bands_block_end(o, row, l);
            if (!d->axis.folded[row] && route_bands_is_passed(d, row, end))
                route_bands_add_block(s, d, w, row, end, tiers && l == 1 ? 2 : 1,
                                      tiers && l == 1 ? t->warn
                                                      : color_fade(t->second, l ? 0.5 : 0.9));
        }
    }
    for (uint32_t row = 0, end; tiers && row < o->count; row = end) {
        end = route_bands_group_end(o, row);
        if (!d->axis.folded[row] && route_bands_is_passed(d, row, end))
            route_bands_add_block(s, d, w, row, end, 1, t->text);
    }
}
