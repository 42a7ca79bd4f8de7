/* Loads of links from pairs of vertices: see link_loads.h. */
#include "daemon/analysis/network/link_loads.h"
#include "holter/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct link_loads {
    const struct topology *topology; /* borrowed */
    uint32_t vertex_count, link_count;
    struct link_load *values; /* owned */
    uint32_t *route;          /* owned; capacity for the longest route */
    uint32_t capacity;
};

int link_loads_create(struct link_loads **out, const struct topology *topology)
{
    struct link_loads *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return -ENOMEM;
    *l = (struct link_loads){.topology = topology,
                             .vertex_count = topology_vertices(topology),
                             .link_count = topology_links(topology),
                             .capacity = topology_diameter(topology)};
    l->values = calloc((size_t)l->link_count + 1, sizeof(*l->values));
    l->route = malloc(((size_t)l->capacity + 1) * sizeof(*l->route));
    if (l->values == NULL || l->route == NULL) {
        link_loads_destroy(l);
        return -ENOMEM;
    }
    *out = l;
    return 0;
}

void link_loads_destroy(struct link_loads *l)
{
    if (l == NULL)
        return;
    free(l->values);
    free(l->route);
    free(l);
}

int link_loads_add(struct link_loads *l, const struct load_change *change)
{
    const uint32_t source = change->source, destination = change->destination;
    const uint64_t bytes = (uint64_t)change->bytes, messages = (uint64_t)change->messages;
    if (source >= l->vertex_count || destination >= l->vertex_count)
        return -HOLTER_ERANGE;
    if (source == destination)
        return 0;
    uint32_t length = topology_route(l->topology, source, destination, l->route, l->capacity);
    if (length == TOPOLOGY_NONE || length > l->capacity)
        return -HOLTER_EUNREACHABLE;
    for (uint32_t i = 0; i < length; i++) {
        l->values[l->route[i]].bytes += bytes;
        l->values[l->route[i]].messages += messages;
    }
    return 0;
}

void link_loads_clear(struct link_loads *l)
{
    memset(l->values, 0, l->link_count * sizeof(*l->values));
}

const struct link_load *link_loads_values(const struct link_loads *l)
{
    return l->values;
}

void link_loads_copy_state(struct state_bytes *b, struct link_loads **out,
                           const struct topology *topology)
{
    if (!STATE_OBJECT(b, *out))
        return;
    struct link_loads *l = *out;
    l->topology = topology;
    if (b->code == 0 && (topology == NULL || l->link_count != topology_links(topology) ||
                         l->vertex_count != topology_vertices(topology)))
        b->code = -HOLTER_EVERSION;
    STATE_ARRAY(b, l->values, l->link_count, (size_t)l->link_count + 1);
    STATE_ARRAY(b, l->route, 0, (size_t)l->capacity + 1);
}
