/* Puts a network together from the parts of its messages: see network_parts.h. */
#include "daemon/topology/network_parts.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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
    if (array_fit(&p->spec.vertices, sizeof(*p->spec.vertices), &p->vertex_room, need) != 0)
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
    if (array_fit(&p->spec.edges, sizeof(*p->spec.edges), &p->edge_room, need) != 0)
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
    if (array_fit(&s->routes, sizeof(*s->routes), &p->route_room, s->route_count + m->hops_count) !=
            0 ||
        array_fit(&s->path, sizeof(*s->path), &p->path_capacity,
                  s->path_count + 2 * m->hops_count) != 0)
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
    if (array_fit(&p->seats, sizeof(*p->seats), &p->seat_room, p->seat_count + m->seats_count) != 0)
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
