/* What pairs of vertices put on the links of a tree, without a walk along any route: what a pair
 * sends is added where it begins, where it ends, and where its route turns from going up to going
 * down. Up from a vertex goes what begins below it less what turns there; down to it goes what ends
 * below it less what turns there. So a pair costs three additions, and each window one pass over
 * the vertices from the lowest on.
 *
 * Sums are integers modulo 2^64: they are those of link_loads_add() for each pair.
 *
 * Memory: 64 bytes a vertex, 8 a pair, 8 a vertex that sends. Pure. */
#ifndef HOLTER_ANALYSIS_NETWORK_TREE_SUMS_H
#define HOLTER_ANALYSIS_NETWORK_TREE_SUMS_H

#include "daemon/analysis/network/congestion.h"

struct tree_sums;

/** Can it be done? Only in a tree, where no routes are given. */
int tree_sums_can(const struct topology *topology);

/** @param topology  one that tree_sums_can(); not needed any more afterwards
 *  @param out  owned by the caller; set on success
 *  @return 0 or -ENOMEM */
int tree_sums_create(struct tree_sums **out, const struct topology *topology);

/** NULL is fine. */
void tree_sums_destroy(struct tree_sums *sums);

/** Make room for so many pairs. @return 0 or -ENOMEM: then the room is as it was, and so are the
 * pairs */
int tree_sums_fit(struct tree_sums *sums, size_t count);

/** The pairs that are added from now on, in place of those before.
 *  @param pairs  of vertices that exist, ascending in their sources @param count  no more than
 * there is room for */
void tree_sums_list(struct tree_sums *sums, const struct congestion_pair *pairs, size_t count);

/** Add what goes from end to end of pairs. They are added in turn: each from the first on, once.
 *  @param more  of as many pairs, from the one behind the last that was added on */
void tree_sums_add(struct tree_sums *sums, const struct link_load *more, size_t count);

/** All pairs were added: what that is by link. Then they may be added anew.
 *  @param values  by link; of links that no route takes nothing is set */
void tree_sums_settle(struct tree_sums *sums, struct link_load *values);

/** Bytes on the heap. */
size_t tree_sums_bytes(const struct tree_sums *sums);

#endif
