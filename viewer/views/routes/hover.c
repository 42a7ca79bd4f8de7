/* Hover and tooltips of the route matrix. */
#include "viewer/layout/format.h"
#include "viewer/views/common/network_pieces.h"
#include "viewer/views/routes/view_routes_parts.h"

#include <math.h>
#include <stdlib.h>

static const struct route_hop *route_hover_find(const struct route_hop *hops, uint32_t count,
                                                uint32_t from, uint32_t to)
{
    struct route_hop key = {.from = from, .to = to};
    return count ? bsearch(&key, hops, count, sizeof *hops, route_layer_compare_by_cells) : NULL;
}

/* Name of a cell: "(0,0,0,0,0)", or the first and last vertex of several. */
static void route_hover_format_cell_name(const struct stage *s, const struct routes_drawing *d,
                                         const struct route_layer *l, uint32_t cell, char *out,
                                         size_t capacity)
{
    uint32_t first = l->cells.first[cell], last = l->cells.first[cell + 1] - 1;
    char a[80], b[80];
    network_vertex_name(&s->model->network, d->order.vertex[first], a, sizeof a);
    network_vertex_name(&s->model->network, d->order.vertex[last], b, sizeof b);
    snprintf(out, capacity, first == last ? "%s" : "%s \xe2\x80\xa6 %s, %u vertices", a, b,
             last - first + 1);
}

/* Tooltip of a cell for a single pair of vertices. */
static void route_hover_add_single(struct stage *s, struct box cell, uint32_t from, uint32_t to)
{
    uint32_t link = topology_link_between(s->model->network.topology, from, to);
    if (from == to) {
        scene_hit(s->brush.scene, cell, HIT_VERTEX, from, 0);
        piece_vertex_tip(s, from);
    } else if (link != TOPOLOGY_NONE) {
        scene_hit(s->brush.scene, cell, HIT_LINK, link, 0);
        piece_link_tip(s, link);
    } else if (flows_find(&s->range->flows, from, to) != FLOWS_NONE) {
        scene_hit(s->brush.scene, cell, HIT_ROUTE, from, to);
        piece_route_tip(s, from, to);
    } else if (!s->ui->routes.lens) { /* the tooltip must not cover the lens without need */
        char a[80], b[80];
        network_vertex_name(&s->model->network, from, a, sizeof a);
        network_vertex_name(&s->model->network, to, b, sizeof b);
        tooltip_add(&s->tip, 0, "%s and %s", a, b);
        tooltip_add(&s->tip, 0, "no neighbours, no messages from the first to the second");
    }
}

static void route_hover_add_several(struct stage *s, const struct routes_drawing *d,
                                    const struct route_layer *l, uint32_t from, uint32_t to)
{
    char name[200];
    if (s->ui->routes.lens)
        return;
    route_hover_format_cell_name(s, d, l, from, name, sizeof name);
    tooltip_add(&s->tip, 0, "%s", name);
    if (from != to) {
        route_hover_format_cell_name(s, d, l, to, name, sizeof name);
        tooltip_add(&s->tip, 0, "to %s", name);
        const struct route_hop *h = route_hover_find(l->hops, l->hop_count, from, to);
        if (h)
            tooltip_add(&s->tip, s->brush.theme->text, "routes step here; largest link load %s",
                        format_si(h->load, "B").text);
        else if (route_hover_find(l->pairs, l->pair_count, from, to))
            tooltip_add(&s->tip, 0, "neighbours in the network; no route in sight between them");
        else
            tooltip_add(&s->tip, 0, "no neighbours in the network");
    }
    if (d->axis.folded[l->cells.first[from]] || d->axis.folded[l->cells.first[to]])
        tooltip_add(&s->tip, 0, "folded: no route in sight passes");
    else
        tooltip_add(&s->tip, 0, "click to look closer");
}

void route_hover(struct stage *s, const struct routes_drawing *d, const struct route_layer *l,
                 const struct route_window *w)
{
    const struct adjacency_axis *a = &d->axis;
    double per = w->extent / w->box.w;
    double x = w->x + (s->brush.mouse_x - w->box.x) * per;
    double y = w->y + (s->brush.mouse_y - w->box.y) * per;
    if (x < 0 || y < 0 || x >= 1 || y >= 1 || !box_has(w->box, s->brush.mouse_x, s->brush.mouse_y))
        return;
    uint32_t from = l->cells.cell[adjacency_row(a, y)], to = l->cells.cell[adjacency_row(a, x)];
    uint32_t rows = l->cells.first[from + 1] - l->cells.first[from];
    uint32_t columns = l->cells.first[to + 1] - l->cells.first[to];
    double x0 = w->box.x + (a->at[l->cells.first[to]] - w->x) / per;
    double x1 = w->box.x + (a->at[l->cells.first[to + 1]] - w->x) / per;
    double y0 = w->box.y + (a->at[l->cells.first[from]] - w->y) / per;
    double y1 = w->box.y + (a->at[l->cells.first[from + 1]] - w->y) / per;
    x0 = fmax(x0, w->box.x);
    y0 = fmax(y0, w->box.y);
    x1 = fmin(x1, w->box.x + w->box.w);
    y1 = fmin(y1, w->box.y + w->box.h);
    struct box cell = {x0, y0, x1 - x0, y1 - y0};
    if (cell.w >= 4 && cell.h >= 4)
        scene_outline(s->brush.scene, cell, 0, 1, s->brush.theme->text);
    if (rows == 1 && columns == 1)
        route_hover_add_single(s, cell, d->order.vertex[l->cells.first[from]],
                               d->order.vertex[l->cells.first[to]]);
    else
        route_hover_add_several(s, d, l, from, to);
}
