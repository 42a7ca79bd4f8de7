/* Partitions of great modularity by moving vertices between communities. Used by communities.c. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITY_MOVING_H
#define HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITY_MOVING_H

#include "daemon/analysis/communities/community_graph.h"

/** Move vertices, and those that their moves push, to the community where modularity gains most,
 *  until none gains: the fast local moving of Leiden. Of equal communities the lowest label; a
 *  vertex that gains nothing stays.
 *  @param label  of each vertex, below vertices: changed
 *  @param begin  of each vertex: whether it is looked at without being pushed; NULL: all are
 *  @return 0 or -ENOMEM */
int community_move(const struct community_graph *graph, uint32_t *label, const bool *begin);

/** Local moving at all levels: move, refine, contract, and again with what was contracted. Labels
 *  are numbered as by community_number().
 *  @param label  of each vertex, below vertices: what to begin with; changed
 *  @return communities, or -ENOMEM */
int64_t community_optimise(const struct community_graph *graph, uint32_t *label);

/** Q. @param label  below vertices. @return Q, or NaN without memory */
double community_quality(const struct community_graph *graph, const uint32_t *label);

#endif
