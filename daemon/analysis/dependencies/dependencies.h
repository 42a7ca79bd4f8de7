/* Dependencies among ranks: the graph of PCLVis, sections 5.2 and 5.3, with logical steps and
 * lateness (Isaacs et al., "Ordering traces logically").
 *
 * Order. An event depends on the event before it in its rank, and a receive on its send. Nothing
 * else decides: stamps of two nodes are not compared for it. The step of an event is the number of
 * events on the longest chain of dependencies that ends in it, less one: events of one step are
 * concurrent in the sense of PCLVis, Discipline 2, and a send has a lower step than its receive,
 * as vector clocks have it (Eq. 4-6), at a constant cost for each event.
 *
 * Matching. The n-th send of a channel (sender, receiver, communicator, tag) belongs to its n-th
 * receive, both in the order of the posts. Where threads are not complete, the rings that were
 * read may begin at different messages: then the receives are shifted against the sends as far as
 * sizes, and the times of both ends within the error of their clocks, allow, so that the fastest
 * message takes the least time. Such messages are counted as aligned: their pairs are likely, and
 * not certain, above all where clocks may be wrong by half the time between two messages of a
 * channel. A pair that contradicts itself (sizes), or that would make the order a cycle, is
 * rejected and counted. So the order is acyclic, whatever the records say.
 *
 * Collectives. A rank enters one at the entry of its call, and leaves it at the exit, or, where it
 * is immediate, at the exit of the call that completes it. To leave a collective depends on those
 * who enter it, as call_flow_of() has it: on all of them, or on the root, or, of the root, on the
 * others, or, in a scan, on those before it in the communicator, or, in a collective of neighbours,
 * on the neighbours that send to the rank, as far as they are known: those of a trace are not. So
 * all ranks of a collective meet in one place, and not each with each. The n-th collective of a
 * rank on a communicator is the n-th one of each other rank; where rings begin in the middle, the
 * calls of a rank are shifted against those of the rank that has most of them, so that they are the
 * same calls, overlap where none may leave before all have entered, and end at the same times as
 * far as possible. Ranks of a collective of neighbours may run ahead of each other, so that this
 * may pair calls of two rounds: its waits are counted as aligned, and a wait for a neighbour that
 * entered after the rank had left is rejected. To enter a collective of the first kind has one step
 * in all of its ranks, the greatest, so that the ranks are compared: who enters last is late by the
 * time that the first one waits.
 *
 * Receives and collectives that one call completes (MPI_Waitall) do not depend on each other: they
 * have one step, and which of their messages came last is estimated, from the times at which they
 * were sent and what messages like them normally take.
 *
 * Nodes. PCLVis, Algorithm 1: a node is a run of a rank's receives and the sends after them; to
 * enter a collective counts as a send there, and to leave it as a receive. Since
 * all receives of a node precede all its sends, the graph of nodes is acyclic where the order of
 * events is. The layer of a node is the longest chain of nodes before it.
 *
 * Lateness. Of an event: its end less the earliest one of its step. Of one that enters a collective
 * its begin counts, and of a send whose call receives as well (MPI_Sendrecv), or goes on: there it
 * is not known when the send ended, and who waits in it is not late. So it is of a send that
 * lasted until its receiver had come to the call that received it: what follows in the rank depends
 * on that receive, too. What an event adds to the
 * greatest lateness of those that it depends on was caused in its rank, since the event before.
 *
 * All of it takes O(n log n) for n ends. */
#ifndef HOLTER_DAEMON_ANALYSIS_DEPENDENCIES_DEPENDENCIES_H
#define HOLTER_DAEMON_ANALYSIS_DEPENDENCIES_DEPENDENCIES_H

#include "daemon/analysis/dependencies/dependency_calls.h"

/** A send or a receive; or one end of a collective, which a rank enters or leaves. */
struct dependency_event {
    uint64_t bytes;
    int64_t begin_ns, end_ns; /**< of its call; both its begin where it enters a collective, or is
                                   the send of a call that receives or goes on */
    uint64_t lateness_ns;     /**< against the earliest event of its step */
    uint64_t caused_ns;       /**< of that, not inherited from an event that it depends on */
    uint32_t rank, peer;      /**< of a collective its root, or DEPENDENCY_NONE */
    int32_t tag;
    uint32_t collective; /**< its position; DEPENDENCY_NONE: it is a message's */
    uint32_t member;     /**< of a collective: position in members */
    uint32_t group;      /**< the first of those that the same call completed, or itself */
    uint32_t match;      /**< position of the other end; DEPENDENCY_NONE: not matched */
    uint32_t node;       /**< position of its node */
    uint32_t edge;       /**< position of its message; DEPENDENCY_NONE: not matched */
    uint32_t step;
    uint16_t call;   /**< holter/call.h */
    uint8_t receive; /**< or it leaves a collective */
    uint8_t blocked; /**< a blocking send that waited for its receiver, which came later: its end is
                        its begin, and what follows in its rank inherits from the receive */
};

/** A collective of ranks. */
struct dependency_collective {
    uint64_t comm;    /**< job-wide id of the communicator */
    uint32_t first;   /**< its members stand together from this position on */
    uint32_t count;   /**< of members that are known, one or more */
    uint32_t root;    /**< rank; DEPENDENCY_NONE: it has none */
    uint32_t awaited; /**< event that the others wait for: the last one to enter, or the root's, or
                           in a scan the last one but that of the last rank; DEPENDENCY_NONE: not
                           known */
    uint32_t layer;   /**< nodes that leave it are in this layer or a later one */
    uint32_t step;    /**< greatest of the events that others wait for */
    int64_t first_ns, last_ns; /**< when the first and the last rank entered */
    int64_t end_ns;            /**< when the last rank left it, as far as known */
    uint64_t lateness_ns;      /**< greatest of the events that others wait for */
    uint32_t entered;          /**< working memory */
    uint16_t call;             /**< that names it, as MPI_Iallreduce */
};

/** Events of a rank in a collective. */
struct dependency_member {
    uint32_t first_wait, waits; /**< for neighbours: they stand together in the waits */
    uint32_t
        first_sink; /**< working memory: wait of a neighbour for this rank, or DEPENDENCY_NONE */
    uint32_t enter, leave; /**< leave: DEPENDENCY_NONE: it is still in the call */
    uint32_t awaited;      /**< event: of those that the rank waits for the last one to enter;
                                DEPENDENCY_NONE: it waits for none, or that is not known */
    uint32_t comm_rank;    /**< number of the rank in the communicator; 0: not known */
    uint64_t most;         /**< working memory */
    uint64_t lateness_ns;  /**< greatest of those that the rank waits for */
};

/** A rank waits for a neighbour in a collective. */
struct dependency_wait {
    uint32_t enter;     /**< event of the neighbour; DEPENDENCY_NONE: outside of the graph */
    uint32_t leave;     /**< working memory: of the rank; DEPENDENCY_NONE: it is in the call */
    uint32_t next_sink; /**< working memory: the next wait for the same neighbour */
};

/** What a rank, or all ranks of a host together, do between two runs of sends: a glyph. */
struct dependency_node {
    uint32_t lane;         /**< vertical place: position in lanes */
    uint32_t layer;        /**< horizontal place */
    uint32_t first, count; /**< its events stand together from this position on; DEPENDENCY_NONE: it
                              has several nodes of ranks, and count events together */
    uint32_t first_step, last_step;
    uint32_t receives, sends;
    uint64_t received_bytes, sent_bytes;
    int64_t begin_ns, end_ns;
    uint64_t lateness_ns, caused_ns; /**< greatest of its events; sum of its events */
    double latency; /**< mean relative latency of the messages that it received; 0: not known */
    uint32_t timed; /**< messages that it received whose latency is known */
};

/** A matched message; or all messages of one node to another, aggregated. */
struct dependency_edge {
    uint32_t from, to;      /**< positions of nodes */
    uint32_t send, receive; /**< positions of events; of several messages: of the slowest one */
    uint64_t messages, bytes;
    int64_t transfer_ns; /**< receive's end less send's begin, as the clocks have it; of several:
                              the mean */
    double latency;      /**< PCLVis, Eq. 1: transfer time by the reference of the job for its size
                              class and locality, or else by the median of those in the graph; of
                              several the greatest. 0: not known, for one of both is not positive */
};

/** A row of the picture: a rank, or a host. */
struct dependency_lane {
    uint32_t id;          /**< rank, or position of the host */
    uint32_t host;        /**< position in the hosts of the calls */
    uint32_t ranks;       /**< in the lane */
    int is_host;          /**< it is a host's: id is that */
    uint64_t messages;    /**< sent and received: mc_p of PCLVis, section 5.3.1 */
    double balance;       /**< LB_p of Eq. 8; 0 where all are alike */
    uint64_t lateness_ns; /**< greatest of its events */
    uint64_t caused_ns;   /**< sum of what its events caused */
    double latency;       /**< mean relative latency of the messages that it received */
    uint32_t timed;       /**< of them, those whose latency is known */
};

/** A graph: of ranks, or of hosts. Layers, and so the order of nodes, are the same in both. */
struct dependency_graph {
    struct dependency_node *nodes; /**< owned; by lane, then layer */
    uint32_t node_count;
    struct dependency_edge *edges; /**< owned; by `from`, then `to`, then send */
    uint32_t edge_count;
    struct dependency_lane *lanes; /**< owned; by id */
    uint32_t lane_count;
    uint32_t layers; /**< number of them */
};

struct dependency_counts {
    uint64_t ends;          /**< of messages */
    uint64_t matched;       /**< messages: edges */
    uint64_t aligned;       /**< of them, those of channels that began before the records do */
    uint64_t aligned_waits; /**< for neighbours, in collectives that began before the records do */
    uint64_t unmatched;  /**< ends without the other end: of messages that went on before or after,
                              or with ranks of which there are no records */
    uint64_t rejected;   /**< pairs that contradicted each other: both ends count as unmatched, too;
                              and calls of collectives that contradict those of other ranks, and
                              neighbours that entered after the rank had left */
    uint64_t cut;        /**< matched messages of which one end is outside of the span or ranks: the
                              other end counts as unmatched, too */
    uint64_t referenced; /**< messages whose latency is by the reference of the job */
    uint64_t backward;   /**< messages that arrived before they were sent, as the clocks have it */
};

struct dependencies {
    struct dependency_event *events; /**< owned; by rank, then in its order */
    uint32_t event_count;
    uint32_t *order; /**< owned; positions of events: none before one that it depends on */
    uint32_t steps;  /**< number of them */
    struct dependency_collective *collectives; /**< owned; by communicator, then in their order */
    struct dependency_member *members;         /**< owned; of each collective by rank, of a scan by
                                                    the number in the communicator */
    struct dependency_wait *waits;             /**< owned; of each member together */
    uint32_t collective_count;
    struct dependency_graph ranks;
    struct dependency_counts counts;
    uint64_t lateness_ns; /**< the greatest */
    int64_t begin_ns, end_ns;
};

struct dependency_wishes {
    int64_t from_ns, to_ns; /**< only events whose calls overlap it; both 0: all */
    /** Is the rank one of those that are to be in the graph? NULL: all are. */
    int (*has_rank)(void *user, uint32_t rank);
    void *user;
    /** What messages normally take in the job; interpolated rows are ignored. NULL: not known. */
    const struct wire_criterion_row *criteria;
    size_t criteria_count;
};

/** @param wishes  NULL: all
 *  @param out  finish it; empty on failure
 *  @return 0 or -ENOMEM */
int dependencies_make(struct dependencies *out, const struct dependency_calls *calls,
                      const struct dependency_wishes *wishes);
void dependencies_finish(struct dependencies *d);

/** Put the ranks of each host together.
 *  @param open  a host whose ranks keep lanes of their own; DEPENDENCY_NONE: none
 *  @param out   finish it; lanes are by the lowest rank of their host
 *  @return 0 or -ENOMEM */
int dependencies_aggregate(const struct dependencies *d, uint32_t open,
                           struct dependency_graph *out);
void dependency_graph_finish(struct dependency_graph *graph);

/** Does an event wait for those that enter its collective? */
int dependencies_waits_in_collective(const struct dependencies *d,
                                     const struct dependency_event *event);

/** Does an event enter a collective, so that others wait for it there? In one of neighbours some
 *  may do that are not known. */
int dependencies_is_awaited(const struct dependencies *d, const struct dependency_event *event);

/** "send", "receive", "enter" or "leave". */
const char *dependencies_event_name(const struct dependency_event *event);

/** The matched receive, or entry into a collective, of greatest lateness; of several the one of the
 *  highest step, and of those of one call the one that came last.
 *  @return its position; DEPENDENCY_NONE: there is none */
uint32_t dependencies_latest(const struct dependencies *d);

/** The critical chain that ends in an event: from each event to the latest of those that it
 *  depends on, back to one that depends on none.
 *  @param out  positions of events, that event first; capacity: of it
 *  @return number of events of the chain, of which at most capacity were written */
uint32_t dependencies_chain(const struct dependencies *d, uint32_t event, uint32_t *out,
                            uint32_t capacity);

#endif
