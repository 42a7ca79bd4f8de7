/* Building of the network's graph: units, paths, figures, stacks of routes. */
#include "viewer/views/network/view_network_parts.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "viewer/layout/mix.h"
#include "viewer/views/common/network_pieces.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void wiring_finish(struct wiring *w)
{
    free(w->units);
    free(w->unit_of);
    free(w->edges);
    free(w->routes);
    free(w->route_of);
    free(w->steps);
    free(w->stack);
    free(w->edge_bytes);
    free(w->cursors);
    free(w->order);
    free(w->by_figure);
    key_table_finish(&w->edge_keys);
    key_table_finish(&w->route_keys);
    *w = (struct wiring){0};
}

uint64_t wiring_key(const struct stage *s)
{
    const struct flows *f = &s->range->flows, *real = piece_reality(s);
    uint64_t key = mix_number(mix_number(7, s->model->network.version), s->ui->graph.version);
    key = mix_number(mix_number(key, f->applied), f->vertex_count);
    key = mix_number(key, f->applied ? s->ui->network.what_if.version : 0);
    key = mix_number(key, f->applied ? real->route_count : 0);
    for (uint32_t i = 0; i < f->route_count; i++) {
        const struct flow *r = &f->routes[i];
        key = mix_number(key, (uint64_t)r->source << 32 | r->destination);
        key = (key ^ r->given) * UINT64_C(0x100000001b3);
    }
    return key | 1;
}

/* ---- units ---- */

static int wiring_is_used(const struct flow_vertex *v)
{
    return v->in || v->out || v->transit;
}

static int wiring_make_units(struct wiring *w, const struct stage *s)
{
    const struct network_graph *g = &s->ui->graph;
    const struct topology *t = s->model->network.topology;
    const struct flows *f = &s->range->flows, *real = piece_reality(s);
    uint32_t n = f->vertex_count, groups = g->groups;
    uint32_t *unit_of_group = malloc((groups + 1u) * sizeof *unit_of_group);
    w->units = calloc(n + 1u, sizeof *w->units);
    w->unit_of = malloc((n + 1u) * sizeof *w->unit_of);
    w->vertex_count = n;
    if (!unit_of_group || !w->units || !w->unit_of) {
        free(unit_of_group);
        return -ENOMEM;
    }
    memset(unit_of_group, 0xff, (groups + 1u) * sizeof *unit_of_group);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t group = v < g->vertex_count ? g->group_of[v] : NETWORK_ALONE;
        group = group < groups ? group : NETWORK_ALONE;
        w->unit_of[v] = WIRING_NONE;
        if (!wiring_is_used(&f->vertices[v]) &&
            (v >= real->vertex_count || !wiring_is_used(&real->vertices[v])))
            continue;
        uint32_t at = group == NETWORK_ALONE ? WIRING_NONE : unit_of_group[group];
        if (at == WIRING_NONE) {
            at = w->unit_count++;
            w->units[at] = (struct wiring_unit){
                .vertex = v, .group = group, .kind = topology_vertex_kind(t, v)};
            if (group != NETWORK_ALONE)
                unit_of_group[group] = at;
        }
        w->units[at].vertices++;
        w->units[at].ranks += f->first_rank[v + 1] - f->first_rank[v];
        w->grouped |= group != NETWORK_ALONE;
        w->unit_of[v] = at;
    }
    free(unit_of_group);
    return 0;
}

/* ---- ways ---- */

static uint32_t wiring_find_edge(struct wiring *w, uint32_t from, uint32_t to)
{
    uint32_t e = key_table_add(&w->edge_keys, (struct key){from, to});
    if (e == KEY_NONE || e < w->edge_count)
        return e;
    if (ARRAY_FIT_AT(w->edges, w->edge_capacity, w->edge_count) != 0)
        return KEY_NONE;
    w->edges[w->edge_count++] = (struct wiring_edge){.from = from, .to = to, .back = WIRING_NONE};
    return e;
}

/* Append the edges of a route to steps. @param walk  of 2 * (vertex_count + 1) numbers
 * @return their number, or -ENOMEM */
static int wiring_walk_route(struct wiring *w, const struct model *m, const struct flows *f,
                             uint32_t route, uint32_t *walk)
{
    uint32_t length = flows_walk(f, m, route, walk, w->vertex_count + 1), from, to, count = 0;
    if (length == TOPOLOGY_NONE || length > w->vertex_count + 1)
        return 0;
    uint32_t at = w->unit_of[f->routes[route].source];
    if (ARRAY_FIT_ZERO(w->steps, w->step_capacity, (uint64_t)w->step_count + length) != 0)
        return -ENOMEM;
    for (uint32_t k = 0; k < length; k++) {
        if (!topology_link(m->network.topology, walk[k], &from, &to) ||
            w->unit_of[to] == WIRING_NONE || w->unit_of[to] == at)
            continue;
        uint32_t e = wiring_find_edge(w, at, w->unit_of[to]);
        if (e == KEY_NONE)
            return -ENOMEM;
        w->steps[w->step_count + count++] = e;
        at = w->unit_of[to];
    }
    return (int)count;
}

/* Find or create the route with the same edges. Between single vertices every route remains
 * separate. */
static uint32_t wiring_find_route(struct wiring *w, uint32_t flow, const struct flow *f,
                                  uint32_t count)
{
    uint32_t a = w->unit_of[f->source], b = w->unit_of[f->destination], r = w->route_count;
    if (w->grouped) {
        uint64_t way = 1;
        for (uint32_t k = 0; k < count; k++)
            way = mix_number(way, w->steps[w->step_count + k]);
        r = key_table_number_after(&w->route_keys, (struct key){(uint64_t)a << 32 | b, way},
                                   KEY_NONE);
    }
    if (r == w->route_count) {
        w->routes[w->route_count++] = (struct wiring_route){
            .source = a, .destination = b, .first = w->step_count, .count = count, .flow = flow};
        w->step_count += count;
    }
    return r;
}

static int wiring_build_route(struct wiring *w, const struct model *m, const struct flows *f,
                              uint32_t i, uint32_t *walk)
{
    const struct flow *flow = &f->routes[i];
    w->route_of[i] = WIRING_NONE;
    if (flow->length == TOPOLOGY_NONE || w->unit_of[flow->source] == WIRING_NONE ||
        w->unit_of[flow->destination] == WIRING_NONE ||
        w->unit_of[flow->source] == w->unit_of[flow->destination])
        return 0;
    int count = wiring_walk_route(w, m, f, i, walk);
    if (count <= 0)
        return count;
    uint32_t r = wiring_find_route(w, i, flow, (uint32_t)count);
    if (r == KEY_NONE)
        return -ENOMEM;
    w->route_of[i] = r;
    w->routes[r].flows++;
    return 0;
}

static int wiring_build_routes(struct wiring *w, const struct model *m, const struct flows *f)
{
    uint32_t *walk = malloc(2 * (w->vertex_count + 1u) * sizeof *walk);
    int error = walk ? 0 : -ENOMEM;
    for (uint32_t i = 0; !error && i < f->route_count; i++)
        error = wiring_build_route(w, m, f, i, walk);
    free(walk);
    return error;
}

/* Count the partners of units: each pair that communicates counts once at both ends. */
static int wiring_count_partners(struct wiring *w)
{
    struct key_table pairs = {0};
    for (uint32_t i = 0; i < w->route_count; i++) {
        uint32_t a = w->routes[i].source, b = w->routes[i].destination, seen = pairs.count;
        const struct key key = {a < b ? a : b, a < b ? b : a};
        uint32_t k = key_table_add(&pairs, key);
        if (k == KEY_NONE) {
            key_table_finish(&pairs);
            return -ENOMEM;
        }
        if (k < seen)
            continue;
        w->units[a].partners++;
        w->units[b].partners++;
    }
    key_table_finish(&pairs);
    return 0;
}

/* Add the edges that only the reality uses, after the routes. */
static int wiring_add_real(struct wiring *w, const struct stage *s)
{
    const struct flows *real = piece_reality(s);
    uint32_t from, to;
    for (uint32_t l = 0; s->ui->network.applied && l < real->link_count; l++)
        if (real->loads[l] && topology_link(s->model->network.topology, l, &from, &to) &&
            w->unit_of[from] != WIRING_NONE && w->unit_of[to] != WIRING_NONE &&
            w->unit_of[from] != w->unit_of[to] &&
            wiring_find_edge(w, w->unit_of[from], w->unit_of[to]) == KEY_NONE)
            return -ENOMEM;
    return 0;
}

/* Sections of the stack: how many routes cross each edge. */
static int wiring_divide_stack(struct wiring *w)
{
    w->stack = malloc((w->step_count + 1u) * sizeof *w->stack);
    w->edge_bytes = calloc(w->edge_count + 1u, sizeof *w->edge_bytes);
    w->cursors = malloc((w->edge_count + 1u) * sizeof *w->cursors);
    if (!w->stack || !w->edge_bytes || !w->cursors)
        return -ENOMEM;
    for (uint32_t i = 0; i < w->step_count; i++)
        w->edges[w->steps[i]].count++;
    for (uint32_t e = 0, at = 0; e < w->edge_count; e++) {
        w->edges[e].first = at;
        at += w->edges[e].count;
    }
    return 0;
}

/* Find opposite edges and partners of units. */
static int wiring_pair(struct wiring *w)
{
    for (uint32_t e = 0; e < w->edge_count; e++)
        w->edges[e].back =
            key_table_find(&w->edge_keys, (struct key){w->edges[e].to, w->edges[e].from});
    return wiring_divide_stack(w) < 0 ? -ENOMEM : wiring_count_partners(w);
}

int wiring_make(struct wiring *w, const struct stage *s, uint64_t key)
{
    const struct model *m = s->model;
    const struct flows *f = &s->range->flows;
    if (!m->network.topology || f->vertex_count != topology_vertices(m->network.topology))
        return -ENOMEM;
    w->key = key;
    w->flow_count = f->route_count;
    w->route_of = malloc((f->route_count + 1u) * sizeof *w->route_of);
    w->routes = calloc(f->route_count + 1u, sizeof *w->routes);
    if (w->route_of && w->routes && wiring_make_units(w, s) == 0 &&
        wiring_build_routes(w, m, f) == 0 && wiring_add_real(w, s) == 0 && wiring_pair(w) == 0)
        return 0;
    wiring_finish(w);
    return -ENOMEM;
}

/* ---- figures ---- */

static void wiring_clear_figures(struct wiring *w)
{
    for (uint32_t i = 0; i < w->unit_count; i++) {
        struct wiring_unit *u = &w->units[i];
        u->in = u->out = u->in_bytes = u->out_bytes = u->transit = u->inside = 0;
    }
    for (uint32_t i = 0; i < w->edge_count; i++) {
        w->edges[i].real = 0;
        w->edge_bytes[i] = 0;
    }
    for (uint32_t i = 0; i < w->route_count; i++) {
        struct wiring_route *r = &w->routes[i];
        r->bytes = r->messages = 0;
        r->given = 0;
        memset(r->values, 0, sizeof r->values);
    }
    memset(w->most, 0, sizeof w->most);
    w->heaviest = w->most_inside = 0;
    w->most_degree = 0;
    w->most_partners = 0;
}

static void wiring_add_flows(struct wiring *w, const struct flows *f)
{
    for (uint32_t i = 0; i < w->flow_count; i++) {
        const struct flow *flow = &f->routes[i];
        uint32_t at = w->route_of[i], a = w->unit_of[flow->source];
        if (at == WIRING_NONE) {
            if (a != WIRING_NONE && a == w->unit_of[flow->destination])
                w->units[a].inside += flow->bytes;
            continue;
        }
        struct wiring_route *r = &w->routes[at];
        r->bytes += flow->bytes;
        r->messages += flow->messages;
        r->values[METRIC_HOP_BYTES] += (double)flow->bytes * flow->length;
        r->given |= flow->given != FLOWS_NONE;
    }
}

static void wiring_add_routes(struct wiring *w)
{
    for (uint32_t i = 0; i < w->route_count; i++) {
        const struct wiring_route *r = &w->routes[i];
        struct wiring_unit *a = &w->units[r->source], *b = &w->units[r->destination];
        a->out += r->messages;
        a->out_bytes += r->bytes;
        b->in += r->messages;
        b->in_bytes += r->bytes;
        for (uint32_t k = 0; k < r->count; k++)
            w->edge_bytes[w->steps[r->first + k]] += r->bytes;
    }
    for (uint32_t i = 0; i < w->edge_count; i++) {
        struct wiring_edge *e = &w->edges[i];
        e->bytes = w->edge_bytes[i];
        w->units[e->to].transit += e->bytes;
    }
    for (uint32_t i = 0; i < w->unit_count; i++) /* what arrived, less what was for it */
        w->units[i].transit -= w->units[i].in_bytes;
}

static void wiring_find_maxima(struct wiring *w)
{
    for (uint32_t i = 0; i < w->edge_count; i++)
        w->heaviest = w->edges[i].bytes > w->heaviest ? w->edges[i].bytes : w->heaviest;
    for (uint32_t i = 0; i < w->route_count; i++) {
        struct wiring_route *r = &w->routes[i];
        r->values[METRIC_BYTES] = (double)r->bytes;
        r->values[METRIC_LENGTH] =
            r->bytes ? round(r->values[METRIC_HOP_BYTES] / (double)r->bytes) : r->count;
        r->length = (uint32_t)r->values[METRIC_LENGTH];
        uint64_t load = 0;
        for (uint32_t k = 0; k < r->count; k++) {
            const uint64_t bytes = w->edge_bytes[w->steps[r->first + k]];
            load = bytes > load ? bytes : load;
        }
        r->values[METRIC_LOAD] = (double)load;
        for (int metric = 0; metric < WIRING_METRICS; metric++)
            w->most[metric] = fmax(w->most[metric], r->values[metric]);
    }
    for (uint32_t i = 0; i < w->unit_count; i++) {
        const struct wiring_unit *u = &w->units[i];
        w->most_degree = fmax(w->most_degree, (double)u->in + (double)u->out);
        w->most_inside = u->inside > w->most_inside ? u->inside : w->most_inside;
        w->most_partners = u->partners > w->most_partners ? u->partners : w->most_partners;
    }
}

/* What the edges carry in reality: the loads of the links between their units. */
static void wiring_add_real_loads(struct wiring *w, const struct stage *s)
{
    const struct flows *real = piece_reality(s);
    uint32_t from, to;
    for (uint32_t l = 0; l < real->link_count; l++) {
        if (!real->loads[l] || !topology_link(s->model->network.topology, l, &from, &to) ||
            w->unit_of[from] == WIRING_NONE || w->unit_of[to] == WIRING_NONE)
            continue;
        uint32_t e = key_table_find(&w->edge_keys, (struct key){w->unit_of[from], w->unit_of[to]});
        if (e != KEY_NONE)
            w->edges[e].real += (double)real->loads[l];
    }
}

int wiring_figures(struct wiring *w, const struct stage *s)
{
    const struct flows *f = &s->range->flows;
    uint64_t key = mix_number(mix_number(3, f->version), w->key) | 1;
    key = mix_number(key, s->range->reality.version) | 1;
    if (key == w->figures_key || f->route_count != w->flow_count)
        return 0;
    wiring_clear_figures(w);
    wiring_add_flows(w, f);
    wiring_add_routes(w);
    if (s->ui->network.applied)
        wiring_add_real_loads(w, s);
    wiring_find_maxima(w);
    w->figures_key = key;
    return 1;
}

int wiring_marks(struct wiring *w, const struct flows *f)
{
    uint64_t key = mix_number(mix_number(mix_number(9, f->marks_version), f->version), w->key) | 1;
    if (key == w->marks_key || f->route_count != w->flow_count)
        return 0;
    for (uint32_t i = 0; i < w->route_count; i++)
        w->routes[i].marks = 0;
    for (uint32_t i = 0; i < w->unit_count; i++)
        w->units[i].marks = 0;
    for (uint32_t i = 0; i < w->flow_count; i++)
        if (w->route_of[i] != WIRING_NONE)
            w->routes[w->route_of[i]].marks |= f->route_marks[i];
    for (uint32_t v = 0; v < w->vertex_count && v < f->vertex_count; v++)
        if (w->unit_of[v] != WIRING_NONE)
            w->units[w->unit_of[v]].marks |= f->vertex_marks[v];
    w->marks_key = key;
    return 1;
}

/* ---- stacks ---- */

/* Routes in the order of a figure: the largest first, then by index. */
static int wiring_sort_routes(struct wiring *w, int figure)
{
    struct key_place *places = malloc(2 * ((size_t)w->route_count + 1) * sizeof *places);
    if (!places)
        return -ENOMEM;
    for (uint32_t i = 0; i < w->route_count; i++)
        places[i] = (struct key_place){key_of_largest(w->routes[i].values[figure]), i};
    const struct key_place *sorted = key_order(places, places + w->route_count, w->route_count);
    for (uint32_t i = 0; i < w->route_count; i++)
        w->by_figure[i] = sorted[i].place;
    free(places);
    return 0;
}

/* Order: visible and selected routes first, then visible ones, then the rest; each part by figure.
 */
static void wiring_partition_routes(struct wiring *w)
{
    static const uint8_t first[] = {FLOW_SHOWN | FLOW_SELECTED, FLOW_SHOWN, FLOW_SELECTED, 0};
    uint32_t at = 0;
    for (size_t k = 0; k < sizeof first / sizeof *first; k++)
        for (uint32_t i = 0; i < w->route_count; i++)
            if ((w->routes[w->by_figure[i]].marks & (FLOW_SHOWN | FLOW_SELECTED)) == first[k])
                w->order[at++] = w->by_figure[i];
}

static int wiring_reserve_stack(struct wiring *w)
{
    if (!w->order)
        w->order = malloc((w->route_count + 1u) * sizeof *w->order);
    if (!w->by_figure)
        w->by_figure = malloc((w->route_count + 1u) * sizeof *w->by_figure);
    return w->order && w->by_figure ? 0 : -ENOMEM;
}

uint64_t wiring_order_key(const struct wiring *w, enum flow_metric metric)
{
    return mix_number(mix_number(mix_number(13, w->figures_key), w->marks_key), (uint64_t)metric) |
           1;
}

int wiring_order(struct wiring *w, enum flow_metric metric)
{
    const uint64_t key = wiring_order_key(w, metric);
    if (key == w->order_key)
        return 0;
    if (wiring_reserve_stack(w) < 0)
        return -ENOMEM;
    int figure = (int)metric < WIRING_METRICS ? (int)metric : METRIC_BYTES;
    uint64_t sorted = mix_number(w->figures_key, (uint64_t)figure) | 1;
    if (sorted != w->sorted_key) {
        if (wiring_sort_routes(w, figure) < 0)
            return -ENOMEM;
        w->sorted_key = sorted;
    }
    wiring_partition_routes(w);
    for (uint32_t i = 0; i < w->edge_count; i++)
        w->cursors[i] = w->edges[i].first;
    for (uint32_t i = 0; i < w->route_count; i++) {
        const struct wiring_route *r = &w->routes[w->order[i]];
        for (uint32_t k = 0; k < r->count; k++)
            w->stack[w->cursors[w->steps[r->first + k]]++] = w->order[i];
    }
    w->order_key = key;
    return 0;
}
