#include "daemon/analysis/clocks/tick_clock.h"

#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define HZ 2.1e9 /* of the synthetic TSC */
#define SECOND UINT64_C(1000000000)

/* CLOCK_MONOTONIC of a tick when it runs `drift` too fast against the TSC. */
static uint64_t truth(uint64_t ticks, double drift)
{
    return 5 * SECOND + (uint64_t)((double)ticks / HZ * 1e9 * (1 + drift));
}

static struct tick_anchor reading(double seconds, double drift, int64_t jitter_ns)
{
    uint64_t ticks = (uint64_t)(seconds * HZ);
    return (struct tick_anchor){ticks, truth(ticks, drift) + (uint64_t)jitter_ns};
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void short_baseline_is_bettered_by_a_long_one(void **state)
{
    (void)state;
    struct tick_clock clock;
    assert_int_equal(tick_clock_init(&clock, reading(0, 0, 0), reading(0.01, 0, 90)), 0);
    int64_t jitter[3] = {60, -50, 20};
    for (int s = 1; s <= 200; s++)
        tick_clock_observe(&clock, reading(s, 0, jitter[s % 3]));
    /* a second behind the last reading: jitter of 60 ns and what the slew adds */
    uint64_t ticks = (uint64_t)(200.9 * HZ);
    assert_true(distance(tick_clock_ns(&clock, ticks), truth(ticks, 0)) < 200);
    assert_true(distance(tick_clock_span(&clock, (uint64_t)HZ), SECOND) < 200);
}

static void drift_of_the_kernel_clock_is_followed(void **state)
{
    (void)state;
    for (double drift = -4e-4; drift < 5e-4; drift += 2e-4) {
        struct tick_clock clock;
        assert_int_equal(tick_clock_init(&clock, reading(0, drift, 0), reading(0.01, drift, 50)),
                         0);
        for (int s = 1; s <= 60; s++)
            tick_clock_observe(&clock, reading(s, drift, s % 2 ? 40 : -40));
        uint64_t ticks = (uint64_t)(60.5 * HZ);
        assert_true(distance(tick_clock_ns(&clock, ticks), truth(ticks, drift)) < 300);
    }
}

/* As when a virtual machine goes on after a pause, and its two clocks do not agree about it. */
static void a_jump_of_the_kernel_clock_does_not_change_the_rate(void **state)
{
    (void)state;
    struct tick_clock clock;
    assert_int_equal(tick_clock_init(&clock, reading(0, 0, 0), reading(0.01, 0, 0)), 0);
    for (int s = 1; s <= 300; s++) {
        const int64_t jump = s < 60 ? 0 : (int64_t)(2 * SECOND);
        tick_clock_observe(&clock, reading(s, 0, jump));
        const struct tick_anchor next = reading(s + 0.9, 0, jump);
        assert_true(distance(tick_clock_ns(&clock, next.ticks), next.ns) < 200);
    }
}

static void conversion_increases_through_all_recalibrations(void **state)
{
    (void)state;
    struct tick_clock clock;
    assert_int_equal(tick_clock_init(&clock, reading(0, 0, 0), reading(0.01, 0, 500)), 0);
    uint64_t last = 0, seed = 3;
    for (int s = 1; s <= 100; s++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t jitter = (int64_t)(seed >> 44) - (1 << 19); /* half a millisecond to each side */
        tick_clock_observe(&clock, reading(s, 0, jitter));
        for (int step = 0; step < 1000; step++) {
            uint64_t ns = tick_clock_ns(&clock, (uint64_t)((s + step * 0.001) * HZ));
            assert_true(ns > last);
            last = ns;
        }
    }
}

static void readings_that_go_back_are_ignored(void **state)
{
    (void)state;
    struct tick_clock clock;
    assert_int_equal(tick_clock_init(&clock, reading(1, 0, 0), reading(2, 0, 0)), 0);
    struct tick_clock before = clock;
    tick_clock_observe(&clock, reading(1.5, 0, 0));
    assert_memory_equal(&clock, &before, sizeof clock);
    assert_int_equal(tick_clock_init(&clock, reading(2, 0, 0), reading(1, 0, 0)), -HOLTER_ERANGE);
    assert_int_equal(
        tick_clock_init(&clock, (struct tick_anchor){0, 0}, (struct tick_anchor){0, 9}),
        -HOLTER_ERANGE);
}

static void nanosecond_ticks_are_themselves(void **state)
{
    (void)state;
    struct tick_clock clock;
    tick_clock_init_ns(&clock);
    assert_int_equal(tick_clock_ns(&clock, 0), 0);
    assert_int_equal(tick_clock_ns(&clock, 123456789012345), 123456789012345);
    assert_int_equal(tick_clock_ns(&clock, UINT64_MAX), UINT64_MAX);
}

static void times_of_calls_are_those_of_their_ticks(void **state)
{
    (void)state;
    const uint64_t calls[][2] = {{0, 7}, {0, 7}, {5, 7}, {5, 9000000}, {9000000, 9000000}, {0, 0}};
    struct tick_clock clock;
    assert_int_equal(tick_clock_init(&clock, reading(0.001, 0, 0), reading(2, 0, 0)), 0);
    struct tick_times times = tick_times_begin(&clock);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        tick_times_convert(&times, calls[i][0], calls[i][1]);
        assert_int_equal(times.enter_ns, tick_clock_ns(&clock, calls[i][0]));
        assert_int_equal(times.exit_ns, tick_clock_ns(&clock, calls[i][1]));
    }
    times = tick_times_begin(&clock);
    tick_times_convert(&times, 0, 0);
    assert_int_equal(times.exit_ns, tick_clock_ns(&clock, 0));
}

static void absurd_ticks_saturate(void **state)
{
    (void)state;
    struct tick_clock clock;
    assert_int_equal(tick_clock_init(&clock, (struct tick_anchor){1000, 1000000},
                                     (struct tick_anchor){2000, 1900000}),
                     0); /* 900 ns a tick */
    assert_int_equal(tick_clock_ns(&clock, UINT64_MAX), UINT64_MAX);
    assert_int_equal(tick_clock_ns(&clock, 0), 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_baseline_is_bettered_by_a_long_one),
        cmocka_unit_test(drift_of_the_kernel_clock_is_followed),
        cmocka_unit_test(a_jump_of_the_kernel_clock_does_not_change_the_rate),
        cmocka_unit_test(conversion_increases_through_all_recalibrations),
        cmocka_unit_test(readings_that_go_back_are_ignored),
        cmocka_unit_test(nanosecond_ticks_are_themselves),
        cmocka_unit_test(times_of_calls_are_those_of_their_ticks),
        cmocka_unit_test(absurd_ticks_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
