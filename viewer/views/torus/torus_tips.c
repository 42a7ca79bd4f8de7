/* Tooltips of places and links of the torus. */
#include "viewer/layout/format.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/torus/drawing.h"

#include <math.h>
#include <stdio.h>

static struct quantity torus_tips_format_load(const struct stage *s, int panel, double value)
{
    const struct torus_panel *p = &s->ui->torus.panels[panel];
    const char *unit = p->figure == TORUS_MESSAGES || p->packets ? "" : "B";
    const char *sign = !p->before || value == 0 ? "" : value > 0 ? "+" : "\xe2\x88\x92";
    return quantity_print("%s%s%s", sign, format_si(fabs(value), unit).text,
                          p->packets                    ? " packets"
                          : p->figure == TORUS_MESSAGES ? " messages"
                                                        : "");
}

static void torus_vertex_tip(struct stage *s, const struct torus_drawing *d, uint32_t place)
{
    char name[TOPOLOGY_NAME + 1];
    if (place >= d->places || d->node_of[place] == TOPOLOGY_NONE)
        return;
    if (d->nodes_in_place <= 1) {
        piece_vertex_tip(s, d->node_of[place]);
        return;
    }
    topology_vertex_name(s->model->network.topology, d->node_of[place], name, sizeof name);
    tooltip_add(&s->tip, 0, "%u nodes, the first %s", d->nodes_in_place, name);
    tooltip_add(&s->tip, 0, "they differ only in hidden dimensions");
}

/* Loads of the same link in the other panels. */
static void torus_tips_add_other_panels(struct stage *s, const struct torus_drawing *d, int side,
                                        uint32_t half)
{
    const struct torus_choice *t = &s->ui->torus;
    for (int p = 0; p < t->panel_count && s->tip.count < 9; p++)
        if (t->panel_count > 1 && torus_belongs(s, p) && d->values[p].halves[side])
            tooltip_add(&s->tip, p == t->panel ? s->brush.theme->text : 0, "%s: %s",
                        p ? t->panels[p].title : "now",
                        torus_tips_format_load(s, p, d->values[p].halves[side][half]).text);
}

static void torus_link_tip(struct stage *s, const struct torus_drawing *d, int side, uint32_t half)
{
    const struct topology *topology = s->model->network.topology;
    uint32_t link = d->sides[side].link_of[half], from, to;
    char a[TOPOLOGY_NAME + 1], b[TOPOLOGY_NAME + 1];
    if (link == TOPOLOGY_NONE || !topology_link(topology, link, &from, &to))
        return;
    topology_vertex_name(topology, from, a, sizeof a);
    topology_vertex_name(topology, to, b, sizeof b);
    tooltip_add(&s->tip, 0, "%s to %s", a, b);
    if (d->nodes_in_place > 1)
        tooltip_add(&s->tip, 0, "and %u links beside it: %s", d->nodes_in_place - 1,
                    s->ui->torus.fold == TORUS_LARGEST ? "the largest load"
                    : s->ui->torus.fold == TORUS_MEAN  ? "their mean"
                                                       : "their sum");
    int panel = s->ui->torus.panel;
    if (torus_belongs(s, panel) && d->values[panel].halves[side])
        tooltip_add(&s->tip, s->brush.theme->text, "%s",
                    torus_tips_format_load(s, panel, d->values[panel].halves[side][half]).text);
    torus_tips_add_other_panels(s, d, side, half);
}

/* ---- the mouse ----------------------------------------------------------- */

double torus_distance(double x, double y, const struct projection_line *l)
{
    double dx = l->x1 - l->x0, dy = l->y1 - l->y0, square = dx * dx + dy * dy;
    double t = square > 0 ? fmin(fmax(((x - l->x0) * dx + (y - l->y0) * dy) / square, 0), 1) : 0;
    return hypot(x - l->x0 - t * dx, y - l->y0 - t * dy);
}

void torus_add_link_hit(const struct stage *s, const struct torus_drawing *d, int side,
                        uint32_t half)
{
    if (half != PROJECTION_NONE)
        scene_hit(s->brush.scene, (struct box){s->brush.mouse_x - 3, s->brush.mouse_y - 3, 6, 6},
                  HIT_LINK, d->sides[side].link_of[half], 0);
}

const struct scene_hit *torus_tip_under(struct stage *s, const struct torus_drawing *d,
                                        struct box plot, int side, uint32_t half)
{
    double mx = s->brush.mouse_x, my = s->brush.mouse_y;
    const struct scene_hit *hit = scene_hit_at(s->brush.scene, mx, my);
    if (!box_has(plot, mx, my) || s->ui->mouse.dragging || !hit)
        return NULL;
    if (hit->kind == HIT_VERTEX && hit->b)
        torus_vertex_tip(s, d, (uint32_t)hit->b - 1);
    else if (hit->kind == HIT_LINK && half != PROJECTION_NONE)
        torus_link_tip(s, d, side, half);
    else
        return NULL;
    return hit;
}

void torus_add_marked_box(const struct stage *s)
{
    const struct ui *ui = s->ui;
    if (!ui->mouse.dragging || (ui->torus.drag != TORUS_BOX && ui->torus.drag != TORUS_LINK_BOX))
        return;
    struct box box = {fmin(ui->mouse.press_x, ui->mouse.x), fmin(ui->mouse.press_y, ui->mouse.y),
                      fabs(ui->mouse.x - ui->mouse.press_x), fabs(ui->mouse.y - ui->mouse.press_y)};
    scene_rect(s->brush.scene, box, 0, color_fade(s->brush.theme->accent, 0.12));
    scene_outline(s->brush.scene, box, 0, 1, s->brush.theme->accent);
}
