#include "daemon/analysis/phase_rows.h"

#include "holter/bisect.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* ---- the pool ------------------------------------------------------------------- */

void phase_pool_finish(struct phase_pool *pool)
{
    phase_store_finish(&pool->store);
    free(pool->links);
}

/* Its rows have been given back. */
static void release(struct phase_pool *pool, uint32_t block)
{
    pool->links[block].after = pool->free;
    pool->free = block;
    pool->free_count++;
}

static void give_back(struct phase_pool *pool, uint32_t block)
{
    phase_store_give(&pool->store, pool->links[block].place);
    release(pool, block);
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
            release(pool, known + i);
    }
    return 0;
}

size_t phase_pool_bytes(const struct phase_pool *pool)
{
    return phase_store_bytes(&pool->store) + pool->link_room * sizeof(*pool->links);
}

/* ---- writing -------------------------------------------------------------------- */

/* Say what a full block, or a last one, begins and ends with; its rows are complete. */
static void seal(struct phase_pool *pool, uint32_t block)
{
    struct phase_link *link = &pool->links[block];
    const struct phase_row *rows = phase_block(pool, block);
    link->least = rows[0].edge;
    link->most = rows[link->rows - 1].edge;
    link->place = phase_store_share(&pool->store, link->place, link->rows);
}

/* Put a block behind those of a list. */
static void put_block(struct phase_pool *pool, struct phase_list *list,
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

static void add_block(struct phase_pool *pool, struct phase_list *list)
{
    const struct phase_link link = {.after = PHASE_BLOCK_NONE,
                                    .place = phase_store_take(&pool->store)};
    uint32_t last = list->last;
    put_block(pool, list, &link);
    if (last != PHASE_BLOCK_NONE)
        seal(pool, last);
}

void phase_list_reuse(struct phase_pool *pool, struct phase_list *list, uint32_t place,
                      uint32_t rows, uint32_t least, uint32_t most)
{
    const struct phase_link link = {
        .after = PHASE_BLOCK_NONE, .least = least, .most = most, .rows = rows, .place = place};
    phase_store_use(&pool->store, place);
    put_block(pool, list, &link);
    list->rows += rows;
}

struct phase_row *phase_list_extend(struct phase_pool *pool, struct phase_list *list, size_t most,
                                    size_t *room)
{
    if (list->last == PHASE_BLOCK_NONE || pool->links[list->last].rows == PHASE_BLOCK)
        add_block(pool, list);
    struct phase_link *link = &pool->links[list->last];
    uint32_t at = link->rows;
    *room = most < PHASE_BLOCK - at ? most : PHASE_BLOCK - at;
    link->rows += (uint32_t)*room;
    list->rows += (uint32_t)*room;
    return phase_store_rows(&pool->store, link->place) + at;
}

static struct phase_row *push(struct phase_pool *pool, struct phase_list *list)
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
        *push(pool, list) = (struct phase_row){edge, UINT32_MAX, bytes};
        bytes = 0;
    }
    *push(pool, list) = (struct phase_row){edge, (uint32_t)messages, bytes};
}

void phase_list_complete(struct phase_pool *pool, struct phase_list *list, uint32_t high)
{
    if (list->rows == 0)
        return;
    seal(pool, list->last);
    pool->links[list->first].end = list->last;
    list->high = high;
}

/* ---- linking -------------------------------------------------------------------- */

bool phase_list_may_link(uint64_t rows, uint64_t blocks, uint32_t runs)
{
    return runs <= PHASE_RUNS && blocks * PHASE_BLOCK <= rows + rows / 8 + PHASE_BLOCK;
}

bool phase_list_link(struct phase_pool *pool, struct phase_list *to, struct phase_list *from)
{
    uint64_t rows = (uint64_t)to->rows + from->rows, blocks = (uint64_t)to->blocks + from->blocks;
    if (from->rows == 0)
        return true;
    if (!phase_list_may_link(rows, blocks, to->runs + from->runs))
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
        give_back(pool, block);
        if (block == list->last)
            break;
    }
    *list = PHASE_LIST_EMPTY;
}

/* The block that the next run of a list begins with. */
static uint32_t run_after(const struct phase_pool *pool, const struct phase_list *list,
                          uint32_t block)
{
    uint32_t end = pool->links[block].end;
    return end == list->last ? PHASE_BLOCK_NONE : pool->links[end].after;
}

/* ---- merging ---------------------------------------------------------------------- */

/* A place in a run, and the rows from there on that lie in one block. Blocks that were read are given
 * back when it was told a pool to give to. */
struct cursor {
    const struct phase_pool *pool;
    struct phase_pool *give; /* or NULL */
    const struct phase_row *row;
    uint32_t block, last; /* of the run */
    uint32_t here;        /* rows from the place on in this block; 0: the run has ended */
};

static void enter(struct cursor *c, uint32_t block)
{
    c->block = block;
    c->here = block == PHASE_BLOCK_NONE ? 0 : c->pool->links[block].rows;
    c->row = block == PHASE_BLOCK_NONE ? NULL : phase_block(c->pool, block);
}

/* @param first  block that begins a run */
static struct cursor begin(const struct phase_pool *pool, struct phase_pool *give, uint32_t first)
{
    struct cursor c = {.pool = pool, .give = give, .last = pool->links[first].end};
    enter(&c, first);
    return c;
}

static void next_block(struct cursor *c)
{
    uint32_t block = c->block;
    enter(c, block == c->last ? PHASE_BLOCK_NONE : c->pool->links[block].after);
    if (c->give != NULL)
        give_back(c->give, block);
}

/* Pass over rows of this block. */
static inline void skip(struct cursor *c, uint32_t rows)
{
    c->row += rows;
    c->here -= rows;
    if (c->here == 0)
        next_block(c);
}

/* Add all rows of an edge to sums. */
static inline void take(struct cursor *c, uint32_t edge, uint64_t *messages, uint64_t *bytes)
{
    while (c->here > 0 && c->row->edge == edge) {
        *messages += c->row->messages;
        *bytes += c->row->bytes;
        skip(c, 1);
    }
}

/* In steps that double, then halves: as quick for one row as for all.
 * @return how many rows of this block are of edges before one; the first is */
static uint32_t rows_before(const struct cursor *c, uint32_t edge)
{
    uint32_t low = 1, high = 1;
    while (high < c->here && c->row[high].edge < edge) {
        low = high + 1;
        high *= 2;
    }
    high = high < c->here ? high : c->here;
    return BISECT(i, low, high, c->row[i].edge < edge);
}

/* Copy rows of this block. */
static void copy(struct phase_pool *pool, struct phase_list *to, struct cursor *from, uint32_t rows)
{
    for (size_t some, left = rows; left > 0; left -= some) {
        struct phase_row *out = phase_list_extend(pool, to, left, &some);
        memcpy(out, from->row + (rows - left), some * sizeof(*out));
    }
    skip(from, rows);
}

/* Rows of edges that both blocks have one after the other, each in one row and the sums too: nearly all,
 * where a pattern repeats.
 * @return how many were added up */
static uint32_t add_pairs(struct phase_row *out, const struct phase_row *a,
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

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Add up rows of both, as many as can be at once, and at least one edge's. */
static void add_up(struct phase_pool *pool, struct phase_list *to, struct cursor *a,
                   struct cursor *b, struct phase_excess *excess)
{
    struct phase_row sums[PHASE_BLOCK];
    uint32_t count = add_pairs(sums, a->row, b->row, least(a->here, b->here));
    for (size_t some, left = count; left > 0; left -= some) {
        struct phase_row *out = phase_list_extend(pool, to, left, &some);
        memcpy(out, sums + (count - left), some * sizeof(*out));
    }
    if (count > 0) {
        skip(a, count);
        skip(b, count);
        return;
    }
    uint64_t messages = 0, bytes = 0;
    uint32_t edge = a->row->edge;
    take(a, edge, &messages, &bytes);
    take(b, edge, &messages, &bytes);
    phase_list_append(pool, to, edge, messages, bytes, excess);
}

/* The list that is one run. */
static struct phase_list single(const struct phase_pool *pool, uint32_t first)
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
static struct phase_list merge_runs(struct phase_pool *pool, uint32_t one, uint32_t other,
                                    struct phase_excess *excess)
{
    struct phase_list out = PHASE_LIST_EMPTY;
    struct cursor a = begin(pool, pool, one), b = begin(pool, pool, other);
    while (a.here > 0 && b.here > 0) {
        if (a.row->edge < b.row->edge)
            copy(pool, &out, &a, rows_before(&a, b.row->edge));
        else if (b.row->edge < a.row->edge)
            copy(pool, &out, &b, rows_before(&b, a.row->edge));
        else
            add_up(pool, &out, &a, &b, excess);
    }
    while (a.here > 0)
        copy(pool, &out, &a, a.here);
    while (b.here > 0)
        copy(pool, &out, &b, b.here);
    phase_list_complete(pool, &out, UINT32_MAX);
    return out;
}

void phase_list_merge(struct phase_pool *pool, struct phase_list *to, struct phase_list *from,
                      struct phase_excess *excess)
{
    struct phase_list out = PHASE_LIST_EMPTY, lists[2] = {*to, *from};
    uint64_t high = (uint64_t)to->high + from->high;
    for (int i = 0; i < 2; i++) {
        for (uint32_t run = lists[i].first, next; run != PHASE_BLOCK_NONE; run = next) {
            next = run_after(pool, &lists[i], run);
            out = out.rows == 0 ? single(pool, run) : merge_runs(pool, out.first, run, excess);
        }
    }
    *to = out;
    to->high = high < UINT32_MAX ? (uint32_t)high : UINT32_MAX;
    *from = PHASE_LIST_EMPTY;
}

/* ---- comparing -------------------------------------------------------------------- */

static uint32_t count_equal(const struct phase_row *a, const struct phase_row *b, uint32_t most)
{
    uint32_t count = 1;
    while (count < most && a[count].edge == b[count].edge)
        count++;
    return count;
}

/* Pass over rows of edges before one; the first is. Blocks that end before it are not looked at. */
static void pass(struct cursor *c, uint32_t edge)
{
    while (c->here > 0 && c->block != c->last && c->pool->links[c->block].most < edge)
        next_block(c);
    if (c->here > 0 && c->row->edge < edge)
        skip(c, rows_before(c, edge));
}

/* Go on until both are in blocks that may have an edge in common: rows of others are not looked at.
 * @return whether there are such */
static bool meet(struct cursor *a, struct cursor *b)
{
    while (a->here > 0 && b->here > 0) {
        const struct phase_link *one = &a->pool->links[a->block],
                                *other = &b->pool->links[b->block];
        if (one->most < other->least)
            next_block(a);
        else if (other->most < one->least)
            next_block(b);
        else
            return true;
    }
    return false;
}

/* Has the block all edges between its first and its last? Of lists in which no edge has several rows. */
static bool is_dense(const struct cursor *c)
{
    const struct phase_link *link = &c->pool->links[c->block];
    return link->most - link->least + 1 == link->rows;
}

/* Go on with one or the other of a block that is dense, whose rows need not be looked at, and another.
 * @return how many rows they have in common of those that were passed */
static uint32_t count_within(struct cursor *dense, struct cursor *c)
{
    const struct phase_link *all = &dense->pool->links[dense->block];
    const struct phase_link *own = &c->pool->links[c->block];
    uint32_t rows = c->here;
    if (own->least < all->least || own->most > all->most) {
        if (c->row->edge < all->least) {
            pass(c, all->least);
            return 0;
        }
        if (c->row->edge > all->most) {
            next_block(dense);
            return 0;
        }
        rows = own->most > all->most ? rows_before(c, all->most + 1) : rows;
    }
    skip(c, rows);
    return rows;
}

/* @param single  has no edge several rows, in either? */
static uint32_t common_to_runs(struct cursor a, struct cursor b, bool single)
{
    uint32_t common = 0;
    while (meet(&a, &b)) {
        if (single && is_dense(&a)) {
            common += count_within(&a, &b);
            continue;
        }
        if (single && is_dense(&b)) {
            common += count_within(&b, &a);
            continue;
        }
        uint32_t left = a.row->edge, right = b.row->edge;
        if (left < right) {
            pass(&a, right);
        } else if (right < left) {
            pass(&b, left);
        } else {
            uint32_t equal = count_equal(a.row, b.row, least(a.here, b.here));
            common += equal;
            skip(&a, equal);
            skip(&b, equal);
        }
    }
    return common;
}

uint32_t phase_list_common(const struct phase_pool *pool, const struct phase_list *one,
                           const struct phase_list *other)
{
    bool single = one->high < UINT32_MAX && other->high < UINT32_MAX;
    uint32_t common = 0;
    for (uint32_t a = one->first; a != PHASE_BLOCK_NONE; a = run_after(pool, one, a))
        for (uint32_t b = other->first; b != PHASE_BLOCK_NONE; b = run_after(pool, other, b))
            common += common_to_runs(begin(pool, NULL, a), begin(pool, NULL, b), single);
    return common;
}

/* ---- adding in place -------------------------------------------------------------- */

/* The rows where a cursor is, to be changed. Of a block that shared them they are copied. */
static struct phase_row *open_rows(struct phase_pool *pool, struct cursor *c)
{
    struct phase_link *link = &pool->links[c->block];
    size_t at = (size_t)(c->row - phase_block(pool, c->block));
    link->place = phase_store_own(&pool->store, link->place, link->rows);
    struct phase_row *rows = phase_store_rows(&pool->store, link->place) + at;
    c->row = rows;
    return rows;
}

/* Add those rows of one run that another has the edges of. */
static void absorb_run(struct phase_pool *pool, struct cursor to, struct cursor from)
{
    while (meet(&to, &from)) {
        uint32_t left = to.row->edge, right = from.row->edge;
        if (left < right) {
            pass(&to, right);
        } else if (right < left) {
            pass(&from, left);
        } else {
            uint32_t equal = count_equal(to.row, from.row, least(to.here, from.here));
            struct phase_row *sum = open_rows(pool, &to);
            for (uint32_t i = 0; i < equal; i++) {
                sum[i].messages += from.row[i].messages;
                sum[i].bytes += from.row[i].bytes;
            }
            skip(&to, equal);
            skip(&from, equal);
        }
    }
}

/* Look for rows that are alike, of those that were changed. */
static void share_again(struct phase_pool *pool, const struct phase_list *list)
{
    for (uint32_t block = list->first;; block = pool->links[block].after) {
        struct phase_link *link = &pool->links[block];
        if (phase_store_is_open(&pool->store, link->place))
            link->place = phase_store_share(&pool->store, link->place, link->rows);
        if (block == list->last)
            return;
    }
}

bool phase_list_absorb(struct phase_pool *pool, struct phase_list *to, struct phase_list *from)
{
    /* Each row fits, so none is of an edge with several. */
    if ((uint64_t)to->high + from->high >= UINT32_MAX)
        return false;
    for (uint32_t a = to->first; a != PHASE_BLOCK_NONE; a = run_after(pool, to, a))
        for (uint32_t b = from->first; b != PHASE_BLOCK_NONE; b = run_after(pool, from, b))
            absorb_run(pool, begin(pool, NULL, a), begin(pool, NULL, b));
    to->high += from->high;
    phase_list_clear(pool, from);
    share_again(pool, to);
    return true;
}
