/* What is published of the links of a job's network: rows of links, of the ranks that load the hot
 * ones, of interfaces. */
#include "daemon/job/network/job_network_state.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERTEX_PAIRS 64u /* of a hot link, whose ranks are examined */
#define HOT_NAMED 6u     /* links in the words of an alert */

/* ---- links ------------------------------------------------------------------------------- */

static int link_is_listed(const struct congestion_link *l)
{
    return l->state != CONGESTION_IDLE || l->measured != CONGESTION_UNKNOWN;
}

/* The figures that links are sorted by. */
struct link_order {
    uint64_t bytes;
    uint32_t link, at; /* position in n->links */
    uint8_t state;
};

static struct link_order link_order_of(const struct congestion_link *links, size_t at)
{
    const struct congestion_link *l = &links[at];
    return (struct link_order){l->bytes, l->link, (uint32_t)at, (uint8_t)l->state};
}

ORDER_FUNCTION(link_order_compare, struct link_order,
               4 * ORDER(b->bytes, a->bytes) + 2 * ORDER(b->state, a->state) +
                   ORDER(a->link, b->link))

/* List the links that are published, by number, and count the states of all. */
static int link_list_all(struct job_network *n)
{
    size_t count = congestion_links(n->congestion, NULL, 0);
    if (ARRAY_FIT(n->links, n->link_capacity, count) != 0)
        return -ENOMEM;
    congestion_links(n->congestion, n->links, count);
    memset(n->states, 0, sizeof(n->states));
    n->link_count = 0;
    for (size_t i = 0; i < count; i++) {
        n->states[n->links[i].state]++;
        if (link_is_listed(&n->links[i]))
            n->links[n->link_count++] = n->links[i];
    }
    n->states[CONGESTION_IDLE] = n->graph->links - n->states[CONGESTION_BUSY] -
                                 n->states[CONGESTION_HOT] - n->states[CONGESTION_CONGESTED];
    return job_network_list_collective_links(n);
}

static struct wire_link_row link_make_row(const struct job_network *n,
                                          const struct congestion_link *l)
{
    const struct link_load collectives = job_network_collective_load(n, l->link);
    return (struct wire_link_row){
        .link = l->link,
        .from = l->from,
        .to = l->to,
        .state = l->state,
        .since = l->since,
        .messages = l->messages,
        .bytes = l->bytes,
        .average = l->average,
        .peak = l->peak,
        .share = l->share,
        .latency = l->latency,
        .measured = l->measured,
        .unit = l->packets != 0,
        .ratio = l->ratio,
        .collective_messages = collectives.messages,
        .collective_bytes = collectives.bytes,
    };
}

/* Where there are too many links, hot ones take precedence over those with more bytes. */
static void link_fill_rows(struct job_network *n, const struct link_order *order)
{
    size_t hot = n->states[CONGESTION_HOT] + n->states[CONGESTION_CONGESTED],
           calm = hot < JOB_NETWORK_LINKS ? JOB_NETWORK_LINKS - hot : 0;
    n->link_rows_count = n->left_out = 0;
    for (size_t i = 0; i < n->link_count; i++) {
        int is_hot = order[i].state >= CONGESTION_HOT;
        if (is_hot ? n->link_rows_count == JOB_NETWORK_LINKS : calm == 0) {
            n->left_out += order[i].state != CONGESTION_IDLE;
            continue;
        }
        calm -= (size_t)!is_hot;
        n->link_rows[n->link_rows_count++] = link_make_row(n, &n->links[order[i].at]);
    }
}

static int link_make_rows(struct job_network *n)
{
    size_t capacity = n->link_count < JOB_NETWORK_LINKS ? n->link_count : JOB_NETWORK_LINKS;
    struct link_order *order = malloc((n->link_count + 1) * sizeof(*order));
    if (order == NULL || ARRAY_FIT(n->link_rows, n->link_rows_capacity, capacity) != 0) {
        free(order);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n->link_count; i++)
        order[i] = link_order_of(n->links, i);
    if (n->link_count > 1)
        qsort(order, n->link_count, sizeof(*order), link_order_compare);
    link_fill_rows(n, order);
    free(order);
    return 0;
}

/* ---- ranks that load hot links -------------------------------------------------------------- */

ORDER_FUNCTION(route_compare_bytes, struct wire_link_route_row,
               8 * ORDER(b->bytes, a->bytes) + 4 * ORDER(b->messages, a->messages) +
                   2 * ORDER(a->source, b->source) + ORDER(a->destination, b->destination))

/* Insert a route into the largest of one link, at most JOB_NETWORK_ROUTES. */
struct largest {
    struct wire_link_route_row rows[JOB_NETWORK_ROUTES + 1];
    size_t count;
};

static void route_insert(struct largest *l, const struct wire_link_route_row *row)
{
    size_t at = l->count;
    while (at > 0 && route_compare_bytes(&l->rows[at - 1], row) > 0)
        at--;
    if (at == JOB_NETWORK_ROUTES)
        return;
    memmove(&l->rows[at + 1], &l->rows[at], (l->count - at) * sizeof(*row));
    l->rows[at] = *row;
    l->count += l->count < JOB_NETWORK_ROUTES;
}

/* Rows of one pair of ranks follow each other: they differ in communicator, region and size. */
static void route_add_pairs(const struct job_network *n, const struct closed_window *w,
                            uint32_t rank, uint32_t seat, struct wire_link_route_row row,
                            struct largest *out)
{
    row.source = rank;
    for (size_t i = n->first[rank]; i < n->first[rank + 1];) {
        int64_t destination = w->pairs[i].destination;
        row.bytes = row.messages = 0;
        for (; i < n->first[rank + 1] && w->pairs[i].destination == destination; i++) {
            row.bytes += w->pairs[i].bytes;
            row.messages += w->pairs[i].messages;
        }
        row.destination = (uint64_t)destination;
        if (destination >= 0 && job_network_vertex(n, (uint32_t)destination) == seat)
            route_insert(out, &row);
    }
}

/* Position in by_vertex of the first rank on a vertex, or after it. */
static uint32_t route_first_rank(const struct job_network *n, uint32_t vertex)
{
    return BISECT(i, 0, n->placed_ranks, n->seats[n->by_vertex[i]] < vertex);
}

static void route_add(const struct job_network *n, const struct closed_window *w,
                      const struct congestion_route *route, const struct congestion_pair *pairs,
                      struct largest *out)
{
    const struct congestion_pair *pair = &pairs[route->pair];
    struct wire_link_route_row row = {.link = route->link, .length = route->length};
    for (uint32_t i = route_first_rank(n, pair->source);
         i < n->placed_ranks && n->seats[n->by_vertex[i]] == pair->source; i++)
        route_add_pairs(n, w, n->by_vertex[i], pair->destination, row, out);
}

/* List the hot links. They are few; rows of all links are made only when they are asked for. */
static int link_list_hot(struct job_network *n)
{
    struct link_order first[JOB_NETWORK_HOT + 1];
    size_t count = 0, hot = congestion_hot(n->congestion, NULL, 0);
    if (ARRAY_FIT(n->links, n->link_capacity, hot) != 0)
        return -ENOMEM;
    congestion_hot(n->congestion, n->links, hot);
    for (size_t i = 0; i < hot; i++) {
        struct link_order one = link_order_of(n->links, i);
        size_t at = count;
        for (; at > 0 && link_order_compare(&one, &first[at - 1]) < 0; at--)
            first[at] = first[at - 1];
        first[at] = one;
        count += count < JOB_NETWORK_HOT;
    }
    for (size_t i = 0; i < count; i++)
        n->hot[i] = n->links[first[i].at];
    n->hot_count = count;
    return 0;
}

/* The largest pairs of ranks among the pairs of vertices with most bytes. */
static int route_make_rows(struct job_network *n, const struct closed_window *w)
{
    uint32_t hot[JOB_NETWORK_HOT];
    size_t links = n->hot_count, pair_count, found = 0, at = 0;
    n->route_rows_count = 0;
    if (links == 0)
        return 0;
    for (size_t i = 0; i < links; i++)
        hot[i] = n->hot[i].link;
    struct congestion_route *routes = malloc(links * VERTEX_PAIRS * sizeof(*routes));
    const struct congestion_pair *pairs = congestion_pairs(n->congestion, &pair_count);
    const struct congestion_query query = {n->graph->topology, pairs, pair_count, hot, links,
                                           VERTEX_PAIRS};
    int code = routes == NULL ? -ENOMEM : congestion_routes(&query, routes, &found);
    if (code == 0)
        code = ARRAY_FIT(n->route_rows, n->route_rows_capacity, links * JOB_NETWORK_ROUTES);
    for (size_t i = 0; code == 0 && i < links; i++) {
        struct largest largest = {.count = 0};
        for (; at < found && routes[at].link == hot[i]; at++)
            route_add(n, w, &routes[at], pairs, &largest);
        memcpy(&n->route_rows[n->route_rows_count], largest.rows,
               largest.count * sizeof(*n->route_rows));
        n->route_rows_count += largest.count;
    }
    free(routes);
    return code;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static int interface_make_rows(struct job_network *n)
{
    size_t count = n->counters.count < WIRE_MAX_ROWS ? n->counters.count : WIRE_MAX_ROWS;
    if (ARRAY_FIT(n->interface_rows, n->interface_rows_capacity, count) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct counter *c = &n->counters.list[i];
        uint32_t out, in;
        job_network_interface(n, c, &out, &in);
        n->interface_rows[i] = (struct wire_interface_row){
            .node = c->node,
            .name = c->name,
            .medium = c->medium,
            .unit = c->unit,
            .sent = c->sent,
            .received = c->received,
            .dropped = c->dropped,
            .speed = c->speed,
            .link_out = out == TOPOLOGY_NONE ? UINT64_MAX : out,
            .link_in = in == TOPOLOGY_NONE ? UINT64_MAX : in,
        };
    }
    n->interface_rows_count = count;
    return 0;
}

int job_network_rows(struct job_network *n, const struct closed_window *w)
{
    n->rows_made = 0;
    int code = link_list_hot(n);
    return code != 0 ? code : route_make_rows(n, w);
}

/* Links that a counter measured in this window, by number. */
int job_network_measured(struct job_network *n, struct wire_links *out)
{
    n->rows_made = 0; /* their memory is used for the result */
    if (!n->closed || n->congestion == NULL ||
        ARRAY_FIT(n->link_rows, n->link_rows_capacity, n->measured_count) != 0)
        return 0;
    size_t count = 0;
    for (size_t i = 0; i < n->measured_count; i++) {
        struct congestion_link link;
        if ((i == 0 || n->measured[i].link != n->measured[i - 1].link) &&
            congestion_link(n->congestion, n->measured[i].link, &link))
            n->link_rows[count++] = link_make_row(n, &link);
    }
    *out = (struct wire_links){.window = n->window, .links = n->link_rows, .links_count = count};
    return count > 0;
}

static double link_sum_hop_bytes(const struct job_network *n)
{
    const struct link_load *link_loads_of_ranks =
        link_loads_values(congestion_loads(n->congestion));
    uint32_t links = topology_links(n->graph->topology);
    double sum = 0;
    for (uint32_t i = 0; i < links; i++)
        sum += (double)link_loads_of_ranks[i].bytes;
    return sum;
}

int job_network_links(struct job_network *n, struct wire_links *out)
{
    if (!n->closed || n->congestion == NULL)
        return 0;
    if (!n->rows_made &&
        (link_list_all(n) != 0 || link_make_rows(n) != 0 || interface_make_rows(n) != 0))
        return 0;
    n->rows_made = 1;
    *out = (struct wire_links){
        .window = n->window,
        .links = n->link_rows,
        .links_count = n->link_rows_count,
        .routes = n->route_rows,
        .routes_count = n->route_rows_count,
        .interfaces = n->interface_rows,
        .interfaces_count = n->interface_rows_count,
        .idle = n->states[CONGESTION_IDLE],
        .busy = n->states[CONGESTION_BUSY],
        .hot = n->states[CONGESTION_HOT],
        .congested = n->states[CONGESTION_CONGESTED],
        .bytes = n->bytes,
        .hop_bytes = link_sum_hop_bytes(n),
        .unplaced = n->unplaced,
        .left_out = n->left_out,
        .collective_bytes = n->collective_bytes,
        .collective_unplaced = n->collective_unplaced,
    };
    return 1;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int link_has_rank(const uint32_t *ranks, size_t count, uint64_t rank)
{
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] == rank)
            return 1;
    }
    return count == 0;
}

/* Is the link loaded by messages of one of these ranks? */
static int link_loads_of_ranks(const struct job_network *n, uint32_t link, const uint32_t *ranks,
                               size_t count)
{
    for (size_t i = 0; i < n->route_rows_count; i++) {
        const struct wire_link_route_row *r = &n->route_rows[i];
        if (r->link == link &&
            (link_has_rank(ranks, count, r->source) || link_has_rank(ranks, count, r->destination)))
            return 1;
    }
    return 0;
}

static size_t link_describe(const struct job_network *n, const struct congestion_link *l, char *out,
                            size_t capacity)
{
    const struct topology *t = n->graph->topology;
    char from[TOPOLOGY_NAME + 1], to[TOPOLOGY_NAME + 1], latency[32] = "";
    topology_vertex_name(t, l->from, from, sizeof(from));
    topology_vertex_name(t, l->to, to, sizeof(to));
    if (isfinite(l->latency) && l->latency < 1e6)
        snprintf(latency, sizeof(latency), ", latency %.1fx", l->latency);
    int length = snprintf(out, capacity, "%s to %s (%s%s)", from, to,
                          l->state == CONGESTION_CONGESTED ? "congested" : "hot", latency);
    return length > 0 ? (size_t)length : 0;
}

void job_network_describe_hot(const struct job_network *n, const uint32_t *ranks, size_t count,
                              char *out, size_t capacity)
{
    size_t length = 0, named = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n->hot_count && named < HOT_NAMED; i++) {
        const struct congestion_link *l = &n->hot[i];
        char name[256];
        if (!link_loads_of_ranks(n, l->link, ranks, count))
            continue;
        size_t more = link_describe(n, l, name, sizeof(name));
        if (length + more + 3 > capacity)
            return;
        length +=
            (size_t)snprintf(out + length, capacity - length, "%s%s", named == 0 ? "" : "; ", name);
        named++;
    }
}
