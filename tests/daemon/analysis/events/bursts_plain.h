/* Bursts by the plain algorithm, and sets compared with it. */
#ifndef TESTS_DAEMON_ANALYSIS_EVENTS_BURSTS_PLAIN_H
#define TESTS_DAEMON_ANALYSIS_EVENTS_BURSTS_PLAIN_H

#include "tests/daemon/analysis/events/burst_feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 512u
#define SIDE 4u /* ranks, and size classes */
#define PAIRS (SIDE * SIDE * SIDE)

__extension__ typedef unsigned __int128 wide;

/* ---- the plain algorithm ----------------------------------------------------------- */

struct item {
    wide sum;
    uint64_t first, last, messages, bytes;
    uint64_t pair_messages[PAIRS], pair_bytes[PAIRS];
};

struct plain {
    size_t count;
    struct item items[MOST];
};

static inline uint64_t mean(const struct item *item)
{
    return (uint64_t)(item->sum / item->messages);
}

static inline void put_together(struct item *to, const struct item *from)
{
    to->sum += from->sum;
    to->first = from->first < to->first ? from->first : to->first;
    to->last = from->last > to->last ? from->last : to->last;
    to->messages += from->messages;
    to->bytes += from->bytes;
    for (size_t i = 0; i < PAIRS; i++) {
        to->pair_messages[i] += from->pair_messages[i];
        to->pair_bytes[i] += from->pair_bytes[i];
    }
}

static inline struct item item_of(const struct burst_message *m)
{
    struct item item = {
        (wide)m->time_ns * m->messages, m->time_ns, m->time_ns, m->messages, m->bytes, {0}, {0}};
    size_t pair = (m->source * SIDE + m->destination) * SIDE + m->size_class;
    item.pair_messages[pair] = m->messages;
    item.pair_bytes[pair] = m->bytes;
    return item;
}

static inline int by_mean(const void *left, const void *right)
{
    uint64_t a = mean(left), b = mean(right);
    return (a > b) - (a < b);
}

static inline void plain_merge(struct plain *p, size_t at)
{
    put_together(&p->items[at], &p->items[at + 1]);
    memmove(&p->items[at + 1], &p->items[at + 2], (p->count - at - 2) * sizeof(p->items[0]));
    p->count--;
}

/* Those of one cell together, then the nearest neighbours until so many are left. */
static inline void plain_cluster(struct plain *p, uint64_t cell, size_t most)
{
    qsort(p->items, p->count, sizeof(p->items[0]), by_mean);
    for (size_t i = 0; i + 1 < p->count;)
        if (mean(&p->items[i]) / cell == mean(&p->items[i + 1]) / cell)
            plain_merge(p, i);
        else
            i++;
    while (p->count > most) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < p->count; i++)
            if (mean(&p->items[i + 1]) - mean(&p->items[i]) <
                mean(&p->items[best + 1]) - mean(&p->items[best]))
                best = i;
        plain_merge(p, best);
    }
}

static inline void plain_of(struct plain *p, const struct burst_message *messages, size_t count)
{
    p->count = count;
    for (size_t i = 0; i < count; i++)
        p->items[i] = item_of(&messages[i]);
}

/* ---- comparing ------------------------------------------------------------------------ */

static inline struct bursts *create(uint32_t budget, uint32_t pairs, uint64_t cell)
{
    const struct bursts_params params = {budget, pairs, cell};
    struct bursts *set;
    assert_int_equal(bursts_create(&set, &params), 0);
    return set;
}

static inline struct item item_read(struct bursts *set, uint32_t number)
{
    struct burst_sums b;
    assert_int_equal(bursts_read(set, number, &b), 0);
    struct item item = {(wide)b.time_sum_high << 64 | b.time_sum_low,
                        b.first_ns,
                        b.last_ns,
                        b.messages,
                        b.bytes,
                        {0},
                        {0}};
    assert_int_equal(b.time_ns, mean(&item));
    assert_int_equal(b.others.pairs, 0);
    for (size_t i = 0, before = 0; i < b.pair_count; i++) {
        const struct burst_pair *row = &b.pairs[i];
        size_t pair = (row->source * SIDE + row->destination) * SIDE + row->size_class;
        assert_true(i == 0 || pair > before);
        before = pair;
        item.pair_messages[pair] = row->messages;
        item.pair_bytes[pair] = row->bytes;
    }
    return item;
}

static inline void assert_same_item(const struct item *a, const struct item *b)
{
    assert_true(a->sum == b->sum);
    assert_int_equal(a->first, b->first);
    assert_int_equal(a->last, b->last);
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->bytes, b->bytes);
    assert_memory_equal(a->pair_messages, b->pair_messages, sizeof(a->pair_messages));
    assert_memory_equal(a->pair_bytes, b->pair_bytes, sizeof(a->pair_bytes));
}

static inline void assert_is(struct bursts *set, const struct plain *p)
{
    assert_int_equal(bursts_count(set), p->count);
    for (uint32_t i = 0; i < p->count; i++) {
        struct item item = item_read(set, i);
        assert_same_item(&item, &p->items[i]);
    }
}

static inline void assert_same(struct bursts *a, struct bursts *b)
{
    assert_int_equal(bursts_count(a), bursts_count(b));
    for (uint32_t i = 0; i < bursts_count(a); i++) {
        struct item one = item_read(a, i), other = item_read(b, i);
        assert_same_item(&one, &other);
    }
}

/* Totals, rows and others agree. */
static inline void assert_conserved(struct bursts *set, uint64_t messages, uint64_t bytes)
{
    assert_int_equal(bursts_messages(set), messages);
    assert_int_equal(bursts_bytes(set), bytes);
    for (uint32_t i = 0; i < bursts_count(set); i++) {
        struct burst_sums b;
        assert_int_equal(bursts_read(set, i, &b), 0);
        uint64_t row_messages = b.others.messages, row_bytes = b.others.bytes;
        for (size_t r = 0; r < b.pair_count; r++) {
            row_messages += b.pairs[r].messages;
            row_bytes += b.pairs[r].bytes;
        }
        assert_int_equal(row_messages, b.messages);
        assert_int_equal(row_bytes, b.bytes);
        messages -= b.messages;
        bytes -= b.bytes;
    }
    assert_int_equal(messages, 0);
    assert_int_equal(bytes, 0);
}

#endif
