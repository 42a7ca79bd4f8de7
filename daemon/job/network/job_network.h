/* The network under one job: on which vertices its ranks are, what its messages put on each link,
 * and which links are hot (Visuco, section 4).
 *
 * The network is the one that the daemon was given, with ranks on the vertices of their hosts.
 * Where that names no hosts, the hosts of the job are on its nodes in the order of their names (n2
 * before n10), one a node. Without a network it is a tree, with all hosts below one switch
 * (network_tree.h); it grows with the hosts that agents report, and then loads and states begin
 * from scratch. Where the job's own process grid is asked for (network_grid.h), ranks are on their
 * coordinates in it; until the grid is known the tree stands for it.
 *
 * The messages of a window between ranks of different vertices load the links of their routes.
 * Those of a rank without a vertex, and those that an agent folded together, count as unplaced.
 * Only messages that ranks send each other count, not what an MPI library makes of collectives, and
 * no corrections. Beside each load stands what the interface of the node has counted, where one is
 * known to belong to the link: of links between two nodes that of the sender. In the tree, and
 * where a node has one link of no named interface, that link has the interfaces of its fastest
 * medium together.
 *
 * Memory: 24 bytes a rank, 100 a host, 4 for each row of pairs and 128 for each pair of vertices of
 * the window, what congestion.h says, and 230 for each link published, where anybody reads them.
 * All of it is bounded by the ranks, hosts and pairs of the job.
 *
 * A pure function of the job's messages. */
#ifndef HOLTER_DAEMON_JOB_NETWORK_JOB_NETWORK_H
#define HOLTER_DAEMON_JOB_NETWORK_JOB_NETWORK_H

#include "daemon/analysis/latency/latency.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "daemon/job/rows/closed_window.h"
#include "daemon/topology/network_message.h"
#include "daemon/topology/shared_network.h"
#include "holter/wire.h"

#define JOB_NETWORK_LINKS 16384u   /**< published of one window: 1.7 MB for each reader */
#define JOB_NETWORK_HOT 64u        /**< links whose ranks are published */
#define JOB_NETWORK_ROUTES 8u      /**< pairs of ranks that are published of one */
#define JOB_NETWORK_HOSTS_NAMED 8u /**< in the log, of those that the network does not have */

struct job_network;

struct job_network_options {
    const char *job;             /**< for the log; borrowed */
    const struct network *given; /**< borrowed; NULL: none */
    uint64_t window_ns;          /**< length of windows */
};

/** @return 0 or -ENOMEM */
int job_network_create(struct job_network **out, const struct job_network_options *options);

/** NULL is fine. */
void job_network_destroy(struct job_network *network);

/** Whether messages are those between nodes, as of jobs by groups of ranks: transfers have numbers
 *  of nodes in place of ranks, and all ranks of a host are on its vertex, in the tree, too. */
void job_network_set_by_node(struct job_network *network, int by_node);
int job_network_is_by_node(const struct job_network *network);

/** Where a rank runs.
 *  @param node  number of the node in the job @param host  its name; copied
 *  @param core, numa  as in WIRE_MEMBER_ROW
 *  @return 0 or -ENOMEM; then nothing changed */
int job_network_place(struct job_network *network, uint32_t rank, uint32_t node, const char *host,
                      uint64_t core, uint64_t numa);

/** After the places of a message: find the lowest rank on each node again, where the one that was
 * has moved to another node. */
void job_network_end_places(struct job_network *network);

/** Add the Cartesian communicators of a message that was validated.
 *  @return 0 or -ENOMEM */
int job_network_add_grids(struct job_network *network, const struct wire_ranks *message);

/** Bring the network up to date with a window that is closed, which is no correction. Its counters
 * are taken over: the window has none then, whatever is returned.
 *  @return 0 or -ENOMEM: links lack what was in it */
int job_network_update(struct job_network *network, const struct closed_window *window);

/** What counters measured on the links in the windows before the newest, the oldest is number 0:
 * see job_measured.h.
 *  @param out  without the job; borrowed until the next call @return whether there is one */
int job_network_measured_before(struct job_network *network, size_t number, struct wire_links *out);

/** Have the network or the vertices of ranks changed since they were published? Before the first
 * window is closed the current places are compared. */
int job_network_has_changed(struct job_network *network);

/** Mark them as published, or as to be published again. */
void job_network_set_published(struct job_network *network, int published);

/** Publish the network and the vertices of ranks as topic topology, if they are known.
 *  @param job  set in the messages */
void job_network_publish(struct job_network *network, const char *job, network_tell *publish,
                         void *user);

/** The last closed window as a message, but for the job; not cut into parts. Of more than
 * JOB_NETWORK_LINKS links hot ones come first, then those with most bytes. Made when it is
 * asked for the first time. Memory belongs to the network and holds until the next window is
 * closed, or job_network_measured().
 *  @return nonzero when there is one, and memory for it */
int job_network_links(struct job_network *network, struct wire_links *out);

/** Of the last closed window all links that are measured, by number; no more than window and links
 * are set. Memory is that of job_network_links(), which is made again after this.
 *  @return nonzero when there are some */
int job_network_measured(struct job_network *network, struct wire_links *out);

/** Describe what of the job is missing in the network that was asked for: its hosts, or the grid
 * itself.
 *  @param out  set to "" where nothing is known to be missing */
void job_network_describe_fault(const struct job_network *network, char *out, size_t capacity);

/** Hot and congested links that messages of these ranks load most, in words, separated by "; ".
 *  @param count  0: of all ranks @param out  set to "" where there are none */
void job_network_describe_hot(const struct job_network *network, const uint32_t *ranks,
                              size_t count, char *out, size_t capacity);

/** The network as of now; NULL: there is none yet. Borrowed until the next call that is not const.
 */
const struct topology *job_network_topology(struct job_network *network);

/** The lowest rank on the node of a rank; the rank itself, as long as its node is not known. */
uint64_t job_network_node_rank(const struct job_network *network, uint64_t rank);
/** Vertex of a rank; TOPOLOGY_NONE: not known. */
uint32_t job_network_vertex(const struct job_network *network, uint32_t rank);
/** One more than the highest rank that has a place. */
uint32_t job_network_ranks(const struct job_network *network);

/** The links of the route between two nodes of the job. @return how many there are; 0: there is no
 *  network, a node is not in it, or they share a vertex; the first `capacity` are set */
size_t job_network_route(const struct job_network *network, uint32_t from, uint32_t to,
                         uint32_t *links, size_t capacity);

/** "n3 to n4"; "" when there is no such link. */
void job_network_name_link(const struct job_network *network, uint32_t link, char *out,
                           size_t capacity);

/** How many networks the job has had: with a new one, routes change. */
uint64_t job_network_made(const struct job_network *network);

/** Does the network fit the places of ranks, as after the close of a window? Otherwise its state is
 * not copied. */
int job_network_is_settled(const struct job_network *network);
/** See state_bytes.h. @param options  as for job_network_create() */
void job_network_copy_state(struct state_bytes *b, struct job_network **network,
                            const struct job_network_options *options);

#endif
