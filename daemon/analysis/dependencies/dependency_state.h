/* Steps in which the graph of dependencies is made. Internal to the room. */
#ifndef HOLTER_DAEMON_ANALYSIS_DEPENDENCIES_DEPENDENCY_STATE_H
#define HOLTER_DAEMON_ANALYSIS_DEPENDENCIES_DEPENDENCY_STATE_H

#include "daemon/analysis/dependencies/dependencies.h"

/** All that is known of a rank from its threads. */
struct dependency_rank {
    uint32_t rank, host;
    uint32_t first, count; /* ends: positions in the order of the rank */
    int64_t first_ns;      /* exit of the first record of each thread: the latest */
    int64_t read_ns;       /* what it sent later may be missing */
    int complete;          /* all threads are */
};

/** Ends by rank, then in the order of the rank. */
struct dependency_ends {
    struct dependency_end *ends; /* owned */
    uint32_t *rank_of;           /* owned; by end: position in ranks */
    uint32_t count;
    struct dependency_rank *ranks; /* owned; by rank */
    uint32_t rank_count;
    uint32_t *match; /* owned; by end: the other end, or DEPENDENCY_NONE */
    uint8_t *kind;   /* owned; by end: 1: aligned */
    struct dependency_collective *collectives; /* owned; members are ends */
    struct dependency_member *members;         /* owned */
    uint32_t *collective_of;       /* owned; by end: its collective, or DEPENDENCY_NONE */
    struct dependency_wait *waits; /* owned; of leaves for ends that enter */
    size_t wait_count, wait_capacity;
    uint32_t collective_count;
    const struct dependency_calls *calls;
};

/** @return 0 or -ENOMEM */
int dependency_ends_init(struct dependency_ends *e, const struct dependency_calls *calls);
void dependency_ends_finish(struct dependency_ends *e);

/** Find pairs. @return 0 or -ENOMEM */
int dependency_match(struct dependency_ends *e, struct dependency_counts *counts);

/** How much the stamps of two ranks may differ. */
int64_t dependency_match_slack(const struct dependency_ends *e, const struct dependency_rank *a,
                               const struct dependency_rank *b);

/** Find which calls of ranks are one collective. @return 0 or -ENOMEM */
int dependency_collectives(struct dependency_ends *e, struct dependency_counts *counts);

/** The member of a collective, but a scan, that is a rank; DEPENDENCY_NONE: it is none. */
uint32_t dependency_member_of(const struct dependency_ends *e,
                              const struct dependency_collective *c, uint64_t rank);

/** Order all ends so that none stands before one that it depends on; pairs that prevent that are
 *  rejected. @param order  set; owned by the caller @return 0 or -ENOMEM */
int dependency_order(struct dependency_ends *e, uint32_t **order, struct dependency_counts *counts);

/** A figure of an event. */
typedef uint64_t dependency_value(const struct dependencies *d, uint32_t event);

/** The greatest value of those that a member of a collective waits for; 0: it waits for none. Asked
 * in the order of events, where all of them come before. Clear dependency_collective.entered
 * before.
 *  @param whole  that of all members together, or of the root */
uint64_t dependency_steps_most(struct dependencies *d, uint32_t member, dependency_value *value,
                               uint64_t whole);

/** Steps and lateness. @return 0 or -ENOMEM */
int dependency_steps(struct dependencies *d);

/** Nodes, edges, lanes and their figures. @return 0 or -ENOMEM */
int dependency_nodes(struct dependencies *d, const struct dependency_ends *e,
                     const struct dependency_wishes *wishes);

/** Load balance of all lanes from their messages. */
void dependency_balance(struct dependency_graph *graph);

/** Relative latency of edges. @param wishes  NULL: by medians alone @return 0 or -ENOMEM */
int dependency_latencies(struct dependencies *d, const struct dependency_wishes *wishes);

/** Order edges of a graph as struct dependency_graph says. */
void dependency_sort_edges(struct dependency_graph *graph);

#endif
