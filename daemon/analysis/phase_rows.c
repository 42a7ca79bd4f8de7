#include "daemon/analysis/phase_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

/* ---- the pool ------------------------------------------------------------------- */

void phase_pool_finish(struct phase_pool *pool)
{
    for (uint32_t i = 0; i < pool->slab_count; i++)
        free(pool->slabs[i]);
    free(pool->slabs);
    free(pool->after);
}

static int grow_tables(struct phase_pool *pool)
{
    uint32_t room = pool->slab_room < 4 ? 4 : 2 * pool->slab_room;
    struct phase_row **slabs = realloc(pool->slabs, room * sizeof(struct phase_row *));
    if (slabs == NULL)
        return -ENOMEM;
    pool->slabs = slabs;
    uint32_t *after = realloc(pool->after, (size_t)room * PHASE_BLOCK * sizeof(*after));
    if (after == NULL)
        return -ENOMEM;
    pool->after = after;
    pool->slab_room = room;
    return 0;
}

static void release(struct phase_pool *pool, uint32_t block)
{
    pool->after[block] = pool->free;
    pool->free = block;
    pool->free_count++;
}

int phase_pool_reserve(struct phase_pool *pool, uint64_t blocks)
{
    while (pool->free_count < blocks) {
        if (pool->slab_count == pool->slab_room && grow_tables(pool) != 0)
            return -ENOMEM;
        struct phase_row *slab = malloc((size_t)PHASE_BLOCK * PHASE_BLOCK * sizeof(*slab));
        if (slab == NULL)
            return -ENOMEM;
        pool->slabs[pool->slab_count] = slab;
        for (uint32_t i = PHASE_BLOCK; i-- > 0;)
            release(pool, pool->slab_count * PHASE_BLOCK + i);
        pool->slab_count++;
    }
    return 0;
}

size_t phase_pool_bytes(const struct phase_pool *pool)
{
    size_t slab = (size_t)PHASE_BLOCK * PHASE_BLOCK * sizeof(struct phase_row);
    return pool->slab_count * slab +
           pool->slab_room * (sizeof(*pool->slabs) + PHASE_BLOCK * sizeof(*pool->after));
}

/* ---- writing -------------------------------------------------------------------- */

static struct phase_row *push(struct phase_pool *pool, struct phase_list *list)
{
    uint32_t at = list->rows++ % PHASE_BLOCK;
    if (at == 0) {
        uint32_t block = pool->free;
        pool->free = pool->after[block];
        pool->free_count--;
        pool->after[block] = PHASE_BLOCK_NONE;
        if (list->last == PHASE_BLOCK_NONE)
            list->first = block;
        else
            pool->after[list->last] = block;
        list->last = block;
    }
    return phase_block(pool, list->last) + at;
}

void phase_list_append(struct phase_pool *pool, struct phase_list *list, uint32_t edge,
                       uint64_t messages, uint64_t bytes, struct phase_excess *excess)
{
    const uint64_t most = (uint64_t)PHASE_ROW_SPLIT * UINT32_MAX;
    if (messages > most) {
        uint64_t over = messages - most;
        uint64_t over_bytes = (uint64_t)((wide)bytes * over / messages);
        excess->messages += over;
        excess->bytes += over_bytes;
        messages = most;
        bytes -= over_bytes;
    }
    for (; messages > UINT32_MAX; messages -= UINT32_MAX) {
        *push(pool, list) = (struct phase_row){edge, UINT32_MAX, bytes};
        bytes = 0;
    }
    *push(pool, list) = (struct phase_row){edge, (uint32_t)messages, bytes};
}

/* ---- reading -------------------------------------------------------------------- */

/* A place in a list. Blocks that were read are given back when it was told a pool to give to. */
struct cursor {
    const struct phase_pool *pool;
    struct phase_pool *give; /* or NULL */
    const struct phase_row *row;
    uint32_t block, in_block, left;
};

static struct cursor begin(const struct phase_pool *pool, struct phase_pool *give,
                           const struct phase_list *list)
{
    struct cursor c = {pool, give, NULL, list->first, 0, list->rows};
    if (list->rows > 0)
        c.row = phase_block(pool, list->first);
    return c;
}

static inline void step(struct cursor *c)
{
    c->row++;
    if (--c->left > 0 && ++c->in_block < PHASE_BLOCK)
        return;
    uint32_t block = c->block;
    c->block = c->pool->after[block];
    c->in_block = 0;
    if (c->left > 0)
        c->row = phase_block(c->pool, c->block);
    if (c->give != NULL)
        release(c->give, block);
}

/* Add all rows of an edge to sums. */
static inline void take(struct cursor *c, uint32_t edge, uint64_t *messages, uint64_t *bytes)
{
    while (c->left > 0 && c->row->edge == edge) {
        *messages += c->row->messages;
        *bytes += c->row->bytes;
        step(c);
    }
}

void phase_list_merge(struct phase_pool *pool, struct phase_list *to, struct phase_list *from,
                      struct phase_excess *excess)
{
    struct phase_list out = PHASE_LIST_EMPTY;
    struct cursor a = begin(pool, pool, to), b = begin(pool, pool, from);
    while (a.left > 0 || b.left > 0) {
        uint64_t messages = 0, bytes = 0;
        uint32_t edge =
            a.left == 0 || (b.left > 0 && b.row->edge < a.row->edge) ? b.row->edge : a.row->edge;
        take(&a, edge, &messages, &bytes);
        take(&b, edge, &messages, &bytes);
        phase_list_append(pool, &out, edge, messages, bytes, excess);
    }
    *to = out;
    *from = PHASE_LIST_EMPTY;
}

uint32_t phase_list_common(const struct phase_pool *pool, const struct phase_list *one,
                           const struct phase_list *other)
{
    struct cursor a = begin(pool, NULL, one), b = begin(pool, NULL, other);
    uint32_t common = 0;
    while (a.left > 0 && b.left > 0) {
        uint32_t left = a.row->edge, right = b.row->edge;
        common += left == right;
        if (left <= right)
            step(&a);
        if (right <= left)
            step(&b);
    }
    return common;
}
