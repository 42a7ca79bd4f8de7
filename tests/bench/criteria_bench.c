/* Histograms of times against what they stand for, and the trend of a series.
 *
 * Updates: one time goes into one of 64 histograms (a job's localities and size classes), from
 * memory; the reference is the same count in plain arrays with a counter for every class of times.
 * Medians: of a million times by histogram (counting included) and exactly, by sorting the same
 * times with qsort(); the error is relative to the exact one. Runs of both alternate; medians of
 * the runs are printed. Then what closing a window of the criteria and an update of a trend cost,
 * and how often noise of many kinds alarms in a simulated day. */
#include "daemon/analysis/latency/criteria.h"
#include "daemon/analysis/latency/histogram.h"
#include "daemon/analysis/latency/trend.h"
#include "holter/clock.h"
#include "holter/order.h"
#include "holter/size_class.h"
#include "tests/bench/bench.h"
#include "tests/daemon/analysis/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES 1000000u
#define HISTOGRAMS 64u
#define RUNS 15

static uint64_t times[TIMES], sorted[TIMES];

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), order_doubles);
    return values[count / 2];
}

static void make_times(void)
{
    struct noise noise = {1};
    for (uint32_t i = 0; i < TIMES; i++) {
        double ns = 2000 * exp(0.8 * noise_gauss(&noise));
        times[i] = (uint64_t)(i % 20 == 0 ? 30 * ns : ns);
    }
}

static double seconds_since(uint64_t start)
{
    return (double)(clock_mono_ns() - start) / 1e9;
}

static void bench_updates(void)
{
    static struct histogram histograms[HISTOGRAMS];
    static uint64_t plain[HISTOGRAMS][TIME_CLASSES];
    double ours[RUNS], arrays[RUNS];
    for (int run = 0; run < RUNS; run++) {
        uint64_t start = clock_mono_ns();
        for (uint32_t i = 0; i < TIMES; i++)
            (void)histogram_add(&histograms[i % HISTOGRAMS], time_class_of(times[i]), 1);
        ours[run] = seconds_since(start);
        start = clock_mono_ns();
        for (uint32_t i = 0; i < TIMES; i++)
            plain[i % HISTOGRAMS][time_class_of(times[i])]++;
        arrays[run] = seconds_since(start);
    }
    size_t bytes = sizeof(histograms) + bench_heap();
    for (uint32_t i = 0; i < HISTOGRAMS; i++)
        histogram_finish(&histograms[i]);
    bytes -= bench_heap();
    double rate = TIMES / median_of(ours, RUNS) / 1e6;
    double plain_rate = TIMES / median_of(arrays, RUNS) / 1e6;
    printf("histogram updates      %8.0f million/s   (target 50; plain arrays: %.0f, ratio %.2f)\n",
           rate, plain_rate, rate / plain_rate);
    printf("memory of %u of them   %8.0f KB          (plain arrays: %.0f KB, ratio %.2f)\n",
           HISTOGRAMS, (double)bytes / 1024, sizeof(plain) / 1024.0,
           (double)bytes / (double)sizeof(plain));
}

static void bench_medians(void)
{
    double ours[RUNS], exact[RUNS], error = 0;
    for (int run = 0; run < RUNS; run++) {
        struct histogram histogram = {0};
        uint64_t start = clock_mono_ns();
        for (uint32_t i = 0; i < TIMES; i++)
            (void)histogram_add(&histogram, time_class_of(times[i]), 1);
        double got = histogram_quantile(&histogram, 0.5);
        ours[run] = seconds_since(start);
        histogram_finish(&histogram);
        memcpy(sorted, times, sizeof(sorted));
        start = clock_mono_ns();
        qsort(sorted, TIMES, sizeof(*sorted), order_u64);
        double right = (double)(sorted[TIMES / 2 - 1] + sorted[TIMES / 2]) / 2;
        exact[run] = seconds_since(start);
        error = fmax(error, fabs(got / right - 1));
    }
    double took = median_of(ours, RUNS), reference = median_of(exact, RUNS);
    printf("median of a million    %8.2f ms          (exact, qsort(): %.1f ms, %.0f times; error "
           "%.2f %%, bound 0.8 %%)\n",
           took * 1e3, reference * 1e3, reference / took, 100 * error);
}

static void bench_close(void)
{
    struct criteria *criteria;
    struct criteria_params params = CRITERIA_DEFAULTS;
    if (criteria_create(&criteria, &params) != 0)
        return;
    struct noise noise = {2};
    double took[300];
    for (uint64_t w = 0; w < 300; w++) {
        for (uint32_t i = 0; i < 20000; i++) {
            unsigned size_class = 40u + 16u * (unsigned)(noise_uint(&noise) % 20);
            (void)criteria_add(criteria, i % 2, size_class, time_class_of(times[i * 37u % TIMES]),
                               1);
        }
        uint64_t start = clock_mono_ns();
        (void)criteria_close(criteria, w);
        took[w] = seconds_since(start);
    }
    size_t bytes = bench_heap();
    criteria_destroy(criteria);
    bytes -= bench_heap();
    printf("criteria, a window     %8.0f us          (40 classes, 20,000 messages; %.1f MB)\n",
           median_of(took, 300) * 1e6, (double)bytes / 1e6);
}

enum kind { GAUSS, STUDENT, LAPLACE, SPIKES, KINDS };
static const char *const names[KINDS] = {"normal", "Student, 5", "Laplace", "spikes, 1 %"};

static double innovation(struct noise *noise, enum kind kind)
{
    double u;
    if (kind == STUDENT)
        return noise_student(noise, 5);
    if (kind != LAPLACE)
        return noise_gauss(noise);
    u = noise_uniform(noise) - 0.5;
    return (u < 0 ? 1 : -1) * log(1 - 2 * fabs(u)) / sqrt(2);
}

/* Alarms in a day of windows of one second; the time that updates took is added up. */
static int alarms_a_day(enum kind kind, double phi, double sd, uint64_t seed, double *took)
{
    struct trend *trend;
    struct trend_params params = TREND_DEFAULTS;
    struct trend_result result;
    struct noise noise = {seed};
    static double values[86400];
    int alarms = 0, alarmed = 0;
    double y = 0;
    for (int w = 0; w < 86400; w++) {
        y = phi * y + sqrt(1 - phi * phi) * sd * innovation(&noise, kind);
        values[w] = exp(y);
        if (kind == SPIKES && noise_uniform(&noise) < 0.01)
            values[w] *= 2 + 18 * noise_uniform(&noise);
    }
    if (trend_create(&trend, &params) != 0)
        return 0;
    uint64_t start = clock_mono_ns();
    for (uint64_t w = 0; w < 86400; w++) {
        (void)trend_update(trend, w, values[w], 100);
        trend_result(trend, &result);
        alarms += result.state != TREND_STATE_CALM && !alarmed;
        alarmed = result.state != TREND_STATE_CALM;
    }
    *took += seconds_since(start);
    trend_destroy(trend);
    return alarms;
}

static void bench_trend(void)
{
    static const double phis[] = {0.5, 0.7, 0.9}, sds[] = {0.05, 0.1, 0.2};
    double took = 0;
    int days = 0;
    printf("false alarms a day, by standard deviation of the logarithm\n");
    for (int kind = 0; kind < KINDS; kind++) {
        for (int p = 0; p < 3; p++) {
            printf("  %-12s correlation %.1f ", names[kind], phis[p]);
            for (int d = 0; d < 3; d++) {
                int alarms = 0;
                for (uint64_t seed = 1; seed <= 2; seed++, days++)
                    alarms += alarms_a_day((enum kind)kind, phis[p], sds[d], 7 * seed + 1, &took);
                printf("   %.2f: %.1f", sds[d], alarms / 2.0);
            }
            printf("\n");
        }
    }
    printf("trend, an update       %8.1f us\n", took * 1e6 / (86400.0 * days));
}

int main(void)
{
    make_times();
    bench_updates();
    bench_medians();
    bench_close();
    bench_trend();
    return 0;
}
