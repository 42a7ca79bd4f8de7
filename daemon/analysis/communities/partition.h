/* A partition of ranks into communities, in a form that does not depend on what communities are
 * called: they are numbered in the order of their lowest ranks. Two partitions that are the same up
 * to labels are the same numbers.
 *
 * A rank's weight is 1, or its share of all bytes in units of 2^-30, rounded down: so that phases
 * of few and of many bytes are compared as equals, and all sums stay exact integers.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMUNITIES_PARTITION_H
#define HOLTER_DAEMON_ANALYSIS_COMMUNITIES_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#define PARTITION_ABSENT UINT32_MAX        /**< label of a rank that belongs to no community */
#define PARTITION_MAXIMUM_RANKS (1u << 20) /**< maximum that the functions here accept */
#define PARTITION_WHOLE (1u << 30)         /**< sum of the shares, but for rounding */

struct partition_rank {
    uint32_t community; /**< or PARTITION_ABSENT */
    uint32_t weight;    /**< 0 if absent */
};

struct partition {
    uint32_t ranks;              /**< one more than the last that is present */
    uint32_t communities;        /**< 0 if none is */
    uint64_t total;              /**< sum of the weights */
    uint32_t capacity;           /**< ranks there is memory for */
    struct partition_rank *rank; /**< owned */
};

/** Memory to number communities in; may be used again. */
struct partition_scratch {
    uint32_t *order, *other; /**< owned; ranks */
    uint32_t capacity;
};

void partition_finish(struct partition *partition);
void partition_scratch_finish(struct partition_scratch *scratch);

/** Allocates memory for ranks; contents stay. @return 0 or -ENOMEM */
int partition_fit(struct partition *partition, uint32_t ranks);

/** Set a partition, zeroed before its first use.
 *  @param labels   of each of `ranks` ranks: any number, or PARTITION_ABSENT
 *  @param weights  bytes of each rank; those of absent ranks do not count; NULL: every weight is 1.
 *                  If all are 0 all shares are equal
 *  @return 0, -ENOMEM, or -HOLTER_ELIMIT: more than PARTITION_MAXIMUM_RANKS */
int partition_set(struct partition *partition, struct partition_scratch *scratch,
                  const uint32_t *labels, const uint64_t *weights, uint32_t ranks);

/** Copies into a partition with sufficient capacity. */
void partition_copy(struct partition *to, const struct partition *from);

/** Whether two partitions are equal up to labels; weights are ignored. */
bool partition_equal(const struct partition *one, const struct partition *other);

/** Sort the ranks that are present by community, ascending within each.
 *  @param order  room for all ranks
 *  @param begin  room for communities + 1: where each begins in order, and where the last ends */
void partition_members(const struct partition *partition, uint32_t *order, uint32_t *begin);

#endif
