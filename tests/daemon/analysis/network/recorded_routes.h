/* Routes and hop counts that others recorded: tests/data/par-comm-data. */
#ifndef TESTS_DAEMON_ANALYSIS_NETWORK_RECORDED_ROUTES_H
#define TESTS_DAEMON_ANALYSIS_NETWORK_RECORDED_ROUTES_H

#include <stdint.h>

#define RECORDED_COORDINATES 6u

/** One line of a route file. */
struct recorded_hop {
    uint32_t number;                        /**< from 1 */
    uint32_t source, destination, from, to; /**< ranks */
    uint32_t at[RECORDED_COORDINATES], end[RECORDED_COORDINATES];
    uint32_t coordinates; /**< how many of them there are */
};

struct recorded_hops {
    struct recorded_hop *hops; /**< by source, destination, number */
    uint32_t count;
};

/** One line of a hop-byte file. */
struct recorded_pair {
    uint32_t source, destination;
    double bytes;
    uint32_t hops; /**< UINT32_MAX: not known */
};

struct recorded_pairs {
    struct recorded_pair *pairs;
    uint32_t count;
};

/** Of tests/data/par-comm-data/route/NAME_route.txt. Fails the test when it is not well-formed.
 *  @return arrays for free() */
struct recorded_hops recorded_routes(const char *name);

/** Of tests/data/par-comm-data/hopbyte/NAME_hopbyte.txt. */
struct recorded_pairs recorded_pairs(const char *name);

/** How many hops, from the first on, are of the same source and destination. */
uint32_t recorded_route_length(const struct recorded_hops *hops, uint32_t first);

/** Do these hops lead from the source's to the destination's node, without a gap?
 *  @param ranks  a node */
int recorded_route_complete(const struct recorded_hop *hops, uint32_t count, uint32_t ranks);

#endif
