#include "daemon/analysis/phases.h"

#include "holter/error.h"
#include "tests/daemon/analysis/graphs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000
#define EVER INT64_MIN, INT64_MAX

/* ---- the batch reference: look at all neighbours, merge the nearest, begin again --------- */

struct batch {
    size_t count;
    int64_t *time;   /* ascending */
    int64_t *height; /* of the boundary before each */
    size_t *order;   /* boundaries in the order they went */
};

static int by_time(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void batch_run(struct batch *b, const int64_t *times, size_t count)
{
    int64_t *mean = malloc((count + 1) * sizeof(*mean));
    size_t *begin = malloc((count + 1) * sizeof(*begin)), left = count;
    b->count = count;
    b->time = malloc(count * sizeof(*b->time));
    b->height = malloc(count * sizeof(*b->height));
    b->order = malloc(count * sizeof(*b->order));
    memcpy(b->time, times, count * sizeof(*times));
    qsort(b->time, count, sizeof(*b->time), by_time);
    for (size_t i = 0; i < count; i++) {
        mean[i] = b->time[i];
        begin[i] = i;
    }
    b->height[0] = INT64_MAX;
    for (; left > 1; left--) {
        size_t best = 1;
        for (size_t i = 2; i < left; i++)
            best = mean[i] - mean[i - 1] < mean[best] - mean[best - 1] ? i : best;
        int64_t gap = mean[best] - mean[best - 1];
        b->height[begin[best]] = gap;
        b->order[count - left] = begin[best];
        mean[best - 1] += gap / 2; /* rounded down, as gaps are not negative */
        memmove(&mean[best], &mean[best + 1], (left - best - 1) * sizeof(*mean));
        memmove(&begin[best], &begin[best + 1], (left - best - 1) * sizeof(*begin));
    }
    free(mean);
    free(begin);
}

static void batch_finish(struct batch *b)
{
    free(b->time);
    free(b->height);
    free(b->order);
}

/* stands[i]: the boundary before i stands in the cut at `phases`. */
static void batch_cut(const struct batch *b, size_t phases, bool *stands)
{
    memset(stands, true, b->count);
    for (size_t i = 0; i + phases < b->count; i++)
        stands[b->order[i]] = false;
}

/* ---- what is tested --------------------------------------------------------------------------- */

static struct phases *create(uint32_t clusters, int64_t gap_ns)
{
    struct phases_params params = PHASES_DEFAULTS;
    struct phases *phases;
    params.clusters = clusters;
    params.gap_ns = gap_ns;
    assert_int_equal(phases_create(&phases, &params), 0);
    return phases;
}

static int add_at(struct phases *phases, int64_t time_ns)
{
    return phases_add(phases, &(struct burst){time_ns, time_ns - 1, time_ns + 1, 2, 10});
}

static struct phases *fill(uint32_t clusters, const int64_t *times, size_t count)
{
    struct phases *phases = create(clusters, 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(add_at(phases, times[i]), 0);
    return phases;
}

static struct phases_counts counts_of(const struct phases *phases)
{
    struct phases_counts counts;
    phases_count(phases, &counts);
    return counts;
}

static void assert_is_cut(const struct batch *b, size_t wanted, const struct phase *cut,
                          size_t count, bool *stands)
{
    size_t phase = 0, begin = 0;
    batch_cut(b, wanted, stands);
    assert_int_equal(count, wanted);
    for (size_t i = 1; i <= b->count; i++) {
        if (i < b->count && !stands[i])
            continue;
        assert_true(cut[phase].begin_ns == b->time[begin]);
        assert_true(cut[phase].end_ns == b->time[i - 1]);
        assert_true(cut[phase].height_ns == b->height[begin]);
        assert_int_equal(cut[phase].bursts, i - begin);
        assert_int_equal(cut[phase].messages, 2 * (i - begin));
        assert_int_equal(cut[phase++].bytes, 10 * (i - begin));
        begin = i;
    }
}

/* Every cut, so every merge in its order, and all heights. */
static void assert_is_batch(struct phases *phases, const int64_t *times, size_t count, size_t step)
{
    struct batch batch;
    struct phase *cut = malloc(count * sizeof(*cut));
    bool *stands = malloc(count * sizeof(*stands));
    size_t got;
    batch_run(&batch, times, count);
    for (size_t k = count; k >= 1; k = k > step ? k - step : k - 1) {
        assert_int_equal(phases_cut_count(phases, EVER, k, cut, &got), 0);
        assert_is_cut(&batch, k, cut, got, stands);
    }
    batch_finish(&batch);
    free(cut);
    free(stands);
}

/* Times with a spread of scales: nearly all distinct, or full of ties and duplicates. */
static void random_times(int64_t *times, size_t count, int64_t range, uint64_t *random)
{
    for (size_t i = 0; i < count; i++) {
        int64_t scale = range >> random_next(random) % 8;
        times[i] = (int64_t)(random_next(random) % (uint32_t)(scale + 1)) - range / 4;
    }
}

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

/* ---- binary swap and 2-3 swap (001, Fig. 3 and 4) ------------------------------------------------ */

static int64_t jitter(uint64_t *random, int64_t most)
{
    return (int64_t)(random_next(random) % (uint32_t)(2 * most + 1)) - most;
}

/* One compositing: in each stage groups of two, or of three, exchange among themselves.
 * @return how many messages were written */
static size_t swap_times(int64_t *times, size_t room, uint32_t ranks, bool threes, int64_t *now,
                         uint64_t *random)
{
    size_t count = 0;
    for (uint32_t left = ranks; left > 1;) {
        uint32_t group = threes && left % 2 == 1 ? 3 : 2;
        left = group == 2 ? left / 2 : (left + 2) / 3;
        for (uint32_t m = 0; m < ranks * (group - 1) && count < room; m++)
            times[count++] = *now + jitter(random, 200000);
        *now += 2 * MS + jitter(random, MS / 2);
    }
    *now += 10 * MS; /* the simulation's next step */
    return count;
}

/* Adjusted Rand index of two labellings (Hubert and Arabie 1985). Labels are ascending. */
static double rand_index(const uint32_t *a, const uint32_t *b, size_t count)
{
    double both = 0, in_a = 0, in_b = 0, all = (double)count * (double)(count - 1) / 2;
    size_t run_a = 0, run_b = 0, run = 0;
    for (size_t i = 1; i <= count; i++) {
        bool end_a = i == count || a[i] != a[i - 1], end_b = i == count || b[i] != b[i - 1];
        if (end_a || end_b) {
            both += (double)(i - run) * (double)(i - run - 1) / 2;
            run = i;
        }
        if (end_a) {
            in_a += (double)(i - run_a) * (double)(i - run_a - 1) / 2;
            run_a = i;
        }
        if (end_b) {
            in_b += (double)(i - run_b) * (double)(i - run_b - 1) / 2;
            run_b = i;
        }
    }
    double expected = in_a * in_b / all;
    return (both - expected) / ((in_a + in_b) / 2 - expected);
}

static double agreement(struct phases *phases, const int64_t *times, size_t count, size_t k)
{
    struct batch batch;
    struct phase *cut = malloc(k * sizeof(*cut));
    uint32_t *ours = calloc(count, sizeof(*ours)), *theirs = calloc(count, sizeof(*theirs));
    bool *stands = malloc(count * sizeof(*stands));
    size_t got;
    batch_run(&batch, times, count);
    batch_cut(&batch, k, stands);
    assert_int_equal(phases_cut_count(phases, EVER, k, cut, &got), 0);
    assert_int_equal(got, k);
    for (size_t i = 1; i < count; i++) {
        ours[i] = ours[i - 1];
        theirs[i] = theirs[i - 1] + stands[i];
        while (ours[i] + 1 < k && batch.time[i] > cut[ours[i]].end_ns)
            ours[i]++;
    }
    double index = rand_index(ours, theirs, count);
    batch_finish(&batch);
    free(cut);
    free(ours);
    free(theirs);
    free(stands);
    return index;
}

/* Order of arrival: as much as late_ns after the time itself. */
static void delay(int64_t *times, size_t count, int64_t late_ns, uint64_t *random)
{
    int64_t(*pairs)[2] = malloc(count * sizeof(*pairs));
    for (size_t i = 0; i < count; i++) {
        pairs[i][0] = times[i] + (late_ns > 0 ? jitter(random, late_ns) : 0);
        pairs[i][1] = times[i];
    }
    qsort(pairs, count, sizeof(*pairs), by_time);
    for (size_t i = 0; i < count; i++)
        times[i] = pairs[i][1];
    free(pairs);
}

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

/* ---- cuts ------------------------------------------------------------------------------------------ */

static void cut_by_gap_leaves_what_is_higher(void **state)
{
    int64_t times[500];
    uint64_t random = 21;
    struct batch batch;
    struct phase cut[500];
    (void)state;
    random_times(times, 500, 1000000, &random);
    struct phases *phases = fill(500, times, 500);
    batch_run(&batch, times, 500);
    for (int64_t gap = -1; gap < 2000000; gap = gap * 2 + 1 + (gap < 0)) {
        int64_t from = batch.time[random_next(&random) % 100];
        int64_t to = batch.time[499 - random_next(&random) % 100];
        size_t got, phase = 0, room = random_next(&random) % 500;
        assert_int_equal(phases_cut_gap(phases, from, to, gap, cut, room, &got), 0);
        for (size_t i = 0, begin = SIZE_MAX; i < 500; i++) {
            if (batch.time[i] < from || batch.time[i] > to)
                continue;
            begin = begin == SIZE_MAX || batch.height[i] > gap ? i : begin;
            bool ends = i == 499 || batch.time[i + 1] > to || batch.height[i + 1] > gap;
            if (!ends)
                continue;
            if (phase < room) {
                assert_true(cut[phase].begin_ns == batch.time[begin]);
                assert_true(cut[phase].end_ns == batch.time[i]);
                assert_int_equal(cut[phase].bursts, i - begin + 1);
            }
            phase++;
        }
        assert_int_equal(got, phase);
    }
    batch_finish(&batch);
    phases_destroy(phases);
}

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

static void cuts_of_nothing_are_empty(void **state)
{
    struct phases *phases = create(8, 0);
    struct phase cut[4];
    size_t count = 9;
    (void)state;
    assert_int_equal(phases_cut_count(phases, EVER, 4, cut, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(phases_open(phases, cut, 4, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(phases_close(phases, 5), 0);
    assert_int_equal(add_at(phases, 10), 0);
    assert_int_equal(phases_cut_gap(phases, 11, INT64_MAX, 0, cut, 4, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(phases_cut_gap(phases, 20, -20, 0, cut, 4, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(phases_cut_count(phases, EVER, 0, cut, &count), -HOLTER_ERANGE);
    phases_destroy(phases);
}

/* ---- online phases ---------------------------------------------------------------------------------- */

/* Watch closed phases while bursts come; at the end they are the batch's. */
static void assert_closed_stay(const int64_t *times, size_t count, int64_t gap, int64_t slack,
                               uint32_t clusters)
{
    static struct phase seen[8192], now[8192], cut[8192];
    struct phases *phases = create(clusters, gap);
    size_t known = 0, got;
    int64_t newest = INT64_MIN + slack;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(add_at(phases, times[i]), 0);
        newest = times[i] > newest ? times[i] : newest;
        if (i % 5 != 0)
            continue;
        assert_int_equal(phases_close(phases, newest - slack), 0);
        got = phases_closed(phases, 1, now, 8192);
        assert_true(got >= known);
        assert_memory_equal(now, seen, known * sizeof(now[0]));
        memcpy(seen, now, got * sizeof(now[0]));
        known = got;
    }
    assert_int_equal(phases_close(phases, PHASES_TIME_MOST), 0);
    assert_int_equal(phases_open(phases, cut, 8192, &got), 0);
    assert_int_equal(got, 0);
    struct batch batch;
    batch_run(&batch, times, count);
    got = phases_closed(phases, 1, now, 8192);
    assert_memory_equal(now, seen, known * sizeof(now[0]));
    size_t phase = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || batch.height[i] > gap) {
            assert_true(phase < got);
            assert_int_equal(now[phase].id, phase + 1);
            assert_true(phase == 0 || now[phase - 1].end_ns == batch.time[i - 1]);
            assert_true(now[phase].height_ns <= batch.height[i]);
            assert_true(now[phase++].begin_ns == batch.time[i]);
        }
    assert_int_equal(phase, got);
    batch_finish(&batch);
    phases_destroy(phases);
}

static void closed_phases_stay_and_are_those_of_the_batch(void **state)
{
    int64_t times[1500];
    uint64_t random = 17;
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        size_t count = 0;
        int64_t now = 0;
        while (count < 1500)
            count += swap_times(times + count, 1500 - count, 16, false, &now, &random);
        if (round % 2 == 0)
            random_times(times, count, 4000000000, &random);
        qsort(times, count, sizeof(times[0]), by_time);
        int64_t gap = (int64_t)(random_next(&random) >> random_next(&random) % 16) + 1;
        int64_t late = round % 3 == 2 ? MS : 0;
        delay(times, count, late, &random);
        assert_closed_stay(times, count, gap, 2 * late, late > 0 ? 1500 : 64);
    }
}

static void dense_stream_is_closed_piece_by_piece(void **state)
{
    struct phases *phases = create(64, 10 * MS);
    struct phases_counts counts;
    struct phase open[64];
    size_t count;
    (void)state;
    for (int64_t i = 0; i < 20000; i++) { /* never a gap of more than 1 ms */
        assert_int_equal(add_at(phases, i * MS), 0);
        assert_int_equal(phases_close(phases, i * MS), 0);
    }
    counts = counts_of(phases);
    assert_true(counts.closed > 20000 / 40);
    assert_int_equal(counts.forced, 0);
    assert_int_equal(phases_open(phases, open, 64, &count), 0);
    assert_true(count >= 1 && 20000LL * MS - open[0].begin_ns < 100LL * MS);
    phases_destroy(phases);
}

static void silence_closes_the_last_phase(void **state)
{
    struct phases *phases = create(8, 100);
    struct phase phase;
    (void)state;
    for (int64_t t = 0; t < 3; t++)
        assert_int_equal(add_at(phases, 10 * t), 0);
    assert_int_equal(phases_close(phases, 60), 0);
    assert_int_equal(phases_closed(phases, 0, &phase, 1), 0);
    assert_int_equal(phases_close(phases, 200), 0);
    assert_int_equal(phases_closed(phases, 0, &phase, 1), 1);
    assert_int_equal(phase.end_ns, 20);
    assert_int_equal(phase.bursts, 3);
    assert_int_equal(phase.first_ns, -1);
    assert_int_equal(phase.last_ns, 21);
    phases_destroy(phases);
}

static void late_bursts_leave_closed_boundaries_where_they_are(void **state)
{
    struct phases *phases = create(8, 100);
    struct phase before[16], after[16];
    uint64_t random = 2, bursts = 0;
    (void)state;
    for (int64_t t = 0; t < 16; t++)
        for (int64_t i = 0; i < 5; i++)
            assert_int_equal(add_at(phases, 1000 * t + 3 * i), 0);
    assert_int_equal(phases_close(phases, 1000000), 0);
    assert_int_equal(phases_closed(phases, 0, before, 16), 16);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(add_at(phases, random_next(&random) % 15000), 0);
    assert_int_equal(phases_close(phases, 1000000), 0);
    assert_int_equal(phases_closed(phases, 0, after, 16), 16);
    assert_int_equal(counts_of(phases).late, 1000);
    assert_int_equal(counts_of(phases).closed, 16);
    for (size_t i = 0; i < 16; i++) {
        assert_true(after[i].id == before[i].id && after[i].begin_ns == before[i].begin_ns &&
                    after[i].end_ns == before[i].end_ns);
        bursts += after[i].bursts;
    }
    assert_int_equal(bursts, 1080);
    phases_destroy(phases);
}

static void gap_is_chosen_between_the_scales_of_the_job(void **state)
{
    struct phases *phases = create(256, 0);
    int64_t times[8192], now = 0;
    size_t count = 0;
    uint64_t random = 31;
    (void)state;
    while (count < 8192)
        count += swap_times(times + count, 8192 - count, 16, false, &now, &random);
    qsort(times, count, sizeof(times[0]), by_time);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(add_at(phases, times[i]), 0);
        assert_int_equal(phases_close(phases, times[i]), 0);
    }
    struct phases_counts counts = counts_of(phases);
    assert_true(counts.gap_ns > MS / 2 && counts.gap_ns < 11 * MS);
    assert_true(counts.closed >= 120); /* of 128 steps, of four stages each */
    phases_destroy(phases);
    phases = create(256, 0); /* nothing to choose between */
    for (int64_t t = 0; t < 3000; t++)
        assert_int_equal(add_at(phases, t * MS), 0);
    assert_int_equal(phases_close(phases, 3000LL * MS), 0);
    phases_destroy(phases);
}

/* ---- bounds -------------------------------------------------------------------------------------------- */

static void folding_keeps_what_is_coarser(void **state)
{
    enum { COUNT = 60000, PHASES = 100 };
    struct phases_params params = {.clusters = 32, .items = 8192, .closed = 16, .gap_ns = MS};
    struct phases *phases, *whole = create(32, MS);
    struct phase folded[PHASES], cut[PHASES];
    uint64_t random = 41;
    int64_t now = 0;
    size_t count;
    (void)state;
    assert_int_equal(phases_create(&phases, &params), 0);
    for (size_t i = 0; i < COUNT; i++) {
        now += i % (COUNT / PHASES) == 0 ? 50 * MS : 1 + random_next(&random) % 1000;
        assert_int_equal(add_at(phases, now), 0);
        assert_int_equal(add_at(whole, now), 0);
        if (i % 100 == 0)
            assert_int_equal(phases_close(phases, now), 0);
    }
    struct phases_counts counts = counts_of(phases);
    assert_true(counts.items <= 8192 && counts.items + counts.folded == COUNT);
    assert_true(counts.closed >= PHASES - 1 && counts.forgotten == counts.closed - 16);
    assert_true(phases_bytes(phases) <= 8192 * 52 + 32 * 160 + 16 * 80 + 8192);
    assert_int_equal(phases_cut_count(phases, EVER, PHASES, folded, &count), 0);
    assert_int_equal(phases_cut_count(whole, EVER, PHASES, cut, &count), 0);
    for (size_t i = 0; i < PHASES; i++) {
        assert_true(folded[i].begin_ns == cut[i].begin_ns);
        assert_true(folded[i].height_ns == cut[i].height_ns);
        assert_true(folded[i].bursts == cut[i].bursts && folded[i].bytes == cut[i].bytes);
        assert_true(folded[i].first_ns == cut[i].first_ns && folded[i].last_ns == cut[i].last_ns);
    }
    phases_destroy(phases);
    phases_destroy(whole);
}

static void what_is_out_of_range_is_refused(void **state)
{
    struct phases *phases = create(8, 0);
    const struct burst bad[] = {{PHASES_TIME_MOST + 1, 0, INT64_MAX, 1, 1},
                                {-PHASES_TIME_MOST - 1, INT64_MIN, 0, 1, 1},
                                {INT64_MIN, INT64_MIN, INT64_MAX, 1, 1},
                                {5, 6, 7, 1, 1},
                                {5, 3, 4, 1, 1}};
    struct phases_params params = PHASES_DEFAULTS;
    struct phases *none = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(phases_add(phases, &bad[i]), -HOLTER_ERANGE);
    assert_int_equal(counts_of(phases).bursts, 0);
    phases_destroy(phases);
    phases_destroy(NULL);
    params.clusters = 7;
    assert_int_equal(phases_create(&none, &params), -HOLTER_ERANGE);
    params = PHASES_DEFAULTS;
    params.items = 16383;
    assert_int_equal(phases_create(&none, &params), -HOLTER_ERANGE);
    params = PHASES_DEFAULTS;
    params.gap_ns = -1;
    assert_int_equal(phases_create(&none, &params), -HOLTER_ERANGE);
}

static int64_t hostile_time(uint32_t kind, uint32_t i, uint64_t *random)
{
    const int64_t most = PHASES_TIME_MOST;
    switch (kind) {
    case 0:
        return 0; /* always the same */
    case 1:
        return most - i; /* backwards */
    case 2:
        return i % 2 == 0 ? most - i : -most + i; /* inwards */
    case 3:
        return i % 2 == 0 ? i : -(int64_t)i; /* outwards */
    case 4:                                  /* gaps that halve */
        return most - (most >> i % 62);
    default:
        return (int64_t)((uint64_t)random_next(random) << 31 ^ random_next(random)) %
               (1 + (most >> random_next(random) % 62));
    }
}

static void hostile_times_break_nothing(void **state)
{
    const struct phases_params params = {.clusters = 16, .items = 8192, .closed = 4, .gap_ns = 0};
    uint64_t random = 77;
    (void)state;
    for (uint32_t kind = 0; kind < 12; kind++) {
        struct phases *phases;
        struct phase cut[50];
        size_t count;
        uint64_t bursts = 0, messages = 0;
        assert_int_equal(phases_create(&phases, &params), 0);
        for (uint32_t i = 0; i < 20000; i++) {
            int64_t t = hostile_time(kind, i, &random);
            const struct burst burst = {t, INT64_MIN, INT64_MAX, i == 0 ? 0 : 1, UINT64_MAX};
            assert_int_equal(phases_add(phases, &burst), 0);
            if (i % 1000 == 0)
                assert_int_equal(phases_close(phases, hostile_time(kind + 1, i, &random)), 0);
        }
        assert_int_equal(phases_close(phases, INT64_MIN), 0);
        assert_int_equal(phases_close(phases, INT64_MAX), 0);
        assert_int_equal(phases_cut_count(phases, EVER, 50, cut, &count), 0);
        for (size_t i = 0; i < count; i++) {
            bursts += cut[i].bursts;
            messages += cut[i].messages;
            assert_true(i == 0 || cut[i].begin_ns >= cut[i - 1].end_ns);
            assert_true(cut[i].bytes == UINT64_MAX);
        }
        assert_int_equal(bursts, 20000);
        assert_int_equal(messages, 19999);
        assert_true(counts_of(phases).items <= 8192 && counts_of(phases).clusters <= 16);
        phases_destroy(phases);
    }
}

static void order_among_a_windows_agents_does_not_matter(void **state)
{
    int64_t times[256];
    struct phase one[256], other[256];
    size_t count, same;
    uint64_t random = 13;
    (void)state;
    random_times(times, 256, 500, &random);
    struct phases *forth = create(512, 0), *back = create(512, 0);
    for (size_t i = 0; i < 256; i++) {
        size_t j = 255 - i;
        const struct burst a = {times[i], times[i] - 1, times[i] + (int64_t)(i % 3), i % 7, i};
        const struct burst b = {times[j], times[j] - 1, times[j] + (int64_t)(j % 3), j % 7, j};
        assert_int_equal(phases_add(forth, &a), 0);
        assert_int_equal(phases_add(back, &b), 0);
    }
    assert_int_equal(phases_cut_count(forth, EVER, 256, one, &count), 0);
    assert_int_equal(phases_cut_count(back, EVER, 256, other, &same), 0);
    assert_int_equal(count, 256);
    assert_int_equal(same, 256);
    assert_memory_equal(one, other, sizeof(one));
    phases_destroy(forth);
    phases_destroy(back);
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
        cmocka_unit_test(cut_by_gap_leaves_what_is_higher),
        cmocka_unit_test(cut_by_count_of_an_interval_takes_its_highest),
        cmocka_unit_test(cuts_of_nothing_are_empty),
        cmocka_unit_test(closed_phases_stay_and_are_those_of_the_batch),
        cmocka_unit_test(dense_stream_is_closed_piece_by_piece),
        cmocka_unit_test(silence_closes_the_last_phase),
        cmocka_unit_test(late_bursts_leave_closed_boundaries_where_they_are),
        cmocka_unit_test(gap_is_chosen_between_the_scales_of_the_job),
        cmocka_unit_test(folding_keeps_what_is_coarser),
        cmocka_unit_test(what_is_out_of_range_is_refused),
        cmocka_unit_test(hostile_times_break_nothing),
        cmocka_unit_test(order_among_a_windows_agents_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
