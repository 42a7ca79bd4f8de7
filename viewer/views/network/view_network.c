/* View "network": traffic over the links as a graph in which vertices that exchange much are close
 * together (Visuco, section 4.2). Circles are nodes, squares switches; routes are lines over the
 * vertices on their way, stacked on the right-hand side of their direction. */
#include "viewer/views/views.h"

#include "holter/plain_text.h"
#include "viewer/layout/format.h"
#include "viewer/views/common/link_classes.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/common/pieces.h"
#include "viewer/views/network/view_network_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FOOT = 26 };

/* "32 nodes", "64 groups", "4 nodes, 1 switch", "9 nodes, 5 without ranks". */
static const char *network_view_things(const struct wiring *w, char *out, size_t capacity)
{
    uint32_t counts[LINK_ENDS] = {0}, groups = 0, passed = 0;
    for (uint32_t i = 0; i < w->unit_count; i++) {
        const struct wiring_unit *u = &w->units[i];
        if (u->group != NETWORK_ALONE) {
            groups++;
            continue;
        }
        counts[u->kind]++;
        passed += u->kind == VERTEX_NODE && !u->ranks;
    }
    out[0] = 0;
    if (groups)
        snprintf(out, capacity, "%s group%s", quantity_grouped(groups).text,
                 groups == 1 ? "" : "s");
    char alone[120] = "";
    link_ends_text(counts, alone, sizeof alone);
    text_append(out, capacity, "%s%s", groups && alone[0] ? ", " : "", alone);
    if (passed && !counts[VERTEX_CORE] && !counts[VERTEX_PROCESS])
        text_append(out, capacity, ", %s without ranks", quantity_grouped(passed).text);
    return out;
}

static void network_view_add_head(struct stage *s, const struct wiring *w, struct box box)
{
    const struct network_graph *g = &s->ui->graph;
    char what[640], a[160];
    double right = box.x + box.w - 12;
    double compare = piece_compare(s, right, box.y + 7);
    right -= compare > 0 ? compare + 8 : 0;
    if (!camera_is_home(&g->camera))
        right -=
            widget_button(&s->brush, right - 92, box.y + 7, "whole graph", 0, COMMAND_NET_ALL, 0) +
            4;
    if (g->open_count)
        right -= widget_button(&s->brush, right - 92, box.y + 7, "close groups", 0,
                               COMMAND_NET_CLOSE, 0) +
                 4;
    double most = fmax(right - box.x - 220, 0), filter = piece_filter(s, right, box.y + 7, most);
    right -= filter > 0 ? filter + 10 : 0;
    struct quantity range = piece_pairs_range_text(s);
    if (!w)
        snprintf(what, sizeof what, "%s", range.text);
    else
        snprintf(what, sizeof what, "%s, %s routes, %s", network_view_things(w, a, sizeof a),
                 quantity_grouped(s->range->flows.route_count).text, range.text);
    piece_add_unplaced(s, what, sizeof what);
    piece_add_state(s, what, sizeof what);
    widget_title(&s->brush, box.x + 12, box.y + 8, right - box.x - 20, "Network", what);
}

/* The part of the lasso drawn so far. */
static void network_view_add_lasso(const struct stage *s)
{
    const struct network_graph *g = &s->ui->graph;
    if (g->drawing == NETWORK_PAN || !s->ui->mouse.dragging || g->lasso_count < 2)
        return;
    scene_points(s->brush.scene);
    for (uint32_t i = 0; i < g->lasso_count; i++)
        scene_point(s->brush.scene, g->lasso[i].x, g->lasso[i].y);
    scene_curve(s->brush.scene, 1.6, s->brush.theme->accent);
    scene_line(s->brush.scene, g->lasso[g->lasso_count - 1].x, g->lasso[g->lasso_count - 1].y,
               g->lasso[0].x, g->lasso[0].y, 1, color_fade(s->brush.theme->accent, 0.5));
}

/* Hit of the line under the mouse: a click selects its route; lines between groups have none. */
static void network_view_add_route_hit(const struct stage *s, const struct wiring *w,
                                       uint32_t route)
{
    const struct flows *f = &s->range->flows;
    const struct wiring_route *r = &w->routes[route];
    if (r->flow < f->route_count)
        scene_hit(s->brush.scene, (struct box){s->brush.mouse_x - 2, s->brush.mouse_y - 2, 4, 4},
                  HIT_ROUTE, f->routes[r->flow].source, f->routes[r->flow].destination);
}

static void network_view_add_draw(struct stage *s, struct network_drawing *d, struct box box)
{
    struct plot plot = network_plot_make(s, &d->now, box);
    scene_panel(s->brush.scene, box, s->brush.theme->panel, "network.plot");
    section_hit(&plot.section, s->brush.scene, HIT_NETWORK, 0);
    network_draw_routes(s, d, &plot);
    network_draw_link(s, &d->now, &plot);
    uint32_t route = network_route_under(s, &d->now, &plot);
    if (route != WIRING_NONE) {
        network_draw_route(s, &d->now, &plot, route);
        network_view_add_route_hit(s, &d->now.wiring, route);
    }
    uint32_t unit = network_draw_units(s, d, &plot);
    network_view_add_lasso(s);
    if (unit != WIRING_NONE)
        network_unit_tip(s, &d->now.wiring, unit);
    else if (route != WIRING_NONE)
        network_route_tip(s, &d->now.wiring, route);
}

static void network_layout(struct stage *s, struct box box)
{
    struct box panel = box_inset(box, 14, 10);
    if (piece_no_network(s, panel))
        return;
    struct network_drawing *d = network_arrange(s);
    piece_panel(s, panel, "network");
    network_view_add_head(s, d ? &d->now.wiring : NULL, panel);
    double y = network_choices(s, (struct box){panel.x + 12, panel.y + 38, panel.w - 24, 0});
    struct box plot = {panel.x + 6, y, panel.w - 12, panel.y + panel.h - y - FOOT};
    if (!d) {
        int some = s->range->flows.route_count > 0;
        piece_empty(s, plot, some ? "Arranging the nodes" : "No messages between nodes in sight",
                    NULL);
        return;
    }
    network_legend(
        s, d, (struct box){panel.x + 14, panel.y + panel.h - FOOT + 5, panel.w - 28, FOOT - 8});
    if (plot.h >= 60)
        network_view_add_draw(s, d, plot);
}

static void network_icon(const struct brush *b, struct box box, color_t color)
{
    static const double dots[][2] = {{4, 10}, {11, 3}, {18, 10}, {11, 17}};
    for (int i = 0; i < 4; i++) {
        const double *p = dots[i], *q = dots[(i + 1) % 4];
        scene_line(b->scene, box.x + p[0], box.y + p[1], box.x + q[0], box.y + q[1],
                   i % 2 ? 1.2 : 2.6, color_fade(color, 0.7));
    }
    for (int i = 0; i < 4; i++)
        scene_disc(b->scene, box.x + dots[i][0], box.y + dots[i][1], i % 2 ? 2.4 : 3, color);
}

static void network_view_finish(struct pictures *pictures)
{
    network_drawing_destroy(pictures->network);
    pictures->network = NULL;
}

const struct view network_view = {
    .icon = network_icon, .layout = network_layout, .finish = network_view_finish};
