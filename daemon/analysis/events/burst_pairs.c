/* Rows of pairs of ranks: appended, and added up when the memory for rows is full. */
#include "daemon/analysis/events/burst_pairs.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY (2 * BURST_PAIRS_MINIMUM)
#define ROWS_KEPT 256u /* by a table that is released */
#define FEW 64u        /* rows that are quicker to compare */

int burst_pairs_work_init(struct burst_pairs_work *work, uint32_t limit)
{
    *work = (struct burst_pairs_work){.places = 2 * FIRST_CAPACITY, .limit = limit};
    work->index = malloc(work->places * sizeof(*work->index));
    return work->index == NULL ? -ENOMEM : 0;
}

void burst_pairs_work_finish(struct burst_pairs_work *work)
{
    free(work->index);
    *work = (struct burst_pairs_work){0};
}

int burst_pairs_init(struct burst_pairs *pairs)
{
    *pairs = (struct burst_pairs){.capacity = FIRST_CAPACITY};
    pairs->rows = malloc(FIRST_CAPACITY * sizeof(*pairs->rows));
    return pairs->rows == NULL ? -ENOMEM : 0;
}

void burst_pairs_finish(struct burst_pairs *pairs)
{
    free(pairs->rows);
    *pairs = (struct burst_pairs){0};
}

void burst_pairs_clear(struct burst_pairs *pairs)
{
    pairs->count = 0;
    pairs->others = (struct burst_others){0};
}

void burst_pairs_release(struct burst_pairs *pairs)
{
    if (pairs->capacity > ROWS_KEPT && ARRAY_RESIZE(pairs->rows, FIRST_CAPACITY) == 0)
        pairs->capacity = FIRST_CAPACITY;
    burst_pairs_clear(pairs);
}

/* Multiply and fold: both halves of a product, so that neighbouring ranks do not end up in
 * neighbouring places. */
static uint32_t burst_pairs_hash_of(const struct burst_pair *row)
{
    uint64_t x = burst_pair_ranks(row) + (row->size_class + (uint64_t)row->modelled * UINT32_MAX) *
                                             UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 29)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x >> 32);
}

static bool burst_pair_keys_equal(const struct burst_pair *a, const struct burst_pair *b)
{
    return a->source == b->source && a->destination == b->destination &&
           a->size_class == b->size_class && a->modelled == b->modelled;
}

/* One row for each pair, in the order in which they came first. */
static void burst_pairs_add_up(struct burst_pairs *pairs, struct burst_pairs_work *work)
{
    uint32_t places = 2 * FIRST_CAPACITY, kept = 0;
    while (places < 2 * pairs->count)
        places *= 2;
    memset(work->index, 0, places * sizeof(*work->index));
    for (uint32_t i = 0; i < pairs->count; i++) {
        const struct burst_pair *row = &pairs->rows[i];
        uint32_t at = burst_pairs_hash_of(row) & (places - 1);
        while (work->index[at] != 0 &&
               !burst_pair_keys_equal(&pairs->rows[work->index[at] - 1], row))
            at = (at + 1) & (places - 1);
        if (work->index[at] == 0) {
            pairs->rows[kept++] = *row;
            work->index[at] = kept;
            continue;
        }
        pairs->rows[work->index[at] - 1].messages += row->messages;
        pairs->rows[work->index[at] - 1].bytes += row->bytes;
    }
    pairs->count = kept;
}

static void burst_pairs_sum_sorted(struct burst_pairs *pairs)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        const struct burst_pair *row = &pairs->rows[i];
        if (kept == 0 || !burst_pair_keys_equal(&pairs->rows[kept - 1], row)) {
            pairs->rows[kept++] = *row;
            continue;
        }
        pairs->rows[kept - 1].messages += row->messages;
        pairs->rows[kept - 1].bytes += row->bytes;
    }
    pairs->count = kept;
}

static int burst_pairs_compare_by_key(const void *left, const void *right)
{
    return burst_pair_compare(left, right);
}

static int burst_pairs_compare_by_bytes(const void *left, const void *right)
{
    const struct burst_pair *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return burst_pairs_compare_by_key(a, b);
}

/* Move each row to its place, along the cycles of the permutation. */
static void burst_pairs_rearrange(struct burst_pair *rows, struct key_place *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct burst_pair first = rows[i];
        uint32_t to = i;
        while (order[to].place != i) {
            uint32_t from = order[to].place;
            rows[to] = rows[from];
            order[to].place = to;
            to = from;
        }
        rows[to] = first;
        order[to].place = to;
    }
}

/* Sort by bytes if asked for, then by key. */
static void burst_pairs_sort(struct burst_pair *rows, uint32_t count, bool bytes)
{
    struct key_place *places = count <= FEW ? NULL : malloc(2 * (size_t)count * sizeof(*places));
    if (places == NULL) {
        qsort(rows, count, sizeof(*rows),
              bytes ? burst_pairs_compare_by_bytes : burst_pairs_compare_by_key);
        return;
    }
    struct key_place *order = places;
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct key_place){rows[i].size_class, i};
    /* Each time equal keys keep the order of the time before. */
    order = key_order(order, places + count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct burst_pair *row = &rows[order[i].place];
        order[i].key = burst_pair_ranks(row);
    }
    order = key_order(order, order == places ? places + count : places, count);
    for (uint32_t i = 0; i < count; i++)
        order[i].key = rows[order[i].place].modelled;
    order = key_order(order, order == places ? places + count : places, count);
    for (uint32_t i = 0; bytes && i < count; i++)
        order[i].key = ~rows[order[i].place].bytes;
    if (bytes)
        order = key_order(order, order == places ? places + count : places, count);
    burst_pairs_rearrange(rows, order, count);
    free(places);
}

/* Keep so many rows, the largest by bytes. Each pair must have one row only. */
static void burst_pairs_fold(struct burst_pairs *pairs, uint32_t keep)
{
    if (pairs->count <= keep)
        return;
    burst_pairs_sort(pairs->rows, pairs->count, true);
    for (uint32_t i = keep; i < pairs->count; i++) {
        pairs->others.messages += pairs->rows[i].messages;
        pairs->others.bytes += pairs->rows[i].bytes;
    }
    pairs->others.pairs += pairs->count - keep;
    pairs->count = keep;
}

/* @return 0, or -ENOMEM: so many rows cannot be added up */
static int burst_pairs_fit_index(struct burst_pairs_work *work, uint32_t rows)
{
    uint32_t places = work->places;
    while (places < 2 * rows)
        places *= 2;
    if (places > work->places && ARRAY_RESIZE(work->index, places) != 0)
        return -ENOMEM;
    work->places = places;
    return 0;
}

/* Without memory nothing changes. */
static void burst_pairs_grow(struct burst_pairs *pairs, struct burst_pairs_work *work,
                             uint32_t capacity)
{
    if (burst_pairs_fit_index(work, capacity) == 0 && ARRAY_RESIZE(pairs->rows, capacity) == 0)
        pairs->capacity = capacity;
}

/* @param rows  at most the limit @return how many of them fit now; at least 1 */
static uint32_t burst_pairs_reserve(struct burst_pairs *pairs, struct burst_pairs_work *work,
                                    uint32_t rows)
{
    if (pairs->capacity - pairs->count >= rows)
        return rows;
    burst_pairs_add_up(pairs, work);
    uint32_t maximum = 2 * work->limit, capacity = pairs->capacity;
    if (pairs->count + rows > maximum)
        burst_pairs_fold(pairs, work->limit);
    /* A quarter stays free, or rows would have to be added up again soon. */
    while (capacity < maximum && pairs->count + rows > capacity - capacity / 4)
        capacity = capacity * 2 < maximum ? capacity * 2 : maximum;
    if (capacity > pairs->capacity)
        burst_pairs_grow(pairs, work, capacity);
    if (pairs->count == pairs->capacity)
        burst_pairs_fold(pairs, pairs->capacity / 2);
    return pairs->capacity - pairs->count < rows ? pairs->capacity - pairs->count : rows;
}

void burst_pairs_append(struct burst_pairs *pairs, struct burst_pairs_work *work,
                        const struct burst_pair *rows, size_t count)
{
    while (count > 0) {
        uint32_t some =
            burst_pairs_reserve(pairs, work, count < work->limit ? (uint32_t)count : work->limit);
        memcpy(pairs->rows + pairs->count, rows, some * sizeof(*rows));
        pairs->count += some;
        rows += some;
        count -= some;
    }
}

void burst_pairs_move(struct burst_pairs *to, struct burst_pairs *from,
                      struct burst_pairs_work *work)
{
    if (from->count > to->count) { /* copy the fewer rows */
        struct burst_pairs more = *from;
        *from = *to;
        *to = more;
    }
    burst_others_add(&to->others, &from->others);
    burst_pairs_append(to, work, from->rows, from->count);
    burst_pairs_release(from);
}

int burst_pairs_gather(struct burst_pairs *to, const struct burst_pairs *from)
{
    const size_t rows = (size_t)to->count + from->count;
    if (rows > UINT32_MAX / 4 || (rows > to->capacity && ARRAY_RESIZE(to->rows, 2 * rows) != 0))
        return -ENOMEM;
    to->capacity = rows > to->capacity ? (uint32_t)(2 * rows) : to->capacity;
    if (from->count > 0)
        memcpy(to->rows + to->count, from->rows, from->count * sizeof(*from->rows));
    to->count = (uint32_t)rows;
    burst_others_add(&to->others, &from->others);
    return 0;
}

void burst_pairs_order(struct burst_pairs *pairs, struct burst_pairs_work *work)
{
    if (burst_pairs_fit_index(work, pairs->count) == 0) /* else the sort has more rows */
        burst_pairs_add_up(pairs, work);
    burst_pairs_sort(pairs->rows, pairs->count, false);
    burst_pairs_sum_sorted(pairs);
    if (pairs->count > work->limit) {
        burst_pairs_fold(pairs, work->limit);
        burst_pairs_sort(pairs->rows, pairs->count, false);
    }
}

void burst_pairs_copy_state(struct state_bytes *b, struct burst_pairs *pairs)
{
    STATE_ARRAY(b, pairs->rows, pairs->count, pairs->capacity);
}
