/* Sums of logarithms, such as those of latencies, by pair: how many messages there are and what
 * their logarithms come to, in whole parts. Of most pairs both fit into 64 bits, where a message
 * adds to both at once; what does not is kept apart as a double.
 *
 * Memory: 8 bytes a pair, and 16 more as soon as one has a sum apart. Pure. */
#ifndef HOLTER_ANALYSIS_NETWORK_LOG_SUMS_H
#define HOLTER_ANALYSIS_NETWORK_LOG_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_SUMS_SHIFT 42u /**< bits of a packed sum; above them are messages */
#define LOG_SUMS_HALF (INT64_C(1) << (LOG_SUMS_SHIFT - 1))
#define LOG_SUMS_MOST (INT64_C(1) << 22)  /**< a logarithm of one message is less, or kept apart */
#define LOG_SUMS_FULL (UINT64_C(1) << 18) /**< so many messages are put apart with their sum */

struct log_sum {
    uint64_t messages;
    double sum; /**< in parts; 0 where there are no messages */
};

/** Zero-initialised is empty. */
struct log_sums {
    uint64_t *packed; /**< owned; by pair: messages << LOG_SUMS_SHIFT, and the sum added; an even
                            number of them */
    struct log_sum *wide; /**< owned; what is apart */
    size_t count, room, wide_room;
    bool has_wide; /**< some may not be zero */
    bool failed;   /**< there was no memory for some */
};

void log_sums_finish(struct log_sums *sums);

/** Begin with so many pairs that have no messages. @return 0 or -ENOMEM: then there are none */
int log_sums_begin(struct log_sums *sums, size_t count);

/** Add a message to a pair's packed sum. @param log  in parts
 *  @return whether that may be done; else log_sums_add() does it, and nothing was done */
static inline bool log_sums_add_one(uint64_t *packed, int64_t log)
{
    const uint64_t sum = *packed + (UINT64_C(1) << LOG_SUMS_SHIFT) + (uint64_t)log;
    if ((uint64_t)(log + LOG_SUMS_MOST) >= 2 * (uint64_t)LOG_SUMS_MOST ||
        sum >= LOG_SUMS_FULL << LOG_SUMS_SHIFT)
        return false;
    *packed = sum;
    return true;
}

/** Add any messages. @param sum  of their logarithms, in whole parts */
void log_sums_add(struct log_sums *sums, size_t at, uint64_t messages, double sum);

struct log_sum log_sums_at(const struct log_sums *sums, size_t at);

size_t log_sums_bytes(const struct log_sums *sums);

#endif
