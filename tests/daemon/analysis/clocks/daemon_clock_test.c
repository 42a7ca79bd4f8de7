#include "daemon/analysis/clocks/daemon_clock.h"

#include "holter/error.h"
#include "holter/order.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

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
    for (uint64_t i = 1; i < 10; i++)
        assert_int_equal(exchange(&clock, i * SECOND, 10000, 10000, 0), 0);
    for (uint64_t i = 10; i < 15; i++)
        assert_int_equal(exchange(&clock, i * SECOND, 40 * MS, 10000, 0), 0);
    int64_t error = error_at(&clock, 15 * SECOND);
    assert_true(error < 10000 && error > -10000);
    assert_true(daemon_clock_error(&clock, 15 * SECOND) < 50000);
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

/* ---- a simulated node ---------------------------------------------------- */

struct scene {
    const char *name;
    double shift_s;    /* of the node's monotonic clock against true time */
    double ppm;        /* rate of the node's clock, parts per million too fast */
    double swing_ppm;  /* and so much more and less, */
    double swing_s;    /* over this period */
    double way_us[2];  /* shortest delay out and back */
    double jitter_us;  /* mean of what usually comes on top, exponential */
    double tail;       /* share of trips that take much longer: a Pareto tail, */
    double tail_us;    /* from here up */
    double lost;       /* share of questions that are not answered */
    double busy_us;    /* the daemon reads its socket so often only */
    unsigned windows;  /* of a second */
    double adjust_ppm; /* the rate is made so much faster, then slower, at once, */
    double adjust_s;   /* by turns of so long, as NTP clients do */
};

struct result {
    double covered;             /* share of windows whose times are all within the stated error */
    double median_us, worst_us; /* error of a window's times, after the first ten */
    double stated_us;           /* median */
};

static double uniform(uint64_t *random)
{
    *random += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
    uint64_t x = *random;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) / 9007199254740992.0;
}

/* The node's clock at a true time, nanoseconds since the start. */
static uint64_t node_mono(const struct scene *scene, double true_ns)
{
    double w = scene->swing_s > 0 ? 2 * M_PI / (scene->swing_s * 1e9) : 0;
    double swing = w > 0 ? scene->swing_ppm * 1e-6 * (1 - cos(w * true_ns)) / w : 0;
    double gained = true_ns * scene->ppm * 1e-6 + swing;
    if (scene->adjust_s > 0) { /* a triangle: its slope changes its sign every so often */
        double phase = fmod(true_ns / 1e9, 2 * scene->adjust_s) - scene->adjust_s;
        gained += (scene->adjust_s - fabs(phase)) * scene->adjust_ppm * 1e3;
    }
    return (uint64_t)((2000 + scene->shift_s) * 1e9) + (uint64_t)true_ns +
           (uint64_t)(int64_t)gained;
}

static uint64_t daemon_time(double true_ns)
{
    return OFFSET + (uint64_t)true_ns;
}

static double delay_ns(const struct scene *scene, int way, uint64_t *random)
{
    double delay = scene->way_us[way] - scene->jitter_us * log(1 - uniform(random));
    if (uniform(random) < scene->tail)
        delay += scene->tail_us * pow(1 - uniform(random), -1 / 1.2);
    return delay * 1e3;
}

/* Ask once. @return true time of the answer */
static double ask(struct daemon_clock *clock, const struct scene *scene, double true_ns,
                  uint64_t *random)
{
    if (uniform(random) < scene->lost)
        return true_ns;
    double arrival = true_ns + delay_ns(scene, 0, random);
    if (scene->busy_us > 0)
        arrival = ceil(arrival / (scene->busy_us * 1e3)) * scene->busy_us * 1e3;
    double answer = arrival + 10e3, back = answer + delay_ns(scene, 1, random);
    assert_int_equal(daemon_clock_observe(clock, node_mono(scene, true_ns), daemon_time(arrival),
                                          daemon_time(answer), node_mono(scene, back)),
                     0);
    return back;
}

static double best_error_us(const struct daemon_clock *clock, const struct scene *scene,
                            double true_ns)
{
    uint64_t told = daemon_clock_best(clock, node_mono(scene, true_ns));
    return (double)(int64_t)(told - daemon_time(true_ns)) / 1e3;
}

/* As the agent does: a few round trips at the start and each second, windows of a second. */
static struct result play(const struct scene *scene, uint64_t seed)
{
    struct daemon_clock clock;
    struct result result = {0};
    double *errors = calloc(scene->windows, sizeof(*errors));
    double *stated = calloc(scene->windows, sizeof(*stated));
    double now = 0;
    unsigned covered = 0, counted = 0;
    assert_non_null(errors);
    assert_non_null(stated);
    daemon_clock_init(&clock, node_mono(scene, 0), daemon_time(0) + 50 * MS);
    for (unsigned w = 0; w < scene->windows; w++) {
        double begin = w * 1e9;
        unsigned turns = w < 4 ? 4 : 1;
        for (unsigned turn = 0; turn < turns; turn++) {
            double due = begin + turn * 250e6 + uniform(&seed) * 1e6;
            now = due > now ? due : now; /* one question at a time */
            for (int asks = 0; asks < 4; asks++) {
                now = ask(&clock, scene, now, &seed);
                if (clock.count == 0 || !daemon_clock_slow(&clock))
                    break;
            }
        }
        int within = 1;
        double worst = 0, error_us = 0;
        for (double at = begin; at <= begin + 1e9; at += 0.125e9) {
            double error = best_error_us(&clock, scene, at);
            error_us = (double)daemon_clock_error(&clock, node_mono(scene, at)) / 1e3;
            within &= fabs(error) <= error_us + 0.002;
            worst = fabs(error) > worst ? fabs(error) : worst;
        }
        covered += (unsigned)within;
        if (w < 10)
            continue;
        errors[counted] = worst;
        stated[counted++] = error_us;
    }
    qsort(errors, counted, sizeof(*errors), order_doubles);
    qsort(stated, counted, sizeof(*stated), order_doubles);
    result.covered = (double)covered / scene->windows;
    result.median_us = errors[counted / 2];
    result.worst_us = errors[counted - 1];
    result.stated_us = stated[counted / 2];
    free(errors);
    free(stated);
    return result;
}

static const struct scene idle_scenes[] = {
    {"no shift", 0, 0, 0, 0, {15, 15}, 5, 0.02, 100, 0, 0, 600, 0, 0},
    {"1000 s, +50 ppm", 1000, 50, 0, 0, {15, 15}, 5, 0.02, 100, 0, 0, 600, 0, 0},
    {"-1000 s, -50 ppm", -1000, -50, 0, 0, {30, 30}, 5, 0.05, 200, 0, 0, 600, 0, 0},
    {"100 days", 8640000, 50, 0, 0, {15, 30}, 5, 0.02, 100, 0, 0, 600, 0, 0},
    {"drift that swings by 1 ppm in 10 min",
     1000,
     50,
     1,
     600,
     {15, 15},
     5,
     0.02,
     100,
     0,
     0,
     1800,
     0,
     0},
    {"steered by NTP", 1000, 20, 0, 0, {15, 15}, 5, 0.02, 100, 0, 0, 1800, 1, 64},
    {"one in five lost", 1000, 50, 0, 0, {15, 15}, 5, 0.02, 100, 0.2, 0, 600, 0, 0},
};

static void error_is_below_20_us_on_an_idle_network(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(idle_scenes) / sizeof(idle_scenes[0]); i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct result result = play(&idle_scenes[i], seed);
            assert_true(result.covered >= 0.99);
            assert_true(result.median_us < 10);
            assert_true(result.worst_us < 20);
            assert_true(result.stated_us < 60);
        }
    }
}

static const struct scene rough_scenes[] = {
    {"slow way out", 1000, 50, 0.5, 600, {400, 30}, 50, 0.1, 500, 0, 0, 600, 0, 0},
    {"heavy tails", -1000, -50, 1, 900, {40, 40}, 100, 0.5, 500, 0.1, 0, 900, 0, 0},
    {"busy daemon", 1000, 50, 0, 0, {20, 20}, 10, 0.1, 500, 0, 2000, 600, 0, 0},
    {"a drift of 300 ppm", 1000, 300, 0, 0, {20, 20}, 10, 0.1, 500, 0, 0, 600, 0, 0},
    {"steered roughly", 1000, 20, 0, 0, {20, 20}, 10, 0.1, 500, 0, 0, 1800, 2, 100},
    {"warming up", 1000, -20, 3, 2000, {20, 20}, 10, 0.1, 500, 0, 0, 1000, 0, 0},
};

static void stated_error_holds_the_true_one_whatever_the_delays(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rough_scenes) / sizeof(rough_scenes[0]); i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct result result = play(&rough_scenes[i], seed);
            assert_true(result.covered >= 0.99);
        }
    }
}

static void another_daemon_is_followed_at_once(void **state)
{
    static const struct scene scene = {"", 1000, 50, 0, 0, {15, 15}, 5, 0.02, 100, 0, 0, 0, 0, 0};
    uint64_t seed = 3;
    struct daemon_clock clock;
    (void)state;
    daemon_clock_init(&clock, node_mono(&scene, 0), daemon_time(0));
    for (int i = 0; i < 60; i++)
        ask(&clock, &scene, i * 1e9, &seed);
    assert_true(fabs(best_error_us(&clock, &scene, 60e9)) < 20);
    daemon_clock_restart(&clock);
    assert_int_equal(daemon_clock_error(&clock, node_mono(&scene, 61e9)), UINT64_MAX);
    assert_int_equal(daemon_clock_best(&clock, node_mono(&scene, 61e9)),
                     daemon_clock_at(&clock, node_mono(&scene, 61e9)));
    /* The new one's time is 3 ms later: events use it at once, windows slide there. */
    uint64_t mono = node_mono(&scene, 70e9);
    assert_int_equal(daemon_clock_observe(&clock, mono, daemon_time(70e9) + 3 * MS + 20000,
                                          daemon_time(70e9) + 3 * MS + 20000, mono + 40000),
                     0);
    double off = best_error_us(&clock, &scene, 70e9);
    assert_true(off > 2990 && off < 3010);
    off = (double)(int64_t)(daemon_clock_at(&clock, mono) - daemon_time(70e9)) / 1e3;
    assert_true(off > -100 && off < 100);
    assert_int_equal(clock.jumps, 0);
}

static void windows_are_numbered_by_the_same_time_as_events_in_the_long_run(void **state)
{
    static const struct scene scene = {"", 1000, 50, 0, 0, {15, 15}, 5, 0.02, 100, 0, 0, 0, 0, 0};
    uint64_t seed = 4;
    struct daemon_clock clock;
    (void)state;
    daemon_clock_init(&clock, node_mono(&scene, 0), daemon_time(0) + SECOND);
    for (int i = 0; i < 100; i++)
        ask(&clock, &scene, i * 1e9, &seed);
    for (double at = 100e9; at < 101e9; at += 0.1e9) {
        uint64_t mono = node_mono(&scene, at);
        int64_t apart = (int64_t)(daemon_clock_at(&clock, mono) - daemon_clock_best(&clock, mono));
        assert_true(apart < 10000 && apart > -10000);
    }
}

static void the_error_of_a_span_is_the_largest_in_it(void **state)
{
    static const struct scene scene = {"", 0, 50, 0, 0, {15, 15}, 5, 0.02, 100, 0, 0, 0, 0, 0};
    uint64_t seed = 6;
    struct daemon_clock clock;
    (void)state;
    daemon_clock_init(&clock, node_mono(&scene, 0), daemon_time(0));
    assert_int_equal(daemon_clock_error_between(&clock, 0, SECOND), UINT64_MAX);
    for (int i = 10; i < 20; i++)
        ask(&clock, &scene, i * 1e9, &seed);
    for (double from = 0; from < 30e9; from += 3e9)
        for (double to = from; to < 30e9; to += 3e9) {
            uint64_t begin = node_mono(&scene, from), end = node_mono(&scene, to);
            uint64_t most = daemon_clock_error_between(&clock, begin, end);
            for (uint64_t at = begin; at <= end; at += SECOND / 7)
                assert_true(daemon_clock_error(&clock, at) <= most);
        }
}

/* A clock that is made to run at another rate: earlier samples are not valid any more. */
static void a_rate_that_changes_at_once_is_noticed(void **state)
{
    struct scene scene = {"", 0, 0, 0, 0, {15, 15}, 5, 0.02, 100, 0, 0, 0, 0, 0};
    uint64_t seed = 5;
    struct daemon_clock clock;
    (void)state;
    daemon_clock_init(&clock, node_mono(&scene, 0), daemon_time(0));
    for (int i = 0; i < 100; i++)
        ask(&clock, &scene, i * 1e9, &seed);
    /* From 100 s on 100 ppm faster: as if it had been so since the start, less 10 ms. */
    scene.ppm = 100;
    scene.shift_s = -0.01;
    for (int i = 100; i < 140; i++)
        ask(&clock, &scene, i * 1e9, &seed);
    assert_true(fabs(best_error_us(&clock, &scene, 140e9)) < 20);
    assert_true(daemon_clock_error(&clock, node_mono(&scene, 140e9)) < 60000);
}

static void a_sample_out_of_order_is_refused(void **state)
{
    (void)state;
    struct daemon_clock clock;
    daemon_clock_init(&clock, 0, 42);
    assert_int_equal(exchange(&clock, 5 * SECOND, 50000, 50000, 0), 0);
    assert_int_equal(exchange(&clock, 4 * SECOND, 50000, 50000, 0), -HOLTER_ERANGE);
    assert_int_equal(clock.count, 1);
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
        cmocka_unit_test(error_is_below_20_us_on_an_idle_network),
        cmocka_unit_test(stated_error_holds_the_true_one_whatever_the_delays),
        cmocka_unit_test(another_daemon_is_followed_at_once),
        cmocka_unit_test(windows_are_numbered_by_the_same_time_as_events_in_the_long_run),
        cmocka_unit_test(the_error_of_a_span_is_the_largest_in_it),
        cmocka_unit_test(a_rate_that_changes_at_once_is_noticed),
        cmocka_unit_test(a_sample_out_of_order_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
