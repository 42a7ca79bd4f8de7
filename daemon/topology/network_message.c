/* Encodes a network as messages of topic topology, in parts of bounded size, and puts it together
 * from them. */
#include "daemon/topology/network_message.h"

#include "daemon/analysis/tables/array.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum list { VERTICES, EDGES, HOPS, SEATS, LISTS };

/* All rows of a network as one sequence: its lists one after the other. */
struct rows {
    const struct network_publication *telling;
    struct wire_dimension_row dimensions[TOPOLOGY_DIMENSIONS];
    struct wire_vertex_row *vertices; /* owned arrays, each with the capacity of one part */
    struct wire_edge_row *edges;
    struct wire_hop_row *hops;
    size_t count[LISTS];
    uint32_t route, at; /* next hop: index of its route, and of its vertex in the route */
};

/* Of a given route each row repeats the source. */
static size_t network_message_count_hops(const struct topology_spec *spec)
{
    size_t hops = 0;
    for (uint32_t i = 0; i < spec->route_count; i++)
        hops += spec->routes[i].count > 0 ? spec->routes[i].count - 1 : 0;
    return hops;
}

static int network_message_prepare(struct rows *r, const struct network_publication *telling)
{
    const struct topology_spec *spec = telling->spec;
    r->telling = telling;
    r->at = 1;
    r->count[SEATS] = telling->seat_count;
    if (spec == NULL)
        return 0;
    r->count[VERTICES] = spec->vertex_count;
    r->count[EDGES] = spec->edge_count;
    r->count[HOPS] = network_message_count_hops(spec);
    for (uint32_t d = 0; d < spec->dimension_count; d++) {
        const struct topology_dimension *from = &spec->dimensions[d];
        r->dimensions[d] = (struct wire_dimension_row){from->name, from->size, from->connection,
                                                       from->step, from->up};
    }
    r->vertices = malloc(WIRE_PART_ROWS * sizeof(*r->vertices));
    r->edges = malloc(WIRE_PART_ROWS * sizeof(*r->edges));
    r->hops = malloc(WIRE_PART_ROWS * sizeof(*r->hops));
    return r->vertices == NULL || r->edges == NULL || r->hops == NULL ? -1 : 0;
}

static void network_message_fill_hops(struct rows *r, size_t count)
{
    const struct topology_spec *spec = r->telling->spec;
    for (size_t i = 0; i < count;) {
        const struct topology_table *t = &spec->routes[r->route];
        if (r->at >= t->count) {
            r->route++;
            r->at = 1;
            continue;
        }
        const uint32_t *path = spec->path + t->first;
        r->hops[i++] = (struct wire_hop_row){path[0], path[t->count - 1], path[r->at++]};
    }
}

/* Copy rows from, from + 1, ... of a list into the part. */
static void network_message_fill(struct rows *r, enum list list, size_t from, size_t count,
                                 struct wire_topology *part)
{
    const struct topology_spec *spec = r->telling->spec;
    if (list == VERTICES) {
        for (size_t i = 0; i < count; i++)
            r->vertices[i] = (struct wire_vertex_row){spec->vertices[from + i].name,
                                                      spec->vertices[from + i].kind};
        part->vertices = r->vertices;
        part->vertices_count = count;
    } else if (list == EDGES) {
        for (size_t i = 0; i < count; i++) {
            const struct topology_edge *e = &spec->edges[from + i];
            r->edges[i] = (struct wire_edge_row){e->from, e->to, e->capacity, e->interface};
        }
        part->edges = r->edges;
        part->edges_count = count;
    } else if (list == HOPS) {
        network_message_fill_hops(r, count);
        part->hops = r->hops;
        part->hops_count = count;
    } else {
        part->seats = r->telling->seats + from;
        part->seats_count = count;
    }
}

static void network_message_send_parts(struct rows *r, network_tell *tell, void *user)
{
    const struct network_publication *t = r->telling;
    const struct topology_spec *spec = t->spec;
    struct wire_topology head = {.job = t->job,
                                 .name = spec == NULL ? "" : spec->name,
                                 .source = t->source,
                                 .fault = t->fault,
                                 .kind = spec == NULL ? 0 : (uint64_t)spec->kind,
                                 .tie = spec == NULL ? 0 : (uint64_t)spec->tie,
                                 .capacity = spec == NULL ? 0 : spec->capacity,
                                 .dimensions = r->dimensions,
                                 .dimensions_count = spec == NULL ? 0 : spec->dimension_count};
    size_t done[LISTS] = {0};
    int list = 0;
    do {
        struct wire_topology part = head;
        size_t room = WIRE_PART_ROWS;
        for (; list < LISTS; list++) {
            size_t left = r->count[list] - done[list], count = left < room ? left : room;
            if (count > 0)
                network_message_fill(r, (enum list)list, done[list], count, &part);
            done[list] += count;
            room -= count;
            if (done[list] < r->count[list])
                break;
        }
        part.more = list < LISTS;
        tell(user, &part);
        head.dimensions_count = 0; /* only the first part has the members that are not lists */
    } while (list < LISTS);
}

void network_message(const struct network_publication *telling, network_tell *tell, void *user)
{
    struct rows rows = {.route = 0};
    if (network_message_prepare(&rows, telling) == 0)
        network_message_send_parts(&rows, tell, user);
    free(rows.vertices);
    free(rows.edges);
    free(rows.hops);
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
    if (ARRAY_FIT(p->spec.vertices, p->vertex_room, need) != 0)
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
    if (ARRAY_FIT(p->spec.edges, p->edge_room, need) != 0)
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
    if (ARRAY_FIT(s->routes, p->route_room, s->route_count + m->hops_count) != 0 ||
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
    if (ARRAY_FIT(p->seats, p->seat_room, p->seat_count + m->seats_count) != 0)
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
