#include "daemon/rank_history.h"

#include "daemon/analysis/array.h"
#include "daemon/analysis/history.h"
#include "holter/bisect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---------------------------------------------------------------- */

void rank_history_init(struct rank_history *h)
{
    *h = (struct rank_history){.count = 0};
}

static void stretch_finish(struct rank_stretch *stretch)
{
    free(stretch->ranks);
    free(stretch->packed);
}

static void clear(struct rank_history *h)
{
    for (size_t i = 0; i < h->count; i++)
        stretch_finish(&h->stretches[i]);
    h->count = h->bytes = 0;
}

void rank_history_finish(struct rank_history *h)
{
    clear(h);
    free(h->stretches);
    free(h->ranks);
    free(h->packed);
    free(h->rows);
    rank_history_init(h);
}

/* ---- rows of a stretch, one by one --------------------------------------- */

static uint32_t rows_of_block(uint32_t left)
{
    return left < RANK_BLOCK_ROWS ? left : RANK_BLOCK_ROWS;
}

struct reader {
    const struct rank_stretch *of;
    const uint8_t *next; /* block */
    uint32_t at;         /* row */
    struct rank_block block;
};

/* @return whether there is a row; it is in the block */
static int reader_has(struct reader *r)
{
    if (r->at == r->of->count)
        return 0;
    if (r->at % RANK_BLOCK_ROWS == 0)
        r->next += rank_block_unpack(&r->block, rows_of_block(r->of->count - r->at), r->next);
    return 1;
}

struct writer {
    uint32_t *ranks;
    uint8_t *next;
    uint32_t count;
    struct rank_block block;
};

static void writer_pack(struct writer *w, uint32_t rows)
{
    w->next += rank_block_pack(&w->block, rows, w->next);
    memset(&w->block, 0, sizeof(w->block));
}

static void writer_end_row(struct writer *w, uint32_t rank)
{
    w->ranks[w->count++] = rank;
    if (w->count % RANK_BLOCK_ROWS == 0)
        writer_pack(w, RANK_BLOCK_ROWS);
}

/* Add the row at hand to the one that is written, and go on to the next. @return whether there is one */
static int add_row(struct writer *w, struct reader *r)
{
    for (uint32_t c = 0; c < RANK_COLUMNS; c++)
        w->block.figures[c][w->count % RANK_BLOCK_ROWS] +=
            r->block.figures[c][r->at % RANK_BLOCK_ROWS];
    r->at++;
    return reader_has(r);
}

/* ---- stretches ------------------------------------------------------------- */

static size_t bytes_of(uint32_t count)
{
    return count * (sizeof(uint32_t) + RANK_COLUMNS * sizeof(uint64_t));
}

static int fit(struct rank_history *h, size_t count)
{
    return array_fit(&h->ranks, sizeof(*h->ranks), &h->rank_room, count) != 0
               ? -ENOMEM
               : array_fit(&h->packed, 1, &h->packed_room, RANK_COLUMNS_MOST(count));
}

/* A stretch of the ranks and figures at hand. @return 0 or -ENOMEM */
static int make_stretch(const struct rank_history *h, struct rank_stretch *out, uint32_t count,
                        size_t packed_bytes)
{
    uint32_t *ranks = malloc(count * sizeof(*ranks));
    uint8_t *packed = malloc(packed_bytes);
    if (ranks == NULL || packed == NULL) {
        free(ranks);
        free(packed);
        return -ENOMEM;
    }
    out->ranks = memcpy(ranks, h->ranks, count * sizeof(*ranks));
    out->packed = memcpy(packed, h->packed, packed_bytes);
    out->packed_bytes = packed_bytes;
    out->count = count;
    return 0;
}

/* Two stretches of the same ranks together, at hand. @return bytes */
static size_t add_alike(struct rank_history *h, const struct rank_stretch *a,
                        const struct rank_stretch *b)
{
    const uint8_t *from_a = a->packed, *from_b = b->packed;
    uint8_t *to = h->packed;
    memcpy(h->ranks, a->ranks, a->count * sizeof(*a->ranks));
    for (uint32_t i = 0; i < a->count; i += RANK_BLOCK_ROWS)
        to += rank_packed_add(&from_a, &from_b, rows_of_block(a->count - i), to);
    return (size_t)(to - h->packed);
}

/* Two stretches of any ranks together, at hand. @param count  set @return bytes */
static size_t add_others(struct rank_history *h, const struct rank_stretch *a,
                         const struct rank_stretch *b, uint32_t *count)
{
    struct reader of_a = {.of = a, .next = a->packed}, of_b = {.of = b, .next = b->packed};
    struct writer to = {.ranks = h->ranks, .next = h->packed};
    int more_a = reader_has(&of_a), more_b = reader_has(&of_b);
    while (more_a || more_b) {
        uint32_t rank_a = more_a ? a->ranks[of_a.at] : UINT32_MAX;
        uint32_t rank_b = more_b ? b->ranks[of_b.at] : UINT32_MAX;
        uint32_t rank = rank_a < rank_b ? rank_a : rank_b;
        if (more_a && rank_a == rank)
            more_a = add_row(&to, &of_a);
        if (more_b && rank_b == rank)
            more_b = add_row(&to, &of_b);
        writer_end_row(&to, rank);
    }
    if (to.count % RANK_BLOCK_ROWS != 0)
        writer_pack(&to, to.count % RANK_BLOCK_ROWS);
    *count = to.count;
    return (size_t)(to.next - h->packed);
}

/* a becomes a and b together; b is left. @return 0 or -ENOMEM: nothing has changed */
static int unite(struct rank_history *h, struct rank_stretch *a, const struct rank_stretch *b)
{
    struct rank_stretch both = {.first = a->first < b->first ? a->first : b->first,
                                .last = a->last > b->last ? a->last : b->last};
    int alike =
        a->count == b->count && memcmp(a->ranks, b->ranks, a->count * sizeof(*a->ranks)) == 0;
    uint32_t count = a->count;
    if (fit(h, (size_t)a->count + (alike ? 0 : b->count)) != 0)
        return -ENOMEM;
    size_t bytes = alike ? add_alike(h, a, b) : add_others(h, a, b, &count);
    if (make_stretch(h, &both, count, bytes) != 0)
        return -ENOMEM;
    h->bytes += bytes_of(both.count) - bytes_of(a->count);
    stretch_finish(a);
    *a = both;
    return 0;
}

static void take_out(struct rank_history *h, size_t at)
{
    h->bytes -= bytes_of(h->stretches[at].count);
    stretch_finish(&h->stretches[at]);
    h->count--;
    memmove(&h->stretches[at], &h->stretches[at + 1], (h->count - at) * sizeof(*h->stretches));
}

/* As those of a history: what loses least resolution by its age becomes one. */
static size_t cheapest_pair(const struct rank_history *h)
{
    uint64_t newest = h->stretches[h->count - 1].last;
    size_t best = 0;
    double best_cost = -1;
    for (size_t i = 0; i + 1 < h->count; i++) {
        double cost = history_merge_cost(h->stretches[i].first, h->stretches[i + 1].last, newest);
        if (best_cost < 0 || cost < best_cost) {
            best_cost = cost;
            best = i;
        }
    }
    return best;
}

static void keep_budget(struct rank_history *h)
{
    while (h->bytes > RANK_HISTORY_BYTES && h->count > 1) {
        size_t at = cheapest_pair(h);
        if (unite(h, &h->stretches[at], &h->stretches[at + 1]) != 0)
            return;
        take_out(h, at + 1);
    }
}

/* ---- taking in and telling --------------------------------------------------- */

/* The rows at hand are a window's. @return 0 or -ENOMEM: nothing has changed */
static int enter(struct rank_history *h, uint64_t window, uint32_t count, size_t packed_bytes)
{
    struct rank_stretch fresh = {.first = window, .last = window};
    size_t at = BISECT(i, 0, h->count, h->stretches[i].last < window);
    if (array_fit(&h->stretches, sizeof(*h->stretches), &h->room, h->count + 1) != 0 ||
        make_stretch(h, &fresh, count, packed_bytes) != 0)
        return -ENOMEM;
    if (at < h->count && h->stretches[at].first <= window) {
        int error = unite(h, &h->stretches[at], &fresh);
        stretch_finish(&fresh);
        return error;
    }
    memmove(&h->stretches[at + 1], &h->stretches[at], (h->count - at) * sizeof(*h->stretches));
    h->stretches[at] = fresh;
    h->count++;
    h->bytes += bytes_of(count);
    return 0;
}

void rank_history_begin(struct rank_history *h, size_t count)
{
    if (count > WIRE_PART_ROWS && !h->left_out) {
        h->left_out = 1;
        clear(h);
    }
    h->rank_count = 0;
    h->packed_bytes = 0;
    h->rank_most = !h->left_out && fit(h, count) == 0 ? (uint32_t)count : 0;
}

void rank_history_rows(struct rank_history *h, const struct rank_row *rows, uint32_t count)
{
    if (count > h->rank_most - h->rank_count)
        return;
    h->packed_bytes += rank_rows_pack(rows, count, h->packed + h->packed_bytes);
    for (uint32_t i = 0; i < count; i++)
        h->ranks[h->rank_count++] = rows[i].rank;
}

void rank_history_end(struct rank_history *h, uint64_t window)
{
    if (h->rank_count > 0 && enter(h, window, h->rank_count, h->packed_bytes) == 0)
        keep_budget(h);
}

void rank_history_put(struct rank_history *h, uint64_t window, const struct rank_row *rows,
                      size_t count)
{
    rank_history_begin(h, count);
    for (uint32_t i = 0; i < h->rank_most; i += RANK_BLOCK_ROWS)
        rank_history_rows(h, rows + i, rows_of_block((uint32_t)count - i));
    rank_history_end(h, window);
}

int rank_history_message(struct rank_history *h, size_t i, struct wire_history *out)
{
    if (i >= h->count)
        return 0;
    const struct rank_stretch *stretch = &h->stretches[i];
    if (array_fit(&h->rows, sizeof(*h->rows), &h->row_room, stretch->count) != 0)
        return 0;
    struct reader r = {.of = stretch, .next = stretch->packed};
    for (; reader_has(&r); r.at++) {
        h->rows[r.at] = (struct wire_rank_row){
#define X(name) .name = r.block.figures[RANK_COLUMN_##name][r.at % RANK_BLOCK_ROWS],
            RANK_SUMS(X)
#undef X
                .rank = stretch->ranks[r.at]};
    }
    *out = (struct wire_history){.first = stretch->first,
                                 .last = stretch->last,
                                 .ranks = h->rows,
                                 .ranks_count = stretch->count};
    return 1;
}
