/* Nodes, switches and groups of view "network": circles, squares, names, hits. */
#include "holter/order.h"
#include "viewer/views/network/view_network_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 72 }; /* maximum number of visible units with names beside them */

color_t network_in_color(const struct theme *t, double share)
{
    double side = fmin(fmax(fabs(share - 0.5) * 2, 0), 1);
    color_t calm = t->text >> 24 > 128 ? color_mix(t->second, t->text, 0.3) : t->faint;
    return color_mix(calm, t->diverging[share < 0.5 ? 0 : 255], sqrt(side));
}

static int network_units_is_switch(const struct wiring_unit *u)
{
    return u->group == NETWORK_ALONE && (u->kind == VERTEX_SWITCH || u->kind == VERTEX_NUMA) &&
           !u->in && !u->out;
}

static double network_radius(const struct stage *s, const struct wiring *w, const struct plot *plot,
                             uint32_t i)
{
    const struct wiring_unit *u = &w->units[i];
    double share = s->ui->graph.size == NETWORK_PARTNERS
                       ? (double)u->partners / fmax(w->most_partners, 1)
                       : ((double)u->in + (double)u->out) / fmax(w->most_degree, 1);
    if (network_units_is_switch(u))
        return fmax(plot->radius * 0.36, 1.6);
    return fmax(plot->radius * sqrt(share), fmax(plot->radius * 0.36, 1.3));
}

static color_t network_units_color(const struct stage *s, const struct wiring_unit *u)
{
    double all = (double)u->in + (double)u->out;
    return all > 0 ? network_in_color(s->brush.theme, (double)u->in / all) : s->brush.theme->faint;
}

/* 1 if a unit is excluded by the filter or not part of the selection (some: there is one); it is
 * then drawn below the routes. */
static int network_faded(const struct stage *s, const struct wiring *w, int some, uint32_t i)
{
    uint8_t marks = w->units[i].marks;
    return (flow_filter_active(&s->ui->network.filter) && !(marks & FLOW_SHOWN)) ||
           (some && !(marks & FLOW_SELECTED));
}

/* ---- circles ---- */

/* A disc or square of a unit; larger ones lie below. */
struct layer {
    double radius;
    color_t color;
};

/* Layers of a unit's symbol; messages within a group are a ring around it, in the colour of their
 * bytes. @return number of layers */
static int network_units_make_layers(const struct stage *s, const struct wiring *w,
                                     const struct plot *plot, uint32_t i, int faded, int marked,
                                     struct layer out[4])
{
    const struct theme *t = s->brush.theme;
    const struct wiring_unit *u = &w->units[i];
    double r = network_radius(s, w, plot, i);
    int n = 0;
    color_t color = network_units_is_switch(u) ? t->second : network_units_color(s, u);
    if (u->inside && u->group != NETWORK_ALONE) {
        color_t ring = theme_map(t, (double)u->inside / fmax((double)w->most_inside, 1));
        out[n++] =
            (struct layer){r + (r > 8 ? 5 : 4), faded ? color_mix(ring, t->panel, 0.75) : ring};
        out[n++] = (struct layer){r + 2, t->panel};
    }
    if (marked)
        out[n++] = (struct layer){r + 2.5, t->text};
    else if (r > 2.4 && !faded)
        out[n++] = (struct layer){r + 0.9, t->panel};
    out[n++] = (struct layer){r, faded ? color_mix(t->second, t->panel, 0.7) : color};
    return n;
}

static void network_units_draw_unit(const struct stage *s, const struct wiring_unit *u, double x,
                                    double y, const struct layer *layers, int count)
{
    for (int i = 0; i < count; i++) {
        double r = layers[i].radius;
        if (network_units_is_switch(u))
            scene_rect(s->brush.scene, (struct box){x - r, y - r, 2 * r, 2 * r}, r > 3 ? 1 : 0,
                       layers[i].color);
        else
            scene_disc(s->brush.scene, x, y, r, layers[i].color);
    }
}

void network_add_units(const struct stage *s, struct network_drawing *d, const struct plot *plot,
                       double k, int some)
{
    const struct wiring *w = &d->now.wiring;
    double left = k > 0 ? plot->section.box.x : 0, top = k > 0 ? plot->section.box.y : 0,
           scale = k > 0 ? k : 1;
    for (uint32_t i = 0; i < w->unit_count; i++) {
        struct layer layers[4];
        int faded = network_faded(s, w, some, i);
        int count = faded || k > 0 ? network_units_make_layers(s, w, plot, i, faded, 0, layers) : 0;
        double x = (section_x(&plot->section, d->now.at[i].x) - left) * scale,
               y = (section_y(&plot->section, d->now.at[i].y) - top) * scale;
        for (int n = 0; n < count; n++) {
            double r = layers[n].radius * scale,
                   side = network_units_is_switch(&w->units[i]) ? r : 0;
            strokes_add(&d->strokes,
                        &(struct stroke){(float)(x - side), (float)y, (float)(x + side), (float)y,
                                         (float)(2 * r), faded ? 2.5f : -1, layers[n].color});
        }
    }
}

/* Position of a unit for lasso selection, also outside the visible section. */
static void network_units_add_place_hit(const struct stage *s, const struct wiring_unit *u,
                                        double x, double y)
{
    int group = u->group != NETWORK_ALONE;
    struct scene_hit *hit = scene_hit(s->brush.scene, (struct box){0, 0, 0, 0}, HIT_PLACE,
                                      group ? u->group : u->vertex, (uint64_t)group);
    hit->x0 = x;
    hit->y0 = y;
}

static void network_units_add_hits(const struct stage *s, const struct wiring_unit *u, double x,
                                   double y, double r)
{
    struct box box = {x - fmax(r, 3), y - fmax(r, 3), 2 * fmax(r, 3), 2 * fmax(r, 3)};
    int group = u->group != NETWORK_ALONE;
    scene_hit(s->brush.scene, box, group ? HIT_UNIT : HIT_VERTEX, group ? u->group : u->vertex, 0);
}

static int network_units_is_chosen(const struct stage *s, const struct wiring_unit *u)
{
    const struct selection *sel = &s->ui->selection;
    return sel->kind == SELECT_VERTEX && u->group == NETWORK_ALONE && sel->a == u->vertex;
}

static uint32_t network_units_under_mouse(const struct stage *s, const struct network_drawing *d,
                                          const struct plot *plot)
{
    uint32_t best = WIRING_NONE;
    double nearest = INFINITY;
    if (!box_has(plot->section.box, s->brush.mouse_x, s->brush.mouse_y) || s->ui->mouse.dragging)
        return best;
    for (uint32_t i = 0; i < d->now.wiring.unit_count; i++) {
        double x = section_x(&plot->section, d->now.at[i].x),
               y = section_y(&plot->section, d->now.at[i].y);
        double away = hypot(s->brush.mouse_x - x, s->brush.mouse_y - y);
        if (away < nearest && away <= network_radius(s, &d->now.wiring, plot, i) + 2) {
            nearest = away;
            best = i;
        }
    }
    return best;
}

/* ---- names ---- */

static void network_units_place_name(const struct stage *s, const struct network_drawing *d,
                                     const struct plot *plot, uint32_t i, struct box *taken,
                                     uint32_t *count)
{
    char name[80];
    const struct wiring_unit *u = &d->now.wiring.units[i];
    double x = section_x(&plot->section, d->now.at[i].x),
           y = section_y(&plot->section, d->now.at[i].y);
    double r = network_radius(s, &d->now.wiring, plot, i) + (u->inside ? 7 : 3);
    network_unit_name(s, u, name, sizeof name);
    char *more = strchr(name, ':');
    if (more && u->group != NETWORK_ALONE)
        *more = 0;
    double w = ceil(scene_width(s->brush.scene, TEXT_AXIS, 0, name)) + 4;
    double near = r * 0.7 + 4, far = r * 0.7 + 16; /* from the centre to a corner */
    const struct box places[] = {{floor(x - w / 2), floor(y - r - 15), w, 14},
                                 {floor(x - w / 2), floor(y + r + 1), w, 14},
                                 {floor(x + r + 2), floor(y - 7), w, 14},
                                 {floor(x - r - w - 2), floor(y - 7), w, 14},
                                 {floor(x + near), floor(y - near - 13), w, 14},
                                 {floor(x - near - w), floor(y - near - 13), w, 14},
                                 {floor(x + near), floor(y + near), w, 14},
                                 {floor(x - near - w), floor(y + near), w, 14},
                                 {floor(x - w / 2), floor(y - r - 32), w, 14},
                                 {floor(x - w / 2), floor(y + r + 18), w, 14},
                                 {floor(x + far), floor(y - far - 13), w, 14},
                                 {floor(x - far - w), floor(y - far - 13), w, 14},
                                 {floor(x + far), floor(y + far), w, 14},
                                 {floor(x - far - w), floor(y + far), w, 14}};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        if (!box_is_free(places[k], plot->section.box, taken, *count) ||
            network_lines_cross(&d->now, plot, places[k]))
            continue;
        scene_rect(s->brush.scene, places[k], 3, color_fade(s->brush.theme->panel, 0.7));
        scene_text(s->brush.scene, places[k].x + 2, places[k].y, w - 2, TEXT_AXIS, 0,
                   u->marks & FLOW_SHOWN ? s->brush.theme->text : s->brush.theme->faint, name);
        taken[(*count)++] = places[k];
        return;
    }
}

struct named {
    uint64_t traffic;
    uint32_t unit;
};

ORDER_FUNCTION(network_units_compare, struct named,
               2 * ORDER(b->traffic, a->traffic) + ORDER(a->unit, b->unit))

/* Names beside units where nothing is covered, while there are few units: the selected one and
 * those with most traffic first. A name without a free place is left out; the tip has it. */
static void network_units_add_names(const struct stage *s, const struct network_drawing *d,
                                    const struct plot *plot)
{
    struct box taken[2 * NAMED];
    struct named seen[NAMED];
    uint32_t count = 0;
    const struct wiring *w = &d->now.wiring;
    for (uint32_t i = 0; i < w->unit_count; i++) {
        double x = section_x(&plot->section, d->now.at[i].x),
               y = section_y(&plot->section, d->now.at[i].y);
        double r = network_radius(s, w, plot, i);
        if (!section_shows(&plot->section, x, y, r))
            continue;
        if (count == NAMED)
            return;
        taken[count] = (struct box){x - r, y - r, 2 * r, 2 * r};
        const struct wiring_unit *u = &w->units[i];
        seen[count++] =
            (struct named){network_units_is_chosen(s, u) ? UINT64_MAX : u->in + u->out, i};
    }
    qsort(seen, count, sizeof *seen, network_units_compare);
    for (uint32_t i = 0, all = count; i < all; i++)
        network_units_place_name(s, d, plot, seen[i].unit, taken, &count);
}

uint32_t network_draw_units(struct stage *s, const struct network_drawing *d,
                            const struct plot *plot)
{
    const struct wiring *w = &d->now.wiring;
    uint32_t under = network_units_under_mouse(s, d, plot);
    int some = network_selects(s, w), own = network_few(w) || (some && d->chosen_fits);
    for (uint32_t i = 0; i < w->unit_count; i++) {
        const struct wiring_unit *u = &w->units[i];
        struct layer layers[4];
        double x = section_x(&plot->section, d->now.at[i].x),
               y = section_y(&plot->section, d->now.at[i].y);
        double r = network_radius(s, w, plot, i);
        network_units_add_place_hit(s, u, x, y);
        if (!section_shows(&plot->section, x, y, r + 4))
            continue;
        network_units_add_hits(s, u, x, y, r);
        int marked = i == under || network_units_is_chosen(s, u);
        if (marked || (own && !network_faded(s, w, some, i)))
            network_units_draw_unit(s, u, x, y, layers,
                                    network_units_make_layers(s, w, plot, i, 0, marked, layers));
    }
    network_units_add_names(s, d, plot);
    return under;
}
