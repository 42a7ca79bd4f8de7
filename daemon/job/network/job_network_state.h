/* The inside of a job's network, shared by job_network.c (where ranks sit), job_network_window.c
 * (what a window puts on the links), job_network_counters.c (what was counted there) and
 * job_network_rows.c (what is published of it). */
#ifndef HOLTER_DAEMON_JOB_NETWORK_JOB_NETWORK_STATE_H
#define HOLTER_DAEMON_JOB_NETWORK_JOB_NETWORK_STATE_H

#include "daemon/analysis/network/congestion.h"
#include "daemon/analysis/network/link_loads.h"
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
    int missed;   /**< the network does not have it */
    int logged;   /**< that was logged */
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

struct job_network {
    struct job_network_options options;
    int by_node;                /**< see job_network_set_by_node() */
    struct network_node *nodes; /**< owned, all arrays */
    uint32_t node_count, node_capacity;
    struct network_rank *ranks;
    uint32_t rank_count, rank_capacity;
    uint32_t *seats;     /**< by rank */
    uint32_t *by_vertex; /**< ranks that have a vertex, by vertex, then by rank */
    uint32_t placed_ranks, seat_capacity;

    struct network_grid grid;    /**< of processes; kept where it is asked for */
    int grid_changed;            /**< since `graph` was made of it */
    struct network_graph *graph; /**< NULL: none */
    uint64_t made;               /**< graphs so far */
    struct congestion *congestion;
    int places_changed; /**< since the network was made */
    int lowest_moved; /**< the lowest rank of a node is on another one: see job_network_end_places()
                       */
    int changed;      /**< since it was published */
    int closed;       /**< a window was closed */
    size_t missed;    /**< nodes that the network does not have */
    size_t missed_reported; /**< that were logged */

    struct job_measured before; /**< what counters measured in the windows so far */

    /* the window that was closed last */
    uint64_t window;
    struct counter_rows counters;
    struct congestion_pair *pairs; /**< of vertices: those that have sent, ascending, then others */
    size_t pair_count, pair_capacity;
    uint64_t bytes, unplaced;
    struct link_loads *collectives; /**< of this graph; NULL: there were none yet */
    uint64_t collective_bytes, collective_unplaced;
    int collectives_loaded; /**< in the last window; also by messages without bytes */
    struct congestion_link hot[JOB_NETWORK_HOT]; /**< largest first */
    size_t hot_count;
    size_t measured_count;         /**< in `measured` */
    int rows_made;                 /**< of links and interfaces: made on request */
    struct congestion_link *links; /**< those that are published, by number: likewise */
    size_t link_count, link_capacity;
    struct wire_link_row *link_rows; /**< largest first */
    size_t link_rows_count, link_rows_capacity;
    struct wire_link_route_row *route_rows;
    size_t route_rows_count, route_rows_capacity;
    struct wire_interface_row *interface_rows;
    size_t interface_rows_count, interface_rows_capacity;
    uint64_t states[4]; /**< links in each */
    uint64_t left_out;

    /* memory that is reused from window to window */
    size_t *first; /**< by rank: position of its first pair; rank_count + 1 of them */
    size_t first_capacity;
    struct network_measured *measured;
    size_t measured_capacity;
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

/** Give the congestion what counters measured. @return 0 or -ENOMEM */
int job_network_measure(struct job_network *n);

/** In the tree a link of a host is as fast as the interfaces of the host together. */
void job_network_update_speeds(struct job_network *n);

/** Bring the loads of collectives up to date. @return 0 or -ENOMEM */
int job_network_add_collectives(struct job_network *n, const struct closed_window *window);

/** Of the last window. */
struct link_load job_network_collective_load(const struct job_network *n, uint32_t link);

/** Add the links that only collectives load to those that are published. @return 0 or -ENOMEM */
int job_network_list_collective_links(struct job_network *n);

/** Find the hot links of the window. Rows of links and interfaces are built on demand, since they
 * often are not needed. @return 0 or -ENOMEM */
int job_network_rows(struct job_network *n, const struct closed_window *window);

/** Links of an interface. */
void job_network_interface(const struct job_network *n, const struct counter *counter,
                           uint32_t *link_out, uint32_t *link_in);

#endif
