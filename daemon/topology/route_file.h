/* Routes in the format of par-comm-data, one hop a line, with the hops of different routes mixed:
 *
 *   Hop 1: [12-0] 12 (0 1 1 0 0 0) -> 8 (0 1 0 0 0 0)
 *
 * Numbers are ranks or nodes; coordinates are in brackets. */
#ifndef HOLTER_DAEMON_TOPOLOGY_ROUTE_FILE_H
#define HOLTER_DAEMON_TOPOLOGY_ROUTE_FILE_H

#include "daemon/topology/file_text.h"

#include <stddef.h>
#include <stdint.h>

#define ROUTE_COORDINATES 12u
#define ROUTE_HOPS (1u << 24) /**< maximum number in a file */

struct route_hop {
    uint32_t source, destination; /**< of the route */
    uint32_t number;              /**< of the hop, from 1 up */
    uint32_t from, to;
    unsigned line;
    uint32_t at[ROUTE_COORDINATES], end[ROUTE_COORDINATES];
};

/** A malformed line. */
struct route_wrong {
    unsigned line;
    const char *why; /**< static text */
};

struct route_file {
    struct route_hop *hops; /**< owned; by source, destination, number */
    size_t count;
    uint32_t coordinates;                  /**< number of coordinates at each end of a hop */
    struct route_wrong wrong[FILE_FAULTS]; /**< the first malformed lines, which are left out */
    uint32_t wrong_lines;                  /**< all of them */
};

/** Read one line. @param coordinates  set: at each end @return NULL, or what is wrong, static text
 */
const char *route_file_line(const char *begin, const char *end, struct route_hop *hop,
                            uint32_t *coordinates);

/** Malformed lines are left out; a text in which they are half of all lines or more is refused.
 * @return 0, -HOLTER_EUSAGE, reported, or -ENOMEM */
int route_file_parse(struct route_file *out, const char *text, size_t length,
                     struct faults *faults);
void route_file_finish(struct route_file *file);

/** Number of hops of the route that begins at a position. */
size_t route_file_length(const struct route_file *file, size_t first);

/** Does a route lack hops?
 * @param per_node  ids of a node: hops join at any of them
 * @param hop       set to the hop after or before the gap
 * @return NULL: the route is complete; else what is wrong, static text */
const char *route_file_gap(const struct route_hop *hops, size_t count, uint32_t per_node,
                           const struct route_hop **hop);

#endif
