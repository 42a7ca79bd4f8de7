/* The network of a job for which none is described: the tree of what agents can see. One switch,
 * below it the hosts of the job, in them NUMA nodes and cores with ranks on them.
 *
 * A rank sits on its core where that is known, else on a vertex of its own in its NUMA node or
 * host: a rank that may run on several cores shares none. If there were more than
 * NETWORK_TREE_MAX_VERTICES vertices, cores and vertices of ranks are left out, then NUMA nodes,
 * and ranks sit a level higher.
 *
 * The result does not depend on the order of hosts and ranks, except for hosts with the same name
 * and lowest rank. */
#ifndef HOLTER_DAEMON_TOPOLOGY_NETWORK_TREE_H
#define HOLTER_DAEMON_TOPOLOGY_NETWORK_TREE_H

#include "daemon/analysis/network/topology.h"

/** The loads of larger trees are not worth the time that they take in each window. */
#define NETWORK_TREE_MAX_VERTICES 16384u

struct tree_host {
    const char *name;
    uint32_t lowest; /**< lowest rank on it; TOPOLOGY_NONE: no ranks */
    double capacity; /**< bytes a second of its link to the switch; 0: unknown */
    uint32_t vertex; /**< set */
};

struct tree_rank {
    uint32_t rank;       /**< in MPI_COMM_WORLD, below 2^31 */
    uint32_t host;       /**< position among the hosts */
    uint32_t core, numa; /**< 1 + number on the host; 0: unknown */
    uint32_t vertex;     /**< set: its seat */
};

/** Make the tree. @param out  set on success; topology_spec_finish() it
 * @return 0, -ENOMEM, or -HOLTER_ELIMIT: more hosts than topologies have vertices */
int network_tree(struct topology_spec *out, struct tree_host *hosts, uint32_t host_count,
                 struct tree_rank *ranks, size_t rank_count);

/** Make the topology of the tree. Names of hosts may be so odd that they contradict each other:
 * then the tree goes without names, which are dropped from the spec.
 * @param why  set to the contradiction, to "" where there is none
 * @return 0 or a negative error */
int network_tree_topology(struct topology **out, struct topology_spec *spec, char *why,
                          size_t capacity);

/** Compare host names as people sort them: n2 before n10. */
int network_compare_hosts(const char *a, const char *b);

#endif
