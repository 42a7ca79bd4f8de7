/* The request "reroute". */
#include "daemon/server/search_state.h"

#include "daemon/analysis/network/remap/remap_flows.h"
#include "daemon/analysis/tables/key_table.h"
#include "holter/error.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GAINS 4u

/* A route that is in force in place of the topology's. */
struct given_route {
    uint32_t source, destination;
    uint32_t length;
    const uint32_t *links;
};

struct routing {
    struct search *search;
    struct remap_flows flows;
    struct given_route *given; /* owned; by source, then destination */
    size_t given_count;
    uint32_t *given_links; /* owned */
    struct reroute *reroute;
    struct reroute_route *chosen; /* owned */
    struct reroute_result *results;
    size_t count;
};

static void routing_finish(struct routing *r)
{
    remap_flows_finish(&r->flows);
    free(r->chosen);
    free(r->results);
    free(r->given);
    free(r->given_links);
    reroute_destroy(r->reroute);
}

/* ---- routes in force ------------------------------------------------------------------------- */

ORDER_FUNCTION(routing_compare_given, struct given_route,
               2 * ORDER(a->source, b->source) + ORDER(a->destination, b->destination))

/* Read one route, whose rows begin at `row`. @return its rows; 0: it is not one of this network */
static size_t routing_read_given(struct routing *r, size_t row)
{
    const struct topology *t = r->search->topology;
    const struct network_ask *ask = r->search->ask;
    const struct wire_hop_row *first = &ask->hops[row];
    uint32_t vertices = topology_vertices(t);
    if (first->source >= vertices || first->destination >= vertices ||
        first->source == first->destination)
        return 0;
    struct given_route g = {.source = (uint32_t)first->source,
                            .destination = (uint32_t)first->destination,
                            .links = r->given_links + row};
    for (uint32_t at = g.source; at != g.destination; at = (uint32_t)ask->hops[row++].vertex) {
        const struct wire_hop_row *hop = &ask->hops[row];
        if (row == ask->hop_count || g.length == vertices || hop->source != g.source ||
            hop->destination != g.destination || hop->vertex >= vertices)
            return 0;
        uint32_t link = topology_link_between(t, at, (uint32_t)hop->vertex);
        if (link == TOPOLOGY_NONE)
            return 0;
        r->given_links[row] = link;
        g.length++;
    }
    r->given[r->given_count++] = g;
    return g.length;
}

static const struct given_route *routing_find_given(const struct routing *r, uint32_t source,
                                                    uint32_t destination)
{
    const struct given_route key = {.source = source, .destination = destination};
    return r->given_count == 0
               ? NULL
               : bsearch(&key, r->given, r->given_count, sizeof(key), routing_compare_given);
}

/* Move the bytes of a route in force from the topology's links to its own. */
static int routing_move_given(struct routing *r, const struct given_route *g, uint32_t *walk,
                              uint32_t capacity)
{
    const struct remap_flow *flow = remap_flows_find(&r->flows, g->source, g->destination);
    uint32_t length =
        topology_route(r->search->topology, g->source, g->destination, walk, capacity);
    if (flow == NULL)
        return 0;
    if (length == TOPOLOGY_NONE || length > capacity)
        return -HOLTER_EUNREACHABLE;
    for (uint32_t i = 0; i < length; i++)
        r->flows.bytes[walk[i]] -= flow->bytes;
    for (uint32_t i = 0; i < g->length; i++)
        r->flows.bytes[g->links[i]] += flow->bytes;
    return 0;
}

static int routing_adopt_given(struct routing *r)
{
    const struct network_ask *ask = r->search->ask;
    uint32_t capacity = topology_diameter(r->search->topology) + 1;
    r->given = malloc((ask->hop_count + 1) * sizeof(*r->given));
    r->given_links = malloc((ask->hop_count + 1) * sizeof(*r->given_links));
    uint32_t *walk = malloc(capacity * sizeof(*walk));
    int code = r->given == NULL || r->given_links == NULL || walk == NULL ? -ENOMEM : 0;
    for (size_t row = 0, count; code == 0 && row < ask->hop_count; row += count) {
        count = routing_read_given(r, row);
        code = count > 0 ? 0 : -HOLTER_EUSAGE;
    }
    if (code == 0)
        qsort(r->given, r->given_count, sizeof(*r->given), routing_compare_given);
    for (size_t i = 0; code == 0 && i < r->given_count; i++)
        code = i > 0 && routing_compare_given(&r->given[i - 1], &r->given[i]) == 0
                   ? -HOLTER_EUSAGE
                   : routing_move_given(r, &r->given[i], walk, capacity);
    if (code == -HOLTER_EUSAGE)
        snprintf(r->search->why, sizeof(r->search->why),
                 "reroute: a route that is said to be in force is not one of this network");
    free(walk);
    return code;
}

/* ---- which routes ---------------------------------------------------------------------------- */

static void routing_add_route(struct routing *r, uint32_t source, uint32_t destination,
                              uint64_t bytes)
{
    const struct given_route *given = routing_find_given(r, source, destination);
    r->chosen[r->count++] =
        (struct reroute_route){.source = source,
                               .destination = destination,
                               .bytes = bytes,
                               .given = given == NULL ? NULL : given->links,
                               .given_length = given == NULL ? 0 : given->length};
}

/* A route that is asked for twice is answered once. */
static int routing_add_requested(struct routing *r)
{
    const struct network_ask *ask = r->search->ask;
    uint32_t vertices = topology_vertices(r->search->topology);
    struct key_table known = {.count = 0}; /* numbers of the chosen ones */
    int code = 0;
    for (size_t i = 0; code == 0 && i < ask->route_count; i++) {
        const struct ask_route *a = &ask->routes[i];
        if (a->source >= vertices || a->destination >= vertices || a->source == a->destination) {
            snprintf(r->search->why, sizeof(r->search->why),
                     "reroute: '%u-%u': two vertices of the network are expected", a->source,
                     a->destination);
            code = -HOLTER_EUSAGE;
            continue;
        }
        uint32_t number = key_table_add(&known, (struct key){a->source, a->destination});
        code = number == KEY_NONE ? -ENOMEM : 0;
        if (number != r->count)
            continue;
        const struct remap_flow *found = remap_flows_find(&r->flows, a->source, a->destination);
        routing_add_route(r, a->source, a->destination, found == NULL ? 0 : found->bytes);
    }
    key_table_finish(&known);
    return code;
}

/* Set the heaviest links of all flows, on the routes in force. */
static int routing_measure_flows(struct routing *r)
{
    int code = remap_flows_measure(&r->flows);
    for (size_t i = 0; code == 0 && i < r->given_count; i++) {
        const struct given_route *g = &r->given[i];
        const struct remap_flow *found = remap_flows_find(&r->flows, g->source, g->destination);
        if (found == NULL)
            continue;
        uint64_t heaviest = 0;
        for (uint32_t l = 0; l < g->length; l++)
            heaviest = order_maximum(heaviest, r->flows.bytes[g->links[l]]);
        r->flows.rows[found - r->flows.rows].heaviest = heaviest;
    }
    return code;
}

/* Does the route in force cross a link? */
static int routing_crosses(const struct routing *r, const struct remap_flow *f, uint32_t link)
{
    const struct given_route *g = routing_find_given(r, f->source, f->destination);
    for (uint32_t l = 0; g != NULL && l < g->length; l++) {
        if (g->links[l] == link)
            return 1;
    }
    return g == NULL && topology_crosses(r->search->topology, f->source, f->destination, link);
}

/* Add the heaviest flows, of those that cross the link or of all: largest load first, then most
 * bytes. */
static int routing_add_heaviest(struct routing *r)
{
    const struct network_ask *ask = r->search->ask;
    uint64_t maximum = ask->link == UINT64_MAX ? ask->top : NETWORK_ASK_ROUTES;
    int code = routing_measure_flows(r);
    if (code == 0)
        remap_flows_sort(&r->flows);
    for (size_t i = 0; code == 0 && i < r->flows.count && r->count < maximum; i++) {
        const struct remap_flow *f = &r->flows.rows[i];
        if (ask->link == UINT64_MAX || routing_crosses(r, f, (uint32_t)ask->link))
            routing_add_route(r, f->source, f->destination, f->bytes);
    }
    return code;
}

/* ---- results ------------------------------------------------------------- */

static double routing_link_maximum(const struct routing *r, const uint64_t *bytes, double *sum)
{
    uint64_t maximum = 0;
    *sum = 0;
    for (uint32_t i = 0; i < topology_links(r->search->topology); i++) {
        maximum = bytes[i] > maximum ? bytes[i] : maximum;
        *sum += (double)bytes[i];
    }
    return (double)maximum;
}

static void routing_measure(const struct routing *r, struct wire_gain_row gains[GAINS])
{
    double before, after;
    gains[0] =
        (struct wire_gain_row){"max-link", routing_link_maximum(r, r->flows.bytes, &before),
                               routing_link_maximum(r, reroute_loads(r->reroute), &after), NAN};
    gains[1] = (struct wire_gain_row){"hop-bytes", before, after, NAN};
    gains[2] = (struct wire_gain_row){"length", 0, 0, NAN};
    gains[3] = (struct wire_gain_row){"longest", 0, 0, NAN};
    for (size_t i = 0; i < r->count; i++) {
        const struct reroute_result *result = &r->results[i];
        gains[2].before += result->length;
        gains[2].after += result->length_after;
        gains[3].before = fmax(gains[3].before, result->length);
        gains[3].after = fmax(gains[3].after, result->length_after);
    }
}

/* List the vertices of the better routes after their sources. @param rows  NULL: only count them
 * @return their number */
static size_t routing_list_hops(const struct routing *r, struct wire_hop_row *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct reroute_result *result = &r->results[i];
        for (uint32_t l = 0; result->better && l < result->length_after; l++, count++) {
            uint32_t from = 0, to = 0;
            if (rows == NULL)
                continue;
            topology_link(r->search->topology, result->links[l], &from, &to);
            rows[count] = (struct wire_hop_row){r->chosen[i].source, r->chosen[i].destination, to};
        }
    }
    return count;
}

static int routing_send_result(const struct routing *r)
{
    size_t hop_count = routing_list_hops(r, NULL);
    struct wire_reroute_row *routes = malloc((r->count + 1) * sizeof(*routes));
    struct wire_hop_row *hops = malloc((hop_count + 1) * sizeof(*hops));
    int code = routes == NULL || hops == NULL ? -ENOMEM : 0;
    for (size_t i = 0; code == 0 && i < r->count; i++) {
        const struct reroute_result *result = &r->results[i];
        routes[i] = (struct wire_reroute_row){
            .source = r->chosen[i].source,
            .destination = r->chosen[i].destination,
            .bytes = r->chosen[i].bytes,
            .length = result->length,
            .length_after = result->length_after,
            .heaviest = result->heaviest,
            .heaviest_after = result->heaviest_after,
        };
    }
    if (code == 0) {
        struct wire_gain_row gains[GAINS];
        routing_measure(r, gains);
        struct wire_routes message = {.job = job_id(r->search->job),
                                      .routes = routes,
                                      .routes_count = r->count,
                                      .hops = hops,
                                      .hops_count = routing_list_hops(r, hops),
                                      .gains = gains,
                                      .gains_count = GAINS};
        code = search_send_parts(r->search, WIRE_TYPE_ROUTES, &message, "routes");
    }
    free(routes);
    free(hops);
    return code;
}

int search_routes(struct search *s)
{
    struct routing r = {.search = s};
    int code = remap_flows_set(&r.flows, s->topology, s->edges, s->edge_count, s->seats);
    code = code != 0 ? code : routing_adopt_given(&r);
    code = code != 0 ? code : reroute_create(&r.reroute, s->topology);
    if (code == 0)
        reroute_set(r.reroute, r.flows.bytes);
    size_t most = s->ask->routes != NULL ? s->ask->route_count : NETWORK_ASK_ROUTES;
    r.chosen = malloc((most + 1) * sizeof(*r.chosen));
    r.results = calloc(most + 1, sizeof(*r.results));
    if (code == 0 && (r.chosen == NULL || r.results == NULL))
        code = -ENOMEM;
    if (code == 0)
        code = s->ask->routes != NULL ? routing_add_requested(&r) : routing_add_heaviest(&r);
    if (code == 0 && r.count > 0)
        code = reroute_several(r.reroute, &s->ask->params, r.chosen, r.count, r.results);
    code = code != 0 ? code : routing_send_result(&r);
    routing_finish(&r);
    return code;
}
