/* The network that all jobs share: given to the daemon with --topology, or contained in a
 * recording. */
#ifndef HOLTER_DAEMON_TOPOLOGY_SHARED_NETWORK_H
#define HOLTER_DAEMON_TOPOLOGY_SHARED_NETWORK_H

#include "daemon/topology/topology_file.h"

#define NETWORK_TEXT 513u

/** Zero-initialised: none was given. */
struct network {
    struct topology_file file; /**< its topology is NULL when it is not usable */
    char source[NETWORK_TEXT]; /**< the argument: a file or a short form; "": none */
    char fault[NETWORK_TEXT];  /**< why it is not usable; "": it is, or none was given */
    int is_grid;          /**< each job has the network of its process grid, see network_grid.h */
    uint64_t fingerprint; /**< of the description, not of where it stands: networks that differ in
                             anything have different ones; 0: none was given */
};

/** Read a file or short form; NETWORK_GRID is neither. Each fault is logged, and the first is
 * stored.
 * @param given  NULL or "": nothing is read */
void network_read(struct network *out, const char *given);

/** Make a network from its description, as of a recording.
 * @param spec   copied; NULL: none
 * @param source, fault  copied */
void network_make(struct network *out, const struct topology_spec *spec, const char *source,
                  const char *fault);

/** Are the nodes identified by host name? Otherwise the hosts of a job are placed in their order.
 */
int network_names_hosts(const struct network *network);

/** Zero-initialised is fine. */
void network_finish(struct network *network);

#endif
