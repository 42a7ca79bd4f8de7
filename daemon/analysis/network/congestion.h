/* State of every directed link over windows: how loaded it is, whether it is hot, and whether
 * messages that cross it are slow (Visuco, sections 4.1 and 7.1).
 *
 * A link's load is the bytes of all routes over it in a window. Two means are kept in which a
 * window's weight halves every so many windows: the average that is published (10 windows) and the
 * recent load, bytes a second, by which links are judged (2 windows).
 *
 * - idle: no bytes in this window, and not hot.
 * - busy: bytes, and not hot.
 * - hot: where the link's capacity is known: the recent load, modelled or measured in bytes,
 *   whichever is larger, is above 70 % of it, until it is below 50 %. Where it is not known: the
 *   recent modelled load is above four times the mean of the loaded links of its kind and above
 *   1 MB/s, until it is below three times that mean or half of 1 MB/s.
 * - congested: hot, and the geometric mean of the relative latencies of matched messages that
 *   crossed the link in the recent windows, with the same weights, is above 1.2, until it is below
 *   1.05; and there were at least 16 of them (weighted), until there are fewer than half as many.
 *   The reference of latencies is a low quantile of what is usual, so ordinary windows are a little
 *   above 1.
 *
 * Links are loaded that carry at least a hundredth of what the most loaded one of their kind does:
 * a barrier over all links does not make those of the halo exchange hot. A kind are links of equal
 * make: from and to vertices of the same sort (node, switch ...) as far from the nodes; each
 * all-to-all dimension is a kind of its own, and so are the links between groups of a dragonfly. So
 * no link is hot where all that are used carry about the same, nor where only four of them or fewer
 * are used: the mean of a few means nothing.
 *
 * A link becomes hot only after two windows, at most CONGESTION_HOLD apart, whose own loads are
 * above the limit: a single window does not suffice, however large. Hot and congested begin and end
 * at the earliest so many windows after the last change to or from hot or congested, and after the
 * first window: a link does not flap, and the start of a job does not count.
 *
 * Each window is summed up from its pairs alone. No result depends on the order of pairs:
 * logarithms are summed as integers, in units of 2^-20.
 *
 * Memory: about 150 bytes a link and 40 a pair, and twice that of link_loads. Pure: no clock, no
 * file, no socket. Not thread-safe. */
#ifndef HOLTER_ANALYSIS_NETWORK_CONGESTION_H
#define HOLTER_ANALYSIS_NETWORK_CONGESTION_H

#include "daemon/analysis/network/link_loads.h"
#include "daemon/analysis/network/topology.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stddef.h>
#include <stdint.h>

#define CONGESTION_UNKNOWN UINT64_MAX /**< measured: there is no counter */
#define CONGESTION_HALF_LIFE 10.0     /**< of the weights in averages, windows */
#define CONGESTION_HOLD 3u            /**< windows for which a state is kept at least */

/** Numbers as those of enum link_state on the wire. */
enum congestion_state {
    CONGESTION_IDLE,
    CONGESTION_BUSY,
    CONGESTION_HOT,
    CONGESTION_CONGESTED,
};

/** What one vertex sent to another in a window. Pairs with equal vertices are left out. */
struct congestion_pair {
    uint32_t source, destination; /**< vertices */
    uint64_t bytes;
    uint64_t messages;
    uint64_t matched;   /**< of these messages, those whose latency is known */
    double log_latency; /**< natural logarithm of latency by reference, summed over `matched` */
};

/** A link as of the last window. */
struct congestion_link {
    uint32_t link, from, to;
    enum congestion_state state;
    uint64_t since;    /**< window in which that state began */
    uint64_t messages; /**< that crossed it in this window */
    uint64_t bytes;    /**< likewise */
    double average;    /**< moving average of bytes a window */
    uint64_t peak;     /**< largest bytes of a window so far */
    double share;      /**< bytes by what the link can carry in this window; NaN: not known */
    double
        latency; /**< relative, mean of the window's matched messages that crossed it; NaN: none */
    uint64_t measured; /**< counted by interfaces in this window, or CONGESTION_UNKNOWN */
    int packets;       /**< 1: measured are packets, 0: bytes */
    double ratio;      /**< measured by modelled bytes, both as averages over windows with a
                            counter; NaN: packets, no counter in this window, or nothing modelled */
};

struct congestion;

/** @param topology  borrowed for the life of the congestion
 *  @param out       owned by the caller; set on success
 *  @return 0 or -ENOMEM */
int congestion_create(struct congestion **out, const struct topology *topology);

/** NULL is fine. */
void congestion_destroy(struct congestion *congestion);

/** Set what interfaces counted on a link in the window of the next update: bytes or packets. A
 * second call for the same link replaces the first. @return 0 or -HOLTER_ERANGE: no such link */
int congestion_set_counter(struct congestion *congestion, uint32_t link, uint64_t amount,
                           int packets);

/** Add a window. Windows left out count as windows without bytes.
 *  @param window   number, above that of the last window
 *  @param seconds  its length, above 0
 *  @param pairs    copied; in ascending order of source, then destination, each once. Pairs of
 *                  vertices that do not exist or have no route between them are left out
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE: window or seconds; then nothing was done */
int congestion_update(struct congestion *congestion, uint64_t window, double seconds,
                      const struct congestion_pair *pairs, size_t count);

/** Describe a link as of the last window. @return 1, or 0: no such link, and nothing is set */
int congestion_link(const struct congestion *congestion, uint32_t link,
                    struct congestion_link *out);

/** List the links that are hot or congested, by number.
 *  @return how many there are; the first of them, at most capacity, are set */
size_t congestion_hot(const struct congestion *congestion, struct congestion_link *out,
                      size_t capacity);

/** List the links that are not idle, or whose average is above half a byte, or that have a counter,
 * by number.
 *  @return how many there are; the first of them, at most capacity, are set */
size_t congestion_links(const struct congestion *congestion, struct congestion_link *out,
                        size_t capacity);

/** Load of all links in the last window, by number. Borrowed until the next update. */
const struct link_loads *congestion_loads(const struct congestion *congestion);

/** Pairs of the last window that have a route, ascending, each once. Borrowed until the next
 * update. */
const struct congestion_pair *congestion_pairs(const struct congestion *congestion, size_t *count);

/** A pair whose route crosses a link. */
struct congestion_route {
    uint32_t link;
    uint32_t length; /**< links on the route */
    size_t pair;     /**< position in the given pairs */
};

/** The pairs and links that routes are listed of; all is borrowed. */
struct congestion_query {
    const struct topology *topology;
    const struct congestion_pair *pairs;
    size_t count;
    const uint32_t *links; /**< distinct numbers */
    size_t link_count;
    size_t top; /**< routes a link at most */
};

/** For each link find the pairs that load it, those with the most bytes first (ties: more messages,
 * then the lower position). Costs one pass over the pairs. Needs no congestion: pairs may also be
 * those of ranks, with the vertices that the ranks are placed on.
 *  @param out    capacity for link_count * top; in the order of `links`
 *  @param found  set: how many of out are used
 *  @return 0 or -ENOMEM */
int congestion_routes(const struct congestion_query *query, struct congestion_route *out,
                      size_t *found);

/** See state_bytes.h. */
void congestion_copy_state(struct state_bytes *b, struct congestion **congestion,
                           const struct topology *topology);

#endif
