/* Bursts ordered by time, and the heights at which neighbours merged.
 * Clusters of points on a line are runs of neighbours, so a merge removes one boundary between two
 * items, and the whole binary tree (CommGram, section III-F) is one height per boundary: the root
 * splits at the highest boundary, its parts at the next highest, and so on. No child or parent is
 * stored. Items lie in one array: one that arrives late moves those after it, which are few. An
 * item takes 56 bytes. When the array is at its maximum, the lowest boundaries are folded, the
 * oldest first among equal ones: the items on both sides become one. Boundaries of live clusters
 * are never folded. Part of phases.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_BURST_ITEMS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_BURST_ITEMS_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stddef.h>
#include <stdint.h>

/** Height of a boundary between live clusters, which is not final, and of the first item's. */
#define BURST_LIVE INT64_MAX

/** A short run of communication. */
struct burst {
    int64_t time_ns;           /**< representative time */
    int64_t first_ns, last_ns; /**< extent */
    uint64_t messages, bytes;
};

/** A run of consecutive items. */
struct phase {
    uint64_t id; /**< of a closed phase, from 1, in the order of time; 0: it is not closed */
    int64_t begin_ns, end_ns;  /**< representative times of the first and the last item */
    int64_t first_ns, last_ns; /**< extent of its bursts; may overlap its neighbours' */
    uint64_t bursts, messages, bytes;
    int64_t height_ns; /**< gap at which it merges with the phase before it; INT64_MAX: there is
                        * none. For an online phase: the pause before it. */
};

/** Height that a boundary between live clusters gets if all of them are merged. */
struct burst_height {
    int64_t time_ns; /**< of the first item after it */
    int64_t height;
};

/** Which boundaries a cut has: those above this height, and of those at exactly this height the
 * ones at or after this position. */
struct burst_cutoff {
    int64_t height;
    uint64_t position;
};

/** A part of all items, and the heights of the boundaries between live clusters. */
struct burst_view {
    int64_t from_ns, to_ns; /**< representative times, both included */
    /** Of every live cluster but the first, ordered by time; those before from_ns may be left out.
     *  Borrowed. */
    const struct burst_height *live;
    size_t live_count;
};

enum burst_side { BURST_WITHIN, BURST_FIRST, BURST_LAST };

struct burst_items;

/** @param maximum  items stored individually, at least 4 for each live cluster. Memory is 56 bytes
 *                   for each, allocated as needed
 *  @return 0 or -ENOMEM */
int burst_items_create(struct burst_items **out, uint32_t maximum);
void burst_items_destroy(struct burst_items *items);

/** Adds an item that is a cluster of its own. No other item has its time.
 *  @return 0 or -ENOMEM: nothing has changed */
int burst_items_add(struct burst_items *items, const struct burst *burst);

/** Adds an item to the live cluster at its place. The boundary to the nearer neighbour gets their
 *  distance as height, or keeps its own if that is lower; the other boundary keeps its height.
 *  @param side  whether it lies within the cluster (so does an equal time), before or after it
 *  @return 0 or -ENOMEM: nothing has changed */
int burst_items_join(struct burst_items *items, const struct burst *burst, enum burst_side side);

/** Stores that the cluster whose first item has this time has merged with the one before it. */
void burst_items_merge(struct burst_items *items, int64_t time_ns, int64_t height);

/** Cutoff that leaves `count` phases, or as many as there are items.
 *  @param count  at least 1
 *  @return 0 or -ENOMEM */
int burst_items_cutoff(const struct burst_items *items, const struct burst_view *view, size_t count,
                       struct burst_cutoff *out);

/** Phases between the boundaries of a cutoff, ordered by time.
 *  @param out  at most `capacity` are written
 *  @return how many phases there are */
size_t burst_items_cut(const struct burst_items *items, const struct burst_view *view,
                       const struct burst_cutoff *cutoff, struct phase *out, size_t capacity);

/** Earliest time from which at least `count` items follow, or all items. */
int64_t burst_items_recent(const struct burst_items *items, size_t count);

/** Items stored individually, and those that were folded into them. */
uint64_t burst_items_count(const struct burst_items *items);
uint64_t burst_items_folded(const struct burst_items *items);

/** See state_bytes.h. */
void burst_items_copy_state(struct state_bytes *b, struct burst_items **items);

#endif
