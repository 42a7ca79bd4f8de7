/* Who sent to whom, over the whole job: sums of messages between pairs of ranks, kept by time, so
 * that the communication graph of any phase can be read, however the phases are cut later
 * (001, sections D to G).
 *
 * Each burst of messages becomes a segment: a representative time and one row for each edge, that
 * is for each (source, destination, size class, whether it was modelled). Segments are in the order
 * of their times. When there are more segments or rows than allowed, neighbours merge, by adding up
 * their rows: sums stay exact, times get coarser. For rows that begins, a few merges a burst, when
 * an eighth is left. Of all neighbours those merge for which
 *
 *     gap between their times / (age + a window) / (share of their rows that merging saves + 1/64)
 *
 * is least; of equals the earliest. So detail fades with age, and phases of different patterns stay
 * apart for longest. A merged segment has the time of that of its parts which has more messages (of
 * equals the earlier): always the time of a burst, so that it belongs to a phase whatever the cut.
 *
 * Nothing is dropped uncounted. Beyond the number of distinct edges allowed, messages of new edges
 * are added to the segment's "others". So is what a pair sent within one segment beyond
 * 4 (2^32 - 1) messages.
 *
 * While nothing has merged, what is read does not depend on the order in which bursts were added.
 * The sums over all time never do, unless edges were refused for being too many.
 *
 * Memory by construction: 16 bytes a row, in blocks of 256, of which the last of each segment may
 * be part empty, and as what each node tells begins a block, and bursts that are put together are
 * linked, a quarter of the others; 64 bytes more a block; 128 bytes a segment, and at most 2 KiB
 * for the ranges of its edges; at most 68 bytes an edge, and 120 more while there are at most 2^18,
 * for what was read last; 96 bytes for each block that is read, up to 2^16 of them, and 2 MiB. With
 * the defaults at most 342 MiB of rows, 21 MiB of part blocks and 136 MiB of edges, if there should
 * be 2^21 of them. 4,320 ranks with 30,000 edges of two size classes: at most 393 MiB, however many
 * bursts and hours. Of these, blocks with the same rows are kept once (phase_store.h): a job that
 * does the same in each burst never touches most of it. To add a burst 56 bytes for each of its
 * rows are borrowed besides, and to read a graph 32 for each of its edges and 16 for each edge
 * there is.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_GRAPHS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_GRAPHS_H

#include "daemon/analysis/events/burst_pairs.h"
#include "daemon/analysis/phases/phase_edges.h"

#include <stddef.h>
#include <stdint.h>

/** Times must be within this many nanoseconds of 0, on either side. */
#define PHASE_GRAPHS_TIME_MOST (INT64_MAX / 4)
#define PHASE_GRAPHS_MOST_ROWS (1u << 28)
#define PHASE_GRAPHS_MOST_EDGES (1u << 24)
#define PHASE_GRAPHS_MOST_SEGMENTS (1u << 16)

struct phase_graphs_params {
    uint32_t rows;     /**< kept; at least 4 times the edges, at most MOST_ROWS */
    uint32_t edges;    /**< distinct (source, destination, size class, modelled); at least 1 */
    uint32_t segments; /**< at least 2 */
    int64_t window_ns; /**< length of a window; 1 to TIME_MOST */
};

#define PHASE_GRAPHS_DEFAULTS                                                                      \
    ((struct phase_graphs_params){                                                                 \
        .rows = 1u << 24, .edges = 1u << 21, .segments = 4096, .window_ns = 1000000000})

/** A burst of messages. */
struct phase_burst {
    int64_t time_ns;           /**< representative */
    int64_t first_ns, last_ns; /**< extent; first_ns <= time_ns <= last_ns */
    /** Borrowed for the call. Rows in any order, an edge may be told more than once; rows without
     *  messages are left out. Quick where they are in the order in which edges first came. */
    const struct burst_piece *pieces;
    size_t count;                         /**< pieces */
    uint64_t other_messages, other_bytes; /**< whose pair is not known */
};

struct phase_graphs_counts {
    uint64_t bursts;                      /**< taken */
    uint64_t messages, bytes;             /**< of them, others included */
    uint64_t other_messages, other_bytes; /**< of these, those that have no row */
    uint64_t merges;
    uint64_t rows;
    uint32_t edges, segments;
    uint64_t ranks; /**< one more than the highest in an edge that has messages */
};

struct phase_graphs;

/** @param out  owned by the caller; set on success
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE when a parameter is outside its range */
int phase_graphs_create(struct phase_graphs **out, const struct phase_graphs_params *params);
void phase_graphs_destroy(struct phase_graphs *graphs);

/** Take one burst, in any order. One at the time of another joins it; one without messages is only
 *  counted. O(rows of the burst and of
 *  the two segments that merge, + segments).
 *  @return 0; -HOLTER_ERANGE: a time, a size class or `modelled` outside its range, or sums of the
 *          job beyond 2^64; or -ENOMEM. After an error nothing has changed */
int phase_graphs_add(struct phase_graphs *graphs, const struct phase_burst *burst);

/** The sums over the segments whose time is in an interval. The rows of consecutive intervals add
 *  up to those of both together: for phases of a cut, let each reach up to the next one's begin.
 *  @param from_ns, to_ns  both included
 *  @param out             replaced; on error as it was. Of an interval with the sums of one of the
 * last two that were read it shares the edges
 *  @return 0 or -ENOMEM */
int phase_graphs_read(struct phase_graphs *graphs, int64_t from_ns, int64_t to_ns,
                      struct phase_graph *out);

/** Segments whose time is in an interval: no more phases of it can be told apart. */
uint32_t phase_graphs_segments(const struct phase_graphs *graphs, int64_t from_ns, int64_t to_ns);

/** Rows of the segments whose time is in an interval: as many edges, or fewer, are what is read of
 * it. */
uint64_t phase_graphs_rows(const struct phase_graphs *graphs, int64_t from_ns, int64_t to_ns);

void phase_graphs_count(const struct phase_graphs *graphs, struct phase_graphs_counts *out);

/** Bytes on the heap. */
size_t phase_graphs_bytes(const struct phase_graphs *graphs);

#endif
