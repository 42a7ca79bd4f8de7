/* Bursts in the order of their times, and the heights at which neighbours merged.
 *
 * Clusters of points on a line are runs of neighbours, so a merge removes one boundary between two
 * items, and the whole binary tree (CommGram, section F) is one height per boundary: the root
 * splits at the highest, and so on down. No child or parent is stored.
 *
 * Items lie in chunks of BURST_CHUNK, each with its sums and its highest boundary, so that cuts
 * look into those chunks only that hold a boundary of theirs. An item takes 52 bytes. When the
 * chunks are used up, the lowest boundaries are folded: the items beside them become one, of equal
 * ones the oldest first. Boundaries of live clusters are never folded.
 *
 * Part of phases.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_BURST_ITEMS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_BURST_ITEMS_H

#include <stddef.h>
#include <stdint.h>

#define BURST_CHUNK 512u
/** Height of a boundary between live clusters, which is not settled, and of what has none. */
#define BURST_LIVE INT64_MAX

/** A short run of communication. */
struct burst {
    int64_t time_ns;           /**< representative time */
    int64_t first_ns, last_ns; /**< extent */
    uint64_t messages, bytes;
};

/** A run of items that follow each other. */
struct phase {
    uint64_t id;               /**< of a closed phase, from 1, in the order of time; 0: none */
    int64_t begin_ns, end_ns;  /**< representative times of the first and the last item */
    int64_t first_ns, last_ns; /**< extent of its bursts; may overlap its neighbours' */
    uint64_t bursts, messages, bytes;
    int64_t height_ns; /**< gap at which it merges with what is before; INT64_MAX: nothing is.
                            Of a closed phase: its distance to the one before when it was closed,
                            which that gap is not below */
};

/** Height of a boundary between live clusters, if they all went on merging. */
struct burst_height {
    int64_t time_ns; /**< of the first item after it */
    int64_t height;
};

/** Which boundaries are left standing: those at or above this height; of those at this very height,
 *  those at or after this position. */
struct burst_cutoff {
    int64_t height;
    uint64_t position;
};

/** A part of all items, and the heights that are not settled. */
struct burst_view {
    int64_t from_ns, to_ns; /**< representative times, both included */
    /** Of every live cluster but the first, by time; those before from_ns may be left out.
     * Borrowed. */
    const struct burst_height *live;
    size_t live_count;
};

enum burst_side { BURST_WITHIN, BURST_FIRST, BURST_LAST };

struct burst_items;

/** @param most  items that are kept apart; at least 16 chunks, and 4 for each live cluster. Memory
 *              is 52 bytes for each, in chunks that are allocated as needed
 *  @return 0, -ENOMEM or -HOLTER_ERANGE */
int burst_items_create(struct burst_items **out, uint32_t most);
void burst_items_destroy(struct burst_items *items);

/** Add an item that is a cluster of its own. No other has its time.
 *  @return 0 or -ENOMEM: nothing was done */
int burst_items_add(struct burst_items *items, const struct burst *burst);

/** Add an item to the live cluster at its place. The nearer neighbour's side gets their distance
 *  for height, or keeps its own if that is less; the other keeps what height there was.
 *  @param side  whether it lies within the cluster, which an equal time does, or before or after it
 *  @return 0 or -ENOMEM: nothing was done */
int burst_items_join(struct burst_items *items, const struct burst *burst, enum burst_side side);

/** The cluster whose first item has this time has merged with the one before. */
void burst_items_merge(struct burst_items *items, int64_t time_ns, int64_t height);

/** Cutoff that leaves `count` phases, or as many as there are items.
 *  @param count  at least 1
 *  @return 0 or -ENOMEM */
int burst_items_cutoff(const struct burst_items *items, const struct burst_view *view, size_t count,
                       struct burst_cutoff *out);

/** Runs between the boundaries that a cutoff leaves, by time.
 *  @param out  room for `room`; what is more is counted only
 *  @return how many runs */
size_t burst_items_cut(const struct burst_items *items, const struct burst_view *view,
                       const struct burst_cutoff *cutoff, struct phase *out, size_t room);

/** Time from which on there are at least `count` items, or all. */
int64_t burst_items_recent(const struct burst_items *items, size_t count);

/** Items that are kept apart, and those that were folded into them. */
uint64_t burst_items_count(const struct burst_items *items);
uint64_t burst_items_folded(const struct burst_items *items);

/** Bytes on the heap. */
size_t burst_items_bytes(const struct burst_items *items);

#endif
