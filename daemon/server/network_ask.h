/* The arguments of the requests "remap" and "reroute" (WIRE_REQUEST in holter/wire.h), parsed. */
#ifndef HOLTER_DAEMON_SERVER_NETWORK_ASK_H
#define HOLTER_DAEMON_SERVER_NETWORK_ASK_H

#include "daemon/analysis/network/remap/remap.h"
#include "daemon/analysis/network/reroute.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define NETWORK_ASK_RANKS (1u << 20) /**< ranks of a list are below */
#define NETWORK_ASK_ROUTES 131072u   /**< routes of a request at most, as of WIRE_REQUEST */

/** Source and destination vertex of a route. */
struct ask_route {
    uint32_t source, destination;
};

struct network_ask {
    int reroute;       /**< 0: remap */
    uint64_t from, to; /**< numbers of windows, both included; 0, UINT64_MAX: all */

    enum remap_objective objective;
    int messages;   /**< inter-node: count messages instead of bytes */
    double seconds; /**< of work on one core */
    uint64_t seed;
    uint32_t *ranks; /**< owned, ascending, each once: only these move; NULL: all */
    uint32_t rank_count;

    struct ask_route *routes; /**< owned; NULL: chosen by link and top */
    size_t route_count;
    uint64_t link; /**< routes that cross this link; UINT64_MAX: no link was given */
    uint64_t top;
    struct reroute_params params;

    /* the state that is asked about, if not the present one; borrowed from the request */
    const struct wire_seat_row *seats;
    size_t seat_count;
    const struct wire_hop_row *hops; /**< routes in force; the rows of each are consecutive */
    size_t hop_count;
};

/** @param reroute   0: the words of remap
 *  @param request   its argument has words separated by spaces; its rows are borrowed until
 *                   network_ask_finish()
 *  @param why       set on failure: names the word
 *  @return 0, -HOLTER_EUSAGE or -ENOMEM */
int network_ask_parse(struct network_ask *out, int reroute, const struct wire_request *request,
                      char *why, size_t capacity);

void network_ask_finish(struct network_ask *ask);

#endif
