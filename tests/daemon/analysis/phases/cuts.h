/* Cuts of phases against those of the batch. Include after cmocka. */
#ifndef TESTS_DAEMON_ANALYSIS_PHASES_CUTS_H
#define TESTS_DAEMON_ANALYSIS_PHASES_CUTS_H

#include "tests/daemon/analysis/phases/bursts.h"

static inline struct phases *fill(uint32_t clusters, const int64_t *times, size_t count)
{
    struct phases *phases = create(clusters, 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(add_at(phases, times[i]), 0);
    return phases;
}

/* stands[i]: the boundary before i stands in the cut at `phases`. */
static inline void batch_cut(const struct batch *b, size_t phases, bool *stands)
{
    memset(stands, true, b->count);
    for (size_t i = 0; i + phases < b->count; i++)
        stands[b->order[i]] = false;
}

static inline void assert_is_cut(const struct batch *b, size_t wanted, const struct phase *cut,
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
static inline void assert_is_batch(struct phases *phases, const int64_t *times, size_t count,
                                   size_t step)
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

/* Adjusted Rand index of two labellings (Hubert and Arabie 1985). Labels are ascending. */
static inline double rand_index(const uint32_t *a, const uint32_t *b, size_t count)
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

static inline double agreement(struct phases *phases, const int64_t *times, size_t count, size_t k)
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

#endif
