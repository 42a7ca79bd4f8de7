/* The trend of the typical latency and of the mean, together. */
#include "daemon/analysis/latency/latency_trend.h"

#include "holter/error.h"
#include "tests/daemon/analysis/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MESSAGES 1000u
#define CLASS 40u /* a size class of some messages */
#define CRITERION 10000.0

/* The reference is CRITERION by this. */
static double reference_by = 1;

/* Rows of a window: most messages take about the criterion, some many times as long. */
static struct latency_sum window_of(struct noise *noise, double all, double share, double times)
{
    struct latency_groups groups = {.region_count = 0};
    static struct latency_scale scale;
    scale.recent[LOCALITY_INTER][CLASS] = CRITERION;
    scale.reference[LOCALITY_INTER][CLASS] = CRITERION / reference_by;
    scale.moved[LOCALITY_INTER][CLASS] = -log2(reference_by);
    struct transfers rows = {0};
    for (uint32_t i = 0; i < MESSAGES; i++) {
        double ns = CRITERION * all * exp(0.3 * noise_gauss(noise));
        if (noise_uniform(noise) < share)
            ns *= times;
        struct transfer row = {.source = 0,
                               .destination = 1,
                               .size_class = CLASS,
                               .locality = LOCALITY_INTER,
                               .messages = 1,
                               .transfer_ns = (uint64_t)ns,
                               .log2_sum = (uint64_t)(log2(ns) * 65536)};
        assert_int_equal(transfers_add(&rows, &row), 0);
    }
    latency_add(&groups, &scale, &rows);
    transfers_finish(&rows);
    return groups.job;
}

/* Windows until it is no longer calm, after so many calm ones; 0: not calm before. */
static unsigned seen_after(uint64_t seed, double all, double share, double times)
{
    struct latency_trend *trend;
    struct trend_result result = {0};
    struct noise noise = {seed};
    unsigned took = 0;
    assert_int_equal(latency_trend_create(&trend, 1), 0);
    for (uint64_t w = 0; w < 60; w++) {
        struct latency_sum sum = window_of(&noise, 1, 0.001, 50); /* what a scheduler does */
        latency_trend_update(trend, w, &sum, &result);
        assert_int_equal(result.state, TREND_STATE_CALM);
    }
    while (result.state == TREND_STATE_CALM && took < 50) {
        struct latency_sum sum = window_of(&noise, all, share, times);
        latency_trend_update(trend, 60 + took++, &sum, &result);
    }
    if (result.state != TREND_STATE_CALM) {
        assert_in_range(result.onset, 58, 62);
        assert_true(result.ratio > 1.2);
    }
    latency_trend_destroy(trend);
    return took;
}

static void what_befalls_all_messages_is_seen(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        assert_in_range(seen_after(seed, 2, 0.001, 50), 1, 3);
}

/* The geometric mean of these is 1.17 times that of the calm: too little to be reported. */
static void what_befalls_a_few_messages_badly_is_seen(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        assert_in_range(seen_after(seed, 1, 0.04, 150), 1, 3);
}

static void calm_stays_calm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        assert_int_equal(seen_after(seed, 1, 0.001, 50), 50);
}

/* In four windows the reference becomes half of what it was, and all latencies by it twice. */
static void a_better_reference_is_no_growth(void **state)
{
    (void)state;
    struct latency_trend *trend;
    struct trend_result result = {0};
    struct noise noise = {7};
    assert_int_equal(latency_trend_create(&trend, 1), 0);
    for (uint64_t w = 0; w < 200; w++) {
        reference_by *= w >= 100 && w < 104 ? exp2(0.25) : 1;
        struct latency_sum sum = window_of(&noise, 1, 0.001, 50);
        latency_trend_update(trend, w, &sum, &result);
        assert_int_equal(result.state, TREND_STATE_CALM);
    }
    assert_true(fabs(result.level - 2) < 0.1);
    assert_true(fabs(result.base - 2) < 0.1);
    assert_true(fabs(result.ratio - 1) < 0.05);
    reference_by = 1;
    latency_trend_destroy(trend);
}

/* Other messages of its class are not. */
static void a_reference_that_gets_better_while_a_group_is_silent_is_no_growth(void **state)
{
    (void)state;
    struct latency_trend *trend;
    struct trend_result result = {0};
    struct noise noise = {7};
    assert_int_equal(latency_trend_create(&trend, 1), 0);
    for (uint64_t w = 0; w < 200; w++) {
        reference_by *= w >= 100 && w < 104 ? exp2(0.25) : 1;
        struct latency_sum sum = {0};
        if (w < 100 || w >= 104)
            sum = window_of(&noise, 1, 0.001, 50);
        latency_trend_update(trend, w, &sum, &result);
        assert_int_equal(result.state, TREND_STATE_CALM);
    }
    assert_true(fabs(result.level - 2) < 0.1);
    reference_by = 1;
    latency_trend_destroy(trend);
}

static void windows_without_messages_are_gaps(void **state)
{
    (void)state;
    struct latency_trend *trend;
    struct trend_result result;
    struct latency_sum none = {0};
    assert_int_equal(latency_trend_create(&trend, 0.5), 0);
    for (uint64_t w = 0; w < 100; w++)
        latency_trend_update(trend, w, &none, &result);
    assert_int_equal(result.state, TREND_STATE_CALM);
    assert_true(isnan(result.ratio));
    latency_trend_destroy(trend);
}

static void a_length_that_is_none_is_refused(void **state)
{
    (void)state;
    struct latency_trend *trend;
    assert_int_equal(latency_trend_create(&trend, 0), -HOLTER_ERANGE);
    assert_int_equal(latency_trend_create(&trend, NAN), -HOLTER_ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_befalls_all_messages_is_seen),
        cmocka_unit_test(what_befalls_a_few_messages_badly_is_seen),
        cmocka_unit_test(calm_stays_calm),
        cmocka_unit_test(a_better_reference_is_no_growth),
        cmocka_unit_test(a_reference_that_gets_better_while_a_group_is_silent_is_no_growth),
        cmocka_unit_test(windows_without_messages_are_gaps),
        cmocka_unit_test(a_length_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
