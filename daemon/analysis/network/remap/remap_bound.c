/* Lower bounds of what any mapping costs: see remap_bound.h. */
#include "daemon/analysis/network/remap/remap_bound.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SPOTS 2048u /* spots up to which all pairs are examined */

/* Number of seats within each distance of a spot, in steps of half a link; for each distance the
 * maximum over spots. */
struct profile {
    uint32_t halves; /* distances counted */
    uint64_t *within;
    uint64_t *room;
};

static void remap_bound_add_spot(struct profile *p, const struct remap_places *places,
                                 uint32_t spot)
{
    uint64_t sum = 0;
    memset(p->room, 0, p->halves * sizeof(*p->room));
    for (uint32_t s = 0; s < places->spots; s++) {
        const double twice = 2 * remap_distance(places, spot, s);
        const uint32_t at = twice < p->halves ? (uint32_t)twice : p->halves - 1;
        p->room[at] += places->first[s + 1] - places->first[s];
    }
    for (uint32_t h = 0; h < p->halves; h++) {
        sum += p->room[h];
        p->within[h] = sum > p->within[h] ? sum : p->within[h];
    }
}

static uint32_t remap_bound_largest_spot(const struct remap_places *places)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < places->spots; s++)
        if (places->first[s + 1] - places->first[s] > most)
            most = places->first[s + 1] - places->first[s];
    return most;
}

/* Upper limit for regular networks: assumes that every vertex of the network had as many seats as
 * the fullest vertex. The numbers are combined dimension by dimension, around the middle
 * coordinate, which has the most others within every distance. */
static void remap_bound_profile_regular(struct profile *p, const struct remap_places *places)
{
    memset(p->within, 0, p->halves * sizeof(*p->within));
    p->within[0] = remap_bound_largest_spot(places);
    for (uint32_t d = 0; d < places->dimension_count; d++) {
        const struct remap_dimension *dimension = &places->dimensions[d];
        memset(p->room, 0, p->halves * sizeof(*p->room));
        for (uint32_t x = 0; x < dimension->size; x++) {
            const uint32_t apart = 2 * remap_apart(dimension, dimension->size / 2, x);
            for (uint32_t h = 0; h < p->halves; h++)
                p->room[h + apart < p->halves ? h + apart : p->halves - 1] += p->within[h];
        }
        memcpy(p->within, p->room, p->halves * sizeof(*p->room));
    }
    for (uint32_t h = 1; h < p->halves; h++)
        p->within[h] += p->within[h - 1];
}

/* Upper limit where nothing is known except that different spots are apart. */
static void remap_bound_profile_any(struct profile *p, const struct remap_places *places)
{
    for (uint32_t h = 0; h < p->halves; h++)
        p->within[h] = h < 2 ? remap_bound_largest_spot(places) : places->slots;
}

static void remap_bound_fill(struct profile *p, const struct remap_places *places)
{
    const bool cartesian = !places->inter_node && places->dimension_count > 0 &&
                           topology_spec(places->topology)->kind == TOPOLOGY_CARTESIAN;
    if (cartesian &&
        (places->spots == topology_nodes(places->topology) || places->spots > MAX_SPOTS))
        remap_bound_profile_regular(p, places);
    else if (places->spots <= MAX_SPOTS && !places->inter_node)
        for (uint32_t s = 0; s < places->spots; s++)
            remap_bound_add_spot(p, places, s);
    else
        remap_bound_profile_any(p, places);
}

/* Cost of a process whose partners are as near as they can be. */
static double remap_bound_best_cost(const struct remap_graph *graph, uint32_t process,
                                    const struct profile *p)
{
    uint64_t taken = 1; /* its own seat */
    uint32_t h = 0;
    double sum = 0;
    for (uint32_t i = graph->first[process]; i < graph->first[process + 1]; i++, taken++) {
        while (h + 1 < p->halves && p->within[h] <= taken)
            h++;
        sum += graph->partners[i].weight * 0.5 * h;
    }
    return sum;
}

int remap_degree_bound(const struct remap_graph *graph, const struct remap_places *places,
                       double *bound)
{
    /* No partner needs to be farther: either there are more seats within so many links than any
     * process has partners, or the bound is a little lower than it could be. */
    struct profile p = {.halves = 2 * 64 + 1};
    double sum = 0;
    p.within = calloc(p.halves, sizeof(*p.within));
    p.room = calloc(p.halves, sizeof(*p.room));
    if (p.within != NULL && p.room != NULL && places->spots > 0) {
        remap_bound_fill(&p, places);
        for (uint32_t process = 0; process < graph->processes; process++)
            sum += remap_bound_best_cost(graph, process, &p);
    }
    const int rc = p.within != NULL && p.room != NULL ? 0 : -ENOMEM;
    free(p.within);
    free(p.room);
    if (rc == 0)
        *bound = sum / 2;
    return rc;
}

/* ---- links ---------------------------------------------------------------------- */

/* Bytes of a process in one direction to partners that cannot all be on its vertex. The weights
 * count both directions together, so at least half goes one way. */
static double remap_bound_outside_bytes(const struct remap_graph *graph, uint32_t process,
                                        uint32_t room)
{
    double sum = 0;
    for (uint32_t i = graph->first[process] + room - 1; i < graph->first[process + 1]; i++)
        sum += graph->partners[i].weight;
    return sum / 2;
}

double remap_link_bound(const struct remap_graph *graph, const struct remap_places *places,
                        double hop_bytes)
{
    const uint32_t room = remap_bound_largest_spot(places);
    uint32_t ways = 1, links = topology_links(places->topology);
    double bound = links == 0 ? 0 : hop_bytes / links;
    if (topology_spec(places->topology)->kind == TOPOLOGY_GRAPH)
        return bound; /* as many links enter a vertex as leave it */
    for (uint32_t i = 0; i < places->slots; i++) {
        uint32_t ignored;
        const uint32_t out = topology_out(places->topology, places->vertex[i], &ignored, 1);
        ways = out > ways ? out : ways;
    }
    for (uint32_t p = 0; p < graph->processes; p++) {
        const double least = remap_bound_outside_bytes(graph, p, room) / ways;
        bound = least > bound ? least : bound;
    }
    return bound;
}
