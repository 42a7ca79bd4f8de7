/* Figures of pairs that take more than 32 bits, in a report or in sums of several. */
#include "daemon/analysis/sums/window_sum.h"
#include "tests/daemon/analysis/noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PAIRS 700u
#define WINDOWS 60u

struct sums {
    uint64_t messages[PAIRS], bytes[PAIRS];
};

static uint64_t draw(struct noise *noise, int large)
{
    uint64_t kind = noise_uint(noise) % 40, some = noise_uint(noise);
    return large && kind == 0   ? some << 13
           : large && kind == 1 ? (some & UINT32_MAX)
                                : some % 100000;
}

static void report(struct window_sum *window, struct sums *sums, int large, struct noise *noise)
{
    struct wire_pair_row rows[PAIRS];
    for (uint32_t i = 0; i < PAIRS; i++) {
        rows[i] =
            (struct wire_pair_row){.source = i / 10,
                                   .destination = (int32_t)(i % 10),
                                   .messages = draw(noise, large) % 7 == 0 ? 0 : draw(noise, large),
                                   .bytes = draw(noise, large)};
        sums->messages[i] += rows[i].messages;
        sums->bytes[i] += rows[i].bytes;
    }
    const struct sum_rows reported = {.pairs = rows, .pair_count = PAIRS};
    assert_int_equal(window_sum_update(window, &reported), 0);
}

static void check(const struct sum_result *result, const struct sums *sums)
{
    size_t at = 0;
    for (uint32_t i = 0; i < PAIRS; i++) {
        if (sums->messages[i] == 0)
            continue;
        assert_true(at < result->pair_count);
        const struct wire_pair_row *p = &result->pairs[at++];
        assert_true(p->source == i / 10 && p->destination == (int32_t)(i % 10));
        assert_true(p->messages == sums->messages[i] && p->bytes == sums->bytes[i]);
    }
    assert_int_equal(at, result->pair_count);
}

/* @param every  in one window of so many there are large ones */
static void report_windows(uint64_t seed, uint64_t every)
{
    const struct run_sum_limits limits = {
        .ranks = 1000, .pairs = 10000, .calls = 10, .comms = 10, .regions = 10};
    struct noise noise = {.state = seed};
    static struct sums all, one;
    struct sum_result kept = {0}, made = {0};
    struct run_sum *run;
    memset(&all, 0, sizeof(all));
    assert_int_equal(run_sum_create(&run, &limits), 0);
    for (uint64_t w = 0; w < WINDOWS; w++) {
        struct window_sum *window;
        memset(&one, 0, sizeof(one));
        assert_int_equal(window_sum_create(&window, run), 0);
        for (int times = 0; times < 3; times++)
            report(window, &one, noise_uint(&noise) % every == 0, &noise);
        assert_int_equal(window_sum_result(window, SUM_PAIRS, SIZE_MAX, &kept), 0);
        check(&kept, &one);
        assert_int_equal(window_sum_result(window, SUM_PAIRS, SIZE_MAX, &made), 0);
        check(&made, &one);
        assert_int_equal(run_sum_update(run, window, w), 0);
        for (uint32_t i = 0; i < PAIRS; i++) {
            all.messages[i] += one.messages[i];
            all.bytes[i] += one.bytes[i];
        }
        assert_int_equal(run_sum_result(run, SUM_PAIRS, SIZE_MAX, &made), 0);
        check(&made, &all);
        window_sum_destroy(window);
    }
    sum_result_finish(&kept);
    sum_result_finish(&made);
    run_sum_destroy(run);
}

static void large_figures_count_in_full(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++)
        report_windows(seed, seed);
}

/* No report has a figure of more than 32 bits. */
static void sums_of_small_figures_that_become_large_count_in_full(void **state)
{
    const struct run_sum_limits limits = {
        .ranks = 1000, .pairs = 10000, .calls = 10, .comms = 10, .regions = 10};
    const struct wire_pair_row row = {.destination = 1, .messages = 3, .bytes = UINT32_MAX};
    struct sum_result made = {0};
    struct run_sum *run;
    (void)state;
    assert_int_equal(run_sum_create(&run, &limits), 0);
    for (uint64_t w = 1; w <= 20; w++) {
        struct window_sum *window;
        const struct sum_rows rows = {.pairs = &row, .pair_count = 1};
        assert_int_equal(window_sum_create(&window, run), 0);
        for (uint64_t times = 0; times < w % 3; times++)
            assert_int_equal(window_sum_update(window, &rows), 0);
        assert_int_equal(run_sum_update(run, window, w), 0);
        window_sum_destroy(window);
    }
    assert_int_equal(run_sum_result(run, SUM_PAIRS, SIZE_MAX, &made), 0);
    assert_int_equal(made.pair_count, 1);
    assert_true(made.pairs[0].messages == 21 * 3 &&
                made.pairs[0].bytes == 21 * (uint64_t)UINT32_MAX);
    sum_result_finish(&made);
    run_sum_destroy(run);
}

/* The pairs of a part of the job, in each window with the same figures or with others. */
static void pairs_that_are_silent_are_not_listed(void **state)
{
    const struct run_sum_limits limits = {
        .ranks = 1000, .pairs = 10000, .calls = 10, .comms = 10, .regions = 10};
    struct noise noise = {.state = 1};
    static struct sums sums;
    struct wire_pair_row rows[PAIRS];
    struct sum_result kept = {0};
    struct run_sum *run;
    (void)state;
    assert_int_equal(run_sum_create(&run, &limits), 0);
    for (uint64_t w = 0; w < WINDOWS; w++) {
        uint32_t third = w == 0 ? 3 : noise_uint(&noise) % 4; /* 3: all */
        uint32_t first = third % 3 * (PAIRS / 3), count = third == 3 ? PAIRS : PAIRS / 3;
        uint64_t figure = 1 + w % 5 / 4;
        struct window_sum *window;
        memset(&sums, 0, sizeof(sums));
        for (uint32_t i = first; i < first + count; i++) {
            rows[i] = (struct wire_pair_row){.source = i / 10,
                                             .destination = (int32_t)(i % 10),
                                             .messages = figure,
                                             .bytes = figure};
            sums.messages[i] = sums.bytes[i] = figure;
        }
        const struct sum_rows reported = {.pairs = rows + first, .pair_count = count};
        assert_int_equal(window_sum_create(&window, run), 0);
        assert_int_equal(window_sum_update(window, &reported), 0);
        assert_int_equal(window_sum_result(window, SUM_PAIRS, SIZE_MAX, &kept), 0);
        check(&kept, &sums);
        assert_int_equal(run_sum_update(run, window, w), 0);
        window_sum_destroy(window);
    }
    sum_result_finish(&kept);
    run_sum_destroy(run);
}

static void pairs_that_come_later_are_listed_between_those_that_are_known(void **state)
{
    const struct run_sum_limits limits = {
        .ranks = 1000, .pairs = 10000, .calls = 10, .comms = 10, .regions = 10};
    static struct sums sums;
    struct sum_result made = {0};
    struct run_sum *run;
    (void)state;
    memset(&sums, 0, sizeof(sums));
    assert_int_equal(run_sum_create(&run, &limits), 0);
    for (uint32_t w = 0; w < 5; w++) { /* each with every fifth pair, the last one first */
        struct window_sum *window;
        assert_int_equal(window_sum_create(&window, run), 0);
        for (uint32_t i = PAIRS - 5 + w; i < PAIRS; i -= 5) {
            const struct wire_pair_row row = {
                .source = i / 10, .destination = (int32_t)(i % 10), .messages = i + 1, .bytes = i};
            const struct sum_rows rows = {.pairs = &row, .pair_count = 1};
            assert_int_equal(window_sum_update(window, &rows), 0);
            sums.messages[i] = row.messages;
            sums.bytes[i] = row.bytes;
        }
        assert_int_equal(run_sum_update(run, window, w), 0);
        assert_int_equal(run_sum_result(run, SUM_PAIRS, SIZE_MAX, &made), 0);
        check(&made, &sums);
        window_sum_destroy(window);
    }
    sum_result_finish(&made);
    run_sum_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_figures_count_in_full),
        cmocka_unit_test(sums_of_small_figures_that_become_large_count_in_full),
        cmocka_unit_test(pairs_that_are_silent_are_not_listed),
        cmocka_unit_test(pairs_that_come_later_are_listed_between_those_that_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
