/* Phases of recorded runs: phases_recordings_test recorded_events.txt */
#include "daemon/analysis/phases.h"

#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/daemon/analysis/cuts.h"

#define RUNS 2u

static struct run {
    size_t count;
    int64_t *times; /* ascending */
} runs[RUNS];

static int read_number(FILE *file, int64_t *out)
{
    char line[256];
    while (fgets(line, sizeof(line), file) != NULL)
        if (line[0] != '#')
            return sscanf(line, "%ld", out) == 1 ? 0 : -1;
    return -1;
}

static int read_runs(const char *path)
{
    FILE *file = fopen(path, "r");
    int rc = file == NULL;
    for (size_t r = 0; rc == 0 && r < RUNS; r++) {
        int64_t count = 0;
        rc = read_number(file, &count) != 0 || count < 1 || count > 100000;
        runs[r].times = rc == 0 ? calloc((size_t)count, sizeof(int64_t)) : NULL;
        for (; rc == 0 && runs[r].count < (size_t)count; runs[r].count++)
            rc = read_number(file, &runs[r].times[runs[r].count]);
    }
    if (file != NULL)
        fclose(file);
    return rc;
}

static void tree_of_a_recorded_run_is_that_of_the_batch(void **state)
{
    (void)state;
    for (size_t r = 0; r < RUNS; r++) {
        struct run *run = &runs[r];
        int64_t *times = malloc(run->count * sizeof(*times));
        uint64_t random = 5;
        for (int late = 0; late < 2; late++) {
            memcpy(times, run->times, run->count * sizeof(*times));
            delay(times, run->count, late * 1000 * MS,
                  &random); /* longer than the run: any order */
            struct phases *phases =
                fill((uint32_t)(run->count < 8 ? 8 : run->count), times, run->count);
            assert_int_equal(counts_of(phases).joined, 0);
            assert_is_batch(phases, times, run->count, 1);
            phases_destroy(phases);
        }
        free(times);
    }
}

/* Gaps of this run shrink over so many scales that fewer clusters do not do: with 28 a merge is forced, and with 14,
 * a 64th of the events, more than half of them are, and cuts are others than the batch's. */
#define CLUSTERS 32u

/* In order, and as late as windows of nodes may be against each other in so short a run. */
static void cuts_of_a_recorded_run_with_few_clusters_are_those_of_the_batch(void **state)
{
    static const int64_t late_ns[3] = {0, MS / 100, MS / 10};
    const struct run *run = &runs[1];
    int64_t *times = malloc(run->count * sizeof(*times));
    uint64_t random = 9;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        memcpy(times, run->times, run->count * sizeof(*times));
        delay(times, run->count, late_ns[i], &random);
        struct phases *phases = fill(CLUSTERS, times, run->count);
        assert_true(counts_of(phases).clusters <= CLUSTERS);
        assert_int_equal(counts_of(phases).forced, 0);
        for (size_t k = 2; k <= run->count / 4; k += 1 + k / 8)
            assert_true(agreement(phases, times, run->count, k) >= (i == 0 ? 1 - 1e-12 : 0.95));
        phases_destroy(phases);
    }
    free(times);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_of_a_recorded_run_is_that_of_the_batch),
        cmocka_unit_test(cuts_of_a_recorded_run_with_few_clusters_are_those_of_the_batch),
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
