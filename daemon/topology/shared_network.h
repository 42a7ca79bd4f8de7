/* The network that the daemon was given with --topology, or that a recording has: what all jobs
 * share. */
#ifndef HOLTER_DAEMON_TOPOLOGY_SHARED_NETWORK_H
#define HOLTER_DAEMON_TOPOLOGY_SHARED_NETWORK_H

#include "daemon/topology/topology_file.h"

#define NETWORK_TEXT 513u

/** Zero-initialised: none was given. */
struct network {
    struct topology_file file; /**< its topology is NULL when there is none that can be used */
    char source[NETWORK_TEXT]; /**< what was given: a file or a short form; "": nothing */
    char fault[NETWORK_TEXT];  /**< why it cannot be used; "": it can, or nothing was given */
    int is_grid;               /**< each job has that of its processes, see network_grid.h */
};

/** Read a file or short form; NETWORK_GRID is neither. Each fault is logged, and the first is kept.
 *  @param given  NULL or "": nothing is read */
void network_read(struct network *out, const char *given);

/** A network whose description is known, as of a recording.
 *  @param spec   copied; NULL: there is none
 *  @param source, fault  copied */
void network_make(struct network *out, const struct topology_spec *spec, const char *source,
                  const char *fault);

/** Are nodes told by name? Otherwise the hosts of a job sit in it in their order. */
int network_names_hosts(const struct network *network);

/** Zero-initialised is fine. */
void network_finish(struct network *network);

#endif
