/* Bursts that agents report of one window, merged over nodes. */
#include "daemon/job/rows/burst_rows.h"

#include "holter/size_class.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_BURSTS 32u /* of each node */
#define RANK_PAIRS 64u  /* rows of a burst, for each rank */
#define RANK_CALLS 8u
#define MINIMUM_PAIRS 4096u
#define FINEST_CELL UINT64_C(1024)

/* ---- sets ---------------------------------------------------------------------- */

void burst_rows_finish(struct burst_rows *rows)
{
    bursts_destroy(rows->messages.bursts);
    bursts_destroy(rows->calls.bursts);
    free(rows->modelled);
    *rows = (struct burst_rows){0};
}

void burst_pool_finish(struct burst_pool *pool)
{
    for (size_t i = 0; i < sizeof(pool->sets) / sizeof(pool->sets[0]); i++)
        bursts_destroy(pool->sets[i].bursts);
    *pool = (struct burst_pool){0};
}

static void burst_pool_put(struct burst_pool *pool, struct burst_set *set)
{
    if (set->bursts == NULL)
        return;
    bursts_clear(set->bursts);
    for (size_t i = 0; i < sizeof(pool->sets) / sizeof(pool->sets[0]); i++) {
        if (pool->sets[i].bursts != NULL)
            continue;
        pool->sets[i] = *set;
        return;
    }
    /* The oldest goes: it may be of a size that is not asked for any more. */
    bursts_destroy(pool->sets[0].bursts);
    memmove(&pool->sets[0], &pool->sets[1], sizeof(pool->sets) - sizeof(pool->sets[0]));
    pool->sets[sizeof(pool->sets) / sizeof(pool->sets[0]) - 1] = *set;
}

void burst_rows_release(struct burst_rows *rows, struct burst_pool *pool)
{
    burst_pool_put(pool, &rows->messages);
    burst_pool_put(pool, &rows->calls);
    const struct burst_rows kept = {.modelled = rows->modelled,
                                    .modelled_count = rows->modelled_count,
                                    .modelled_capacity = rows->modelled_capacity,
                                    .modelled_others = rows->modelled_others};
    *rows = kept;
}

static struct bursts_params burst_rows_params(const struct burst_rows_size *size, int calls)
{
    uint64_t nodes = size->nodes < 2 ? 2 : size->nodes, cell = FINEST_CELL;
    uint64_t pairs = size->world * (calls ? RANK_CALLS : RANK_PAIRS);
    int many = nodes > BURST_ROWS_MAXIMUM_BURSTS / NODE_BURSTS;
    while (many && cell < size->window_ns / BURST_ROWS_MAXIMUM_BURSTS * 2)
        cell *= 2;
    return (struct bursts_params){
        .budget = many ? BURST_ROWS_MAXIMUM_BURSTS : (uint32_t)nodes * NODE_BURSTS,
        .pairs = pairs < MINIMUM_PAIRS      ? MINIMUM_PAIRS
                 : pairs > BURST_ROWS_PAIRS ? BURST_ROWS_PAIRS
                                            : (uint32_t)pairs,
        .cell_ns = cell,
    };
}

static int burst_params_equal(const struct bursts_params *a, const struct bursts_params *b)
{
    return a->budget == b->budget && a->pairs == b->pairs && a->cell_ns == b->cell_ns;
}

/* Of the pool, or a new one. */
static int burst_rows_open_set(struct burst_set *set, struct burst_pool *pool,
                               const struct burst_rows_size *size, int calls)
{
    struct bursts_params required = burst_rows_params(size, calls);
    for (size_t i = 0; i < sizeof(pool->sets) / sizeof(pool->sets[0]); i++) {
        if (pool->sets[i].bursts == NULL || !burst_params_equal(&pool->sets[i].params, &required))
            continue;
        *set = pool->sets[i];
        pool->sets[i] = (struct burst_set){0};
        return 0;
    }
    set->params = required;
    return bursts_create(&set->bursts, &required);
}

int burst_rows_reserve(struct burst_rows *rows, struct burst_pool *pool,
                       const struct burst_rows_size *size, const struct wire_window *window)
{
    uint64_t pairs[2] = {0};
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < window->bursts_count; i++) {
        int calls = window->bursts[i].collective != 0;
        struct burst_set *set = calls ? &rows->calls : &rows->messages;
        pairs[calls] += window->bursts[i].pairs;
        if (set->bursts == NULL)
            code = burst_rows_open_set(set, pool, size, calls);
    }
    uint64_t left = BURST_ROWS_WINDOW - rows->rows;
    for (int calls = 0; code == 0 && calls < 2; calls++) {
        struct burst_set *set = calls ? &rows->calls : &rows->messages;
        uint64_t more = pairs[calls] < left ? pairs[calls] : left;
        if (more > 0 && bursts_reserve_rows(set->bursts, more) == NULL)
            code = -ENOMEM;
    }
    return code;
}

int burst_rows_reserve_messages(struct burst_rows *rows, struct burst_pool *pool,
                                const struct burst_rows_size *size)
{
    return rows->messages.bursts != NULL ? 0 : burst_rows_open_set(&rows->messages, pool, size, 0);
}

/* ---- taking -------------------------------------------------------------------- */

int burst_rows_check_overflow(const struct burst_rows *rows, const struct wire_window *window)
{
    uint64_t messages[2] = {0}, bytes[2] = {0};
    const struct bursts *sets[2] = {rows->messages.bursts, rows->calls.bursts};
    for (unsigned i = 0; i < 2; i++) {
        messages[i] = sets[i] == NULL ? 0 : bursts_messages(sets[i]);
        bytes[i] = sets[i] == NULL ? 0 : bursts_bytes(sets[i]);
    }
    for (uint64_t i = 0; i < window->bursts_count; i++) {
        const struct wire_burst_row *b = &window->bursts[i];
        if (__builtin_add_overflow(messages[b->collective], b->messages,
                                   &messages[b->collective]) ||
            __builtin_add_overflow(bytes[b->collective], b->bytes, &bytes[b->collective]))
            return -EOVERFLOW;
    }
    return 0;
}

/* @param numbers  of the collectives that destinations name; NULL: destinations are ranks */
static void burst_rows_convert(struct burst_pair *out, const struct wire_burst_pair_row *rows,
                               uint64_t count, const uint32_t *numbers)
{
    for (uint64_t i = 0; i < count; i++) {
        out[i] = (struct burst_pair){
            .source = (uint32_t)rows[i].source,
            .destination =
                numbers != NULL ? numbers[rows[i].destination] : (uint32_t)rows[i].destination,
            .size_class = (uint16_t)rows[i].size_class,
            .messages = rows[i].messages,
            .bytes = rows[i].bytes,
        };
    }
}

static void burst_rows_add_burst(struct burst_rows *rows, const struct wire_burst_row *b,
                                 const struct wire_burst_pair_row *pairs,
                                 const uint32_t *collectives)
{
    struct bursts *set = b->collective ? rows->calls.bursts : rows->messages.bursts;
    struct burst_sums burst = {
        .first_ns = b->first_ns,
        .last_ns = b->last_ns,
        .time_sum_high = b->time_sum_high,
        .time_sum_low = b->time_sum_low,
        .messages = b->messages,
        .bytes = b->bytes,
        .others = {b->other_messages, b->other_bytes, b->other_pairs},
        .pair_count = b->pairs,
    };
    struct burst_pair *capacity = NULL;
    if (b->pairs > 0 && b->pairs <= BURST_ROWS_WINDOW - rows->rows)
        capacity = bursts_reserve_rows(set, b->pairs);
    if (capacity != NULL) {
        burst_rows_convert(capacity, pairs, b->pairs, b->collective ? collectives : NULL);
        burst.pairs = capacity;
    } else if (b->pairs > 0) { /* counted, but not who with whom */
        burst.others = (struct burst_others){b->messages, b->bytes, b->other_pairs + b->pairs};
        burst.pair_count = 0;
    }
    rows->rows += burst.pair_count;
    bursts_add(set, &burst); /* it was checked, and fits */
}

void burst_rows_add(struct burst_rows *rows, const struct wire_window *window,
                    const uint32_t *collectives)
{
    const struct wire_burst_pair_row *pairs = window->burst_pairs;
    for (uint64_t i = 0; i < window->bursts_count; i++) {
        burst_rows_add_burst(rows, &window->bursts[i], pairs, collectives);
        pairs += window->bursts[i].pairs;
    }
}

void burst_rows_copy_state(struct state_bytes *b, struct burst_rows *rows)
{
    bursts_copy_state(b, &rows->messages.bursts);
    bursts_copy_state(b, &rows->calls.bursts);
    STATE_ARRAY(b, rows->modelled, rows->modelled_count, rows->modelled_capacity);
}

void burst_pool_copy_state(struct state_bytes *b, struct burst_pool *pool)
{
    for (size_t i = 0; i < sizeof(pool->sets) / sizeof(pool->sets[0]); i++)
        bursts_copy_state(b, &pool->sets[i].bursts);
}
