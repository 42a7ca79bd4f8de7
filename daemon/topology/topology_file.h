/* Files that describe a network, and the places of hosts in it: YAML, see holter-topology(5);
 * Slurm's topology.conf and topology.yaml; recorded routes or hop counts, from which a network is
 * inferred.
 *
 * The format is recognised from the text. Faults are reported with file and line. */
#ifndef HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_FILE_H
#define HOLTER_DAEMON_TOPOLOGY_TOPOLOGY_FILE_H

#include "daemon/analysis/network/topology.h"
#include "daemon/topology/file_text.h"

#include <stddef.h>
#include <stdint.h>

#define TOPOLOGY_FILE_BYTES ((size_t)64 << 20) /**< longer files are refused */

enum topology_format {
    TOPOLOGY_FORMAT_SHORT, /**< no file: "torus:4,4,4" */
    TOPOLOGY_FORMAT_YAML,
    TOPOLOGY_FORMAT_SLURM_CONF,
    TOPOLOGY_FORMAT_SLURM_YAML,
    TOPOLOGY_FORMAT_ROUTES, /**< par-comm-data: "Hop 1: [12-0] 12 (0 1 1 0 0 0) -> ..." */
    TOPOLOGY_FORMAT_HOPS,   /**< par-comm-data: source, destination, bytes, hops */
    TOPOLOGY_FORMAT_GRID,   /**< no file: the process grid of a job */
};

/** A description that was read. Zero-initialised is empty. */
struct topology_file {
    struct topology *topology; /**< owned; immutable */
    uint32_t *hosts;           /**< owned: nodes with a host name, sorted by name */
    uint32_t host_count;
    enum topology_format format;

    /* Only of recorded routes and hop counts. */
    uint32_t per_node;     /**< ids of a node */
    uint32_t routes, gaps; /**< complete routes, and incomplete ones, which are ignored */
    uint32_t wrong_lines;  /**< malformed lines, which are ignored, too */
    char *remarks;         /**< owned: "12: route 4-0: hops before this one are missing\n" ..., of
                              gaps and malformed lines, the first hundred; NULL: none */
};

/** Read a file. Blocks; memory is bounded by TOPOLOGY_FILE_BYTES and the limits of topology.h.
 * @param out   set on success; finish it
 * @param tell  called at least once on failure, at most about a hundred times, each time with a
 * line of text: "net.yaml:12: nodes: host n3 stands there twice"
 * @return 0, -HOLTER_EUSAGE for an error in the text, -ENOMEM, or the error of open(2) or read(2)
 */
int topology_file_read(struct topology_file *out, const char *path, file_fault *tell, void *user);

/** The same from memory. @param name  of the file, for faults. The text may be any bytes. */
int topology_file_parse(struct topology_file *out, const char *name, const char *text,
                        size_t length, file_fault *tell, void *user);

/** Read the argument of `--topology`: a short form, see topology_short(), else the path of a file.
 * "cart", the process grid of a job (daemon/topology/network_grid.h), is neither: a fault. */
int topology_file_given(struct topology_file *out, const char *given, file_fault *tell, void *user);

/** Vertex of a host: by its full name, then by the part before its first dot; then a host whose
 * full name begins with that part. TOPOLOGY_NONE: the file does not have it. Thread-safe. */
uint32_t topology_file_host(const struct topology_file *file, const char *host);

/** Index the hosts of a description whose topology was set by the caller. @return 0 or -ENOMEM */
int topology_file_index(struct topology_file *file);

/** "YAML", "Slurm topology.conf": static text. */
const char *topology_format_name(enum topology_format format);

/** Zero-initialised is fine. To keep the topology, set the member to NULL before. */
void topology_file_finish(struct topology_file *file);

#endif
