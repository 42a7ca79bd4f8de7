/* Routes of view "network": colours, stacking on edges, drawing, hit tests. */
#include "viewer/views/network/view_network_parts.h"

#include "viewer/layout/mix.h"
#include "viewer/views/common/network_pieces.h"

#include <math.h>
#include <stdlib.h>

#define FADED 0.8 /* share of the ground in the colours of what is not selected */

enum {
    CHOSEN = 4000,        /* selected lines that are drawn one by one at most */
    PAINT_SHARE = 600000, /* pixels painted in one frame */
    MANY = 4000,          /* number of edges above which lines are coarser */
    WIDEST = 2,           /* of lines that carry more than any does in reality */
    FEW = 7, /* up to this many selected routes have a colour each (Visuco, section 8) */
};

/* The part of the picture that edges may cover; the least width of the heaviest, in pixels. */
static const double COVERED = 0.3, THINNEST = 0.2;

static const double near_enough = 5; /* logical pixels */

/* ---- places ---- */

/* Screens are wider than high: horizontal stretch of the layout. */
static const double stretch = 1.4;

/* The width of the heaviest edge, at most `thick`, with which edges cover no more than a part of
 * the picture. */
static double network_routes_thickness(const struct arrangement *a, double ux, double uy,
                                       double thick)
{
    const struct wiring *w = &a->wiring;
    const double picture = 4 * a->spring.half.x * ux * a->spring.half.y * uy;
    double covered = 0;
    for (uint32_t e = 0; a->at != NULL && w->heaviest > 0 && e < w->edge_count; e++) {
        const struct point from = a->at[w->edges[e].from], to = a->at[w->edges[e].to];
        covered += hypot((to.x - from.x) * ux, (to.y - from.y) * uy) * thick *
                   (double)w->edges[e].bytes / (double)w->heaviest;
    }
    return covered > COVERED * picture ? fmax(thick * COVERED * picture / covered, THINNEST)
                                       : thick;
}

struct plot network_plot_make(const struct stage *s, const struct arrangement *a, struct box box)
{
    const struct network_graph *g = &s->ui->graph;
    const struct point half = a->spring.half;
    double margin = fmin(40, box.h / 6), longest = 200 / fmax(a->spring.unit, 1e-3);
    double fit_x = (box.w - 2 * margin) / fmax(2 * half.x, 0.1),
           fit_y = (box.h - 2 * margin) / fmax(2 * half.y, 0.1);
    double uy = fmin(fmin(fit_x, fit_y), longest), ux = fmin(fit_x, uy * stretch);
    uy = fmax(uy, 1) * g->camera.zoom;
    ux = fmax(fmin(ux, longest), 1) * g->camera.zoom;
    /* radius: a share of the average space of a unit */
    double room = 3.1 * fmax(half.x * ux, 20) * fmax(half.y * uy, 20) / fmax(a->spring.count, 1);
    double spacing = fmin(sqrt(room), uy * a->spring.unit * 1.2);
    double radius = fmin(fmax(spacing * 0.25, 2), 24);
    return (struct plot){{box, ux, uy, g->camera.x, g->camera.y},
                         radius,
                         network_routes_thickness(a, ux, uy, fmax(radius * 0.42, 1.6))};
}

enum flow_metric network_metric(const struct ui *ui)
{
    return (int)ui->network.metric < WIRING_METRICS ? ui->network.metric : METRIC_BYTES;
}

int network_selects(const struct stage *s, const struct wiring *w)
{
    enum select_kind kind = s->ui->selection.kind;
    if (kind == SELECT_NONE || kind == SELECT_CALL)
        return 0;
    for (uint32_t i = 0; i < w->route_count; i++)
        if (w->routes[i].marks & FLOW_SELECTED)
            return 1;
    return 0;
}

/* ---- colours ---- */

/* Context of the colour of a route. */
struct paint {
    const struct stage *s;
    const struct wiring *w;
    enum flow_metric metric;
    int some;          /* 1: there is a selection */
    uint32_t few[FEW]; /* routes with a colour of their own */
    uint32_t few_count;
    const color_t *colors; /* by route */
    double least;          /* minimum width of a line: thinner neighbouring routes are merged */
};

static struct paint network_routes_make_paint(const struct stage *s, const struct wiring *w,
                                              int some)
{
    struct paint p = {.s = s, .w = w, .metric = network_metric(s->ui), .some = some};
    for (uint32_t i = 0; p.some && i < w->route_count; i++) {
        if (!(w->routes[i].marks & FLOW_SELECTED))
            continue;
        if (p.few_count == FEW) {
            p.few_count = 0;
            break;
        }
        p.few[p.few_count++] = i;
    }
    p.few_count = p.few_count > 1 ? p.few_count : 0;
    return p;
}

static color_t network_routes_choose_color(const struct paint *p, uint32_t r)
{
    const struct theme *t = p->s->brush.theme;
    const struct wiring_route *route = &p->w->routes[r];
    if (!(route->marks & FLOW_SHOWN))
        return color_mix(t->faint, t->panel, 0.82);
    double low = p->s->ui->network.colour_low[p->metric],
           high = p->s->ui->network.colour_high[p->metric];
    double share = route->values[p->metric] / fmax(p->w->most[p->metric], 1e-12);
    color_t color = theme_map(t, high > low ? (share - low) / (high - low) : 0);
    if (route->given)
        color = t->info;
    if (!p->some)
        return color;
    if (!(route->marks & FLOW_SELECTED))
        return color_mix(color, t->panel, FADED);
    for (uint32_t i = 0; i < p->few_count && !route->given; i++)
        if (p->few[i] == r)
            return theme_community(t, i);
    return color;
}

/* ---- stacks ---- */

static double network_routes_edge_width(const struct wiring *w, const struct plot *plot, uint32_t e)
{
    double share = w->heaviest ? (double)w->edges[e].bytes / (double)w->heaviest : 0;
    return fmax(plot->thick * fmin(share, WIDEST), fmin(plot->thick, 0.7));
}

/* An edge in logical pixels; right: unit vector to the right of its direction. */
struct course {
    struct point from, to, right;
    double length;
};

static struct course network_routes_make_course(const struct arrangement *a,
                                                const struct plot *plot,
                                                const struct wiring_edge *e)
{
    struct course c = {.from = {section_x(&plot->section, a->at[e->from].x),
                                section_y(&plot->section, a->at[e->from].y)},
                       .to = {section_x(&plot->section, a->at[e->to].x),
                              section_y(&plot->section, a->at[e->to].y)}};
    double dx = c.to.x - c.from.x, dy = c.to.y - c.from.y;
    c.length = fmax(sqrt(dx * dx + dy * dy), 1e-9);
    c.right = (struct point){-dy / c.length, dx / c.length};
    return c;
}

/* Part of a line, from 0 to 1, between two limits of a coordinate. @return 0: none of it is */
static int network_routes_clip(double from, double step, double low, double high, double part[2])
{
    if (fabs(step) < 1e-9)
        return from > low && from < high;
    double a = (low - from) / step, b = (high - from) / step;
    part[0] = fmax(part[0], fmin(a, b));
    part[1] = fmin(part[1], fmax(a, b));
    return part[0] < part[1];
}

int network_lines_cross(const struct arrangement *a, const struct plot *plot, struct box box)
{
    enum { MOST_EDGES = 1024 }; /* among more lines no place is free, and it would take long */
    const struct wiring *w = &a->wiring;
    for (uint32_t e = 0; e < w->edge_count && w->edge_count <= MOST_EDGES; e++) {
        struct course c = network_routes_make_course(a, plot, &w->edges[e]);
        double half = network_routes_edge_width(w, plot, e) / 2, part[2] = {0, 1};
        struct box wide = box_inset(box, -half, -half);
        if (network_routes_clip(c.from.x + c.right.x * half, c.to.x - c.from.x, wide.x,
                                wide.x + wide.w, part) &&
            network_routes_clip(c.from.y + c.right.y * half, c.to.y - c.from.y, wide.y,
                                wide.y + wide.h, part))
            return 1;
    }
    return 0;
}

static struct point network_routes_beside(struct point at, const struct course *c, double by)
{
    return (struct point){at.x + c->right.x * by, at.y + c->right.y * by};
}

/* A line that represents one or several neighbouring routes on an edge. */
struct strip {
    double offset, width;
    double red, green, blue; /* colour components weighted by width */
    int marks;
};

static color_t network_routes_color_of(const struct strip *s)
{
    double share = 1 / s->width;
    return (color_t)(s->red * share) << 24 | (color_t)(s->green * share) << 16 |
           (color_t)(s->blue * share) << 8 | 0xff;
}

static void network_routes_add_strip(struct strokes *strokes, const struct plot *plot,
                                     const struct course *c, const struct strip *strip, double k)
{
    double by = strip->offset + strip->width / 2, x = k > 0 ? plot->section.box.x : 0,
           y = k > 0 ? plot->section.box.y : 0, scale = k > 0 ? k : 1;
    struct point from = network_routes_beside(c->from, c, by),
                 to = network_routes_beside(c->to, c, by);
    struct stroke stroke = {(float)((from.x - x) * scale), (float)((from.y - y) * scale),
                            (float)((to.x - x) * scale),   (float)((to.y - y) * scale),
                            (float)(strip->width * scale), (float)(strip->marks),
                            network_routes_color_of(strip)};
    if (stroke.x0 == stroke.x1 && stroke.y0 == stroke.y1)
        return;
    strokes_add(strokes, &stroke);
}

static int network_routes_in_sight(const struct plot *p, const struct course *c)
{
    const double r = 30;
    return fmax(c->from.x, c->to.x) > p->section.box.x - r &&
           fmin(c->from.x, c->to.x) < p->section.box.x + p->section.box.w + r &&
           fmax(c->from.y, c->to.y) > p->section.box.y - r &&
           fmin(c->from.y, c->to.y) < p->section.box.y + p->section.box.h + r;
}

/* Add the strokes of an edge.
 * @param k  pixels for each logical pixel in a picture whose top left is the plot's; 0: logical
 * pixels of the scene */
static void network_routes_stack_edge(struct strokes *strokes, const struct arrangement *a,
                                      const struct plot *plot, const struct paint *paint,
                                      uint32_t edge, double k)
{
    const struct wiring *w = &a->wiring;
    const struct wiring_edge *e = &w->edges[edge];
    double width = network_routes_edge_width(w, plot, edge), offset = 0.4;
    struct strip strip = {.offset = offset};
    struct course course = network_routes_make_course(a, plot, e);
    if (!e->bytes || !network_routes_in_sight(plot, &course))
        return;
    for (uint32_t i = 0; i < e->count; i++) {
        uint32_t r = w->stack[e->first + i];
        double part = width * (double)w->routes[r].bytes / (double)e->bytes;
        int marks = w->routes[r].marks & (FLOW_SHOWN | FLOW_SELECTED);
        if (!w->routes[r].bytes)
            continue;
        int whole = strip.width >= paint->least || (paint->some && marks != strip.marks) ||
                    (marks & FLOW_SHOWN) != (strip.marks & FLOW_SHOWN);
        if (strip.width > 0 && whole) {
            network_routes_add_strip(strokes, plot, &course, &strip, k);
            strip = (struct strip){.offset = strip.offset + strip.width};
        }
        color_t color = paint->colors[r];
        strip.red += part * (color >> 24);
        strip.green += part * (color >> 16 & 0xff);
        strip.blue += part * (color >> 8 & 0xff);
        strip.width += part;
        strip.marks = marks;
    }
    if (strip.width > 0)
        network_routes_add_strip(strokes, plot, &course, &strip, k);
}

/* One line for an edge: by how much it carries less (blue) or more (red) than in reality. */
static void network_routes_add_difference(struct strokes *strokes, const struct arrangement *a,
                                          const struct plot *plot, const struct paint *paint,
                                          uint32_t edge, double k)
{
    const struct wiring *w = &a->wiring;
    const struct wiring_edge *e = &w->edges[edge];
    double share = ((double)e->bytes - e->real) / fmax((double)w->heaviest, 1);
    struct course course = network_routes_make_course(a, plot, e);
    color_t color = piece_difference_color(paint->s->brush.theme, share);
    double width = fmax(plot->thick * fmin(fabs(share), WIDEST), fmin(plot->thick, 0.7));
    struct strip strip = {.offset = 0.4,
                          .width = width,
                          .red = width * (color >> 24),
                          .green = width * (color >> 16 & 0xff),
                          .blue = width * (color >> 8 & 0xff),
                          .marks = FLOW_SHOWN | FLOW_SELECTED};
    if ((e->bytes || e->real > 0) && network_routes_in_sight(plot, &course))
        network_routes_add_strip(strokes, plot, &course, &strip, k);
}

/* Update the colours of all routes if something changed. */
static int network_routes_color_routes(const struct stage *s, struct network_drawing *d,
                                       struct paint *paint)
{
    const struct wiring *w = &d->now.wiring;
    enum flow_metric metric = paint->metric;
    uint64_t key = mix_number(wiring_order_key(w, metric), w->key);
    key = mix_number(key, (uint64_t)s->ui->theme);
    key = mix_real(mix_real(key, s->ui->network.colour_low[metric]),
                   s->ui->network.colour_high[metric]);
    key = mix_real(mix_number(key, (uint64_t)paint->some), w->most[metric]) | 1;
    if (d->color_count < w->route_count || !d->colors) {
        free(d->colors);
        d->colors = malloc((w->route_count + 1u) * sizeof *d->colors);
        d->color_count = d->colors ? w->route_count : 0;
        d->colors_key = 0;
    }
    if (!d->colors)
        return -1;
    for (uint32_t i = 0; key != d->colors_key && i < w->route_count; i++)
        d->colors[i] = network_routes_choose_color(paint, i);
    d->colors_key = key;
    paint->colors = d->colors;
    return 0;
}

/* Make the strokes of all routes and units; faded ones come first. */
static void network_routes_make_strokes(const struct stage *s, struct network_drawing *d,
                                        const struct plot *plot, double k, int some)
{
    const struct arrangement *a = &d->now;
    struct paint paint = network_routes_make_paint(s, &a->wiring, some);
    strokes_clear(&d->strokes);
    paint.least = a->wiring.edge_count > MANY ? 1.2 : 0.8;
    if (network_routes_color_routes(s, d, &paint) < 0 ||
        wiring_order(&d->now.wiring, paint.metric) < 0)
        return;
    int differs = ui_shows_difference(s->ui);
    for (uint32_t e = 0; e < a->wiring.edge_count; e++)
        if (differs)
            network_routes_add_difference(&d->strokes, a, plot, &paint, e, k);
        else
            network_routes_stack_edge(&d->strokes, a, plot, &paint, e, k);
    for (uint32_t i = 0; i < d->strokes.count; i++) {
        struct stroke *t = &d->strokes.all[i];
        int marks = (int)t->away;
        t->away = !(marks & FLOW_SHOWN) ? 3 : paint.some && !(marks & FLOW_SELECTED) ? 2.8f : 0;
    }
    network_add_units(s, d, plot, k, some);
    strokes_sort(&d->strokes);
}

/* ---- the selection above the picture ---- */

/* The selected routes, innermost on their edges, as one line for each edge that they take and each
 * colour. @return 1, or 0: there are too many, and the picture itself has to fade the others */
static int network_routes_make_chosen(const struct stage *s, struct network_drawing *d,
                                      const struct plot *plot, uint64_t key)
{
    const struct wiring *w = &d->now.wiring;
    if (d->chosen_key == key)
        return d->chosen_fits;
    struct paint paint = network_routes_make_paint(s, w, 1);
    double *offsets = calloc(w->edge_count + 1u, sizeof *offsets);
    strokes_clear(&d->chosen);
    d->chosen_key = key;
    d->chosen_fits =
        offsets && !ui_shows_difference(s->ui) && wiring_order(&d->now.wiring, paint.metric) == 0;
    for (uint32_t i = 0; d->chosen_fits && i < w->route_count; i++) {
        const struct wiring_route *r = &w->routes[w->order[i]];
        if ((r->marks & (FLOW_SHOWN | FLOW_SELECTED)) != (FLOW_SHOWN | FLOW_SELECTED))
            break; /* these are the first ones of the order */
        const color_t color = network_routes_choose_color(&paint, w->order[i]);
        for (uint32_t n = 0; r->bytes && n < r->count; n++) {
            const uint32_t e = w->steps[r->first + n];
            const struct course course = network_routes_make_course(&d->now, plot, &w->edges[e]);
            const double share = network_routes_edge_width(w, plot, e) * (double)r->bytes /
                                 (double)w->edges[e].bytes,
                         width = fmax(share, 0.8);
            if (network_routes_in_sight(plot, &course))
                network_routes_add_strip(&d->chosen, plot, &course,
                                         &(struct strip){.offset = 0.4 + offsets[e],
                                                         .width = width,
                                                         .red = width * (color >> 24),
                                                         .green = width * (color >> 16 & 0xff),
                                                         .blue = width * (color >> 8 & 0xff)},
                                         0);
            offsets[e] += share;
        }
        d->chosen_fits = d->chosen.count <= CHOSEN;
    }
    free(offsets);
    return d->chosen_fits;
}

/* ---- drawing ---- */

/* Key of what is drawn apart from the selection. */
static uint64_t network_routes_key_of(const struct stage *s, const struct network_drawing *d,
                                      const struct plot *plot)
{
    const struct wiring *w = &d->now.wiring;
    enum flow_metric metric = network_metric(s->ui);
    uint64_t key = mix_number(mix_number(mix_number(w->figures_key, w->key), d->now.version),
                              (uint64_t)s->ui->graph.size * WIRING_METRICS + metric);
    key = mix_number(mix_number(key, (uint64_t)s->ui->theme), s->ui->network.filter.version);
    key = mix_number(key, (uint64_t)s->ui->network.compare);
    key = mix_real(mix_real(mix_number(key, w->heaviest), w->most[metric]), w->most_degree);
    key = mix_real(mix_real(key, s->ui->network.colour_low[metric]),
                   s->ui->network.colour_high[metric]);
    const struct box *box = &plot->section.box;
    const double parts[] = {plot->section.ux, plot->section.uy, s->brush.scene->scale,
                            box->x,           box->y,           box->w,
                            box->h,           plot->section.cx, plot->section.cy};
    return mix_reals(key, parts, sizeof parts / sizeof *parts) | 1;
}

static void network_routes_begin_picture(const struct stage *s, struct network_drawing *d,
                                         const struct plot *plot, uint64_t key, int some)
{
    double k = s->brush.scene->scale;
    network_routes_make_strokes(s, d, plot, k, some);
    d->strokes_key = 0;
    if (strokes_begin(&d->strokes, (int)lround(plot->section.box.w * k),
                      (int)lround(plot->section.box.h * k), s->brush.theme->panel) < 0)
        return;
    d->making_key = key;
    d->making = section_of_plane(&plot->section);
}

/* Draw the last finished picture at its present position, and do a part of the next one. */
static void network_routes_draw_picture(struct stage *s, struct network_drawing *d,
                                        const struct plot *plot, uint64_t key, int some)
{
    if (key != d->drawn_key && !d->strokes.busy)
        network_routes_begin_picture(s, d, plot, key, some);
    if (d->strokes.busy && !strokes_work(&d->strokes, PAINT_SHARE)) {
        d->drawn_key = d->making_key;
        d->drawn = d->making;
    }
    s->pictures->busy |= d->strokes.busy || key != d->drawn_key;
    if (d->strokes.image.pixels && d->drawn_key)
        section_image(&plot->section, s->brush.scene, d->drawn, &d->strokes.image);
}

/* A few lines are drawn as items of the scene: crisp, and readable in its text. */
int network_few(const struct wiring *w)
{
    return w->step_count <= STROKES_ITEMS / 2;
}

/* A selection of a few lines lies on a veil over the picture, which then need not be drawn again:
 * that takes a second where there are very many. */
static void network_routes_draw_many(struct stage *s, struct network_drawing *d,
                                     const struct plot *plot, uint64_t key, uint64_t chosen_key,
                                     int some)
{
    const int above = some && network_routes_make_chosen(s, d, plot, chosen_key);
    network_routes_draw_picture(s, d, plot, some && !above ? chosen_key : key, some && !above);
    if (!above)
        return;
    scene_rect(s->brush.scene, plot->section.box, 0, color_fade(s->brush.theme->panel, FADED));
    strokes_draw_items(&d->chosen, s->brush.scene);
}

void network_draw_routes(struct stage *s, struct network_drawing *d, const struct plot *plot)
{
    const uint64_t key = network_routes_key_of(s, d, plot);
    const struct selection *sel = &s->ui->selection;
    const uint64_t chosen_key =
        mix_number(
            mix_number(mix_number(mix_number(key, d->now.wiring.order_key), sel->kind), sel->a),
            sel->b) |
        1;
    const int some = network_selects(s, &d->now.wiring);
    if (!network_few(&d->now.wiring)) {
        network_routes_draw_many(s, d, plot, key, chosen_key, some);
        return;
    }
    d->drawn_key = 0;
    if (d->strokes_key != chosen_key) {
        d->strokes.busy = 0;
        network_routes_make_strokes(s, d, plot, 0, some);
        d->strokes_key = chosen_key;
    }
    strokes_draw_items(&d->strokes, s->brush.scene);
}

/* Arrowhead in the middle of the selected link, on the side of its direction. */
void network_draw_link(const struct stage *s, const struct arrangement *a, const struct plot *plot)
{
    const struct wiring *w = &a->wiring;
    uint32_t from, to;
    if (s->ui->selection.kind != SELECT_LINK || s->ui->selection.a > UINT32_MAX ||
        !s->model->network.topology ||
        !topology_link(s->model->network.topology, (uint32_t)s->ui->selection.a, &from, &to) ||
        from >= w->vertex_count || to >= w->vertex_count)
        return;
    uint32_t e = key_table_find(&w->edge_keys, (struct key){w->unit_of[from], w->unit_of[to]});
    if (e == KEY_NONE || e >= w->edge_count)
        return;
    struct course c = network_routes_make_course(a, plot, &w->edges[e]);
    double half = fmax(network_routes_edge_width(w, plot, e) / 2 + 3, 5), dx = c.right.y,
           dy = -c.right.x;
    struct point at = network_routes_beside(
                     (struct point){(c.from.x + c.to.x) / 2, (c.from.y + c.to.y) / 2}, &c,
                     network_routes_edge_width(w, plot, e) / 2),
                 left = network_routes_beside(at, &c, -half),
                 right = network_routes_beside(at, &c, half);
    const struct point corners[] = {{at.x + dx * 1.6 * half, at.y + dy * 1.6 * half}, left, right};
    scene_shape(s->brush.scene, corners, 3, s->brush.theme->accent);
}

/* ---- the mouse ---- */

/* Distance of the mouse to the right of an edge; NaN: the mouse is before its begin or beyond its
 * end. */
static double network_routes_mouse_offset(const struct stage *s, const struct course *c)
{
    double mx = s->brush.mouse_x - c->from.x, my = s->brush.mouse_y - c->from.y;
    double along = mx * c->right.y - my * c->right.x;
    return along < 0 || along > c->length ? NAN : mx * c->right.x + my * c->right.y;
}

static uint32_t network_routes_route_at(const struct wiring *w, const struct plot *plot,
                                        uint32_t edge, double off)
{
    const struct wiring_edge *e = &w->edges[edge];
    double width = network_routes_edge_width(w, plot, edge), at = 0.4;
    uint32_t last = WIRING_NONE;
    for (uint32_t i = 0; i < e->count; i++) {
        uint32_t r = w->stack[e->first + i];
        if (!w->routes[r].bytes || (last != WIRING_NONE && !(w->routes[r].marks & FLOW_SHOWN)))
            continue;
        last = r;
        at += width * (double)w->routes[r].bytes / (double)fmax((double)e->bytes, 1);
        if (off <= at)
            break;
    }
    return last;
}

uint32_t network_route_under(const struct stage *s, struct arrangement *a, const struct plot *plot)
{
    struct wiring *w = &a->wiring;
    double best = near_enough, best_off = 0;
    uint32_t edge = WIRING_NONE;
    if (!box_has(plot->section.box, s->brush.mouse_x, s->brush.mouse_y) || s->ui->mouse.dragging)
        return WIRING_NONE;
    for (uint32_t e = 0; e < w->edge_count; e++) {
        struct course c = network_routes_make_course(a, plot, &w->edges[e]);
        double off = network_routes_mouse_offset(s, &c),
               width = network_routes_edge_width(w, plot, e);
        if (!w->edges[e].bytes || isnan(off))
            continue;
        double away = off < 0 ? -off : off > width ? off - width : 0;
        if (away < best) {
            best = away;
            best_off = off;
            edge = e;
        }
    }
    return edge == WIRING_NONE || wiring_order(w, network_metric(s->ui)) < 0
               ? WIRING_NONE
               : network_routes_route_at(w, plot, edge, best_off);
}

void network_draw_route(const struct stage *s, const struct arrangement *a, const struct plot *plot,
                        uint32_t route)
{
    const struct wiring *w = &a->wiring;
    const struct wiring_route *r = &w->routes[route];
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t edge = w->steps[r->first + k];
        const struct wiring_edge *e = &w->edges[edge];
        double width = network_routes_edge_width(w, plot, edge), before = 0.4;
        for (uint32_t i = 0; i < e->count && w->stack[e->first + i] != route; i++)
            before +=
                width * (double)w->routes[w->stack[e->first + i]].bytes / fmax((double)e->bytes, 1);
        double own = width * (double)r->bytes / fmax((double)e->bytes, 1);
        struct course c = network_routes_make_course(a, plot, e);
        struct point from = network_routes_beside(c.from, &c, before + own / 2),
                     to = network_routes_beside(c.to, &c, before + own / 2);
        scene_line(s->brush.scene, from.x, from.y, to.x, to.y, fmax(own, 2), s->brush.theme->text);
    }
}
