/* Phases of recorded runs: phases_recordings_test recorded_events.txt */
#include "daemon/analysis/phases/phases.h"

#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/daemon/analysis/phases/cuts.h"

#define RUNS 2u

static struct run {
    size_t count;
    int64_t *times; /* ascending */
} runs[RUNS];

static int read_number(FILE *file, int64_t *out)
{
    char comment[2];
    while (fscanf(file, "%ld", out) != 1)
        if (fscanf(file, " %1[#]%*[^\n]", comment) != 1)
            return -1;
    return 0;
}

static int read_runs(const char *path)
{
    FILE *file = fopen(path, "r");
    int rc = file == NULL;
    for (size_t r = 0; rc == 0 && r < RUNS; r++) {
        int64_t count = 0, now = 0;
        rc = read_number(file, &count) != 0 || count < 1 || count > 100000;
        runs[r].times = rc == 0 ? calloc((size_t)count, sizeof(int64_t)) : NULL;
        while (rc == 0 && runs[r].count < (size_t)count) {
            int64_t gap = 0;
            rc = read_number(file, &gap);
            runs[r].times[runs[r].count++] = now += gap;
        }
    }
    if (file != NULL)
        fclose(file);
    return rc;
}

static int64_t *late_times(const struct run *run, int64_t late_ns, uint64_t *random)
{
    int64_t *times = malloc(run->count * sizeof(*times));
    memcpy(times, run->times, run->count * sizeof(*times));
    delay(times, run->count, late_ns, random);
    return times;
}

/* Calls of two ranks at the same nanosecond are one item. */
static void assert_cuts_are_those_of_the_batch(struct phases *phases, const struct batch *batch)
{
    size_t items = counts_of(phases).items, got;
    struct phase *cut = malloc(items * sizeof(*cut));
    bool *stands = malloc(batch->count * sizeof(*stands));
    for (size_t k = items; k > 0; k -= 1 + k / 16) {
        assert_int_equal(phases_cut_count(phases, EVER, k, cut, &got), 0);
        assert_is_cut(batch, k, cut, got, stands);
    }
    free(cut);
    free(stands);
}

static void tree_of_a_recorded_run_is_that_of_the_batch(void **state)
{
    static const int64_t late_ns[2] = {0, 1000 * MS}; /* longer than the runs: in any order */
    uint64_t random = 5;
    (void)state;
    for (size_t r = 0; r < RUNS; r++) {
        struct batch batch;
        uint32_t clusters = (uint32_t)runs[r].count + 8;
        batch_run(&batch, runs[r].times, runs[r].count);
        for (size_t i = 0; i < 2; i++) {
            int64_t *times = late_times(&runs[r], late_ns[i], &random);
            struct phases *phases = fill(clusters, times, runs[r].count);
            assert_cuts_are_those_of_the_batch(phases, &batch);
            phases_destroy(phases);
            free(times);
        }
        batch_finish(&batch);
    }
}

/* As late as ranks of one host may be against each other in a run of 35 ms. */
static void cuts_with_a_64th_of_the_events_as_clusters_are_those_of_the_batch(void **state)
{
    static const int64_t late_ns[3] = {0, MS / 100, MS / 10};
    const struct run *run = &runs[1];
    uint64_t random = 9;
    struct batch batch;
    (void)state;
    batch_run(&batch, run->times, run->count);
    for (size_t i = 0; i < 3; i++) {
        int64_t *times = late_times(run, late_ns[i], &random);
        struct phases *phases = fill((uint32_t)run->count / 64, times, run->count);
        assert_true(counts_of(phases).clusters <= run->count / 64);
        assert_int_equal(counts_of(phases).forced, 0);
        assert_cuts_are_those_of_the_batch(phases, &batch);
        phases_destroy(phases);
        free(times);
    }
    batch_finish(&batch);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_of_a_recorded_run_is_that_of_the_batch),
        cmocka_unit_test(cuts_with_a_64th_of_the_events_as_clusters_are_those_of_the_batch),
    };
    if (argc != 2 || read_runs(argv[1]) != 0) {
        fprintf(stderr, "phases_recordings_test: cannot read recorded_events.txt\n");
        return 99;
    }
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t r = 0; r < RUNS; r++)
        free(runs[r].times);
    return rc;
}
