/* Average-linkage clustering (PCLVis, section 4.2.1) of vertices by their process correlation.
 *
 * The pair of clusters with the largest mean correlation merges, until one is left. Of pairs that
 * are equal the one that makes the smaller cluster comes first, then the one with the lowest
 * vertex, then the one whose other cluster has the lowest vertex: regular patterns of communication
 * are full of ties, and so clusters grow evenly and stay compact. A later pair never comes before
 * an earlier one in this order, so reciprocal nearest neighbours may merge at once
 * (nearest-neighbour chain, Benzecri 1982; Murtagh 1983), and the result is that of merging one
 * pair after the other. Sums of correlations are integers: no result depends on the order of
 * adding.
 *
 * Pairs that were together before can be given an advantage, so that clusters stay what they are
 * until another order is clearly better.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_REGIONS_LINKAGE_H
#define HOLTER_DAEMON_ANALYSIS_REGIONS_LINKAGE_H

#include "daemon/analysis/regions/correlation.h"

#include <stdint.h>

/** Two clusters that merged. A cluster is named by its lowest vertex. */
struct linkage_merge {
    uint32_t a, b;     /**< a below b; the new cluster is named a */
    uint32_t vertices; /**< of the new cluster */
    double height;     /**< mean correlation between the two, advantages included */
};

/** What earlier clusters mean to this clustering. */
struct linkage_history {
    const uint32_t *group; /**< borrowed; of each vertex below `vertices`; 0: none */
    uint32_t vertices;
    uint32_t quarters; /**< R of pairs of one group counts 1 + quarters/4 fold; at most 16 */
};

struct linkage;

/** Create the memory of clusterings, one after the other. @return 0 or -ENOMEM */
int linkage_create(struct linkage **out);
void linkage_destroy(struct linkage *linkage);

/** Cluster one connected component.
 *  @param members  its vertices, each once, in any order; count of them at least 1
 *  @param merges   capacity for count - 1; set in an order in which each merge comes after those
 *                  that made its clusters, but otherwise any: see linkage_compare()
 *  @return 0 or -ENOMEM */
int linkage_run(struct linkage *linkage, const struct correlation *correlation,
                const struct linkage_history *history, const uint32_t *members, uint32_t count,
                struct linkage_merge *merges);

/** Compare merges, for qsort(): in the order in which they would happen one after the other. */
int linkage_compare(const void *a, const void *b);

#endif
