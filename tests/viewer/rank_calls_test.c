/* Figures of functions and code regions by rank. */
#include "tests/viewer/synthetic.h"

#include "viewer/model/rank_calls.h"

#include "holter/call.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WINDOWS = 10, RANKS = 27 };

static void into(void *user, const struct wire_message *message, int snapshot)
{
    assert_int_equal(model_apply(user, message, snapshot), 0);
}

static struct model *job_of(struct synthetic *job)
{
    struct model *m;
    assert_int_equal(model_create(&m, 16 << 20), 0);
    synthetic_init(job, RANKS, 9, 6, 1);
    synthetic_begin(job, into, m);
    for (int i = 0; i < WINDOWS; i++)
        synthetic_window(job, into, m);
    return m;
}

static void figures_are_those_of_each_rank_and_function(void **state)
{
    (void)state;
    struct synthetic job;
    struct model *m = job_of(&job);
    struct range r = {0};
    struct rank_calls c = {0};
    range_update(&r, m, RANGE_START, 0, 0);
    assert_int_equal(rank_calls_update(&c, &r, m, RANK_CALLS_FUNCTION), 1);
    assert_int_equal(rank_calls_update(&c, &r, m, RANK_CALLS_FUNCTION), 0);
    assert_int_equal(c.count, 4);
    assert_int_equal(c.ranks, RANKS);
    for (uint32_t i = 1; i < c.count; i++) /* the most time first */
        assert_true(rank_calls_total(&c, i - 1, RANK_FIGURE_TIME) >=
                    rank_calls_total(&c, i, RANK_FIGURE_TIME));
    uint32_t isend = rank_calls_find(&c, call_by_name("MPI_Isend"));
    uint32_t reduce = rank_calls_find(&c, call_by_name("MPI_Allreduce"));
    double calls = 0, time = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const uint64_t *f = r.ranks.figures + rank * RANK_COLUMNS;
        assert_true(rank_calls_value(&c, isend, rank, RANK_FIGURE_TIME) == (double)f[CALL_SEND]);
        assert_true(rank_calls_value(&c, isend, rank, RANK_FIGURE_BYTES) ==
                    (double)f[RANK_SENT_BYTES]);
        assert_true(rank_calls_value(&c, isend, rank, RANK_FIGURE_MEAN) ==
                    (double)f[CALL_SEND] / (double)f[RANK_SENT]);
        assert_true(rank_calls_value(&c, reduce, rank, RANK_FIGURE_CALLS) == 12 * WINDOWS);
        assert_true(rank_calls_value(&c, reduce, rank, RANK_FIGURE_BYTES) == 2 * 96 * WINDOWS);
        calls += rank_calls_value(&c, isend, rank, RANK_FIGURE_CALLS);
        time += rank_calls_value(&c, isend, rank, RANK_FIGURE_TIME);
    }
    assert_true(rank_calls_total(&c, isend, RANK_FIGURE_CALLS) == calls);
    assert_true(rank_calls_total(&c, isend, RANK_FIGURE_MEAN) == time / calls);
    assert_true(isnan(rank_calls_value(&c, RANK_CALLS_NONE, 0, RANK_FIGURE_TIME)));
    rank_calls_finish(&c);
    range_finish(&r);
    synthetic_finish(&job);
    model_destroy(m);
}

static void code_regions_add_up_their_functions(void **state)
{
    (void)state;
    struct synthetic job;
    struct model *m = job_of(&job);
    struct range r = {0};
    struct rank_calls functions = {0}, regions = {0};
    range_update(&r, m, RANGE_START, 0, 0);
    rank_calls_update(&functions, &r, m, RANK_CALLS_FUNCTION);
    assert_int_equal(rank_calls_update(&regions, &r, m, RANK_CALLS_REGION), 1);
    assert_int_equal(regions.count, 2);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        double a = 0, b = 0;
        for (uint32_t i = 0; i < 4; i++)
            a += rank_calls_value(&functions, i, rank, RANK_FIGURE_TIME);
        for (uint32_t i = 0; i < 2; i++)
            b += rank_calls_value(&regions, i, rank, RANK_FIGURE_TIME);
        assert_true(a == b);
    }
    rank_calls_finish(&functions);
    rank_calls_finish(&regions);
    range_finish(&r);
    synthetic_finish(&job);
    model_destroy(m);
}

static void a_mean_without_calls_is_not_a_number(void **state)
{
    (void)state;
    struct model *m;
    struct range r = {0};
    struct rank_calls c = {0};
    const struct wire_call_row row = {.rank = 2, .call = 1, .calls = 4, .time_ns = 40};
    struct wire_message message = {.type = WIRE_TYPE_CALLER_WINDOW};
    message.caller_window =
        (struct wire_caller_window){.job = "1", .window = 5, .calls = &row, .calls_count = 1};
    assert_int_equal(model_create(&m, 1 << 20), 0);
    into(m, &message, 1);
    range_update(&r, m, RANGE_START, 0, 0);
    rank_calls_update(&c, &r, m, RANK_CALLS_FUNCTION);
    assert_int_equal(c.ranks, 3);
    assert_true(rank_calls_value(&c, 0, 2, RANK_FIGURE_MEAN) == 10);
    assert_true(rank_calls_value(&c, 0, 1, RANK_FIGURE_CALLS) == 0);
    assert_true(isnan(rank_calls_value(&c, 0, 1, RANK_FIGURE_MEAN)));
    rank_calls_finish(&c);
    range_finish(&r);
    model_destroy(m);
}

static void correlation_is_pearsons(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 4, 5}, b[] = {2, 4, 6, 8, 10}, c[] = {5, 4, 3, 2, 1},
                 d[] = {2, 1, 4, 3, 5}, e[] = {7, 7, 7, 7, 7}, f[] = {1, NAN, 3, NAN, INFINITY};
    const uint8_t first_three[] = {1, 1, 1, 0, 0};
    assert_true(fabs(rank_calls_correlation(a, b, NULL, 5) - 1) < 1e-12);
    assert_true(fabs(rank_calls_correlation(a, c, NULL, 5) + 1) < 1e-12);
    assert_true(fabs(rank_calls_correlation(a, d, NULL, 5) - 0.8) < 1e-12);
    assert_true(fabs(rank_calls_correlation(a, d, first_three, 5) - 0.6546536707079772) < 1e-12);
    assert_true(isnan(rank_calls_correlation(a, e, NULL, 5)));
    assert_true(isnan(rank_calls_correlation(a, f, NULL, 5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_each_rank_and_function),
        cmocka_unit_test(code_regions_add_up_their_functions),
        cmocka_unit_test(a_mean_without_calls_is_not_a_number),
        cmocka_unit_test(correlation_is_pearsons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
