/* Edges of graphs: arrays with counted references. */
#include "daemon/analysis/phases/phase_edges.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct phase_edges {
    atomic_uint owners; /* atomic: the thread that searches for communities also creates and
                           releases graphs */
    size_t capacity;
    struct phase_edge edges[];
};

static void phase_edges_release(struct phase_edges *edges)
{
    if (edges != NULL && atomic_fetch_sub(&edges->owners, 1) == 1)
        free(edges);
}

struct phase_edge *phase_graph_capacity(struct phase_graph *graph, size_t edges)
{
    struct phase_edges *old = graph->owned, *capacity = old;
    if (old == NULL || edges > old->capacity || old->capacity - edges > old->capacity / 4 ||
        atomic_load(&old->owners) > 1) { /* shrink in place only when nobody else uses the array */
        capacity = malloc(sizeof(*capacity) + edges * sizeof(capacity->edges[0]));
        if (capacity == NULL)
            return NULL;
        atomic_init(&capacity->owners, 1);
        capacity->capacity = edges;
        phase_edges_release(old);
    }
    graph->owned = capacity;
    graph->edges = capacity->edges;
    return capacity->edges;
}

int phase_graph_share(struct phase_graph *to, const struct phase_graph *from)
{
    struct phase_graph shared = *from;
    if (from->owned != NULL) {
        atomic_fetch_add(&from->owned->owners, 1);
    } else if (from->count > 0) {
        struct phase_edge *edges = phase_graph_capacity(&shared, from->count);
        if (edges == NULL)
            return -ENOMEM;
        memcpy(edges, from->edges, from->count * sizeof(*edges));
    }
    phase_edges_release(to->owned);
    *to = shared;
    return 0;
}

bool phase_graph_is_same(const struct phase_graph *one, const struct phase_graph *other)
{
    if (one->count != other->count)
        return false;
    return one->count == 0 || one->edges == other->edges ||
           memcmp(one->edges, other->edges, one->count * sizeof(*one->edges)) == 0;
}

void phase_graph_finish(struct phase_graph *graph)
{
    phase_edges_release(graph->owned);
    *graph = (struct phase_graph){0};
}

size_t phase_graph_bytes(const struct phase_graph *graph)
{
    return graph->owned == NULL
               ? 0
               : sizeof(*graph->owned) + graph->owned->capacity * sizeof(struct phase_edge);
}
