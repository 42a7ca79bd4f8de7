/* Rows of the segments of phase_graphs.h: lists of blocks that all come from one pool, so that the
 * memory of lists that grow, merge and go is bounded by the rows there are.
 *
 * Rows of a list ascend by edge. What an edge has is split over several rows, at most
 * PHASE_ROW_SPLIT, where its messages do not fit into one.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_ANALYSIS_PHASE_ROWS_H
#define HOLTER_ANALYSIS_PHASE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#define PHASE_BLOCK 256u /**< rows of a block */
#define PHASE_BLOCK_NONE UINT32_MAX
#define PHASE_ROW_SPLIT 4u    /**< rows of one edge in one list */
#define PHASE_MERGE_BLOCKS 4u /**< free blocks that merging may need */

struct phase_row {
    uint32_t edge;
    uint32_t messages; /**< at least 1 */
    uint64_t bytes;
};

/** All blocks but the last are full. */
struct phase_list {
    uint32_t first, last; /**< blocks, or PHASE_BLOCK_NONE */
    uint32_t rows;
};

#define PHASE_LIST_EMPTY ((struct phase_list){PHASE_BLOCK_NONE, PHASE_BLOCK_NONE, 0})

struct phase_pool {
    struct phase_row **slabs; /**< owned, each owned; PHASE_BLOCK blocks of PHASE_BLOCK rows */
    uint32_t *after; /**< owned; of each block: the next of its list, or the next free one */
    uint32_t slab_count, slab_room;
    uint32_t free, free_count; /**< free blocks */
};

/** What did not fit into rows. */
struct phase_excess {
    uint64_t messages, bytes;
};

void phase_pool_finish(struct phase_pool *pool);

/** Make sure of so many free blocks. @return 0 or -ENOMEM */
int phase_pool_reserve(struct phase_pool *pool, uint64_t blocks);

size_t phase_pool_bytes(const struct phase_pool *pool);

static inline struct phase_row *phase_block(const struct phase_pool *pool, uint32_t block)
{
    return pool->slabs[block / PHASE_BLOCK] + (size_t)(block % PHASE_BLOCK) * PHASE_BLOCK;
}

/** Append what an edge sent, an edge that comes after all of the list. Blocks were reserved. */
void phase_list_append(struct phase_pool *pool, struct phase_list *list, uint32_t edge,
                       uint64_t messages, uint64_t bytes, struct phase_excess *excess);

/** Append rows that the caller fills in, one for each of edges that come after all of the list.
 *  @param most  at least 1; blocks were reserved
 *  @param room  set to how many rows there are, from 1 to most
 *  @return the first of them */
struct phase_row *phase_list_extend(struct phase_pool *pool, struct phase_list *list, size_t most,
                                    size_t *room);

/** Add one list to another; it is empty after that. PHASE_MERGE_BLOCKS were reserved. */
void phase_list_merge(struct phase_pool *pool, struct phase_list *to, struct phase_list *from,
                      struct phase_excess *excess);

/** Rows that merging two lists would save, about. */
uint32_t phase_list_common(const struct phase_pool *pool, const struct phase_list *one,
                           const struct phase_list *other);

#endif
