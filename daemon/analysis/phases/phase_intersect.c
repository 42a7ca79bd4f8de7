#include "daemon/analysis/phases/phase_cursor.h"

#include <string.h>

/* ---- runs that may have edges in common --------------------------------------------- */

/* A run: the block that it begins with, and its edges. */
struct range {
    uint32_t first, least, most;
};

/* Pairs of runs of two lists, these by their least edges. */
struct run_pairs {
    struct range of[2][PHASE_RUNS];
    uint32_t count[2], next[2];
    uint32_t passed; /* of the second: the first so many end before the run of the first at hand */
    uint32_t a, b;   /* blocks that the runs of the pair begin with */
};

static void list_runs(struct range *runs, uint32_t *count, const struct phase_pool *pool,
                      const struct phase_list *list)
{
    uint32_t some = 0;
    for (uint32_t run = list->first; run != PHASE_BLOCK_NONE;
         run = phase_run_after(pool, list, run)) {
        const struct phase_link *link = &pool->links[run];
        const struct range one = {run, link->least, pool->links[link->end].most};
        uint32_t at = some++; /* mostly they lie in order, or nearly so */
        for (; at > 0 && runs[at - 1].least > one.least; at--)
            runs[at] = runs[at - 1];
        runs[at] = one;
    }
    *count = some;
}

static void list_pairs(struct run_pairs *p, const struct phase_pool *pool,
                       const struct phase_list *one, const struct phase_list *other)
{
    list_runs(p->of[0], &p->count[0], pool, one);
    list_runs(p->of[1], &p->count[1], pool, other);
    p->next[0] = p->next[1] = p->passed = 0;
}

/* The next pair that has edges in the same range. @return whether there is one */
static bool next_pair(struct run_pairs *p)
{
    const struct range *others = p->of[1];
    for (; p->next[0] < p->count[0]; p->next[0]++, p->next[1] = p->passed) {
        const struct range *a = &p->of[0][p->next[0]];
        while (p->passed < p->count[1] && others[p->passed].most < a->least)
            p->passed++;
        p->next[1] = p->next[1] < p->passed ? p->passed : p->next[1];
        while (p->next[1] < p->count[1] && others[p->next[1]].least <= a->most) {
            const struct range *b = &others[p->next[1]++];
            if (a->least > b->most)
                continue;
            p->a = a->first;
            p->b = b->first;
            return true;
        }
    }
    return false;
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
static void phase_intersect_skip_edge(struct cursor *c, uint32_t edge)
{
    while (c->here > 0 && c->block != c->last && c->pool->links[c->block].most < edge)
        next_block(c);
    if (c->here > 0 && c->row->edge < edge)
        phase_cursor_skip(c, phase_cursor_rows_before(c, edge));
}

/* Go on until both are in blocks that may have an edge in common: rows of others are not looked at.
 * @return whether there are such */
static bool phase_intersect_advance_to_common(struct cursor *a, struct cursor *b)
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

/* Pass over rows of the one that is behind. @return whether neither was: both are at the same edge
 */
static bool are_level(struct cursor *a, struct cursor *b)
{
    uint32_t left = a->row->edge, right = b->row->edge;
    if (left < right)
        phase_intersect_skip_edge(a, right);
    else if (right < left)
        phase_intersect_skip_edge(b, left);
    return left == right;
}

/* Are both where blocks with the same rows begin? */
static bool are_at_same(const struct cursor *a, const struct cursor *b)
{
    const struct phase_link *one = &a->pool->links[a->block], *other = &b->pool->links[b->block];
    return one->place == other->place && a->here == one->rows && b->here == other->rows;
}

/* Has the block all edges between its first and its last? Of lists in which no edge has several
 * rows. */
static bool is_dense(const struct cursor *c)
{
    const struct phase_link *link = &c->pool->links[c->block];
    return link->most - link->least + 1 == link->rows;
}

/* Go on with one or the other of a block that is dense, whose rows need not be looked at, and
 * another.
 * @return how many rows they have in common of those that were passed */
static uint32_t count_within(struct cursor *dense, struct cursor *c)
{
    const struct phase_link *all = &dense->pool->links[dense->block];
    const struct phase_link *own = &c->pool->links[c->block];
    uint32_t rows = c->here;
    if (own->least < all->least || own->most > all->most) {
        if (c->row->edge < all->least) {
            phase_intersect_skip_edge(c, all->least);
            return 0;
        }
        if (c->row->edge > all->most) {
            next_block(dense);
            return 0;
        }
        rows = own->most > all->most ? phase_cursor_rows_before(c, all->most + 1) : rows;
    }
    phase_cursor_skip(c, rows);
    return rows;
}

/* @param single  has no edge several rows, in either? */
static uint32_t common_to_runs(struct cursor a, struct cursor b, bool single)
{
    uint32_t common = 0;
    while (phase_intersect_advance_to_common(&a, &b)) {
        if (are_at_same(&a, &b)) {
            common += a.here;
            next_block(&a);
            next_block(&b);
            continue;
        }
        if (single && is_dense(&a)) {
            common += count_within(&a, &b);
            continue;
        }
        if (single && is_dense(&b)) {
            common += count_within(&b, &a);
            continue;
        }
        if (!are_level(&a, &b))
            continue;
        uint32_t equal = count_equal(a.row, b.row, phase_cursor_minimum(a.here, b.here));
        common += equal;
        phase_cursor_skip(&a, equal);
        phase_cursor_skip(&b, equal);
    }
    return common;
}

uint32_t phase_list_common(const struct phase_pool *pool, const struct phase_list *one,
                           const struct phase_list *other)
{
    bool single = one->high < UINT32_MAX && other->high < UINT32_MAX;
    uint32_t common = 0;
    struct run_pairs pairs;
    list_pairs(&pairs, pool, one, other);
    while (next_pair(&pairs))
        common += common_to_runs(phase_cursor_begin(pool, NULL, pairs.a),
                                 phase_cursor_begin(pool, NULL, pairs.b), single);
    return common;
}

/* ---- repeating -------------------------------------------------------------------- */

/* How often all blocks of a list are there. @return 0: not all are there as often */
static uint32_t times_of(const struct phase_pool *pool, const struct phase_list *list)
{
    uint32_t times = pool->links[list->first].times;
    for (uint32_t block = list->first;; block = pool->links[block].after) {
        if (pool->links[block].times != times)
            return 0;
        if (block == list->last)
            return times;
    }
}

/* As count_equal(), of lists in which no edge has several rows: mostly edges follow each other in
 * both. */
static uint32_t count_following(const struct phase_row *a, const struct phase_row *b, uint32_t most)
{
    uint32_t first = a->edge;
    uint32_t count = BISECT(i, 1, most, a[i].edge - first == i && b[i].edge - first == i);
    return count > 1 ? count : count_equal(a, b, most);
}

/* Has one run the rows of another wherever both have the same edge? No edge has several rows. */
static bool have_same_rows(struct cursor a, struct cursor b)
{
    while (phase_intersect_advance_to_common(&a, &b)) {
        if (!are_level(&a, &b))
            continue;
        uint32_t equal = are_at_same(&a, &b)
                             ? a.here
                             : count_following(a.row, b.row, phase_cursor_minimum(a.here, b.here));
        if (a.row != b.row && memcmp(a.row, b.row, equal * sizeof(*a.row)) != 0)
            return false;
        phase_cursor_skip(&a, equal);
        phase_cursor_skip(&b, equal);
    }
    return true;
}

static void note_places(struct phase_pool *pool, const struct phase_list *list, bool noted)
{
    for (uint32_t block = list->first;; block = pool->links[block].after) {
        phase_store_note(&pool->store, pool->links[block].place, noted);
        if (block == list->last)
            return;
    }
}

/* Does each block of a list lie where one of another does? Of lists of the same edges that says
 * that they have the same rows, in whatever order bursts of these were put together. */
static bool lie_together(struct phase_pool *pool, const struct phase_list *list,
                         const struct phase_list *other)
{
    bool together = true;
    note_places(pool, other, true);
    for (uint32_t block = list->first; together; block = pool->links[block].after) {
        together = phase_store_is_noted(&pool->store, pool->links[block].place);
        if (block == list->last)
            break;
    }
    note_places(pool, other, false);
    return together;
}

/* Do lists have the same rows of all edges that both have? No edge has several rows. */
static bool phase_intersect_agree(const struct phase_pool *pool, const struct phase_list *one,
                                  const struct phase_list *other)
{
    struct run_pairs pairs;
    list_pairs(&pairs, pool, one, other);
    while (next_pair(&pairs))
        if (!have_same_rows(phase_cursor_begin(pool, NULL, pairs.a),
                            phase_cursor_begin(pool, NULL, pairs.b)))
            return false;
    return true;
}

bool phase_list_repeat(struct phase_pool *pool, struct phase_list *to, struct phase_list *from)
{
    uint32_t times = times_of(pool, from);
    /* Each row fits, so none is of an edge with several. */
    if (times == 0 || (uint64_t)to->high + from->high >= UINT32_MAX)
        return false;
    if (!lie_together(pool, to, from) && !phase_intersect_agree(pool, to, from))
        return false;
    for (uint32_t block = to->first;; block = pool->links[block].after) {
        pool->links[block].times += times; /* no more than messages of a row: they fit */
        if (block == to->last)
            break;
    }
    to->high += from->high;
    phase_list_clear(pool, from);
    return true;
}

/* ---- adding in place -------------------------------------------------------------- */

/* The rows where a cursor is, to be changed. */
static struct phase_row *phase_intersect_open_rows(struct phase_pool *pool, struct cursor *c)
{
    struct phase_link *link = &pool->links[c->block];
    size_t at = (size_t)(c->row - phase_block(pool, c->block));
    phase_block_open(pool, link);
    struct phase_row *rows = phase_store_rows(&pool->store, link->place) + at;
    c->row = rows;
    return rows;
}

/* Add those rows of one run that another has the edges of. */
static void absorb_run(struct phase_pool *pool, struct cursor to, struct cursor from)
{
    while (phase_intersect_advance_to_common(&to, &from)) {
        uint32_t times = pool->links[from.block].times;
        if (are_at_same(&to, &from)) {
            pool->links[to.block].times += times; /* no more than messages of a row: they fit */
            next_block(&to);
            next_block(&from);
            continue;
        }
        if (!are_level(&to, &from))
            continue;
        uint32_t equal = count_equal(to.row, from.row, phase_cursor_minimum(to.here, from.here));
        struct phase_row *sum = phase_intersect_open_rows(pool, &to);
        for (uint32_t i = 0; i < equal; i++) {
            sum[i].messages += times * from.row[i].messages;
            sum[i].bytes += times * from.row[i].bytes;
        }
        phase_cursor_skip(&to, equal);
        phase_cursor_skip(&from, equal);
    }
}

bool phase_list_absorb(struct phase_pool *pool, struct phase_list *to, struct phase_list *from)
{
    /* Each row fits, so none is of an edge with several. */
    if ((uint64_t)to->high + from->high >= UINT32_MAX)
        return false;
    struct run_pairs pairs;
    list_pairs(&pairs, pool, to, from);
    while (next_pair(&pairs))
        absorb_run(pool, phase_cursor_begin(pool, NULL, pairs.a),
                   phase_cursor_begin(pool, NULL, pairs.b));
    to->high += from->high;
    phase_list_clear(pool, from);
    phase_list_share(pool, to);
    return true;
}
