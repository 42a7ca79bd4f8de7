#include "daemon/analysis/phases/phase_cursor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE 4u /* edges from the first to the last of a block, for each of its rows */

__extension__ typedef unsigned __int128 wide;

/* ---- the pool ------------------------------------------------------------------- */

void phase_pool_finish(struct phase_pool *pool)
{
    phase_store_finish(&pool->store);
    free(pool->links);
}

/* Its rows have been given back. */
static void phase_rows_release(struct phase_pool *pool, uint32_t block)
{
    pool->links[block].after = pool->free;
    pool->free = block;
    pool->free_count++;
}

void phase_pool_give(struct phase_pool *pool, uint32_t block)
{
    phase_store_give(&pool->store, pool->links[block].place);
    phase_rows_release(pool, block);
}

int phase_pool_reserve(struct phase_pool *pool, uint64_t blocks)
{
    while (pool->free_count < blocks) {
        uint32_t known = pool->store.slab_count * PHASE_BLOCK, room = pool->link_room;
        if (known == room) {
            room = room < 4 * PHASE_BLOCK ? 4 * PHASE_BLOCK : 2 * room;
            struct phase_link *links = realloc(pool->links, room * sizeof(*links));
            if (links == NULL)
                return -ENOMEM;
            pool->links = links;
            pool->link_room = room;
        }
        if (phase_store_grow(&pool->store) != 0)
            return -ENOMEM;
        for (uint32_t i = PHASE_BLOCK; i-- > 0;)
            phase_rows_release(pool, known + i);
    }
    return 0;
}

size_t phase_pool_bytes(const struct phase_pool *pool)
{
    return phase_store_bytes(&pool->store) + pool->link_room * sizeof(*pool->links);
}

/* ---- writing -------------------------------------------------------------------- */

/* Say what a full block, or a last one, begins and ends with; its rows are complete. */
static void phase_rows_seal(struct phase_pool *pool, uint32_t block)
{
    struct phase_link *link = &pool->links[block];
    const struct phase_row *rows = phase_block(pool, block);
    link->least = rows[0].edge;
    link->most = rows[link->rows - 1].edge;
    link->place = phase_store_share(&pool->store, link->place, link->rows);
}

/* Put a block behind those of a list. */
static void phase_rows_put_block(struct phase_pool *pool, struct phase_list *list,
                                 const struct phase_link *link)
{
    uint32_t block = pool->free;
    pool->free = pool->links[block].after;
    pool->free_count--;
    pool->links[block] = *link;
    if (list->last == PHASE_BLOCK_NONE) {
        list->first = block;
        list->runs = 1;
    } else {
        pool->links[list->last].after = block;
    }
    list->last = block;
    list->blocks++;
}

static void phase_rows_add_block(struct phase_pool *pool, struct phase_list *list)
{
    const struct phase_link link = {
        .after = PHASE_BLOCK_NONE, .place = phase_store_take(&pool->store), .times = 1};
    uint32_t last = list->last;
    phase_rows_put_block(pool, list, &link);
    if (last != PHASE_BLOCK_NONE)
        phase_rows_seal(pool, last);
}

void phase_list_break(struct phase_pool *pool, struct phase_list *list)
{
    phase_rows_add_block(pool, list);
}

void phase_list_reuse(struct phase_pool *pool, struct phase_list *list, uint32_t place,
                      uint32_t rows, uint32_t least, uint32_t most)
{
    const struct phase_link link = {.after = PHASE_BLOCK_NONE,
                                    .least = least,
                                    .most = most,
                                    .rows = rows,
                                    .place = place,
                                    .times = 1};
    phase_store_use(&pool->store, place);
    phase_rows_put_block(pool, list, &link);
    list->rows += rows;
}

struct phase_row *phase_list_extend(struct phase_pool *pool, struct phase_list *list, size_t most,
                                    size_t *room)
{
    if (list->last == PHASE_BLOCK_NONE || pool->links[list->last].rows == PHASE_BLOCK)
        phase_rows_add_block(pool, list);
    struct phase_link *link = &pool->links[list->last];
    uint32_t at = link->rows;
    *room = most < PHASE_BLOCK - at ? most : PHASE_BLOCK - at;
    link->rows += (uint32_t)*room;
    list->rows += (uint32_t)*room;
    return phase_store_rows(&pool->store, link->place) + at;
}

static struct phase_row *phase_rows_push(struct phase_pool *pool, struct phase_list *list)
{
    size_t one;
    return phase_list_extend(pool, list, 1, &one);
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
        *phase_rows_push(pool, list) = (struct phase_row){edge, UINT32_MAX, bytes};
        bytes = 0;
    }
    *phase_rows_push(pool, list) = (struct phase_row){edge, (uint32_t)messages, bytes};
}

void phase_list_complete(struct phase_pool *pool, struct phase_list *list, uint32_t high)
{
    if (list->rows == 0)
        return;
    phase_rows_seal(pool, list->last);
    pool->links[list->first].end = list->last;
    list->high = high;
}

/* ---- linking -------------------------------------------------------------------- */

bool phase_list_may_link(uint64_t rows, uint64_t blocks, uint32_t runs)
{
    return runs <= PHASE_RUNS && blocks <= phase_blocks_most(rows);
}

/* Have most blocks edges that follow each other closely? Runs of such are passed by block, those of
 * scattered edges row by row. */
static bool are_close(const struct phase_pool *pool, const struct phase_list *list)
{
    uint32_t close = 0;
    for (uint32_t block = list->first; block != PHASE_BLOCK_NONE;) {
        const struct phase_link *link = &pool->links[block];
        close += (link->most - link->least) / CLOSE < link->rows;
        block = block == list->last ? PHASE_BLOCK_NONE : link->after;
    }
    return close > list->blocks / 2;
}

static bool may_link(const struct phase_pool *pool, const struct phase_list *to,
                     const struct phase_list *from)
{
    uint64_t rows = (uint64_t)to->rows + from->rows, blocks = (uint64_t)to->blocks + from->blocks;
    uint32_t runs = to->runs + from->runs;
    return phase_list_may_link(rows, blocks, runs) &&
           (runs <= PHASE_RUNS_APART || (are_close(pool, to) && are_close(pool, from)));
}

bool phase_list_link(struct phase_pool *pool, struct phase_list *to, struct phase_list *from)
{
    if (from->rows == 0)
        return true;
    if (!may_link(pool, to, from))
        return false;
    if (to->rows == 0) {
        *to = *from;
    } else {
        pool->links[to->last].after = from->first;
        to->last = from->last;
        to->rows += from->rows;
        to->blocks += from->blocks;
        to->runs += from->runs;
        to->high = to->high > from->high ? to->high : from->high;
    }
    *from = PHASE_LIST_EMPTY;
    return true;
}

void phase_list_clear(struct phase_pool *pool, struct phase_list *list)
{
    if (list->last == PHASE_BLOCK_NONE)
        return;
    for (uint32_t block = list->first, after;; block = after) {
        after = pool->links[block].after;
        phase_pool_give(pool, block);
        if (block == list->last)
            break;
    }
    *list = PHASE_LIST_EMPTY;
}

/* ---- changing --------------------------------------------------------------------- */

void phase_block_open(struct phase_pool *pool, struct phase_link *link)
{
    link->place = phase_store_own(&pool->store, link->place, link->rows);
    struct phase_row *rows = phase_store_rows(&pool->store, link->place);
    for (uint32_t i = 0; link->times > 1 && i < link->rows; i++) {
        rows[i].messages *= link->times;
        rows[i].bytes *= link->times;
    }
    link->times = 1;
}

void phase_list_share(struct phase_pool *pool, const struct phase_list *list)
{
    for (uint32_t block = list->first;; block = pool->links[block].after) {
        struct phase_link *link = &pool->links[block];
        if (phase_store_is_open(&pool->store, link->place))
            link->place = phase_store_share(&pool->store, link->place, link->rows);
        if (block == list->last)
            return;
    }
}

/* Let all blocks of a list tell all once. */
static void phase_rows_write_out(struct phase_pool *pool, const struct phase_list *list)
{
    bool repeats = false;
    for (uint32_t block = list->first; block != PHASE_BLOCK_NONE;) {
        struct phase_link *link = &pool->links[block];
        if (link->times > 1) {
            phase_block_open(pool, link);
            repeats = true;
        }
        block = block == list->last ? PHASE_BLOCK_NONE : link->after;
    }
    if (repeats)
        phase_list_share(pool, list);
}

/* ---- merging ---------------------------------------------------------------------- */

/* Add all rows of an edge to sums. */
static inline void phase_rows_read_row(struct cursor *c, uint32_t edge, uint64_t *messages,
                                       uint64_t *bytes)
{
    while (c->here > 0 && c->row->edge == edge) {
        *messages += c->row->messages;
        *bytes += c->row->bytes;
        phase_cursor_skip(c, 1);
    }
}

/* Copy rows of this block. */
static void phase_rows_copy(struct phase_pool *pool, struct phase_list *to, struct cursor *from,
                            uint32_t rows)
{
    for (size_t some, left = rows; left > 0; left -= some) {
        struct phase_row *out = phase_list_extend(pool, to, left, &some);
        memcpy(out, from->row + (rows - left), some * sizeof(*out));
    }
    phase_cursor_skip(from, rows);
}

/* Rows of edges that both blocks have one after the other, each in one row and the sums too: nearly
 * all, where a pattern repeats.
 * @return how many were added up */
static uint32_t phase_rows_add_pairs(struct phase_row *out, const struct phase_row *a,
                                     const struct phase_row *b, uint32_t most)
{
    uint32_t count = 0;
    /* The next rows say whether an edge has more than one. */
    for (; count + 1 < most; count++) {
        uint32_t edge = a[count].edge;
        if (b[count].edge != edge || a[count + 1].edge == edge || b[count + 1].edge == edge ||
            a[count].messages > UINT32_MAX - b[count].messages)
            break;
        out[count] = (struct phase_row){edge, a[count].messages + b[count].messages,
                                        a[count].bytes + b[count].bytes};
    }
    return count;
}

/* Add up rows of both, as many as can be at once, and at least one edge's. */
static void phase_rows_add_up(struct phase_pool *pool, struct phase_list *to, struct cursor *a,
                              struct cursor *b, struct phase_excess *excess)
{
    struct phase_row sums[PHASE_BLOCK];
    uint32_t count =
        phase_rows_add_pairs(sums, a->row, b->row, phase_cursor_minimum(a->here, b->here));
    for (size_t some, left = count; left > 0; left -= some) {
        struct phase_row *out = phase_list_extend(pool, to, left, &some);
        memcpy(out, sums + (count - left), some * sizeof(*out));
    }
    if (count > 0) {
        phase_cursor_skip(a, count);
        phase_cursor_skip(b, count);
        return;
    }
    uint64_t messages = 0, bytes = 0;
    uint32_t edge = a->row->edge;
    phase_rows_read_row(a, edge, &messages, &bytes);
    phase_rows_read_row(b, edge, &messages, &bytes);
    phase_list_append(pool, to, edge, messages, bytes, excess);
}

/* The list that is one run. */
static struct phase_list phase_rows_single(const struct phase_pool *pool, uint32_t first)
{
    struct phase_list out = {first, pool->links[first].end, 0, 0, 1, UINT32_MAX};
    for (uint32_t block = first;; block = pool->links[block].after) {
        out.rows += pool->links[block].rows;
        out.blocks++;
        if (block == out.last)
            return out;
    }
}

/* @param one, other  blocks that begin runs */
static struct phase_list phase_rows_merge_runs(struct phase_pool *pool, uint32_t one,
                                               uint32_t other, struct phase_excess *excess)
{
    struct phase_list out = PHASE_LIST_EMPTY;
    struct cursor a = phase_cursor_begin(pool, pool, one),
                  b = phase_cursor_begin(pool, pool, other);
    while (a.here > 0 && b.here > 0) {
        if (a.row->edge < b.row->edge)
            phase_rows_copy(pool, &out, &a, phase_cursor_rows_before(&a, b.row->edge));
        else if (b.row->edge < a.row->edge)
            phase_rows_copy(pool, &out, &b, phase_cursor_rows_before(&b, a.row->edge));
        else
            phase_rows_add_up(pool, &out, &a, &b, excess);
    }
    while (a.here > 0)
        phase_rows_copy(pool, &out, &a, a.here);
    while (b.here > 0)
        phase_rows_copy(pool, &out, &b, b.here);
    phase_list_complete(pool, &out, UINT32_MAX);
    return out;
}

void phase_list_merge(struct phase_pool *pool, struct phase_list *to, struct phase_list *from,
                      struct phase_excess *excess)
{
    struct phase_list out = PHASE_LIST_EMPTY, lists[2] = {*to, *from};
    uint64_t high = (uint64_t)to->high + from->high;
    for (int i = 0; i < 2; i++) {
        phase_rows_write_out(pool, &lists[i]);
        for (uint32_t run = lists[i].first, next; run != PHASE_BLOCK_NONE; run = next) {
            next = phase_run_after(pool, &lists[i], run);
            out = out.rows == 0 ? phase_rows_single(pool, run)
                                : phase_rows_merge_runs(pool, out.first, run, excess);
        }
    }
    *to = out;
    to->high = high < UINT32_MAX ? (uint32_t)high : UINT32_MAX;
    *from = PHASE_LIST_EMPTY;
}
