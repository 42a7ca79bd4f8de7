/* Better seats for the processes of a job (000, section 5.2; 003, O1).
 *
 * Every process has a seat: a vertex of the network, that several may share. A mapping deals the
 * same seats out anew, so the allocated nodes and the processes on each stay as they are.
 * Objectives: hop-bytes   sum of bytes times length of their route: quadratic assignment (000, Eq.
 * 3) max-link    bytes over the most loaded directed link; of equal ones the mapping with fewer
 * hop-bytes inter-node  bytes, or messages, between processes on different nodes: graph
 * partitioning
 *
 * A portfolio of starts (the given mapping; processes that form a grid, embedded digit by digit
 * along the dimensions; others, laid out on a mesh first; halving the network against METIS'
 * bisection of the processes; for inter-node METIS' k-way and recursive parts) is improved by
 * exchanges of two processes, first downhill, then by annealing at low temperature, from the best
 * start and from others, and of whole blocks where a torus is full. Where few processes are
 * selected, all their permutations are tried instead. What comes out is never worse than what was
 * given.
 *
 * Work is counted, not timed: the same problem, seed and effort give the same mapping, on every
 * machine that has the same METIS. It ends early when the lower bound is reached.
 *
 * Bytes and messages are added up in double: sums that go beyond 2^53 lose their last digits, and
 * never overflow.
 *
 * Memory: about 350 bytes a process and 100 an edge while it works; up to 256 MB of tables of
 * costs, 8 bytes for each process and coordinate; 8 bytes a link of the network; and where distance
 * is no sum over dimensions 2 bytes for each pair of up to REMAP_MOST_TABLE vertices in use (beyond
 * that it is asked for, and slow).
 *
 * METIS seeds and draws from rand(), and while it works catches SIGTERM and SIGABRT for the whole
 * process by handlers of its own, that only bear a signal on the thread that METIS runs on. So
 * remap_step() of two searches must not run at the same time, and a program with other threads
 * should block SIGTERM in all of them while it steps, or step in a process of its own.
 *
 * Pure but for that: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_H
#define HOLTER_DAEMON_ANALYSIS_NETWORK_REMAP_REMAP_H

#include "daemon/analysis/network/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REMAP_MOST_PROCESSES (1u << 20)
#define REMAP_MOST_EDGES (1u << 24)
#define REMAP_MOST_TABLE 2048u /**< vertices in use up to which distances stand in a table */
#define REMAP_MOST_EFFORT 3600.0

enum remap_objective {
    REMAP_HOP_BYTES,
    REMAP_MAX_LINK,
    REMAP_INTER_NODE,
};

/** What one process sends another. The same pair may stand several times: they add up. To itself:
 * ignored. */
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
        *seats; /**< of each process: a vertex that has a route to and from all the others */
    const struct remap_edge *edges;
    size_t edge_count;
    const uint32_t *selected; /**< processes that may move, each once; NULL: all. The others stay */
    uint32_t selected_count;
    const uint32_t *nodes; /**< of each vertex: the node that it is part of, any number, for
                              inter-node measures; NULL: every vertex is a node */
    enum remap_objective objective;
    bool messages; /**< inter-node: count messages instead of bytes */
    uint64_t seed;
    double effort; /**< seconds on one core that the work may take, from 0 to REMAP_MOST_EFFORT;
                      about a fifth of it is left as a margin. 0: only what is given is measured */
};

/** Of one mapping. */
struct remap_measures {
    double hop_bytes;
    double max_link;            /**< bytes over the most loaded directed link */
    uint32_t link;              /**< that link; TOPOLOGY_NONE: all are idle */
    double inter_node_bytes;    /**< between different nodes */
    double inter_node_messages; /**< likewise */
};

struct remap;

/** @param why  set on failure: what is wrong
 *  @return 0, -ENOMEM, -HOLTER_ELIMIT, or -HOLTER_EUSAGE: a process, seat or edge that is not
 * there, a process selected twice, seats without a route between them, an effort that is no number
 * ... */
int remap_create(struct remap **out, const struct remap_problem *problem, char *why, size_t room);

/** NULL is fine. */
void remap_destroy(struct remap *remap);

/** A bounded piece of the work, about 10 ms on one core (longer with more than about 10^5 edges:
 * one bisection by METIS is one piece, and all its parts at once are for inter-node). Starts for
 * which there is no memory are left out.
 *  @return progress, 0 to 1; 1: there is nothing more to do */
double remap_step(struct remap *remap);

/** The best mapping so far: seats of all processes, until the next remap_step(). Measures are
 * computed anew: O(edges), times the length of routes. */
const uint32_t *remap_best(struct remap *remap, struct remap_measures *measures);

/** Measures of the mapping that was given. */
void remap_given(const struct remap *remap, struct remap_measures *measures);

/** No permutation of the selected processes has less of the objective than this (0: nothing better
 * is known). Hop-bytes: the degree bound, half the sum over processes of the best that each could
 * have on its own: heaviest partners on nearest seats; for all permutations tried, the optimum.
 *  @param optimal  set: the best mapping so far is proven to be one of the best; may be NULL */
double remap_bound(const struct remap *remap, bool *optimal);

/** Objective of measures, as the problem has it. */
double remap_objective(const struct remap *remap, const struct remap_measures *measures);

#endif
