/* Who sent to whom in an interval, as edges that several owners may share: the phases of a job that
 * repeats itself have one graph, so that whoever stores or compares graphs reads one array.
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. A graph belongs to one thread at a
 * time; edges that graphs share may be used by several threads. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_EDGES_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Messages of one kind from one rank to another. No padding: rows may be compared as bytes. */
struct phase_edge {
    uint32_t source, destination; /**< ranks in MPI_COMM_WORLD */
    uint32_t size_class;          /**< see holter/size_class.h */
    uint32_t modelled;            /**< 1: they stand for a collective; else 0 */
    uint64_t messages, bytes;
};
_Static_assert(sizeof(struct phase_edge) == 32, "no padding");

/** An array of edges and the number of graphs that own it: constant while there is more than one.
 */
struct phase_edges;

/** The graph of an interval. Zero-initialised is empty. */
struct phase_graph {
    const struct phase_edge *edges; /**< by source, destination, modelled, size class; each once */
    size_t count;
    struct phase_edges
        *owned; /**< the array that holds them; NULL: there are none, or the caller owns them */
    uint64_t messages, bytes; /**< sums of the edges */
    uint64_t other_messages, other_bytes;
    uint32_t segments;         /**< in the interval */
    uint32_t across;           /**< of these, those with bursts from outside the interval as well */
    int64_t first_ns, last_ns; /**< extent of the bursts in them; 0 without segments */
};

/** Allocates edges that the caller writes; graphs that shared the old ones keep them.
 *  @param edges  at least 1
 *  @return the first, or NULL without memory: nothing has changed */
struct phase_edge *phase_graph_capacity(struct phase_graph *graph, size_t edges);

/** Make a graph equal to another: it shares the edges, or has a copy of those that are the
 * caller's.
 *  @param to  replaced; on error as it was
 *  @return 0 or -ENOMEM */
int phase_graph_share(struct phase_graph *to, const struct phase_graph *from);

/** Whether both graphs have equal edges. */
bool phase_graph_is_same(const struct phase_graph *one, const struct phase_graph *other);

/** Releases the edges that a graph owns and empties it. */
void phase_graph_finish(struct phase_graph *graph);

/** Bytes on the heap, shared edges included. */
size_t phase_graph_bytes(const struct phase_graph *graph);

#endif
