/* The projected torus as a panel: links, nodes, planes, minimaps. */
#include "viewer/views/torus/drawing.h"

#include <math.h>

enum { MARGIN_LEFT = 30, MARGIN_BELOW = 22, MARGIN = 8 };

static struct section torus_plane_fit_section(const struct stage *s, const struct projection *p,
                                              struct box plot, int large)
{
    double w, h;
    projection_extent(p, &w, &h);
    double unit = fmin(plot.w / (2 * w), plot.h / (2 * h));
    if (!large)
        return (struct section){plot, unit, unit, 0, 0};
    unit *= s->ui->torus.plane.zoom;
    return (struct section){plot, unit, unit, s->ui->torus.plane.x, s->ui->torus.plane.y};
}

/* Distance on the screen between nodes of a stack, measured across the diagonal. */
static double torus_plane_pitch(const struct projection *p, const struct section *k)
{
    return PROJECTION_SPREAD / fmax(p->axes[PROJECTION_DEPTH].size, 2) * k->ux;
}

static int torus_plane_crosses(const struct section *k, const struct projection_line *l)
{
    double x0 = section_x(k, fmin(l->x0, l->x1)), x1 = section_x(k, fmax(l->x0, l->x1));
    double y0 = section_y(k, fmin(l->y0, l->y1)), y1 = section_y(k, fmax(l->y0, l->y1));
    return x1 >= k->box.x - 4 && x0 <= k->box.x + k->box.w + 4 && y1 >= k->box.y - 4 &&
           y0 <= k->box.y + k->box.h + 4;
}

/* ---- links ---- */

static void torus_plane_add_half(struct stage *s, struct torus_drawing *d, const struct section *k,
                                 int panel, uint32_t half, const struct projection_line *l)
{
    int view = s->ui->torus.view;
    const struct torus_side *side = &d->sides[view];
    double value = d->values[panel].halves[view] ? d->values[panel].halves[view][half] : 0;
    color_t color = torus_color(s, d, panel, value);
    double pitch = torus_plane_pitch(&side->projection, k),
           width = fmin(fmax(pitch * 0.62, 0.7), 5);
    if (!(color & 0xff) || !torus_plane_crosses(k, l))
        return;
    int lit = !d->some || side->lit[half];
    float rank = value != 0 && d->top > 0 ? (float)(fabs(value) / d->top) : -1;
    if (!lit)
        color = color_mix(color, s->brush.theme->panel, 0.80);
    if (side->lit[half] == 2)
        width += 2;
    /* the selection is above the rest, large loads above small ones */
    strokes_add(&d->flat[panel],
                &(struct stroke){(float)section_x(k, l->x0), (float)section_y(k, l->y0),
                                 (float)section_x(k, l->x1), (float)section_y(k, l->y1),
                                 (float)width, -rank - (lit && d->some ? 4 : 0), color});
}

static void torus_plane_add_links(struct stage *s, struct torus_drawing *d, const struct section *k,
                                  int panel)
{
    const struct torus_side *side = &d->sides[s->ui->torus.view];
    const struct projection *p = &side->projection;
    for (uint32_t wire = 0; wire < p->places * PROJECTION_AXES; wire++) {
        struct projection_line l[2];
        if (!projection_shows(p, side->axes, wire))
            continue;
        projection_lines(p, wire, l);
        for (uint32_t half = 0; half < 2; half++)
            if (side->link_of[wire * 2 + half] != TOPOLOGY_NONE)
                torus_plane_add_half(s, d, k, panel, wire * 2 + half, &l[half]);
    }
}

/* The half under the mouse; PROJECTION_NONE: none. */
static uint32_t torus_plane_half_under(const struct stage *s, const struct torus_drawing *d,
                                       const struct section *k, int panel)
{
    int view = s->ui->torus.view;
    const struct torus_side *side = &d->sides[view];
    const struct projection *p = &side->projection;
    double x = (s->brush.mouse_x - k->box.x - k->box.w / 2) / k->ux + k->cx;
    double y = (s->brush.mouse_y - k->box.y - k->box.h / 2) / k->ux + k->cy;
    double nearest = fmin(fmax(torus_plane_pitch(p, k) / 2, 2), 5) / k->ux;
    uint32_t best = PROJECTION_NONE;
    if (!box_has(k->box, s->brush.mouse_x, s->brush.mouse_y) || s->ui->mouse.dragging)
        return best;
    for (uint32_t wire = 0; wire < p->places * PROJECTION_AXES; wire++) {
        struct projection_line l[2];
        if (!projection_shows(p, side->axes, wire))
            continue;
        projection_lines(p, wire, l);
        for (uint32_t half = 0; half < 2; half++) {
            double away = torus_distance(x, y, &l[half]);
            if (away < nearest && side->link_of[wire * 2 + half] != TOPOLOGY_NONE &&
                torus_color(s, d, panel, d->values[panel].halves[view][wire * 2 + half])) {
                nearest = away;
                best = wire * 2 + half;
            }
        }
    }
    return best;
}

/* ---- nodes ---- */

static double torus_plane_radius(double pitch)
{
    return fmin(fmax(pitch * 0.42, 0), 7);
}

/* Position of a place on the screen. @return 1 if a square around it reaches into the plot */
static int torus_plane_point(const struct projection *p, const struct section *k, uint32_t place,
                             double reach, double *x, double *y)
{
    projection_point(p, place, x, y);
    *x = section_x(k, *x);
    *y = section_y(k, *y);
    return section_shows(k, *x, *y, reach);
}

static void torus_plane_add_nodes(struct stage *s, struct torus_drawing *d, const struct section *k,
                                  struct strokes *strokes)
{
    int view = s->ui->torus.view;
    const struct projection *p = &d->sides[view].projection;
    double radius = torus_plane_radius(torus_plane_pitch(p, k));
    if (radius <
        0.7) /* less than two pixels for each node of a stack: links are more informative */
        return;
    for (uint32_t place = 0; place < p->places; place++) {
        uint32_t own = torus_place(d, view, TORUS_SPACE, place);
        double x, y;
        if (!torus_plane_point(p, k, place, 8, &x, &y))
            continue;
        int lit = !d->some || d->lit[own];
        color_t color = d->colors[own];
        if (!lit)
            color = color_mix(color, s->brush.theme->panel, 0.80);
        strokes_add(strokes, &(struct stroke){(float)x, (float)y, (float)x, (float)y,
                                              (float)(2 * (radius + (d->some && lit ? 0.8 : 0))),
                                              lit && d->some ? -8 : -2, color});
    }
}

static void torus_plane_node_hits(const struct stage *s, const struct torus_drawing *d,
                                  const struct section *k)
{
    int view = s->ui->torus.view;
    const struct projection *p = &d->sides[view].projection;
    double reach = fmax(torus_plane_radius(torus_plane_pitch(p, k)), 1);
    for (uint32_t place = 0; place < p->places; place++) {
        uint32_t own = torus_place(d, view, TORUS_SPACE, place);
        double x, y;
        if (torus_plane_point(p, k, place, 0, &x, &y) && d->node_of[own] != TOPOLOGY_NONE)
            scene_hit(s->brush.scene, (struct box){x - reach, y - reach, 2 * reach, 2 * reach},
                      HIT_VERTEX, d->node_of[own], own + 1);
    }
}

/* ---- planes ---- */

static int torus_plane_is_chosen(const struct stage *s, uint32_t dimension, uint32_t at)
{
    const struct selection *sel = &s->ui->selection;
    return sel->kind == SELECT_PLANE && sel->a == dimension && sel->b == at;
}

/* Coordinates beside the bands that represent planes; a click selects a plane. */
static void torus_plane_add_bands(const struct stage *s, const struct projection *p,
                                  const struct section *k, struct box box)
{
    const struct theme *t = s->brush.theme;
    for (int axis = PROJECTION_ACROSS; axis <= PROJECTION_UPRIGHT; axis++) {
        int across = axis == PROJECTION_ACROSS;
        uint32_t size = p->axes[axis].size, step = 1;
        if (p->axes[axis].dimension == PROJECTION_NONE)
            continue;
        while (step * k->ux < 16)
            step *= 2;
        for (uint32_t i = 0; i < size; i += step) {
            double at = i - (size - 1) / 2.0, x = section_x(k, at), y = section_y(k, -at);
            struct box band = across ? (struct box){x - k->ux / 2, box.y + box.h - MARGIN_BELOW,
                                                    k->ux, MARGIN_BELOW}
                                     : (struct box){box.x, y - k->ux / 2, MARGIN_LEFT, k->ux};
            double middle = across ? x : y, from = across ? k->box.x : k->box.y,
                   until = from + (across ? k->box.w : k->box.h);
            if (middle < from + 7 || middle > until - 7)
                continue;
            int on = torus_plane_is_chosen(s, p->axes[axis].dimension, i);
            int hover = box_has(band, s->brush.mouse_x, s->brush.mouse_y);
            scene_textf(s->brush.scene, across ? x - 14 : box.x + 2,
                        across ? box.y + box.h - 18 : y - 7, across ? 28 : MARGIN_LEFT - 8,
                        on ? TEXT_AXIS_STRONG : TEXT_AXIS,
                        (across ? TEXT_CENTRE : TEXT_RIGHT) | TEXT_FIGURES,
                        on      ? t->accent
                        : hover ? t->text
                                : t->second,
                        "%u", i);
            scene_hit(s->brush.scene, band, HIT_PLANE, p->axes[axis].dimension, i);
        }
        scene_text(s->brush.scene, across ? box.x + box.w - 20 : box.x + 2,
                   across ? box.y + box.h - 18 : box.y + 2, across ? 18 : MARGIN_LEFT - 8,
                   TEXT_AXIS_STRONG, across ? TEXT_CENTRE : TEXT_RIGHT, t->second,
                   torus_dimension(s, p->axes[axis].dimension));
    }
}

static void torus_plane_add_selected_band(const struct stage *s, const struct projection *p,
                                          const struct section *k)
{
    for (int axis = PROJECTION_ACROSS; axis <= PROJECTION_UPRIGHT; axis++) {
        uint32_t size = p->axes[axis].size;
        double at = (double)s->ui->selection.b - (size - 1) / 2.0;
        if (!torus_plane_is_chosen(s, p->axes[axis].dimension, (uint32_t)s->ui->selection.b))
            continue;
        color_t color = color_fade(s->brush.theme->accent, 0.10);
        if (axis == PROJECTION_ACROSS)
            scene_rect(s->brush.scene,
                       (struct box){section_x(k, at - 0.5), k->box.y, k->ux, k->box.h}, 0, color);
        else
            scene_rect(s->brush.scene,
                       (struct box){k->box.x, section_y(k, -at - 0.5), k->box.w, k->ux}, 0, color);
    }
}

/* ---- the whole ---- */

static void torus_plane_point_at(struct stage *s, const struct torus_drawing *d,
                                 const struct section *k, int panel)
{
    uint32_t half = torus_plane_half_under(s, d, k, panel);
    torus_add_link_hit(s, d, s->ui->torus.view, half);
    torus_plane_node_hits(s, d, k);
    const struct scene_hit *hit = torus_tip_under(s, d, k->box, s->ui->torus.view, half);
    if (hit)
        scene_outline(s->brush.scene,
                      (struct box){hit->box.x - 2, hit->box.y - 2, hit->box.w + 4, hit->box.h + 4},
                      3, 1, s->brush.theme->text);
}

void torus_plane(struct stage *s, struct torus_drawing *d, struct box box, int panel, int large)
{
    const struct torus_side *side = &d->sides[s->ui->torus.view];
    struct box plot = {box.x + MARGIN_LEFT, box.y + MARGIN, box.w - MARGIN_LEFT - MARGIN,
                       box.h - MARGIN - MARGIN_BELOW};
    plot = (struct box){floor(plot.x), floor(plot.y), floor(plot.w), floor(plot.h)};
    if (plot.w < 24 || plot.h < 24 || !torus_belongs(s, panel))
        return;
    struct section k = torus_plane_fit_section(s, &side->projection, plot, 1);
    struct strokes *strokes = &d->flat[panel];
    uint64_t key = torus_strokes_key(
        s, d, panel, &(const double[TORUS_KEY]){plot.x, plot.y, plot.w, plot.h, k.ux, k.cx, k.cy},
        s->ui->torus.view);
    if (d->flat_keys[panel] != key) {
        strokes_clear(strokes);
        torus_plane_add_links(s, d, &k, panel);
        if (panel == s->ui->torus.panel)
            torus_plane_add_nodes(s, d, &k, strokes);
        strokes_sort(strokes);
        d->flat_keys[panel] = key;
    }
    if (large)
        torus_plane_add_bands(s, &side->projection, &k, box);
    scene_panel(s->brush.scene, plot, 0, "torus.rings%d.plot", panel);
    scene_overlay(s->brush.scene);
    strokes_draw(strokes, s->brush.scene, plot, s->brush.theme->panel);
    section_hit(&k, s->brush.scene, HIT_TORUS, 0);
    if (!large)
        return;
    torus_plane_add_selected_band(s, &side->projection, &k);
    torus_plane_point_at(s, d, &k, panel);
    torus_add_marked_box(s);
}

/* ---- minimaps ---- */

void torus_minimap(struct stage *s, const struct torus_drawing *d, struct box box, int panel,
                   int side)
{
    const struct torus_side *from = &d->sides[side];
    const struct projection *p = &from->projection;
    const struct torus_values *v = &d->values[panel];
    struct section k = torus_plane_fit_section(s, p, box_inset(box, 4, 4), 0);
    double width = fmin(fmax(k.ux * 0.16, 0.8), 3);
    if (!torus_belongs(s, panel) || !v->bundles[side])
        return;
    for (uint32_t bundle = 0; bundle < projection_bundles(p); bundle++) {
        uint32_t wire = projection_bundle_wire(p, bundle);
        struct projection_line l[2];
        if (wire == PROJECTION_NONE || !projection_shows(p, from->axes, wire))
            continue;
        color_t color = torus_color(s, d, panel, v->bundles[side][bundle]);
        int lines = color & 0xff ? projection_bundle_lines(p, bundle, l) : 0;
        for (int i = 0; i < lines; i++)
            scene_line(s->brush.scene, section_x(&k, l[i].x0), section_y(&k, l[i].y0),
                       section_x(&k, l[i].x1), section_y(&k, l[i].y1), width, color);
    }
}
