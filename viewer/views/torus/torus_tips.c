/* Tooltips of places and links of the torus. */
#include "viewer/layout/format.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/torus/drawing.h"

#include <inttypes.h>
#include <stdio.h>

static char *torus_tips_format_load(const struct stage *s, int panel, char *out, size_t room,
                                    double value)
{
    const struct torus_panel *p = &s->ui->torus.panels[panel];
    const char *unit = p->figure == TORUS_MESSAGES || p->packets ? "" : "B";
    char text[FORMAT_CAPACITY];
    snprintf(out, room, "%s%s", format_si(text, sizeof text, value, unit),
             p->packets                    ? " packets"
             : p->figure == TORUS_MESSAGES ? " messages"
                                           : "");
    return out;
}

void torus_vertex_tip(struct stage *s, const struct torus_drawing *d, uint32_t place)
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
    tooltip_add(&s->tip, 0, "they differ only in dimensions that are summed");
}

/* Loads of the same link in the other panels. */
static void torus_tips_add_other_panels(struct stage *s, const struct torus_drawing *d, int side,
                                        uint32_t half)
{
    const struct torus_choice *t = &s->ui->torus;
    char value[FORMAT_CAPACITY + 16];
    for (int p = 0; p < t->panel_count && s->tip.count < 9; p++)
        if (t->panel_count > 1 && torus_belongs(s, p) && d->values[p].halves[side])
            tooltip_add(
                &s->tip, p == t->panel ? s->brush.theme->text : 0, "%s: %s",
                p ? t->panels[p].title : "now",
                torus_tips_format_load(s, p, value, sizeof value, d->values[p].halves[side][half]));
}

void torus_link_tip(struct stage *s, const struct torus_drawing *d, int side, uint32_t half)
{
    const struct topology *topology = s->model->network.topology;
    uint32_t link = d->sides[side].link_of[half], from, to;
    char a[TOPOLOGY_NAME + 1], b[TOPOLOGY_NAME + 1], value[FORMAT_CAPACITY + 16];
    if (link == TOPOLOGY_NONE || !topology_link(topology, link, &from, &to))
        return;
    topology_vertex_name(topology, from, a, sizeof a);
    topology_vertex_name(topology, to, b, sizeof b);
    tooltip_add(&s->tip, 0, "%s to %s", a, b);
    if (d->nodes_in_place > 1)
        tooltip_add(&s->tip, 0, "and %u links beside it, summed", d->nodes_in_place - 1);
    int panel = s->ui->torus.panel;
    if (torus_belongs(s, panel) && d->values[panel].halves[side])
        tooltip_add(&s->tip, s->brush.theme->text, "%s",
                    torus_tips_format_load(s, panel, value, sizeof value,
                                           d->values[panel].halves[side][half]));
    torus_tips_add_other_panels(s, d, side, half);
}
