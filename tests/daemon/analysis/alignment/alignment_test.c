/* Two runs side by side: which phases match, and which moments correspond. */
#include "daemon/analysis/alignment/alignment.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct run_phase phase_of(double begin, double end, uint64_t bytes)
{
    return (struct run_phase){begin, end, bytes / 100, bytes, 8, 4, 2};
}

static void phases_of_a_faster_run_match_those_of_the_slower_one(void **state)
{
    const struct run_phase slow[] = {phase_of(0, 10, 1000), phase_of(20, 40, 5000),
                                     phase_of(60, 80, 1000)},
                           fast[] = {phase_of(0, 5, 1000), phase_of(10, 20, 5000),
                                     phase_of(30, 40, 1000)};
    struct alignment a;
    (void)state;
    assert_int_equal(0, alignment_make(&a, slow, 3, fast, 3));
    assert_true(a.by_phase);
    assert_int_equal(3, a.matched);
    assert_int_equal(1, a.match[1]);
    assert_float_equal(15, alignment_time(&a, 30), 1e-9); /* half of the second phase */
    assert_float_equal(25, alignment_time(&a, 50), 1e-9); /* half of the pause after it */
    assert_float_equal(50, alignment_time(&a, 90), 1e-9); /* ten after the end */
    alignment_finish(&a);
}

static void a_phase_that_only_one_run_has_is_left_out(void **state)
{
    const struct run_phase first[] = {phase_of(0, 1, 1000), phase_of(2, 3, 1000)},
                           second[] = {phase_of(0, 1, 1000), phase_of(4, 5, 90),
                                       phase_of(8, 9, 1000)};
    struct alignment a;
    (void)state;
    assert_int_equal(0, alignment_make(&a, first, 2, second, 3));
    assert_true(a.by_phase);
    assert_int_equal(0, a.match[0]);
    assert_int_equal(2, a.match[1]);
    assert_float_equal(8, alignment_time(&a, 2), 1e-9);
    alignment_finish(&a);
}

static void equal_phases_are_matched_from_the_begin(void **state)
{
    struct run_phase first[3], second[5];
    struct alignment a;
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        second[i] = phase_of(2 * i, 2 * i + 1, 1000);
    for (unsigned i = 0; i < 3; i++)
        first[i] = second[i];
    assert_int_equal(0, alignment_make(&a, first, 3, second, 5));
    assert_true(a.by_phase);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(i, a.match[i]);
    alignment_finish(&a);
}

static void runs_of_other_phases_are_aligned_by_time(void **state)
{
    const struct run_phase first[] = {phase_of(0, 1, 1000), phase_of(2, 3, 100)},
                           second[] = {phase_of(0, 1, 4000), phase_of(2, 3, 100)};
    struct alignment a;
    (void)state;
    assert_int_equal(0, alignment_make(&a, first, 2, second, 2));
    assert_false(a.by_phase); /* 100 of 1100 bytes match */
    assert_float_equal(77, alignment_time(&a, 77), 0);
    alignment_finish(&a);
    assert_int_equal(0, alignment_make(&a, first, 2, NULL, 0));
    assert_false(a.by_phase);
    alignment_finish(&a);
    assert_int_equal(0, alignment_make(&a, NULL, 0, NULL, 0));
    assert_false(a.by_phase);
    alignment_finish(&a);
}

/* The best sum over all ways to match in order, by trying all of them. */
static double best_by_trial(const struct run_phase *a, uint32_t n, const struct run_phase *b,
                            uint32_t m)
{
    double best = 0;
    if (n == 0 || m == 0)
        return 0;
    best = fmax(best_by_trial(a + 1, n - 1, b, m), best_by_trial(a, n, b + 1, m - 1));
    if (fabs((double)a->bytes - (double)b->bytes) <=
        0.1 * (double)(a->bytes > b->bytes ? a->bytes : b->bytes))
        best = fmax(best, best_by_trial(a + 1, n - 1, b + 1, m - 1) +
                              (double)(a->bytes < b->bytes ? a->bytes : b->bytes) + 1);
    return best;
}

static void no_way_of_matching_has_more_bytes(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        struct run_phase first[6], second[7];
        struct alignment a;
        double sum = 0;
        for (unsigned i = 0; i < 13; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            struct run_phase *p = i < 6 ? &first[i] : &second[i - 6];
            *p = phase_of(2 * i, 2 * i + 1, 1000 * (1 + (seed >> 61)));
            p->messages = 1;
        }
        assert_int_equal(0, alignment_make(&a, first, 6, second, 7));
        for (unsigned i = 0; i < 6; i++)
            if (a.match[i] != ALIGNMENT_NONE)
                sum +=
                    (double)(first[i].bytes < second[a.match[i]].bytes ? first[i].bytes
                                                                       : second[a.match[i]].bytes) +
                    1;
        assert_float_equal(best_by_trial(first, 6, second, 7), sum, 1e-6);
        alignment_finish(&a);
    }
}

/* As in traces, whose clock begins with the first message. */
static void a_phase_that_begins_at_zero_is_aligned_from_its_begin(void **state)
{
    const struct run_phase first[] = {phase_of(0, 10, 1000)}, second[] = {phase_of(6, 16, 1000)};
    struct alignment a;
    (void)state;
    assert_int_equal(0, alignment_make(&a, first, 1, second, 1));
    assert_true(a.by_phase);
    assert_float_equal(6, alignment_time(&a, 0), 1e-9);
    assert_float_equal(11, alignment_time(&a, 5), 1e-9);
    alignment_finish(&a);
}

static void a_phase_without_a_pause_before_it_is_aligned_from_its_begin(void **state)
{
    const struct run_phase first[] = {phase_of(0, 10, 1000), phase_of(10, 20, 5000)},
                           second[] = {phase_of(0, 10, 1000), phase_of(11, 14, 90),
                                       phase_of(15, 25, 5000)};
    struct alignment a;
    (void)state;
    assert_int_equal(0, alignment_make(&a, first, 2, second, 3));
    assert_true(a.by_phase);
    assert_float_equal(9, alignment_time(&a, 9), 1e-9);
    assert_float_equal(20, alignment_time(&a, 15), 1e-9);
    alignment_finish(&a);
}

static void overlapping_phases_of_a_damaged_recording_keep_time_ascending(void **state)
{
    const struct run_phase first[] = {phase_of(0, 50, 1000), phase_of(10, 20, 1000),
                                      phase_of(60, 55, 1000)},
                           second[] = {phase_of(9, 1, 1000), phase_of(0, 0, 1000),
                                       phase_of(60, 70, 1000)};
    struct alignment a;
    double before = -INFINITY;
    (void)state;
    assert_int_equal(0, alignment_make(&a, first, 3, second, 3));
    for (int t = 0; t < 100; t++) {
        assert_true(alignment_time(&a, t) >= before);
        before = alignment_time(&a, t);
    }
    alignment_finish(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_of_a_faster_run_match_those_of_the_slower_one),
        cmocka_unit_test(a_phase_that_only_one_run_has_is_left_out),
        cmocka_unit_test(equal_phases_are_matched_from_the_begin),
        cmocka_unit_test(runs_of_other_phases_are_aligned_by_time),
        cmocka_unit_test(no_way_of_matching_has_more_bytes),
        cmocka_unit_test(a_phase_that_begins_at_zero_is_aligned_from_its_begin),
        cmocka_unit_test(a_phase_without_a_pause_before_it_is_aligned_from_its_begin),
        cmocka_unit_test(overlapping_phases_of_a_damaged_recording_keep_time_ascending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
