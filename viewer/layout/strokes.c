/* Strokes as items of the scene or painted into a picture. */
#include "viewer/layout/strokes.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "viewer/layout/mix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void strokes_finish(struct strokes *s)
{
    free(s->all);
    free(s->image.pixels);
    free(s->back);
    memset(s, 0, sizeof *s);
}

void strokes_clear(struct strokes *s)
{
    s->count = 0;
    s->version++;
}

void strokes_add(struct strokes *s, const struct stroke *stroke)
{
    if (ARRAY_FIT_AT(s->all, s->room, s->count) != 0)
        return;
    s->all[s->count++] = *stroke;
}

void strokes_sort(struct strokes *s)
{
    struct key_place *places = malloc(2 * ((size_t)s->count + 1) * sizeof *places);
    struct stroke *sorted = malloc(((size_t)s->room + 1) * sizeof *sorted);
    if (places && sorted) {
        for (uint32_t i = 0; i < s->count; i++)
            places[i] = (struct key_place){key_of_largest((double)s->all[i].away), i};
        const struct key_place *order = key_order(places, places + s->count, s->count);
        for (uint32_t i = 0; i < s->count; i++)
            sorted[i] = s->all[order[i].place];
        struct stroke *unsorted = s->all;
        s->all = sorted;
        sorted = unsorted;
    }
    free(places);
    free(sorted);
}

/* ---- picture ---- */

struct canvas_area {
    uint32_t *pixels;
    int w, h;
};

static void strokes_blend(uint32_t *pixel, color_t color, float share)
{
    *pixel = pixel_blend(*pixel, color, (uint32_t)(share * (float)((color & 0xff) + 1) + 0.5f));
}

static void strokes_blend_pixel(const struct canvas_area *c, int x, int y, color_t color,
                                float share)
{
    if (share > 0 && x >= 0 && y >= 0 && x < c->w && y < c->h)
        strokes_blend(&c->pixels[(size_t)y * (size_t)c->w + (size_t)x], color,
                      share < 1 ? share : 1);
}

static void strokes_disc(const struct canvas_area *c, float cx, float cy, float radius,
                         color_t color)
{
    /* pixels whose centre is within half a pixel of the disc */
    float left = cx - radius - 1, top = cy - radius - 1;
    int x0 = (int)ceilf(fmaxf(left, 0)), x1 = (int)fminf(cx + radius + 1, (float)c->w);
    int y0 = (int)ceilf(fmaxf(top, 0)), y1 = (int)fminf(cy + radius + 1, (float)c->h);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            float dx = (float)x + 0.5f - cx, dy = (float)y + 0.5f - cy;
            strokes_blend_pixel(c, x, y, color, radius + 0.5f - sqrtf(dx * dx + dy * dy));
        }
}

/* Equal to fminf(fmaxf(x, low), high), which compile to function calls. */
static inline float strokes_clamp(float x, float high)
{
    x = x > 0 ? x : 0;
    return x < high ? x : high;
}

/* One cut: the pixels from low to high across the line.
 * @param step  distance in memory between neighbouring pixels across the line */
static inline void strokes_cut(uint32_t *pixel, size_t step, int across, float low, float high,
                               color_t color, float whole)
{
    for (int k = (int)strokes_clamp(low, (float)across); k < across && (float)k < high; k++) {
        float end = (float)(k + 1), begin = (float)k;
        float share = ((high < end ? high : end) - (low > begin ? low : begin)) * whole;
        if (share > 0)
            strokes_blend(pixel + (size_t)k * step, color, share < 1 ? share : 1);
    }
}

static void strokes_swap_values(float *a, float *b)
{
    float value = *a;
    *a = *b;
    *b = value;
}

/* Draw a line as a sequence of cuts across it: one for each pixel column where it is flat, else one
 * for each row. */
static void strokes_line(const struct canvas_area *c, const struct stroke *t)
{
    float x0 = t->x0, y0 = t->y0, x1 = t->x1, y1 = t->y1;
    int steep = fabsf(y1 - y0) > fabsf(x1 - x0);
    if (steep) {
        strokes_swap_values(&x0, &y0);
        strokes_swap_values(&x1, &y1);
    }
    if (x1 < x0) {
        strokes_swap_values(&x0, &x1);
        strokes_swap_values(&y0, &y1);
    }
    float length = x1 - x0, slope = length > 0 ? (y1 - y0) / length : 0;
    float half = t->width / 2 * sqrtf(1 + slope * slope);
    int along = steep ? c->h : c->w, across = steep ? c->w : c->h;
    size_t row = (size_t)c->w, next = steep ? row : 1, step = steep ? 1 : row;
    int first = (int)strokes_clamp(x0, (float)along),
        last = (int)ceilf(strokes_clamp(x1, (float)along));
    for (int at = first; at < last; at++) {
        float end = (float)at + 1, begin = (float)at;
        float whole = (end < x1 ? end : x1) - (begin > x0 ? begin : x0);
        float middle = y0 + slope * ((float)at + 0.5f - x0);
        if (whole > 0)
            strokes_cut(c->pixels + (size_t)at * next, step, across, middle - half, middle + half,
                        t->color, whole);
    }
}

static uint64_t strokes_key_of(const struct strokes *s, struct box box, double scale,
                               color_t ground)
{
    const double parts[] = {box.x, box.y, box.w, box.h, scale, ground};
    uint64_t key = s->count + s->version * UINT64_C(0x9e3779b97f4a7c15);
    key = mix_reals(key, parts, sizeof parts / sizeof *parts);
    return key ? key : 1;
}

void strokes_draw_items(const struct strokes *s, struct scene *scene)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct stroke *t = &s->all[i];
        if (t->x0 == t->x1 && t->y0 == t->y1)
            scene_disc(scene, (double)t->x0, (double)t->y0, (double)t->width / 2, t->color);
        else
            scene_line(scene, (double)t->x0, (double)t->y0, (double)t->x1, (double)t->y1,
                       (double)t->width, t->color);
    }
}

int strokes_begin(struct strokes *s, int w, int h, color_t ground)
{
    size_t count = (size_t)w * (size_t)h;
    s->busy = 0;
    if (!s->back || w != s->back_w || h != s->back_h) {
        free(s->back);
        s->back = malloc((count + 1) * sizeof *s->back);
        if (!s->back)
            return -ENOMEM;
    }
    s->back_w = w;
    s->back_h = h;
    s->left = s->top = 0;
    s->scale = 1;
    for (size_t i = 0; i < count; i++)
        s->back[i] = color_pixel(ground);
    s->next = 0;
    s->busy = 1;
    return 0;
}

/* Approximate number of pixels that a stroke covers within the picture. */
static uint64_t strokes_cost_of(const struct strokes *s, const struct stroke *t)
{
    float w = (float)s->back_w, h = (float)s->back_h, wide = t->width + 2;
    float x = fminf(fmaxf(t->x1, 0), w) - fminf(fmaxf(t->x0, 0), w),
          y = fminf(fmaxf(t->y1, 0), h) - fminf(fmaxf(t->y0, 0), h);
    return (uint64_t)((fmaxf(fabsf(x), fabsf(y)) + (x == 0 && y == 0 ? wide : 1)) * wide) + 4;
}

static int strokes_outside(const struct strokes *s, const struct stroke *t)
{
    float r = t->width / 2 + 1;
    return fmaxf(t->x0, t->x1) < -r || fmaxf(t->y0, t->y1) < -r ||
           fminf(t->x0, t->x1) > (float)s->back_w + r || fminf(t->y0, t->y1) > (float)s->back_h + r;
}

int strokes_work(struct strokes *s, uint64_t units)
{
    struct canvas_area c = {s->back, s->back_w, s->back_h};
    uint64_t done = 0;
    for (; s->busy && s->next < s->count && done < units; s->next++) {
        struct stroke t = s->all[s->next];
        t.x0 = (t.x0 - s->left) * s->scale;
        t.y0 = (t.y0 - s->top) * s->scale;
        t.x1 = (t.x1 - s->left) * s->scale;
        t.y1 = (t.y1 - s->top) * s->scale;
        t.width *= s->scale;
        done += 1;
        if (strokes_outside(s, &t))
            continue;
        done += strokes_cost_of(s, &t);
        if (t.x0 == t.x1 && t.y0 == t.y1)
            strokes_disc(&c, t.x0, t.y0, t.width / 2, t.color);
        else
            strokes_line(&c, &t);
    }
    if (!s->busy || s->next < s->count)
        return s->busy;
    image_show(&s->image, &s->back, s->back_w, s->back_h);
    s->busy = 0;
    return 0;
}

void strokes_draw(struct strokes *s, struct scene *scene, struct box box, color_t ground)
{
    if (s->count <= STROKES_ITEMS) {
        strokes_draw_items(s, scene);
        return;
    }
    int w = (int)lround(box.w * scene->scale), h = (int)lround(box.h * scene->scale);
    uint64_t key = strokes_key_of(s, box, scene->scale, ground);
    if (w <= 0 || h <= 0)
        return;
    if (key != s->key) {
        s->key = 0;
        if (strokes_begin(s, w, h, ground) < 0)
            return;
        s->left = (float)box.x;
        s->top = (float)box.y;
        s->scale = (float)scene->scale;
        strokes_work(s, UINT64_MAX);
        s->key = key;
    }
    scene_image(scene, box, &s->image);
}
