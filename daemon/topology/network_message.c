/* Encodes a network as messages of topic topology, in parts of bounded size. */
#include "daemon/topology/network_message.h"

#include "proto/wire_table.h"

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
