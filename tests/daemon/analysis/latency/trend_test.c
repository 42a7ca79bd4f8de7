/* Growth and steady periods of synthetic series with known answers. */
#include "daemon/analysis/latency/trend.h"

#include "holter/error.h"
#include "tests/daemon/analysis/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LEVEL 1.3 /* of the calm: series are relative to a reference that is the best */

static int all_seeds; /* in suite 'long' */

enum tail { GAUSS, STUDENT, LAPLACE, SPIKES };

/* Logarithms of a first order autoregression. */
struct series {
    struct noise noise;
    enum tail tail;
    double phi, sd, y;
};

static double innovation(struct series *series)
{
    double u;
    switch (series->tail) {
    case STUDENT:
        return noise_student(&series->noise, 6);
    case LAPLACE:
        u = noise_uniform(&series->noise) - 0.5;
        return (u < 0 ? 1 : -1) * log(1 - 2 * fabs(u)) / sqrt(2);
    default:
        return noise_gauss(&series->noise);
    }
}

static struct series series(enum tail tail, double phi, double sd, uint64_t seed)
{
    struct series s = {.noise = {seed * 2654435761u}, .tail = tail, .phi = phi, .sd = sd};
    for (int i = 0; i < 30; i++)
        (void)noise_uint(&s.noise);
    s.y = sd * noise_gauss(&s.noise);
    return s;
}

static double next(struct series *s)
{
    s->y = s->phi * s->y + sqrt(1 - s->phi * s->phi) * s->sd * innovation(s);
    double spike = 0;
    if (s->tail == SPIKES && noise_uniform(&s->noise) < 0.005)
        spike = log(2 + 18 * noise_uniform(&s->noise));
    return s->y + spike;
}

static void assert_close(double got, double expected, double error)
{
    if (!(fabs(got - expected) <= error))
        fail_msg("%.9g is not within %g of %.9g", got, error, expected);
}

static struct trend *create(void)
{
    struct trend *trend = NULL;
    struct trend_params params = TREND_DEFAULTS;
    assert_int_equal(trend_create(&trend, &params), 0);
    return trend;
}

static enum trend_state update(struct trend *trend, uint64_t window, double log_value)
{
    struct trend_result result;
    assert_int_equal(trend_update(trend, window, LEVEL * exp(log_value), 100), 0);
    trend_result(trend, &result);
    assert_int_equal(trend_is_calm(trend), result.state == TREND_STATE_CALM);
    return result.state;
}

/* What is added to the logarithm, so many windows after the onset. */
typedef double change(int64_t after);

static double step(int64_t after)
{
    return after >= 0 ? log(2) : 0;
}

static double ramp(int64_t after)
{
    return after >= 0 ? log(1.2) * (double)(after + 1) / 60 : 0;
}

static double slow_drift(int64_t after)
{
    return after >= 0 ? log(1.01) * (double)(after + 1) / 60 : 0;
}

/* Windows until the change is seen; 0: not calm before it, INT32_MAX: not seen within an hour. */
static int32_t delay(struct series s, uint64_t calm, change *changed)
{
    struct trend *trend = create();
    int32_t result = INT32_MAX;
    for (uint64_t w = 0; w < calm + 3600 && result == INT32_MAX; w++)
        if (update(trend, w, next(&s) + changed((int64_t)w - (int64_t)calm)) != TREND_STATE_CALM)
            result = w < calm ? 0 : (int32_t)(w - calm + 1);
    trend_destroy(trend);
    return result;
}

/* In how many of a hundred series, of each second one, the change is seen within so many windows:
 * as a percentage. */
static int found(double phi, double sd, uint64_t calm, change *changed, int32_t within)
{
    int count = 0;
    for (uint64_t seed = 1; seed <= 100; seed += all_seeds ? 1 : 2) {
        int32_t took = delay(series(GAUSS, phi, sd, seed), calm, changed);
        assert_true(took < INT32_MAX);
        count += took > 0 && took <= within;
    }
    return all_seeds ? count : 2 * count;
}

static void a_step_to_twice_is_found_within_three_windows(void **state)
{
    (void)state;
    static const double phis[] = {0, 0.5, 0.7, 0.9};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(found(phis[i], 0.05, 300, step, 3), 100);
        assert_true(found(phis[i], 0.1, 600, step, 3) >= 97);
    }
    /* in noise of 20 % it cannot be: such steps are half of what the noise does by itself */
    assert_true(found(0.5, 0.2, 600, step, 20) >= 80);
}

static double great_step(int64_t after)
{
    return after >= 0 ? log(4) : 0;
}

static void a_great_step_is_found_soon_after_a_job_began(void **state)
{
    (void)state;
    assert_true(found(0, 0.1, 20, great_step, 3) >= 95);
    assert_true(found(0.7, 0.1, 20, great_step, 3) >= 95);
}

static void a_ramp_of_a_fifth_a_minute_is_found_within_sixty_windows(void **state)
{
    (void)state;
    assert_int_equal(found(0, 0.02, 300, ramp, 60), 100);
    assert_int_equal(found(0.9, 0.02, 300, ramp, 100), 100);
    assert_true(found(0, 0.05, 300, ramp, 60) >= 95);
    assert_true(found(0.5, 0.05, 300, ramp, 60) >= 85);
}

static void a_drift_of_a_hundredth_a_minute_is_found_within_a_quarter_of_an_hour(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        int32_t took = delay(series(GAUSS, 0.5, 0.05, seed), 600, slow_drift);
        assert_in_range(took, 1, 1000);
    }
}

static void a_spike_of_one_window_is_nothing_however_high(void **state)
{
    (void)state;
    for (double height = 0.5; height < 20; height *= 1.5) {
        struct trend *trend = create();
        struct series s = series(GAUSS, 0.5, 0.1, 3);
        for (uint64_t w = 0; w < 1000; w++) {
            double spike = w % 50 == 40 ? height : 0;
            assert_int_equal(update(trend, w, next(&s) + spike), TREND_STATE_CALM);
        }
        trend_destroy(trend);
    }
}

static void an_excursion_that_dies_away_at_once_is_nothing(void **state)
{
    (void)state;
    struct trend *trend = create();
    struct series s = series(GAUSS, 0.5, 0.02, 5);
    for (uint64_t w = 0; w < 600; w++) {
        double excursion = w < 300 ? 0 : pow(0.55, (double)((w - 300) % 100)) * 1.6;
        assert_int_equal(update(trend, w, next(&s) + excursion), TREND_STATE_CALM);
    }
    trend_destroy(trend);
}

/* False alarms in a day of windows of one second. */
static int alarms_a_day(struct series s)
{
    struct trend *trend = create();
    enum trend_state before = TREND_STATE_CALM;
    int alarms = 0;
    for (uint64_t w = 0; w < 86400; w++) {
        enum trend_state now = update(trend, w, next(&s));
        alarms += now != TREND_STATE_CALM && before == TREND_STATE_CALM;
        before = now;
    }
    trend_destroy(trend);
    return alarms;
}

static void stationary_noise_gives_at_most_one_alarm_a_day(void **state)
{
    (void)state;
    static const double phis[] = {0.5, 0.7, 0.9}, sds[] = {0.05, 0.1, 0.2};
    for (uint64_t p = 0; p < 3; p++)
        for (uint64_t d = 0; d < 3; d++)
            if (all_seeds || (p == d && p != 1))
                assert_in_range(alarms_a_day(series(GAUSS, phis[p], sds[d], 10 + p + 7 * d)), 0, 1);
    for (uint64_t seed = 1; seed <= (all_seeds ? 2 : 1); seed++) {
        assert_in_range(alarms_a_day(series(STUDENT, 0.5, 0.1, seed)), 0, 1);
        if (all_seeds) {
            assert_in_range(alarms_a_day(series(LAPLACE, 0.9, 0.05, seed)), 0, 1);
            assert_in_range(alarms_a_day(series(SPIKES, 0.7, 0.1, seed)), 0, 1);
        }
        assert_in_range(alarms_a_day(series(SPIKES, 0.5, 0.2, seed)), 0, 1);
    }
}

static void onset_level_and_ratio_of_a_step_are_reported(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct trend *trend = create();
        struct series s = series(GAUSS, 0.5, 0.05, seed);
        struct trend_result result;
        for (uint64_t w = 5000; w < 5500; w++)
            (void)update(trend, w, next(&s) + step((int64_t)w - 5400));
        trend_result(trend, &result);
        assert_int_equal(result.state, TREND_STATE_STEADY);
        assert_in_range(result.since, 5399, 5401);
        assert_int_equal(result.onset, result.since);
        assert_close(result.base, LEVEL, 0.05 * LEVEL);
        assert_close(result.level, 2 * LEVEL, 0.3 * LEVEL);
        assert_close(result.ratio, 2, 0.3);
        assert_close(result.slope, 0, 0.15);
        trend_destroy(trend);
    }
}

static void growth_that_ends_becomes_a_steady_period(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct trend *trend = create();
        struct series s = series(GAUSS, 0.5, 0.05, seed);
        struct trend_result result;
        for (uint64_t w = 0; w < 1000; w++) {
            int64_t after = (int64_t)w - 600;
            (void)update(trend, w, next(&s) + ramp(after < 240 ? after : 240));
            trend_result(trend, &result);
            if (w == 600 + 200) {
                assert_int_equal(result.state, TREND_STATE_GROWTH);
                assert_in_range(result.onset, 570, 630);
                assert_close(result.slope, 0.2, 0.12);
            }
        }
        assert_int_equal(result.state, TREND_STATE_STEADY);
        assert_in_range(result.onset, 570, 630);
        assert_in_range(result.since, 780, 930);
        trend_destroy(trend);
    }
}

static void no_period_begins_before_the_first_of_them(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct trend *trend = create();
        struct series s = series(GAUSS, 0, 0.1, seed);
        struct trend_result result;
        for (uint64_t w = 0; w < 600; w++) {
            int64_t after = (int64_t)w - 200;
            (void)update(trend, w, next(&s) + ramp(after < 60 ? after : 60) / 2);
            trend_result(trend, &result);
            assert_true(result.since >= result.onset);
        }
        trend_destroy(trend);
    }
}

static void growth_from_the_very_beginning_is_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        assert_in_range(delay(series(GAUSS, 0, 0.05, seed), 1, ramp), 1, 300);
}

static void it_is_calm_again_soon_after_the_level_came_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct trend *trend = create();
        struct series s = series(GAUSS, 0.5, 0.1, seed);
        int changes = 0;
        enum trend_state before = TREND_STATE_CALM;
        for (uint64_t w = 0; w < 1500; w++) {
            enum trend_state now = update(trend, w, next(&s) + (w >= 600 && w < 900 ? log(3) : 0));
            changes += (now == TREND_STATE_CALM) != (before == TREND_STATE_CALM);
            before = now;
            if (w >= 605 && w < 900)
                assert_true(now != TREND_STATE_CALM);
            if (w >= 912)
                assert_int_equal(now, TREND_STATE_CALM);
        }
        assert_int_equal(changes, 2); /* once there, once back: no flapping */
        trend_destroy(trend);
    }
}

static int episodes(change *changed, uint64_t windows, uint64_t seed, uint64_t *last)
{
    struct trend *trend = create();
    struct series s = series(GAUSS, 0.5, 0.05, seed);
    enum trend_state before = TREND_STATE_CALM;
    int count = 0;
    for (uint64_t w = 0; w < windows; w++) {
        enum trend_state now = update(trend, w, next(&s) + changed((int64_t)w));
        if (now != TREND_STATE_CALM && before == TREND_STATE_CALM) {
            count++;
            *last = w;
        }
        before = now;
    }
    trend_destroy(trend);
    return count;
}

static double phases_of_a_minute(int64_t w)
{
    return w / 60 % 2 == 0 ? 0 : log(2);
}

static double phases_of_ten_windows(int64_t w)
{
    return w / 10 % 2 == 0 ? 0 : log(2);
}

static double late_phases(int64_t w)
{
    return w < 1800 || w / 120 % 3 != 0 ? 0 : log(2.5);
}

static double sawtooth(int64_t w)
{
    return (double)(w % 300) * log(1.2) / 60; /* to 2.5 times in five minutes, and back at once */
}

static void the_programs_own_phases_become_part_of_calm(void **state)
{
    (void)state;
    uint64_t last = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        assert_int_equal(episodes(phases_of_ten_windows, 7200, seed, &last), 0);
        last = 0;
        assert_in_range(episodes(phases_of_a_minute, 7200, seed, &last), 0, 3);
        assert_true(last < 1200);
        assert_in_range(episodes(late_phases, 9000, seed, &last), 1, 3);
        assert_true(last < 1800 + 4 * 360);
        assert_in_range(episodes(sawtooth, 7200, seed, &last), 0, 3);
        assert_true(last < 2400);
    }
}

static double slow_start(int64_t w)
{
    return w < 12 ? log(8) : 0;
}

static double fast_start(int64_t w)
{
    return w < 8 ? log(0.2) : 0;
}

static double end_of_a_long_start(int64_t w)
{
    return w < 50 ? log(0.3) : 0;
}

static void how_a_job_starts_is_no_alarm_and_does_not_stay(void **state)
{
    (void)state;
    uint64_t last = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        assert_int_equal(episodes(slow_start, 1800, seed, &last), 0);
        assert_int_equal(episodes(fast_start, 1800, seed, &last), 0);
        /* a start of 50 windows is a base: what follows is reported once, and learnt */
        assert_in_range(episodes(end_of_a_long_start, 3600, seed, &last), 0, 1);
        for (int i = 0; i < 2; i++) { /* and afterwards a step is seen as ever */
            struct trend *trend = create();
            struct series s = series(GAUSS, 0.5, 0.05, seed);
            for (uint64_t w = 0; w < 1503; w++) {
                double start = i ? fast_start((int64_t)w) : slow_start((int64_t)w);
                enum trend_state now = update(trend, w, next(&s) + start + (w < 1500 ? 0 : log(2)));
                assert_int_equal(now != TREND_STATE_CALM, w == 1502);
            }
            trend_destroy(trend);
        }
    }
}

static void a_change_for_good_is_learnt(void **state)
{
    (void)state;
    struct trend *trend = create();
    struct series s = series(GAUSS, 0.5, 0.05, 4);
    struct trend_result result;
    for (uint64_t w = 0; w < 4000; w++) {
        (void)update(trend, w, next(&s) + (w < 400 ? 0 : log(2)));
        trend_result(trend, &result);
        if (w >= 403 && w < 1500)
            assert_int_equal(result.state, TREND_STATE_STEADY);
    }
    assert_int_equal(result.state, TREND_STATE_CALM);
    assert_close(result.base, 2 * LEVEL, 0.1 * LEVEL);
    for (uint64_t w = 4000; w < 4003; w++)
        (void)update(trend, w, next(&s) + log(4));
    trend_result(trend, &result);
    assert_int_equal(result.state, TREND_STATE_STEADY);
    trend_destroy(trend);
}

static void windows_without_enough_messages_are_gaps(void **state)
{
    (void)state;
    struct trend_params params = TREND_DEFAULTS;
    params.minimum_messages = 10;
    struct trend *gaps, *dense;
    struct trend_result one, other;
    assert_int_equal(trend_create(&gaps, &params), 0);
    assert_int_equal(trend_create(&dense, &params), 0);
    struct series s = series(GAUSS, 0.5, 0.1, 8);
    static const double nothing[] = {NAN, INFINITY, -INFINITY, 0, -3, 1e300};
    for (uint64_t w = 0; w < 500; w++) {
        double value = exp(next(&s) + (w < 450 ? 0 : 1));
        assert_int_equal(trend_update(gaps, 3 * w, value, 10), 0);
        assert_int_equal(trend_update(gaps, 3 * w + 1, nothing[w % 6], w % 6 < 5 ? 100 : 9), 0);
        assert_int_equal(trend_update(dense, 3 * w, value, 10), 0);
        trend_result(gaps, &one);
        trend_result(dense, &other);
        assert_memory_equal(&one, &other, sizeof(one));
    }
    assert_int_equal(one.state, TREND_STATE_STEADY);
    trend_destroy(gaps);
    trend_destroy(dense);
}

static void windows_must_ascend(void **state)
{
    (void)state;
    struct trend *trend = create();
    struct trend_result before, after;
    assert_int_equal(trend_update(trend, 7, 1, 1), 0);
    trend_result(trend, &before);
    assert_int_equal(before.state, TREND_STATE_CALM);
    assert_true(isnan(before.base) && isnan(before.slope) && isnan(before.ratio));
    assert_int_equal(trend_update(trend, 7, 2, 1), -HOLTER_ERANGE);
    assert_int_equal(trend_update(trend, 0, 2, 1), -HOLTER_ERANGE);
    trend_result(trend, &after);
    assert_memory_equal(&before, &after, sizeof(before));
    assert_int_equal(trend_update(trend, UINT64_MAX, 1, 1), 0);
    trend_destroy(trend);
    trend_destroy(NULL);
}

static void without_slopes_of_calm_periods_are_the_same(void **state)
{
    (void)state;
    struct trend_params params = TREND_DEFAULTS;
    struct trend *with = create(), *without = NULL;
    struct trend_result a, b;
    struct noise noise = {31};
    int calm = 0, out = 0;
    params.calm_slope = 0;
    assert_int_equal(trend_create(&without, &params), 0);
    for (uint64_t w = 0; w < 3000; w++) {
        double value = LEVEL * exp(0.05 * noise_gauss(&noise) + (w % 1000 < 600 ? 0 : 1));
        assert_int_equal(trend_update(with, w, value, 100), 0);
        assert_int_equal(trend_update(without, w, value, 100), 0);
        trend_result(with, &a);
        trend_result(without, &b);
        calm += a.state == TREND_STATE_CALM && !isnan(a.slope);
        out += a.state != TREND_STATE_CALM && !isnan(b.slope);
        if (a.state == TREND_STATE_CALM) {
            assert_true(isnan(b.slope));
            b.slope = a.slope;
        }
        assert_memory_equal(&a, &b, sizeof(a));
    }
    assert_true(calm > 1000 && out > 100);
    trend_destroy(with);
    trend_destroy(without);
}

static void hostile_values_do_no_harm(void **state)
{
    (void)state;
    struct trend *trend = create();
    struct trend_result result;
    struct noise noise = {12};
    uint64_t window = 0;
    for (int i = 0; i < 20000; i++) {
        window += 1 + (noise_uint(&noise) % 100 == 0 ? noise_uint(&noise) >> 20 : 0);
        double value = exp(600 * (noise_uniform(&noise) - 0.5));
        assert_int_equal(trend_update(trend, window, value, 1), 0);
        trend_result(trend, &result);
        assert_true(result.since <= window && result.onset <= result.since);
    }
    trend_destroy(trend);
}

static void parameters_out_of_range_are_refused(void **state)
{
    (void)state;
    struct trend_params wrong[9];
    struct trend *trend = NULL;
    for (int i = 0; i < 9; i++)
        wrong[i] = TREND_DEFAULTS;
    wrong[0].window_s = 0;
    wrong[1].window_s = NAN;
    wrong[2].warm_up = 7;
    wrong[3].warm_up = 100000;
    wrong[4].rise = 1;
    wrong[5].slow_rise = 1.5;
    wrong[6].growth = 1.3;
    wrong[7].calm_down = 0;
    wrong[8].half_life = 0;
    for (int i = 0; i < 9; i++)
        assert_int_equal(trend_create(&trend, &wrong[i]), -HOLTER_ERANGE);
    assert_null(trend);
}

int main(int argc, char **argv)
{
    (void)argv;
    all_seeds = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_to_twice_is_found_within_three_windows),
        cmocka_unit_test(a_great_step_is_found_soon_after_a_job_began),
        cmocka_unit_test(a_ramp_of_a_fifth_a_minute_is_found_within_sixty_windows),
        cmocka_unit_test(a_drift_of_a_hundredth_a_minute_is_found_within_a_quarter_of_an_hour),
        cmocka_unit_test(a_spike_of_one_window_is_nothing_however_high),
        cmocka_unit_test(an_excursion_that_dies_away_at_once_is_nothing),
        cmocka_unit_test(stationary_noise_gives_at_most_one_alarm_a_day),
        cmocka_unit_test(onset_level_and_ratio_of_a_step_are_reported),
        cmocka_unit_test(growth_that_ends_becomes_a_steady_period),
        cmocka_unit_test(no_period_begins_before_the_first_of_them),
        cmocka_unit_test(growth_from_the_very_beginning_is_found),
        cmocka_unit_test(it_is_calm_again_soon_after_the_level_came_back),
        cmocka_unit_test(the_programs_own_phases_become_part_of_calm),
        cmocka_unit_test(how_a_job_starts_is_no_alarm_and_does_not_stay),
        cmocka_unit_test(a_change_for_good_is_learnt),
        cmocka_unit_test(windows_without_enough_messages_are_gaps),
        cmocka_unit_test(windows_must_ascend),
        cmocka_unit_test(without_slopes_of_calm_periods_are_the_same),
        cmocka_unit_test(hostile_values_do_no_harm),
        cmocka_unit_test(parameters_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
