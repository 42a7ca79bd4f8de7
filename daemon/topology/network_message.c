/* Encodes a network as messages of topic topology, in parts of bounded size, and puts it together
 * from them. */
#include "daemon/topology/network_message.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "proto/wire_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a given route each row repeats the source. */
static size_t network_message_count_hops(const struct topology_spec *spec)
{
    size_t hops = 0;
    for (uint32_t i = 0; i < spec->route_count; i++)
        hops += spec->routes[i].count > 0 ? spec->routes[i].count - 1 : 0;
    return hops;
}

static void network_message_fill_hops(const struct topology_spec *spec, struct wire_hop_row *hops)
{
    for (uint32_t i = 0; i < spec->route_count; i++) {
        const struct topology_table *t = &spec->routes[i];
        const uint32_t *path = spec->path + t->first;
        for (uint32_t at = 1; at < t->count; at++)
            *hops++ = (struct wire_hop_row){path[0], path[t->count - 1], path[at]};
    }
}

static void network_message_send(const struct network_publication *t, struct wire_topology *message,
                                 network_tell *tell, void *user)
{
    struct wire_parts parts = wire_parts_of(WIRE_TYPE_TOPOLOGY, message, "dimensions");
    message->job = t->job;
    message->source = t->source;
    message->fault = t->fault;
    message->seats = t->seats;
    message->seats_count = t->seat_count;
    while (wire_parts_next(&parts))
        tell(user, message);
}

void network_message(const struct network_publication *telling, network_tell *tell, void *user)
{
    const struct topology_spec *spec = telling->spec;
    struct wire_dimension_row dimensions[TOPOLOGY_DIMENSIONS];
    if (spec == NULL) {
        network_message_send(telling, &(struct wire_topology){.name = ""}, tell, user);
        return;
    }
    struct wire_topology message = {.name = spec->name,
                                    .kind = (uint64_t)spec->kind,
                                    .tie = (uint64_t)spec->tie,
                                    .capacity = spec->capacity,
                                    .dimensions = dimensions,
                                    .dimensions_count = spec->dimension_count,
                                    .vertices_count = spec->vertex_count,
                                    .edges_count = spec->edge_count,
                                    .hops_count = network_message_count_hops(spec)};
    struct wire_vertex_row *vertices = malloc((spec->vertex_count + 1) * sizeof(*vertices));
    struct wire_edge_row *edges = malloc((spec->edge_count + 1) * sizeof(*edges));
    struct wire_hop_row *hops = malloc((message.hops_count + 1) * sizeof(*hops));
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        const struct topology_dimension *from = &spec->dimensions[d];
        dimensions[d] = (struct wire_dimension_row){from->name, from->size, from->connection,
                                                    from->step, from->up};
    }
    for (uint32_t i = 0; vertices != NULL && i < spec->vertex_count; i++)
        vertices[i] = (struct wire_vertex_row){spec->vertices[i].name, spec->vertices[i].kind};
    for (uint32_t i = 0; edges != NULL && i < spec->edge_count; i++) {
        const struct topology_edge *e = &spec->edges[i];
        edges[i] = (struct wire_edge_row){e->from, e->to, e->capacity, e->interface};
    }
    if (hops != NULL)
        network_message_fill_hops(spec, hops);
    message.vertices = vertices;
    message.edges = edges;
    message.hops = hops;
    if (vertices != NULL && edges != NULL && hops != NULL)
        network_message_send(telling, &message, tell, user);
    free(vertices);
    free(edges);
    free(hops);
}

/* ---- putting together ---------------------------------------------------------- */

void network_parts_finish(struct network_parts *p)
{
    topology_spec_finish(&p->spec);
    free(p->seats);
    *p = (struct network_parts){.more = 0};
}

int network_parts_has(const struct network_parts *p)
{
    return p->spec.dimension_count > 0 || p->spec.vertex_count > 0;
}

static int network_parts_too_large(uint64_t number)
{
    return number > UINT32_MAX - 1;
}

static int network_parts_begin(struct network_parts *p, const struct wire_topology *m)
{
    network_parts_finish(p);
    if (m->dimensions_count > TOPOLOGY_DIMENSIONS)
        return -HOLTER_ERANGE;
    snprintf(p->source, sizeof(p->source), "%s", m->source);
    snprintf(p->fault, sizeof(p->fault), "%s", m->fault);
    snprintf(p->spec.name, sizeof(p->spec.name), "%s", m->name);
    p->spec.kind = (enum topology_kind)m->kind;
    p->spec.tie = (enum topology_tie)m->tie;
    p->spec.capacity = m->capacity > 0 ? m->capacity : 0;
    p->spec.dimension_count = (uint32_t)m->dimensions_count;
    for (uint64_t i = 0; i < m->dimensions_count; i++) {
        const struct wire_dimension_row *from = &m->dimensions[i];
        struct topology_dimension *to = &p->spec.dimensions[i];
        if (network_parts_too_large(from->size) || network_parts_too_large(from->up))
            return -HOLTER_ERANGE;
        snprintf(to->name, sizeof(to->name), "%s", from->name);
        to->connection = (enum topology_connection)from->connection;
        to->size = (uint32_t)from->size;
        to->up = (uint32_t)from->up;
        to->step = (uint32_t)from->step;
    }
    return 0;
}

static int network_parts_add_vertices(struct network_parts *p, const struct wire_topology *m)
{
    uint64_t need = p->spec.vertex_count + m->vertices_count;
    if (need > TOPOLOGY_MAX_VERTICES)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(p->spec.vertices, p->vertex_capacity, need) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->vertices_count; i++) {
        struct topology_named *v = &p->spec.vertices[p->spec.vertex_count++];
        *v = (struct topology_named){.kind = (enum topology_vertex)m->vertices[i].kind};
        snprintf(v->name, sizeof(v->name), "%s", m->vertices[i].name);
    }
    return 0;
}

static int network_parts_add_edges(struct network_parts *p, const struct wire_topology *m)
{
    uint64_t need = p->spec.edge_count + m->edges_count;
    if (need > TOPOLOGY_MAXIMUM_LINKS)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(p->spec.edges, p->edge_capacity, need) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->edges_count; i++) {
        const struct wire_edge_row *from = &m->edges[i];
        struct topology_edge *e = &p->spec.edges[p->spec.edge_count++];
        *e = (struct topology_edge){.from = (uint32_t)from->from,
                                    .to = (uint32_t)from->to,
                                    .capacity = from->capacity > 0 ? from->capacity : 0};
        snprintf(e->interface, sizeof(e->interface), "%s", from->interface);
    }
    return 0;
}

/* Does a row continue the previous one's route: the same ends, and the destination not reached yet?
 */
static int network_parts_continue(const struct network_parts *p, const struct wire_hop_row *h)
{
    const struct topology_spec *s = &p->spec;
    if (s->route_count == 0)
        return 0;
    const struct topology_table *t = &s->routes[s->route_count - 1];
    uint32_t last = s->path[t->first + t->count - 1];
    return s->path[t->first] == h->source && last != h->destination;
}

static int network_parts_add_hops(struct network_parts *p, const struct wire_topology *m)
{
    struct topology_spec *s = &p->spec;
    if (s->path_count + 2 * m->hops_count > TOPOLOGY_MAXIMUM_LINKS)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(s->routes, p->route_capacity, s->route_count + m->hops_count) != 0 ||
        ARRAY_FIT(s->path, p->path_capacity, s->path_count + 2 * m->hops_count) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->hops_count; i++) {
        const struct wire_hop_row *h = &m->hops[i];
        if (network_parts_too_large(h->source) || network_parts_too_large(h->destination) ||
            network_parts_too_large(h->vertex))
            return -HOLTER_ERANGE;
        if (!network_parts_continue(p, h)) {
            s->routes[s->route_count++] =
                (struct topology_table){.first = s->path_count, .count = 1};
            s->path[s->path_count++] = (uint32_t)h->source;
        }
        s->path[s->path_count++] = (uint32_t)h->vertex;
        s->routes[s->route_count - 1].count++;
    }
    return 0;
}

static int network_parts_add_seats(struct network_parts *p, const struct wire_topology *m)
{
    if (ARRAY_FIT(p->seats, p->seat_capacity, p->seat_count + m->seats_count) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->seats_count; i++)
        p->seats[p->seat_count++] = m->seats[i];
    return 0;
}

int network_parts_add(struct network_parts *p, const struct wire_topology *m)
{
    int code = p->more ? 0 : network_parts_begin(p, m);
    code = code != 0 ? code : network_parts_add_vertices(p, m);
    code = code != 0 ? code : network_parts_add_edges(p, m);
    code = code != 0 ? code : network_parts_add_hops(p, m);
    code = code != 0 ? code : network_parts_add_seats(p, m);
    if (code != 0)
        network_parts_finish(p);
    p->more = code == 0 && m->more;
    return code;
}
