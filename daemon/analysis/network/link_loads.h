/* What the routes of pairs put on links and vertices (Visuco, section 4.1: a link's load is the
 * total size of all messages that traverse it).
 *
 * Changes are added pair by pair and may be negative: what a pair sends is changed by the
 * difference. Sums are integers modulo 2^64, so that they do not depend on the order, and
 * subtracting what was added restores exactly what was there.
 *
 * Cartesian networks: a route is one segment of a ring (or line, or one link of an all-to-all
 * dimension) a dimension. A segment is added to the ring's difference array by touching its ends,
 * whatever its length; link_loads_update() sums up the rings that were touched. Other networks, and
 * routes given by tables: the route is walked.
 *
 * Memory: 16 bytes a link, 48 a vertex, 8 a route by table, and in Cartesian networks about 54 a
 * vertex and dimension, or where it is all-to-all 12 and 4 times its size. Pure: no clock, no file,
 * no socket. Not thread-safe. */
#ifndef HOLTER_ANALYSIS_NETWORK_LINK_LOADS_H
#define HOLTER_ANALYSIS_NETWORK_LINK_LOADS_H

#include "daemon/analysis/network/topology.h"

#include <stddef.h>
#include <stdint.h>

/** Change of what one pair of vertices sends. */
struct load_change {
    uint32_t source, destination; /**< vertices; equal ones load nothing */
    int64_t bytes;
    int64_t messages;
    int32_t pairs; /**< for the degrees: 1: the pair began to send, -1: it stopped, 0: it only
                      changed */
};

/** Load of a link. The sum of the changes of pairs whose route crosses it. */
struct link_load {
    uint64_t bytes;
    uint64_t messages;
};

/** What a vertex sends and receives itself; for what passes through, see link_loads_transit(). */
struct vertex_load {
    uint64_t bytes_in, bytes_out;
    uint64_t messages_in, messages_out;
    uint64_t pairs_in,
        pairs_out; /**< degrees: vertices that it receives from, and that it sends to */
};

struct link_loads;

/** All zero. @param topology  borrowed for the life of the loads
 *  @param out  owned by the caller; set on success
 *  @return 0 or -ENOMEM */
int link_loads_create(struct link_loads **out, const struct topology *topology);

/** NULL is fine. */
void link_loads_destroy(struct link_loads *loads);

/** Add a change.
 *  @return 0; -HOLTER_ERANGE: no such vertex, -HOLTER_EUNREACHABLE: no route: nothing was done */
int link_loads_add(struct link_loads *loads, const struct load_change *change);

/** Add many changes: faster than one by one.
 *  @return how many were left out, as link_loads_add() refuses them */
size_t link_loads_add_many(struct link_loads *loads, const struct load_change *changes,
                           size_t count);

/** Set everything to zero. */
void link_loads_clear(struct link_loads *loads);

/** Bring the values up to date; costs a pass over the rings that changed.
 *  @return loads by link number, topology_links() of them (zero for numbers that stand for no
 * link); borrowed: until the next call that is not const */
const struct link_load *link_loads_update(struct link_loads *loads);

/** As of the last settle; the same array. */
const struct link_load *link_loads_values(const struct link_loads *loads);

/** By vertex, topology_vertices() of them; always up to date. */
const struct vertex_load *link_loads_vertices(const struct link_loads *loads);

/** Bytes and messages that pass through each vertex: that enter over links and are not for it. As
 * of the last settle. Costs a pass over all links. @param out  topology_vertices() of them */
void link_loads_transit(const struct link_loads *loads, struct link_load *out);

/** Bytes on the heap. */
size_t link_loads_bytes(const struct link_loads *loads);

#endif
