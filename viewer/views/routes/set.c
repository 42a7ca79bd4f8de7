/* Selection of the routes that the matrix shows, and their hops. */
#include "viewer/views/routes/view_routes_parts.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"
#include "viewer/layout/mix.h"

#include "holter/bisect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

/* State while a set is computed. */
struct making {
    const struct stage *stage;
    struct route_set *set;
    uint32_t *hop_of; /* by link: index of its hop + 1 */
    int failed;
};

enum { BOTH = 1024 }; /* routes of each of two states side by side, at least */

/* Side by side with another state there are no buttons for more routes. */
static uint32_t route_set_maximum(const struct stage *s)
{
    return s->other && s->ui->routes.maximum < BOTH ? BOTH : s->ui->routes.maximum;
}

static uint64_t route_set_key_of(const struct stage *s)
{
    const struct flows *f = &s->range->flows;
    uint64_t key = mix_number(mix_number(7, f->version), s->range->reality.version);
    key = mix_number(key, (uint64_t)s->ui->network.compare);
    key = mix_number(key, f->marks_version);
    key = mix_number(key, s->model->network.version);
    key = mix_number(key, s->model->network.suggestions[SUGGEST_ROUTES].version);
    key = mix_number(key, (uint64_t)s->model->network.suggestions[SUGGEST_ROUTES].ready);
    key = mix_number(key, s->ui->network.filter.version);
    key = mix_number(key, s->ui->selection.kind);
    if (s->ui->selection.kind == SELECT_ROUTE)
        key = mix_number(mix_number(key, s->ui->selection.a), s->ui->selection.b);
    key = mix_number(key, route_set_maximum(s));
    return key | 1;
}

static void route_set_step(struct making *k, uint32_t link, uint32_t mark)
{
    const struct stage *s = k->stage;
    struct route_set *set = k->set;
    uint32_t from, to, at = k->hop_of[link];
    if (at) {
        set->hops[at - 1].mark |= mark;
        return;
    }
    if (!topology_link(s->model->network.topology, link, &from, &to))
        return;
    if (ARRAY_FIT_AT(set->hops, set->room, set->count) != 0) {
        k->failed = 1;
        return;
    }
    const struct flows *f = &s->range->flows;
    const struct flows *r = s->ui->network.applied ? &s->range->reality : f;
    set->hops[set->count++] =
        (struct route_hop){from, to, mark, link < f->link_count ? (double)f->loads[link] : 0,
                           link < r->link_count ? (double)r->loads[link] : 0};
    k->hop_of[link] = set->count;
    set->marks[from] |= (uint8_t)mark;
    set->marks[to] |= (uint8_t)mark;
}

/* Add the suggested path of a route that does not follow it yet. @return 0: there is none */
static int route_set_add_suggested(struct making *k, uint32_t source, uint32_t destination)
{
    const struct suggestion *g = &k->stage->model->network.suggestions[SUGGEST_ROUTES];
    const struct topology *t = k->stage->model->network.topology;
    const struct network_reroute *r = g->routes;
    if (!g->ready)
        return 0;
    uint32_t at =
        BISECT(i, 0, g->route_count,
               r[i].source < source || (r[i].source == source && r[i].destination < destination));
    if (at == g->route_count || r[at].source != source || r[at].destination != destination ||
        r[at].count < 2)
        return 0;
    const uint32_t *path = g->path + r[at].first;
    for (uint32_t i = 0; i + 1 < r[at].count; i++) {
        uint32_t link = topology_link_between(t, path[i], path[i + 1]);
        if (link != TOPOLOGY_NONE)
            route_set_step(k, link, ROUTE_SUGGESTED);
    }
    return 1;
}

/* Add the path between two vertices without messages. */
static void route_set_add_idle(struct making *k, uint64_t source, uint64_t destination)
{
    const struct topology *t = k->stage->model->network.topology;
    uint32_t links[LONGEST], vertices = topology_vertices(t), length;
    if (source >= vertices || destination >= vertices || source == destination)
        return;
    length = topology_route(t, (uint32_t)source, (uint32_t)destination, links, LONGEST);
    for (uint32_t i = 0; length != TOPOLOGY_NONE && i < length && i < LONGEST; i++)
        route_set_step(k, links[i], ROUTE_HOP);
    k->set->marks[source] |= ROUTE_SOURCE;
    k->set->marks[destination] |= ROUTE_DESTINATION;
    k->set->routes = 1;
}

static void route_set_add(struct making *k, uint32_t number)
{
    const struct flows *f = &k->stage->range->flows;
    const struct flow *r = &f->routes[number];
    uint32_t links[LONGEST];
    uint32_t length = flows_walk(f, k->stage->model, number, links, LONGEST);
    int given = r->given != FLOWS_NONE;
    k->set->routes++;
    k->set->bytes += (double)r->bytes;
    if (length == TOPOLOGY_NONE)
        return;
    for (uint32_t i = 0; i < length && i < LONGEST; i++)
        route_set_step(k, links[i], given ? ROUTE_SUGGESTED : ROUTE_HOP);
    k->set->marks[r->source] |= ROUTE_SOURCE;
    k->set->marks[r->destination] |= ROUTE_DESTINATION;
    k->set->suggested += given || route_set_add_suggested(k, r->source, r->destination);
}

/* Add the routes with most bytes; all, in their own order, where they are no more than that. */
static void route_set_add_heaviest(struct making *k, uint32_t most)
{
    const struct flows *f = &k->stage->range->flows;
    const uint32_t all = f->route_count;
    struct key_place *places = malloc(2 * ((size_t)all + 1) * sizeof *places);
    if (!places) {
        k->failed = 1;
        return;
    }
    for (uint32_t i = 0; i < all; i++)
        places[i] = (struct key_place){UINT64_MAX - f->routes[i].bytes, i};
    const struct key_place *order = most < all ? key_order(places, places + all, all) : places;
    k->set->heaviest = most < all ? most : all;
    for (uint32_t i = 0; i < k->set->heaviest; i++)
        route_set_add(k, order[i].place);
    free(places);
}

static int route_set_prepare(struct making *k, const struct topology *t)
{
    uint32_t vertices = topology_vertices(t);
    if (array_resize(&k->set->marks, (size_t)vertices + 1) != 0)
        return -ENOMEM;
    memset(k->set->marks, 0, (size_t)vertices + 1);
    k->set->vertex_count = vertices;
    k->set->count = k->set->routes = k->set->suggested = k->set->heaviest = 0;
    k->set->bytes = 0;
    k->hop_of = calloc((size_t)topology_links(t) + 1, sizeof *k->hop_of);
    return k->hop_of ? 0 : -ENOMEM;
}

int route_set_update(struct route_set *set, const struct stage *s)
{
    const struct flows *f = &s->range->flows;
    struct making k = {.stage = s, .set = set};
    uint64_t key = route_set_key_of(s);
    if (set->key == key)
        return 0;
    set->key = 0;
    set->version++;
    set->all = f->route_count;
    if (route_set_prepare(&k, s->model->network.topology) < 0)
        return -ENOMEM;
    int picked = s->ui->selection.kind != SELECT_NONE && f->selected_routes > 0;
    uint8_t wanted = FLOW_SHOWN | (picked ? FLOW_SELECTED : 0);
    const struct selection *one = &s->ui->selection;
    set->selected = picked || one->kind == SELECT_ROUTE;
    if (!picked && one->kind == SELECT_ROUTE)
        route_set_add_idle(&k, one->a, one->b);
    else if (!picked && !flow_filter_active(&s->ui->network.filter))
        route_set_add_heaviest(&k, route_set_maximum(s));
    else
        for (uint32_t i = 0; i < f->route_count; i++)
            if ((f->route_marks[i] & wanted) == wanted)
                route_set_add(&k, i);
    free(k.hop_of);
    if (k.failed)
        return -ENOMEM;
    set->key = key;
    return 0;
}

void route_set_finish(struct route_set *set)
{
    free(set->hops);
    free(set->marks);
    *set = (struct route_set){0};
}
