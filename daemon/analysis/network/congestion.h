/* State of every directed link over windows: how loaded it is, whether it is hot, and whether
 * messages that cross it are slow (000, sections 4.1 and 7.1).
 *
 * A link's load is the bytes of all routes over it in a window. Two means are kept in which a
 * window's weight halves every so many windows: the average that is told (half_life) and the recent
 * load, bytes a second, that is judged (recent).
 *
 * idle       no bytes in this window, and not hot
 * busy       bytes, and not hot
 * hot        where the link's capacity is known: the recent load, modelled or measured in bytes,
 * whichever is larger, is above hot_share of it, until it is below cool_share. Where it is not: the
 * recent modelled load is above hot_times the mean of the loaded links of its kind and above
 * `least`, until it is below cool_times that mean or half of `least`. Loaded are links that carry
 * at least a hundredth of the most loaded one of the kind: a barrier over all links does not make
 * those of the halo exchange hot. A kind are links of equal make: from and to vertices of the same
 * sort (node, switch ...) as far from the nodes; of all-to-all dimensions each is its own, and so
 * are the links between groups of a dragonfly. So none is hot where all that are used carry about
 * the same, nor where only hot_times of them or fewer are: a mean over few tells nothing. To become
 * hot takes two windows, at most `hold` apart, that carry more than that themselves: one alone, as
 * large as it may be, does not do. congested  hot, and the geometric mean of the relative latencies
 * of matched messages that crossed it, in the recent windows with the same weights, is above slow,
 * until it is below fast; and there were at least least_matched of them (weighted), until there are
 * fewer than half as many. The reference of latencies is a low quantile of what is usual, so
 * ordinary windows are a little above 1.
 *
 * Hot and congested begin and end at the earliest `hold` windows after the last change to or from
 * hot or congested, and after the first window: a link does not flap, and the start of a job does
 * not count.
 *
 * A pair that is as it was in the last window costs a comparison; what changed costs its legs; and
 * there is a pass over all links. In a tree pairs are summed up anew in each window, without a
 * route (tree_sums.h). Where routes have to be walked (link_loads.h), those of pairs that are the
 * same in two windows one after the other are kept until the pairs change, and pairs summed up
 * along them. No result depends on the order of pairs: logarithms are summed as integers, in units
 * of 2^-20.
 *
 * Memory: about 140 bytes a link and 80 a pair, twice that of link_loads, in a tree that of
 * tree_sums.h, and for routes kept 4 a pair and 4 a link of each, 64 MiB at most: more are not
 * kept. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_ANALYSIS_NETWORK_CONGESTION_H
#define HOLTER_ANALYSIS_NETWORK_CONGESTION_H

#include "daemon/analysis/network/link_loads.h"
#include "daemon/analysis/network/log_sums.h"
#include "daemon/analysis/network/topology.h"

#include <stddef.h>
#include <stdint.h>

#define CONGESTION_UNKNOWN UINT64_MAX /**< measured: no counter told */

/** Numbers as those of enum link_state on the wire. */
enum congestion_state {
    CONGESTION_IDLE,
    CONGESTION_BUSY,
    CONGESTION_HOT,
    CONGESTION_CONGESTED,
};

struct congestion_params {
    double half_life;       /**< of the moving average, windows; above 0 */
    double recent;          /**< of the one that is judged, windows; above 0 */
    double hot_share;       /**< of capacity; above 0 */
    double cool_share;      /**< at most hot_share */
    double hot_times;       /**< the mean; at least 1 */
    double cool_times;      /**< at most hot_times */
    double least;           /**< bytes a second */
    double slow, fast;      /**< relative latencies, fast at most slow, above 0 */
    uint64_t least_matched; /**< messages in the recent windows, at least 1 */
    uint32_t hold;          /**< windows */
};

#define CONGESTION_DEFAULTS                                                                        \
    ((struct congestion_params){.half_life = 10,                                                   \
                                .recent = 2,                                                       \
                                .hot_share = 0.7,                                                  \
                                .cool_share = 0.5,                                                 \
                                .hot_times = 4,                                                    \
                                .cool_times = 3,                                                   \
                                .least = 1e6,                                                      \
                                .slow = 1.2,                                                       \
                                .fast = 1.05,                                                      \
                                .least_matched = 16,                                               \
                                .hold = 3})

/** What one vertex sent to another in a window. Pairs with equal vertices are left out. */
struct congestion_pair {
    uint32_t source, destination; /**< vertices */
    uint64_t bytes;
    uint64_t messages;
    uint64_t matched;   /**< messages of them whose latency is known; 0: none */
    double log_latency; /**< sum over those of the natural logarithm of latency by reference */
};

/** A link as of the last window. */
struct congestion_link {
    uint32_t link, from, to;
    enum congestion_state state;
    uint64_t since;    /**< window in which that state began */
    uint64_t messages; /**< that cross it, in this window */
    uint64_t bytes;
    double average; /**< moving average of bytes a window */
    uint64_t peak;  /**< most bytes of a window so far */
    double share;   /**< bytes by what the link can carry in this window; NaN: not known */
    double latency; /**< relative, of matched messages of this window that crossed it; NaN: none */
    uint64_t measured; /**< as told for this window, or CONGESTION_UNKNOWN */
    int packets;       /**< 1: measured are packets, 0: bytes */
    double ratio; /**< measured by modelled bytes, both as averages over windows with a counter;
                            NaN: packets, no counter in this window, or nothing modelled */
};

/** What the pairs of a window sent. */
struct congestion_figures {
    size_t count;                  /**< as many as pairs were given */
    const struct link_load *loads; /**< of each: bytes and messages */
    int same_loads;                /**< 1: all of them are as in the window before */
    const struct log_sums
        *latencies; /**< of each: messages whose latency is known, and logarithms */
    double unit;    /**< what a part of a logarithm is; above 0 */
};

struct congestion;

/** @param topology  borrowed for the life of it
 *  @param out       owned by the caller; set on success
 *  @return 0, -ENOMEM, -HOLTER_ERANGE: a parameter is outside its range */
int congestion_create(struct congestion **out, const struct topology *topology,
                      const struct congestion_params *params);

/** NULL is fine. */
void congestion_destroy(struct congestion *congestion);

/** Tell what was counted on a link in the window of the next update: its bytes or packets; a second
 * call for the link replaces the first. @return 0 or -HOLTER_ERANGE: no such link */
int congestion_measured(struct congestion *congestion, uint32_t link, uint64_t amount, int packets);

/** Take a window. Windows left out count as windows without bytes.
 *  @param window   number, above the last one's
 *  @param seconds  its length, above 0
 *  @param pairs    copied; best in ascending order of source, then destination: others are sorted
 * first; of the same vertices are added up. Pairs of vertices that do not exist or have no route
 *                  between them are counted (congestion_skipped()) and left out
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE: window or seconds; then nothing was done */
int congestion_update(struct congestion *congestion, uint64_t window, double seconds,
                      const struct congestion_pair *pairs, size_t count);

/** Take a window whose pairs may be any, with figures apart. Does what congestion_update() does, in
 * fewer passes over them. Only in a tree, and only pairs in ascending order of source, then
 * destination, each once, of two vertices that exist, with bytes or messages.
 *  @param pairs    copied; of each, only where it begins and ends is read; as many as there are
 * figures of
 *  @param figures  as those of congestion_update_figures(), none said to be as before
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE: window, seconds or pairs, or there is no tree; then
 * nothing was done */
int congestion_update_ends(struct congestion *congestion, uint64_t window, double seconds,
                           const struct congestion_pair *pairs,
                           const struct congestion_figures *figures);

/** Take a window whose pairs are those given to congestion_update() in the windows before, in their
 * order, with figures of its own. Does what congestion_update() does, without a look at the pairs.
 * Only where the last two windows that were given to that had the same pairs in order, each with
 * bytes or messages; or where the last one was given to congestion_update_ends().
 *  @param figures  their arrays are borrowed: until they change congestion_pairs() may be asked
 *  @return 0, or -HOLTER_ERANGE: window or seconds, pairs are not known, or one of them has sent
 * nothing; then nothing was done */
int congestion_update_figures(struct congestion *congestion, uint64_t window, double seconds,
                              const struct congestion_figures *figures);

/** Any link. @return 0: no such link, nothing is set */
int congestion_link(const struct congestion *congestion, uint32_t link,
                    struct congestion_link *out);

/** All links that are hot or congested, by number.
 *  @return how many there are; the first `room` are set */
size_t congestion_hot(const struct congestion *congestion, struct congestion_link *out,
                      size_t room);

/** All links that are not idle, or whose average is above half a byte, or that have a counter, by
 * number.
 *  @return how many there are; the first `room` are set */
size_t congestion_links(const struct congestion *congestion, struct congestion_link *out,
                        size_t room);

/** Load of all links in the last window, by number: see link_loads_settle(). That of vertices is
 * not kept. Borrowed. */
const struct link_loads *congestion_loads(const struct congestion *congestion);

/** Pairs of the last window, ascending, each once, with its figures. Borrowed. */
const struct congestion_pair *congestion_pairs(struct congestion *congestion, size_t *count);

/** Pairs left out so far. */
uint64_t congestion_skipped(const struct congestion *congestion);

/** A pair whose route crosses a link. */
struct congestion_route {
    uint32_t link;
    uint32_t length; /**< links on the route */
    size_t pair;     /**< position in the pairs that were given */
};

/** For each link the pairs that load it, those with the most bytes first (ties: more messages, then
 * the position). A pass over the pairs; for many links routes are walked, for few it is asked
 * whether they cross. Needs no state: pairs may also be those of ranks, seats filled in.
 *  @param links  of distinct numbers; @param top  routes a link at most
 *  @param out    room for link_count * top; in the order of `links`
 *  @param found  set: how many of out are used
 *  @return 0 or -ENOMEM */
int congestion_routes(const struct topology *topology, const struct congestion_pair *pairs,
                      size_t count, const uint32_t *links, size_t link_count, size_t top,
                      struct congestion_route *out, size_t *found);

/** Bytes on the heap. */
size_t congestion_bytes(const struct congestion *congestion);

#endif
