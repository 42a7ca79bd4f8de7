/* Foreign records as a recording of Holter: messages as the agents of the nodes would have sent
 * them, and the network that belongs to them. `holter replay` and `holter view` show the result
 * like any other recording.
 *
 * The reader of a format states which ranks ran on which hosts, then passes one window after the
 * other. Times are synthetic: the first window begins at a fixed date. The same input gives the
 * same messages. */
#ifndef HOLTER_IMPORT_IMPORT_H
#define HOLTER_IMPORT_IMPORT_H

#include "daemon/import/import_file.h"
#include "daemon/import/traffic.h"
#include "daemon/topology/topology_file.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

/** A network interface, or link, of a host in a window. */
struct import_counter {
    uint32_t host;
    struct wire_counter_row row;
};

struct import_window {
    const struct remap_edge *pairs; /**< by (from, to); numbers are ranks; messages above 0 */
    size_t pair_count;
    const struct import_counter *counters; /**< by host */
    size_t counter_count;
    int last; /**< of the job */
};

struct import;

/** Begin a recording in a new file. @param path  a file that does not exist, or is empty
 * @param why  set on failure @return 0, -EEXIST, -ENOMEM or another negative error */
int import_create(struct import **out, const char *path, const struct import_job *job, char *why,
                  size_t capacity);

/** Write the next window. @return 0 or a negative error */
int import_window(struct import *import, const struct import_window *window);

/** Close the file, and report why that failed. @param code  0, or the error of import_window(),
 * which is reported too: then the file is removed @return code, or the error of closing it */
int import_finish(struct import *import, int code, struct faults *faults);

/** Import a hop-byte or route file as one window. @param network  names the hosts; may be NULL:
 * "n0", "n1" ...
 * @return 0, or a negative error, reported */
int import_pairs(const char *path, const char *source, const struct pairs *pairs,
                 const struct topology_file *network, const char *network_source, uint64_t per_node,
                 file_fault *tell, void *user);

/** What was imported from counters. */
struct import_counts {
    uint32_t nodes, ranks, windows;
    uint64_t packets, rows; /**< rows: well-formed rows of the table of links */
    uint64_t unseen;        /**< packets between two nodes without ranks: they are not recorded */
    uint64_t wrong_rows;    /**< malformed rows of all tables, reported and left out */
};

/** Import the packets that links carried in each code region: one window for each visit of a
 * region. Malformed rows are reported and left out; a rank on an undeclared node makes the import
 * fail.
 * @param source  the file that names the tables beside it
 * @return 0, or a negative error, reported */
int import_counters(const char *path, const char *source, struct import_counts *out,
                    file_fault *tell, void *user);

#endif
