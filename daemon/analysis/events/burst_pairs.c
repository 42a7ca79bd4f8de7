/* Rows of pairs of ranks: appended, and added up when the memory for rows is full. */
#include "daemon/analysis/events/burst_pairs.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY (2 * BURST_PAIRS_MINIMUM)
#define ROWS_KEPT 256u    /* by a table that is released */
#define ROWS_COMPARED 16u /* so few rows are sorted by comparing them */

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
    pairs->count = pairs->ordered = 0;
    pairs->others = (struct burst_others){0};
}

void burst_pairs_release(struct burst_pairs *pairs)
{
    if (pairs->capacity > ROWS_KEPT && ARRAY_RESIZE(pairs->rows, FIRST_CAPACITY) == 0)
        pairs->capacity = FIRST_CAPACITY;
    burst_pairs_clear(pairs);
}

ORDER_FUNCTION(burst_pairs_compare_by_key, struct burst_pair, burst_pair_compare(a, b))

/* By the parts of the key, the least one first. Without memory by comparing. */
static void burst_pairs_sort_rows(struct burst_pair *rows, uint32_t count)
{
    struct burst_pair *copy = count > ROWS_COMPARED ? malloc(count * sizeof(*copy)) : NULL;
    struct key_place *places = copy != NULL ? malloc(2 * (size_t)count * sizeof(*places)) : NULL;
    if (places == NULL) {
        qsort(rows, count, sizeof(*rows), burst_pairs_compare_by_key);
        free(copy);
        return;
    }
    memcpy(copy, rows, count * sizeof(*copy));
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct key_place){copy[i].size_class, i};
    struct key_place *at = key_order(places, places + count, count);
    for (uint32_t i = 0; i < count; i++)
        at[i].key = burst_pair_ranks(&copy[at[i].place]);
    at = key_order(at, at == places ? places + count : places, count);
    for (uint32_t i = 0; i < count; i++)
        at[i].key = copy[at[i].place].modelled;
    at = key_order(at, at == places ? places + count : places, count);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = copy[at[i].place];
    free(copy);
    free(places);
}

/* Rows that were in order before are merged with those that came since, at least one. Without
 * memory all are sorted. */
static void burst_pairs_sort(struct burst_pairs *pairs)
{
    const uint32_t later = pairs->count - pairs->ordered;
    struct burst_pair *const rows = pairs->rows;
    struct burst_pair *const spare = pairs->ordered > 0 ? malloc(later * sizeof(*spare)) : NULL;
    if (spare == NULL) {
        burst_pairs_sort_rows(rows, pairs->count);
        return;
    }
    memcpy(spare, rows + pairs->ordered, later * sizeof(*spare));
    burst_pairs_sort_rows(spare, later);
    for (uint32_t i = pairs->ordered, j = later; j > 0;) {
        const bool earlier_is_next = i > 0 && burst_pair_compare(&rows[i - 1], &spare[j - 1]) > 0;
        rows[i + j - 1] = earlier_is_next ? rows[i - 1] : spare[j - 1];
        if (earlier_is_next)
            i--;
        else
            j--;
    }
    free(spare);
}

/* One row for each pair, in the order of their keys. */
static void burst_pairs_add_up(struct burst_pairs *pairs)
{
    uint32_t kept = 0;
    if (pairs->ordered == pairs->count)
        return;
    burst_pairs_sort(pairs);
    for (uint32_t i = 0; i < pairs->count; i++) {
        const struct burst_pair *row = &pairs->rows[i];
        if (kept == 0 || burst_pair_compare(&pairs->rows[kept - 1], row) != 0) {
            pairs->rows[kept++] = *row;
            continue;
        }
        pairs->rows[kept - 1].messages += row->messages;
        pairs->rows[kept - 1].bytes += row->bytes;
    }
    pairs->count = pairs->ordered = kept;
}

ORDER_FUNCTION(burst_pairs_compare_by_bytes, struct burst_pair,
               8 * ORDER(b->bytes, a->bytes) + burst_pair_compare(a, b))

/* Keep so many rows, the largest by bytes. Each pair must have one row only. */
static void burst_pairs_fold(struct burst_pairs *pairs, uint32_t keep)
{
    if (pairs->count <= keep)
        return;
    qsort(pairs->rows, pairs->count, sizeof(*pairs->rows), burst_pairs_compare_by_bytes);
    for (uint32_t i = keep; i < pairs->count; i++) {
        pairs->others.messages += pairs->rows[i].messages;
        pairs->others.bytes += pairs->rows[i].bytes;
    }
    pairs->others.pairs += pairs->count - keep;
    pairs->count = keep;
    pairs->ordered = 0;
}

/* @param rows  at most the limit @return how many of them fit now; at least 1 */
static uint32_t burst_pairs_reserve(struct burst_pairs *pairs, uint32_t limit, uint32_t rows)
{
    if (pairs->capacity - pairs->count >= rows)
        return rows;
    burst_pairs_add_up(pairs);
    uint32_t maximum = 2 * limit, capacity = pairs->capacity;
    if (pairs->count + rows > maximum)
        burst_pairs_fold(pairs, limit);
    /* A quarter stays free, or rows would have to be added up again soon. */
    while (capacity < maximum && pairs->count + rows > capacity - capacity / 4)
        capacity = capacity * 2 < maximum ? capacity * 2 : maximum;
    if (capacity > pairs->capacity && ARRAY_RESIZE(pairs->rows, capacity) == 0)
        pairs->capacity = capacity; /* without memory nothing changes */
    if (pairs->count == pairs->capacity)
        burst_pairs_fold(pairs, pairs->capacity / 2);
    return pairs->capacity - pairs->count < rows ? pairs->capacity - pairs->count : rows;
}

void burst_pairs_append(struct burst_pairs *pairs, uint32_t limit, const struct burst_pair *rows,
                        size_t count)
{
    while (count > 0) {
        uint32_t some = burst_pairs_reserve(pairs, limit, count < limit ? (uint32_t)count : limit);
        memcpy(pairs->rows + pairs->count, rows, some * sizeof(*rows));
        pairs->count += some;
        rows += some;
        count -= some;
    }
}

void burst_pairs_move(struct burst_pairs *to, struct burst_pairs *from, uint32_t limit)
{
    if (from->count > to->count) { /* copy the fewer rows */
        struct burst_pairs more = *from;
        *from = *to;
        *to = more;
    }
    burst_others_add(&to->others, &from->others);
    burst_pairs_append(to, limit, from->rows, from->count);
    burst_pairs_release(from);
}

int burst_pairs_gather(struct burst_pairs *to, const struct burst_pairs *from)
{
    const size_t rows = (size_t)to->count + from->count;
    if (rows > UINT32_MAX / 4 || (rows > to->capacity && ARRAY_RESIZE(to->rows, 2 * rows) != 0))
        return -ENOMEM;
    to->capacity = rows > to->capacity ? (uint32_t)(2 * rows) : to->capacity;
    to->ordered = to->count == 0 ? from->ordered : to->ordered;
    if (from->count > 0)
        memcpy(to->rows + to->count, from->rows, from->count * sizeof(*from->rows));
    to->count = (uint32_t)rows;
    burst_others_add(&to->others, &from->others);
    return 0;
}

void burst_pairs_order(struct burst_pairs *pairs, uint32_t limit)
{
    burst_pairs_add_up(pairs);
    if (pairs->count > limit) {
        burst_pairs_fold(pairs, limit);
        burst_pairs_add_up(pairs);
    }
}

void burst_pairs_copy_state(struct state_bytes *b, struct burst_pairs *pairs)
{
    STATE_ARRAY(b, pairs->rows, pairs->count, pairs->capacity);
}
