/* Who waits for whom at the end of a window: what hang_graph.c (groups, edges and circles) and
 * hang_report.c (the hangs that come of them) share.
 *
 * Nodes are ranks and groups: the ranks that are in the same call on a communicator, which wait for
 * those members that have not come to it. A group waits for the members that are behind it but not
 * behind the group before it, and for that group: so there are at most as many edges as members. */
#ifndef HOLTER_DAEMON_ANALYSIS_HANG_HANG_GRAPH_H
#define HOLTER_DAEMON_ANALYSIS_HANG_HANG_GRAPH_H

#include "daemon/analysis/hang/hang_watch.h"

/* A rank in a counted call, or a member that is in none. */
struct hang_entry {
    uint64_t comm, ordinal; /* ordinal: calls completed before */
    uint32_t call;          /* 0: in none */
    uint32_t rank;
};

struct hang_group {
    uint64_t comm, ordinal, longest_ns;
    uint32_t call;
    uint32_t first, count;         /* of those who came to it, in entries */
    uint32_t waiter;               /* of them, who waits longest */
    uint32_t behind, behind_count; /* in absent: those it waits for */
    uint32_t lower;                /* group before it; HANG_NONE: none */
    uint32_t members;              /* of the communicator, known ones */
    uint32_t rival; /* group of another call with the same ordinal; HANG_NONE: none */
};

struct hang_edge {
    uint32_t to;
    uint8_t hard; /* 0: one of several that a call waits for; some of them may have come */
};

struct hang_graph {
    struct hang_watch *watch;
    struct hang_entry *entries; /* ranks in counted calls, sorted */
    uint32_t entry_count;
    struct hang_entry *absent; /* members in none, for the groups; sorted for each communicator */
    uint32_t absent_count, absent_room;
    struct hang_group *groups;
    uint32_t group_count;
    uint32_t *group_of; /* by rank; HANG_NONE: none */
    uint32_t nodes;     /* ranks, then groups */
    uint32_t *edge_of;  /* by node, nodes + 1: its first edge */
    struct hang_edge *edges;
    uint32_t edge_count, edge_room;
    uint32_t *component, *visit, *low, *stack, *frames, *next; /* of the search */
    uint32_t *order;     /* nodes, component by component, those waited for first */
    uint32_t *hang_of;   /* by node: index in watch.hangs; HANG_NONE: none */
    uint8_t *in_circle;  /* by node */
    uint32_t *named;     /* room for a list of ranks */
    uint64_t *waited;    /* by rank: longest wait of those that wait for it by message */
    uint32_t *waiter;    /* by rank: who */
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

/** Find the strongly connected components. They are numbered, and nodes ordered, so that what is
 * waited for comes first.
 *  @param hard  follow hard edges only */
void hang_graph_components(struct hang_graph *graph, int hard);

/** Does a node wait for itself? */
int hang_graph_loops(const struct hang_graph *graph, uint32_t node);

/** Does anything in a component wait for something outside of it? @param from, to  its nodes, in
 * order */
int hang_graph_escapes(const struct hang_graph *graph, uint32_t from, uint32_t to);

/** Set the watch's hangs. There are groups and edges. */
void hang_graph_tell(struct hang_graph *graph);

#endif
