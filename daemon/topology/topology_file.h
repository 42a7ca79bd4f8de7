/* Files that describe a network, and where hosts are in it: YAML, see holter-topology(5); Slurm's
 * topology.conf and topology.yaml; routes or hop counts as others recorded them, from which a
 * network is inferred.
 *
 * Which of these a file is, is seen from its text. What is wrong with it is told with file and
 * line. */
#ifndef HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_FILE_H
#define HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_FILE_H

#include "daemon/analysis/network/topology.h"
#include "daemon/topology/file_text.h"

#include <stddef.h>
#include <stdint.h>

#define TOPOLOGY_FILE_BYTES ((size_t)64 << 20) /**< longer ones are refused */

enum topology_format {
    TOPOLOGY_FORMAT_SHORT, /**< no file: "torus:4,4,4" */
    TOPOLOGY_FORMAT_YAML,
    TOPOLOGY_FORMAT_SLURM_CONF,
    TOPOLOGY_FORMAT_SLURM_YAML,
    TOPOLOGY_FORMAT_ROUTES, /**< par-comm-data: "Hop 1: [12-0] 12 (0 1 1 0 0 0) -> ..." */
    TOPOLOGY_FORMAT_HOPS,   /**< par-comm-data: source, destination, bytes, hops */
    TOPOLOGY_FORMAT_GRID,   /**< no file: the process grid of a job */
};

/** What was read. Zero-initialised is empty. */
struct topology_file {
    struct topology *topology; /**< owned; immutable */
    uint32_t *hosts;           /**< owned: nodes that the file names, by name */
    uint32_t host_count;
    enum topology_format format;

    /* of recorded routes and hops */
    uint32_t per_node;     /**< ids a node */
    uint32_t routes, gaps; /**< complete routes, and those that lack hops, which tell nothing */
    char *remarks; /**< owned: "12: route 4-0: hops before this one are missing\n" ..., the first
                      hundred; NULL: none */
};

/** Read a file. Blocks; memory is bounded by TOPOLOGY_FILE_BYTES and the limits of topology.h.
 *  @param out   set on success; finish it
 *  @param tell  called at least once on failure, at most about a hundred times, each time with a
 * line of text: "net.yaml:12: nodes: host n3 stands there twice"
 *  @return 0, -HOLTER_EUSAGE for what is wrong with the text, -ENOMEM, or what open(2) or read(2)
 * say */
int topology_file_read(struct topology_file *out, const char *path, file_fault *tell, void *user);

/** The same from memory. @param name  of the file, for faults. Any bytes will do: no file is
 * opened. */
int topology_file_parse(struct topology_file *out, const char *name, const char *text,
                        size_t length, file_fault *tell, void *user);

/** What people give to `--topology`: a short form, see topology_short(), else the path of a file.
 * "cart", the process grid of a job (daemon/topology/network_grid.h), is neither: a fault. */
int topology_file_given(struct topology_file *out, const char *given, file_fault *tell, void *user);

/** Vertex of a host: by its full name, then by what is before its first dot; then hosts whose full
 * name begins with that. TOPOLOGY_NONE: the file does not have it. Thread-safe. */
uint32_t topology_file_host(const struct topology_file *file, const char *host);

/** Find the hosts of a file whose topology was set otherwise. @return 0 or -ENOMEM */
int topology_file_index(struct topology_file *file);

/** "YAML", "Slurm topology.conf": static text. */
const char *topology_format_name(enum topology_format format);

/** Zero-initialised is fine. To keep the topology, set it to NULL before. */
void topology_file_finish(struct topology_file *file);

#endif
