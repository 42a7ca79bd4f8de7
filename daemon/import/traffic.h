/* Who sends how much to whom: from a recording of Holter, or from a file of another tool.
 *
 *   hop-byte file   "SOURCE DESTINATION BYTES [HOPS]" a line (par-comm-data)
 *   route file      "Hop 1: [12-0] 12 (0 1 1 0 0 0) -> 8 (0 1 0 0 0 0)" (par-comm-data): the volume
 * of routes is not known, so each pair has one message of one byte
 *
 * Processes are numbered from 0 in the order of their ids. Where ids are ranks (most numbers up to
 * the highest id occur in the file) the ranks in between that send nothing are processes too; where
 * ids are numbers of nodes, only those that occur are. */
#ifndef HOLTER_DAEMON_IMPORT_TRAFFIC_H
#define HOLTER_DAEMON_IMPORT_TRAFFIC_H

#include "daemon/analysis/network/remap/remap.h"
#include "daemon/topology/file_text.h"
#include "daemon/topology/network_grid.h"
#include "daemon/topology/topology_file.h"

#include <stddef.h>
#include <stdint.h>

#define PAIRS_FILE_BYTES ((size_t)1 << 30)

enum pairs_source { PAIRS_HOP_BYTES, PAIRS_ROUTES, PAIRS_RECORDING };

/** A host of a recording. */
struct pair_host {
    char name[65];
};

/** Where a process of a recording ran. */
struct pair_place {
    uint32_t host;       /**< position in hosts; UINT32_MAX: not known */
    uint64_t core, numa; /**< 1 + number on the host; 0: not known */
};

/** A line that states the length of a route: with a hop count, or the last hop of a route. */
struct pair_hops {
    uint32_t from, to, hops; /**< from, to: ids */
    unsigned line;
};

/** Zero-initialised is empty. Arrays are owned. */
struct pairs {
    enum pairs_source source;
    uint32_t processes;
    uint64_t *ids;            /**< by process, ascending: rank, or number of a node */
    struct remap_edge *edges; /**< each pair once, by (from, to); also of a process to itself */
    size_t edge_count;

    struct pair_hops *hops; /**< not of recordings; in the order of the lines */
    size_t hop_count;
    uint64_t wrong_lines; /**< lines of such a file that pairs_read_whole() left out */

    /* recordings only */
    char job[65];
    struct pair_host *hosts; /**< in the order of their lowest rank */
    uint32_t host_count;
    struct pair_place *places; /**< by process */
    struct network_grid grid;  /**< grid of its processes, if the recording has one */
    uint64_t left_out;         /**< messages whose pair the recording does not identify */
};

/** Read a file of any of these kinds; its beginning determines which.
 * @return 0, -HOLTER_EUSAGE for an error in the text, or another negative error; reported */
int pairs_read(struct pairs *out, const char *path, file_fault *tell, void *user);

/** The same, but malformed lines of a text are reported, counted and left out. A text without a
 * single well-formed line is refused. */
int pairs_read_whole(struct pairs *out, const char *path, file_fault *tell, void *user);

/** Read a hop-byte or route file from memory. */
int pairs_parse(struct pairs *out, const char *name, const char *text, size_t length,
                file_fault *tell, void *user);

/** Zero-initialised is fine. */
void pairs_finish(struct pairs *pairs);

/** Index of the process with an id; UINT32_MAX: there is none. */
uint32_t pairs_process(const struct pairs *pairs, uint64_t id);

/** The seats of the processes in a network: one vertex each.
 *
 *   hop-byte and route files: node = id / per_node
 *   recordings: by host name; if the network names no hosts: hosts sorted by name, n2 before n10,
 * on nodes 0, 1, ..., as in the daemon
 *
 * @param per_node  ranks a node; 0: as many as are needed for the highest id to have a node
 * @param out       set to memory for free()
 * @param why       set on failure @return 0, -ENOMEM or -HOLTER_EUSAGE */
int pairs_seats(uint32_t **out, const struct pairs *pairs, const struct topology_file *network,
                uint64_t per_node, char *why, size_t capacity);

/** Compare the hop counts of a hop-byte file with those of a network.
 * @param seats  of pairs_seats()
 * @param first  set to the first line that differs @return number of lines that differ */
size_t pairs_compare_hops(const struct pairs *pairs, const struct topology *topology,
                          const uint32_t *seats, const struct pair_hops **first);

/** The process grid of a recording as a network, and the processes' seats in it.
 * @param seats  NULL: not needed @param out, why  as below
 * @return 0, -ENOMEM, or -HOLTER_EUSAGE: there is no grid, or ranks have no seat in it */
int pairs_grid(struct topology_file *out, uint32_t **seats, const struct pairs *pairs, char *why,
               size_t capacity);

/** The network that a recording contains, else the tree of hosts, NUMA nodes and cores that agents
 * saw; and the processes' seats in it.
 * @param why  set on failure @return 0, -ENOMEM or another negative error */
int pairs_network(struct topology_file *out, uint32_t **seats, const struct pairs *pairs,
                  const char *path, char *why, size_t capacity);

#endif
