/* Loads of links and vertices from the messages between vertices and their routes. */
#include "viewer/model/flows_work.h"

#include <math.h>

/* Adds a route to the links and vertices on it. */
static void flow_loads_add_links(struct flows *f, const struct model *m, uint32_t number)
{
    struct flow *r = &f->routes[number];
    struct flow_vertex *from = &f->vertices[r->source], *to = &f->vertices[r->destination];
    uint32_t *links = f->work->walk;
    uint32_t length = flows_walk(f, m, number, links, f->work->walk_capacity);
    r->length = length > f->work->walk_capacity ? TOPOLOGY_NONE : length;
    if (r->length == TOPOLOGY_NONE)
        return;
    from->out += r->messages;
    from->out_bytes += r->bytes;
    to->in += r->messages;
    to->in_bytes += r->bytes;
    for (uint32_t k = 0; k < length; k++) {
        if (links[k] >= f->link_count) /* the network has changed since it was suggested */
            continue;
        f->loads[links[k]] += r->bytes;
        f->messages[links[k]] += r->messages;
    }
}

/* What arrives at a vertex over its links and does not end there passes through. */
static void flow_loads_find_transit(struct flows *f, const struct topology *t)
{
    for (uint32_t l = 0; l < f->link_count; l++) {
        uint32_t from, to;
        if (f->loads[l] && topology_link(t, l, &from, &to))
            f->vertices[to].transit += f->loads[l];
    }
    for (uint32_t v = 0; v < f->vertex_count; v++) {
        struct flow_vertex *at = &f->vertices[v];
        at->transit -= at->in_bytes < at->transit ? at->in_bytes : at->transit;
    }
}

static void flow_loads_add_route(struct flows *f, const struct flow *r)
{
    f->maximum[METRIC_BYTES] = fmax(f->maximum[METRIC_BYTES], (double)r->bytes);
    if (r->length == TOPOLOGY_NONE) {
        f->unplaced_bytes += r->bytes;
        return;
    }
    double hop_bytes = (double)r->bytes * r->length;
    f->bytes += r->bytes;
    f->longest = r->length > f->longest ? r->length : f->longest;
    f->hop_bytes += hop_bytes;
    f->maximum[METRIC_HOP_BYTES] = fmax(f->maximum[METRIC_HOP_BYTES], hop_bytes);
}

static void flow_loads_find_most(struct flows *f)
{
    double sum = 0;
    for (uint32_t l = 0; l < f->link_count; l++) {
        sum += (double)f->loads[l];
        f->links_used += f->loads[l] > 0;
        if (f->loads[l] > f->largest) {
            f->largest = f->loads[l];
            f->largest_link = l;
        }
    }
    f->mean = f->links_used ? sum / f->links_used : 0;
    for (uint32_t v = 0; v < f->vertex_count; v++) {
        f->maximum[METRIC_IN] = fmax(f->maximum[METRIC_IN], (double)f->vertices[v].in);
        f->maximum[METRIC_OUT] = fmax(f->maximum[METRIC_OUT], (double)f->vertices[v].out);
        f->maximum[METRIC_TRANSIT] =
            fmax(f->maximum[METRIC_TRANSIT], (double)f->vertices[v].transit);
    }
    f->maximum[METRIC_LENGTH] = f->longest;
    f->maximum[METRIC_LOAD] = (double)f->largest;
}

void flow_loads_compute(struct flows *f, const struct model *m)
{
    for (uint32_t i = 0; i < f->route_count; i++) {
        flow_loads_add_links(f, m, i);
        flow_loads_add_route(f, &f->routes[i]);
    }
    flow_loads_find_transit(f, m->network.topology);
    flow_loads_find_most(f);
}
