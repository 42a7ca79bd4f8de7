/* Picture of ribbons and bars, by exact coverage of pixel columns. */
#include "viewer/layout/ribbons.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STROKE = 7, STROKE_ON = 4 }; /* hatching: period and length of a stroke, logical pixels */

static const double most_opacity = 0.96, hatched_opacity = 0.62;

/* Vertical extent of a ribbon of width 1: steep ribbons keep their width, but with diminishing
 * effect up to twice the height; in narrow gaps steep ribbons would merge otherwise. */
static float ribbons_bulge(float steep)
{
    float more = sqrtf(1 + steep * steep) - 1;
    return 1 + more / (1 + more);
}

double ribbon_bulge(double steep)
{
    return (double)ribbons_bulge((float)steep);
}

void ribbons_finish(struct ribbons *r)
{
    free(r->image.pixels);
    free(r->items);
    free(r->gaps);
    free(r->bars);
    free(r->pixels);
    free(r->column);
    *r = (struct ribbons){0};
}

/* A uniform cubic B-spline with three equal control points at each end and equal steps in x between
 * them: x is linear along it, y starts and ends level. It has three polynomial pieces. */
double ribbon_at(double way)
{
    double u = (way < 0 ? 0 : way > 1 ? 1 : way) * 3;
    if (u < 1)
        return u * u * u / 6;
    if (u < 2) {
        double t = u - 1;
        return (1 + 3 * t + 3 * t * t - 2 * t * t * t) / 6;
    }
    double t = 3 - u;
    return 1 - t * t * t / 6;
}

double ribbon_slope(double way)
{
    double u = (way < 0 ? 0 : way > 1 ? 1 : way) * 3;
    if (u < 1)
        return 3 * u * u / 2;
    if (u < 2) {
        double t = u - 1;
        return 3 * (1 + 2 * t - 2 * t * t) / 2;
    }
    double t = 3 - u;
    return 3 * t * t / 2;
}

int ribbons_begin(struct ribbons *r, int w, int h, double scale, const color_t *map, color_t ground)
{
    r->busy = 0;
    r->item_count = r->gap_count = r->bar_count = r->gap = 0;
    r->x = -1;
    if (w != r->w || h != r->h || !r->pixels || !r->column) {
        free(r->pixels);
        free(r->column);
        r->pixels = malloc((size_t)w * (size_t)h * sizeof *r->pixels + 1);
        r->column = malloc((size_t)h * 4 * sizeof *r->column + 1);
    }
    r->w = w;
    r->h = h;
    r->scale = scale;
    r->map = map;
    r->ground = ground;
    return r->pixels && r->column ? 0 : -ENOMEM;
}

void ribbons_gap(struct ribbons *r, double x0, double x1)
{
    if (ARRAY_FIT_AT(r->gaps, r->gap_capacity, r->gap_count) == 0)
        r->gaps[r->gap_count++] = (struct ribbons_gap){(float)x0, (float)x1, r->item_count, 0};
}

void ribbons_add(struct ribbons *r, const struct ribbon *item)
{
    if (!r->gap_count || ARRAY_FIT_AT(r->items, r->item_capacity, r->item_count) != 0)
        return;
    r->items[r->item_count++] = *item;
    r->gaps[r->gap_count - 1].count++;
}

void ribbons_bar(struct ribbons *r, const struct ribbons_bar *bar)
{
    if (ARRAY_FIT_AT(r->bars, r->bar_capacity, r->bar_count) == 0)
        r->bars[r->bar_count++] = *bar;
}

void ribbons_start(struct ribbons *r)
{
    for (size_t i = 0; i < (size_t)r->w * (size_t)r->h; i++)
        r->pixels[i] = color_pixel(r->ground);
    r->busy = 1;
}

/* Add the vertical run from top to bottom to a pixel column's densities: each pixel by the share of
 * its height that is covered. */
static void ribbons_add_run(float *density, float *colors, int h, float top, float bottom,
                            float add, float share)
{
    if (!(bottom > 0 && top < (float)h)) /* also if one is NaN */
        return;
    top = top < 0 ? 0 : top;
    bottom = bottom > (float)h ? (float)h : bottom;
    int a = (int)top, b = (int)bottom;
    if (a == b) {
        float d = add * (bottom - top);
        density[a] += d;
        colors[a] += d * share;
        return;
    }
    float d = add * ((float)(a + 1) - top), color = add * share;
    density[a] += d;
    colors[a] += d * share;
    for (int y = a + 1; y < b; y++) {
        density[y] += add;
        colors[y] += color;
    }
    if (b < h) {
        d = add * (bottom - (float)b);
        density[b] += d;
        colors[b] += d * share;
    }
}

static void ribbons_gather(struct ribbons *r, const struct ribbons_gap *gap, int x)
{
    float *solid = r->column, *hatched = solid + r->h, *colors = hatched + r->h;
    double length = gap->x1 - gap->x0, way = ((double)x + 0.5 - gap->x0) / length;
    float at = (float)ribbon_at(way), slope = (float)(ribbon_slope(way) / length);
    memset(r->column, 0, (size_t)r->h * 3 * sizeof *r->column);
    for (uint32_t i = 0; i < gap->count; i++) {
        const struct ribbon *item = &r->items[gap->first + i];
        float dy = item->y1 - item->y0, steep = dy * slope;
        float tall = item->width * ribbons_bulge(steep);
        float middle = item->y0 + dy * at, density = item->density, way_up = fabsf(steep);
        if (tall <
            way_up) { /* equal density along the whole pixel column, otherwise beads appear */
            density *= tall / way_up;
            tall = way_up;
        }
        ribbons_add_run(item->hatched ? hatched : solid, colors, r->h, middle - tall * 0.5f,
                        middle + tall * 0.5f, density, item->share);
    }
}

static uint32_t ribbons_mix_hash(uint32_t ground, uint32_t color, double opacity)
{
    return (uint32_t)((double)ground + ((double)color - (double)ground) * opacity + 0.5);
}

static uint32_t ribbons_blend(uint32_t pixel, color_t color, double opacity)
{
    return 0xff000000u | ribbons_mix_hash(pixel >> 16 & 0xff, color >> 24, opacity) << 16 |
           ribbons_mix_hash(pixel >> 8 & 0xff, color >> 16 & 0xff, opacity) << 8 |
           ribbons_mix_hash(pixel & 0xff, color >> 8 & 0xff, opacity);
}

static void ribbons_develop(struct ribbons *r, int x)
{
    const float *solid = r->column, *hatched = solid + r->h, *colors = hatched + r->h;
    int period = (int)lround(STROKE * r->scale), on = (int)lround(STROKE_ON * r->scale);
    for (int y = 0; y < r->h; y++) {
        double all = (double)(solid[y] + hatched[y]);
        if (all <= 0)
            continue;
        double opacity = most_opacity * (1 - exp(-(double)solid[y]));
        /* hatching leans to the left by the same angle everywhere */
        if (hatched[y] > 0 && (x + y) % period < on)
            opacity += (1 - opacity) * hatched_opacity * (1 - exp(-(double)hatched[y]));
        int share = (int)((double)colors[y] / all * 255 + 0.5);
        uint32_t *to = &r->pixels[(size_t)y * (size_t)r->w + (size_t)x];
        *to = ribbons_blend(*to, r->map[share < 0 ? 0 : share > 255 ? 255 : share], opacity);
    }
}

/* ---- bars ---- */

/* Convert coverage and colours of one column of bars to pixels. */
static void ribbons_flush_bars(struct ribbons *r, const struct ribbons_bar *bar)
{
    int x0 = (int)lround(bar->x0), x1 = (int)lround(bar->x1);
    x0 = x0 < 0 ? 0 : x0;
    x1 = x1 > r->w ? r->w : x1 <= x0 ? x0 + 1 : x1;
    for (int y = 0; y < r->h; y++) {
        const float *sum = r->column + (size_t)y * 4;
        if (sum[3] <= 0)
            continue;
        color_t color = (color_t)(sum[0] / sum[3] + 0.5f) << 24 |
                        (color_t)(sum[1] / sum[3] + 0.5f) << 16 |
                        (color_t)(sum[2] / sum[3] + 0.5f) << 8 | 0xff;
        for (int x = x0; x < x1 && x < r->w; x++) {
            uint32_t *to = &r->pixels[(size_t)y * (size_t)r->w + (size_t)x];
            *to = ribbons_blend(*to, color, sum[3] > 1 ? 1 : (double)sum[3]);
        }
    }
    memset(r->column, 0, (size_t)r->h * 4 * sizeof *r->column);
}

static void ribbons_draw_bars(struct ribbons *r)
{
    memset(r->column, 0, (size_t)r->h * 4 * sizeof *r->column);
    for (uint32_t i = 0; i < r->bar_count; i++) {
        const struct ribbons_bar *b = &r->bars[i];
        float top = b->y0 < 0 ? 0 : b->y0, bottom = b->y1 > (float)r->h ? (float)r->h : b->y1;
        for (int y = (int)top; (float)y < bottom; y++) {
            float from = top > (float)y ? top : (float)y,
                  to = bottom < (float)(y + 1) ? bottom : (float)(y + 1);
            float *sum = r->column + (size_t)y * 4, share = to - from;
            sum[0] += share * (float)(b->color >> 24);
            sum[1] += share * (float)(b->color >> 16 & 0xff);
            sum[2] += share * (float)(b->color >> 8 & 0xff);
            sum[3] += share;
        }
        if (i + 1 == r->bar_count || r->bars[i + 1].x0 != b->x0)
            ribbons_flush_bars(r, b);
    }
}

/* ---- the whole ---- */

static void ribbons_publish(struct ribbons *r)
{
    ribbons_draw_bars(r);
    image_show(&r->image, &r->pixels, r->w, r->h);
    r->busy = 0;
}

int ribbons_work(struct ribbons *r, uint64_t units)
{
    uint64_t used = 0;
    while (r->busy && used < units) {
        if (r->gap == r->gap_count) {
            ribbons_publish(r);
            break;
        }
        const struct ribbons_gap *gap = &r->gaps[r->gap];
        int first = (int)fmaxf(floorf(gap->x0), 0), last = (int)fminf(ceilf(gap->x1), (float)r->w);
        r->x = r->x < first ? first : r->x;
        if (!gap->count || r->x >= last) {
            r->gap++;
            r->x = -1;
            continue;
        }
        ribbons_gather(r, gap, r->x);
        ribbons_develop(r, r->x);
        used += gap->count + (uint64_t)r->h / 4;
        r->x++;
    }
    return r->busy;
}
