/* The Mann-Kendall test and the Theil-Sen slope against plain versions. */
#include "daemon/analysis/latency/mann_kendall.h"

#include "holter/error.h"
#include "holter/order.h"
#include "tests/daemon/analysis/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_close(double got, double expected, double error)
{
    if (!(fabs(got - expected) <= error))
        fail_msg("%.9g is not within %g of %.9g", got, error, expected);
}

static void a_line_has_the_largest_z_and_its_slope(void **state)
{
    (void)state;
    double times[10], values[10];
    struct mann_kendall test;
    for (double sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < 10; i++) {
            times[i] = 3 * i;
            values[i] = 5 + sign * 0.5 * i;
        }
        assert_int_equal(mann_kendall(&test, times, values, 10, 0), 0);
        assert_close(test.slope, sign * 0.5 / 3, 1e-12);
        /* S = 45, variance 10 * 9 * 25 / 18 = 125 */
        assert_close(test.z, sign * 44 / sqrt(125), 1e-12);
    }
}

static void ties_take_from_the_variance(void **state)
{
    (void)state;
    static const double times[] = {0, 1, 2, 3}, values[] = {1, 1, 2, 2}, equal[] = {7, 7, 7, 7};
    struct mann_kendall test;
    assert_int_equal(mann_kendall(&test, times, values, 4, 0), 0);
    /* S = 4, variance (4 * 3 * 13 - 2 * 2 * 1 * 9) / 18 = 20 / 3 */
    assert_close(test.z, 3 / sqrt(20.0 / 3), 1e-12);
    assert_int_equal(mann_kendall(&test, times, equal, 4, 0), 0);
    assert_close(test.z, 0, 0);
    assert_close(test.slope, 0, 0);
}

static void the_slope_is_the_median_of_all_slopes(void **state)
{
    (void)state;
    struct noise noise = {5};
    for (size_t n = 3; n <= MANN_KENDALL_MAXIMUM; n++) {
        double times[MANN_KENDALL_MAXIMUM], values[MANN_KENDALL_MAXIMUM], slopes[512];
        size_t pairs = 0;
        for (size_t i = 0; i < n; i++) {
            times[i] = (i > 0 ? times[i - 1] : 0) + noise_uniform(&noise);
            values[i] = floor(5 * noise_gauss(&noise));
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                slopes[pairs++] = (values[j] - values[i]) / (times[j] - times[i]);
        qsort(slopes, pairs, sizeof(*slopes), order_doubles);
        struct mann_kendall test;
        assert_int_equal(mann_kendall(&test, times, values, n, 0.3), 0);
        assert_close(test.slope, (slopes[(pairs - 1) / 2] + slopes[pairs / 2]) / 2, 1e-12);
    }
}

static void times_that_are_no_order_do_no_harm(void **state)
{
    (void)state;
    double times[MANN_KENDALL_MAXIMUM] = {0}, values[MANN_KENDALL_MAXIMUM] = {0};
    struct mann_kendall test;
    for (size_t i = 0; i < MANN_KENDALL_MAXIMUM; i++) {
        values[i] = (double)(i / 5 % 3); /* slopes are infinite both ways, or no numbers */
        assert_int_equal(mann_kendall(&test, times, values, MANN_KENDALL_MAXIMUM, 0), 0);
    }
}

static void outliers_hardly_move_the_slope(void **state)
{
    (void)state;
    double times[20], values[20];
    struct mann_kendall test;
    for (int i = 0; i < 20; i++) {
        times[i] = i;
        values[i] = i % 5 == 2 ? 1e6 : 0.1 * i; /* one in five */
    }
    assert_int_equal(mann_kendall(&test, times, values, 20, 0), 0);
    assert_true(test.slope > 0.09 && test.slope < 0.15);
}

/* Spread of z over many series of autoregressive noise. */
static double spread_of_z(double phi, double correlation)
{
    struct noise noise = {9};
    double times[20], values[20], squares = 0;
    for (int k = 0; k < 4000; k++) {
        double y = noise_gauss(&noise);
        for (int i = 0; i < 20; i++) {
            times[i] = i;
            values[i] = y = phi * y + sqrt(1 - phi * phi) * noise_gauss(&noise);
        }
        struct mann_kendall test;
        assert_int_equal(mann_kendall(&test, times, values, 20, correlation), 0);
        squares += test.z * test.z;
    }
    return sqrt(squares / 4000);
}

static void without_trend_z_is_standard_normal_when_the_correlation_is_known(void **state)
{
    (void)state;
    assert_close(spread_of_z(0, 0), 1, 0.05);
    assert_close(spread_of_z(0.3, 0.3), 1, 0.1);
    assert_close(spread_of_z(0.5, 0.5), 1, 0.15);
    assert_true(spread_of_z(0.5, 0) > 1.4); /* what the correction is for */
}

static void counts_out_of_range_are_refused(void **state)
{
    (void)state;
    double values[MANN_KENDALL_MAXIMUM + 1] = {0};
    struct mann_kendall test = {.z = 7};
    assert_int_equal(mann_kendall(&test, values, values, 2, 0), -HOLTER_ERANGE);
    assert_int_equal(mann_kendall(&test, values, values, MANN_KENDALL_MAXIMUM + 1, 0),
                     -HOLTER_ERANGE);
    assert_close(test.z, 7, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_the_largest_z_and_its_slope),
        cmocka_unit_test(ties_take_from_the_variance),
        cmocka_unit_test(the_slope_is_the_median_of_all_slopes),
        cmocka_unit_test(times_that_are_no_order_do_no_harm),
        cmocka_unit_test(outliers_hardly_move_the_slope),
        cmocka_unit_test(without_trend_z_is_standard_normal_when_the_correlation_is_known),
        cmocka_unit_test(counts_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
