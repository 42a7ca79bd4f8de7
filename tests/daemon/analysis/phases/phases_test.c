#include "daemon/analysis/phases/phases.h"

#include "holter/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/daemon/analysis/phases/bursts.h"
#include "tests/memory.h"

static int all_seeds; /* in suite 'long' */

/* ---- online phases -------------------------------------------------------------- */

/* Watch closed phases while bursts come; at the end they are what is between pauses. */
static void assert_closed_stay(const int64_t *times, size_t count, int64_t gap, int64_t slack,
                               uint32_t clusters)
{
    static struct phase seen[8192], now[8192], cut[8192];
    struct phases *phases = create(clusters, gap);
    size_t known = 0, got;
    int64_t newest = INT64_MIN + slack;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(add_at(phases, times[i]), 0);
        newest = times[i] > newest ? times[i] : newest;
        if (i % 5 != 0)
            continue;
        assert_int_equal(phases_close(phases, newest - slack), 0);
        got = phases_closed(phases, 1, now, 8192);
        assert_true(got >= known);
        assert_memory_equal(now, seen, known * sizeof(now[0]));
        memcpy(seen, now, got * sizeof(now[0]));
        known = got;
    }
    assert_int_equal(phases_close(phases, PHASES_TIME_MAXIMUM), 0);
    assert_int_equal(phases_open(phases, cut, 8192), 0);
    int64_t *sorted = malloc(count * sizeof(*sorted));
    assert_non_null(sorted);
    memcpy(sorted, times, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_time);
    got = phases_closed(phases, 1, now, 8192);
    assert_memory_equal(now, seen, known * sizeof(now[0]));
    size_t phase = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || sorted[i] - sorted[i - 1] > gap) {
            assert_true(phase < got);
            assert_int_equal(now[phase].id, phase + 1);
            assert_true(phase == 0 || now[phase - 1].end_ns == sorted[i - 1]);
            assert_true(i == 0 || now[phase].height_ns == sorted[i] - sorted[i - 1]);
            assert_true(now[phase++].begin_ns == sorted[i]);
        }
    assert_int_equal(phase, got);
    free(sorted);
    phases_destroy(phases);
}

static void closed_phases_stay_and_end_at_pauses(void **state)
{
    int64_t times[1500];
    uint64_t random = 17;
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        size_t count = 0;
        int64_t now = 0;
        while (count < 1500)
            count += swap_times(times + count, 1500 - count, 16, false, &now, &random);
        if (round % 2 == 0)
            random_times(times, count, 4000000000, &random);
        qsort(times, count, sizeof(times[0]), by_time);
        int64_t gap = (int64_t)(random_next(&random) >> random_next(&random) % 16) + 1;
        int64_t late = round % 3 == 2 ? MS : 0;
        delay(times, count, late, &random);
        assert_closed_stay(times, count, gap, 2 * late, late > 0 ? 1500 : 64);
    }
}

/* Patterns of half a second to six seconds, within which bursts are up to 20 ms apart; between two
 * patterns there is a pause of 0.35 to 0.6 s, now and then a long one. The gap is chosen as in a
 * job of windows of a second. */
static void assert_phases_are_patterns(uint64_t random)
{
    static struct phase now[512];
    struct phases_params params = PHASES_DEFAULTS;
    struct phases *phases;
    int64_t begins[32], ends[32], at = 0;
    params.gap_start_ns = 250 * MS;
    params.gap_minimum_ns = 125 * MS;
    params.gap_maximum_ns = 10000LL * MS;
    params.length_ns = 64000LL * MS;
    assert_int_equal(phases_create(&phases, &params), 0);
    for (uint32_t i = 0; i < 32; i++) {
        int64_t end = at + (500 + random_next(&random) % 5500) * MS;
        uint32_t step = (1 + random_next(&random) % 20) * MS;
        begins[i] = at;
        for (; at < end; at += 1 + random_next(&random) % step) {
            assert_int_equal(add_at(phases, at), 0);
            assert_int_equal(phases_close(phases, at - 1000LL * MS), 0);
            ends[i] = at;
        }
        bool is_long = random_next(&random) % 8 == 0;
        at = ends[i] + (is_long ? 9000 : 350 + random_next(&random) % 250) * (int64_t)MS;
    }
    assert_int_equal(phases_close(phases, PHASES_TIME_MAXIMUM), 0);
    assert_int_equal(phases_closed(phases, 1, now, 512), 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_true(now[i].begin_ns == begins[i] && now[i].end_ns == ends[i]);
    phases_destroy(phases);
}

static void long_pauses_end_phases_and_short_ones_do_not(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (all_seeds ? 20 : 3); seed++)
        assert_phases_are_patterns(seed);
}

static void dense_stream_is_closed_piece_by_piece(void **state)
{
    struct phases_params params = {
        .clusters = 128, .items = 8192, .closed = 16384, .gap_ns = 10 * MS, .length_ns = 40 * MS};
    struct phases *phases;
    struct phases_counts counts;
    struct phase open[64];
    assert_int_equal(phases_create(&phases, &params), 0);
    (void)state;
    for (int64_t i = 0; i < 20000; i++) { /* never a gap of more than 1 ms */
        assert_int_equal(add_at(phases, i * MS), 0);
        assert_int_equal(phases_close(phases, i * MS), 0);
    }
    counts = counts_of(phases);
    assert_true(counts.closed > 20000 / 40);
    assert_int_equal(counts.forced, 0);
    assert_true(phases_open(phases, open, 64) >= 1 && 20000LL * MS - open[0].begin_ns < 100LL * MS);
    phases_destroy(phases);
}

static void silence_closes_the_last_phase(void **state)
{
    struct phases *phases = create(8, 100);
    struct phase phase;
    (void)state;
    for (int64_t t = 0; t < 3; t++)
        assert_int_equal(add_at(phases, 10 * t), 0);
    assert_int_equal(phases_close(phases, 60), 0);
    assert_int_equal(phases_closed(phases, 0, &phase, 1), 0);
    assert_int_equal(phases_close(phases, 200), 0);
    assert_int_equal(phases_closed(phases, 0, &phase, 1), 1);
    assert_int_equal(phase.end_ns, 20);
    assert_int_equal(phase.bursts, 3);
    assert_int_equal(phase.first_ns, -1);
    assert_int_equal(phase.last_ns, 21);
    phases_destroy(phases);
}

static void late_bursts_leave_closed_boundaries_where_they_are(void **state)
{
    struct phases *phases = create(8, 100);
    struct phase before[16], after[16];
    uint64_t random = 2, bursts = 0;
    (void)state;
    for (int64_t t = 0; t < 16; t++)
        for (int64_t i = 0; i < 5; i++)
            assert_int_equal(add_at(phases, 1000 * t + 3 * i), 0);
    assert_int_equal(phases_close(phases, 1000000), 0);
    assert_int_equal(phases_closed(phases, 0, before, 16), 16);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(add_at(phases, random_next(&random) % 15000), 0);
    assert_int_equal(phases_close(phases, 1000000), 0);
    assert_int_equal(phases_closed(phases, 0, after, 16), 16);
    assert_int_equal(counts_of(phases).late, 1000);
    assert_int_equal(counts_of(phases).closed, 16);
    for (size_t i = 0; i < 16; i++) {
        assert_true(after[i].id == before[i].id && after[i].begin_ns == before[i].begin_ns &&
                    after[i].end_ns == before[i].end_ns);
        bursts += after[i].bursts;
    }
    assert_int_equal(bursts, 1080);
    phases_destroy(phases);
}

static void gap_is_chosen_between_the_scales_of_the_job(void **state)
{
    struct phases *phases = create(256, 0);
    int64_t times[8192], now = 0;
    size_t count = 0;
    uint64_t random = 31;
    (void)state;
    while (count < 8192)
        count += swap_times(times + count, 8192 - count, 16, false, &now, &random);
    qsort(times, count, sizeof(times[0]), by_time);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(add_at(phases, times[i]), 0);
        assert_int_equal(phases_close(phases, times[i]), 0);
    }
    struct phases_counts counts = counts_of(phases);
    assert_true(counts.gap_ns > MS / 4 && counts.gap_ns < 2 * MS);
    assert_true(counts.closed >= 508); /* stages, four in each of 128 steps */
    phases_destroy(phases);
    phases = create(256, 0); /* nothing to choose between */
    for (int64_t t = 0; t < 3000; t++)
        assert_int_equal(add_at(phases, t * MS), 0);
    assert_int_equal(phases_close(phases, 3000LL * MS), 0);
    phases_destroy(phases);
}

static struct phases *create_bounded(int64_t start_ns, int64_t least_ns, int64_t most_ns)
{
    struct phases_params params = PHASES_DEFAULTS;
    struct phases *phases;
    params.gap_start_ns = start_ns;
    params.gap_minimum_ns = least_ns;
    params.gap_maximum_ns = most_ns;
    assert_int_equal(phases_create(&phases, &params), 0);
    return phases;
}

/* Bursts 1 ms apart, ten a step; steps 50 ms apart, 20 a round; rounds a minute apart. */
static int64_t time_of_round(int64_t burst)
{
    return (burst % 10 + burst / 10 % 20 * 60 + burst / 200 * 61200) * MS;
}

static void chosen_gap_keeps_to_its_bounds(void **state)
{
    static const struct {
        int64_t least_ns, most_ns, low_ns, high_ns;
    } cases[] = {
        {0, 0, 6 * MS, 9 * MS}, /* the lowest that is clear, from 1 to 51 ms */
        {250 * MS, 10000LL * MS, 1000 * MS, 5000LL * MS}, /* what lies between of it */
        {0, 20 * MS, 4 * MS, 5 * MS},                     /* from 1 to 20 ms */
        {300000000LL * MS, 0, 100 * MS, 100 * MS},        /* none: stays as it started */
        {20 * MS, 39 * MS, 100 * MS, 100 * MS},           /* too little of one */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct phases *phases = create_bounded(100 * MS, cases[i].least_ns, cases[i].most_ns);
        for (int64_t b = 0; b < 3000; b++) {
            assert_int_equal(add_at(phases, time_of_round(b)), 0);
            assert_int_equal(phases_close(phases, time_of_round(b)), 0);
        }
        int64_t gap = counts_of(phases).gap_ns;
        assert_true(gap >= cases[i].low_ns && gap <= cases[i].high_ns);
        phases_destroy(phases);
    }
}

static void closed_phases_stay_when_the_gap_changes(void **state)
{
    static struct phase seen[4096], now[4096];
    struct phases *phases = create_bounded(3 * MS, 250 * MS, 10000LL * MS);
    size_t known = 0, early = 0;
    uint64_t bursts = 0;
    (void)state;
    for (int64_t b = 0; b < 3000; b++) {
        assert_int_equal(add_at(phases, time_of_round(b)), 0);
        assert_int_equal(phases_close(phases, time_of_round(b)), 0);
        size_t got = phases_closed(phases, 1, now, 4096);
        assert_true(got >= known);
        assert_memory_equal(now, seen, known * sizeof(now[0]));
        memcpy(seen, now, got * sizeof(now[0]));
        known = got;
        early = counts_of(phases).gap_ns == 3 * MS ? known : early;
    }
    assert_int_equal(phases_close(phases, PHASES_TIME_MAXIMUM), 0);
    known = phases_closed(phases, 1, now, 4096);
    assert_true(early > 10);                          /* steps at first, */
    assert_true(known < early + 15 && known > early); /* then rounds */
    for (size_t i = 0; i < known; i++) {
        assert_true(i == 0 || now[i].begin_ns > now[i - 1].end_ns);
        bursts += now[i].bursts;
    }
    assert_int_equal(bursts, 3000);
    phases_destroy(phases);
}

/* ---- bounds --------------------------------------------------------------------- */

static void folding_keeps_what_is_coarser(void **state)
{
    enum { COUNT = 60000, PHASES = 100 };
    struct phases_params params = {.clusters = 32, .items = 8192, .closed = 16, .gap_ns = MS};
    struct phases *phases, *whole = create(32, MS);
    struct phase folded[PHASES], cut[PHASES];
    uint64_t random = 41;
    int64_t now = 0;
    size_t count;
    (void)state;
    assert_int_equal(phases_create(&phases, &params), 0);
    for (size_t i = 0; i < COUNT; i++) {
        now += i % (COUNT / PHASES) == 0 ? 50 * MS : 1 + random_next(&random) % 1000;
        assert_int_equal(add_at(phases, now), 0);
        assert_int_equal(add_at(whole, now), 0);
        if (i % 100 == 0)
            assert_int_equal(phases_close(phases, now), 0);
    }
    struct phases_counts counts = counts_of(phases);
    assert_true(counts.items <= 8192 && counts.items + counts.folded == COUNT);
    assert_true(counts.closed >= PHASES - 1 && counts.forgotten == counts.closed - 16);
    assert_int_equal(phases_cut_count(phases, EVER, PHASES, folded, &count), 0);
    assert_int_equal(phases_cut_count(whole, EVER, PHASES, cut, &count), 0);
    for (size_t i = 0; i < PHASES; i++) {
        assert_true(folded[i].begin_ns == cut[i].begin_ns);
        assert_true(folded[i].height_ns == cut[i].height_ns);
        assert_true(folded[i].bursts == cut[i].bursts && folded[i].bytes == cut[i].bytes);
        assert_true(folded[i].first_ns == cut[i].first_ns && folded[i].last_ns == cut[i].last_ns);
    }
    size_t bytes = memory_used();
    phases_destroy(phases);
    bytes -= memory_used();
    assert_true(bytes <= 8192 * 56 + 32 * 160 + 16 * 80 + 8192);
    phases_destroy(whole);
}

static void what_is_out_of_range_is_refused(void **state)
{
    struct phases *phases = create(8, 0);
    const struct burst bad[] = {{PHASES_TIME_MAXIMUM + 1, 0, INT64_MAX, 1, 1},
                                {-PHASES_TIME_MAXIMUM - 1, INT64_MIN, 0, 1, 1},
                                {INT64_MIN, INT64_MIN, INT64_MAX, 1, 1},
                                {5, 6, 7, 1, 1},
                                {5, 3, 4, 1, 1}};
    struct phases_params params = PHASES_DEFAULTS;
    struct phases *none = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(phases_add(phases, &bad[i]), -HOLTER_ERANGE);
    assert_int_equal(counts_of(phases).bursts, 0);
    phases_destroy(phases);
    phases_destroy(NULL);
    params.clusters = 7;
    assert_int_equal(phases_create(&none, &params), -HOLTER_ERANGE);
    params = PHASES_DEFAULTS;
    params.items = 16383;
    assert_int_equal(phases_create(&none, &params), -HOLTER_ERANGE);
    params = PHASES_DEFAULTS;
    params.gap_ns = -1;
    assert_int_equal(phases_create(&none, &params), -HOLTER_ERANGE);
    params = PHASES_DEFAULTS;
    params.gap_start_ns = -1;
    assert_int_equal(phases_create(&none, &params), -HOLTER_ERANGE);
    params = PHASES_DEFAULTS;
    params.length_ns = -1;
    assert_int_equal(phases_create(&none, &params), -HOLTER_ERANGE);
    params = PHASES_DEFAULTS;
    params.gap_minimum_ns = 2;
    params.gap_maximum_ns = 1;
    assert_int_equal(phases_create(&none, &params), -HOLTER_ERANGE);
}

static int64_t hostile_time(uint32_t kind, uint32_t i, uint64_t *random)
{
    const int64_t most = PHASES_TIME_MAXIMUM;
    switch (kind) {
    case 0:
        return 0; /* always the same */
    case 1:
        return most - i; /* backwards */
    case 2:
        return i % 2 == 0 ? most - i : -most + i; /* inwards */
    case 3:
        return i % 2 == 0 ? i : -(int64_t)i; /* outwards */
    case 4:                                  /* gaps that halve */
        return most - (most >> i % 62);
    default:
        return (int64_t)((uint64_t)random_next(random) << 31 ^ random_next(random)) %
               (1 + (most >> random_next(random) % 62));
    }
}

static void hostile_times_break_nothing(void **state)
{
    const struct phases_params params = {.clusters = 16, .items = 8192, .closed = 4, .gap_ns = 0};
    uint64_t random = 77;
    (void)state;
    for (uint32_t kind = 0; kind < 12; kind++) {
        struct phases *phases;
        struct phase cut[50];
        size_t count;
        uint64_t bursts = 0, messages = 0;
        assert_int_equal(phases_create(&phases, &params), 0);
        for (uint32_t i = 0; i < 20000; i++) {
            int64_t t = hostile_time(kind, i, &random);
            const struct burst burst = {t, INT64_MIN, INT64_MAX, i == 0 ? 0 : 1, UINT64_MAX};
            assert_int_equal(phases_add(phases, &burst), 0);
            if (i % 1000 == 0)
                assert_int_equal(phases_close(phases, hostile_time(kind + 1, i, &random)), 0);
        }
        assert_int_equal(phases_close(phases, INT64_MIN), 0);
        assert_int_equal(phases_close(phases, INT64_MAX), 0);
        assert_int_equal(phases_cut_count(phases, EVER, 50, cut, &count), 0);
        for (size_t i = 0; i < count; i++) {
            bursts += cut[i].bursts;
            messages += cut[i].messages;
            assert_true(i == 0 || cut[i].begin_ns >= cut[i - 1].end_ns);
            assert_true(cut[i].bytes == UINT64_MAX);
        }
        assert_int_equal(bursts, 20000);
        assert_int_equal(messages, 19999);
        assert_true(counts_of(phases).items <= 8192 && counts_of(phases).clusters <= 16);
        phases_destroy(phases);
    }
}

static void order_among_a_windows_agents_does_not_matter(void **state)
{
    int64_t times[256];
    struct phase one[256], other[256];
    size_t count, same;
    uint64_t random = 13;
    (void)state;
    random_times(times, 256, 500, &random);
    struct phases *forth = create(512, 0), *back = create(512, 0);
    for (size_t i = 0; i < 256; i++) {
        size_t j = 255 - i;
        const struct burst a = {times[i], times[i] - 1, times[i] + (int64_t)(i % 3), i % 7, i};
        const struct burst b = {times[j], times[j] - 1, times[j] + (int64_t)(j % 3), j % 7, j};
        assert_int_equal(phases_add(forth, &a), 0);
        assert_int_equal(phases_add(back, &b), 0);
    }
    assert_int_equal(phases_cut_count(forth, EVER, 256, one, &count), 0);
    assert_int_equal(phases_cut_count(back, EVER, 256, other, &same), 0);
    assert_int_equal(count, 256);
    assert_int_equal(same, 256);
    assert_memory_equal(one, other, sizeof(one));
    phases_destroy(forth);
    phases_destroy(back);
}

int main(int argc, char **argv)
{
    (void)argv;
    all_seeds = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_phases_stay_and_end_at_pauses),
        cmocka_unit_test(long_pauses_end_phases_and_short_ones_do_not),
        cmocka_unit_test(dense_stream_is_closed_piece_by_piece),
        cmocka_unit_test(silence_closes_the_last_phase),
        cmocka_unit_test(late_bursts_leave_closed_boundaries_where_they_are),
        cmocka_unit_test(gap_is_chosen_between_the_scales_of_the_job),
        cmocka_unit_test(chosen_gap_keeps_to_its_bounds),
        cmocka_unit_test(closed_phases_stay_when_the_gap_changes),
        cmocka_unit_test(folding_keeps_what_is_coarser),
        cmocka_unit_test(what_is_out_of_range_is_refused),
        cmocka_unit_test(hostile_times_break_nothing),
        cmocka_unit_test(order_among_a_windows_agents_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
