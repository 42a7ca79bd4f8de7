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

/* A number below `end`, from a generator with a state. */
static uint32_t pick(uint64_t *state, uint32_t end)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % end);
}

static void check_sums(const struct history *h, uint64_t first, uint64_t last, uint64_t *sums,
                       uint32_t items, struct history_total *total)
{
    uint64_t expected[ITEMS * 2];
    struct history_span a = history_sum(h, first, last, expected, items),
                        b = history_sum_on(h, first, last, sums, items, total);
    assert_int_equal(a.first, b.first);
    assert_int_equal(a.last, b.last);
    assert_int_equal(a.coarsest, b.coarsest);
    assert_int_equal(a.windows, b.windows);
    assert_int_equal(a.found, b.found);
    assert_memory_equal(sums, expected, items * 2 * sizeof *sums);
}

/* Windows come, some late and some twice, others are removed, slots are merged, items become more,
 * and now and then all is forgotten or the time jumps. */
static void sums_of_a_span_that_moves_are_those_of_the_span(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct history h;
        struct history_total total = {0};
        uint64_t random = seed, sums[ITEMS * 2], window = 1000, length = 5 + pick(&random, 60);
        uint32_t items = 10;
        memset(sums, 0xa5, sizeof sums);
        history_init(&h, 2, 0, seed % 3 ? 40000 : 4000);
        for (int step = 0; step < 300; step++) {
            const uint32_t what = pick(&random, 100);
            window += what < 90 ? 1 : pick(&random, 4);
            put(&h, window);
            if (what >= 94)
                put(&h, window - pick(&random, 20));
            if (what == 1)
                history_drop(&h, window - pick(&random, 20));
            if (what == 2)
                history_clear(&h);
            items += items < ITEMS && what % 10 == 0;
            const uint64_t last = what == 3 ? window - pick(&random, 200) : window;
            check_sums(&h, last - length, last, sums, items, &total);
        }
        history_clear(&h);
    }
}

static void a_total_of_one_history_is_none_of_another(void **state)
{
    (void)state;
    struct history a, b;
    struct history_total total = {0};
    uint64_t sums[ITEMS * 2];
    history_init(&a, 2, 0, 1 << 20);
    history_init(&b, 2, 0, 1 << 20);
    for (uint64_t w = 0; w < 20; w++) {
        put(&a, w);
        if (w % 2)
            put(&b, w);
    }
    check_sums(&a, 0, 19, sums, ITEMS, &total);
    check_sums(&b, 1, 19, sums, ITEMS, &total);
    check_sums(&a, 1, 19, sums, ITEMS, &total);
    history_clear(&a);
    history_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_when_slots_are_merged),
        cmocka_unit_test(the_newest_windows_stay_apart),
        cmocka_unit_test(what_comes_late_is_added_to_its_window),
        cmocka_unit_test(a_span_is_entered_whole_where_nothing_is_known),
        cmocka_unit_test(a_span_says_what_it_covers),
        cmocka_unit_test(sums_of_a_span_that_moves_are_those_of_the_span),
        cmocka_unit_test(a_total_of_one_history_is_none_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
