/* The live clusters of phases.h: what they are, to which one a burst belongs, which two merge next.
 * Clusters are a list in order of time, searched from its end, with a heap for the next merge. On a
 * line, the two nearest neighbours of all are not the only ones that can merge at once: wherever a
 * gap is smaller than the one on its left and not larger than the one on its right, the two
 * clusters on its sides merge with each other sooner or later, whatever happens elsewhere, because
 * merging only widens gaps. The resulting tree does not depend on the order in which such gaps are
 * merged. The oldest one is merged first, so that the youngest bursts stay apart for bursts that
 * arrive late. A gap at the open end, below which the next burst's gap may be, is not merged. A
 * merge costs O(log M); a search as many steps as there are clusters after the time. Part of
 * phases.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CLUSTERS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>

#define BURST_NONE UINT32_MAX

struct burst_cluster {
    int64_t mean_ns;           /**< representative time */
    int64_t first_ns, last_ns; /**< representative times of its first and last burst */
    int64_t height_ns;      /**< gap at which its last two parts merged; 0: it is a single burst */
    uint32_t before, after; /**< neighbours; BURST_NONE at the ends */
    uint32_t at; /**< index in the heap, for the gap before it; BURST_NONE: not in the heap */
};

struct burst_clusters;

/** @param maximum  clusters; at least 4. Memory is 56 bytes for each.
 *  @return 0, -ENOMEM or -HOLTER_ERANGE */
int burst_clusters_create(struct burst_clusters **out, uint32_t maximum);
void burst_clusters_destroy(struct burst_clusters *clusters);

uint32_t burst_clusters_count(const struct burst_clusters *clusters);
bool burst_clusters_full(const struct burst_clusters *clusters);
/** First and last cluster; BURST_NONE: there are none. */
uint32_t burst_clusters_head(const struct burst_clusters *clusters);
uint32_t burst_clusters_tail(const struct burst_clusters *clusters);
/** Borrowed, valid until the next change. */
const struct burst_cluster *burst_clusters_at(const struct burst_clusters *clusters, uint32_t id);

/** The last cluster that begins at this time or before; BURST_NONE: there is none. */
uint32_t burst_clusters_find(const struct burst_clusters *clusters, int64_t time_ns);

/** Adds a cluster of one burst. Fewer than the maximum must be live.
 *  @param before  the result of burst_clusters_find(); its last burst is before this one */
void burst_clusters_add(struct burst_clusters *clusters, uint32_t before, int64_t time_ns);

/** Adds a burst to a cluster, whose mean stays. No other cluster may lie between them. */
void burst_clusters_extend(struct burst_clusters *clusters, uint32_t id, int64_t time_ns);

/** The cluster that is to merge with the one before it: at the oldest gap that may merge;
 *  BURST_NONE: there is none. */
uint32_t burst_clusters_next(const struct burst_clusters *clusters);

/** Distance between a cluster and the one before it, which must exist. */
int64_t burst_clusters_gap(const struct burst_clusters *clusters, uint32_t id);

/** Merges a cluster with the one before it. Its id is free afterwards. */
void burst_clusters_merge(struct burst_clusters *clusters, uint32_t id);

/** Excludes gaps from merging: those above the limit, unless the cluster after the gap begins at
 *  closed_ns or before; and the gap at closed_ns itself. */
void burst_clusters_hold(struct burst_clusters *clusters, int64_t limit_ns, int64_t closed_ns);

#endif
