/* The graph of one phase and its dendrogram, from the cache if the cache has it.
 * Part of commgram.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_GRAPH_H
#define HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_GRAPH_H

#include "daemon/analysis/commgram/commgram.h"
#include "daemon/analysis/commgram/commgram_cut.h"
#include "daemon/analysis/communities/communities.h"

struct commgram_graph {
    uint32_t ranks;
    bool modelled;                   /* include edges that stand for collectives */
    struct commgram_cache *cache;    /* borrowed; may be NULL */
    struct communities *communities; /* owned */
    bool *active;                    /* owned; of each rank */
    uint32_t active_count;
    struct communities_edge *edges; /* owned; between two ranks */
    size_t count, capacity;
    uint64_t messages;             /* of these */
    struct commgram_merge *merges; /* owned; the dendrogram */
    uint32_t merge_count;
    uint32_t best;     /* merges up to the greatest modularity */
    double modularity; /* the greatest */
    uint32_t cached;   /* phases found in the cache */
};

/** @return 0, -ENOMEM or -HOLTER_ERANGE: ranks */
int commgram_graph_init(struct commgram_graph *graph, const struct commgram_params *params);
void commgram_graph_finish(struct commgram_graph *graph);

/** Whether an edge has messages between ranks of the job. */
static inline bool commgram_graph_has(const struct commgram_graph *graph,
                                      const struct phase_edge *e)
{
    return e->messages > 0 && e->source < graph->ranks && e->destination < graph->ranks;
}

/** Communities of a graph. */
struct commgram_parts {
    uint32_t *labels; /**< owned by the caller; of each rank, or COMMGRAM_ABSENT */
    uint32_t count;
    double modularity; /**< 0 of one community, and without edges */
};

/** Reads the edges of a phase and finds its communities: those of the greatest modularity; all
 *  ranks are one where that is below communities_floor().
 *  @param out  its labels have room for all ranks
 *  @return 0, -ENOMEM or -HOLTER_ELIMIT: too many edges */
int commgram_graph_read(struct commgram_graph *graph, const struct phase_edge *edges, size_t count,
                        struct commgram_parts *out);

/** Cuts the graph that was read last into a number of communities. If it is one community, it is
 *  not divided, but for as many as there are ranks.
 *  @param found   what was found in it
 *  @param labels  of each rank, or COMMGRAM_ABSENT
 *  @return 0 or -ENOMEM */
int commgram_graph_cut(const struct commgram_graph *graph, const struct commgram_parts *found,
                       uint32_t communities, uint32_t *labels, uint32_t *label_count);

#endif
