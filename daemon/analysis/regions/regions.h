/* Communication regions (PCLVis, section 4.2): ranks that communicate with each other more than
 * with others.
 *
 * Vertices are ranks, or nodes that stand for their ranks; edges join those that exchange messages
 * (contact.h says which do). Process correlation R (correlation.h) is clustered by average linkage
 * (linkage.h) until no pair of clusters has a mean R above the threshold. Two things are added to
 * the paper, which stops at its threshold:
 *   - of a pattern that falls into more than max_regions the hierarchy is cut higher;
 *   - a vertex that is left alone joins the region to which its mean R is largest (then the smaller
 *     one, then the one with the lowest vertex), because a single rank is no region: the ranks
 * around a master are in the region of the master.
 *
 * Over time a region is matched with its former self by the ranks that they share, and keeps its
 * id. In a regular pattern (a stencil) many partitions are as good as each other, and a batch
 * clustering would pick another one with each edge that comes or goes. So pairs that were in one
 * region count 1 + hold fold when the component they are in is clustered again: the regions stay
 * until others are clearly better.
 *
 * Only connected components with a changed edge are clustered again: some 40 ms for 4,096 ranks
 * with 26 partners each. Guarantees:
 *   - with hold = 0, hierarchy and partition are exactly those of a batch clustering of the same
 *     edges, whatever came before, in whatever order the edges changed;
 *   - with hold > 0, exactly those of a batch clustering of the same edges in which R between
 *     vertices of one former region is multiplied by 1 + hold. The first update has no former
 *     regions and equals the batch. Components without a changed edge stay as they are. Such a
 *     partition may be worse than the batch's: by the sum of R - threshold over the pairs within a
 *     region (which merging two clusters above the threshold raises) a test holds it to 10 % on
 *     stencils.
 *
 * Pure: no clock, no file, no socket; links nothing. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_REGIONS_REGIONS_H
#define HOLTER_DAEMON_ANALYSIS_REGIONS_REGIONS_H

#include "daemon/analysis/regions/linkage.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stddef.h>
#include <stdint.h>

/** Start from REGIONS_DEFAULTS. */
struct regions_params {
    double threshold;      /**< mean R above which two clusters merge; above 0. The paper's example
                                gives its two regions from 0.462 to below 0.574 */
    double hold;           /**< advantage of pairs that were in one region; 0 to 4, rounded to a
                                quarter. Regions that merged part again below a mean R of
                                threshold / (1 + hold) */
    uint32_t max_regions;  /**< beyond which the hierarchy is cut higher, 0: no bound. Connected
                                 components are never joined, however many */
    uint32_t max_vertices; /**< vertices are 0 to one less than this; at most 65,536 */
    uint32_t hub;          /**< partners above which a vertex relays no path, see correlation.h */
    uint64_t max_pairs;    /**< ordered pairs with R above 0, at most 2^26: bounds the memory, which
                                    is 8 bytes for each, and while clustering up to 24 */
    uint32_t first_id; /**< of regions; 0: 1. Above the ids of others that they take the place of */
};

#define REGIONS_DEFAULTS                                                                           \
    ((struct regions_params){.threshold = 0.5,                                                     \
                             .hold = 0.5,                                                          \
                             .max_regions = 64,                                                    \
                             .max_vertices = 16384,                                                \
                             .hub = 256,                                                           \
                             .max_pairs = 1u << 24})

struct region_info {
    uint32_t id;       /**< from the first one up; never given again to another region */
    uint32_t vertices; /**< how many belong to it; at least 2 */
    uint64_t since;    /**< window of the update in which it appeared */
};

struct regions;

/** @param params  copied @return 0, -ENOMEM, or -HOLTER_ERANGE: a parameter outside its range */
int regions_create(struct regions **out, const struct regions_params *params);
void regions_destroy(struct regions *regions);

/** Add or remove an undirected edge. An edge that is there already, or is not there, changes
 * nothing, nor does an edge from a vertex to itself. Results change with the next update.
 *  @param present  0: remove the edge
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE: a vertex that is not below max_vertices */
int regions_edge(struct regions *regions, uint32_t a, uint32_t b, int present);

/** Bring the regions up to date with the edges. Costs nothing when no edge changed.
 *  @param window   for `since` of new regions
 *  @param changed  set on success: 1 when a vertex is in another region than before; may be NULL
 *  @return 0, -ENOMEM, or -HOLTER_ELIMIT: more than max_pairs (let nodes stand for their ranks).
 *          After an error everything is as before, and the next update tries again */
int regions_update(struct regions *regions, uint64_t window, int *changed);

/** Id of a vertex's region; 0: none, it has no edges. */
uint32_t regions_of(const struct regions *regions, uint32_t vertex);

/** List the regions by id.
 *  @param out  set: the first `capacity` of them; may be NULL
 *  @return how many there are */
size_t regions_list(const struct regions *regions, struct region_info *out, size_t capacity);

/** One above the largest id that was given so far. */
uint32_t regions_next_id(const struct regions *regions);

/** See state_bytes.h. */
void regions_copy_state(struct state_bytes *b, struct regions **regions);

#endif
