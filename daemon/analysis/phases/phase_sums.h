/* Adding up segments of phase_graphs.h: each edge has a sum, which lists are added to; then those
 * that have messages are listed in the order of their keys, or become one list.
 *
 * A job that repeats itself has the same sums phase after phase. So the sums of the graphs that
 * were made last are kept: what is the same has that graph again, and its edges are not put in
 * order once more. Where most of its rows lie in the same blocks (phase_store.h), as the numbers of
 * these say, it is enough that the other blocks of both have the same rows, or add up to the same.
 *
 * Memory: 8 bytes an edge for the order; and while there are at most 2^18 edges 49 for sums and 64
 * for the edges of what is kept, and for three times the blocks of rows that are read what
 * phase_marks.h says. Of more edges, sums are there while a graph is read.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_SUMS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_SUMS_H

#include "daemon/analysis/phases/phase_edges.h"
#include "daemon/analysis/phases/phase_marks.h"
#include "daemon/analysis/phases/phase_rows.h"
#include "daemon/analysis/tables/key_table.h"

#include <stdbool.h>

struct phase_sum {
    uint64_t messages, bytes;
};

/** Sums by edge. Zero-initialised is empty. */
struct phase_tally {
    struct phase_sum *of; /**< owned; without messages where an edge has not come */
    bool *touched;        /**< owned; of each group of edges: may they have sums? */
    size_t room;          /**< edges */
};

#define PHASE_SUMS_KEPT 2u /**< so that a job may have two phases in turn */

/** Zero-initialised is empty. */
struct phase_sums {
    /* Edges by key, and the place of each in that order: of as many as are ordered. */
    uint32_t *by_key, *place; /**< owned */
    uint32_t ordered;
    struct phase_tally now;           /**< no sums between reads */
    struct phase_marks marks;         /**< none between reads */
    struct phase_stretches stretches; /**< room */
    struct phase_kept {
        struct phase_tally tally;
        struct phase_marks marks; /**< of none: they are not known */
        struct phase_graph
            graph; /**< edges and their sums, of this tally; without edges: none is kept */
    } kept[PHASE_SUMS_KEPT]; /**< the latest first */
};

void phase_sums_finish(struct phase_sums *sums);

/** Note the rows of a list that is to be added: first all of them are, then either their sums are
 * recalled or they are added. */
void phase_sums_mark(struct phase_sums *sums, const struct phase_pool *pool,
                     const struct phase_list *list);

/** Put the sums of what was noted into a graph that has no edges yet, if it can be told from the
 * blocks that they are those of a kept graph. @return whether it can: else the lists are to be
 * added */
bool phase_sums_recall(struct phase_sums *sums, const struct key_table *edges,
                       const struct phase_pool *pool, struct phase_graph *out);

/** Begin to add up. @return 0 or -ENOMEM */
int phase_sums_begin(struct phase_sums *sums, const struct key_table *edges);

/** Add the rows of a list. */
void phase_sums_add(struct phase_sums *sums, const struct phase_pool *pool,
                    const struct phase_list *list);

/** Add one list to another: they become one run, and `from` is empty. PHASE_MERGE_BLOCKS were
 * reserved. */
void phase_sums_merge(struct phase_sums *sums, const struct key_table *edges,
                      struct phase_pool *pool, struct phase_list *to, struct phase_list *from,
                      struct phase_excess *excess);

/** Put what was added into a graph that has no edges yet, by key; there are no sums after that.
 *  @return 0, or -ENOMEM: the graph's edges are as they were */
int phase_sums_end(struct phase_sums *sums, const struct key_table *edges, struct phase_graph *out);

/** Bytes on the heap. */
size_t phase_sums_bytes(const struct phase_sums *sums);

#endif
