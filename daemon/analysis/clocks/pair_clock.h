/* How far the clocks of two nodes are apart, from the messages between them.
 *
 * A message cannot be received before it was sent. With x_a and x_b the unknown errors of the
 * clocks of nodes a and b, and d = x_b - x_a, a message from a to b has
 *     r - s = transfer + d >= d        hence d <= least (r - s) over messages from a to b,
 * and messages the other way bound d from below. Both bounds together give an interval whose middle
 * corrects the times and whose half width is what remains open (Duda, Harrus, Haddad, Bernard,
 * "Estimating global time in distributed systems", ICDCS 1987). The interval is cut to the sum of
 * the stated errors of the two clocks; where both exclude each other, that sum alone holds. Where
 * messages went one way only, the clocks are corrected by as little as the interval allows: the
 * stated times are the best guess, unless a message would have arrived before it was sent.
 *
 * The least differences of earlier windows still count, widened by what the clocks may have drifted
 * since.
 *
 * Memory: only pairs that exchanged messages. Pure; results do not depend on the order in which
 * the messages of one turn are noted. */
#ifndef HOLTER_DAEMON_ANALYSIS_CLOCKS_PAIR_CLOCK_H
#define HOLTER_DAEMON_ANALYSIS_CLOCKS_PAIR_CLOCK_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/state_bytes.h"

/** Maximum drift of a clock from its correction, seconds per second. */
#define PAIR_CLOCK_RATE 1e-6
/** From one turn to the next the correction of a clock may change by this share of its error, and
 * by as much as that error has changed. */
#define PAIR_CLOCK_STEP 0.125

/** One pair of nodes; direction 0 goes from the lower number to the higher. */
struct pair_clock {
    int64_t minimum[2];     /**< least r - s of earlier turns, widened; INT64_MAX: none */
    int64_t now[2];         /**< of this turn */
    uint64_t at_ns;         /**< latest receive of the turn that `minimum` is of */
    uint64_t now_ns;        /**< of this turn */
    uint64_t error_ns;      /**< largest sum of both clocks' errors in this turn */
    uint64_t last_error_ns; /**< and in the turn of `at_ns` */
    int64_t offset_ns;      /**< settled: clock of the higher number less that of the lower */
    uint64_t remain_ns;     /**< settled: bound of the error of that */
};

struct pair_clocks {
    struct key_table keys; /**< hi: lower node, higher node */
    struct pair_clock *pairs;
    uint32_t *noted; /**< pairs of this turn */
    uint32_t noted_count;
    uint32_t maximum;
    size_t capacity, noted_capacity;
};

/** @param maximum  pairs that are remembered at most; a turn that begins with so many forgets them
 */
void pair_clocks_init(struct pair_clocks *clocks, uint32_t maximum);
void pair_clocks_finish(struct pair_clocks *clocks);

/** Note messages from one node to another.
 *  @param difference_ns  receive's end less send's begin, as reported: the least over the messages
 *  @param error_ns       sum of the bounds of both clocks' errors
 *  @param at_ns          receive's end: the latest of them
 *  @return number of the pair, valid until the next turn; KEY_NONE: no space for another pair */
uint32_t pair_clocks_note(struct pair_clocks *clocks, uint32_t from, uint32_t to,
                          int64_t difference_ns, uint64_t error_ns, uint64_t at_ns);

/** Compute the offset of each pair's clocks, once all messages of this turn are noted. */
void pair_clocks_update(struct pair_clocks *clocks);

/** Offset that converts a time of one node's clock to the other's.
 *  @param down  whether it is the time of the node with the higher number */
static inline int64_t pair_clock_offset(const struct pair_clock *pair, int down)
{
    return down ? -pair->offset_ns : pair->offset_ns;
}

/** See state_bytes.h. */
void pair_clocks_copy_state(struct state_bytes *b, struct pair_clocks *clocks);

#endif
