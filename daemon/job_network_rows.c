/* What is told of the links of a job's network: rows of links, of the ranks that load the hot ones, of
 * interfaces. */
#include "daemon/job_network_state.h"

#include "daemon/analysis/array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERTEX_PAIRS 64u /* of a hot link, whose ranks are looked at */
#define HOT_NAMED 6u     /* links in the words of an alert */
#define STATES 4u

/* ---- links ------------------------------------------------------------------------------- */

static int is_told(const struct congestion_link *l)
{
    return l->state != CONGESTION_IDLE || l->measured != CONGESTION_UNKNOWN;
}

static int compare_links(const void *a, const void *b)
{
    const struct congestion_link *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->state != y->state)
        return x->state > y->state ? -1 : 1;
    return x->link < y->link ? -1 : x->link > y->link;
}

/* All that are told, largest first; the states of all are counted. */
static int list_links(struct job_network *n)
{
    size_t count = congestion_links(n->congestion, n->links, n->link_room);
    if (count > n->link_room) {
        if (array_fit(&n->links, sizeof(*n->links), &n->link_room, count) != 0)
            return -ENOMEM;
        count = congestion_links(n->congestion, n->links, n->link_room);
    }
    memset(n->states, 0, sizeof(n->states));
    n->link_count = 0;
    for (size_t i = 0; i < count; i++) {
        n->states[n->links[i].state]++;
        if (is_told(&n->links[i]))
            n->links[n->link_count++] = n->links[i];
    }
    n->states[CONGESTION_IDLE] = n->graph->links - n->states[CONGESTION_BUSY] -
                                 n->states[CONGESTION_HOT] - n->states[CONGESTION_CONGESTED];
    if (n->link_count > 1)
        qsort(n->links, n->link_count, sizeof(*n->links), compare_links);
    return 0;
}

static int make_link_rows(struct job_network *n)
{
    size_t count = n->link_count < JOB_NETWORK_LINKS ? n->link_count : JOB_NETWORK_LINKS;
    if (array_fit(&n->link_rows, sizeof(*n->link_rows), &n->link_rows_room, count) != 0)
        return -ENOMEM;
    n->left_out = 0;
    for (size_t i = 0; i < n->link_count; i++) {
        const struct congestion_link *l = &n->links[i];
        if (i >= count) {
            n->left_out += l->state != CONGESTION_IDLE;
            continue;
        }
        n->link_rows[i] = (struct wire_link_row){
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
        };
    }
    n->link_rows_count = count;
    return 0;
}

static double sum_hop_bytes(const struct job_network *n)
{
    const struct link_load *loads = link_loads_values(congestion_loads(n->congestion));
    uint32_t links = topology_links(n->graph->topology);
    double sum = 0;
    for (uint32_t i = 0; i < links; i++)
        sum += (double)loads[i].bytes;
    return sum;
}

/* ---- ranks that load hot links -------------------------------------------------------------- */

static int compare_routes(const void *a, const void *b)
{
    const struct wire_link_route_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->messages != y->messages)
        return x->messages > y->messages ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->destination < y->destination ? -1 : x->destination > y->destination;
}

/* The largest so far of one link, fewer than JOB_NETWORK_ROUTES + 1. */
struct largest {
    struct wire_link_route_row rows[JOB_NETWORK_ROUTES + 1];
    size_t count;
};

static void keep_largest(struct largest *l, const struct wire_link_route_row *row)
{
    size_t at = l->count;
    while (at > 0 && compare_routes(&l->rows[at - 1], row) > 0)
        at--;
    if (at == JOB_NETWORK_ROUTES)
        return;
    memmove(&l->rows[at + 1], &l->rows[at], (l->count - at) * sizeof(*row));
    l->rows[at] = *row;
    l->count += l->count < JOB_NETWORK_ROUTES;
}

/* Rows of one pair of ranks follow each other: they differ in communicator, region and size. */
static void add_pairs_of(const struct job_network *n, const struct job_network_window *w,
                         uint32_t rank, uint32_t seat, struct wire_link_route_row row,
                         struct largest *out)
{
    row.source = rank;
    for (size_t i = n->first[rank]; i < n->first[rank + 1];) {
        int32_t destination = w->pairs[i].destination;
        row.bytes = row.messages = 0;
        for (; i < n->first[rank + 1] && w->pairs[i].destination == destination; i++) {
            row.bytes += w->pairs[i].bytes;
            row.messages += w->pairs[i].messages;
        }
        row.destination = (uint64_t)destination;
        if (destination >= 0 && job_network_seat(n, (uint32_t)destination) == seat)
            keep_largest(out, &row);
    }
}

/* First rank in by_seat on a vertex, or behind it. */
static uint32_t first_on(const struct job_network *n, uint32_t vertex)
{
    uint32_t low = 0, high = n->seated;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (n->seats[n->by_seat[middle]] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_route(const struct job_network *n, const struct job_network_window *w,
                      const struct congestion_route *route, const struct congestion_pair *pairs,
                      struct largest *out)
{
    const struct congestion_pair *pair = &pairs[route->pair];
    struct wire_link_route_row row = {.link = route->link, .length = route->length};
    for (uint32_t i = first_on(n, pair->source);
         i < n->seated && n->seats[n->by_seat[i]] == pair->source; i++)
        add_pairs_of(n, w, n->by_seat[i], pair->destination, row, out);
}

static size_t list_hot(const struct job_network *n, uint32_t out[JOB_NETWORK_HOT])
{
    size_t count = 0;
    for (size_t i = 0; i < n->link_count && count < JOB_NETWORK_HOT; i++) {
        if (n->links[i].state >= CONGESTION_HOT)
            out[count++] = n->links[i].link;
    }
    return count;
}

/* The largest pairs of ranks among the pairs of vertices with most bytes. */
static int make_route_rows(struct job_network *n, const struct job_network_window *w)
{
    uint32_t hot[JOB_NETWORK_HOT];
    size_t links = list_hot(n, hot), pair_count, found = 0, at = 0;
    n->route_rows_count = 0;
    if (links == 0)
        return 0;
    struct congestion_route *routes = malloc(links * VERTEX_PAIRS * sizeof(*routes));
    const struct congestion_pair *pairs = congestion_pairs(n->congestion, &pair_count);
    int code = routes == NULL ? -ENOMEM
                              : congestion_routes(n->graph->topology, pairs, pair_count, hot, links,
                                                  VERTEX_PAIRS, routes, &found);
    if (code == 0)
        code = array_fit(&n->route_rows, sizeof(*n->route_rows), &n->route_rows_room,
                         links * JOB_NETWORK_ROUTES);
    for (size_t i = 0; code == 0 && i < links; i++) {
        struct largest largest = {.count = 0};
        for (; at < found && routes[at].link == hot[i]; at++)
            add_route(n, w, &routes[at], pairs, &largest);
        memcpy(&n->route_rows[n->route_rows_count], largest.rows,
               largest.count * sizeof(*n->route_rows));
        n->route_rows_count += largest.count;
    }
    free(routes);
    return code;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static int make_interface_rows(struct job_network *n)
{
    size_t count = n->counters.count < WIRE_MAX_ROWS ? n->counters.count : WIRE_MAX_ROWS;
    if (array_fit(&n->interface_rows, sizeof(*n->interface_rows), &n->interface_rows_room, count) !=
        0)
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

int job_network_rows(struct job_network *n, const struct job_network_window *w)
{
    int code = list_links(n);
    code = code != 0 ? code : make_link_rows(n);
    code = code != 0 ? code : make_route_rows(n, w);
    code = code != 0 ? code : make_interface_rows(n);
    n->hop_bytes = sum_hop_bytes(n);
    return code;
}

int job_network_links(const struct job_network *n, struct wire_links *out)
{
    if (!n->closed || n->congestion == NULL)
        return 0;
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
        .hop_bytes = n->hop_bytes,
        .unplaced = n->unplaced,
        .left_out = n->left_out,
    };
    return 1;
}

/* ---- in words -------------------------------------------------------------------------------- */

static int is_one_of(const uint32_t *ranks, size_t count, uint64_t rank)
{
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] == rank)
            return 1;
    }
    return count == 0;
}

/* Is the link loaded by one of them? */
static int loads(const struct job_network *n, uint64_t link, const uint32_t *ranks, size_t count)
{
    for (size_t i = 0; i < n->route_rows_count; i++) {
        const struct wire_link_route_row *r = &n->route_rows[i];
        if (r->link == link &&
            (is_one_of(ranks, count, r->source) || is_one_of(ranks, count, r->destination)))
            return 1;
    }
    return 0;
}

static size_t name_link(const struct job_network *n, const struct wire_link_row *l, char *out,
                        size_t room)
{
    const struct topology *t = n->graph->topology;
    char from[TOPOLOGY_NAME + 1], to[TOPOLOGY_NAME + 1], latency[32] = "";
    topology_vertex_name(t, (uint32_t)l->from, from, sizeof(from));
    topology_vertex_name(t, (uint32_t)l->to, to, sizeof(to));
    if (isfinite(l->latency) && l->latency < 1e6)
        snprintf(latency, sizeof(latency), ", latency %.1fx", l->latency);
    int length = snprintf(out, room, "%s to %s (%s%s)", from, to,
                          l->state == LINK_CONGESTED ? "congested" : "hot", latency);
    return length > 0 ? (size_t)length : 0;
}

void job_network_hot(const struct job_network *n, const uint32_t *ranks, size_t count, char *out,
                     size_t room)
{
    size_t length = 0, named = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n->link_rows_count && named < HOT_NAMED; i++) {
        const struct wire_link_row *l = &n->link_rows[i];
        char name[256];
        if (l->state < LINK_HOT || !loads(n, l->link, ranks, count))
            continue;
        size_t more = name_link(n, l, name, sizeof(name));
        if (length + more + 3 > room)
            return;
        length +=
            (size_t)snprintf(out + length, room - length, "%s%s", named == 0 ? "" : "; ", name);
        named++;
    }
}
