/* Where processes may be placed, for the search of better mappings: the seats in use and their
 * distances.
 *
 * A *slot* is one seat; slots of one *spot* are equally good: those of one vertex or, for the
 * inter-node objective, of one node. Distance is the length of the routes, as the mean of both
 * directions; for inter-node it is 0 or 1. In Cartesian networks and in trees of equal levels
 * distance is a sum over dimensions; else it is stored in a table or computed when needed. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_PLACES_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_PLACES_H

#include "daemon/analysis/network/remap/remap.h"
#include "daemon/analysis/tables/arena.h"

/** Costs are stored in tables if the sizes of the dimensions add up to no more. */
#define REMAP_MAX_WIDTH 160u
#define REMAP_MAX_SIZE 256u /**< maximum size of one of these dimensions */
#define REMAP_MOST_NEAR 40u

struct remap_dimension {
    enum topology_connection connection;
    uint32_t size;
    uint32_t offset;    /**< sum of the sizes before */
    uint32_t scale;     /**< links for each step */
    const double *step; /**< size x size distances; NULL: too wide */
};

struct remap_places {
    const struct topology *topology;
    bool inter_node;
    uint32_t slots, spots;
    struct arena memory; /**< of all arrays */
    uint32_t *vertex;    /**< of each slot */
    uint32_t *spot;      /**< of each slot */
    uint32_t *first;     /**< slot of each spot; spots + 1 */

    struct remap_dimension dimensions[TOPOLOGY_DIMENSIONS];
    uint32_t dimension_count; /**< 0: distance is no sum over dimensions */
    uint32_t width;           /**< sum of their sizes */
    uint32_t *coordinates;    /**< spots x dimensions */
    double *steps;            /**< what dimensions[].step points into */
    uint16_t *table;          /**< spots x spots, both directions together; NULL: none */

    uint32_t *near_first; /**< of each spot in `near`; spots + 1 */
    uint32_t *near; /**< spots one link away, or the nearest; itself if it has several slots */
};

/** @param slots  set: slot of each process in the given mapping; capacity for all processes
 * @return 0, -ENOMEM or -HOLTER_EUSAGE: there is no route between seats. Call finish in these cases
 * too */
int remap_places_init(struct remap_places *places, const struct remap_problem *problem,
                      bool inter_node, uint32_t *slots);
void remap_places_finish(struct remap_places *places);

/** Distance of two spots that is not a sum over dimensions. */
double remap_places_ask(const struct remap_places *places, uint32_t a, uint32_t b);

/** Coordinates of a spot, one a dimension. */
static inline const uint32_t *remap_at(const struct remap_places *places, uint32_t spot)
{
    return places->coordinates + (size_t)spot * places->dimension_count;
}

static inline uint32_t remap_apart(const struct remap_dimension *d, uint32_t a, uint32_t b)
{
    uint32_t apart = a > b ? a - b : b - a;
    if (d->connection == TOPOLOGY_ALL)
        apart = apart > 0;
    else if (d->connection == TOPOLOGY_TORUS && apart > d->size - apart)
        apart = d->size - apart;
    return apart * d->scale;
}

static inline double remap_distance(const struct remap_places *places, uint32_t a, uint32_t b)
{
    if (places->dimension_count == 0)
        return remap_places_ask(places, a, b);
    const uint32_t *one = remap_at(places, a), *other = remap_at(places, b);
    uint32_t sum = 0;
    for (uint32_t d = 0; d < places->dimension_count; d++)
        sum += remap_apart(&places->dimensions[d], one[d], other[d]);
    return sum;
}

#endif
