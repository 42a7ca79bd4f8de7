/* Which routes, links and vertices the filter of the network views leaves in. */
#include "viewer/model/flows_work.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"
#include "holter/plain_text.h"
#include "proto/quantity.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- choices ------------------------------------------------------------- */

void flow_filter_range(struct flow_filter *f, enum flow_metric metric, double low, double high)
{
    f->ranged = 1;
    f->metric = metric;
    f->low = low < high ? low : high;
    f->high = low < high ? high : low;
    f->version++;
}

int flow_filter_pick(struct flow_filter *f, enum flow_kind kind, const uint64_t *items,
                     uint32_t count)
{
    if (ARRAY_FIT_ZERO(f->set.items, f->set.capacity, count) != 0)
        return -ENOMEM;
    if (count) {
        memcpy(f->set.items, items, count * sizeof *items);
        qsort(f->set.items, count, sizeof *items, order_u64);
    }
    f->set.count = count;
    f->picked = 1;
    f->kind = kind;
    f->version++;
    return 0;
}

void flow_filter_clear(struct flow_filter *f)
{
    f->ranged = f->picked = 0;
    f->set.count = 0;
    f->version++;
}

void flow_filter_finish(struct flow_filter *f)
{
    free(f->set.items);
    *f = (struct flow_filter){.version = f->version + 1};
}

int flow_filter_active(const struct flow_filter *f)
{
    return f->ranged || f->picked;
}

int flow_set_has(const struct flow_set *set, uint64_t item)
{
    return set->count && bsearch(&item, set->items, set->count, sizeof item, order_u64) != NULL;
}

/* ---- what passes --------------------------------------------------------- */

static int flow_filter_in_range(const struct flow_filter *f, double value)
{
    return value >= f->low && value <= f->high;
}

/* Mark the links and vertices that a filter lets pass by themselves. */
static int note_passing(struct flows *f, const struct flow_filter *filter)
{
    struct flow_work *w = f->work;
    if (array_resize(&w->link_ok, f->link_count + 1u) != 0 ||
        array_resize(&w->vertex_ok, f->vertex_count + 1u) != 0)
        return -ENOMEM;
    uint8_t *links = w->link_ok, *vertices = w->vertex_ok;
    enum flow_kind ranged = flows_kind(filter->metric);
    for (uint32_t l = 0; l < f->link_count; l++)
        links[l] = (!filter->ranged || ranged != FLOW_LINKS ||
                    flow_filter_in_range(filter, flows_value(f, filter->metric, l))) &&
                   (!filter->picked || filter->kind != FLOW_LINKS || flow_set_has(&filter->set, l));
    for (uint32_t v = 0; v < f->vertex_count; v++)
        vertices[v] =
            (!filter->ranged || ranged != FLOW_VERTICES ||
             flow_filter_in_range(filter, flows_value(f, filter->metric, v))) &&
            (!filter->picked || filter->kind != FLOW_VERTICES || flow_set_has(&filter->set, v));
    return 0;
}

/* Which vertices of a route are asked: where it ends for in-degrees, where it begins for
 * out-degrees, those between for transit; both ends of a picked set. */
static int vertices_pass(const struct flows *f, const struct model *m,
                         const struct flow_filter *filter, const struct flow *r, uint32_t length)
{
    const uint8_t *ok = f->work->vertex_ok;
    int picked = filter->picked && filter->kind == FLOW_VERTICES;
    if (picked && !flow_set_has(&filter->set, r->source) &&
        !flow_set_has(&filter->set, r->destination))
        return 0;
    if (!filter->ranged || flows_kind(filter->metric) != FLOW_VERTICES)
        return 1;
    if (filter->metric == METRIC_IN)
        return flow_filter_in_range(filter, flows_value(f, METRIC_IN, r->destination));
    if (filter->metric == METRIC_OUT)
        return flow_filter_in_range(filter, flows_value(f, METRIC_OUT, r->source));
    for (uint32_t k = 0; k + 1 < length; k++) {
        uint32_t from, to;
        if (topology_link(m->network.topology, f->work->walk[k], &from, &to) &&
            (picked ? flow_filter_in_range(filter, flows_value(f, METRIC_TRANSIT, to)) : ok[to]))
            return 1;
    }
    return 0;
}

static int links_pass(const struct flows *f, const struct flow_filter *filter, uint32_t length)
{
    int asked = (filter->ranged && flows_kind(filter->metric) == FLOW_LINKS) ||
                (filter->picked && filter->kind == FLOW_LINKS);
    for (uint32_t k = 0; asked && k < length; k++)
        if (f->work->link_ok[f->work->walk[k]])
            return 1;
    return !asked;
}

static int route_passes(const struct flows *f, const struct model *m,
                        const struct flow_filter *filter, uint32_t i, uint32_t length)
{
    const struct flow *r = &f->routes[i];
    if (filter->ranged && flows_kind(filter->metric) == FLOW_ROUTES &&
        !flow_filter_in_range(filter, flows_value(f, filter->metric, i)))
        return 0;
    if (filter->picked && filter->kind == FLOW_ROUTES &&
        !flow_set_has(&filter->set, (uint64_t)r->source << 32 | r->destination))
        return 0;
    return links_pass(f, filter, length) && vertices_pass(f, m, filter, r, length);
}

/* Without a filter everything with load or messages is shown, and no route need be walked. */
static void show_all(struct flows *f)
{
    memset(f->route_marks, FLOW_SHOWN, f->route_count);
    for (uint32_t l = 0; l < f->link_count; l++)
        f->link_marks[l] = f->loads[l] ? FLOW_SHOWN : 0;
    memset(f->vertex_marks, FLOW_SHOWN, f->vertex_count);
    f->shown_routes = f->route_count;
}

static int show_passing(struct flows *f, const struct model *m, const struct flow_filter *filter)
{
    struct flow_work *w = f->work;
    if (note_passing(f, filter) < 0)
        return -ENOMEM;
    f->shown_routes = 0;
    memset(f->route_marks, 0, f->route_count);
    memset(f->link_marks, 0, f->link_count);
    memset(f->vertex_marks, 0, f->vertex_count);
    for (uint32_t i = 0; i < f->route_count; i++) {
        const struct flow *r = &f->routes[i];
        uint32_t length = flows_walk(f, m, i, w->walk, w->walk_capacity);
        length = length > w->walk_capacity ? 0 : length;
        if (!route_passes(f, m, filter, i, length))
            continue;
        f->shown_routes++;
        f->route_marks[i] = FLOW_SHOWN;
        f->vertex_marks[r->source] = f->vertex_marks[r->destination] = FLOW_SHOWN;
        for (uint32_t k = 0; k < length; k++)
            if (w->link_ok[w->walk[k]])
                f->link_marks[w->walk[k]] = FLOW_SHOWN;
    }
    if (filter->ranged &&
        filter->metric == METRIC_TRANSIT) /* what they pass through is the matter */
        for (uint32_t v = 0; v < f->vertex_count; v++)
            f->vertex_marks[v] |= w->vertex_ok[v] && f->vertices[v].transit ? FLOW_SHOWN : 0;
    return 0;
}

/* ---- what is selected ---------------------------------------------------- */

static void select_route(struct flows *f, uint32_t i)
{
    f->selected_routes += !(f->route_marks[i] & FLOW_SELECTED);
    f->route_marks[i] |= FLOW_SELECTED;
}

static int passes_vertex(const struct flows *f, const struct model *m, uint32_t i, uint32_t vertex)
{
    const struct flow *r = &f->routes[i];
    uint32_t from, to, *links = f->work->walk;
    if (r->source == vertex || r->destination == vertex)
        return 1;
    uint32_t length = flows_walk(f, m, i, links, f->work->walk_capacity);
    for (uint32_t k = 0; length != TOPOLOGY_NONE && k + 1 < length; k++)
        if (topology_link(m->network.topology, links[k], &from, &to) && to == vertex)
            return 1;
    return 0;
}

/* The ranks that stand for those of a pair where ranks are shown. */
static void flows_group_ranks(const struct model *m, struct model_pair *pair)
{
    pair->source -= pair->source % (uint32_t)m->group;
    if (pair->destination != PAIR_OTHERS)
        pair->destination -= pair->destination % (uint32_t)m->group;
}

static int is_picked(const struct flow_pick *p, uint32_t rank)
{
    return rank < p->rank_count && p->ranks[rank];
}

/* Pairs of ranks to routes, or back: of selected routes the ranks. */
static void pairs_to_routes(struct flows *f, const struct model *m, const struct flow_pick *p)
{
    const struct flow_work *w = f->work;
    for (uint32_t i = 0; i < w->pair_count; i++) {
        struct model_pair pair = model_pair_at(flows_pair_table(m), i);
        uint32_t route = w->route_of_pair[i];
        if (route == FLOWS_NONE)
            continue;
        flows_group_ranks(m, &pair);
        if (p->kind == PICK_PAIR ? pair.source == p->a && pair.destination == p->b
                                 : is_picked(p, pair.source) || is_picked(p, pair.destination))
            select_route(f, route);
    }
}

static void routes_to_ranks(struct flows *f, const struct model *m)
{
    const struct flow_work *w = f->work;
    for (uint32_t i = 0; i < w->pair_count; i++) {
        struct model_pair pair = model_pair_at(flows_pair_table(m), i);
        uint32_t route = w->route_of_pair[i];
        if (route == FLOWS_NONE || !(f->route_marks[route] & FLOW_SELECTED))
            continue;
        flows_group_ranks(m, &pair);
        if (pair.source < f->rank_count)
            f->rank_marks[pair.source] = FLOW_SELECTED;
        if (pair.destination < f->rank_count)
            f->rank_marks[pair.destination] = FLOW_SELECTED;
    }
}

static void select_routes(struct flows *f, const struct model *m, const struct flow_pick *p)
{
    uint32_t route;
    switch (p->kind) {
    case PICK_LINK:
        for (uint32_t i = 0; i < f->route_count && p->a < f->link_count; i++)
            if (flows_crosses(f, m, i, (uint32_t)p->a))
                select_route(f, i);
        break;
    case PICK_ROUTE:
        if (p->a < f->vertex_count && p->b < f->vertex_count &&
            (route = flows_find(f, (uint32_t)p->a, (uint32_t)p->b)) != FLOWS_NONE)
            select_route(f, route);
        break;
    case PICK_VERTEX:
        for (uint32_t i = 0; i < f->route_count; i++)
            if (passes_vertex(f, m, i, (uint32_t)p->a))
                select_route(f, i);
        break;
    case PICK_RANKS:
    case PICK_PAIR:
        pairs_to_routes(f, m, p);
        break;
    default:
        break;
    }
}

static void select_links(struct flows *f, const struct model *m, const struct flow_pick *p)
{
    struct flow_work *w = f->work;
    if (p->kind == PICK_LINK) {
        if (p->a < f->link_count)
            f->link_marks[p->a] |= FLOW_SELECTED;
        return;
    }
    for (uint32_t i = 0; i < f->route_count; i++) {
        if (!(f->route_marks[i] & FLOW_SELECTED))
            continue;
        uint32_t length = flows_walk(f, m, i, w->walk, w->walk_capacity);
        for (uint32_t k = 0; length != TOPOLOGY_NONE && k < length; k++)
            f->link_marks[w->walk[k]] |= FLOW_SELECTED;
    }
}

static void select_vertices(struct flows *f, const struct flow_pick *p)
{
    if (p->kind == PICK_RANKS) { /* where they sit, not where their messages go */
        for (uint32_t v = 0; v < f->vertex_count; v++)
            for (uint32_t k = f->first_rank[v]; k < f->first_rank[v + 1]; k++)
                if (is_picked(p, f->ranks[k]))
                    f->vertex_marks[v] |= FLOW_SELECTED;
        return;
    }
    if (p->kind == PICK_VERTEX) {
        if (p->a < f->vertex_count)
            f->vertex_marks[p->a] |= FLOW_SELECTED;
        return;
    }
    for (uint32_t i = 0; i < f->route_count; i++) {
        if (!(f->route_marks[i] & FLOW_SELECTED))
            continue;
        f->vertex_marks[f->routes[i].source] |= FLOW_SELECTED;
        f->vertex_marks[f->routes[i].destination] |= FLOW_SELECTED;
    }
}

static void flow_filter_select_ranks(struct flows *f, const struct model *m,
                                     const struct flow_pick *p)
{
    memset(f->rank_marks, 0, f->rank_count);
    if (p->kind == PICK_LINK || p->kind == PICK_ROUTE) {
        routes_to_ranks(f, m);
    } else if (p->kind == PICK_VERTEX && p->a < f->vertex_count) {
        for (uint32_t k = f->first_rank[p->a]; k < f->first_rank[p->a + 1]; k++)
            if (f->ranks[k] < f->rank_count)
                f->rank_marks[f->ranks[k]] = FLOW_SELECTED;
    } else if (p->kind == PICK_PAIR) {
        if (p->a < f->rank_count)
            f->rank_marks[p->a] = FLOW_SELECTED;
        if (p->b < f->rank_count)
            f->rank_marks[p->b] = FLOW_SELECTED;
    } else if (p->kind == PICK_RANKS) {
        for (uint32_t r = 0; r < f->rank_count; r++)
            f->rank_marks[r] = is_picked(p, r) ? FLOW_SELECTED : 0;
    }
}

int flows_mark(struct flows *f, const struct model *m, const struct flow_filter *filter,
               const struct flow_pick *pick)
{
    struct flow_work *w = f->work;
    if (!w || !f->link_count)
        return 0;
    struct flow_marked *was = &w->marked;
    if (was->known && was->filter == filter->version && was->picked == pick->version &&
        was->kind == (int)pick->kind && was->a == pick->a && was->b == pick->b)
        return 0;
    if (flow_filter_active(filter)) {
        if (show_passing(f, m, filter) < 0)
            return -ENOMEM;
    } else {
        show_all(f);
    }
    f->selected_routes = 0;
    select_routes(f, m, pick);
    select_links(f, m, pick);
    select_vertices(f, pick);
    flow_filter_select_ranks(f, m, pick);
    *was =
        (struct flow_marked){1, filter->version, pick->version, (int)pick->kind, pick->a, pick->b};
    f->marks_version++;
    return 1;
}

/* ---- words --------------------------------------------------------------- */

static const char *flow_filter_kind_name(enum flow_kind kind, uint32_t count)
{
    static const char *const one[] = {"route", "link", "node"}, *const many[] = {"routes", "links",
                                                                                 "nodes"};
    return count == 1 ? one[kind] : many[kind];
}

/* A figure with its unit: "1.20 k", "12.4 KiB", "7 B". */
static struct quantity flow_filter_figure(double value, const char *unit)
{
    return strcmp(unit, "B") == 0 ? quantity_bytes(value) : quantity_count(value);
}

char *flow_filter_text(const struct flow_filter *f, char *out, size_t capacity)
{
    const char *unit = flows_metric_unit(f->metric);
    out[0] = 0;
    if (f->ranged && isinf(f->high))
        snprintf(out, capacity, "%s from %s", flows_metric_name(f->metric),
                 flow_filter_figure(f->low, unit).text);
    else if (f->ranged)
        snprintf(out, capacity, "%s %s to %s", flows_metric_name(f->metric),
                 flow_filter_figure(f->low, unit).text, flow_filter_figure(f->high, unit).text);
    if (f->picked)
        text_append(out, capacity, "%s%u %s picked", out[0] ? ", " : "", f->set.count,
                    flow_filter_kind_name(f->kind, f->set.count));
    return out;
}
