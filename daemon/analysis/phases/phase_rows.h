/* Rows of the segments of phase_graphs.h: lists of blocks that all come from one pool, so that the
 * memory of lists that grow, merge and go is bounded by the rows there are.
 *
 * A list has runs, at most PHASE_RUNS, whose edges are not those of another run of it. Rows of a
 * run ascend by edge. What an edge has is split over several rows, at most PHASE_ROW_SPLIT, where
 * its messages do not fit into one. So lists of different edges are put together by linking their
 * blocks, and become one run only when they meet a list with edges of theirs.
 *
 * Lists of the same blocks are added up by counting how often each block is there: rows that repeat
 * are not gone through.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_ROWS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_ROWS_H

#include "daemon/analysis/phases/phase_store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PHASE_ROW_SPLIT 4u    /**< rows of one edge in one list */
#define PHASE_MERGE_BLOCKS 4u /**< free blocks that merging may need */
#define PHASE_UNUSED_SHARE 3u /**< of the rows: as many more may have room in blocks of a list */

/** It has at most phase_blocks_most() blocks. */
struct phase_list {
    uint32_t first, last; /**< blocks, or PHASE_BLOCK_NONE */
    uint32_t rows, blocks, runs;
    uint32_t high; /**< no row has more messages; UINT32_MAX: not known */
};

#define PHASE_RUNS 128u
#define PHASE_RUNS_APART                                                                           \
    32u /**< of lists whose edges lie scattered: the runs of two are gone through in pairs */
#define PHASE_LIST_EMPTY ((struct phase_list){PHASE_BLOCK_NONE, PHASE_BLOCK_NONE, 0, 0, 0, 0})

/** Of a block. */
struct phase_link {
    uint32_t after;       /**< the next of its list, or the next free one */
    uint32_t least, most; /**< edges of its first and last row, once its list is complete */
    uint32_t end;         /**< where it begins a run: the last block of that */
    uint32_t rows;
    uint32_t place; /**< of its rows; of a free block none */
    uint32_t times; /**< so often there is what its rows tell; at least 1 */
};

struct phase_pool {
    struct phase_store store; /**< as many places as there are blocks */
    struct phase_link *links; /**< owned; of each block */
    uint32_t link_room;
    uint32_t free, free_count; /**< free blocks */
};

#define PHASE_POOL_EMPTY ((struct phase_pool){.store = PHASE_STORE_EMPTY, .free = PHASE_BLOCK_NONE})

/** What did not fit into rows. */
struct phase_excess {
    uint64_t messages, bytes;
};

void phase_pool_finish(struct phase_pool *pool);

/** Make sure of so many free blocks. @return 0 or -ENOMEM */
int phase_pool_reserve(struct phase_pool *pool, uint64_t blocks);

size_t phase_pool_bytes(const struct phase_pool *pool);

/** Rows of a block, to be read: each is there as often as the block is. */
static inline const struct phase_row *phase_block(const struct phase_pool *pool, uint32_t block)
{
    return phase_store_rows(&pool->store, pool->links[block].place);
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

/** The next row that is appended begins a block. There are rows, and a block was reserved. */
void phase_list_break(struct phase_pool *pool, struct phase_list *list);

/** Append a block of rows that lie in a place where they were shared, of edges that come after all
 * of the list. The blocks before it are complete. A block was reserved. */
void phase_list_reuse(struct phase_pool *pool, struct phase_list *list, uint32_t place,
                      uint32_t rows, uint32_t least, uint32_t most);

/** As many blocks may a list of so many rows have. */
static inline uint64_t phase_blocks_most(uint64_t rows)
{
    return (rows + rows / PHASE_UNUSED_SHARE) / PHASE_BLOCK + 1;
}

/** May two lists be put behind each other, with so many rows, blocks and runs together? */
bool phase_list_may_link(uint64_t rows, uint64_t blocks, uint32_t runs);

/** Its last row is there. It is one run.
 *  @param high  no row has more messages */
void phase_list_complete(struct phase_pool *pool, struct phase_list *list, uint32_t high);

/** Put one list behind another with none of its edges; it is empty after that.
 *  @return whether it could be: not if there would be too many runs or blocks, or too many runs
 * whose edges lie scattered among each other's */
bool phase_list_link(struct phase_pool *pool, struct phase_list *to, struct phase_list *from);

/** Add one list to another of the same edges if it has the same rows, any number of times: nothing
 * is written. It is empty after that.
 *  @return whether it could be: not if messages may pass 2^32 */
bool phase_list_repeat(struct phase_pool *pool, struct phase_list *to, struct phase_list *from);

/** Add one list to another that has all of its edges; it is empty after that.
 *  @return whether it could be: not if messages may pass 2^32 */
bool phase_list_absorb(struct phase_pool *pool, struct phase_list *to, struct phase_list *from);

/** Add one list to another: they become one run, and `from` is empty. PHASE_MERGE_BLOCKS were
 * reserved. Each row of `to` is copied once for each run but the first: see phase_sums_merge(). */
void phase_list_merge(struct phase_pool *pool, struct phase_list *to, struct phase_list *from,
                      struct phase_excess *excess);

/** Give back all blocks of a list, which is empty after that. */
void phase_list_clear(struct phase_pool *pool, struct phase_list *list);

/** Rows that merging two lists would save: of each edge as many as both have. Unless messages of an
 * edge pass 2^32 when they are added up, that is exact. */
uint32_t phase_list_common(const struct phase_pool *pool, const struct phase_list *one,
                           const struct phase_list *other);

#endif
