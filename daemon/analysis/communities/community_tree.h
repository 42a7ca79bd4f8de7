/* The tree of merges that a dendrogram is. Used by communities.c. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITY_TREE_H
#define HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITY_TREE_H

#include "daemon/analysis/communities/community_graph.h"

/** Nodes are vertices, and from `leaves` on merges: merge i made node leaves + i. */
struct community_join {
    uint32_t left, right; /**< nodes; left has the lower lowest vertex */
    double between;       /**< weight of the edges between them */
    double left_strength, right_strength;
};

struct community_tree {
    uint32_t leaves;
    uint32_t count;              /**< merges; fewer than leaves */
    struct community_join *join; /**< owned; room for as many as leaves */
    uint32_t *low;               /**< owned; of each node: its lowest vertex */
    double per_total;            /**< 1 / 2m; 0 without edges */
};

/** @return 0 or -ENOMEM */
int community_tree_init(struct community_tree *tree, const struct community_graph *graph);
void community_tree_finish(struct community_tree *tree);

/** Add a merge. @return its node */
uint32_t community_tree_join(struct community_tree *tree, const struct community_join *join);

/** Merge vertices of a graph until none is left that shares an edge, as communities.h says.
 *  @param by     which pair is best
 *  @param group  of each vertex: only vertices of the same one merge; NULL: all
 *  @param node   of each vertex: its node in the tree; afterwards, that of its cluster
 *  @return 0 or -ENOMEM */
int community_tree_grow(struct community_tree *tree, const struct community_graph *graph,
                        enum community_by by, const uint32_t *group, uint32_t *node);

/** Bring merges in order of their scores, but none before those that made its clusters. Nodes are
 *  renumbered; of equals the one that was earlier stays so.
 *  @param within  the first so many, by resolution, stay before the rest, which is by gain
 *  @return 0 or -ENOMEM */
int community_tree_order(struct community_tree *tree, uint32_t within);

#endif
