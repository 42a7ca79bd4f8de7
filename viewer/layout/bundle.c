/* Picture of bundled edges: density accumulated strip by strip, then converted to colour. */
#include "viewer/layout/bundle.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP = 128 }; /* rows of a strip */

static const double beta = 0.88; /* strength of bundling (Holten, section 4.2) */

void bundle_finish(struct bundle *b)
{
    free(b->image.pixels);
    free(b->edges);
    free(b->pixels);
    free(b->density);
    *b = (struct bundle){0};
}

int bundle_begin(struct bundle *b, int w, int h, color_t ground)
{
    b->busy = 0;
    b->edge_count = 0;
    b->edge = 0;
    b->row = 0;
    if (w != b->w || h != b->h || !b->pixels || !b->density) {
        free(b->pixels);
        free(b->density);
        b->pixels = malloc((size_t)w * (size_t)h * sizeof *b->pixels + 1);
        b->density = malloc((size_t)w * STRIP * 4 * sizeof *b->density + 1);
    }
    b->w = w;
    b->h = h;
    b->ground = ground;
    return b->pixels && b->density ? 0 : -ENOMEM;
}

void bundle_add(struct bundle *b, const struct bundle_edge *edge)
{
    if (ARRAY_FIT_AT(b->edges, b->edge_capacity, b->edge_count) != 0)
        return;
    b->edges[b->edge_count++] = *edge;
}

void bundle_bend(struct bundle_edge *e, struct point a, struct point b)
{
    e->at[1].x = e->at[0].x + (a.x - e->at[0].x) * beta;
    e->at[1].y = e->at[0].y + (a.y - e->at[0].y) * beta;
    e->at[2].x = e->at[3].x + (b.x - e->at[3].x) * beta;
    e->at[2].y = e->at[3].y + (b.y - e->at[3].y) * beta;
    /* Additionally move both control points towards the centre between the groups, so that all
     * edges of a bundle share the middle of their curves. */
    double mx = (a.x + b.x) / 2, my = (a.y + b.y) / 2;
    e->at[1].x += (mx - e->at[1].x) * 0.35;
    e->at[1].y += (my - e->at[1].y) * 0.35;
    e->at[2].x += (mx - e->at[2].x) * 0.35;
    e->at[2].y += (my - e->at[2].y) * 0.35;
}

static double bundle_length_of(const struct bundle_edge *e)
{
    double length = 0;
    for (int i = 0; i < 3; i++)
        length += hypot(e->at[i + 1].x - e->at[i].x, e->at[i + 1].y - e->at[i].y);
    return length;
}

void bundle_start(struct bundle *b)
{
    /* The denser the drawing, the less each edge contributes. */
    double ink = 0, x0 = b->w, x1 = 0, y0 = b->h, y1 = 0;
    for (uint32_t i = 0; i < b->edge_count; i++) {
        const struct bundle_edge *e = &b->edges[i];
        ink += bundle_length_of(e) * (double)e->weight;
        for (int k = 0; k < 4; k += 3) {
            x0 = fmin(x0, e->at[k].x);
            x1 = fmax(x1, e->at[k].x);
            y0 = fmin(y0, e->at[k].y);
            y1 = fmax(y1, e->at[k].y);
        }
    }
    double area = fmax(x1 - x0, 1) * fmax(y1 - y0, 1);
    b->strength = fmin(fmax(0.16 * area / fmax(ink, 1), 0.02), 0.75);
    b->busy = 1;
    memset(b->density, 0, (size_t)b->w * STRIP * 4 * sizeof *b->density);
}

/* Distribute a point over the four nearest pixels (bilinear). */
static void bundle_splat(struct bundle *b, double x, double y, const float *rgbs)
{
    double fx = floor(x - 0.5), fy = floor(y - 0.5);
    int ix = (int)fx, iy = (int)fy - b->row;
    float tx = (float)(x - 0.5 - fx), ty = (float)(y - 0.5 - fy);
    for (int k = 0; k < 4; k++) {
        int px = ix + (k & 1), py = iy + (k >> 1);
        if (px < 0 || px >= b->w || py < 0 || py >= STRIP)
            continue;
        float share = (k & 1 ? tx : 1 - tx) * (k & 2 ? ty : 1 - ty);
        float *to = b->density + ((size_t)py * (size_t)b->w + (size_t)px) * 4;
        for (int c = 0; c < 4; c++)
            to[c] += share * rgbs[c];
    }
}

/* The control points' convex hull contains the Bezier curve: test its bounding box. */
static int bundle_touches(const struct bundle *b, const struct bundle_edge *e)
{
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (int i = 0; i < 4; i++) {
        x0 = fmin(x0, e->at[i].x);
        x1 = fmax(x1, e->at[i].x);
        y0 = fmin(y0, e->at[i].y);
        y1 = fmax(y1, e->at[i].y);
    }
    return x1 >= -1 && x0 <= b->w + 1 && y1 >= b->row - 1 && y0 <= b->row + STRIP + 1;
}

static uint64_t bundle_trace(struct bundle *b, const struct bundle_edge *e)
{
    if (!bundle_touches(b, e))
        return 1;
    double length = bundle_length_of(e);
    uint64_t steps = (uint64_t)fmin(ceil(length / 0.75) + 1, 20000);
    float add = (float)(b->strength * (double)e->weight * length / (double)steps);
    const float rgbs[4] = {add * (float)(e->color >> 24), add * (float)(e->color >> 16 & 0xff),
                           add * (float)(e->color >> 8 & 0xff), add};
    for (uint64_t i = 0; i < steps; i++) {
        const struct point p = bundle_point(e->at, ((double)i + 0.5) / (double)steps);
        if (p.x >= -1 && p.x <= b->w + 1 && p.y >= b->row - 1 && p.y <= b->row + STRIP + 1)
            bundle_splat(b, p.x, p.y, rgbs);
    }
    return steps + 1;
}

static uint32_t bundle_blend(float part, uint32_t ground, float sum, double opacity)
{
    double color = sum > 0 ? (double)(part / sum) : 0;
    double mixed = ground + (color - ground) * opacity;
    return (uint32_t)(mixed < 0 ? 0 : mixed > 255 ? 255 : mixed + 0.5);
}

/* Convert density to colour; opacity follows the Beer-Lambert law. */
static uint64_t bundle_develop(struct bundle *b)
{
    int rows = b->h - b->row < STRIP ? b->h - b->row : STRIP;
    uint32_t r = b->ground >> 24, g = b->ground >> 16 & 0xff, u = b->ground >> 8 & 0xff;
    for (size_t i = 0; i < (size_t)rows * (size_t)b->w; i++) {
        const float *d = b->density + i * 4;
        uint32_t *to = b->pixels + (size_t)b->row * (size_t)b->w + i;
        if (d[3] <= 0) {
            *to = color_pixel(b->ground);
            continue;
        }
        double opacity = 0.85 * (1 - exp(-(double)d[3]));
        *to = 0xff000000u | bundle_blend(d[0], r, d[3], opacity) << 16 |
              bundle_blend(d[1], g, d[3], opacity) << 8 | bundle_blend(d[2], u, d[3], opacity);
    }
    memset(b->density, 0, (size_t)b->w * STRIP * 4 * sizeof *b->density);
    return (uint64_t)b->w * (uint64_t)rows / 8;
}

int bundle_work(struct bundle *b, uint64_t units)
{
    uint64_t done = 0;
    while (b->busy && done < units) {
        if (b->edge < b->edge_count) {
            done += bundle_trace(b, &b->edges[b->edge++]);
            continue;
        }
        done += bundle_develop(b);
        b->edge = 0;
        b->row += STRIP;
        if (b->row < b->h)
            continue;
        image_show(&b->image, &b->pixels, b->w, b->h);
        b->busy = 0;
    }
    return b->busy;
}
