/* The CS-glyph (PCLVis, section 5.3.2): an ellipse with the rank, flat where its load differs from
 * that of others, in the colour of its latency; bars of messages inside its border, received, and
 * outside, sent: as long as the transfer took, as high as the message is large, in the colour of
 * its relative latency. What does not fit is left out step by step: bars, number, ellipse. */
#include "viewer/views/dependencies/dependency_picture.h"

#include "viewer/layout/format.h"

#include <math.h>

enum { BARS = 8, ELLIPSE_POINTS = 24 };

#define ELLIPSE_RADIUS 4.0 /* below it, a bar of the lane */

struct glyph {
    struct point at;
    double radius, border; /* of everything, and of the circle */
    double rx, ry;         /* of the ellipse */
};

double dependency_glyph_radius(const struct dependency_plot *p)
{
    return fmin(fmin(p->v.ux, p->v.uy) / 2 - 1, 72);
}

static struct glyph dependency_glyph_shape(const struct dependency_plot *p,
                                           const struct dependency_node *n)
{
    const struct dependency_lane *lane = &p->picture->graph->lanes[n->lane];
    struct glyph g = {.at = {section_x(&p->v, n->layer + 0.5), section_y(&p->v, n->lane + 0.5)}};
    g.radius = dependency_glyph_radius(p);
    int full = g.radius >= DEPENDENCY_FULL_RADIUS && n->first != DEPENDENCY_NONE;
    g.border = full ? g.radius * 0.72 : g.radius;
    g.rx = full ? g.border * 0.55 : g.radius * 0.85;
    g.ry = fmax(g.rx / (1 + 0.4 * lane->balance), g.rx * 0.35);
    return g;
}

static void dependency_glyph_ellipse(const struct stage *s, const struct glyph *g, double grow,
                                     color_t color)
{
    scene_points(s->brush.scene);
    for (int i = 0; i < ELLIPSE_POINTS; i++) {
        double a = 2 * 3.14159265358979 * i / ELLIPSE_POINTS;
        scene_point(s->brush.scene, g->at.x + (g->rx + grow) * cos(a),
                    g->at.y + (g->ry + grow) * sin(a));
    }
    scene_polygon(s->brush.scene, color);
}

void dependency_glyph_message_tip(struct stage *s, const struct dependency_plot *p, uint32_t event)
{
    const struct dependencies *d = &p->picture->d;
    const struct dependency_event *e = &d->events[event];
    uint32_t from = e->receive ? e->peer : e->rank, to = e->receive ? e->rank : e->peer;
    tooltip_add(&s->tip, 0, "rank %u to rank %u, tag %d, %s", from, to, e->tag,
                quantity_bytes((double)e->bytes).text);
    if (e->edge == DEPENDENCY_NONE) {
        tooltip_add(&s->tip, s->brush.theme->warn, "its other end is not in the capture");
        return;
    }
    const struct dependency_edge *edge = &d->ranks.edges[e->edge];
    tooltip_add(&s->tip, s->brush.theme->text, "took %s%s", edge->transfer_ns < 0 ? "-" : "",
                format_duration(fabs((double)edge->transfer_ns)).text);
    if (edge->latency > 0)
        tooltip_add(&s->tip, 0, "%s the usual time of its size", format_ratio(edge->latency).text);
    tooltip_add(&s->tip, 0, "step %u to step %u, received %s late", d->events[edge->send].step,
                d->events[edge->receive].step,
                format_duration((double)d->events[edge->receive].lateness_ns).text);
    tooltip_add(&s->tip, 0, "click: its critical chain");
}

/* A bar at an angle, from the border inwards or outwards. */
static int dependency_glyph_bar(struct stage *s, const struct dependency_plot *p,
                                const struct glyph *g, uint32_t event, double angle)
{
    const struct dependency_event *e = &p->picture->d.events[event];
    const struct dependency_edge *edge =
        e->edge == DEPENDENCY_NONE ? NULL : &p->picture->d.ranks.edges[e->edge];
    double ns = edge ? fmax((double)edge->transfer_ns, 0) : 0;
    double share = 0.15 + 0.85 * log2(1 + ns) / log2(1 + (double)p->picture->slowest_ns);
    double room = e->receive ? g->border - g->rx : g->radius - g->border;
    double grown = fmax(g->radius / 34, 1); /* bars of large glyphs are not hairlines */
    double half = fmin(0.8 + log2((double)e->bytes + 1) / 16, 2.2) * grown, inner = g->border,
           outer = g->border + (e->receive ? -1 : 1) * room * share;
    double cx = cos(angle), cy = sin(angle);
    color_t color = theme_latency(s->brush.theme, edge && edge->latency > 0 ? edge->latency : NAN);
    scene_points(s->brush.scene);
    for (int i = 0; i < 4; i++) {
        double r = i == 0 || i == 3 ? inner : outer, side = i < 2 ? half : -half;
        scene_point(s->brush.scene, g->at.x + cx * r - cy * side, g->at.y + cy * r + cx * side);
    }
    scene_polygon(s->brush.scene, color);
    double x = g->at.x + cx * (inner + outer) / 2, y = g->at.y + cy * (inner + outer) / 2;
    struct box box = {x - 3, y - 3, 6, 6};
    if (edge)
        scene_hit(s->brush.scene, box, HIT_BUTTON, COMMAND_DEPENDENCY_MESSAGE, event + 1);
    return box_has(box, s->brush.mouse_x, s->brush.mouse_y);
}

/* @return the event of the bar under the mouse, or DEPENDENCY_NONE */
static uint32_t dependency_glyph_bars(struct stage *s, const struct dependency_plot *p,
                                      const struct glyph *g, const struct dependency_node *n)
{
    uint32_t under = DEPENDENCY_NONE;
    uint32_t bars[2] = {n->sends < BARS ? n->sends : BARS, n->receives < BARS ? n->receives : BARS};
    uint32_t drawn[2] = {0, 0};
    const double pi = 3.14159265358979;
    for (uint32_t i = n->first; i < n->first + n->count; i++) {
        const struct dependency_event *e = &p->picture->d.events[i];
        uint32_t side = e->receive != 0;
        if (e->collective != DEPENDENCY_NONE || drawn[side] >= bars[side])
            continue;
        double angle = (side ? pi / 2 : -pi / 2) + pi * (drawn[side]++ + 0.5) / bars[side];
        if (dependency_glyph_bar(s, p, g, i, angle))
            under = i;
    }
    return under;
}

static void dependency_glyph_node_tip(struct stage *s, const struct dependency_plot *p,
                                      const struct dependency_node *n)
{
    const struct dependency_lane *lane = &p->picture->graph->lanes[n->lane];
    const struct dependency_calls *calls = &p->capture->messages;
    const char *host = lane->host < calls->host_count ? calls->hosts[lane->host].name : "";
    if (lane->is_host)
        tooltip_add(&s->tip, 0, "%u ranks on %s, layer %u", lane->ranks, host, n->layer);
    else
        tooltip_add(&s->tip, 0, "rank %u on %s, layer %u", lane->id, host, n->layer);
    tooltip_add(&s->tip, 0, "received %s, %s", quantity_things(n->receives, "message").text,
                quantity_bytes((double)n->received_bytes).text);
    tooltip_add(&s->tip, 0, "sent %s, %s", quantity_things(n->sends, "message").text,
                quantity_bytes((double)n->sent_bytes).text);
    if (n->latency > 0)
        tooltip_add(&s->tip, s->brush.theme->text, "took %s the usual time on average",
                    format_ratio(n->latency).text);
    tooltip_add(&s->tip, 0, "steps %u to %u, late by %s", n->first_step, n->last_step,
                format_duration((double)n->lateness_ns).text);
    tooltip_add(&s->tip, 0, "of that %s caused here", format_duration((double)n->caused_ns).text);
    tooltip_add(&s->tip, 0, "load balance of the %s: %.2f", lane->is_host ? "node" : "rank",
                lane->balance);
}

static void dependency_glyph_hit(const struct stage *s, const struct dependency_plot *p,
                                 const struct dependency_node *n, struct box box)
{
    const struct dependency_lane *lane = &p->picture->graph->lanes[n->lane];
    uint32_t host = lane->is_host ? dependency_picture_host(p->picture, lane) : 0;
    if (!lane->is_host)
        scene_hit(s->brush.scene, box, HIT_RANK, lane->id, 0);
    else if (host != UINT32_MAX)
        scene_hit(s->brush.scene, box, HIT_NODE, host, 0);
}

static void dependency_glyph_number(const struct stage *s, const struct glyph *g, color_t fill,
                                    uint32_t rank)
{
    char text[16];
    snprintf(text, sizeof text, "%u", rank);
    double w = scene_width(s->brush.scene, TEXT_AXIS_STRONG, TEXT_FIGURES, text);
    if (w > 2 * g->rx - 2 || g->ry < 5)
        return;
    scene_text(s->brush.scene, g->at.x - g->rx, g->at.y - 7, 2 * g->rx, TEXT_AXIS_STRONG,
               TEXT_CENTRE | TEXT_FIGURES, theme_on(fill), text);
}

void dependency_glyph_layout(struct stage *s, const struct dependency_plot *p, uint32_t node)
{
    const struct dependency_picture *d = p->picture;
    const struct dependency_node *n = &d->graph->nodes[node];
    const struct theme *t = s->brush.theme;
    struct glyph g = dependency_glyph_shape(p, n);
    struct box box = {g.at.x - fmax(g.radius, p->v.ux / 2), g.at.y - g.radius,
                      2 * fmax(g.radius, p->v.ux / 2), 2 * g.radius};
    int full = g.border < g.radius, faded = d->some_marked && !d->marked[n->lane];
    color_t color = theme_latency(t, n->latency > 0 ? n->latency : NAN);
    uint32_t under = DEPENDENCY_NONE;
    color = faded ? color_mix(color, t->panel, 0.68) : color;
    if (full)
        box = (struct box){g.at.x - g.border, g.at.y - g.border, 2 * g.border, 2 * g.border};
    dependency_glyph_hit(s, p, n, box);
    if (g.radius < ELLIPSE_RADIUS) {
        scene_rect(s->brush.scene,
                   (struct box){g.at.x - p->v.ux * 0.4, g.at.y - fmax(p->v.uy * 0.3, 1),
                                p->v.ux * 0.8, fmax(p->v.uy * 0.6, 2)},
                   0, color);
    } else {
        scene_disc(s->brush.scene, g.at.x, g.at.y, g.border, t->panel);
        if (full) {
            scene_disc(s->brush.scene, g.at.x, g.at.y, g.border,
                       d->marked[n->lane] ? t->text : t->line);
            scene_disc(s->brush.scene, g.at.x, g.at.y, g.border - 1.2, t->panel);
            under = dependency_glyph_bars(s, p, &g, n);
        } else if (d->marked[n->lane]) {
            dependency_glyph_ellipse(s, &g, 1.5, t->text);
        }
        dependency_glyph_ellipse(s, &g, 0, color);
        if (!d->graph->lanes[n->lane].is_host)
            dependency_glyph_number(s, &g, color, d->graph->lanes[n->lane].id);
    }
    if (under != DEPENDENCY_NONE)
        dependency_glyph_message_tip(s, p, under);
    else if (box_has(box, s->brush.mouse_x, s->brush.mouse_y) && s->tip.count == 0)
        dependency_glyph_node_tip(s, p, n);
}
