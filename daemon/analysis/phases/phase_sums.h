/* Adding up segments of phase_graphs.h: each edge has a sum to which tables are added; then the
 * edges that have messages are listed in their order.
 *
 * Memory, while a graph is read: 16 bytes for each edge that has a number, besides the graph.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_SUMS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_SUMS_H

#include "daemon/analysis/phases/phase_burst.h"

struct phase_sum {
    uint64_t messages, bytes;
};

struct phase_sums {
    struct phase_sum *of; /**< owned; by edge number */
    size_t count;         /**< edges with messages */
};

/** @param edges  numbered so far @return 0 or -ENOMEM */
int phase_sums_init(struct phase_sums *sums, uint32_t edges);
void phase_sums_finish(struct phase_sums *sums);

void phase_sums_add(struct phase_sums *sums, const struct phase_rows *table);

/** Lists the edges and their sums in a graph that has no edges yet.
 *  @return 0, or -ENOMEM: the graph has no edges */
int phase_sums_list(const struct phase_sums *sums, struct phase_edge_numbers *numbers,
                    struct phase_graph *out);

#endif
