/* The torus as a regular grid in space (Landge et al., section 4.3). */
#include "viewer/views/torus/drawing.h"

#include <math.h>

/* Centre and radius of the grid on the screen. */
struct eye {
    struct lattice lattice;
    struct section section; /* of the screen: a unit is the radius of the grid */
};

static float torus_space_to_x(const struct eye *e, double x)
{
    return (float)section_x(&e->section, x);
}

static float torus_space_to_y(const struct eye *e, double y)
{
    return (float)section_y(&e->section, y);
}

static struct eye torus_space_make_eye(const struct stage *s, const struct torus_drawing *d,
                                       struct box plot)
{
    const struct torus_choice *t = &s->ui->torus;
    struct lattice lattice;
    lattice_set_view(&lattice, &d->sides[TORUS_SPACE].projection, t->space.yaw, t->space.pitch);
    double radius = fmin(plot.w / lattice.reach, plot.h * 1.22) / 2 * t->space.zoom;
    return (struct eye){lattice, {plot, radius, radius, t->space.x, t->space.y}};
}

/* Fade a colour with the distance from the eye. */
static color_t torus_space_fade(const struct stage *s, color_t color, double away, int lit)
{
    double share = 0.10 + 0.40 * (away + 1) / 2;
    return color_mix(color, s->brush.theme->panel, lit ? share * 0.8 : 0.86);
}

/* Offset that puts the selection above the rest. */
static double torus_space_selection_offset(const struct torus_drawing *d, int lit)
{
    return d->some && lit ? 3 : 0;
}

static int torus_space_outside(const struct eye *e, const struct stroke *k)
{
    return fmaxf(k->x0, k->x1) < (float)e->section.box.x - 4 ||
           fminf(k->x0, k->x1) > (float)(e->section.box.x + e->section.box.w + 4) ||
           fmaxf(k->y0, k->y1) < (float)e->section.box.y - 4 ||
           fminf(k->y0, k->y1) > (float)(e->section.box.y + e->section.box.h + 4);
}

static void torus_space_add_links(const struct stage *s, struct torus_drawing *d,
                                  const struct eye *e)
{
    const struct torus_side *side = &d->sides[TORUS_SPACE];
    const double *values = d->values[s->ui->torus.panel].halves[TORUS_SPACE];
    double spacing = e->lattice.step * e->section.ux, width = fmin(fmax(spacing * 0.07, 0.8), 3);
    for (uint32_t wire = 0; values && wire < d->places * PROJECTION_AXES; wire++) {
        struct lattice_line l[2];
        if (!(side->axes >> wire % PROJECTION_AXES & 1))
            continue;
        if (side->link_of[wire * 2] == TOPOLOGY_NONE &&
            side->link_of[wire * 2 + 1] == TOPOLOGY_NONE)
            continue;
        lattice_lines(&e->lattice, wire, l);
        for (uint32_t half = 0; half < 2; half++) {
            uint32_t at = wire * 2 + half;
            int lit = !d->some || side->lit[at];
            color_t color = torus_color(s, d, s->ui->torus.panel, values[at]);
            if (!(color & 0xff) || (!lit && values[at] == 0))
                continue;
            const struct projection_line *line = &l[half].line;
            struct stroke k = {torus_space_to_x(e, line->x0),
                               torus_space_to_y(e, line->y0),
                               torus_space_to_x(e, line->x1),
                               torus_space_to_y(e, line->y1),
                               (float)(width * (side->lit[at] == 2 ? 3
                                                : lit && d->some   ? 1.5
                                                                   : 1)),
                               (float)(l[half].away - torus_space_selection_offset(d, lit)),
                               torus_space_fade(s, color, l[half].away, lit)};
            if (!torus_space_outside(e, &k))
                strokes_add(&d->space, &k);
        }
    }
}

static void torus_space_add_nodes(const struct stage *s, struct torus_drawing *d,
                                  const struct eye *e)
{
    double spacing = e->lattice.step * e->section.ux;
    for (uint32_t place = 0; place < d->places; place++) {
        double x, y, away;
        int lit = !d->some || d->lit[place];
        lattice_point(&e->lattice, place, &x, &y, &away);
        double radius = fmin(fmax(spacing * (lit && d->some ? 0.20 : 0.13), 0.8), 9);
        if (!lit)
            radius = fmax(radius * 0.6, 0.6);
        struct stroke k = {torus_space_to_x(e, x),
                           torus_space_to_y(e, y),
                           torus_space_to_x(e, x),
                           torus_space_to_y(e, y),
                           (float)(2 * radius),
                           (float)(away - e->lattice.step * 0.4 -
                                   torus_space_selection_offset(d, lit)), /* above the links */
                           torus_space_fade(s, d->colors[place], away, lit)};
        if (!torus_space_outside(e, &k))
            strokes_add(&d->space, &k);
    }
}

static void torus_space_node_hits(const struct stage *s, const struct torus_drawing *d,
                                  const struct eye *e)
{
    double reach = fmin(fmax(e->lattice.step * e->section.ux * 0.2, 1), 9);
    for (int lit = 0; lit < 2; lit++) /* selected nodes are above the others */
        for (uint32_t place = 0; place < d->places; place++) {
            double x, y, away;
            if (d->node_of[place] == TOPOLOGY_NONE || (d->some && d->lit[place]) != lit)
                continue;
            lattice_point(&e->lattice, place, &x, &y, &away);
            double px = (double)torus_space_to_x(e, x), py = (double)torus_space_to_y(e, y);
            if (box_has(e->section.box, px, py))
                scene_hit(s->brush.scene,
                          (struct box){px - reach, py - reach, 2 * reach, 2 * reach}, HIT_VERTEX,
                          d->node_of[place], place + 1);
        }
}

/* Half under the mouse; of several the nearest to the eye. */
static uint32_t torus_space_half_under(const struct stage *s, const struct torus_drawing *d,
                                       const struct eye *e)
{
    const struct torus_side *side = &d->sides[TORUS_SPACE];
    const double *values = d->values[s->ui->torus.panel].halves[TORUS_SPACE];
    uint32_t best = PROJECTION_NONE;
    double least = INFINITY;
    if (!values || !box_has(e->section.box, s->brush.mouse_x, s->brush.mouse_y) ||
        s->ui->mouse.dragging)
        return best;
    for (uint32_t wire = 0; wire < d->places * PROJECTION_AXES; wire++) {
        struct lattice_line l[2];
        if (!(side->axes >> wire % PROJECTION_AXES & 1))
            continue;
        lattice_lines(&e->lattice, wire, l);
        for (uint32_t half = 0; half < 2; half++) {
            uint32_t at = wire * 2 + half;
            const struct projection_line *k = &l[half].line;
            if (side->link_of[at] == TOPOLOGY_NONE || (d->some && !side->lit[at]) ||
                !torus_color(s, d, s->ui->torus.panel, values[at]) || l[half].away >= least)
                continue;
            const struct projection_line seen = {
                (double)torus_space_to_x(e, k->x0), (double)torus_space_to_y(e, k->y0),
                (double)torus_space_to_x(e, k->x1), (double)torus_space_to_y(e, k->y1)};
            if (torus_distance(s->brush.mouse_x, s->brush.mouse_y, &seen) < 3) {
                least = l[half].away;
                best = at;
            }
        }
    }
    return best;
}

/* Names of the dimensions at the ends of the grid's edges. */
static void torus_space_add_edges(const struct stage *s, const struct torus_drawing *d,
                                  const struct eye *e)
{
    const struct projection *p = &d->sides[TORUS_SPACE].projection;
    for (int axis = 0; axis < PROJECTION_AXES; axis++) {
        uint32_t at[PROJECTION_AXES] = {0};
        double x0, y0, x, y, away;
        if (p->axes[axis].dimension == PROJECTION_NONE || p->axes[axis].size < 2)
            continue;
        lattice_point(&e->lattice, projection_place_at(p, at), &x0, &y0, &away);
        at[axis] = p->axes[axis].size - 1;
        lattice_point(&e->lattice, projection_place_at(p, at), &x, &y, &away);
        double dx = x - x0, dy = y - y0, length = hypot(dx, dy);
        if (length * e->section.ux < 24)
            continue;
        double px = (double)torus_space_to_x(e, x + dx / length * 0.12),
               py = (double)torus_space_to_y(e, y + dy / length * 0.12);
        if (box_has(box_inset(e->section.box, 14, 10), px, py))
            scene_text(s->brush.scene, px - 12, py - 7, 24, TEXT_AXIS_STRONG, TEXT_CENTRE,
                       s->brush.theme->text, torus_dimension(s, p->axes[axis].dimension));
    }
}

void torus_space(struct stage *s, struct torus_drawing *d, struct box box)
{
    struct box plot = {floor(box.x + 4), floor(box.y + 4), floor(box.w - 8), floor(box.h - 8)};
    if (plot.w < 40 || plot.h < 40)
        return;
    struct eye e = torus_space_make_eye(s, d, plot);
    const struct torus_choice *c = &s->ui->torus;
    uint64_t key = torus_strokes_key(
        s, d, c->panel,
        &(const double[TORUS_KEY]){plot.x, plot.y, plot.w, plot.h, e.section.ux, e.section.cx,
                                   e.section.cy, c->space.yaw, c->space.pitch},
        3);
    if (key != d->space_key) {
        strokes_clear(&d->space);
        torus_space_add_links(s, d, &e);
        torus_space_add_nodes(s, d, &e);
        strokes_sort(&d->space);
        d->space_key = key;
    }
    scene_panel(s->brush.scene, plot, 0, "torus.space.plot");
    scene_overlay(s->brush.scene);
    strokes_draw(&d->space, s->brush.scene, plot, s->brush.theme->panel);
    torus_space_add_edges(s, d, &e);
    section_hit(&e.section, s->brush.scene, HIT_TORUS, 1);
    uint32_t half = torus_space_half_under(s, d, &e);
    torus_add_link_hit(s, d, TORUS_SPACE, half);
    torus_space_node_hits(s, d, &e);
    torus_tip_under(s, d, plot, TORUS_SPACE, half);
    if (box_has(plot, s->ui->mouse.press_x, s->ui->mouse.press_y))
        torus_add_marked_box(s);
}
