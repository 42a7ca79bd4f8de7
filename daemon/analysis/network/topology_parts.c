/* Puts a network together from messages of topic topology. */
#include "daemon/analysis/network/topology_parts.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"
#include "holter/plain_text.h"

#include <errno.h>
#include <stdlib.h>

void topology_parts_finish(struct topology_parts *p)
{
    topology_spec_finish(&p->spec);
    free(p->seats);
    *p = (struct topology_parts){.more = 0};
}

int topology_parts_has(const struct topology_parts *p)
{
    return p->spec.dimension_count > 0 || p->spec.vertex_count > 0;
}

static int topology_parts_too_large(uint64_t number)
{
    return number > UINT32_MAX - 1;
}

static int topology_parts_begin(struct topology_parts *p, const struct wire_topology *m)
{
    topology_parts_finish(p);
    if (m->dimensions_count > TOPOLOGY_DIMENSIONS || topology_parts_too_large(m->kind) ||
        topology_parts_too_large(m->tie))
        return -HOLTER_ERANGE;
    text_copy(p->source, sizeof(p->source), m->source);
    text_copy(p->fault, sizeof(p->fault), m->fault);
    text_copy(p->spec.name, sizeof(p->spec.name), m->name);
    p->spec.kind = (enum topology_kind)m->kind;
    p->spec.tie = (enum topology_tie)m->tie;
    p->spec.capacity = m->capacity > 0 ? m->capacity : 0;
    p->spec.dimension_count = (uint32_t)m->dimensions_count;
    for (uint64_t i = 0; i < m->dimensions_count; i++) {
        const struct wire_dimension_row *from = &m->dimensions[i];
        struct topology_dimension *to = &p->spec.dimensions[i];
        if (topology_parts_too_large(from->size) || topology_parts_too_large(from->up) ||
            topology_parts_too_large(from->step) || topology_parts_too_large(from->connection))
            return -HOLTER_ERANGE;
        text_copy(to->name, sizeof(to->name), from->name);
        to->connection = (enum topology_connection)from->connection;
        to->size = (uint32_t)from->size;
        to->up = (uint32_t)from->up;
        to->step = (uint32_t)from->step;
    }
    return 0;
}

static int topology_parts_add_vertices(struct topology_parts *p, const struct wire_topology *m)
{
    uint64_t need = p->spec.vertex_count + m->vertices_count;
    if (need > TOPOLOGY_MAX_VERTICES)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(p->spec.vertices, p->vertex_capacity, need) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->vertices_count; i++) {
        struct topology_named *v = &p->spec.vertices[p->spec.vertex_count++];
        *v = (struct topology_named){.kind = (enum topology_vertex)m->vertices[i].kind};
        text_copy(v->name, sizeof(v->name), m->vertices[i].name);
    }
    return 0;
}

static int topology_parts_add_edges(struct topology_parts *p, const struct wire_topology *m)
{
    uint64_t need = p->spec.edge_count + m->edges_count;
    if (need > TOPOLOGY_MAXIMUM_LINKS)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(p->spec.edges, p->edge_capacity, need) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->edges_count; i++) {
        const struct wire_edge_row *from = &m->edges[i];
        struct topology_edge *e = &p->spec.edges[p->spec.edge_count++];
        if (topology_parts_too_large(from->from) || topology_parts_too_large(from->to))
            return -HOLTER_ERANGE;
        *e = (struct topology_edge){.from = (uint32_t)from->from,
                                    .to = (uint32_t)from->to,
                                    .capacity = from->capacity > 0 ? from->capacity : 0};
        text_copy(e->interface, sizeof(e->interface), from->interface);
    }
    return 0;
}

/* Does a row continue the route of the row before it? */
static int topology_parts_continue(const struct topology_parts *p, const struct wire_hop_row *h)
{
    const struct topology_spec *s = &p->spec;
    return p->route_open && s->path[s->routes[s->route_count - 1].first] == h->source &&
           p->destination == h->destination;
}

/* Rows contain the vertices after the source; a route of a network begins with it. */
static int topology_parts_add_hops(struct topology_parts *p, const struct wire_topology *m)
{
    struct topology_spec *s = &p->spec;
    if (s->path_count + 2 * m->hops_count > TOPOLOGY_MAXIMUM_LINKS)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(s->routes, p->route_capacity, s->route_count + m->hops_count) != 0 ||
        ARRAY_FIT(s->path, p->path_capacity, s->path_count + 2 * m->hops_count) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->hops_count; i++) {
        const struct wire_hop_row *h = &m->hops[i];
        if (topology_parts_too_large(h->source) || topology_parts_too_large(h->destination) ||
            topology_parts_too_large(h->vertex))
            return -HOLTER_ERANGE;
        if (!topology_parts_continue(p, h)) {
            s->routes[s->route_count++] =
                (struct topology_table){.first = s->path_count, .count = 1};
            s->path[s->path_count++] = (uint32_t)h->source;
        }
        s->path[s->path_count++] = (uint32_t)h->vertex;
        s->routes[s->route_count - 1].count++;
        p->destination = (uint32_t)h->destination;
        p->route_open = h->vertex != h->destination;
    }
    return 0;
}

static int topology_parts_add_seats(struct topology_parts *p, const struct wire_topology *m)
{
    uint64_t need = p->seat_count + m->seats_count;
    if (need > TOPOLOGY_MAXIMUM_SEATS)
        return -HOLTER_ERANGE;
    if (ARRAY_FIT(p->seats, p->seat_capacity, need) != 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < m->seats_count; i++)
        p->seats[p->seat_count++] = m->seats[i];
    return 0;
}

int topology_parts_add(struct topology_parts *p, const struct wire_topology *m)
{
    int code = p->more ? p->refused : topology_parts_begin(p, m);
    code = code != 0 ? code : topology_parts_add_vertices(p, m);
    code = code != 0 ? code : topology_parts_add_edges(p, m);
    code = code != 0 ? code : topology_parts_add_hops(p, m);
    code = code != 0 ? code : topology_parts_add_seats(p, m);
    if (code != 0)
        topology_parts_finish(p);
    p->refused = code;
    p->more = m->more != 0;
    return code;
}
