/* Loads of links and vertices from the messages between vertices and their routes. */
#include "viewer/model/flows_work.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int flow_loads_create(struct flow_work *w, const struct topology *t)
{
    link_loads_destroy(w->sums);
    w->sums = NULL;
    free(w->through);
    w->through = malloc(((size_t)topology_vertices(t) + 1) * sizeof *w->through);
    return w->through ? link_loads_create(&w->sums, t) : -ENOMEM;
}

/* Routes as the topology has them. Those whose way is not found after all are said to have none. */
static void add_routed(struct flows *f)
{
    link_loads_clear(f->work->sums);
    for (uint32_t i = 0; i < f->route_count; i++) {
        struct flow *r = &f->routes[i];
        const struct load_change change = {r->source, r->destination, (int64_t)r->bytes,
                                           (int64_t)r->messages};
        if (r->given == FLOWS_NONE && r->length != TOPOLOGY_NONE &&
            link_loads_add(f->work->sums, &change) != 0)
            r->length = TOPOLOGY_NONE;
    }
}

/* Loads and figures as they were summed up. */
static void flow_loads_adopt_loads(struct flows *f)
{
    const struct link_loads *sums = f->work->sums;
    const struct link_load *values = link_loads_values(sums);
    const struct vertex_load *vertices = link_loads_vertices(sums);
    link_loads_transit(sums, f->work->through);
    for (uint32_t l = 0; l < f->link_count; l++) {
        f->loads[l] = values[l].bytes;
        f->messages[l] = values[l].messages;
    }
    for (uint32_t v = 0; v < f->vertex_count; v++)
        f->vertices[v] = (struct flow_vertex){vertices[v].messages_in, vertices[v].messages_out,
                                              vertices[v].bytes_in, vertices[v].bytes_out,
                                              f->work->through[v].bytes};
}

/* A suggested route is walked. */
static void flow_loads_add_given(struct flows *f, const struct model *m, uint32_t number)
{
    const struct flow *r = &f->routes[number];
    struct flow_vertex *from = &f->vertices[r->source], *to = &f->vertices[r->destination];
    uint32_t *links = f->work->walk;
    uint32_t length = flows_walk(f, m, number, links, f->work->walk_capacity);
    from->out += r->messages;
    from->out_bytes += r->bytes;
    to->in += r->messages;
    to->in_bytes += r->bytes;
    for (uint32_t k = 0; k < length && k < f->work->walk_capacity; k++) {
        uint32_t a, b;
        if (links[k] >= f->link_count) /* the network has changed since it was suggested */
            continue;
        f->loads[links[k]] += r->bytes;
        f->messages[links[k]] += r->messages;
        if (k + 1 < length && topology_link(m->network.topology, links[k], &a, &b))
            f->vertices[b].transit += r->bytes;
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
    f->total_messages += r->messages;
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
    add_routed(f);
    flow_loads_adopt_loads(f);
    for (uint32_t i = 0; i < f->route_count; i++) {
        if (f->routes[i].given != FLOWS_NONE)
            flow_loads_add_given(f, m, i);
        flow_loads_add_route(f, &f->routes[i]);
    }
    flow_loads_find_most(f);
}
