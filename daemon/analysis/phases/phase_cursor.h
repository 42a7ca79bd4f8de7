/* Going through the rows of phase_rows.h run by run, and changing blocks: what phase_rows.c and
 * phase_intersect.c are made of.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_CURSOR_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_CURSOR_H

#include "daemon/analysis/phases/phase_rows.h"
#include "holter/bisect.h"

/** Give back a block and its rows. */
void phase_pool_give(struct phase_pool *pool, uint32_t block);

/** The rows of a block are to be changed: it tells all once. Of a block that shared them they are
 * copied. */
void phase_block_open(struct phase_pool *pool, struct phase_link *link);

/** Look for rows that are alike, of those that were changed. */
void phase_list_share(struct phase_pool *pool, const struct phase_list *list);

/** The block that the next run of a list begins with. */
static inline uint32_t phase_run_after(const struct phase_pool *pool, const struct phase_list *list,
                                       uint32_t block)
{
    uint32_t end = pool->links[block].end;
    return end == list->last ? PHASE_BLOCK_NONE : pool->links[end].after;
}

/** A place in a run, and the rows from there on that lie in one block. Blocks that were read are
 * given back when it was told a pool to give to. */
struct cursor {
    const struct phase_pool *pool;
    struct phase_pool *give; /* or NULL */
    const struct phase_row *row;
    uint32_t block, last; /* of the run */
    uint32_t here;        /* rows from the place on in this block; 0: the run has ended */
};

static inline void phase_cursor_enter(struct cursor *c, uint32_t block)
{
    c->block = block;
    c->here = block == PHASE_BLOCK_NONE ? 0 : c->pool->links[block].rows;
    c->row = block == PHASE_BLOCK_NONE ? NULL : phase_block(c->pool, block);
}

/** @param first  block that begins a run */
static inline struct cursor phase_cursor_begin(const struct phase_pool *pool,
                                               struct phase_pool *give, uint32_t first)
{
    struct cursor c = {.pool = pool, .give = give, .last = pool->links[first].end};
    phase_cursor_enter(&c, first);
    return c;
}

static inline void next_block(struct cursor *c)
{
    uint32_t block = c->block;
    phase_cursor_enter(c, block == c->last ? PHASE_BLOCK_NONE : c->pool->links[block].after);
    if (c->give != NULL)
        phase_pool_give(c->give, block);
}

/** Pass over rows of this block. */
static inline void phase_cursor_skip(struct cursor *c, uint32_t rows)
{
    c->row += rows;
    c->here -= rows;
    if (c->here == 0)
        next_block(c);
}

/** In steps that double, then halves: as quick for one row as for all.
 * @return how many rows of this block are of edges before one; the first is */
static inline uint32_t phase_cursor_rows_before(const struct cursor *c, uint32_t edge)
{
    uint32_t low = 1, high = 1;
    while (high < c->here && c->row[high].edge < edge) {
        low = high + 1;
        high *= 2;
    }
    high = high < c->here ? high : c->here;
    return BISECT(i, low, high, c->row[i].edge < edge);
}

static inline uint32_t phase_cursor_minimum(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

#endif
