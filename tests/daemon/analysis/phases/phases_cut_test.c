#include "daemon/analysis/phases/phases.h"

#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/daemon/analysis/phases/cuts.h"

static void tree_is_that_of_the_batch(void **state)
{
    int64_t times[200];
    uint64_t random = 1;
    (void)state;
    for (uint32_t round = 0; round < 120; round++) {
        static const int64_t ranges[4] = {1000000000, 5000, 300, 40};
        size_t count = 1 + random_next(&random) % 200;
        random_times(times, count, ranges[round % 4], &random);
        struct phases *phases = fill(200, times, count); /* in any order */
        assert_is_batch(phases, times, count, 1);
        phases_destroy(phases);
    }
}

/* Without rounding: averages of multiples of 2^24 are exact for 24 merges above each other. */
static void times_are_plain_averages(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (uint32_t round = 0; round < 50; round++) {
        double mean[24];
        size_t left = 24, got;
        struct phases *phases = create(24, 0);
        for (size_t i = 0; i < left; i++) {
            mean[i] = i == 0 ? 0 : mean[i - 1] + 16777216.0 * (1 + random_next(&random) % 1000);
            assert_int_equal(add_at(phases, (int64_t)mean[i]), 0);
        }
        for (; left > 1; left--) {
            struct phase cut[24];
            size_t best = 1;
            int64_t lowest = INT64_MAX;
            for (size_t i = 2; i < left; i++)
                best = mean[i] - mean[i - 1] < mean[best] - mean[best - 1] ? i : best;
            phases_cut_count(phases, EVER, left, cut, &got);
            for (size_t i = 1; i < left; i++)
                lowest = cut[i].height_ns < lowest ? cut[i].height_ns : lowest;
            ASSERT_NEAR((double)lowest, mean[best] - mean[best - 1], 0);
            mean[best - 1] = (mean[best - 1] + mean[best]) / 2;
            memmove(&mean[best], &mean[best + 1], (left - best - 1) * sizeof(*mean));
        }
        phases_destroy(phases);
    }
}

static void equal_gaps_merge_from_the_left(void **state)
{
    static const int64_t times[] = {0, 10, 20, 30, 40}; /* 5, 25, 40; then 5, 32 */
    struct phases *phases = fill(8, times, 5);
    struct phase cut[5];
    size_t count;
    (void)state;
    assert_int_equal(phases_cut_count(phases, EVER, 5, cut, &count), 0);
    assert_int_equal(count, 5);
    assert_int_equal(cut[1].height_ns, 10);
    assert_int_equal(cut[2].height_ns, 27);
    assert_int_equal(cut[3].height_ns, 10);
    assert_int_equal(cut[4].height_ns, 15);
    assert_int_equal(phases_cut_count(phases, EVER, 4, cut, &count), 0);
    assert_int_equal(cut[0].end_ns, 10);
    assert_int_equal(cut[2].begin_ns, 30);
    phases_destroy(phases);
}

/* Few live clusters change nothing as long as bursts are in order. */
static void tree_of_bursts_in_order_is_exact_with_few_clusters(void **state)
{
    int64_t times[600];
    uint64_t random = 3;
    (void)state;
    for (uint32_t round = 0; round < 24; round++) {
        random_times(times, 600, round % 3 == 0 ? 900 : 2000000000, &random);
        qsort(times, 600, sizeof(times[0]), by_time);
        if (round % 2 == 0) /* gaps that grow and shrink at all scales */
            for (size_t i = 1; i < 600; i++)
                times[i] =
                    times[i - 1] + 1 + (int64_t)(random_next(&random) >> random_next(&random) % 32);
        struct phases *phases = fill(32, times, 600);
        assert_int_equal(counts_of(phases).forced, 0);
        assert_true(counts_of(phases).clusters <= 32);
        assert_is_batch(phases, times, 600, 7);
        phases_destroy(phases);
    }
}

static void gaps_that_only_shrink_are_forced_and_counted(void **state)
{
    struct phases *phases = create(8, 1);
    int64_t time = 0;
    (void)state;
    for (int64_t gap = 5000; gap > 0; gap--)
        assert_int_equal(add_at(phases, time += gap), 0);
    struct phases_counts counts = counts_of(phases);
    assert_true(counts.forced + counts.closed > 0);
    assert_true(counts.clusters <= 8);
    assert_int_equal(counts.items, 5000);
    phases_destroy(phases);
    phases = create(8, 10000);
    time = 0;
    for (int64_t gap = 5000; gap > 0; gap--)
        assert_int_equal(add_at(phases, time += gap), 0);
    assert_true(counts_of(phases).forced > 4000);
    phases_destroy(phases);
}

/* ---- binary swap and 2-3 swap (CommGram, Fig. 3 and 4) ------------------------------- */

static void cuts_agree_with_the_batch_on_swaps(void **state)
{
    static const uint32_t ranks[4] = {16, 64, 27, 18};
    static const int64_t late[3] = {0, MS / 5, 20 * MS};
    int64_t times[4096];
    uint64_t random = 11;
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        size_t count = 0, stages = 0;
        int64_t now = 0;
        while (count < 4096) {
            count += swap_times(times + count, 4096 - count, ranks[round % 4], round % 4 > 1, &now,
                                &random);
            stages += round % 4 == 0 ? 4 : round % 4 == 1 ? 6 : 3;
        }
        delay(times, count, late[round / 4], &random);
        struct phases *phases = fill((uint32_t)count / 64, times, count);
        /* Coarser cuts of a regular pattern turn on nearly equal gaps: exact arrival only. */
        for (size_t k = stages; k > 1; k = late[round / 4] <= MS ? k / 3 : 0) {
            double index = agreement(phases, times, count, k);
            if (late[round / 4] <= MS)
                ASSERT_NEAR(index, 1, 1e-12);
            assert_true(index >= 0.95);
        }
        phases_destroy(phases);
    }
}

/* ---- cuts ----------------------------------------------------------------------- */

/* 40 chunks, so that whole ones are passed over. */
static void cut_by_count_of_an_interval_takes_its_highest(void **state)
{
    enum { COUNT = 20000 };
    static struct phase all[COUNT], cut[COUNT];
    struct phases *phases = create(64, 0);
    uint64_t random = 5;
    int64_t now = 0;
    size_t count, got;
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        add_at(phases, now += 1 + (int64_t)(random_next(&random) >> random_next(&random) % 32));
    assert_int_equal(phases_cut_count(phases, EVER, COUNT, all, &count), 0);
    assert_int_equal(count, COUNT);
    for (size_t round = 0; round < 30; round++) {
        size_t a = random_next(&random) % COUNT, b = a + random_next(&random) % (COUNT - a);
        size_t wanted = 1 + random_next(&random) % (round < 15 ? 20 : 2000);
        wanted = wanted < b - a + 1 ? wanted : b - a + 1;
        assert_int_equal(
            phases_cut_count(phases, all[a].begin_ns, all[b].begin_ns, wanted, cut, &got), 0);
        assert_int_equal(got, wanted);
        uint64_t bursts = 0;
        int64_t lowest = INT64_MAX;
        for (size_t i = 0; i < got; i++) {
            bursts += cut[i].bursts;
            lowest = i > 0 && cut[i].height_ns < lowest ? cut[i].height_ns : lowest;
        }
        assert_int_equal(bursts, b - a + 1);
        for (size_t i = a + 1, phase = 0; i <= b; i++) { /* none that went is higher */
            if (phase + 1 < got && all[i].begin_ns == cut[phase + 1].begin_ns)
                phase++;
            else
                assert_true(all[i].height_ns <= lowest);
        }
    }
    phases_destroy(phases);
}

/* Of what is open, before and after all that is live has been merged for another cut. */
static void assert_open_is_part_of_whole(struct phases *phases)
{
    static struct phase open[4096], whole[4096], all[1];
    size_t count, open_count = phases_open(phases, open, 4096);
    assert_int_equal(phases_cut_count(phases, EVER, 1, all, &count), 0);
    size_t whole_count = phases_open(phases, whole, 4096);
    assert_true(open_count <= 4096);
    assert_int_equal(open_count, whole_count);
    for (size_t i = 0; i < open_count; i++) {
        assert_int_equal(open[i].begin_ns, whole[i].begin_ns);
        assert_int_equal(open[i].end_ns, whole[i].end_ns);
        assert_int_equal(open[i].height_ns, whole[i].height_ns);
        assert_int_equal(open[i].bursts, whole[i].bursts);
    }
}

/* Pauses of a few lengths, so that gaps are often equal, and sometimes longer and longer ones. */
static void what_is_open_does_not_depend_on_what_is_looked_at(void **state)
{
    uint64_t random = 11;
    (void)state;
    for (uint32_t round = 0; round < 24; round++) {
        const uint32_t each = 1 + (uint32_t)(random_next(&random) % 40);
        const int64_t jitter = round % 3 == 0 ? 1 : 1 + (int64_t)(random_next(&random) % 900);
        struct phases *phases = create(700, round % 4 == 3 ? 20 : 3000);
        int64_t now = 0, pause = 5000;
        for (uint32_t i = 0; i < 4000; i++) {
            now += 100 + (int64_t)(random_next(&random) % (uint64_t)jitter);
            if (i % each == 0) {
                now += pause;
                pause = round % 5 == 4 ? pause + pause / 16 : 5000;
                pause = pause > 1000000000 ? 5000 : pause;
            }
            int64_t late =
                random_next(&random) % 50 == 0 ? (int64_t)(random_next(&random) % 20000) : 0;
            assert_int_equal(add_at(phases, now - late), 0);
            if (i % 64 == 0) {
                assert_int_equal(phases_close(phases, now - 10000), 0);
                assert_open_is_part_of_whole(phases);
            }
        }
        phases_destroy(phases);
    }
}

static void cuts_of_nothing_are_empty(void **state)
{
    struct phases *phases = create(8, 0);
    struct phase cut[4];
    size_t count = 9;
    (void)state;
    assert_int_equal(phases_cut_count(phases, EVER, 4, cut, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(phases_open(phases, cut, 4), 0);
    assert_int_equal(phases_close(phases, 5), 0);
    assert_int_equal(add_at(phases, 10), 0);
    assert_int_equal(phases_cut_count(phases, 11, INT64_MAX, 4, cut, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(phases_cut_count(phases, 20, -20, 4, cut, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(phases_cut_count(phases, EVER, 0, cut, &count), -HOLTER_ERANGE);
    phases_destroy(phases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_is_that_of_the_batch),
        cmocka_unit_test(times_are_plain_averages),
        cmocka_unit_test(equal_gaps_merge_from_the_left),
        cmocka_unit_test(tree_of_bursts_in_order_is_exact_with_few_clusters),
        cmocka_unit_test(gaps_that_only_shrink_are_forced_and_counted),
        cmocka_unit_test(cuts_agree_with_the_batch_on_swaps),
        cmocka_unit_test(cut_by_count_of_an_interval_takes_its_highest),
        cmocka_unit_test(what_is_open_does_not_depend_on_what_is_looked_at),
        cmocka_unit_test(cuts_of_nothing_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
