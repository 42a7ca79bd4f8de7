#include "viewer/model/flows_work.h"

#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>

int flow_loads_create(struct flow_work *w, const struct topology *t)
{
    link_loads_destroy(w->sums);
    w->sums = NULL;
    free(w->through);
    w->through = malloc(((size_t)topology_vertices(t) + 1) * sizeof *w->through);
    return w->through ? link_loads_create(&w->sums, t) : -ENOMEM;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Routes as the topology has them: summed up by segments, not by links. */
static int add_routed(struct flows *f)
{
    struct link_loads *sums = f->work->sums;
    link_loads_clear(sums);
    for (uint32_t i = 0; i < f->route_count; i++) {
        struct flow *r = &f->routes[i];
        const struct load_change change = {r->source, r->destination, (int64_t)r->bytes,
                                           (int64_t)r->messages, 1};
        if (r->given != FLOWS_NONE || r->length == TOPOLOGY_NONE)
            continue;
        int error = link_loads_add(sums, &change);
        if (error == -ENOMEM)
            return error;
        if (error)
            r->length = TOPOLOGY_NONE;
    }
    const struct link_load *values = link_loads_settle(sums);
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
    return 0;
}

/* A suggested route is walked. */
static void add_given(struct flows *f, const struct model *m, uint32_t number)
{
    const struct flow *r = &f->routes[number];
    struct flow_vertex *from = &f->vertices[r->source], *to = &f->vertices[r->destination];
    uint32_t *links = f->work->walk;
    uint32_t length = flows_walk(f, m, number, links, f->work->walk_room);
    from->out += r->messages;
    from->out_bytes += r->bytes;
    to->in += r->messages;
    to->in_bytes += r->bytes;
    for (uint32_t k = 0; k < length && k < f->work->walk_room; k++) {
        uint32_t a, b;
        f->loads[links[k]] += r->bytes;
        f->messages[links[k]] += r->messages;
        if (k + 1 < length && topology_link(m->network.topology, links[k], &a, &b))
            f->vertices[b].transit += r->bytes;
    }
}

static void add_route(struct flows *f, const struct flow *r)
{
    f->most[METRIC_BYTES] = larger(f->most[METRIC_BYTES], (double)r->bytes);
    if (r->length == TOPOLOGY_NONE) {
        f->unplaced_bytes += r->bytes;
        return;
    }
    double hop_bytes = (double)r->bytes * r->length;
    f->bytes += r->bytes;
    f->total_messages += r->messages;
    f->longest = r->length > f->longest ? r->length : f->longest;
    f->hop_bytes += hop_bytes;
    f->most[METRIC_HOP_BYTES] = larger(f->most[METRIC_HOP_BYTES], hop_bytes);
}

static void find_most(struct flows *f)
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
        f->most[METRIC_IN] = larger(f->most[METRIC_IN], (double)f->vertices[v].in);
        f->most[METRIC_OUT] = larger(f->most[METRIC_OUT], (double)f->vertices[v].out);
        f->most[METRIC_TRANSIT] = larger(f->most[METRIC_TRANSIT], (double)f->vertices[v].transit);
    }
    f->most[METRIC_LENGTH] = f->longest;
    f->most[METRIC_LOAD] = (double)f->largest;
}

int flow_loads_compute(struct flows *f, const struct model *m)
{
    int error = add_routed(f);
    if (error)
        return error;
    for (uint32_t i = 0; i < f->route_count; i++) {
        if (f->routes[i].given != FLOWS_NONE)
            add_given(f, m, i);
        add_route(f, &f->routes[i]);
    }
    find_most(f);
    return 0;
}
