/* A number of communities from a dendrogram, also where that is fewer than the graph has parts.
 *
 * Part of commgram.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_CUT_H
#define HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_CUT_H

#include "daemon/analysis/commgram/commgram_cache.h"

#include <stdbool.h>

#define COMMGRAM_ABSENT UINT32_MAX /**< label of a rank that did not communicate */

/** A dendrogram and its ranks. */
struct commgram_tree {
    uint32_t ranks;
    const bool *active;                  /**< by rank: it communicated; only these merge */
    const struct commgram_merge *merges; /**< in order */
    uint32_t merge_count;
};

/** Cuts into a number of communities, or as many as there are active ranks.
 *  @param communities  at least 1
 *  @param labels       of each rank: 0 to count - 1, by lowest rank ascending, or COMMGRAM_ABSENT
 *  @param count        communities; 0 if no rank is active
 *  @return 0 or -ENOMEM */
int commgram_cut(const struct commgram_tree *tree, uint32_t communities, uint32_t *labels,
                 uint32_t *count);

#endif
