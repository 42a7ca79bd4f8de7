/* Routes that were given: they take precedence over the rule of the network. */
#include "daemon/analysis/network/topology_inner.h"

#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

ORDER_FUNCTION(given_compare_ends, struct topology_given,
               2 * ORDER(a->source, b->source) + ORDER(a->destination, b->destination))

/* Order by ends, then as given, so that errors name the same routes on every machine. */
ORDER_FUNCTION(given_compare_routes, struct topology_given,
               2 * given_compare_ends(a, b) + ORDER(a->path, b->path))

/* Check that every vertex exists, is linked to the next one, and is passed once.
 * @param seen  by vertex: number of the last route that passed it */
static int given_check_path(const struct topology *topology, uint32_t number, const uint32_t *path,
                            uint32_t count, uint32_t *seen, const struct refusal *why)
{
    char a[TOPOLOGY_NAME + 1], b[TOPOLOGY_NAME + 1];
    for (uint32_t i = 0; i < count; i++) {
        if (path[i] >= topology->vertices)
            return refusal_set(why, "route %u passes vertex %u, which does not exist", number,
                               path[i]);
        topology_vertex_name(topology, path[i], a, sizeof a);
        if (seen[path[i]] == number)
            return refusal_set(why, "route %u passes %s twice", number, a);
        seen[path[i]] = number;
        if (i == 0 || topology_link_between(topology, path[i - 1], path[i]) != TOPOLOGY_NONE)
            continue;
        topology_vertex_name(topology, path[i - 1], b, sizeof b);
        return refusal_set(why, "route %u has a gap: no link leads from %s to %s", number, b, a);
    }
    return 0;
}

static int given_check_paths(struct topology *topology, const struct refusal *why)
{
    const struct topology_spec *spec = &topology->spec;
    uint32_t *seen = calloc(topology->vertices, sizeof *seen);
    int error = seen ? 0 : -ENOMEM;
    for (uint32_t r = 0; !error && r < spec->route_count; r++) {
        const struct topology_table *route = &spec->routes[r];
        if (route->count == 0 || route->first > spec->path_count ||
            route->count > spec->path_count - route->first) {
            error = refusal_set(why, "route %u is not within the list of vertices", r + 1);
            break;
        }
        const uint32_t *path = spec->path + route->first;
        error = given_check_path(topology, r + 1, path, route->count, seen, why);
        if (error)
            break;
        topology->given[r] =
            (struct topology_given){path[0], path[route->count - 1], path, route->count};
        if (route->count - 1 > topology->diameter)
            topology->diameter = route->count - 1;
    }
    free(seen);
    return error;
}

/* A route may be given twice, but not differently. */
static int given_drop_repeated(struct topology *topology, const struct refusal *why)
{
    uint32_t kept = 1;
    for (uint32_t i = 1; i < topology->given_count; i++) {
        const struct topology_given *route = &topology->given[i],
                                    *last = &topology->given[kept - 1];
        if (given_compare_ends(last, route) != 0) {
            topology->given[kept++] = *route;
            continue;
        }
        if (last->count == route->count &&
            memcmp(last->path, route->path, route->count * sizeof *route->path) == 0)
            continue;
        char a[TOPOLOGY_NAME + 1], b[TOPOLOGY_NAME + 1];
        topology_vertex_name(topology, route->source, a, sizeof a);
        topology_vertex_name(topology, route->destination, b, sizeof b);
        return refusal_set(why, "two different routes are given from %s to %s", a, b);
    }
    topology->given_count = kept;
    return 0;
}

int topology_given_make(struct topology *topology, const struct refusal *why)
{
    uint32_t count = topology->spec.route_count;
    if (count == 0)
        return 0;
    topology->given = calloc(count, sizeof *topology->given);
    if (!topology->given)
        return -ENOMEM;
    int error = given_check_paths(topology, why);
    if (error)
        return error;
    topology->given_count = count;
    qsort(topology->given, count, sizeof *topology->given, given_compare_routes);
    return given_drop_repeated(topology, why);
}

const struct topology_given *topology_given_find(const struct topology *topology, uint32_t source,
                                                 uint32_t destination)
{
    const struct topology_given key = {.source = source, .destination = destination};
    return topology->given_count == 0 ? NULL
                                      : bsearch(&key, topology->given, topology->given_count,
                                                sizeof(key), given_compare_ends);
}

uint32_t topology_given_route(const struct topology *topology, const struct topology_given *given,
                              uint32_t *links, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < given->count; i++)
        topology_put(links, capacity, &count,
                     topology->rules->between(topology, given->path[i], given->path[i + 1]));
    return count;
}
