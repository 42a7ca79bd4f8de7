/* Communities of ranks that communicate more with each other than with the rest (CommGram, section
 * G): a dendrogram of the weighted graph of one phase, and labels that stay put from phase to
 * phase.
 *
 * Modularity (Newman, Girvan 2004) of a partition is
 *     Q = sum over communities c of (w_c / 2m - (s_c / 2m)^2),
 * with s_v the strength of a vertex (the sum of its edges' weights), s_c the sum of strengths in c,
 * w_c twice the weight of edges within c and 2m the sum of all strengths. An edge from a vertex to
 * itself counts as any other edge: twice in the strength, and within each community that has the
 * vertex; for traffic between ranks only, the caller leaves such edges out. Q of a graph without
 * edges is 0 here.
 *
 * A partition of great modularity is sought first: what agglomeration (Clauset, Newman, Moore 2004)
 * gives, which merges the pair of connected clusters that changes Q most for the better, is
 * improved by local moving, refinement and contraction until that gains little (Leiden: Traag,
 * Waltman, van Eck 2019, without its randomness). The same is done from single vertices, and the
 * better of both is kept. So modularity is never below that of this agglomeration. Compared with
 * Leiden as igraph has it, it was between 2 % below and 3 % above on patterns and recordings, and
 * once 5 % below, in a recording in which some 30 ranks communicate.
 *
 * The dendrogram is nested, passes through that partition, and ends at the connected components.
 * - Up to the partition, clusters merge only within its communities: first the pair that gains up
 *   to the finest resolution, 2m w_ab / (s_a s_b). Merging by the change of Q instead lets clusters
 *   grow that are ahead already (Wakita, Tsurumi 2007): levels would have a quad beside single
 *   ranks where binary swap has pairs.
 * - Beyond it, communities merge by the change of Q, that is by the least loss.
 * Of equal pairs the one with the lowest rank comes first, then the one whose other cluster has the
 * lowest rank. The level of greatest modularity is the partition, or another that is better still.
 *
 * A graph that differs little from the one before starts from the partition before (warm):
 * vertices with changed edges are moved, and those that they push. So ranks stay in their
 * communities: of a halo exchange, 1 % of whose edges change each time, 4 % of the ranks move to
 * another in place of 40 %. An equal graph keeps its result, and so does one whose weights are all
 * the same multiple of those before. What warm starts miss
 * does not accumulate: when the weights that changed since the last cold start add up to
 * params.restart of all, the start is cold. With 1 % of the edges changed each time, modularity is
 * within 1 % of a cold start's for the patterns in the tests, and in the mean for the recordings.
 * Where many partitions are about as good (random graphs, few ranks with many partners) cold starts
 * scatter themselves: single updates were up to 2 % below theirs, 5 % in that recording.
 *
 * Effort grows with edges times levels of the dendrogram. Where merging takes more than a bound
 * (hubs with thousands of partners), the rest of it goes in rounds in which each cluster merges
 * with its best partner: the partition found by moving is the same, levels around it are coarser
 * guesses.
 *
 * Results do not depend on the order of edges as long as sums of weights are exact, such as of
 * whole numbers below 2^53. Memory: about 110 bytes a vertex and 40 an edge, and while updating up
 * to 500 more a vertex and 200 more an edge.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITIES_H
#define HOLTER_DAEMON_ANALYSIS_COMMUNITIES_COMMUNITIES_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stddef.h>
#include <stdint.h>

#define COMMUNITIES_MAXIMUM_VERTICES (1u << 24)
#define COMMUNITIES_MAXIMUM_EDGES (1u << 28)
#define COMMUNITIES_MINIMUM_WEIGHT 1e-100
#define COMMUNITIES_MAXIMUM_WEIGHT 1e100
#define COMMUNITIES_FLOOR 0.05      /**< see communities_floor() */
#define COMMUNITIES_NONE UINT32_MAX /**< label of a rank that has none */

struct communities_params {
    uint32_t most_vertices; /**< at most COMMUNITIES_MAXIMUM_VERTICES */
    uint32_t most_edges; /**< as passed, duplicates included; at most COMMUNITIES_MAXIMUM_EDGES */
    double restart;      /**< share of the weight that may change before a start is cold again;
                              0 (always cold) to 1 */
};

#define COMMUNITIES_DEFAULTS                                                                       \
    ((struct communities_params){.most_vertices = 1u << 16, .most_edges = 1u << 22, .restart = 0.2})

/** Undirected. Weights of edges with the same ends, in either direction, add up. */
struct communities_edge {
    uint32_t a, b;
    double weight; /**< messages or bytes, for example; COMMUNITIES_MINIMUM_WEIGHT to
                      _MAXIMUM_WEIGHT */
};

/** Two clusters that merged. A cluster is called by its lowest rank. */
struct communities_merge {
    uint32_t a, b;     /**< a below b; the new cluster is called a */
    uint32_t vertices; /**< of the new cluster */
    double modularity; /**< of the whole partition, after this merge */
};

enum communities_start {
    COMMUNITIES_COLD, /**< from nothing */
    COMMUNITIES_WARM, /**< from the result before */
    COMMUNITIES_SAME, /**< the graph was that before, or a multiple: so is the result */
};

struct communities;

/** The result of a graph without vertices. @return 0, -ENOMEM, or -HOLTER_ERANGE: a parameter */
int communities_create(struct communities **out, const struct communities_params *params);
void communities_destroy(struct communities *communities);

/** Take the graph of a phase.
 *  @param vertices  ranks are 0 to one less; those without edges are communities of their own
 *  @param edges     borrowed for the call
 *  @return 0; -HOLTER_ERANGE: a rank or weight outside its range; -HOLTER_ELIMIT: more vertices or
 *          edges than params allow; -ENOMEM. After an error the result is that of before */
int communities_update(struct communities *communities, uint32_t vertices,
                       const struct communities_edge *edges, size_t count);

/** How the last update began. */
enum communities_start communities_started(const struct communities *communities);

/** All merges in order: level k is after k of them. Vertices less merges are the connected
 *  components. Borrowed until the next update. */
const struct communities_merge *communities_merges(const struct communities *communities,
                                                   uint32_t *count);

/** Modularity at a level; beyond the last level, that of the last. */
double communities_modularity(const struct communities *communities, uint32_t level);

/** The level of greatest modularity; of equals the first. */
uint32_t communities_best(const struct communities *communities);

/** What a partition needs for its communities to count as such: below this modularity the ranks are
 *  one community. Communities of a graph without any structure are found as well, of modularity
 *  about 0; when messages go to partners at random, up to sqrt(ranks / (2 messages)), for each part
 *  has by chance more messages within than outside (as in random graphs: Guimera, Sales-Pardo,
 *  Amaral 2004).
 *  @param ranks     that communicate
 *  @param messages  between them
 *  @return COMMUNITIES_FLOOR where messages are many, at most three times that where they are few:
 *          one message to each partner may well be a pattern */
double communities_floor(uint32_t ranks, uint64_t messages);

/** Labels of the level that has a number of communities: 0 to count - 1, by lowest rank ascending.
 *  @param labels  of each vertex
 *  @return 0, or -HOLTER_ERANGE: more communities than vertices or fewer than components */
int communities_cut(const struct communities *communities, uint32_t count, uint32_t *labels);

/** See state_bytes.h. */
void communities_copy_state(struct state_bytes *b, struct communities **communities);

#endif
