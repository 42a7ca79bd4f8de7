/* Latency of one window: of the whole job, of each locality, of regions and of ranks.
 *
 * The latency of a message is its transfer time by the criterion of its locality and size class
 * (PCLVis, Eq. 1); that of a group of messages is the mean (PCLVis, Eq. 2). A criterion is one
 * number for a class, so the sums of transfer times in rows of one class are enough. Besides the
 * mean there is the geometric mean, from sums of logarithms: the mean of times with heavy tails is
 * determined by a few messages that the scheduler held up, the geometric mean is not.
 *
 * A message belongs to the region of its source and to that of its destination: the slow link
 * between two regions shows in both.
 *
 * Sums are whole numbers, so that no result depends on the order of rows. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_LATENCY_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_LATENCY_H

#include "daemon/analysis/latency/message_ranks.h"
#include "daemon/analysis/matching/transfers.h"

#include <stddef.h>
#include <stdint.h>

/** Criteria in force, nanoseconds; NaN: none, rows of that class are counted but have no latency.
 */
struct latency_scale {
    double recent[LOCALITIES][SIZE_CLASSES];
    double reference[LOCALITIES][SIZE_CLASSES];
    double moved[LOCALITIES][SIZE_CLASSES]; /**< binary logarithm of the reference criterion by the
                                                 first one of the class; 0: not known */
};

/** Sums over the messages that have criteria. */
#define LATENCY_JUDGED(X)                                                                          \
    X(uint64_t, judged)        /* messages */                                                      \
    X(uint64_t, recent)        /* of latencies by recent criterion, in 1/1024 */                   \
    X(uint64_t, reference)     /* by reference criterion, in 1/1024 */                             \
    X(int64_t, reference_log2) /* of their binary logarithms, in 1/65536 */                        \
    X(int64_t, moved_log2)     /* of the changes of the reference criteria, in 1/65536 */

/** Of a group of messages. Zero-initialised is empty. */
struct latency_sum {
#define X(name) uint64_t name;
    TRANSFER_SUMS(X)
#undef X
#define X(type, name) type name;
    LATENCY_JUDGED(X)
#undef X
    uint64_t error_ns; /**< as in struct transfer */
};

/** Mean latency by recent and by reference criterion, geometric mean by reference criterion. NaN:
 *  no messages. */
double latency_recent(const struct latency_sum *sum);
double latency_reference(const struct latency_sum *sum);
double latency_typical(const struct latency_sum *sum);

/** Mean change of the reference criteria of these messages since the first ones, as a binary
 *  logarithm; 0: no messages. A latency of this window times this power of two is relative to the
 *  first criteria. */
double latency_moved(const struct latency_sum *sum);

struct latency_rank {
    uint64_t messages;
    uint64_t reference;     /**< sum of latencies by reference criterion, in 1/1024 */
    int64_t reference_log2; /**< sum of their binary logarithms, in 1/65536 */
    uint64_t error;         /**< sum of the clocks' errors by reference criterion, in 1/1024 */
};

/** Mean error of the latencies of a rank by reference criterion. NaN: no messages. */
double latency_rank_error(const struct latency_rank *rank);

/** Mean and geometric mean latency of a rank by reference criterion. NaN: no messages. */
double latency_rank_reference(const struct latency_rank *rank);
double latency_rank_typical(const struct latency_rank *rank);

/** Where the rows of a window are added. Arrays are the caller's, zeroed before the window's first
 * row. */
struct latency_groups {
    struct latency_sum job;
    struct latency_sum localities[LOCALITIES];
    struct latency_sum *regions; /**< by index of region; NULL: there are none */
    size_t region_count;
    const uint32_t *region_of;  /**< by rank: index of its region; region_count: in none */
    struct latency_rank *ranks; /**< by rank */
    size_t rank_count; /**< of both arrays by rank; rows of further ranks count for no rank */
    struct message_ranks *messages; /**< figures of ranks that report, begun for the window; rows of
                                         other ranks are not in them. NULL: none */
};

/** Add rows. */
void latency_add(struct latency_groups *groups, const struct latency_scale *scale,
                 const struct transfers *rows);

#endif
