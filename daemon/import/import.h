/* What others recorded as a recording of Holter: messages as the agents of its nodes would have
 * sent them, and the network that belongs to them. `holter replay` and `holter view` show it like
 * any other.
 *
 * A reader of a format says which ranks ran on which hosts, then gives windows one after the other.
 * Times are made up: the first window begins at a fixed date. The same input gives the same
 * messages. */
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
    const struct remap_edge *pairs; /**< by (from, to); ranks; messages above 0 */
    size_t pair_count;
    const struct import_counter *counters; /**< by host */
    size_t counter_count;
    int last; /**< of the job */
};

struct import;

/** Begin a recording in a new file. @param path  there must be none, or an empty one
 *  @param why  set on failure @return 0, -EEXIST, -ENOMEM or another negative error */
int import_create(struct import **out, const char *path, const struct import_job *job, char *why,
                  size_t room);

/** The next window. @return 0 or a negative error: see import_error() */
int import_window(struct import *import, const struct import_window *window);

/** Close the file. NULL is fine. @param code, why, room  and what is returned: as of
 * import_file_close() */
int import_close(struct import *import, int code, char *why, size_t room);

/** For people; static, or until the import is closed. */
const char *import_error(const struct import *import);

/** A hop-byte or route file: one window. @param network  gives hosts their names; may be NULL:
 * "n0", "n1" ...
 *  @return 0, or a negative error after telling */
int import_pairs(const char *path, const char *source, const struct pairs *pairs,
                 const struct topology_file *network, const char *network_source, uint64_t per_node,
                 file_fault *tell, void *user);

/** What was imported from counters. */
struct import_counts {
    uint32_t nodes, ranks, windows;
    uint64_t packets, rows; /**< rows: of the table of links, the whole ones */
    uint64_t wrong_rows;    /**< of all tables, that were told and left out */
};

/** Packets that links carried in each code region: a window for each time that a region comes.
 *  Rows that are wrong are told and left out; a rank on a node that is not told is too much.
 *  @param source  the file that names the tables beside it
 *  @return 0, or a negative error after telling */
int import_counters(const char *path, const char *source, struct import_counts *out,
                    file_fault *tell, void *user);

#endif
