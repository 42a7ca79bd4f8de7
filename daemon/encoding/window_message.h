/* Window messages from rows: within the byte budget, and within the longest message of the wire.
 *
 * Over budget, detail is left out in this order, and flagged:
 *   ends of messages between nodes, those with the largest keys first (DEGRADED_SAMPLES; the others
 * are encoded by ranks and times); pairs beyond the largest by bytes are put together, for each
 * source and size class, into destination -1, and transfers beyond those of most messages into
 * TRANSFER_OTHERS (DEGRADED_PAIRS); then the size classes of those into the largest
 * (DEGRADED_SIZES); bursts, nearest ones first, then their smallest pairs (DEGRADED_BURSTS). So
 * that bursts do not displace pairs, they are reduced first until they take at most a quarter of
 * the budget. Whatever the budget, bursts have at most the number of rows that the daemon asked
 * for. Messages of bursts, with a row or without, are those of all pairs, always. Totals stay
 * exact. A message that is then still over the budget is sent. A window that is longer than the
 * longest message is sent in parts; merging the parts gives the window.
 */
#ifndef HOLTER_DAEMON_ENCODING_WINDOW_MESSAGE_H
#define HOLTER_DAEMON_ENCODING_WINDOW_MESSAGE_H

#include "daemon/analysis/events/event_sum.h"
#include "daemon/analysis/matching/transfer_sum.h"

#include <stddef.h>

/** Where bursts of the window come from. */
struct window_bursts {
    struct event_sum *sum; /**< its bursts are merged to stay in bounds */
    struct burst_clock clock;
    uint64_t most_rows;
};

/** Takes one encoded message. @return 0, or a negative error that ends the encoding */
typedef int window_emit(void *user, uint64_t seq, const void *bytes, size_t length);

/** Where the messages of a window go. */
struct window_output {
    size_t budget;     /**< bytes this window should take at most */
    size_t longest;    /**< bytes of one message, at most WIRE_MESSAGE_BYTES */
    uint64_t next_seq; /**< number of the next message; counted up for each one emitted */
    window_emit *emit;
    void *user; /**< of emit */
};

/** Encode a window.
 *  @param window     everything but seq, keys_below and the rows of `rows` and `transfers`;
 * degraded is added to; afterwards its counts are those that were sent
 *  @param rows       as event_sum_rows() gave them; pairs are merged in place when over budget
 *  @param transfers  as transfer_sum_rows() gave them; merged and shortened the same way
 *  @param bursts     NULL: none are encoded
 *  @return number of messages emitted, or a negative error of wire_encode() or emit */
int window_message_encode(struct wire_window *window, struct window_rows *rows,
                          struct transfer_rows *transfers, const struct window_bursts *bursts,
                          struct window_output *output);

/** Keep the largest pairs by bytes; add up the rest by source and size class, in rows after them.
 *  @param sizes  also add up the size classes of the rest, in the largest
 *  @return new number of rows */
uint64_t window_message_fold(struct wire_pair_row *pairs, uint64_t count, uint64_t keep, int sizes);

#endif
