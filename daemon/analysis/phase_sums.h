/* Adding up segments of phase_graphs.h: edges get places in the order of their keys, each place a sum.
 *
 * Memory: 8 bytes an edge for the order, and 16 for its sum while there are at most 2^18 edges; of more
 * only while a graph is read.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_ANALYSIS_PHASE_SUMS_H
#define HOLTER_ANALYSIS_PHASE_SUMS_H

#include "daemon/analysis/key_table.h"
#include "daemon/analysis/phase_graphs.h"
#include "daemon/analysis/phase_rows.h"

#include <stdbool.h>
#include <string.h>

_Static_assert(offsetof(struct phase_edge, messages) == sizeof(struct key) &&
                   offsetof(struct burst_pair, messages) == sizeof(struct key) &&
                   offsetof(struct burst_pair, destination) ==
                       offsetof(struct phase_edge, destination) &&
                   offsetof(struct burst_pair, size_class) ==
                       offsetof(struct phase_edge, size_class) &&
                   offsetof(struct burst_pair, modelled) == offsetof(struct phase_edge, modelled),
               "pairs and edges begin alike: with who, and what kind");

/** Key of an edge: the words that a pair and an edge begin with, as they lie there. */
static inline struct key phase_edge_key(const struct burst_pair *pair)
{
    struct key key;
    memcpy(&key, pair, sizeof(key));
    return key;
}

struct phase_sum {
    uint64_t messages, bytes;
};

/** Zero-initialised is empty. */
struct phase_sums {
    /* Edges by key, and the place of each in that order: of as many as are ordered. */
    uint32_t *by_key, *place; /**< owned */
    uint32_t ordered;
    struct phase_sum *of; /**< owned; by place; all 0 between reads */
    bool *touched;        /**< owned; of each group of places: may they have sums? */
    size_t room;          /**< places */
    uint64_t rows;        /**< added */
};

void phase_sums_finish(struct phase_sums *sums);

/** Begin to read. Edges that are new since the last time are put in their places.
 *  @return 0 or -ENOMEM */
int phase_sums_begin(struct phase_sums *sums, const struct key_table *edges);

/** Add the rows of a list. */
void phase_sums_add(struct phase_sums *sums, const struct phase_pool *pool,
                    const struct phase_list *list);

/** Append what was added to a graph that has no edges yet, by key; the sums are 0 after that.
 *  @return 0, or -ENOMEM: the graph's edges are as they were */
int phase_sums_end(struct phase_sums *sums, const struct key_table *edges, struct phase_graph *out);

/** Bytes on the heap. */
size_t phase_sums_bytes(const struct phase_sums *sums);

#endif
