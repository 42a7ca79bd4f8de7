/* A picture in memory: areas, lines and masks blended onto its pixels. */
#include "viewer/draw/canvas.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

_Static_assert(sizeof(wchar_t) == sizeof(uint32_t), "wmemset() sets pixels");

int canvas_resize(struct canvas *c, int w, int h)
{
    uint32_t *pixels = calloc((size_t)w * (size_t)h + 1, sizeof *pixels);
    if (!pixels)
        return -ENOMEM;
    free(c->pixels);
    c->pixels = pixels;
    c->w = w;
    c->h = h;
    c->clip = (struct clip){0, 0, w, h};
    return 0;
}

void canvas_finish(struct canvas *c)
{
    free(c->pixels);
    free(c->cover);
    free(c->covered);
    memset(c, 0, sizeof *c);
}

struct clip clip_and(struct clip a, struct clip b)
{
    return (struct clip){a.x0 > b.x0 ? a.x0 : b.x0, a.y0 > b.y0 ? a.y0 : b.y0,
                         a.x1 < b.x1 ? a.x1 : b.x1, a.y1 < b.y1 ? a.y1 : b.y1};
}

int clip_empty(struct clip c)
{
    return c.x0 >= c.x1 || c.y0 >= c.y1;
}

/* Pixels a box touches, inside the clip. */
static struct clip canvas_touched(const struct canvas *c, double x0, double y0, double x1,
                                  double y1)
{
    const double far = 1 << 24;
    struct clip box = {(int)floor(fmax(x0, -far)), (int)floor(fmax(y0, -far)),
                       (int)ceil(fmin(x1, far)), (int)ceil(fmin(y1, far))};
    return clip_and(box, c->clip);
}

/* Blend a colour onto a pixel. @param opacity  0 to 255, in place of the alpha of the colour */
static inline void canvas_blend(uint32_t *pixel, color_t color, uint32_t opacity)
{
    *pixel =
        opacity >= 255 ? color_pixel(color) : pixel_blend(*pixel, color, opacity + (opacity >> 7));
}

static inline void canvas_cover(uint32_t *pixel, color_t color, double share)
{
    if (share > 0)
        canvas_blend(pixel, color, (uint32_t)((share < 1 ? share : 1) * (color & 0xff) + 0.5));
}

/* Blend one colour onto the pixels from x0 up to x1 of a row. */
static void canvas_fill(uint32_t *row, int x0, int x1, color_t color)
{
    if (x0 >= x1)
        return;
    if ((color & 0xff) == 0xff) {
        wmemset((wchar_t *)(row + x0), (wchar_t)color_pixel(color), (size_t)(x1 - x0));
        return;
    }
    for (int x = x0; x < x1; x++)
        canvas_blend(&row[x], color, color & 0xff);
}

void canvas_rect(struct canvas *c, struct clip box, color_t color)
{
    struct clip r = clip_and(box, c->clip);
    for (int y = r.y0; y < r.y1; y++)
        canvas_fill(c->pixels + (size_t)y * (size_t)c->w, r.x0, r.x1, color);
}

/* Signed distance to a rounded box, negative inside. */
static double canvas_round_distance(double x, double y, struct box box, double radius)
{
    double qx = fabs(x - box.x - box.w / 2) - box.w / 2 + radius;
    double qy = fabs(y - box.y - box.h / 2) - box.h / 2 + radius;
    return hypot(fmax(qx, 0), fmax(qy, 0)) + fmin(fmax(qx, qy), 0) - radius;
}

/* First pixel of a clip at or after a coordinate. */
static int canvas_clamp(double x, struct clip r)
{
    return (int)ceil(fmin(fmax(x, r.x0), r.x1));
}

void canvas_round(struct canvas *c, struct box box, double radius, color_t color)
{
    radius = fmin(radius, fmin(box.w, box.h) / 2);
    struct clip r = canvas_touched(c, box.x, box.y, box.x + box.w, box.y + box.h);
    int reach = (int)ceil(radius) + 1;
    for (int y = r.y0; y < r.y1; y++) {
        uint32_t *row = c->pixels + (size_t)y * (size_t)c->w;
        int edge = y < box.y + reach || y >= box.y + box.h - reach;
        int left = edge ? canvas_clamp(box.x + reach, r) : r.x0;
        int right = edge ? canvas_clamp(fmax(box.x + box.w - reach, left), r) : r.x1;
        for (int x = r.x0; x < left; x++)
            canvas_cover(&row[x], color,
                         0.5 - canvas_round_distance(x + 0.5, y + 0.5, box, radius));
        canvas_fill(row, left, right, color);
        for (int x = right; x < r.x1; x++)
            canvas_cover(&row[x], color,
                         0.5 - canvas_round_distance(x + 0.5, y + 0.5, box, radius));
    }
}

void canvas_outline(struct canvas *c, struct box box, double radius, double width, color_t color)
{
    radius = fmin(radius, fmin(box.w, box.h) / 2);
    struct clip r = canvas_touched(c, box.x, box.y, box.x + box.w, box.y + box.h);
    int reach = (int)ceil(fmax(radius, width)) + 1;
    for (int y = r.y0; y < r.y1; y++) {
        uint32_t *row = c->pixels + (size_t)y * (size_t)c->w;
        int edge = y < box.y + reach || y >= box.y + box.h - reach;
        for (int x = r.x0; x < r.x1; x++) {
            if (!edge && x >= box.x + reach && x < box.x + box.w - reach) {
                x = (int)fmax(x, floor(box.x + box.w) - reach - 1);
                continue;
            }
            double d = canvas_round_distance(x + 0.5, y + 0.5, box, radius);
            canvas_cover(&row[x], color, fmin(0.5 - d, d + width + 0.5));
        }
    }
}

void canvas_disc(struct canvas *c, double cx, double cy, double radius, color_t color)
{
    struct clip r =
        canvas_touched(c, cx - radius - 1, cy - radius - 1, cx + radius + 1, cy + radius + 1);
    for (int y = r.y0; y < r.y1; y++)
        for (int x = r.x0; x < r.x1; x++)
            canvas_cover(&c->pixels[(size_t)y * (size_t)c->w + (size_t)x], color,
                         radius + 0.5 - hypot(x + 0.5 - cx, y + 0.5 - cy));
}

/* ---- curves -------------------------------------------------------------- */

/* The pixels of a row of a segment's box that are near its line. */
static struct clip canvas_row_near(struct clip box, int y, struct point a, struct point b,
                                   double reach)
{
    double dx = b.x - a.x, dy = b.y - a.y;
    if (fabs(dy) < 1)
        return (struct clip){box.x0, y, box.x1, y + 1};
    double at = a.x + (y + 0.5 - a.y) * dx / dy, space = reach * sqrt(dx * dx + dy * dy) / fabs(dy);
    return (struct clip){(int)fmax(box.x0, floor(at - space)), y,
                         (int)fmin(box.x1, ceil(at + space)), y + 1};
}

/* Add the coverage of a segment. Where it overlaps, the larger value stays, so that joints are not
 * visible.
 * @param count  pixels covered so far @return now */
static size_t canvas_segment(struct canvas *c, struct clip area, struct point a, struct point b,
                             double half, size_t count)
{
    struct clip r = {(int)floor(fmin(a.x, b.x) - half - 1), (int)floor(fmin(a.y, b.y) - half - 1),
                     (int)ceil(fmax(a.x, b.x) + half + 1), (int)ceil(fmax(a.y, b.y) + half + 1)};
    r = clip_and(r, area);
    double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy, reach = half + 0.5;
    for (int y = r.y0; y < r.y1; y++) {
        struct clip row = canvas_row_near(r, y, a, b, reach);
        size_t first = (size_t)(y - area.y0) * (size_t)(area.x1 - area.x0);
        for (int x = row.x0; x < row.x1; x++) {
            double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
            double t = square > 0 ? (px * dx + py * dy) / square : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            double ex = px - t * dx, ey = py - t * dy, d2 = ex * ex + ey * ey;
            if (d2 >= reach * reach)
                continue;
            uint8_t value = (uint8_t)(fmin(reach - sqrt(d2), 1) * 255 + 0.5);
            size_t at = first + (size_t)(x - area.x0);
            if (value > c->cover[at]) {
                if (!c->cover[at])
                    c->covered[count++] = (uint32_t)at;
                c->cover[at] = value;
            }
        }
    }
    return count;
}

static int canvas_reserve_cover(struct canvas *c, size_t pixels)
{
    if (pixels <= c->cover_capacity)
        return 0;
    free(c->cover);
    free(c->covered);
    c->cover = calloc(pixels, sizeof *c->cover);
    c->covered = malloc(pixels * sizeof *c->covered);
    c->cover_capacity = c->cover && c->covered ? pixels : 0;
    return c->cover_capacity ? 0 : -ENOMEM;
}

static uint32_t canvas_opacity(uint8_t cover, color_t color)
{
    uint32_t alpha = color & 0xff;
    return alpha == 255 ? cover : cover * alpha / 255;
}

void canvas_curve(struct canvas *c, const struct point *points, size_t count, double width,
                  color_t color)
{
    double half = width / 2, x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        x0 = fmin(x0, points[i].x);
        x1 = fmax(x1, points[i].x);
        y0 = fmin(y0, points[i].y);
        y1 = fmax(y1, points[i].y);
    }
    struct clip area =
        canvas_touched(c, x0 - half - 1, y0 - half - 1, x1 + half + 1, y1 + half + 1);
    size_t w = (size_t)(area.x1 - area.x0), covered = 0;
    if (clip_empty(area) || canvas_reserve_cover(c, w * (size_t)(area.y1 - area.y0)) < 0)
        return;
    for (size_t i = 0; i + 1 < count; i++)
        covered = canvas_segment(c, area, points[i], points[i + 1], half, covered);
    for (size_t i = 0; i < covered; i++) {
        size_t at = c->covered[i];
        size_t x = (size_t)area.x0 + at % w, y = (size_t)area.y0 + at / w;
        canvas_blend(&c->pixels[y * (size_t)c->w + x], color, canvas_opacity(c->cover[at], color));
        c->cover[at] = 0;
    }
}

/* ---- areas --------------------------------------------------------------- */

/* Blend one colour onto a column of pixels. @param top, bottom  may lie within pixels */
static void canvas_column(struct canvas *c, int x, double top, double bottom, color_t color)
{
    if (bottom <= top)
        return;
    struct clip r = canvas_touched(c, x, top, x + 1, bottom);
    for (int y = r.y0; y < r.y1; y++) {
        double share = fmin(bottom, y + 1) - fmax(top, y);
        canvas_cover(&c->pixels[(size_t)y * (size_t)c->w + (size_t)x], color, share);
    }
}

void canvas_area(struct canvas *c, const struct point *p, size_t count, color_t color)
{
    if (count < 4 || !(color & 0xff))
        return;
    size_t i = 0, last = count / 2 - 1;
    struct clip r = canvas_touched(c, p[0].x - 0.5, c->clip.y0, p[2 * last].x + 0.5, c->clip.y1);
    for (int x = r.x0; x < r.x1; x++) {
        double at = x + 0.5;
        if (at < p[0].x || at >= p[2 * last].x)
            continue;
        while (i + 1 < last && p[2 * (i + 1)].x <= at)
            i++;
        double w = p[2 * (i + 1)].x - p[2 * i].x;
        double t = w > 0 ? (at - p[2 * i].x) / w : 0;
        canvas_column(c, x, p[2 * i].y + (p[2 * (i + 1)].y - p[2 * i].y) * t,
                      p[2 * i + 1].y + (p[2 * (i + 1) + 1].y - p[2 * i + 1].y) * t, color);
    }
}

/* The distance of a point from an edge of a polygon is x * this x + y * this y + offset, positive
 * inside. */
struct canvas_edge {
    double x, y, offset;
};

struct canvas_edges {
    struct canvas_edge list[CANVAS_POINTS];
    size_t count;
};

/* @param turn  sign: the direction of the edges */
static struct canvas_edge canvas_edge_of(struct point a, struct point b, double turn)
{
    double length = hypot(b.x - a.x, b.y - a.y), unit = (turn > 0 ? 1 : -1) / length;
    if (!(length > 0))
        return (struct canvas_edge){0, 0, INFINITY};
    struct canvas_edge edge = {(a.y - b.y) * unit, (b.x - a.x) * unit, 0};
    edge.offset = -edge.x * a.x - edge.y * a.y;
    return edge;
}

/* The part of a row that has at least a given distance from all edges of a convex polygon. */
static struct clip canvas_row_inside(const struct canvas_edges *edges, struct clip row,
                                     double distance)
{
    double from = row.x0, to = row.x1;
    for (size_t i = 0; i < edges->count && from < to; i++) {
        const struct canvas_edge *e = &edges->list[i];
        double left = (row.x0 + 0.5) * e->x + (row.y0 + 0.5) * e->y + e->offset;
        double at = row.x0 + (distance - left) / e->x; /* the distance is linear in x */
        if (e->x > 0)
            from = fmax(from, ceil(at));
        else if (e->x < 0)
            to = fmin(to, floor(at) + 1);
        else if (left < distance)
            to = from;
    }
    return from < to ? (struct clip){(int)from, row.y0, (int)to, row.y1}
                     : (struct clip){row.x0, row.y0, row.x0, row.y1};
}

/* Blend the pixels of a row from x0 up to x1, which edges may cut. */
static void canvas_cut_pixels(struct canvas *c, const struct canvas_edges *edges, struct clip row,
                              color_t color)
{
    for (int x = row.x0; x < row.x1; x++) {
        double share = 1;
        for (size_t i = 0; i < edges->count; i++) {
            const struct canvas_edge *e = &edges->list[i];
            share = fmin(share, (x + 0.5) * e->x + (row.y0 + 0.5) * e->y + e->offset + 0.5);
        }
        canvas_cover(&c->pixels[(size_t)row.y0 * (size_t)c->w + (size_t)x], color, share);
    }
}

void canvas_polygon(struct canvas *c, const struct point *p, size_t count, color_t color)
{
    double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY, turn = 0;
    struct canvas_edges edges;
    edges.count = count = count < CANVAS_POINTS ? count : CANVAS_POINTS;
    for (size_t i = 0; i < count; i++) {
        const struct point *q = &p[(i + 1) % count];
        turn += p[i].x * q->y - q->x * p[i].y;
        x0 = fmin(x0, p[i].x);
        x1 = fmax(x1, p[i].x);
        y0 = fmin(y0, p[i].y);
        y1 = fmax(y1, p[i].y);
    }
    for (size_t i = 0; i < count; i++)
        edges.list[i] = canvas_edge_of(p[i], p[(i + 1) % count], turn);
    struct clip r = canvas_touched(c, x0 - 1, y0 - 1, x1 + 1, y1 + 1);
    for (int y = r.y0; y < r.y1; y++) {
        struct clip some = canvas_row_inside(&edges, (struct clip){r.x0, y, r.x1, y + 1}, -0.5);
        struct clip whole = canvas_row_inside(&edges, some, 0.5);
        canvas_cut_pixels(c, &edges, (struct clip){some.x0, y, whole.x0, y + 1}, color);
        canvas_fill(c->pixels + (size_t)y * (size_t)c->w, whole.x0, whole.x1, color);
        canvas_cut_pixels(c, &edges, (struct clip){whole.x1, y, some.x1, y + 1}, color);
    }
}

/* ---- bitmaps ------------------------------------------------------------- */

void canvas_image(struct canvas *c, struct box box, const struct image *image)
{
    int left = (int)lround(box.x), top = (int)lround(box.y);
    int right = (int)lround(box.x + box.w), bottom = (int)lround(box.y + box.h);
    struct clip r = clip_and((struct clip){left, top, right, bottom}, c->clip);
    if (clip_empty(r) || image->w <= 0 || image->h <= 0)
        return;
    int64_t x_step = ((int64_t)image->w << 32) / (right - left);
    int64_t y_step = ((int64_t)image->h << 32) / (bottom - top);
    for (int y = r.y0; y < r.y1; y++) {
        int64_t row = ((y - top) * y_step + y_step / 2) >> 32;
        const uint32_t *from = image->pixels + row * image->w;
        uint32_t *to = c->pixels + (size_t)y * (size_t)c->w;
        int64_t at = (r.x0 - left) * x_step + x_step / 2;
        for (int x = r.x0; x < r.x1; x++, at += x_step) {
            uint32_t pixel = from[at >> 32];
            if (pixel >> 24)
                to[x] = pixel;
        }
    }
}

void canvas_mask(struct canvas *c, int left, int top, const uint8_t *mask, int w, int h,
                 color_t color)
{
    struct clip r = clip_and((struct clip){left, top, left + w, top + h}, c->clip);
    for (int y = r.y0; y < r.y1; y++) {
        const uint8_t *from = mask + (size_t)(y - top) * (size_t)w - left;
        uint32_t *to = c->pixels + (size_t)y * (size_t)c->w;
        for (int x = r.x0; x < r.x1; x++)
            if (from[x])
                canvas_blend(&to[x], color, canvas_opacity(from[x], color));
    }
}
