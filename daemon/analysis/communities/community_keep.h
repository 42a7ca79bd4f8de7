/* The merges that a dendrogram reuses from the previous one. Used by communities.c. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITY_KEEP_H
#define HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITY_KEEP_H

#include "daemon/analysis/communities/community_tree.h"

/** A graph, its partition, and the tree: its first `within` merges make the partition. */
struct community_past {
    const struct community_graph *graph;
    const struct community_tree *tree;
    const uint32_t *label; /**< of each vertex: equal for those, and only those, of one cluster */
    uint32_t within;
};

/** Vertices that are one from the start. */
struct community_kept {
    uint32_t parts;
    uint32_t *part;  /**< owned; of each vertex */
    uint32_t *group; /**< owned; of each part: the label of its vertices */
    uint32_t *node;  /**< owned; of each part: its node in the new tree */
};

/** Each vertex is a part. @return 0 or -ENOMEM */
int community_keep_nothing(struct community_kept *out, const uint32_t *label, uint32_t vertices);

/** Copy merges of before to a new tree, with the weights of now. A vertex that has moved to another
 *  community is taken out and becomes a part; merges around its new partner, and those whose weight
 *  between the two has fallen below half, are not kept, nor is what contains them.
 *  @param tree     without merges yet
 *  @param graph    of as many vertices as before
 *  @param label    of each vertex now; vertices that have not moved have that of before
 *  @param touched  of each vertex: whether its edges changed or it moved
 *  @return 0, -ENOMEM, or -HOLTER_ELIMIT: starting from scratch is less effort; tree is unchanged
 */
int community_keep(struct community_kept *out, struct community_tree *tree,
                   const struct community_past *past, const struct community_graph *graph,
                   const uint32_t *label, const bool *touched);

void community_kept_finish(struct community_kept *kept);

#endif
