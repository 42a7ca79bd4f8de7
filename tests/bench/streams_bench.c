/* Is it found when one stream of messages between two nodes takes longer, and is it silent before?
 *
 *   streams_bench [SEEDS [FIRST]]
 *
 * Each line is a kind of noise, and how many times as long messages take from the onset on. Printed
 * are the findings in the 36 and in the 900 windows before the onset, all together, and how many of
 * the streams were found within five and within ten windows of it. See stream_job.h. */
#include "tests/daemon/analysis/scopes/stream_job.h"

#include <stdio.h>
#include <stdlib.h>

static const struct stream_params cases[] = {
    {.messages = 200, .noise = 0.15, .factor = 2},
    {.messages = 200, .noise = 0.15, .factor = 3},
    {.messages = 200, .noise = 0.3, .factor = 2},
    {.messages = 200, .noise = 0.3, .factor = 3},
    {.messages = 200, .noise = 0.3, .lag = 0.5, .factor = 3},
    {.messages = 200, .noise = 0.3, .lag = 0.8, .factor = 3},
    {.messages = 200, .noise = 0.2, .outliers = 0.03, .factor = 3},
    {.messages = 4, .noise = 0.15, .factor = 2},
    {.messages = 1, .noise = 0.3, .lag = 0.5, .factor = 3},
};

static void bench_onset(struct stream_params params, uint64_t seeds, uint64_t first)
{
    uint32_t false_alarms = 0, in_five = 0, in_ten = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        params.seed = seed;
        const struct stream_result result = stream_job_judge(&params, 10);
        false_alarms += result.false_alarms;
        in_five += result.found > 0 && result.found <= 5;
        in_ten += result.found > 0;
    }
    printf("   %4u windows: %3u findings before, found in 5 %5.1f %%, in 10 %5.1f %%\n",
           params.onset, false_alarms, 100.0 * in_five / (double)seeds,
           100.0 * in_ten / (double)seeds);
}

int main(int argc, char **argv)
{
    static const uint32_t onsets[] = {36, 900};
    const uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (seeds == 0 || first == 0) {
        fputs("usage: streams_bench [SEEDS [FIRST]], both above 0\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stream_params params = cases[i];
        printf("%u messages a window, noise %.2f, lag %.1f, outliers %.0f %%, %.0fx\n",
               params.messages, params.noise, params.lag, 100 * params.outliers, params.factor);
        for (size_t k = 0; k < sizeof(onsets) / sizeof(onsets[0]); k++) {
            params.onset = onsets[k];
            bench_onset(params, seeds, first);
        }
    }
    return 0;
}
