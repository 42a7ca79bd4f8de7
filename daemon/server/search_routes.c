/* The request "reroute". */
#include "daemon/server/search_state.h"

#include "daemon/analysis/network/link_loads.h"
#include "holter/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GAINS 4u

/* The messages from one vertex to another. */
struct flow {
    uint32_t source, destination;
    uint64_t bytes, messages, heaviest; /* heaviest: largest load of its links */
};

struct routing {
    struct search *search;
    struct flow *flows; /* owned: by source, destination */
    size_t flow_count;
    struct link_loads *loads;
    uint64_t *bytes; /* owned: by link */
    uint32_t links;
    struct reroute *reroute;
    struct reroute_route *chosen; /* owned */
    struct reroute_result *results;
    size_t count;
};

static void routing_finish(struct routing *r)
{
    free(r->flows);
    free(r->bytes);
    free(r->chosen);
    free(r->results);
    link_loads_destroy(r->loads);
    reroute_destroy(r->reroute);
}

/* ---- flows and loads ----------------------------------------------------------------------- */

static int routing_compare_ends(const void *left, const void *right)
{
    const struct flow *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->destination > b->destination) - (a->destination < b->destination);
}

static int routing_sum_flows(struct routing *r)
{
    const struct search *s = r->search;
    size_t used = 0;
    r->flows = malloc((s->edge_count + 1) * sizeof(*r->flows));
    if (r->flows == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->edge_count; i++) {
        const struct remap_edge *e = &s->edges[i];
        struct flow flow = {.source = s->seats[e->from],
                            .destination = s->seats[e->to],
                            .bytes = e->bytes,
                            .messages = e->messages};
        if (flow.source != flow.destination)
            r->flows[used++] = flow;
    }
    qsort(r->flows, used, sizeof(*r->flows), routing_compare_ends);
    for (size_t i = 0; i < used; i++) {
        struct flow *last = r->flow_count == 0 ? NULL : &r->flows[r->flow_count - 1];
        if (last != NULL && routing_compare_ends(last, &r->flows[i]) == 0) {
            last->bytes += r->flows[i].bytes;
            last->messages += r->flows[i].messages;
        } else {
            r->flows[r->flow_count++] = r->flows[i];
        }
    }
    return 0;
}

static int routing_load_links(struct routing *r)
{
    const struct topology *t = r->search->topology;
    r->links = topology_links(t);
    r->bytes = malloc(((size_t)r->links + 1) * sizeof(*r->bytes));
    int code = r->bytes == NULL ? -ENOMEM : link_loads_create(&r->loads, t);
    for (size_t i = 0; code == 0 && i < r->flow_count; i++) {
        const struct flow *f = &r->flows[i];
        code = link_loads_add(r->loads,
                              &(struct load_change){f->source, f->destination, (int64_t)f->bytes,
                                                    (int64_t)f->messages, 1});
    }
    if (code != 0)
        return code;
    const struct link_load *loads = link_loads_update(r->loads);
    for (uint32_t i = 0; i < r->links; i++)
        r->bytes[i] = loads[i].bytes;
    code = reroute_create(&r->reroute, t);
    if (code == 0)
        reroute_set(r->reroute, r->bytes);
    return code;
}

/* ---- which routes ---------------------------------------------------------------------------- */

static void routing_add_route(struct routing *r, uint32_t source, uint32_t destination,
                              uint64_t bytes)
{
    r->chosen[r->count++] =
        (struct reroute_route){.source = source, .destination = destination, .bytes = bytes};
}

static int routing_add_requested(struct routing *r)
{
    const struct network_ask *ask = r->search->ask;
    uint32_t vertices = topology_vertices(r->search->topology);
    for (size_t i = 0; i < ask->route_count; i++) {
        const struct ask_route *a = &ask->routes[i];
        struct flow key = {.source = a->source, .destination = a->destination};
        if (a->source >= vertices || a->destination >= vertices || a->source == a->destination) {
            snprintf(r->search->why, sizeof(r->search->why),
                     "reroute: '%u-%u': two vertices of the network are expected", a->source,
                     a->destination);
            return -HOLTER_EUSAGE;
        }
        const struct flow *found = r->flow_count == 0 ? NULL
                                                      : bsearch(&key, r->flows, r->flow_count,
                                                                sizeof(key), routing_compare_ends);
        routing_add_route(r, a->source, a->destination, found == NULL ? 0 : found->bytes);
    }
    return 0;
}

static int routing_compare_bytes(const void *left, const void *right)
{
    const struct flow *a = left, *b = right;
    if (a->heaviest != b->heaviest)
        return a->heaviest > b->heaviest ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return routing_compare_ends(left, right);
}

static uint64_t routing_maximum_load(const struct routing *r, const struct flow *f, uint32_t *links,
                                     uint32_t capacity)
{
    uint64_t maximum = 0;
    uint32_t length =
        topology_route(r->search->topology, f->source, f->destination, links, capacity);
    for (uint32_t i = 0; length != TOPOLOGY_NONE && i < length && i < capacity; i++)
        maximum = r->bytes[links[i]] > maximum ? r->bytes[links[i]] : maximum;
    return maximum;
}

/* Add the heaviest flows, of those that cross the link or of all: largest load first, then most
 * bytes. */
static int routing_add_heaviest(struct routing *r)
{
    const struct network_ask *ask = r->search->ask;
    const struct topology *t = r->search->topology;
    uint32_t capacity = topology_diameter(t) + 1,
             *links = malloc((size_t)capacity * sizeof(*links));
    uint64_t maximum = ask->link == UINT64_MAX ? ask->top : NETWORK_ASK_ROUTES;
    size_t kept = 0;
    if (links == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < r->flow_count; i++) {
        struct flow flow = r->flows[i];
        if (ask->link != UINT64_MAX &&
            !topology_crosses(t, flow.source, flow.destination, (uint32_t)ask->link))
            continue;
        flow.heaviest = routing_maximum_load(r, &flow, links, capacity);
        r->flows[kept++] = flow;
    }
    free(links);
    qsort(r->flows, kept, sizeof(*r->flows), routing_compare_bytes);
    for (size_t i = 0; i < kept && i < maximum; i++)
        routing_add_route(r, r->flows[i].source, r->flows[i].destination, r->flows[i].bytes);
    return 0;
}

/* ---- results ---------------------------------------------------------------------------------
 */

static double routing_link_maximum(const uint64_t *bytes, uint32_t links, double *sum)
{
    uint64_t maximum = 0;
    *sum = 0;
    for (uint32_t i = 0; i < links; i++) {
        maximum = bytes[i] > maximum ? bytes[i] : maximum;
        *sum += (double)bytes[i];
    }
    return (double)maximum;
}

static void routing_measure(const struct routing *r, struct wire_gain_row gains[GAINS])
{
    double before, after;
    gains[0] = (struct wire_gain_row){
        "max-link", routing_link_maximum(r->bytes, r->links, &before),
        routing_link_maximum(reroute_loads(r->reroute), r->links, &after), NAN};
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

static int routing_send_parts(const struct routing *r, const struct wire_reroute_row *routes,
                              const struct wire_hop_row *hops, size_t hop_count)
{
    struct wire_gain_row gains[GAINS];
    struct wire_routes message = {
        .job = job_id(r->search->job), .gains = gains, .gains_count = GAINS};
    size_t route = 0, hop = 0;
    int code = 0;
    routing_measure(r, gains);
    do {
        size_t capacity = WIRE_PART_ROWS;
        message.routes = routes + route;
        message.routes_count = r->count - route < capacity ? r->count - route : capacity;
        capacity -= message.routes_count;
        message.hops = hops + hop;
        message.hops_count = hop_count - hop < capacity ? hop_count - hop : capacity;
        route += message.routes_count;
        hop += message.hops_count;
        message.more = route < r->count || hop < hop_count;
        code = search_send(r->search, WIRE_TYPE_ROUTES, &message);
        message.gains_count = 0; /* sent with the first part only */
    } while (code == 0 && message.more);
    return code;
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
        routing_list_hops(r, hops);
        code = routing_send_parts(r, routes, hops, hop_count);
    }
    free(routes);
    free(hops);
    return code;
}

int search_routes(struct search *s)
{
    struct routing r = {.search = s};
    int code = routing_sum_flows(&r);
    code = code != 0 ? code : routing_load_links(&r);
    r.chosen = malloc(NETWORK_ASK_ROUTES * sizeof(*r.chosen));
    r.results = calloc(NETWORK_ASK_ROUTES, sizeof(*r.results));
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
