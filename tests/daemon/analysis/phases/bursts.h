/* Bursts for the tests of phases, and the batch they are compared with. Include after cmocka. */
#ifndef TESTS_DAEMON_ANALYSIS_PHASES_BURSTS_H
#define TESTS_DAEMON_ANALYSIS_PHASES_BURSTS_H

#include "daemon/analysis/phases/phases.h"
#include "tests/daemon/analysis/regions/graphs.h"

#include <string.h>

#define MS 1000000
/** The interval of a cut. */
#define EVER INT64_MIN, INT64_MAX

/* ---- the batch reference: look at all neighbours, merge the nearest, begin again ---- */

struct batch {
    size_t count;
    int64_t *time;   /* ascending */
    int64_t *height; /* of the boundary before each */
    size_t *order;   /* boundaries in the order they went */
};

static inline int by_time(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static inline void batch_run(struct batch *b, const int64_t *times, size_t count)
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

static inline void batch_finish(struct batch *b)
{
    free(b->time);
    free(b->height);
    free(b->order);
}

/* ---- what is tested ------------------------------------------------------------- */

static inline struct phases *create(uint32_t clusters, int64_t gap_ns)
{
    struct phases_params params = PHASES_DEFAULTS;
    struct phases *phases;
    params.clusters = clusters;
    params.gap_ns = gap_ns;
    assert_int_equal(phases_create(&phases, &params), 0);
    return phases;
}

static inline int add_at(struct phases *phases, int64_t time_ns)
{
    return phases_add(phases, &(struct burst){time_ns, time_ns - 1, time_ns + 1, 2, 10});
}

static inline struct phases_counts counts_of(const struct phases *phases)
{
    struct phases_counts counts;
    phases_count(phases, &counts);
    return counts;
}

/* Times with a spread of scales: nearly all distinct, or full of ties and duplicates. */
static inline void random_times(int64_t *times, size_t count, int64_t range, uint64_t *random)
{
    for (size_t i = 0; i < count; i++) {
        int64_t scale = range >> random_next(random) % 8;
        times[i] = (int64_t)(random_next(random) % (uint32_t)(scale + 1)) - range / 4;
    }
}

/* ---- binary swap and 2-3 swap (CommGram, Fig. 3 and 4) ------------------------------- */

static inline int64_t jitter(uint64_t *random, int64_t most)
{
    return (int64_t)(random_next(random) % (uint32_t)(2 * most + 1)) - most;
}

/* One compositing: in each stage groups of two, or of three, exchange among themselves.
 * @return how many messages were written */
static inline size_t swap_times(int64_t *times, size_t capacity, uint32_t ranks, bool threes,
                                int64_t *now, uint64_t *random)
{
    size_t count = 0;
    for (uint32_t left = ranks; left > 1;) {
        uint32_t group = threes && left % 2 == 1 ? 3 : 2;
        left = group == 2 ? left / 2 : (left + 2) / 3;
        for (uint32_t m = 0; m < ranks * (group - 1) && count < capacity; m++)
            times[count++] = *now + jitter(random, 200000);
        *now += 2 * MS + jitter(random, MS / 2);
    }
    *now += 10 * MS; /* the simulation's next step */
    return count;
}

/* Order of arrival: as much as late_ns after the time itself. */
static inline void delay(int64_t *times, size_t count, int64_t late_ns, uint64_t *random)
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

#endif
