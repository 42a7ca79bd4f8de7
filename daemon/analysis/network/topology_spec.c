/* Descriptions of networks: copies, and the default order of dimensions. */
#include "daemon/analysis/network/topology_inner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void topology_spec_finish(struct topology_spec *spec)
{
    free(spec->vertices);
    free(spec->edges);
    free(spec->routes);
    free(spec->path);
    memset(spec, 0, sizeof *spec);
}

/* @return a copy, owned by the caller; NULL: it is empty, or there is no memory (-ENOMEM) */
static void *spec_copy_array(const void *from, uint32_t count, size_t size, int *error)
{
    void *copy = count == 0 ? NULL : malloc(count * size);
    if (copy)
        memcpy(copy, from, count * size);
    else if (count != 0)
        *error = -ENOMEM;
    return copy;
}

int topology_spec_copy(struct topology_spec *out, const struct topology_spec *spec)
{
    int error = 0;
    *out = *spec;
    out->vertices =
        spec_copy_array(spec->vertices, spec->vertex_count, sizeof *spec->vertices, &error);
    out->edges = spec_copy_array(spec->edges, spec->edge_count, sizeof *spec->edges, &error);
    out->routes = spec_copy_array(spec->routes, spec->route_count, sizeof *spec->routes, &error);
    out->path = spec_copy_array(spec->path, spec->path_count, sizeof *spec->path, &error);
    if (error)
        topology_spec_finish(out);
    return error;
}

/* Does a route correct dimension a before b by default? */
static int spec_is_before(const struct topology_spec *spec, uint32_t a, uint32_t b)
{
    const struct topology_dimension *first = &spec->dimensions[a], *second = &spec->dimensions[b];
    int tier_a = first->connection == TOPOLOGY_ALL, tier_b = second->connection == TOPOLOGY_ALL;
    if (tier_a != tier_b)
        return tier_a;
    if (tier_a)
        return a > b;
    if (first->size != second->size)
        return first->size > second->size;
    return a < b;
}

/* Orders of recorded routes that differ from the order by lengths of dimensions. Partitions of
 * Blue Gene/Q below 512 nodes are parts of a larger one, and equal dimensions have no natural
 * order. Cray XC: cpu, slot, cage, row, column. */
static const struct known_order {
    enum topology_connection connection;
    uint32_t size[5]; /* 0: any */
    char order[6];
} known_orders[] = {
    {TOPOLOGY_TORUS, {2, 2, 2, 2, 2}, "DCBAE"},  {TOPOLOGY_TORUS, {2, 2, 4, 2, 2}, "DBACE"},
    {TOPOLOGY_TORUS, {2, 2, 4, 4, 2}, "BACDE"},  {TOPOLOGY_TORUS, {4, 2, 4, 4, 2}, "BACDE"},
    {TOPOLOGY_TORUS, {4, 4, 4, 16, 2}, "DBACE"}, {TOPOLOGY_ALL, {0, 0, 0, 0, 0}, "EDCAB"},
};

static const struct known_order *spec_recorded_order(const struct topology_spec *spec)
{
    if (spec->dimension_count != 5)
        return NULL;
    for (size_t k = 0; k < sizeof known_orders / sizeof *known_orders; k++) {
        const struct known_order *known = &known_orders[k];
        uint32_t same = 0;
        while (same < 5 && spec->dimensions[same].connection == known->connection &&
               (known->size[same] == 0 || spec->dimensions[same].size == known->size[same]))
            same++;
        if (same == 5)
            return known;
    }
    return NULL;
}

void topology_spec_order(struct topology_spec *spec)
{
    uint32_t count = spec->dimension_count;
    const struct known_order *known = spec_recorded_order(spec);
    for (uint32_t step = 0; known && step < count; step++)
        spec->dimensions[known->order[step] - 'A'].step = step;
    if (known)
        return;
    for (uint32_t d = 0; d < count && d < TOPOLOGY_DIMENSIONS; d++) {
        spec->dimensions[d].step = 0;
        for (uint32_t other = 0; other < count && other < TOPOLOGY_DIMENSIONS; other++)
            if (other != d && spec_is_before(spec, other, d))
                spec->dimensions[d].step++;
    }
}
