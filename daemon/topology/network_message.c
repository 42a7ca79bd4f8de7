/* Encodes a network as messages of topic topology, in parts of bounded size. */
#include "daemon/topology/network_message.h"

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
