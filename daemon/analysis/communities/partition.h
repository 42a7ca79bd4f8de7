/* A partition of ranks into communities, in a form that does not depend on what communities are
 * called: they are numbered in the order of their lowest ranks. Two partitions that are the same up
 * to labels are the same numbers.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMUNITIES_PARTITION_H
#define HOLTER_DAEMON_ANALYSIS_COMMUNITIES_PARTITION_H

#include "daemon/analysis/tables/key_table.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stdbool.h>
#include <stdint.h>

#define PARTITION_ABSENT UINT32_MAX        /**< label of a rank that belongs to no community */
#define PARTITION_MAXIMUM_RANKS (1u << 20) /**< maximum that the functions here accept */

struct partition {
    uint32_t ranks;       /**< one more than the last that is present */
    uint32_t present;     /**< ranks that are */
    uint32_t communities; /**< 0 if none is */
    uint32_t capacity;    /**< ranks there is memory for */
    uint32_t *community;  /**< owned; of each rank, or PARTITION_ABSENT */
};

void partition_finish(struct partition *partition);

/** Allocates memory for ranks; contents stay. @return 0 or -ENOMEM */
int partition_fit(struct partition *partition, uint32_t ranks);

/** Set a partition, zeroed before its first use.
 *  @param numbers  memory to number communities in; zeroed before its first use, may be used again
 *  @param labels   of each of `ranks` ranks: any number, or PARTITION_ABSENT
 *  @return 0, -ENOMEM, or -HOLTER_ELIMIT: more than PARTITION_MAXIMUM_RANKS */
int partition_set(struct partition *partition, struct key_table *numbers, const uint32_t *labels,
                  uint32_t ranks);

/** Copies into a partition with sufficient capacity. */
void partition_copy(struct partition *to, const struct partition *from);

/** Whether two partitions are equal up to labels. */
bool partition_equal(const struct partition *one, const struct partition *other);

/** Sort the ranks that are present by community, ascending within each.
 *  @param order  room for all ranks
 *  @param begin  room for communities + 1: where each begins in order, and where the last ends */
void partition_members(const struct partition *partition, uint32_t *order, uint32_t *begin);

/** See state_bytes.h. */
void partition_copy_state(struct state_bytes *b, struct partition *partition);

#endif
