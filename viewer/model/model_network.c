/* The topology of the network, the placement of ranks, and the links with their traces. */
#include "viewer/model/model_network.h"

#include "daemon/analysis/tables/array.h"
#include "holter/bisect.h"
#include "holter/error.h"
#include "holter/order.h"
#include "holter/plain_text.h"
#include "viewer/model/model_network_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void parts_clear_rows(struct network_parts *p)
{
    array_release(&p->links);
    array_release(&p->routes);
    p->link_count = p->route_count = 0;
    p->links_more = 0;
}

/* The parts, allocated on first use; NULL without memory. */
static struct network_parts *network_parts(struct network *n)
{
    if (!n->parts)
        n->parts = calloc(1, sizeof *n->parts);
    return n->parts;
}

int network_grow(void *array, uint32_t count, uint64_t more, size_t size)
{
    uint64_t all = count + more;
    return all > UINT32_MAX ? -ENOMEM : array_resize(array, (all ? all : 1) * size);
}

void network_restart(struct network *n)
{
    if (n->parts) {
        topology_parts_finish(&n->parts->topology);
        parts_clear_rows(n->parts);
    }
    n->window = 0; /* a replay may start again from the beginning */
}

static void traces_clear(struct network *n)
{
    for (uint32_t i = 0; i < n->trace_count; i++)
        free(n->traces[i].samples);
    array_release(&n->traces);
    n->trace_count = 0;
}

static void rows_clear(struct network *n)
{
    array_release(&n->links);
    array_release(&n->routes);
    array_release(&n->by_link);
    n->link_count = n->route_count = 0;
    n->rows_known = 0;
    n->counts = (struct network_counts){0};
}

void network_clear(struct network *n)
{
    uint64_t version = n->version ? n->version + 1 : 0, links = n->links_version + 1;
    network_restart(n);
    free(n->parts);
    topology_destroy(n->topology);
    free(n->seats);
    rows_clear(n);
    traces_clear(n);
    uint64_t suggested[SUGGESTIONS];
    for (int i = 0; i < SUGGESTIONS; i++) {
        suggestion_clear(&n->suggestions[i]);
        suggested[i] = n->suggestions[i].version;
    }
    *n = (struct network){.version = version, .links_version = links};
    for (int i = 0; i < SUGGESTIONS; i++)
        n->suggestions[i].version = suggested[i];
}

/* ---- topology ------------------------------------------------------------ */

static uint32_t model_network_vertex_of(uint64_t number)
{
    return number < TOPOLOGY_MAX_VERTICES ? (uint32_t)number : TOPOLOGY_NONE;
}

uint32_t network_bounded(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

int network_add_seats(uint32_t **seats, uint32_t *count, const struct wire_seat_row *rows,
                      uint64_t row_count)
{
    uint64_t maximum = *count;
    for (uint64_t i = 0; i < row_count; i++)
        if (rows[i].rank < NETWORK_RANKS && rows[i].rank >= maximum)
            maximum = rows[i].rank + 1;
    if (network_grow(seats, 0, maximum, sizeof **seats) < 0)
        return -ENOMEM;
    while (*count < maximum)
        (*seats)[(*count)++] = TOPOLOGY_NONE;
    for (uint64_t i = 0; i < row_count; i++)
        if (rows[i].rank < NETWORK_RANKS)
            (*seats)[rows[i].rank] = model_network_vertex_of(rows[i].vertex);
    return 0;
}

int network_is_same(const struct topology *a, const struct topology *b)
{
    char names[2][80];
    if (!a || !b || topology_vertices(a) != topology_vertices(b) ||
        topology_links(a) != topology_links(b))
        return 0;
    for (uint32_t v = 0; v < topology_vertices(a); v++) {
        topology_vertex_name(a, v, names[0], sizeof names[0]);
        topology_vertex_name(b, v, names[1], sizeof names[1]);
        if (strcmp(names[0], names[1]))
            return 0;
    }
    for (uint32_t link = 0; link < topology_links(a); link++) {
        uint32_t from[2] = {0, 0}, to[2] = {0, 0};
        if (topology_link(a, link, &from[0], &to[0]) != topology_link(b, link, &from[1], &to[1]) ||
            from[0] != from[1] || to[0] != to[1])
            return 0;
    }
    return 1;
}

/* @param topology  owned from here on; NULL: there is none, as the fault says */
static void model_network_take_topology(struct network *n, const struct topology_parts *p,
                                        struct topology *topology, const char *fault)
{
    if (n->topology && topology && !network_is_same(n->topology, topology)) {
        rows_clear(n);
        traces_clear(n);
        n->links_version++;
        n->replaced++;
    }
    topology_destroy(n->topology);
    n->topology = topology;
    text_copy(n->name, sizeof n->name, p->spec.name);
    text_copy(n->source, sizeof n->source, p->source);
    text_copy(n->fault, sizeof n->fault, fault);
    n->version++;
}

/* All parts are there: the network is replaced. @return 0 or -ENOMEM: nothing has changed */
static int model_network_apply_topology(struct network *n, const struct topology_parts *p)
{
    char why[sizeof n->fault] = "";
    struct topology *topology = NULL;
    uint32_t *seats = NULL, seat_count = 0;
    int error = p->fault[0] && !topology_parts_has(p)
                    ? 0
                    : topology_create(&topology, &p->spec, why, sizeof why);
    if (error == -ENOMEM || network_add_seats(&seats, &seat_count, p->seats, p->seat_count) < 0) {
        topology_destroy(topology);
        return -ENOMEM;
    }
    uint32_t vertices = topology ? topology_vertices(topology) : 0;
    for (uint32_t i = 0; i < seat_count; i++)
        seats[i] = seats[i] < vertices ? seats[i] : TOPOLOGY_NONE;
    free(n->seats);
    n->seats = seats;
    n->seat_count = seat_count;
    model_network_take_topology(n, p, topology,
                                error ? why[0] ? why : "it contradicts itself" : p->fault);
    return 0;
}

int network_apply_topology(struct network *n, const struct wire_topology *t)
{
    struct network_parts *p = network_parts(n);
    if (!p)
        return -ENOMEM;
    int error = topology_parts_add(&p->topology, t);
    if (error == -HOLTER_ERANGE) {
        array_release(&n->seats);
        n->seat_count = 0;
        model_network_take_topology(n, &p->topology, NULL, "its numbers are out of range");
    } else if (!error && !t->more) {
        error = model_network_apply_topology(n, &p->topology);
    }
    if (!t->more)
        topology_parts_finish(&p->topology);
    return error;
}

uint32_t network_seat(const struct network *n, uint64_t rank)
{
    return rank < n->seat_count ? n->seats[rank] : TOPOLOGY_NONE;
}

/* ---- links --------------------------------------------------------------- */

static int model_network_add_links(struct network_parts *p, const struct wire_links *w)
{
    if (network_grow(&p->links, p->link_count, w->links_count, sizeof *p->links) < 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < w->links_count; i++) {
        struct wire_link_row *row = &p->links[p->link_count];
        *row = w->links[i];
        row->state = row->state > LINK_CONGESTED ? LINK_CONGESTED : row->state;
        p->link_count += row->link < TOPOLOGY_MAXIMUM_LINKS;
    }
    return 0;
}

static int model_network_add_routes(struct network_parts *p, const struct wire_links *w)
{
    if (network_grow(&p->routes, p->route_count, w->routes_count, sizeof *p->routes) < 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < w->routes_count; i++)
        p->routes[p->route_count++] = w->routes[i];
    return 0;
}

/* First trace of a link that is at least that. */
static uint32_t trace_place(const struct network *n, uint32_t link)
{
    return BISECT(i, 0, n->trace_count, n->traces[i].link < link);
}

/* Drops the trace that was updated least recently. */
static void drop_trace(struct network *n)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < n->trace_count; i++)
        if (n->traces[i].newest < n->traces[oldest].newest)
            oldest = i;
    free(n->traces[oldest].samples);
    memmove(n->traces + oldest, n->traces + oldest + 1,
            (n->trace_count - oldest - 1) * sizeof *n->traces);
    n->trace_count--;
}

/* Trace of a link, made when there is none. @return NULL: none can be kept */
static struct network_trace *trace_of(struct network *n, uint32_t link, uint64_t window)
{
    uint32_t at = trace_place(n, link);
    if (at < n->trace_count && n->traces[at].link == link)
        return &n->traces[at];
    struct network_sample *samples = calloc(NETWORK_WINDOWS, sizeof *samples);
    if (!n->traces)
        n->traces = malloc(NETWORK_TRACES * sizeof *n->traces);
    if (!samples || !n->traces) {
        free(samples);
        return NULL;
    }
    if (n->trace_count == NETWORK_TRACES) {
        drop_trace(n);
        at = trace_place(n, link);
    }
    memmove(n->traces + at + 1, n->traces + at, (n->trace_count - at) * sizeof *n->traces);
    n->trace_count++;
    n->traces[at] = (struct network_trace){link, window, samples};
    return &n->traces[at];
}

static int enter_sample(struct network *n, const struct wire_link_row *l, uint64_t window)
{
    struct network_trace *t = trace_of(n, (uint32_t)l->link, window);
    if (!t)
        return -ENOMEM;
    if (window + NETWORK_WINDOWS <= t->newest)
        return 0; /* older than what the ring holds */
    for (uint64_t w = t->newest + 1; w < window && w <= t->newest + NETWORK_WINDOWS; w++)
        t->samples[w % NETWORK_WINDOWS].present = 0;
    t->newest = window > t->newest ? window : t->newest;
    t->samples[window % NETWORK_WINDOWS] = (struct network_sample){
        .load = (float)l->bytes,
        .measured = l->measured == NETWORK_UNKNOWN ? NAN : (float)l->measured,
        .latency = (float)l->latency,
        .state = (uint8_t)l->state,
        .unit = l->unit != 0,
        .present = 1};
    return 0;
}

/* Links in sight first: when there are more than traces, the most loaded get one. */
static int enter_samples(struct network *n)
{
    uint32_t maximum = n->link_count < NETWORK_TRACES ? n->link_count : NETWORK_TRACES;
    for (uint32_t i = 0; i < maximum; i++)
        if (enter_sample(n, &n->links[i], n->window) < 0)
            return -ENOMEM;
    return 0;
}

/* Positions of rows in order of their link. @return owned by the caller; NULL: no memory */
static uint32_t *model_network_sort_by_link(const struct wire_link_row *links, uint32_t count)
{
    uint64_t *keys = malloc((count + 1u) * sizeof *keys); /* link and position side by side */
    uint32_t *order = malloc((count + 1u) * sizeof *order);
    if (!keys || !order) {
        free(keys);
        free(order);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        keys[i] = links[i].link << 32 | i;
    qsort(keys, count, sizeof *keys, order_u64);
    for (uint32_t i = 0; i < count; i++)
        order[i] = (uint32_t)keys[i];
    free(keys);
    return order;
}

static int model_network_apply_rows(struct network *n, struct network_parts *p,
                                    const struct wire_links *w)
{
    uint32_t *order = model_network_sort_by_link(p->links, p->link_count);
    if (!order)
        return -ENOMEM;
    rows_clear(n);
    n->by_link = order;
    n->links = p->links;
    n->link_count = p->link_count;
    n->routes = p->routes;
    n->route_count = p->route_count;
    n->counts = (struct network_counts){
        {w->idle, w->busy, w->hot, w->congested}, w->hop_bytes, w->unplaced, w->left_out};
    p->links = NULL;
    p->routes = NULL;
    n->window = w->window;
    if (w->idle || w->busy || w->hot || w->congested)
        n->states_known =
            !n->states_known || w->window < n->states_known ? w->window : n->states_known;
    n->rows_known = 1;
    n->links_version++;
    return enter_samples(n);
}

int network_apply_links(struct network *n, const struct wire_links *w)
{
    struct network_parts *p = network_parts(n);
    if (!p)
        return -ENOMEM;
    if (!p->links_more || p->window != w->window)
        parts_clear_rows(p);
    p->window = w->window;
    int error = model_network_add_links(p, w);
    error = error ? error : model_network_add_routes(p, w);
    p->links_more = w->more != 0;
    if (!error && !w->more && !(n->rows_known && w->window < n->window))
        error = model_network_apply_rows(n, p, w);
    if (error || !w->more)
        parts_clear_rows(p);
    return error;
}

const struct wire_link_row *network_row(const struct network *n, uint64_t link)
{
    uint32_t low = BISECT(i, 0, n->link_count, n->links[n->by_link[i]].link < link);
    return low < n->link_count && n->links[n->by_link[low]].link == link
               ? &n->links[n->by_link[low]]
               : NULL;
}

const struct network_sample *network_sample(const struct network *n, uint32_t link, uint64_t window)
{
    uint32_t at = trace_place(n, link);
    if (at >= n->trace_count || n->traces[at].link != link)
        return NULL;
    const struct network_trace *t = &n->traces[at];
    const struct network_sample *s = &t->samples[window % NETWORK_WINDOWS];
    return window <= t->newest && window + NETWORK_WINDOWS > t->newest && s->present ? s : NULL;
}

const struct wire_link_route_row *network_routes_of(const struct network *n, uint64_t link,
                                                    uint32_t *count)
{
    const struct wire_link_route_row *first = NULL;
    *count = 0;
    for (uint32_t i = 0; i < n->route_count; i++)
        if (n->routes[i].link == link) {
            first = first ? first : &n->routes[i];
            ++*count;
        } else if (first) {
            break;
        }
    return first;
}

/* ---- names --------------------------------------------------------------- */

char *network_vertex_name(const struct network *n, uint32_t vertex, char *out, size_t capacity)
{
    if (n->topology && vertex < topology_vertices(n->topology))
        topology_vertex_name(n->topology, vertex, out, capacity);
    else if (vertex == TOPOLOGY_NONE)
        snprintf(out, capacity, "?");
    else
        snprintf(out, capacity, "%u", vertex);
    return out;
}

/* @return 1 when the ends of a link are known */
static int model_network_find_ends(const struct network *n, uint32_t link, uint32_t *from,
                                   uint32_t *to)
{
    const struct wire_link_row *row = network_row(n, link);
    if (n->topology && link < topology_links(n->topology) &&
        topology_link(n->topology, link, from, to))
        return 1;
    if (!row)
        return 0;
    *from = model_network_vertex_of(row->from);
    *to = model_network_vertex_of(row->to);
    return 1;
}

/* The name of a vertex below a host, where the host stands beside it. */
static const char *model_network_name_below(const char *name, const char *beside)
{
    const size_t length = strlen(beside);
    return strncmp(name, beside, length) == 0 && name[length] == '/' ? name + length + 1 : name;
}

static char *model_network_format_link(const struct network *n, uint32_t link, int is_short,
                                       char *out, size_t capacity)
{
    char a[TOPOLOGY_NAME + 1], b[TOPOLOGY_NAME + 1];
    uint32_t from, to;
    if (!model_network_find_ends(n, link, &from, &to)) {
        snprintf(out, capacity, "link %u", link);
        return out;
    }
    network_vertex_name(n, from, a, sizeof a);
    network_vertex_name(n, to, b, sizeof b);
    snprintf(out, capacity, "%s \xe2\x86\x92 %s", is_short ? model_network_name_below(a, b) : a,
             is_short ? model_network_name_below(b, a) : b);
    return out;
}

char *network_link_name(const struct network *n, uint32_t link, char *out, size_t capacity)
{
    return model_network_format_link(n, link, 0, out, capacity);
}

char *network_link_short_name(const struct network *n, uint32_t link, char *out, size_t capacity)
{
    return model_network_format_link(n, link, 1, out, capacity);
}

const char *network_state_name(enum link_state state)
{
    static const char *const names[] = {"idle", "busy", "hot", "congested"};
    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "?";
}
