/* Painting of the route matrix: squares, routes as lines along rows and columns, marks. */
#include "viewer/layout/mix.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/routes/view_routes_parts.h"

#include <math.h>

/* Above this number of shapes they are painted into one picture of the screen's pixels. */
enum { MOST_ITEMS = 3000, NARROW = 5, FEW_ENDS = 16 };

struct pen {
    struct stage *stage;
    const struct routes_drawing *drawing;
    const struct route_layer *layer;
    const struct route_window *window;
    struct image *image; /* NULL: draw items of the scene */
    double line;         /* width of a route's line */
    color_t ground;
};

static double route_paint_x_of(const struct pen *p, double share)
{
    return p->window->box.x + (share - p->window->x) / p->window->extent * p->window->box.w;
}

static double route_paint_y_of(const struct pen *p, double share)
{
    return p->window->box.y + (share - p->window->y) / p->window->extent * p->window->box.h;
}

static double route_paint_begin_of(const struct pen *p, uint32_t cell)
{
    return p->drawing->axis.at[p->layer->cells.first[cell]];
}

static double route_paint_end_of(const struct pen *p, uint32_t cell)
{
    return p->drawing->axis.at[p->layer->cells.first[cell + 1]];
}

static double route_paint_middle_of(const struct pen *p, uint32_t cell)
{
    return (route_paint_begin_of(p, cell) + route_paint_end_of(p, cell)) / 2;
}

/* ---- shapes ---- */

/* Blend a colour over a pixel. */
static uint32_t route_paint_blend(uint32_t pixel, color_t color)
{
    uint32_t alpha = color & 0xff, out = 0xff000000u;
    for (int shift = 0; shift < 24; shift += 8) {
        uint32_t below = pixel >> shift & 0xff, above = color >> (shift + 8) & 0xff;
        out |= (above * alpha + below * (255 - alpha)) / 255 << shift;
    }
    return out;
}

static void route_paint_fill_pixels(const struct pen *p, double x0, double y0, double x1, double y1,
                                    color_t color)
{
    double scale = p->image->w / p->window->box.w;
    int left = (int)lround((x0 - p->window->box.x) * scale);
    int right = (int)lround((x1 - p->window->box.x) * scale);
    int top = (int)lround((y0 - p->window->box.y) * scale);
    int bottom = (int)lround((y1 - p->window->box.y) * scale);
    right = right > left ? right : left + 1;
    bottom = bottom > top ? bottom : top + 1;
    left = left < 0 ? 0 : left;
    top = top < 0 ? 0 : top;
    right = right > p->image->w ? p->image->w : right;
    bottom = bottom > p->image->h ? p->image->h : bottom;
    uint32_t solid = color_pixel(color);
    for (int y = top; y < bottom; y++) {
        uint32_t *row = p->image->pixels + (size_t)y * (size_t)p->image->w;
        for (int x = left; x < right; x++)
            row[x] = (color & 0xff) == 0xff ? solid : route_paint_blend(row[x], color);
    }
}

/* A rectangle, clipped to the section. */
static void route_paint_fill(const struct pen *p, double x0, double y0, double x1, double y1,
                             color_t color)
{
    const struct box *b = &p->window->box;
    x0 = fmax(x0, b->x);
    y0 = fmax(y0, b->y);
    x1 = fmin(x1, b->x + b->w);
    y1 = fmin(y1, b->y + b->h);
    if (x1 <= x0 || y1 <= y0)
        return;
    if (p->image)
        route_paint_fill_pixels(p, x0, y0, x1, y1, color);
    else
        scene_rect(p->stage->brush.scene, (struct box){x0, y0, x1 - x0, y1 - y0}, 0, color);
}

static void route_paint_disc(const struct pen *p, double x, double y, double radius, color_t color)
{
    const struct box *b = &p->window->box;
    if (x + radius < b->x || x - radius > b->x + b->w || y + radius < b->y ||
        y - radius > b->y + b->h)
        return;
    if (!p->image) {
        if (x - radius >= b->x && x + radius <= b->x + b->w && y - radius >= b->y &&
            y + radius <= b->y + b->h)
            scene_disc(p->stage->brush.scene, x, y, radius, color);
        return;
    }
    for (double row = floor(y - radius); row < y + radius; row++) {
        double half = radius * radius - (row + 0.5 - y) * (row + 0.5 - y);
        if (half > 0)
            route_paint_fill(p, x - sqrt(half), row, x + sqrt(half), row + 1, color);
    }
}

/* A hop: from the source along its row to the square, then along the column to the target (Visuco,
 * section 4.4.2). */
static void route_paint_hop(const struct pen *p, const struct route_hop *h, double width,
                            color_t color)
{
    double scale = p->stage->brush.scene->scale, half = width / 2;
    double x0 = route_paint_x_of(p, route_paint_middle_of(p, h->from)),
           y0 = route_paint_y_of(p, route_paint_middle_of(p, h->from));
    double x1 = route_paint_x_of(p, route_paint_middle_of(p, h->to)),
           y1 = route_paint_y_of(p, route_paint_middle_of(p, h->to));
    double y = floor((y0 - half) * scale + 0.5) / scale;
    double x = floor((x1 - half) * scale + 0.5) / scale;
    route_paint_fill(p, fmin(x0, x), y, fmax(x0, x + width), y + width, color);
    route_paint_fill(p, x, fmin(y, y1), x + width, fmax(y + width, y1), color);
}

/* ---- what is in sight ---- */

static int route_paint_square_visible(const struct pen *p, const struct route_hop *h)
{
    const struct route_window *w = p->window;
    return route_paint_end_of(p, h->to) > w->x &&
           route_paint_begin_of(p, h->to) < w->x + w->extent &&
           route_paint_end_of(p, h->from) > w->y &&
           route_paint_begin_of(p, h->from) < w->y + w->extent;
}

static int route_paint_hop_visible(const struct pen *p, const struct route_hop *h)
{
    const struct route_window *w = p->window;
    double a = route_paint_middle_of(p, h->from), b = route_paint_middle_of(p, h->to);
    double low = fmin(a, b), high = fmax(a, b);
    int row = a >= w->y && a <= w->y + w->extent && high >= w->x && low <= w->x + w->extent;
    int column = b >= w->x && b <= w->x + w->extent && high >= w->y && low <= w->y + w->extent;
    return row || column;
}

static uint32_t route_paint_count_visible(const struct pen *p)
{
    const struct route_layer *l = p->layer;
    uint32_t n = l->cells.count / 4;
    for (uint32_t i = 0; i < l->pair_count && n <= MOST_ITEMS; i++)
        n += route_paint_square_visible(p, &l->pairs[i]) ? 1 : 0;
    for (uint32_t i = 0; i < l->hop_count && n <= MOST_ITEMS; i++)
        n += route_paint_hop_visible(p, &l->hops[i]) ? 4 : 0;
    return n;
}

/* ---- layers of the picture ---- */

static double route_paint_cell_size(const struct pen *p)
{
    const struct adjacency_axis *a = &p->drawing->axis;
    uint32_t most = p->layer->cells.most ? p->layer->cells.most : 1;
    return a->open ? a->open_share / a->open * most / p->window->extent * p->window->box.w : 1;
}

static void route_paint_squares(const struct pen *p, double cell)
{
    const struct theme *t = p->stage->brush.theme;
    color_t color = color_mix(t->panel, t->second, 0.42);
    double gap = cell >= 5 ? floor(cell * 0.08) + 0.5 : 0;
    for (uint32_t i = 0; i < p->layer->pair_count; i++) {
        const struct route_hop *h = &p->layer->pairs[i];
        if (h->from == h->to || !route_paint_square_visible(p, h))
            continue;
        route_paint_fill(p, route_paint_x_of(p, route_paint_begin_of(p, h->to)) + gap,
                         route_paint_y_of(p, route_paint_begin_of(p, h->from)) + gap,
                         route_paint_x_of(p, route_paint_end_of(p, h->to)) - gap,
                         route_paint_y_of(p, route_paint_end_of(p, h->from)) - gap, color);
    }
}

/* Lines in narrow cells are translucent. */
static double route_paint_opacity(double cell)
{
    return fmin(fmax(0.3 + 0.12 * cell, 0.42), 1);
}

/* Colour of the load, or of its difference from the reality. */
static color_t route_paint_load_color(const struct pen *p, const struct route_hop *h)
{
    const struct stage *s = p->stage;
    if (!ui_shows_difference(s->ui))
        return piece_metric_color(s, METRIC_LOAD, h->load);
    return piece_difference_color(s->brush.theme,
                                  (h->load - h->real) / fmax(piece_metric_most(s, METRIC_LOAD), 1));
}

/* In narrow cells lines are too close for an outline: the line itself has the colour of the load,
 * the largest on top. */
static void route_paint_loaded_lines(const struct pen *p)
{
    enum { STEPS = 4 };
    double most = piece_metric_most(p->stage, METRIC_LOAD);
    for (int step = 0; step < STEPS; step++) {
        double from = most * step / STEPS, to = most * (step + 1) / STEPS;
        for (uint32_t i = 0; i < p->layer->hop_count; i++) {
            const struct route_hop *h = &p->layer->hops[i];
            if ((h->load >= from || !step) && (h->load < to || step == STEPS - 1) &&
                route_paint_hop_visible(p, h))
                route_paint_hop(p, h, p->line, route_paint_load_color(p, h));
        }
    }
}

static void route_paint_hops(const struct pen *p, int suggested, double cell)
{
    const struct theme *t = p->stage->brush.theme;
    color_t color = color_fade(suggested ? t->info : t->accent, route_paint_opacity(cell));
    for (uint32_t i = 0; i < p->layer->hop_count; i++) {
        const struct route_hop *h = &p->layer->hops[i];
        if (((h->mark & ROUTE_SUGGESTED) != 0) != suggested || !route_paint_hop_visible(p, h))
            continue;
        if (p->stage->ui->routes.loads)
            route_paint_hop(p, h, p->line + 4, route_paint_load_color(p, h));
        route_paint_hop(p, h, p->line, color);
    }
}

static void route_paint_marks(const struct pen *p, double cell)
{
    const struct theme *t = p->stage->brush.theme;
    uint32_t marked = 0;
    for (uint32_t c = 0; c < p->layer->cells.count; c++)
        marked += (p->layer->marks[c] & (ROUTE_SOURCE | ROUTE_DESTINATION)) != 0;
    /* few ends are legible also where a cell is a pixel */
    double half = fmin(fmax(cell * 0.34, marked <= FEW_ENDS ? 4 : 1), 9);
    for (uint32_t c = 0; c < p->layer->cells.count; c++) {
        uint8_t mark = p->layer->marks[c];
        double at = route_paint_middle_of(p, c), x = route_paint_x_of(p, at),
               y = route_paint_y_of(p, at);
        double size = p->drawing->axis.folded[p->layer->cells.first[c]] ? 1 : half;
        if (mark & ROUTE_SOURCE)
            route_paint_fill(p, x - size, y - size, x + size, y + size, t->info);
        if (mark & ROUTE_DESTINATION)
            route_paint_disc(p, x, y, mark & ROUTE_SOURCE ? fmax(size * 0.7, 1) : size, t->bad);
    }
}

static void route_paint_folded_bands(const struct pen *p)
{
    const struct adjacency_axis *a = &p->drawing->axis;
    const struct adjacency_cells *c = &p->layer->cells;
    const struct box *b = &p->window->box;
    const struct theme *t = p->stage->brush.theme;
    for (uint32_t i = 0; i < c->count; i++) {
        if (!a->folded[c->first[i]])
            continue;
        color_t color = color_mix(t->panel, t->line, 0.8);
        route_paint_fill(p, b->x, route_paint_y_of(p, route_paint_begin_of(p, i)), b->x + b->w,
                         route_paint_y_of(p, route_paint_end_of(p, i)), color);
        route_paint_fill(p, route_paint_x_of(p, route_paint_begin_of(p, i)), b->y,
                         route_paint_x_of(p, route_paint_end_of(p, i)), b->y + b->h, color);
    }
}

static void route_paint_all(const struct pen *p)
{
    const struct theme *t = p->stage->brush.theme;
    double cell = route_paint_cell_size(p), size = fmin(fmax(cell, 1), p->window->box.w);
    route_paint_folded_bands(p);
    for (uint32_t c = 0; cell >= 3 && c < p->layer->cells.count; c++) { /* the diagonal */
        double at = route_paint_middle_of(p, c), half = size * 0.5 - (cell >= 5 ? 0.5 : 0);
        if (!p->drawing->axis.folded[p->layer->cells.first[c]])
            route_paint_fill(p, route_paint_x_of(p, at) - half, route_paint_y_of(p, at) - half,
                             route_paint_x_of(p, at) + half, route_paint_y_of(p, at) + half,
                             color_mix(t->panel, t->line, 0.55));
    }
    route_paint_squares(p, cell);
    if (p->stage->ui->routes.loads && cell < NARROW) {
        route_paint_loaded_lines(p);
    } else {
        route_paint_hops(p, 0, cell);
        route_paint_hops(p, 1, cell);
    }
    route_paint_marks(p, cell);
}

/* ---- public functions ---- */

static uint64_t route_paint_compute_key(const struct pen *p)
{
    const struct ui *ui = p->stage->ui;
    const struct route_window *w = p->window;
    uint64_t key = p->layer->version * 64 + (uint64_t)ui->theme * 2 + (ui->routes.loads != 0);
    key = mix_real(mix_real(key, w->x), w->y);
    key = mix_real(mix_real(key, w->extent), w->box.w);
    key = mix_real(mix_real(key, w->box.h), p->stage->brush.scene->scale);
    key = mix_real(mix_real(key, ui->network.colour_low[METRIC_LOAD]),
                   ui->network.colour_high[METRIC_LOAD]);
    return key | 1;
}

static void route_paint_as_picture(struct pen *p, struct picture *picture)
{
    double scale = p->stage->brush.scene->scale;
    const struct box *b = &p->window->box;
    uint64_t key = route_paint_compute_key(p);
    int w = (int)fmax(round(b->w * scale), 1), h = (int)fmax(round(b->h * scale), 1);
    if (picture->key != key || picture->image.w != w || picture->image.h != h) {
        if (picture_size(p->stage->pictures, picture, w, h) < 0)
            return;
        p->image = &picture->image;
        route_paint_fill(p, b->x, b->y, b->x + b->w, b->y + b->h, p->ground);
        route_paint_all(p);
        picture->image.version++;
        picture->key = key;
    }
    scene_image(p->stage->brush.scene, *b, &picture->image);
}

void route_paint(struct stage *s, struct routes_drawing *d, struct route_layer *l,
                 const struct route_window *w)
{
    const struct theme *t = s->brush.theme;
    struct pen p = {.stage = s, .drawing = d, .layer = l, .window = w};
    double cell = route_paint_cell_size(&p), scale = s->brush.scene->scale;
    p.line = cell >= 12 ? 2 : 1 / fmax(scale, 0.5) * floor(fmax(scale, 1));
    p.ground = color_mix(t->panel, t->ground, 0.6);
    scene_panel(s->brush.scene, w->box, p.ground, "%s", w->name);
    scene_overlay(s->brush.scene);
    if (route_paint_count_visible(&p) > MOST_ITEMS)
        route_paint_as_picture(&p, &l->picture);
    else
        route_paint_all(&p);
}
