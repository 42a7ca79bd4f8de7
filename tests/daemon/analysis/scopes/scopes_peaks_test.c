/* What is reached by chance, from the peaks of noise. */
#include "daemon/analysis/scopes/scopes_state.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define WINDOWS 4000u
#define PEAKS 3u /* in a window */
#define FIRST 5.0

/* Numbers from 0 to 1, exclusive, that fill it evenly. */
static double uniform_next(double *at)
{
    *at = fmod(*at + 0.6180339887498949, 1);
    return fmax(*at, 1e-12);
}

static void peaks_learn(struct scope_peaks *p, double mean)
{
    double at = 0.5;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        for (uint32_t i = 0; i < PEAKS; i++)
            scope_peaks_add(p, -mean * log(uniform_next(&at)));
        scope_peaks_end_window(p);
    }
}

/* Of exponential peaks, e^-x/mean of each are above x. */
static void exponential_peaks_reach_as_far_as_their_distribution_says(void **state)
{
    static const double means[] = {0.1, 2, 30};
    (void)state;
    for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
        struct scope_peaks p;
        scope_peaks_init(&p, means[i]);
        peaks_learn(&p, means[i]);
        const double expected = means[i] * log(PEAKS / SCOPE_FALSE_RATE);
        assert_true(fabs(scope_peaks_reach(&p, SCOPE_FALSE_RATE) / expected - 1) < 0.03);
    }
}

static void what_is_below_the_floor_is_no_peak(void **state)
{
    (void)state;
    struct scope_peaks p;
    scope_peaks_init(&p, FIRST);
    scope_peaks_add(&p, -1);
    scope_peaks_add(&p, 0);
    assert_true(p.count >= 1 && p.count <= 1);
    assert_true(p.excess >= FIRST && p.excess <= FIRST);
}

static void a_job_without_peaks_reaches_less_with_every_window(void **state)
{
    (void)state;
    struct scope_peaks p;
    scope_peaks_init(&p, FIRST);
    const double first = scope_peaks_reach(&p, SCOPE_FALSE_RATE);
    for (uint32_t w = 0; w < WINDOWS; w++)
        scope_peaks_end_window(&p);
    assert_true(scope_peaks_reach(&p, SCOPE_FALSE_RATE) < 0.7 * first);
    for (uint32_t w = 0; w < 500 * WINDOWS; w++)
        scope_peaks_end_window(&p);
    assert_true(scope_peaks_reach(&p, SCOPE_FALSE_RATE) >= 0);
}

/* A fault that ends by itself before it is found does not hide the next one. */
static void a_single_peak_counts_no_more_than_some_times_the_mean(void **state)
{
    (void)state;
    struct scope_peaks p, other;
    scope_peaks_init(&p, 1);
    peaks_learn(&p, 1);
    other = p;
    scope_peaks_add(&p, 1e6);
    assert_true(p.excess > other.excess);
    const double before = scope_peaks_reach(&other, SCOPE_FALSE_RATE);
    assert_true(scope_peaks_reach(&p, SCOPE_FALSE_RATE) < 1.01 * before);
}

/* Peaks of a window are learned in whatever order they come. */
static void the_order_of_the_peaks_of_a_window_changes_nothing(void **state)
{
    static const double excesses[] = {0.3, 40, 1.7, 1e-3, 900, 2};
    (void)state;
    struct scope_peaks p, other;
    scope_peaks_init(&p, 1);
    scope_peaks_init(&other, 1);
    for (size_t i = 0; i < 6; i++) {
        scope_peaks_add(&p, excesses[i]);
        scope_peaks_add(&other, excesses[5 - i]);
    }
    assert_memory_equal(&p, &other, sizeof(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_peaks_reach_as_far_as_their_distribution_says),
        cmocka_unit_test(what_is_below_the_floor_is_no_peak),
        cmocka_unit_test(a_job_without_peaks_reaches_less_with_every_window),
        cmocka_unit_test(a_single_peak_counts_no_more_than_some_times_the_mean),
        cmocka_unit_test(the_order_of_the_peaks_of_a_window_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
