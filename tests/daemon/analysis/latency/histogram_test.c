/* Histograms of times: exact sums and differences, and quantiles against sorted values. */
#include "daemon/analysis/latency/histogram.h"
#include "holter/order.h"

#include "tests/daemon/analysis/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct histogram empty;

static void assert_close(double got, double expected, double error)
{
    if (!(fabs(got - expected) <= error))
        fail_msg("%.9g is not within %g of %.9g", got, error, expected);
}

/* A time of any magnitude. */
static uint64_t draw_time(struct noise *noise)
{
    return noise_uint(noise) << 11 >> (noise_uint(noise) % 64);
}

static void assert_same(const struct histogram *a, const struct histogram *b)
{
    assert_int_equal(a->messages, b->messages);
    for (uint32_t c = 0; c < TIME_CLASSES; c++)
        assert_int_equal(histogram_count(a, c), histogram_count(b, c));
    for (uint32_t p = 0; p < HISTOGRAM_PAGES; p++)
        assert_true((a->pages[p] == NULL) == (b->pages[p] == NULL));
}

static void what_is_added_and_expires_leaves_the_empty_state_bit_for_bit(void **state)
{
    (void)state;
    struct histogram sum = {0}, windows[50] = {0};
    struct noise noise = {7};
    for (int w = 0; w < 50; w++) {
        for (int i = 0; i < 1000; i++)
            assert_int_equal(histogram_add(&windows[w], time_class_of(draw_time(&noise)),
                                           1 + noise_uint(&noise) % 9),
                             0);
        assert_int_equal(histogram_merge(&sum, &windows[w]), 0);
    }
    for (int w = 0; w < 50; w++)
        assert_int_equal(histogram_subtract(&sum, &windows[(w * 7) % 50]), 0);
    assert_memory_equal(&sum, &empty, sizeof(sum));
    for (int w = 0; w < 50; w++)
        histogram_finish(&windows[w]);
}

static void taking_away_one_by_one_gives_the_empty_state_too(void **state)
{
    (void)state;
    struct histogram h = {0};
    for (uint32_t c = 0; c < TIME_CLASSES; c += 3)
        assert_int_equal(histogram_add(&h, c, c + 1), 0);
    for (uint32_t c = 0; c < TIME_CLASSES; c += 3) {
        assert_int_equal(histogram_remove(&h, c, 1), 0);
        assert_int_equal(histogram_remove(&h, c, c), 0);
    }
    assert_memory_equal(&h, &empty, sizeof(h));
}

static void the_order_of_merging_does_not_show(void **state)
{
    (void)state;
    struct histogram parts[8] = {0}, forth = {0}, back = {0};
    struct noise noise = {11};
    for (int i = 0; i < 8000; i++)
        assert_int_equal(histogram_add(&parts[i % 8], time_class_of(draw_time(&noise)), 1), 0);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(histogram_merge(&forth, &parts[i]), 0);
        assert_int_equal(histogram_merge(&back, &parts[7 - i]), 0);
    }
    assert_int_equal(forth.messages, 8000);
    assert_same(&forth, &back);
    for (int i = 0; i < 8; i++)
        histogram_finish(&parts[i]);
    histogram_finish(&forth);
    histogram_finish(&back);
}

static void taking_more_than_there_is_changes_nothing(void **state)
{
    (void)state;
    struct histogram a = {0}, b = {0}, copy = {0};
    histogram_add(&a, 100, 5);
    histogram_add(&a, 2000, 5);
    histogram_add(&b, 100, 5);
    histogram_add(&b, 2000, 6);
    histogram_merge(&copy, &a);
    assert_int_equal(histogram_subtract(&a, &b), -HOLTER_ERANGE);
    assert_int_equal(histogram_remove(&a, 2000, 6), -HOLTER_ERANGE);
    assert_int_equal(histogram_remove(&a, TIME_CLASSES, 1), -HOLTER_ERANGE);
    assert_int_equal(histogram_remove(&a, 7, 1), -HOLTER_ERANGE);
    assert_same(&a, &copy);
    histogram_finish(&a);
    histogram_finish(&b);
    histogram_finish(&copy);
}

static void a_class_there_is_not_is_refused(void **state)
{
    (void)state;
    struct histogram h = {0};
    assert_int_equal(histogram_add(&h, TIME_CLASSES, 1), -HOLTER_ERANGE);
    assert_int_equal(histogram_add(&h, UINT32_MAX, 1), -HOLTER_ERANGE);
    assert_int_equal(histogram_add(&h, 5, 0), 0);
    assert_memory_equal(&h, &empty, sizeof(h));
    assert_int_equal(histogram_count(&h, UINT32_MAX), 0);
}

static void quantiles_are_within_eight_tenths_of_a_percent(void **state)
{
    (void)state;
    enum { COUNT = 20001 };
    uint64_t *times = malloc(COUNT * sizeof(*times));
    struct noise noise = {3};
    static const double quantiles[] = {0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999, 1};
    for (int odd = 0; odd < 2; odd++) {
        struct histogram h = {0};
        size_t count = COUNT - 1 + (size_t)odd;
        for (size_t i = 0; i < count; i++) {
            times[i] = draw_time(&noise);
            assert_int_equal(histogram_add(&h, time_class_of(times[i]), 1), 0);
        }
        qsort(times, count, sizeof(*times), order_u64);
        for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
            double place = quantiles[i] * (double)(count - 1);
            size_t k = (size_t)place;
            double exact = (double)times[k];
            if (k + 1 < count)
                exact += (place - (double)k) * ((double)times[k + 1] - (double)times[k]);
            double got = histogram_quantile(&h, quantiles[i]);
            assert_true(fabs(got - exact) <= 0.008 * exact);
            assert_true(fabs(histogram_ranked(&h, k) - (double)times[k]) <=
                        0.008 * (double)times[k]);
        }
        histogram_finish(&h);
    }
    free(times);
}

static void the_median_of_two_lies_between_them(void **state)
{
    (void)state;
    struct histogram h = {0};
    histogram_add(&h, time_class_of(10), 1);
    histogram_add(&h, time_class_of(30), 1);
    assert_close(histogram_quantile(&h, 0.5), 20, 1e-9);
    assert_close(histogram_quantile(&h, 0), 10, 1e-9);
    assert_close(histogram_quantile(&h, 1), 30, 1e-9);
    histogram_finish(&h);
}

static void an_empty_histogram_has_no_quantile(void **state)
{
    (void)state;
    struct histogram h = {0};
    assert_true(isnan(histogram_quantile(&h, 0.5)));
    assert_true(isnan(histogram_ranked(&h, 0)));
    assert_int_equal(histogram_next(&h, 0), TIME_CLASSES);
    histogram_add(&h, 9, 2);
    assert_true(isnan(histogram_quantile(&h, -0.1)));
    assert_true(isnan(histogram_quantile(&h, 1.1)));
    assert_true(isnan(histogram_quantile(&h, NAN)));
    assert_true(isnan(histogram_ranked(&h, 2)));
    histogram_finish(&h);
}

static void shifting_halves_and_keeps_what_is_rare(void **state)
{
    (void)state;
    struct histogram h = {0};
    histogram_add(&h, 3, 1);
    histogram_add(&h, 500, 4096);
    histogram_add(&h, 501, 4097);
    histogram_shift(&h, 4);
    assert_int_equal(histogram_count(&h, 3), 1);
    assert_int_equal(histogram_count(&h, 500), 256);
    assert_int_equal(histogram_count(&h, 501), 257);
    assert_int_equal(h.messages, 514);
    histogram_shift(&h, 200);
    assert_int_equal(h.messages, 3);
    histogram_finish(&h);
}

static void memory_goes_by_octaves_not_by_messages(void **state)
{
    uint32_t pages = 0;
    (void)state;
    struct histogram h = {0};
    for (uint64_t ns = 1024; ns < 8192; ns++)
        histogram_add(&h, time_class_of(ns), UINT64_C(1) << 40);
    for (uint32_t p = 0; p < HISTOGRAM_PAGES; p++)
        pages += h.pages[p] != NULL;
    assert_int_equal(pages, 3);
    histogram_finish(&h);
    assert_memory_equal(&h, &empty, sizeof(h));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_and_expires_leaves_the_empty_state_bit_for_bit),
        cmocka_unit_test(taking_away_one_by_one_gives_the_empty_state_too),
        cmocka_unit_test(the_order_of_merging_does_not_show),
        cmocka_unit_test(taking_more_than_there_is_changes_nothing),
        cmocka_unit_test(a_class_there_is_not_is_refused),
        cmocka_unit_test(quantiles_are_within_eight_tenths_of_a_percent),
        cmocka_unit_test(the_median_of_two_lies_between_them),
        cmocka_unit_test(an_empty_histogram_has_no_quantile),
        cmocka_unit_test(shifting_halves_and_keeps_what_is_rare),
        cmocka_unit_test(memory_goes_by_octaves_not_by_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
