/* The live clusters of phases.h: what they are, to which one a burst belongs, which two merge next.
 * Clusters are a list in order of time, searched from its end, and from its begin for the next
 * merge. On a line, the two nearest neighbours of all are not the only ones that can merge at once:
 * wherever a gap is smaller than the one on its left and not larger than the one on its right, the
 * two clusters on its sides merge with each other sooner or later, whatever happens elsewhere,
 * because merging only widens gaps. The resulting tree does not depend on the order in which such
 * gaps are merged. The oldest one is merged first, so that the youngest bursts stay apart for
 * bursts that arrive late. A gap at the open end, below which the next burst's gap may be, is not
 * merged. The gaps before it shrink, so it is soon found; a cluster by time takes as many steps as
 * there are clusters after it. Part of phases.h. Pure: no clock, no file, no socket. Not
 * thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CLUSTERS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CLUSTERS_H

#include <stdint.h>

#define BURST_NONE UINT32_MAX

struct burst_cluster {
    int64_t mean_ns;           /**< representative time */
    int64_t first_ns, last_ns; /**< representative times of its first and last burst */
    int64_t height_ns;      /**< gap at which its last two parts merged; 0: it is a single burst */
    uint32_t before, after; /**< neighbours; BURST_NONE at the ends */
};

struct burst_clusters {
    struct burst_cluster *at; /**< owned; by id */
    uint32_t maximum;
    uint32_t count;      /**< live */
    uint32_t free;       /**< first free cluster; free ones are chained by `after` */
    uint32_t used;       /**< clusters ever used */
    uint32_t head, tail; /**< first and last cluster; BURST_NONE: there are none */
};

/** @param maximum  clusters. Memory is 40 bytes for each. @return 0 or -ENOMEM */
int burst_clusters_init(struct burst_clusters *clusters, uint32_t maximum);
void burst_clusters_finish(struct burst_clusters *clusters);

/** The last cluster that begins at this time or before; BURST_NONE: there is none. */
uint32_t burst_clusters_find(const struct burst_clusters *clusters, int64_t time_ns);

/** Adds a cluster of one burst. Fewer than the maximum must be live.
 *  @param before  the result of burst_clusters_find(); its last burst is before this one */
void burst_clusters_add(struct burst_clusters *clusters, uint32_t before, int64_t time_ns);

/** Adds a burst to a cluster, whose mean stays. No other cluster may lie between them. */
void burst_clusters_extend(struct burst_clusters *clusters, uint32_t id, int64_t time_ns);

/** The cluster that is to merge with the one before it: at the oldest gap that may merge;
 *  BURST_NONE: there is none. Gaps above the limit may not, unless the cluster after the gap begins
 *  at closed_ns or before; neither may the gap at closed_ns itself. */
uint32_t burst_clusters_next(const struct burst_clusters *clusters, int64_t limit_ns,
                             int64_t closed_ns);

/** Distance between a cluster and the one before it, which must exist. */
int64_t burst_clusters_gap(const struct burst_clusters *clusters, uint32_t id);

/** Merges a cluster with the one before it. Its id is free afterwards. */
void burst_clusters_merge(struct burst_clusters *clusters, uint32_t id);

#endif
