/* Better routes for given loads (Visuco, section 5.1, Eq. 1 and 2).
 *
 * A route has length l and its most loaded link carries L. Among all routes between the same
 * vertices whose length l' is at most l + delta and whose most loaded link carries L' <= L:
 *   - Eq. 1 chooses the shortest; of several the one with the smallest L', then with the smallest
 * sum of loads;
 *   - Eq. 2 chooses the one with the smallest L'; of several the shortest, then the one with the
 * smallest sum of loads. Further ties are decided by the lowest numbers of links, compared from the
 * destination backwards. The route's own bytes are subtracted from its links before, and added to
 * the new ones.
 *
 * The result is the optimum, not an estimate: the smallest L' of a limited length is found by
 * dynamic programming over the number of hops (cutting a circle out of a walk makes neither its
 * length nor its heaviest link larger, so walks do for routes), and the route in a breadth-first
 * search over the links that carry no more. Vertices too far from the destination for the length
 * are never examined.
 *
 * A route is a list of vertices: of several links between two of them it uses the first, as the
 * topology does. In fat trees and dragonflies no route passes through a node; elsewhere nodes
 * forward.
 *
 * Memory: 24 bytes a link, 80 a vertex.
 * About 40 microseconds for a route of length 10 on 2,048 nodes with 18,432 directed links and
 * delta 0 or 1, 130 with 2 or 3. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_ANALYSIS_NETWORK_REROUTE_H
#define HOLTER_ANALYSIS_NETWORK_REROUTE_H

#include "daemon/analysis/network/topology.h"

#include <stddef.h>
#include <stdint.h>

/** A route may become this much longer, at most. */
#define REROUTE_MAXIMUM_DELTA 64u

enum reroute_first {
    REROUTE_LENGTH, /**< Eq. 1 */
    REROUTE_LOAD,   /**< Eq. 2 */
};

struct reroute_params {
    enum reroute_first first;
    uint32_t delta; /**< links, at most REROUTE_MAXIMUM_DELTA; Eq. 1 does not depend on it */
};

/** A route and the bytes that it carries. */
struct reroute_route {
    uint32_t source, destination; /**< vertices, not the same */
    uint64_t bytes;               /**< part of the loads of its links */
    const uint32_t *given;        /**< borrowed; links that it takes, from source to destination;
                                     NULL: those of the topology's route */
    uint32_t given_length;
};

struct reroute_result {
    uint32_t length, length_after;
    uint64_t heaviest;       /**< load of the most loaded link, when this route was examined */
    uint64_t heaviest_after; /**< of the new route's, with its bytes on it */
    uint64_t sum, sum_after; /**< of the loads of the links, with its bytes; UINT64_MAX if larger */
    int better; /**< 1: shorter, or its heaviest link carries less, than the other being no worse
                   for the    equation; 0: the result is the old route */
    const uint32_t *links; /**< length_after of them, from source to destination; borrowed: until
                              the next call, of reroute_several() until it is called again */
};

struct reroute;

/** @param topology  borrowed for the life of the reroute
 *  @param out       owned by the caller; set on success
 *  @return 0 or -ENOMEM */
int reroute_create(struct reroute **out, const struct topology *topology);

/** NULL is fine. */
void reroute_destroy(struct reroute *reroute);

/** Begin with these loads. @param bytes  by link number, topology_links() of them; copied */
void reroute_set(struct reroute *reroute, const uint64_t *bytes);

/** Loads as they are now, by link number; borrowed. */
const uint64_t *reroute_loads(const struct reroute *reroute);

/** The best route. Changes no load.
 *  @return 0, -HOLTER_ERANGE: no such vertex, both the same, or delta too large;
 *          -HOLTER_EUNREACHABLE: there is no route */
int reroute_one(struct reroute *reroute, const struct reroute_params *params,
                const struct reroute_route *route, struct reroute_result *out);

/** Move a route's bytes from some links to others; the same with links exchanged undoes it. */
void reroute_apply(struct reroute *reroute, uint64_t bytes, const uint32_t *from,
                   uint32_t from_length, const uint32_t *to, uint32_t to_length);

/** Change routes one after the other: longest first (Eq. 1), or the one with the most loaded link
 * first (Eq. 2; both as of before the first; ties: more bytes, then source, destination). Each
 * better route is applied before the next is examined; afterwards reroute_loads() are those with
 * all of them.
 *  @param results  count of them, in the order of `routes`
 *  @return 0 or as reroute_one(): then loads are as they were */
int reroute_several(struct reroute *reroute, const struct reroute_params *params,
                    const struct reroute_route *routes, size_t count,
                    struct reroute_result *results);

#endif
