/* What the routes of pairs put on links (Visuco, section 4.1: a link's load is the total size of
 * all messages that traverse it).
 *
 * The route of each pair is walked. What is added may be negative. Sums are integers modulo 2^64,
 * so that they do not depend on the order, and subtracting what was added restores exactly what was
 * there.
 *
 * Memory: 16 bytes a link. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_ANALYSIS_NETWORK_LINK_LOADS_H
#define HOLTER_ANALYSIS_NETWORK_LINK_LOADS_H

#include "daemon/analysis/network/topology.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stdint.h>

/** What one vertex sends to another. */
struct load_change {
    uint32_t source, destination; /**< vertices; equal ones load nothing */
    int64_t bytes;
    int64_t messages;
};

/** Load of a link: the sum of the pairs whose route crosses it. */
struct link_load {
    uint64_t bytes;
    uint64_t messages;
};

struct link_loads;

/** All zero. @param topology  borrowed for the life of the loads
 *  @param out  owned by the caller; set on success
 *  @return 0 or -ENOMEM */
int link_loads_create(struct link_loads **out, const struct topology *topology);

/** NULL is fine. */
void link_loads_destroy(struct link_loads *loads);

/** Add what a pair sends.
 *  @return 0; -HOLTER_ERANGE: no such vertex, -HOLTER_EUNREACHABLE: no route: nothing was done */
int link_loads_add(struct link_loads *loads, const struct load_change *change);

/** Set everything to zero. */
void link_loads_clear(struct link_loads *loads);

/** Loads by link number, topology_links() of them (zero for numbers that stand for no link);
 *  borrowed, and always up to date. */
const struct link_load *link_loads_values(const struct link_loads *loads);

/** See state_bytes.h. */
void link_loads_copy_state(struct state_bytes *b, struct link_loads **loads,
                           const struct topology *topology);

#endif
