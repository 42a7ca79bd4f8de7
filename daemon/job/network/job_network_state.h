/* The inside of a job's network, shared by job_network.c (where ranks sit), job_network_window.c
 * (what a window puts on the links), job_network_counters.c (what was counted there) and
 * job_network_rows.c (what is published of it). */
#ifndef HOLTER_DAEMON_JOB_NETWORK_JOB_NETWORK_STATE_H
#define HOLTER_DAEMON_JOB_NETWORK_JOB_NETWORK_STATE_H

#include "daemon/analysis/network/congestion.h"
#include "daemon/job/network/job_measured.h"
#include "daemon/job/network/job_network.h"
#include "daemon/topology/network_grid.h"

#define NETWORK_NO_NODE UINT32_MAX

/** A node of the job. */
struct network_node {
    char host[65]; /**< "": none of its ranks is known */
    uint32_t lowest;
    uint32_t vertex;           /**< TOPOLOGY_NONE: not in the network */
    uint32_t uplink, downlink; /**< in the tree: its links to and from the switch */
    double speed; /**< bytes a second of its interfaces of the fastest medium; 0: not known */
    int missed;   /**< it was logged that the network does not have it */
};

struct network_rank {
    uint32_t node; /**< NETWORK_NO_NODE: not known */
    uint32_t core, numa;
};

/** The network in use. */
struct network_graph {
    const struct topology *topology;
    struct topology *own; /**< NULL: it is the daemon's */
    uint64_t links;       /**< numbers that stand for a link */
    int is_grid;          /**< of the job's processes */
};

/** Figures of a pair of vertices in the window. */
struct network_pair {
    uint32_t destination;
    uint32_t place; /**< in the pairs of the window, when those of its source are in order */
    uint64_t bytes, messages;
};

/** Latencies of the matched messages of a pair of vertices. */
struct network_latency {
    uint64_t messages;
    double log; /**< sum of logarithms, in the parts of log2_sum: whole numbers */
};

/** What is asked of a pair of vertices for each message: where it ends, and which pair the latency
 * was of that came behind one of it, or may come. */
struct network_next {
    uint32_t destination; /**< NETWORK_NO_PAIR: it is none */
    uint32_t behind;
};

/** Where a row of the window's pairs of ranks, or of its latencies, counts: position in the pairs
 * of vertices, or one of these. */
#define NETWORK_NO_PAIR                                                                            \
    (UINT32_MAX - 2) /**< latencies: its vertices have sent nothing in this window */
#define NETWORK_ON_VERTEX (UINT32_MAX - 1) /**< it stays on its vertex: it loads nothing */
#define NETWORK_UNPLACED UINT32_MAX        /**< one of its ranks has no seat */

struct job_network {
    struct job_network_options options;
    struct network_node *nodes; /**< owned, all arrays */
    uint32_t node_count, node_room;
    struct network_rank *ranks;
    uint32_t rank_count, rank_room;
    uint32_t *seats;   /**< by rank */
    uint32_t *by_seat; /**< ranks with a seat, by that, then by rank */
    uint32_t seated, seat_room;
    uint64_t placed; /**< ranks that have a node */

    struct network_grid grid;    /**< of processes; kept where it is asked for */
    int grid_changed;            /**< since `graph` was made of it */
    struct network_graph *graph; /**< NULL: none */
    uint64_t made;               /**< graphs so far */
    struct congestion *congestion;
    int places_changed; /**< since the network was made */
    int changed;        /**< since it was published */
    int closed;         /**< a window was closed */
    size_t missed_told;

    struct job_measured before; /**< what counters measured in the windows so far */

    /* the window that was closed last */
    uint64_t window;
    struct counter_rows counters;
    struct congestion_pair
        *pairs; /**< of vertices, ascending; what those that rows count in sent is in `loads` */
    size_t pair_count, pair_room;
    struct link_load *loads; /**< by pair that rows count in: what it sent */
    size_t load_room;
    uint64_t bytes, unplaced;
    uint32_t *places; /**< by row of pairs of ranks: the pair of vertices that it adds to */
    size_t place_room;
    size_t row_pairs;         /**< of `pairs`, those that rows count in: the first */
    struct network_latency *latencies; /**< by pair that rows count in */
    size_t latency_room;
    struct congestion_link hot[JOB_NETWORK_HOT]; /**< largest first */
    size_t hot_count;
    size_t measured_count;         /**< in `measured` */
    int rows_made;                 /**< of links and interfaces: made when they are asked for */
    struct congestion_link *links; /**< those that are published, by number: likewise */
    size_t link_count, link_room;
    struct wire_link_row *link_rows; /**< largest first */
    size_t link_rows_count, link_rows_room;
    struct wire_link_route_row *route_rows;
    size_t route_rows_count, route_rows_room;
    struct wire_interface_row *interface_rows;
    size_t interface_rows_count, interface_rows_room;
    uint64_t states[4]; /**< links in each */
    uint64_t left_out;

    /* memory that is reused from window to window */
    size_t *first;   /**< by rank: position of its first pair; rank_count + 1 of them */
    uint32_t *slots; /**< by vertex that is marked: position in `group` */
    uint64_t
        *marks; /**< bits of the vertices in `group`; behind them, of the words that are not 0 */
    uint32_t *begins;           /**< by vertex: position of its first pair in `pairs` */
    uint32_t *turns;            /**< by vertex: pair of its last latency; row_pairs: it has none */
    struct network_next *nexts; /**< by pair that rows count in, and one that is none */
    size_t first_room, slot_room, mark_room, mark_words, begin_room, turn_room, next_room;
    struct network_pair *group; /**< of one sending vertex */
    size_t group_count, group_room;
    struct network_measured *measured;
    size_t measured_room;
};

/** What the interfaces at one end of a link have counted. */
struct network_measured {
    uint32_t link;
    int receiver; /**< 1: counted where the link ends */
    int packets;
    uint64_t amount;
};

/** Build the network and the vertices of ranks again, if places have changed. @return 0 or -ENOMEM
 */
int job_network_rebuild(struct job_network *n);

/** Begin to follow the links of a network that windows are closed on. @return 0 or -ENOMEM */
int job_network_follow_links(struct job_network *n);

/** Is the network the tree of all hosts below one switch, or would it be? */
int job_network_is_tree(const struct job_network *n);

/** Loads of the window by pairs of vertices. @return 0 or -ENOMEM */
int job_network_add_pairs(struct job_network *n, const struct closed_window *window);

/** Give the congestion what counters measured. @return 0 or -ENOMEM */
int job_network_measure(struct job_network *n);

/** In the tree a link of a host is as fast as the interfaces of the host together. */
void job_network_update_speeds(struct job_network *n);

/** Find the hot links of the window. Rows of links and interfaces are made when they are asked for,
 * since often nobody does. @return 0 or -ENOMEM */
int job_network_rows(struct job_network *n, const struct closed_window *window);

/** Links of an interface. */
void job_network_interface(const struct job_network *n, const struct counter *counter,
                           uint32_t *link_out, uint32_t *link_in);

#endif
