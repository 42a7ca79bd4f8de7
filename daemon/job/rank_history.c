#include "daemon/job/rank_history.h"

#include "daemon/analysis/sums/history.h"
#include "daemon/analysis/tables/array.h"
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
    for (uint32_t i = 0; i < stretch->part_count; i++)
        free(stretch->parts[i].packed);
    free(stretch->ranks);
}

static void clear(struct rank_history *h)
{
    for (size_t i = 0; i < h->count; i++)
        stretch_finish(&h->stretches[i]);
    h->count = h->bytes = h->waiting = 0;
}

void rank_history_finish(struct rank_history *h)
{
    clear(h);
    free(h->stretches);
    free(h->ranks);
    free(h->fresh);
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

/* Add the row at hand to the one that is written, and go on to the next. @return whether there is
 * one */
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

/* Put what has been added up in place of the parts of a stretch. @return 0 or -ENOMEM: nothing has
 * changed */
static int replace_parts(struct rank_history *h, struct rank_stretch *s, size_t bytes)
{
    uint8_t *packed = malloc(bytes);
    if (packed == NULL)
        return -ENOMEM;
    memcpy(packed, h->packed, bytes);
    for (uint32_t i = 0; i < s->part_count; i++)
        free(s->parts[i].packed);
    h->waiting -= s->part_count - 1;
    s->parts[0] = (struct rank_part){packed, bytes};
    s->part_count = 1;
    return 0;
}

/* Add up the parts of a stretch. @return 0 or -ENOMEM: nothing has changed */
static int add_up(struct rank_history *h, struct rank_stretch *s)
{
    const uint8_t *from[RANK_PARTS_MOST];
    if (s->part_count == 1)
        return 0;
    if (array_fit(&h->packed, 1, &h->packed_room, RANK_COLUMNS_MOST(s->count)) != 0)
        return -ENOMEM;
    uint8_t *to = h->packed;
    for (uint32_t i = 0; i < s->part_count; i++)
        from[i] = s->parts[i].packed;
    for (uint32_t i = 0; i < s->count; i += RANK_BLOCK_ROWS)
        to += rank_packed_add(from, s->part_count, rows_of_block(s->count - i), to);
    return replace_parts(h, s, (size_t)(to - h->packed));
}

/* Two stretches of any ranks together, at hand. Each is one part. @param ranks  set to them @return
 * bytes */
static size_t add_others(struct rank_history *h, const struct rank_stretch *a,
                         const struct rank_stretch *b, uint32_t *ranks, uint32_t *count)
{
    struct reader of_a = {.of = a, .next = a->parts[0].packed},
                  of_b = {.of = b, .next = b->parts[0].packed};
    struct writer to = {.ranks = ranks, .next = h->packed};
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

/* a gets the ranks and figures of b too. @return 0 or -ENOMEM: nothing has changed */
static int unite_others(struct rank_history *h, struct rank_stretch *a, struct rank_stretch *b)
{
    size_t most = (size_t)a->count + b->count;
    uint32_t count, *ranks = malloc(most * sizeof(*ranks));
    if (ranks == NULL || add_up(h, a) != 0 || add_up(h, b) != 0 ||
        array_fit(&h->packed, 1, &h->packed_room, RANK_COLUMNS_MOST(most)) != 0 ||
        replace_parts(h, a, add_others(h, a, b, ranks, &count)) != 0) {
        free(ranks);
        return -ENOMEM;
    }
    uint32_t *fitting = realloc(ranks, count * sizeof(*ranks));
    h->bytes += bytes_of(count) - bytes_of(a->count);
    free(a->ranks);
    a->ranks = fitting != NULL ? fitting : ranks;
    a->count = count;
    return 0;
}

/* The same of the same ranks: parts of b become parts of a. */
static int unite_alike(struct rank_history *h, struct rank_stretch *a, struct rank_stretch *b)
{
    if (a->part_count + b->part_count > RANK_PARTS_MOST && (add_up(h, a) != 0 || add_up(h, b) != 0))
        return -ENOMEM;
    memcpy(a->parts + a->part_count, b->parts, b->part_count * sizeof(*b->parts));
    a->part_count += b->part_count;
    b->part_count = 0;
    h->waiting++;
    return 0;
}

/* a becomes a and b together; of b nothing is left but what stretch_finish() frees. @return 0 or
 * -ENOMEM: both are what they were */
static int unite(struct rank_history *h, struct rank_stretch *a, struct rank_stretch *b)
{
    int alike =
        a->count == b->count && memcmp(a->ranks, b->ranks, a->count * sizeof(*a->ranks)) == 0;
    int code = alike ? unite_alike(h, a, b) : unite_others(h, a, b);
    if (code != 0)
        return code;
    a->first = a->first < b->first ? a->first : b->first;
    a->last = a->last > b->last ? a->last : b->last;
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

/* The stretch of most parts. */
static struct rank_stretch *largest(struct rank_history *h)
{
    struct rank_stretch *most = &h->stretches[0];
    for (size_t i = 1; i < h->count; i++)
        most = h->stretches[i].part_count > most->part_count ? &h->stretches[i] : most;
    return most;
}

static void keep_budget(struct rank_history *h)
{
    while (h->bytes > RANK_HISTORY_BYTES && h->count > 1) {
        size_t at = cheapest_pair(h);
        if (unite(h, &h->stretches[at], &h->stretches[at + 1]) != 0)
            return;
        take_out(h, at + 1);
    }
    while (h->waiting > RANK_HISTORY_PARTS && add_up(h, largest(h)) == 0)
        ;
}

/* ---- taking in and telling --------------------------------------------------- */

/* A stretch of the rows at hand, of which those packed become its own. @return 0 or -ENOMEM:
 * nothing has changed */
static int make_stretch(struct rank_history *h, uint64_t window, struct rank_stretch *out)
{
    uint32_t *ranks = malloc(h->rank_count * sizeof(*ranks));
    uint8_t *packed = ranks == NULL ? NULL : realloc(h->fresh, h->fresh_bytes);
    if (packed == NULL) {
        free(ranks);
        return -ENOMEM;
    }
    *out = (struct rank_stretch){.first = window,
                                 .last = window,
                                 .ranks = memcpy(ranks, h->ranks, h->rank_count * sizeof(*ranks)),
                                 .count = h->rank_count,
                                 .part_count = 1,
                                 .parts[0] = {packed, h->fresh_bytes}};
    h->last_bytes = h->fresh_bytes;
    h->fresh = NULL;
    h->fresh_room = h->fresh_bytes = 0;
    return 0;
}

/* The rows at hand are a window's. @return 0 or -ENOMEM: nothing has changed */
static int enter(struct rank_history *h, uint64_t window)
{
    struct rank_stretch fresh;
    size_t at = BISECT(i, 0, h->count, h->stretches[i].last < window);
    if (array_fit(&h->stretches, sizeof(*h->stretches), &h->room, h->count + 1) != 0 ||
        make_stretch(h, window, &fresh) != 0)
        return -ENOMEM;
    if (at < h->count && h->stretches[at].first <= window) {
        int error = unite(h, &h->stretches[at], &fresh);
        stretch_finish(&fresh);
        return error;
    }
    memmove(&h->stretches[at + 1], &h->stretches[at], (h->count - at) * sizeof(*h->stretches));
    h->stretches[at] = fresh;
    h->count++;
    h->bytes += bytes_of(fresh.count);
    return 0;
}

/* Have room for a further block behind so many bytes. */
static int fit_fresh(struct rank_history *h, size_t bytes)
{
    return array_fit(&h->fresh, 1, &h->fresh_room, bytes + RANK_COLUMNS_MOST(RANK_BLOCK_ROWS));
}

void rank_history_begin(struct rank_history *h, size_t count)
{
    if (count > WIRE_PART_ROWS && !h->left_out) {
        h->left_out = 1;
        clear(h);
    }
    h->rank_count = h->rank_most = 0;
    h->fresh_bytes = 0;
    if (!h->left_out && array_fit(&h->ranks, sizeof(*h->ranks), &h->rank_room, count) == 0 &&
        fit_fresh(h, h->last_bytes) == 0)
        h->rank_most = (uint32_t)count;
}

void rank_history_rows(struct rank_history *h, const struct rank_row *rows, uint32_t count)
{
    if (count > h->rank_most - h->rank_count)
        return;
    if (fit_fresh(h, h->fresh_bytes) != 0) {
        h->rank_count = h->rank_most = 0; /* nor is anything kept of those before */
        return;
    }
    h->fresh_bytes += rank_rows_pack(rows, count, h->fresh + h->fresh_bytes);
    for (uint32_t i = 0; i < count; i++)
        h->ranks[h->rank_count++] = rows[i].rank;
}

void rank_history_end(struct rank_history *h, uint64_t window)
{
    if (h->rank_count > 0 && enter(h, window) == 0)
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
    struct rank_stretch *stretch = &h->stretches[i];
    if (array_fit(&h->rows, sizeof(*h->rows), &h->row_room, stretch->count) != 0 ||
        add_up(h, stretch) != 0)
        return 0;
    struct reader r = {.of = stretch, .next = stretch->parts[0].packed};
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
