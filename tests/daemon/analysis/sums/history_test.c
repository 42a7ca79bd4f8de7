#include "daemon/analysis/sums/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 50, WINDOWS = 400 };

/* Figures of item i in window w: some items rest in some windows. */
static uint64_t figure(uint32_t item, uint64_t window)
{
    return (item + window) % 3 ? item * 1000 + window : 0;
}

static void put(struct history *h, uint64_t window)
{
    uint32_t items[ITEMS], n = 0;
    uint64_t values[ITEMS * 2];
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (!figure(i, window))
            continue;
        items[n] = i;
        values[2 * n] = figure(i, window);
        values[2 * n + 1] = window;
        n++;
    }
    assert_int_equal(history_put(h, window, items, values, n), 0);
}

static void nothing_is_lost_when_slots_are_merged(void **state)
{
    (void)state;
    struct history h;
    uint64_t sums[ITEMS * 2] = {0};
    history_init(&h, 2, 1u << 1, 20000);
    for (uint64_t w = 100; w < 100 + WINDOWS; w++)
        put(&h, w);
    assert_true(h.bytes <= h.budget);
    assert_true(h.count < WINDOWS);
    struct history_span span = history_sum(&h, 0, UINT64_MAX, sums, ITEMS);
    assert_int_equal(span.first, 100);
    assert_int_equal(span.last, 99 + WINDOWS);
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint64_t sum = 0, newest = 0;
        for (uint64_t w = 100; w < 100 + WINDOWS; w++) {
            sum += figure(i, w);
            newest = figure(i, w) ? w : newest;
        }
        assert_int_equal(sums[2 * i], sum);
        assert_int_equal(sums[2 * i + 1], newest);
    }
    history_clear(&h);
}

static void the_newest_windows_stay_apart(void **state)
{
    (void)state;
    struct history h;
    history_init(&h, 2, 0, 20000);
    for (uint64_t w = 0; w < WINDOWS; w++)
        put(&h, w);
    const struct history_slot *newest = &h.slots[h.count - 1];
    assert_int_equal(newest->first, WINDOWS - 1);
    for (size_t i = 0; i + 1 < h.count; i++) {
        assert_int_equal(h.slots[i].last + 1, h.slots[i + 1].first);
        uint64_t span = h.slots[i].last - h.slots[i].first + 1, age = WINDOWS - h.slots[i].last;
        assert_true(span <= age + 1);
    }
    history_clear(&h);
}

static void what_comes_late_is_added_to_its_window(void **state)
{
    (void)state;
    struct history h;
    const uint32_t items[2] = {3, 7};
    const uint64_t values[2] = {10, 20}, more[2] = {1, 2};
    uint64_t sums[8];
    memset(sums, 0xa5, sizeof sums);
    history_init(&h, 1, 0, 1 << 20);
    assert_int_equal(history_put(&h, 5, items, values, 2), 0);
    assert_int_equal(history_put(&h, 9, items, values, 2), 0);
    assert_int_equal(history_put(&h, 5, items + 1, more, 1), 0);
    assert_int_equal(history_put(&h, 7, items, more, 1), 0);
    assert_int_equal(h.count, 3);
    history_sum(&h, 5, 7, sums, 8);
    assert_int_equal(sums[3], 11);
    assert_int_equal(sums[7], 21);
    history_clear(&h);
}

static void a_span_is_entered_whole_where_nothing_is_known(void **state)
{
    (void)state;
    struct history h;
    const uint32_t items[2] = {3, 7};
    const uint64_t values[2] = {10, 20};
    uint64_t sums[8];
    memset(sums, 0xa5, sizeof sums);
    history_init(&h, 1, 0, 1 << 20);
    assert_int_equal(history_put(&h, 5, items, values, 2), 0);
    assert_int_equal(history_put_span(&h, 2, 5, items, values, 2), 1);
    assert_int_equal(history_put_span(&h, 5, 9, items, values, 2), 1);
    assert_int_equal(history_put_span(&h, 9, 8, items, values, 2), 1);
    assert_int_equal(history_put_span(&h, 6, 9, items, values, 2), 0);
    assert_int_equal(history_put_span(&h, 0, 4, items, values, 1), 0);
    assert_int_equal(h.count, 3);
    assert_false(history_whole(&h, 5));
    assert_true(history_whole(&h, 0) && history_whole(&h, 4) && history_whole(&h, 9));
    assert_false(history_whole(&h, 10));
    history_sum(&h, 0, 100, sums, 8);
    assert_int_equal(sums[3], 30);
    assert_int_equal(sums[7], 40);
    assert_int_equal(sums[0], 0);
    history_clear(&h);
}

static void a_span_says_what_it_covers(void **state)
{
    (void)state;
    struct history h;
    uint64_t sums[ITEMS * 2] = {0};
    history_init(&h, 2, 0, 6000);
    for (uint64_t w = 0; w < 64; w++)
        put(&h, w);
    struct history_span span = history_sum(&h, 1, 1, sums, ITEMS);
    assert_true(span.found);
    assert_true(span.first <= 1 && span.last >= 1);
    assert_int_equal(span.coarsest, span.last - span.first + 1);
    assert_true(span.coarsest > 1);
    span = history_sum(&h, 1000, 2000, sums, ITEMS);
    assert_false(span.found);
    history_clear(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_when_slots_are_merged),
        cmocka_unit_test(the_newest_windows_stay_apart),
        cmocka_unit_test(what_comes_late_is_added_to_its_window),
        cmocka_unit_test(a_span_is_entered_whole_where_nothing_is_known),
        cmocka_unit_test(a_span_says_what_it_covers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
