/* The weighted graph that communities are found in: rows of neighbours. Used by communities.c. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITY_GRAPH_H
#define HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITY_GRAPH_H

#include "daemon/analysis/communities/communities.h"

#include <stdbool.h>

/** Zeros are a graph without vertices. */
struct community_graph {
    uint32_t vertices;
    uint32_t *first;  /**< owned; vertex v's row is first[v] to first[v + 1] - 1 */
    uint32_t *to;     /**< owned; neighbours, each once, never the vertex itself */
    double *weight;   /**< owned; of the edges in `to` */
    double *loops;    /**< owned; twice the weight of edges from a vertex to itself */
    double *strength; /**< owned; rows and loops summed up */
    double total;     /**< all strengths: 2m */
};

/** The rows ascend.
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE: a vertex or weight */
int community_graph_build(struct community_graph *out, uint32_t vertices,
                          const struct communities_edge *edges, size_t count);

/** One vertex of each part: weights between parts add up, those within become loops. Rows in any
 *  order.
 *  @param part  of each vertex, below parts; none is empty
 *  @return 0 or -ENOMEM */
int community_graph_contract(struct community_graph *out, const struct community_graph *graph,
                             const uint32_t *part, uint32_t parts);
void community_graph_finish(struct community_graph *graph);

/** Compare graphs of equally many vertices, as they were built.
 *  @param touched  of each vertex: set to whether its row or loops differ
 *  @return the sum of the differences of all weights, each edge twice, as the total has them */
double community_graph_compare(const struct community_graph *before,
                               const struct community_graph *after, bool *touched);

/** Half of what merging two changes Q by, plus 1: the sum rounds off what rounding before it made
 *  of gains that are equal, so that ties are ties. */
static inline double community_gain(double between, double strength_a, double strength_b,
                                    double per_total)
{
    return 1 + (between * per_total - (strength_a * per_total) * (strength_b * per_total));
}

/** Which pair of clusters merges first. */
enum community_by {
    COMMUNITY_BY_GAIN,       /**< what changes Q most: large clusters grow further */
    COMMUNITY_BY_RESOLUTION, /**< what gains up to the finest resolution: clusters grow evenly */
};

/** How good it is to merge two. By resolution: that g up to which w / 2m - g s_a s_b / (2m)^2 is a
 *  gain; rounded, for ties again. */
static inline double community_score(enum community_by by, double between, double strength_a,
                                     double strength_b, double per_total)
{
    if (by == COMMUNITY_BY_GAIN)
        return community_gain(between, strength_a, strength_b, per_total);
    return (float)(between / (strength_a * per_total) / strength_b);
}

#endif
