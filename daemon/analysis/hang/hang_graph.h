/* The wait-for graph at the end of a window, shared by hang_graph.c (groups, edges and cycles) and
 * hang_report.c (the hangs that follow from it).
 * Nodes are ranks and groups. A group is the ranks that are in the same call on a communicator; it
 * waits for the members that have not reached it. A group has edges to the members that are late
 * for it but not for the group before it, and to that group: so there are at most as many edges as
 * members. */
#ifndef HOLTER_DAEMON_ANALYSIS_HANG_HANG_GRAPH_H
#define HOLTER_DAEMON_ANALYSIS_HANG_HANG_GRAPH_H

#include "daemon/analysis/hang/hang_watch.h"
#include "daemon/analysis/tables/arena.h"

/* A rank in a counted call, or a member that is in no such call. */
struct hang_entry {
    uint64_t comm, ordinal; /* ordinal: calls completed before this one */
    uint32_t call;          /* 0: in none */
    uint32_t rank;
};

struct hang_group {
    uint64_t comm, ordinal, longest_ns;
    uint32_t call;
    uint32_t first, count;         /* ranks in the call: range in entries */
    uint32_t waiter;               /* of these, the one that waits longest */
    uint32_t behind, behind_count; /* range in absent: members that it waits for */
    uint32_t lower;                /* previous group; HANG_NONE: none */
    uint32_t members;              /* known members of the communicator */
    uint32_t rival; /* group in another call with the same ordinal; HANG_NONE: none */
};

struct hang_edge {
    uint32_t to;
    uint8_t hard; /* 0: one of several messages of a call, some of which may have arrived */
};

struct hang_graph {
    struct hang_watch *watch;
    struct arena memory;        /* of all arrays but `absent` and `edges`, which are owned */
    struct hang_entry *entries; /* ranks in counted calls, sorted */
    uint32_t entry_count;
    struct hang_entry *absent; /* members in no counted call; sorted for each communicator */
    uint32_t absent_count, absent_capacity;
    struct hang_group *groups;
    uint32_t group_count;
    uint32_t *group_of; /* by rank; HANG_NONE: none */
    uint32_t nodes;     /* ranks, then groups */
    uint32_t *edge_of;  /* by node, nodes + 1: its first edge */
    struct hang_edge *edges;
    uint32_t edge_count, edge_capacity;
    uint32_t *component, *visit, *low, *stack, *frames, *next; /* scratch memory of the search */
    uint32_t *order;     /* nodes, component by component, dependencies first */
    uint32_t *hang_of;   /* by node: index in watch.hangs; HANG_NONE: none */
    uint32_t *named;     /* capacity for a list of all ranks */
    uint64_t *waited;    /* by rank: longest wait for a message from it */
    uint32_t *waiter;    /* by rank: the rank with that wait */
    uint64_t *completed; /* by rank, for communicators of the whole world */
};

static inline const struct hang_seat *hang_graph_seat(const struct hang_graph *g, uint32_t rank)
{
    return &g->watch->seats[rank];
}

static inline int hang_graph_is_stuck(const struct hang_graph *g, uint32_t rank)
{
    return hang_is_stuck(g->watch, hang_graph_seat(g, rank));
}

/** Counted calls of a rank on a communicator that have ended. */
uint64_t hang_graph_completed(const struct hang_graph *graph, uint64_t comm, uint32_t rank);

/** Finds the strongly connected components. They are numbered, and nodes ordered, so that what is
 *  waited for comes first.
 *  @param hard  follow hard edges only */
void hang_graph_components(struct hang_graph *graph, int hard);

/** Whether a node waits for itself. */
int hang_graph_loops(const struct hang_graph *graph, uint32_t node);

/** Whether anything in a component waits, or may wait, for something outside of it. @param from, to
 * its nodes, in order */
int hang_graph_escapes(const struct hang_graph *graph, uint32_t from, uint32_t to);

/** Writes the hangs of the watch. Groups and edges must exist. */
void hang_report_all(struct hang_graph *graph);

#endif
