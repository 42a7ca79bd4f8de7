/* Nodes by layer, or events by logical step, and the critical chain. */
#include "viewer/views/dependencies/dependency_picture.h"

#include "daemon/analysis/tables/array.h"
#include "holter/call.h"
#include "viewer/layout/format.h"

#include <math.h>
#include <string.h>

static int dependency_plot_shows(const struct dependency_plot *p, uint32_t column, uint32_t lane)
{
    double x = section_x(&p->v, column), y = section_y(&p->v, lane);
    return x + p->v.ux > p->v.box.x && x < p->v.box.x + p->v.box.w && y + p->v.uy > p->v.box.y &&
           y < p->v.box.y + p->v.box.h;
}

uint32_t dependency_plot_lane(const struct dependency_plot *p, uint32_t event)
{
    const struct dependencies *d = &p->picture->d;
    return p->picture->lane_of[d->ranks.nodes[d->events[event].node].lane];
}

static uint32_t dependency_plot_column(const struct dependency_plot *p, uint32_t event)
{
    const struct dependencies *d = &p->picture->d;
    return p->steps ? d->events[event].step : d->ranks.nodes[d->events[event].node].layer;
}

struct point dependency_plot_event(const struct dependency_plot *p, uint32_t event)
{
    return (struct point){section_x(&p->v, dependency_plot_column(p, event) + 0.5),
                          section_y(&p->v, dependency_plot_lane(p, event) + 0.5)};
}

/* ---- nodes ----------------------------------------------------------------- */

static uint32_t dependency_plot_node_under(const struct stage *s, const struct dependency_plot *p)
{
    const struct dependency_graph *g = p->picture->graph;
    if (!box_has(p->v.box, s->brush.mouse_x, s->brush.mouse_y) || s->ui->mouse.dragging)
        return DEPENDENCY_NONE;
    for (uint32_t i = 0; i < g->node_count; i++) {
        double x = section_x(&p->v, g->nodes[i].layer), y = section_y(&p->v, g->nodes[i].lane);
        if (box_has((struct box){x, y, p->v.ux, p->v.uy}, s->brush.mouse_x, s->brush.mouse_y))
            return i;
    }
    return DEPENDENCY_NONE;
}

/* What each rank does next: a thin line from node to node. */
static void dependency_plot_lines(const struct stage *s, const struct dependency_plot *p)
{
    const struct dependency_graph *g = p->picture->graph;
    for (uint32_t i = 1; i < g->node_count; i++) {
        const struct dependency_node *a = &g->nodes[i - 1], *b = &g->nodes[i];
        double y = floor(section_y(&p->v, b->lane + 0.5)) + 0.5;
        double x0 = fmax(section_x(&p->v, a->layer + 0.5), p->v.box.x),
               x1 = fmin(section_x(&p->v, b->layer + 0.5), p->v.box.x + p->v.box.w);
        if (a->lane == b->lane && x0 < x1 && y > p->v.box.y && y < p->v.box.y + p->v.box.h)
            scene_line(s->brush.scene, x0, y, x1, y, 1, s->brush.theme->grid);
    }
}

static void dependency_plot_nodes(struct stage *s, const struct dependency_plot *p)
{
    const struct dependency_graph *g = p->picture->graph;
    for (uint32_t i = 0; i < g->node_count; i++)
        if (dependency_plot_shows(p, g->nodes[i].layer, g->nodes[i].lane))
            dependency_glyph_layout(s, p, i);
}

/* ---- events ---------------------------------------------------------------- */

static void dependency_plot_event_tip(struct stage *s, const struct dependency_plot *p,
                                      uint32_t event)
{
    const struct dependency_event *e = &p->picture->d.events[event];
    int is_message = e->collective == DEPENDENCY_NONE;
    const char *does = is_message   ? e->receive ? "receives" : "sends"
                       : e->receive ? "leaves"
                                    : "enters";
    tooltip_add(&s->tip, 0, "rank %u %s%s%s, step %u", e->rank, does, is_message ? "" : " ",
                is_message ? "" : call_name(e->call), e->step);
    tooltip_add(&s->tip, s->brush.theme->text, "%s late, of that %s caused here",
                format_duration((double)e->lateness_ns).text,
                format_duration((double)e->caused_ns).text);
    if (is_message)
        dependency_glyph_message_tip(s, p, event);
    else
        collective_bars_tip(s, p, e->collective);
}

struct square {
    uint32_t lane, column;
};

/* The event of a square that is latest. */
static void dependency_plot_square(struct stage *s, const struct dependency_plot *p,
                                   struct square at, uint32_t event)
{
    const struct dependency_picture *d = p->picture;
    const struct dependency_event *e = &d->d.events[event];
    double share = d->d.lateness_ns == 0
                       ? 0
                       : log2(1 + (double)e->lateness_ns) / log2(1 + (double)d->d.lateness_ns);
    color_t color = theme_map(s->brush.theme, share);
    double gap = p->v.ux > 8 ? 1 : 0, high = fmin(p->v.uy - 2, fmax(p->v.uy / 3, 22));
    struct box box = {section_x(&p->v, at.column) + gap,
                      section_y(&p->v, at.lane) + (p->v.uy - high) / 2, p->v.ux - 2 * gap, high};
    if (d->some_marked && !d->marked[at.lane])
        color = color_mix(color, s->brush.theme->panel, 0.68);
    scene_rect(s->brush.scene, box, gap > 0 ? 2 : 0, color);
    if (!e->receive && p->v.ux > 10) /* a send is open at its right end */
        scene_rect(s->brush.scene,
                   (struct box){box.x + box.w - 3, box.y + 3, 3, fmax(box.h - 6, 1)}, 0,
                   s->brush.theme->panel);
    if (e->edge != DEPENDENCY_NONE)
        scene_hit(s->brush.scene, box, HIT_BUTTON, COMMAND_DEPENDENCY_MESSAGE, event + 1);
    else
        scene_hit(s->brush.scene, box, HIT_RANK, e->rank, 0);
    if (box_has(box, s->brush.mouse_x, s->brush.mouse_y))
        dependency_plot_event_tip(s, p, event);
}

/* One square for each visible lane and step, that of its latest event. */
static void dependency_plot_events(struct stage *s, const struct dependency_plot *p)
{
    struct dependency_picture *d = p->picture;
    struct box plane = section_of_plane(&p->v);
    uint32_t first = (uint32_t)fmax(floor(plane.x), 0), columns = (uint32_t)ceil(plane.w) + 2;
    size_t cells = (size_t)columns * p->lanes;
    if (ARRAY_FIT(d->cells, d->cells_capacity, cells) != 0)
        return;
    memset(d->cells, 0, cells * sizeof *d->cells); /* 0: no event; else its position + 1 */
    for (uint32_t i = 0; i < d->d.event_count; i++) {
        uint32_t column = dependency_plot_column(p, i) - first,
                 lane = dependency_plot_lane(p, i) - p->first_lane;
        if (column >= columns || lane >= p->lanes)
            continue;
        double *cell = &d->cells[(size_t)lane * columns + column];
        if (*cell == 0 || d->d.events[i].lateness_ns > d->d.events[(uint32_t)*cell - 1].lateness_ns)
            *cell = i + 1.0;
    }
    for (uint32_t lane = 0; lane < p->lanes; lane++)
        for (uint32_t column = 0; column < columns; column++) {
            uint32_t event = (uint32_t)d->cells[(size_t)lane * columns + column];
            if (event && dependency_plot_shows(p, first + column, p->first_lane + lane))
                dependency_plot_square(s, p, (struct square){p->first_lane + lane, first + column},
                                       event - 1);
        }
}

/* ---- the chain ------------------------------------------------------------- */

static void dependency_plot_chain(struct stage *s, const struct dependency_plot *p)
{
    const struct dependency_picture *d = p->picture;
    for (uint32_t i = 1; i < d->chain_count; i++) {
        uint32_t to = d->chain[i - 1], from = d->chain[i];
        struct point a = dependency_plot_event(p, from), b = dependency_plot_event(p, to);
        if ((a.x == b.x && a.y == b.y) || b.x < p->v.box.x || a.x > p->v.box.x + p->v.box.w ||
            fmax(a.y, b.y) < p->v.box.y || fmin(a.y, b.y) > p->v.box.y + p->v.box.h)
            continue;
        dependency_edges_curve(s, p, from, to, 2.6, s->brush.theme->accent);
    }
}

void dependency_plot_layout(struct stage *s, const struct dependency_plot *p)
{
    dependency_edges_layout(s, p);
    if (p->steps) {
        dependency_plot_events(s, p);
        collective_bars_layout(s, p);
        dependency_plot_chain(s, p);
        return;
    }
    dependency_plot_lines(s, p);
    collective_bars_layout(s, p);
    dependency_plot_chain(s, p);
    uint32_t under = dependency_plot_node_under(s, p);
    if (under != DEPENDENCY_NONE)
        dependency_edges_of_node(s, p, under);
    dependency_plot_nodes(s, p);
}
