/* The live clusters of phases.h: what they are, where a burst belongs, which two merge next.
 *
 * They are kept in the order of time, with a treap for the search and a heap for the next merge. On
 * a line the two nearest neighbours of all are not the only ones that can merge at once: wherever a
 * gap is smaller than the one on its left and not larger than the one on its right, the two
 * clusters beside it merge with each other sooner or later, whatever happens elsewhere, for merging
 * only widens gaps. In which order such gaps are taken does not matter to the tree. The oldest is
 * taken first, so that the youngest bursts stay apart for those that come late. A gap at the open
 * end, which the next burst may undercut, is not taken.
 *
 * A search and a merge cost O(log M); a burst after all others O(1) and a merge.
 *
 * Part of phases.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CLUSTERS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CLUSTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BURST_NONE UINT32_MAX

struct burst_cluster {
    int64_t mean_ns;            /**< representative time */
    int64_t first_ns, last_ns;  /**< representative times of its first and last burst */
    int64_t height_ns;          /**< gap at which its last two merged; 0: has not merged */
    uint32_t before, after;     /**< neighbours; BURST_NONE at the ends */
    uint32_t low, high, parent; /**< of the treap, by first_ns */
    uint32_t priority;          /**< of the treap */
    uint32_t at;                /**< in the heap, of the gap before it; BURST_NONE: is not there */
};

struct burst_clusters;

/** @param most  clusters; at least 4. Memory is 88 bytes for each.
 *  @return 0, -ENOMEM or -HOLTER_ERANGE */
int burst_clusters_create(struct burst_clusters **out, uint32_t most);
void burst_clusters_destroy(struct burst_clusters *clusters);

uint32_t burst_clusters_count(const struct burst_clusters *clusters);
bool burst_clusters_full(const struct burst_clusters *clusters);
/** First and last one; BURST_NONE: there are none. */
uint32_t burst_clusters_head(const struct burst_clusters *clusters);
uint32_t burst_clusters_tail(const struct burst_clusters *clusters);
/** Borrowed, valid until the next change. */
const struct burst_cluster *burst_clusters_at(const struct burst_clusters *clusters, uint32_t id);

/** The last cluster that begins at this time or before; BURST_NONE: there is none. */
uint32_t burst_clusters_find(const struct burst_clusters *clusters, int64_t time_ns);

/** Add a cluster of one burst. There must be room.
 *  @param before  as burst_clusters_find() says; its last burst is before this one */
void burst_clusters_add(struct burst_clusters *clusters, uint32_t before, int64_t time_ns);

/** A burst beside a cluster joins it; its mean stays. No other cluster is between. */
void burst_clusters_extend(struct burst_clusters *clusters, uint32_t id, int64_t time_ns);

/** The cluster that is to merge with the one before it: at the oldest gap that is settled;
 *  BURST_NONE: there is none. */
uint32_t burst_clusters_next(const struct burst_clusters *clusters);

/** Distance between a cluster and the one before it, which must exist. */
int64_t burst_clusters_gap(const struct burst_clusters *clusters, uint32_t id);

/** Merge a cluster, which is gone then, with the one before it. */
void burst_clusters_merge(struct burst_clusters *clusters, uint32_t id);

/** Say what must not merge yet: a gap above the limit, unless what follows it begins at the time
 *  closed_ns or before; and the gap at that time. */
void burst_clusters_hold(struct burst_clusters *clusters, int64_t limit_ns, int64_t closed_ns);

/** Bytes on the heap. */
size_t burst_clusters_bytes(const struct burst_clusters *clusters);

#endif
