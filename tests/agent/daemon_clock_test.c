#include "agent/daemon_clock.h"

#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define OFFSET (UINT64_C(1700000000) * SECOND) /* daemon time minus the node's monotonic clock */

/* One round trip that left at `mono` and took `out` and `back` on its ways. */
static int exchange(struct daemon_clock *clock, uint64_t mono, uint64_t out, uint64_t back,
                    int64_t shift)
{
    uint64_t arrival = mono + out + OFFSET + (uint64_t)shift;
    return daemon_clock_observe(clock, mono, arrival, arrival + 10000, mono + out + 10000 + back);
}

static int64_t error_at(const struct daemon_clock *clock, uint64_t mono)
{
    return (int64_t)(daemon_clock_at(clock, mono) - (mono + OFFSET));
}

static void first_sample_replaces_the_guess(void **state)
{
    (void)state;
    struct daemon_clock clock;
    daemon_clock_init(&clock, 0, 42);
    assert_int_equal(daemon_clock_error(&clock, 0), UINT64_MAX);
    assert_false(clock.known);
    assert_int_equal(exchange(&clock, 5 * SECOND, 50000, 50000, 0), 0);
    assert_true(clock.known);
    assert_int_equal(clock.jumps, 0);
    assert_int_equal(error_at(&clock, 6 * SECOND), 0);
}

static void asymmetric_delay_stays_within_the_published_bound(void **state)
{
    (void)state;
    struct daemon_clock clock;
    daemon_clock_init(&clock, 0, 0);
    uint64_t seed = 1;
    for (uint64_t i = 1; i < 400; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t out = 20000 + (seed >> 40) % (8 * MS), back = 20000 + (seed >> 20) % 3000;
        assert_int_equal(exchange(&clock, i * SECOND, out, back, 0), 0);
        uint64_t now = i * SECOND + 20 * MS;
        int64_t error = error_at(&clock, now);
        /* what has not been slewed away yet is at most what an earlier sample left */
        if (i > 50)
            assert_true(error < 2 * (int64_t)MS && error > -2 * (int64_t)MS);
    }
    assert_true(daemon_clock_error(&clock, 400 * SECOND) < 2 * MS);
}

static void shortest_round_trip_wins_over_newer_ones(void **state)
{
    (void)state;
    struct daemon_clock clock;
    daemon_clock_init(&clock, 0, 0);
    assert_int_equal(exchange(&clock, SECOND, 10000, 10000, 0), 0);
    for (uint64_t i = 2; i < 10; i++)
        assert_int_equal(exchange(&clock, i * SECOND, 40 * MS, 10000, 0), 0);
    int64_t error = error_at(&clock, 10 * SECOND);
    assert_true(error < 1000 && error > -1000);
}

static void time_never_runs_back_while_it_is_slewed(void **state)
{
    (void)state;
    struct daemon_clock clock;
    daemon_clock_init(&clock, 0, 0);
    uint64_t last = 0;
    for (uint64_t i = 1; i < 100; i++) {
        int64_t shift = i % 20 < 10 ? 0 : -90 * (int64_t)MS;
        assert_int_equal(exchange(&clock, i * SECOND, 1000 * (1 + i % 7), 1000, shift), 0);
        for (uint64_t step = 1; step < 100; step++) {
            uint64_t now = daemon_clock_at(&clock, i * SECOND + step * 10 * MS);
            assert_true(now > last);
            last = now;
        }
    }
    assert_int_equal(clock.jumps, 0);
}

static void step_of_the_daemon_is_a_jump(void **state)
{
    (void)state;
    struct daemon_clock clock;
    daemon_clock_init(&clock, 0, 0);
    assert_int_equal(exchange(&clock, SECOND, 10000, 10000, 0), 0);
    daemon_clock_restart(&clock);
    assert_int_equal(exchange(&clock, 2 * SECOND, 10000, 10000, 3600 * (int64_t)SECOND), 0);
    assert_int_equal(clock.jumps, 1);
    assert_int_equal(error_at(&clock, 2 * SECOND), 3600 * SECOND);
}

static void inverse_is_the_inverse(void **state)
{
    (void)state;
    struct daemon_clock clock;
    daemon_clock_init(&clock, 0, 0);
    assert_int_equal(exchange(&clock, SECOND, 10000, 10000, 0), 0);
    assert_int_equal(exchange(&clock, 2 * SECOND, 5000, 5000, 50 * (int64_t)MS), 0);
    for (uint64_t mono = SECOND; mono < 60 * SECOND; mono += 777 * MS) {
        uint64_t back = daemon_clock_mono(&clock, daemon_clock_at(&clock, mono));
        assert_true(back + 2 >= mono && back <= mono + 2);
    }
    assert_int_equal(daemon_clock_mono(&clock, 5), 0);
}

static void contradicting_stamps_are_refused(void **state)
{
    (void)state;
    struct daemon_clock clock;
    daemon_clock_init(&clock, 0, 42);
    assert_int_equal(daemon_clock_observe(&clock, 100, 5, 6, 99), -HOLTER_ERANGE);
    assert_int_equal(daemon_clock_observe(&clock, 100, 7, 6, 200), -HOLTER_ERANGE);
    assert_int_equal(daemon_clock_observe(&clock, 100, 0, 500, 200), -HOLTER_ERANGE);
    assert_int_equal(daemon_clock_observe(&clock, 100, UINT64_MAX - 5, UINT64_MAX, 200),
                     -HOLTER_ERANGE);
    assert_false(clock.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_sample_replaces_the_guess),
        cmocka_unit_test(asymmetric_delay_stays_within_the_published_bound),
        cmocka_unit_test(shortest_round_trip_wins_over_newer_ones),
        cmocka_unit_test(time_never_runs_back_while_it_is_slewed),
        cmocka_unit_test(step_of_the_daemon_is_a_jump),
        cmocka_unit_test(inverse_is_the_inverse),
        cmocka_unit_test(contradicting_stamps_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
