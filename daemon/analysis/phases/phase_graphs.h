/* Sums of messages between pairs of ranks over the whole job, stored by time, so
 * that the communication graph of any phase can be read, however the phases are cut later
 * (CommGram, sections III-D to III-G).
 * Each burst of messages becomes a segment: a representative time and one row for each edge, that
 * is for each (source, destination, size class, whether it is modelled). Segments are ordered by
 * time. When there are more segments or rows than allowed, neighbours merge, by adding up their
 * rows: sums stay exact, times get coarser. Merging for lack of rows begins, a few merges a burst,
 * when an eighth of the rows is left. The neighbours that merge are those for which gap between
 * their times / (age + a window) / (share of their rows that merging saves + 1/64) is least; of
 * equals the earliest. So detail fades with age, and phases of different patterns stay apart for
 * longest. A merged segment gets the time of its part with more messages (of equals the earlier):
 * always the time of a burst, so that it belongs to a phase in every cut. Every message is counted.
 * Beyond the number of distinct edges allowed, messages of new edges are added to the segment's
 * "others". So is what a pair sent within one segment beyond 4 (2^32 - 1) messages. While nothing
 * has merged, results do not depend on the order in which bursts were added. The sums over all time
 * never do, unless edges were refused because there were too many. Memory: 16 bytes a row, about
 * 150 bytes a segment and at most 64 an edge. With the defaults at most 256 MiB of rows and, with
 * 2^21 edges, 128 MiB of edges. 4,320 ranks with 30,000 edges of two size classes: at most 263 MiB,
 * however many bursts and hours. Temporarily in addition: 56 bytes for each row of a burst that is
 * added; as many rows as two segments have together when they merge; 16 bytes for each edge of the
 * job, and 32 for each that is new, when a graph is read. Pure: no clock, no file, no socket.
 * Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_GRAPHS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_GRAPHS_H

#include "daemon/analysis/events/burst_pairs.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stddef.h>
#include <stdint.h>

/** Times must be within this many nanoseconds of 0, on either side. */
#define PHASE_GRAPHS_TIME_MAXIMUM (INT64_MAX / 4)
#define PHASE_GRAPHS_MAXIMUM_ROWS (1u << 28)
#define PHASE_GRAPHS_MAXIMUM_EDGES (1u << 24)
#define PHASE_GRAPHS_MAXIMUM_SEGMENTS (1u << 16)

struct phase_graphs_params {
    uint32_t rows;     /**< maximum; at least 4 times the edges, at most MOST_ROWS */
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
    /** Borrowed for the call. Rows in any order; several rows of an edge are added up, rows without
     *  messages are left out. */
    const struct burst_pair *pairs;
    size_t count;                         /**< pairs */
    uint64_t other_messages, other_bytes; /**< of pairs that are not known */
};

/** Messages of one kind from one rank to another. No padding: rows may be compared as bytes. */
struct phase_edge {
    uint32_t source, destination; /**< ranks in MPI_COMM_WORLD */
    uint32_t size_class;          /**< see holter/size_class.h */
    uint32_t modelled;            /**< 1: they stand for a collective; else 0 */
    uint64_t messages, bytes;
};
_Static_assert(sizeof(struct phase_edge) == 32, "no padding");

/** Messages between pairs of ranks in an interval. Zero-initialised is empty. */
struct phase_graph {
    struct phase_edge *edges; /**< owned; by source, destination, modelled, size class; each once */
    size_t count;
    uint64_t messages, bytes; /**< sums of the edges */
    uint64_t other_messages, other_bytes;
    uint32_t segments;         /**< in the interval */
    uint32_t across;           /**< of these, those with bursts from outside the interval as well */
    int64_t first_ns, last_ns; /**< extent of the bursts in them; 0 without segments */
};

/** Release the edges of a graph, and empty it. */
void phase_graph_finish(struct phase_graph *graph);

struct phase_graphs_counts {
    uint64_t bursts;          /**< added */
    uint64_t messages, bytes; /**< of these bursts, messages of unknown pairs included */
    uint64_t other_messages, other_bytes; /**< of these, those without a row */
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

/** Adds one burst, in any order. A burst at the time of another joins it; one without messages is
 *  only counted. O(rows of the burst and of the segments that merge, + segments for each merge).
 *  @return 0; -HOLTER_ERANGE: a time, a size class or `modelled` outside its range, or sums of the
 *          job beyond 2^64; or -ENOMEM. After an error nothing has changed */
int phase_graphs_add(struct phase_graphs *graphs, const struct phase_burst *burst);

/** Reads the sums over the segments whose time is in an interval. The rows of consecutive intervals
 *  add up to those of both together: for the phases of a cut, let each interval end where the next
 * begins.
 *  @param from_ns, to_ns  both included
 *  @param out             replaced; unchanged on error
 *  @return 0 or -ENOMEM */
int phase_graphs_read(struct phase_graphs *graphs, int64_t from_ns, int64_t to_ns,
                      struct phase_graph *out);

/** Segments whose time is in an interval: an upper bound of the phases that can be distinguished in
 * it. */
uint32_t phase_graphs_segments(const struct phase_graphs *graphs, int64_t from_ns, int64_t to_ns);

/** Rows of the segments whose time is in an interval: an upper bound of the edges of its graph. */
uint64_t phase_graphs_rows(const struct phase_graphs *graphs, int64_t from_ns, int64_t to_ns);

void phase_graphs_count(const struct phase_graphs *graphs, struct phase_graphs_counts *out);

/** See state_bytes.h. */
void phase_graphs_copy_state(struct state_bytes *b, struct phase_graphs **graphs);
void phase_graph_copy_state(struct state_bytes *b, struct phase_graph *graph);

#endif
