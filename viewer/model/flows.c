/* Messages between vertices of the network in the visible time, with routes and loads. */
#include "viewer/model/flows.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "holter/bisect.h"
#include "holter/order.h"
#include "viewer/model/flows_work.h"
#include "viewer/model/model_network_parts.h"
#include "viewer/model/range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory -------------------------------------------------------------- */

static void flows_figures_clear(struct flows *f)
{
    f->route_count = f->link_count = f->vertex_count = f->rank_count = 0;
    f->bytes = f->local_bytes = f->unplaced_bytes = f->largest = 0;
    f->hop_bytes = f->mean = 0;
    f->largest_link = TOPOLOGY_NONE;
    f->links_used = f->longest = f->shown_routes = f->selected_routes = f->ranked_count = 0;
    memset(f->maximum, 0, sizeof f->maximum);
}

void flows_finish(struct flows *f)
{
    if (f->work) {
        free(f->work->route_of_pair);
        free(f->work->walk);
        free(f->work->link_ok);
        free(f->work->vertex_ok);
        free(f->work);
    }
    free(f->routes);
    free(f->loads);
    free(f->messages);
    free(f->vertices);
    free(f->first_rank);
    free(f->ranks);
    free(f->route_marks);
    free(f->link_marks);
    free(f->vertex_marks);
    free(f->rank_marks);
    free(f->ranked);
    *f = (struct flows){0};
}

/* Fresh zeroed elements in place of the old ones. */
static int flows_renew(void *array, size_t count, size_t size)
{
    void **at = array, *fresh = calloc(count + 1, size);
    if (!fresh)
        return -ENOMEM;
    free(*at);
    *at = fresh;
    return 0;
}

/* ---- the routes of the pairs ----------------------------------------------- */

static uint32_t flows_seat_of(const struct model *m, const struct what_if *shown, uint32_t rank)
{
    uint32_t seat = network_seat(&m->network, rank);
    if (!shown || rank >= shown->seat_count)
        return seat;
    uint32_t better = shown->seats[rank];
    return better < topology_vertices(m->network.topology) ? better : seat;
}

/* Keys of the pairs with a route: the source vertex is in the upper half. What the others send is
 * summed up here. @param figures  of each pair */
static uint32_t key_pairs(struct flows *f, const struct model *m, const uint64_t *figures,
                          struct key_place *out)
{
    struct flow_work *w = f->work;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->pair_count; i++) {
        struct model_pair p = model_pair_at(flows_pair_table(m), i);
        uint64_t bytes = figures[(size_t)i * PAIR_COLUMNS + PAIR_BYTES];
        uint32_t from = flows_seat_of(m, f->shown, p.source);
        uint32_t to = p.destination == PAIR_OTHERS ? TOPOLOGY_NONE
                                                   : flows_seat_of(m, f->shown, p.destination);
        w->route_of_pair[i] = FLOWS_NONE;
        if (from == TOPOLOGY_NONE || to == TOPOLOGY_NONE)
            f->unplaced_bytes += bytes;
        else if (from == to)
            f->local_bytes += bytes;
        else
            out[n++] = (struct key_place){(uint64_t)from << 32 | to, i};
    }
    return n;
}

int network_compare_reroutes(const void *left, const void *right)
{
    const struct network_reroute *a = left, *b = right;
    return 2 * ORDER(a->source, b->source) + ORDER(a->destination, b->destination);
}

/* Suggested route between two vertices; FLOWS_NONE: as the topology routes. */
static uint32_t given_route(const struct what_if *shown, uint32_t source, uint32_t destination)
{
    const struct network_reroute *r = shown ? what_if_route(shown, source, destination) : NULL;
    return r ? (uint32_t)(r - shown->routes) : FLOWS_NONE;
}

/* One route for all pairs between two vertices, if they have sent something.
 * @param sorted  pairs by their keys, as are figures by pairs */
static void flows_add_routes(struct flows *f, const uint64_t *figures,
                             const struct key_place *sorted, uint32_t count)
{
    for (uint32_t i = 0, next; i < count; i = next) {
        struct flow r = {.source = (uint32_t)(sorted[i].key >> 32),
                         .destination = (uint32_t)sorted[i].key};
        for (next = i; next < count && sorted[next].key == sorted[i].key; next++) {
            const uint64_t *p = figures + (size_t)sorted[next].place * PAIR_COLUMNS;
            r.bytes += p[PAIR_BYTES];
            r.messages += p[PAIR_MESSAGES];
        }
        if (!r.messages && !r.bytes)
            continue;
        for (uint32_t k = i; k < next; k++)
            f->work->route_of_pair[sorted[k].place] = f->route_count;
        r.given = given_route(f->shown, r.source, r.destination);
        f->routes[f->route_count++] = r;
    }
}

/* @param figures  of each pair, work->pair_count of them */
static int flows_make_routes(struct flows *f, const struct model *m, const uint64_t *figures)
{
    struct flow_work *w = f->work;
    struct key_place *places = malloc(2 * ((size_t)w->pair_count + 1) * sizeof *places);
    int error = places ? array_resize(&w->route_of_pair,
                                      ((size_t)w->pair_count + 1) * sizeof *w->route_of_pair)
                       : -ENOMEM;
    const uint32_t n = error ? 0 : key_pairs(f, m, figures, places);
    error = error ? error : flows_renew(&f->routes, n, sizeof *f->routes);
    error = error ? error : flows_renew(&f->route_marks, n, 1);
    if (!error)
        flows_add_routes(f, figures, key_order(places, places + n, n), n);
    free(places);
    return error;
}

static int flows_list_ranks(struct flows *f, const struct model *m, const struct what_if *shown)
{
    uint32_t vertices = topology_vertices(m->network.topology), ranks = m->network.seat_count;
    if (flows_renew(&f->first_rank, (size_t)vertices + 1, sizeof *f->first_rank) < 0 ||
        flows_renew(&f->ranks, ranks, sizeof *f->ranks) < 0)
        return -ENOMEM;
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t seat = flows_seat_of(m, shown, r);
        if (seat != TOPOLOGY_NONE)
            f->first_rank[seat + 1]++;
    }
    for (uint32_t v = 0; v < vertices; v++)
        f->first_rank[v + 1] += f->first_rank[v];
    for (uint32_t r = ranks; r-- > 0;) { /* from behind: each takes the last free place */
        uint32_t seat = flows_seat_of(m, shown, r);
        if (seat != TOPOLOGY_NONE)
            f->ranks[--f->first_rank[seat + 1]] = r;
    }
    /* what began at v + 1 now begins one place earlier in the array */
    memmove(f->first_rank, f->first_rank + 1, vertices * sizeof *f->first_rank);
    f->first_rank[vertices] = 0;
    for (uint32_t r = 0; r < ranks; r++)
        f->first_rank[vertices] += flows_seat_of(m, shown, r) != TOPOLOGY_NONE;
    return 0;
}

/* ---- what they carry ----------------------------------------------------- */

/* Room for the links of the longest route. */
static int make_walk(struct flow_work *w, const struct model *m, const struct what_if *shown)
{
    uint32_t longest = topology_diameter(m->network.topology);
    for (uint32_t i = 0; shown && i < shown->route_count; i++)
        longest = shown->routes[i].count > longest ? shown->routes[i].count : longest;
    w->walk_capacity = longest;
    return flows_renew(&w->walk, longest, sizeof *w->walk);
}

static int flows_compute(struct flows *f, const struct model *m, const struct range *r)
{
    const struct topology *t = m->network.topology;
    const struct range_sums *sums = m->group > 1 ? &r->node_pairs : &r->pairs;
    const uint32_t known = flows_pair_table(m)->keys.count;
    flows_figures_clear(f);
    f->work->pair_count = sums->count < known ? sums->count : known;
    if (flows_list_ranks(f, m, f->shown) < 0 || make_walk(f->work, m, f->shown) < 0 ||
        flows_renew(&f->loads, topology_links(t), sizeof *f->loads) < 0 ||
        flows_renew(&f->messages, topology_links(t), sizeof *f->messages) < 0 ||
        flows_renew(&f->link_marks, topology_links(t), 1) < 0 ||
        flows_renew(&f->vertices, topology_vertices(t), sizeof *f->vertices) < 0 ||
        flows_renew(&f->vertex_marks, topology_vertices(t), 1) < 0 ||
        flows_renew(&f->rank_marks, m->rank_count, 1) < 0 ||
        flows_make_routes(f, m, sums->figures) < 0)
        return -ENOMEM;
    f->link_count = topology_links(t);
    f->vertex_count = topology_vertices(t);
    f->rank_count = m->rank_count;
    flow_loads_compute(f, m);
    return 0;
}

int flows_update(struct flows *f, const struct model *m, const struct range *r,
                 const struct what_if *shown)
{
    shown = shown && shown->count ? shown : NULL;
    const struct network *n = &m->network;
    if (!f->work && !(f->work = calloc(1, sizeof *f->work)))
        return -ENOMEM;
    struct flow_work *w = f->work;
    struct flow_origin now = {.known = 1,
                              .model = m,
                              .sums = r->version,
                              .network = n->version,
                              .what_if = shown ? shown->version : 0,
                              .ranks = m->rank_count};
    struct flow_origin *was = &w->origin;
    f->shown = shown;
    if (was->known && was->model == m && was->network == now.network &&
        was->what_if == now.what_if && was->sums == now.sums && was->ranks == now.ranks &&
        !strcmp(w->job, m->job) && !w->resting)
        return 0;
    w->resting = 0;
    int error = 0;
    f->applied = shown ? what_if_kinds(shown) : 0;
    if (n->topology && r->valid)
        error = flows_compute(f, m, r);
    else
        flows_figures_clear(f);
    if (error) {
        flows_figures_clear(f);
        now.known = 0;
    }
    *was = now;
    memcpy(w->job, m->job, sizeof w->job);
    w->marked.known = 0;
    f->version++;
    return error ? error : 1;
}

void flows_rest(struct flows *f)
{
    if (!f->work || f->work->resting)
        return;
    flows_figures_clear(f);
    f->work->resting = 1;
    f->work->marked.known = 0;
    f->version++;
}

/* ---- asking -------------------------------------------------------------- */

uint32_t flows_walk(const struct flows *f, const struct model *m, uint32_t route, uint32_t *links,
                    uint32_t capacity)
{
    const struct topology *t = m->network.topology;
    const struct flow *r = &f->routes[route];
    if (r->given == FLOWS_NONE)
        return topology_route(t, r->source, r->destination, links, capacity);
    const struct what_if *s = f->shown;
    const struct network_reroute *g = &s->routes[r->given];
    for (uint32_t k = 0; k + 1 < g->count && k < capacity; k++)
        links[k] = topology_link_between(t, s->path[g->first + k], s->path[g->first + k + 1]);
    return g->count - 1;
}

int flows_crosses(const struct flows *f, const struct model *m, uint32_t route, uint32_t link)
{
    const struct topology *t = m->network.topology;
    const struct flow *r = &f->routes[route];
    const struct what_if *s = f->shown;
    uint32_t from, to;
    if (r->given == FLOWS_NONE)
        return topology_crosses(t, r->source, r->destination, link);
    if (!topology_link(t, link, &from, &to))
        return 0;
    const struct network_reroute *g = &s->routes[r->given];
    for (uint32_t k = 0; k + 1 < g->count; k++)
        if (s->path[g->first + k] == from && s->path[g->first + k + 1] == to)
            return 1;
    return 0;
}

/* First route whose ends are at least those. */
static uint32_t flows_lower_bound(const struct flows *f, uint64_t key)
{
    return BISECT(i, 0, f->route_count,
                  ((uint64_t)f->routes[i].source << 32 | f->routes[i].destination) < key);
}

uint32_t flows_find(const struct flows *f, uint32_t source, uint32_t destination)
{
    uint32_t at = flows_lower_bound(f, (uint64_t)source << 32 | destination);
    return at < f->route_count && f->routes[at].source == source &&
                   f->routes[at].destination == destination
               ? at
               : FLOWS_NONE;
}

enum flow_kind flows_kind(enum flow_metric metric)
{
    return metric <= METRIC_HOP_BYTES ? FLOW_ROUTES
           : metric == METRIC_LOAD    ? FLOW_LINKS
                                      : FLOW_VERTICES;
}

uint32_t flows_count(const struct flows *f, enum flow_metric metric)
{
    enum flow_kind kind = flows_kind(metric);
    return kind == FLOW_ROUTES  ? f->route_count
           : kind == FLOW_LINKS ? f->link_count
                                : f->vertex_count;
}

static double flows_length_of(const struct flow *r)
{
    return r->length == TOPOLOGY_NONE ? 0 : r->length;
}

double flows_value(const struct flows *f, enum flow_metric metric, uint32_t i)
{
    switch (metric) {
    case METRIC_BYTES:
        return (double)f->routes[i].bytes;
    case METRIC_LENGTH:
        return flows_length_of(&f->routes[i]);
    case METRIC_HOP_BYTES:
        return (double)f->routes[i].bytes * flows_length_of(&f->routes[i]);
    case METRIC_LOAD:
        return (double)f->loads[i];
    case METRIC_IN:
        return (double)f->vertices[i].in;
    case METRIC_OUT:
        return (double)f->vertices[i].out;
    case METRIC_TRANSIT:
        return (double)f->vertices[i].transit;
    default:
        return 0;
    }
}

int flows_is_ranked(const struct flows *f, enum flow_metric metric)
{
    const struct flow_work *w = f->work;
    return w && w->ranked && w->ranked_version == f->version && f->ranked_metric == metric;
}

int flows_rank(struct flows *f, enum flow_metric metric)
{
    struct flow_work *w = f->work;
    uint32_t all = flows_count(f, metric), n = 0;
    if (!w || flows_is_ranked(f, metric))
        return 0;
    struct key_place *places = malloc(2 * ((size_t)all + 1) * sizeof *places);
    w->ranked = 0;
    f->ranked_count = 0;
    if (!places || flows_renew(&f->ranked, all, sizeof *f->ranked) < 0) {
        free(places);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < all; i++) {
        double value = flows_value(f, metric, i);
        if (!(value > 0))
            continue;
        places[n++] = (struct key_place){key_of_largest(value), i};
    }
    const struct key_place *sorted = key_order(places, places + n, n);
    for (uint32_t i = 0; i < n; i++)
        f->ranked[i] = sorted[i].place;
    free(places);
    f->ranked_count = n;
    f->ranked_metric = metric;
    w->ranked_version = f->version;
    w->ranked = 1;
    return 1;
}

uint32_t flows_above(const struct flows *f, double value)
{
    return BISECT(i, 0, f->ranked_count, flows_value(f, f->ranked_metric, f->ranked[i]) >= value);
}

const char *flows_metric_name(enum flow_metric metric)
{
    static const char *const names[METRICS] = {"message size", "route length", "hop-bytes",
                                               "link load",    "in-degree",    "out-degree",
                                               "transit"};
    return metric < METRICS ? names[metric] : "?";
}

const char *flows_metric_unit(enum flow_metric metric)
{
    static const char *const units[METRICS] = {"B", "links", "B", "B", "messages", "messages", "B"};
    return metric < METRICS ? units[metric] : "";
}
