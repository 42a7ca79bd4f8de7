/* Temporal clustering: what a burst costs, against a batch.
 *
 *   phases_bench [BURSTS]
 *
 * A job of steps of 32 bursts, each a burst of activity, and a pause; times have jitter. Given in
 * three orders: as they were, 1 % of them late by up to 8 steps, and all late by up to two steps.
 * Printed for each:
 *   stream   bursts a second with 4,096 live clusters, closing once a step, and the memory
 *   batch    what a program would take that keeps all times, sorts them and merges with a heap of
 *            gaps, once
 *   cut      a cut of all into 1,000 phases; and after one burst more, when live clusters have to
 *            be merged anew
 *   agree    boundaries of the cuts into as many phases as there are steps that are the batch's */
#include "daemon/analysis/phases/phases.h"
#include "tests/bench/bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP 32u
#define STEP_NS 1000000000

struct arrival {
    int64_t at_ns, time_ns;
};

static int by_arrival(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static int by_time(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* @return owned times in the order in which they arrive */
static int64_t *make_times(size_t count, uint32_t late_in, int64_t late_ns)
{
    struct arrival *all = malloc(count * sizeof(*all));
    int64_t *times = malloc(count * sizeof(*times));
    uint64_t random = 1;
    for (size_t i = 0; i < count; i++) {
        int64_t within = (int64_t)(i % STEP) * (STEP_NS / 2 / STEP);
        int64_t t = (int64_t)(i / STEP) * STEP_NS + within + bench_next(&random) % 10000000;
        bool late = late_in > 0 && bench_next(&random) % late_in == 0;
        int64_t delay = late ? (int64_t)((double)late_ns * bench_next(&random) / 4294967296.0) : 0;
        all[i] = (struct arrival){t + delay, t};
    }
    qsort(all, count, sizeof(*all), by_arrival);
    for (size_t i = 0; i < count; i++)
        times[i] = all[i].time_ns;
    free(all);
    return times;
}

/* ---- the batch: a heap of gaps, with those left in it that are gone ------------- */

struct gap {
    int64_t gap;
    uint32_t right, version;
};

struct batch {
    struct gap *heap;
    size_t count;
    int64_t *mean, *height;
    uint32_t *before, *after, *version;
};

static bool is_less(const struct gap *a, const struct gap *b)
{
    return a->gap != b->gap ? a->gap < b->gap : a->right < b->right;
}

static void push(struct batch *b, uint32_t right)
{
    struct gap one = {b->mean[right] - b->mean[b->before[right]], right, ++b->version[right]};
    size_t at = b->count++;
    for (; at > 0 && is_less(&one, &b->heap[(at - 1) / 2]); at = (at - 1) / 2)
        b->heap[at] = b->heap[(at - 1) / 2];
    b->heap[at] = one;
}

static struct gap pop(struct batch *b)
{
    struct gap top = b->heap[0], one = b->heap[--b->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < b->count; at = child) {
        child += child + 1 < b->count && is_less(&b->heap[child + 1], &b->heap[child]);
        if (!is_less(&b->heap[child], &one))
            break;
        b->heap[at] = b->heap[child];
    }
    b->heap[at] = one;
    return top;
}

/* @return seconds; sorts the times, and fills in the height of the boundary before each */
static double batch_run(int64_t *times, int64_t *height, size_t count)
{
    double begin = bench_seconds();
    struct batch b = {.heap = malloc(3 * count * sizeof(*b.heap)),
                      .mean = malloc(count * sizeof(*b.mean)),
                      .before = malloc(count * sizeof(uint32_t)),
                      .after = malloc(count * sizeof(uint32_t)),
                      .version = calloc(count, sizeof(uint32_t))};
    qsort(times, count, sizeof(*times), by_time);
    memcpy(b.mean, times, count * sizeof(*times));
    height[0] = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        b.before[i] = i - 1;
        b.after[i] = i + 1;
        if (i > 0)
            push(&b, i);
    }
    while (b.count > 0) {
        struct gap top = pop(&b);
        if (b.version[top.right] != top.version)
            continue;
        uint32_t left = b.before[top.right], after = b.after[top.right];
        height[top.right] = top.gap;
        b.version[top.right]++;
        b.mean[left] += top.gap / 2;
        b.after[left] = after;
        if (after < count) {
            b.before[after] = left;
            push(&b, after);
        }
        if (left > 0)
            push(&b, left);
    }
    free(b.heap);
    free(b.mean);
    free(b.before);
    free(b.after);
    free(b.version);
    return bench_seconds() - begin;
}

/* ---- what is measured ----------------------------------------------------------- */

static int descending(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a < *b) - (*a > *b);
}

/* Share of the boundaries of a cut that the batch has too, of those that are not ties. */
static double agreement(struct phases *phases, const int64_t *times, const int64_t *height,
                        size_t count, size_t wanted)
{
    struct phase *cut = malloc(wanted * sizeof(*cut));
    int64_t *sorted = malloc(count * sizeof(*sorted));
    size_t got, same = 0, phase = 0;
    memcpy(sorted, height, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), descending);
    bench_check(phases_cut_count(phases, INT64_MIN, INT64_MAX, wanted, cut, &got), "cut");
    for (size_t i = 0; i < count && phase < got; i++) {
        if (times[i] != cut[phase].begin_ns)
            continue;
        same += height[i] >= sorted[wanted - 1];
        phase++;
    }
    free(cut);
    free(sorted);
    return (double)same / (double)got;
}

static double cut_time(struct phases *phases)
{
    static struct phase cut[1000];
    size_t got;
    double begin = bench_seconds();
    bench_check(phases_cut_count(phases, INT64_MIN, INT64_MAX, 1000, cut, &got), "cut");
    return bench_seconds() - begin;
}

static void run(const char *name, size_t count, uint32_t late_in, int64_t late_ns)
{
    int64_t *times = make_times(count, late_in, late_ns), newest = INT64_MIN;
    int64_t *height = malloc(count * sizeof(*height));
    struct phases_params params = PHASES_DEFAULTS;
    struct phases *phases;
    struct phases_counts counts;
    size_t heap = bench_heap();
    bench_check(phases_create(&phases, &params), "create");
    double begin = bench_seconds();
    for (size_t i = 0; i < count; i++) {
        const struct burst burst = {times[i], times[i], times[i], 1, 1000};
        bench_check(phases_add(phases, &burst), "add");
        newest = times[i] > newest ? times[i] : newest;
        if (i % STEP == 0)
            bench_check(phases_close(phases, newest - late_ns), "close");
    }
    double took = bench_seconds() - begin;
    heap = bench_heap() - heap;
    phases_count(phases, &counts);
    int64_t last = newest + STEP_NS;
    double first_cut = cut_time(phases), cut = cut_time(phases);
    double batch = batch_run(times, height, count);
    printf(
        "%s: %zu bursts\n  stream %.2f million a second, %.1f MB (%llu joined, %llu forced, %llu "
        "late, %llu closed, gap %.0f ms)\n",
        name, count, 1e-6 * (double)count / took, 1e-6 * (double)heap,
        (unsigned long long)counts.joined, (unsigned long long)counts.forced,
        (unsigned long long)counts.late, (unsigned long long)counts.closed,
        1e-6 * (double)counts.gap_ns);
    printf("  batch %.2f million a second, once: the stream takes %.2f of its time\n",
           1e-6 * (double)count / batch, took / batch);
    printf("  agree %.4f\n", agreement(phases, times, height, count, count / STEP));
    bench_check(phases_add(phases, &(struct burst){last, last, last, 1, 1}), "add");
    printf("  cut %.2f ms, after a burst %.2f ms, first %.2f ms\n", 1e3 * cut,
           1e3 * cut_time(phases), 1e3 * first_cut);
    phases_destroy(phases);
    free(times);
    free(height);
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 1000000;
    count = count < 100000 ? 100000 : count;
    run("in order", count, 0, 0);
    run("1 % late", count, 100, 8LL * STEP_NS);
    run("all late", count, 1, 2LL * STEP_NS);
    return 0;
}
