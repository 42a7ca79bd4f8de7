/* Better placements of the processes of a job (Visuco, section 5.2; PCLVis, objective O1).
 *
 * Every process has a seat: a vertex of the network, which several processes may share. A mapping
 * is a permutation of the given seats, so the allocated nodes and the number of processes on each
 * stay as they are. Objectives:
 *
 * - hop-bytes: sum over messages of bytes times length of their route: quadratic assignment
 *   (Visuco, Eq. 3).
 * - max-link: bytes over the most loaded directed link; of equal mappings the one with fewer
 *   hop-bytes.
 * - inter-node: bytes, or messages, between processes on different nodes: graph partitioning.
 *
 * A portfolio of starting mappings (the given mapping; processes that form a grid, embedded digit
 * by digit along the dimensions; other processes, laid out on a mesh first; halving the network
 * against METIS' bisection of the processes; for inter-node METIS' k-way and recursive partitions)
 * is improved by exchanges of two processes, first downhill, then by annealing at low temperature,
 * from the best start and from others, and by exchanges of whole blocks where a torus is full.
 * Where few processes are selected, all their permutations are tried instead. The result is never
 * worse than the given mapping.
 *
 * Work is counted, not timed: the same problem, seed and effort give the same mapping on every
 * machine that has the same METIS. The search ends early when the lower bound is reached.
 *
 * Bytes and messages are added up in double: sums beyond 2^53 lose their last digits, and never
 * overflow.
 *
 * Memory: about 350 bytes a process and 100 bytes an edge while the search works; up to 256 MB of
 * tables of costs, 8 bytes for each process and coordinate; 8 bytes a link of the network; and
 * where distance is not a sum over dimensions 2 bytes for each pair of up to REMAP_MAX_TABLE
 * vertices in use (beyond that number each distance is computed when it is needed, which is slow).
 *
 * METIS seeds and draws from rand(), and while it works it catches SIGTERM and SIGABRT for the
 * whole process by handlers of its own, which only work on the thread that METIS runs on. So
 * remap_step() of two searches must not run at the same time, and a program with other threads
 * should block SIGTERM in all of them while it steps, or step in a process of its own.
 *
 * Apart from that the search is pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_H

#include "daemon/analysis/network/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REMAP_MOST_PROCESSES (1u << 20)
#define REMAP_MAXIMUM_EDGES (1u << 24)
/** Distances are precomputed in a table if no more vertices are in use. */
#define REMAP_MAX_TABLE 2048u
#define REMAP_MAX_EFFORT 3600.0
#define REMAP_MAX_STEPS UINT64_C(1000000000)

enum remap_objective {
    REMAP_HOP_BYTES,
    REMAP_MAX_LINK,
    REMAP_INTER_NODE,
};

/** What one process sends to another. The same pair may occur several times: its amounts are added.
 * Edges from a process to itself are ignored. */
struct remap_edge {
    uint32_t from, to; /**< processes */
    uint64_t bytes;
    uint64_t messages;
};

/** Everything is borrowed; only the topology is needed after remap_create(), until remap_destroy().
 *  Zero-initialise, then fill in. */
struct remap_problem {
    const struct topology *topology;
    uint32_t processes;
    const uint32_t
        *seats; /**< of each process: a vertex that has a route to and from every other seat */
    const struct remap_edge *edges;
    size_t edge_count;
    const uint32_t *selected; /**< processes that may move, each listed once; NULL: all processes.
                                 The others keep their seats */
    uint32_t selected_count;
    const uint32_t *nodes; /**< of each vertex: the node that it is part of, any number, for
                              inter-node measures; NULL: every vertex is a node */
    enum remap_objective objective;
    bool messages; /**< inter-node: count messages instead of bytes */
    uint64_t seed;
    double
        effort; /**< seconds on one core that the work may take, from 0 to REMAP_MAX_EFFORT; about
                   a fifth of it is left as a margin. 0: the given mapping is only measured */
    uint64_t steps; /**< work that may be done, instead of effort; 0: as effort says. The same
                       number gives the same mapping on every machine */
};

/** Measures of one mapping. */
struct remap_measures {
    double hop_bytes;
    double max_link;            /**< bytes over the most loaded directed link */
    double inter_node_bytes;    /**< between different nodes */
    double inter_node_messages; /**< likewise */
};

struct remap;

/** @param why  set on failure: what is wrong
 * @return 0, -ENOMEM, -HOLTER_ELIMIT, or -HOLTER_EUSAGE: a process, seat or edge that does not
 * exist, a process selected twice, seats without a route between them, an effort that is not a
 * number ... */
int remap_create(struct remap **out, const struct remap_problem *problem, char *why,
                 size_t capacity);

/** NULL is fine. */
void remap_destroy(struct remap *remap);

/** Do a bounded piece of the work, about 10 ms on one core. A piece is longer with more than about
 * 10^5 edges: one bisection by METIS is one piece, and for inter-node so are all parts at once.
 * Starting mappings for which memory runs out are left out.
 * @return progress, 0 to 1; 1: the search is finished */
double remap_step(struct remap *remap);

/** End the search before its work is done; the next remap_step() returns 1. */
void remap_end(struct remap *remap);

/** Steps of work done so far, each about half a millisecond on one core. */
uint64_t remap_steps(const struct remap *remap);

/** The best mapping so far: the seats of all processes, valid until the next remap_step(). The
 * measures are computed from scratch: O(edges), times the length of routes. */
const uint32_t *remap_best(struct remap *remap, struct remap_measures *measures);

/** Measures of the given mapping. */
void remap_given(const struct remap *remap, struct remap_measures *measures);

/** Lower bound of the objective over all permutations of the selected processes; 0: no better bound
 * is known. For hop-bytes it is the degree bound: half the sum over processes of the least cost
 * that each could have on its own, with its heaviest partners on the nearest seats. After a search
 * of all permutations it is the optimum.
 * @param optimal  set: the best mapping so far is proven to be optimal; may be NULL */
double remap_bound(const struct remap *remap, bool *optimal);

/** The value of the problem's objective in these measures. */
double remap_objective(const struct remap *remap, const struct remap_measures *measures);

#endif
