#include "viewer/layout/format.h"
#include "viewer/layout/theme.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define NB "\xc2\xa0"

static void figures_have_three_digits_and_a_unit(void **state)
{
    (void)state;
    assert_string_equal(format_si(0, "B").text, "0" NB "B");
    assert_string_equal(format_si(812, "").text, "812");
    assert_string_equal(format_si(999, "B").text, "999" NB "B");
    assert_string_equal(format_si(999.6, "B").text, "1000" NB "B");
    assert_string_equal(format_si(1023.6, "B").text, "1.00" NB "KiB");
    assert_string_equal(format_si(12421, "/s").text, "12.4" NB "k/s");
    assert_string_equal(format_si(12421, "B/s").text, "12.1" NB "KiB/s");
    assert_string_equal(format_si(exp2(60), "B").text, "1.00" NB "EiB");
    assert_string_equal(format_si(1.8e19, "B").text, "15.6" NB "EiB");
    assert_string_equal(format_axis(5e10, "/s").text, "50" NB "G/s");
    assert_string_equal(format_axis(exp2(36), "B/s").text, "64" NB "GiB/s");
    assert_string_equal(format_si(1021 * exp2(20), "B/s").text, "1.00" NB "GiB/s");
    assert_string_equal(format_axis(0, "B/s").text, "0");
    assert_string_equal(quantity_grouped(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(quantity_grouped(100).text, "100");
}

static void durations_are_read_at_a_glance(void **state)
{
    (void)state;
    assert_string_equal(format_duration(34).text, "34" NB "ns");
    assert_string_equal(format_duration(1200).text, "1.2" NB "\xc2\xb5s");
    assert_string_equal(format_duration(60e9).text, "60" NB "s");
    assert_string_equal(format_duration(252e9).text, "4" NB "min" NB "12" NB "s");
    assert_string_equal(format_duration(7500e9).text, "2" NB "h" NB "05" NB "min");
    assert_string_equal(format_elapsed(INT64_C(751000000000)).text, "00:12:31");
    assert_string_equal(format_elapsed(-5).text, "00:00:00");
}

static void a_small_share_is_not_none(void **state)
{
    (void)state;
    assert_string_equal(format_share(0).text, "0.0" NB "%");
    assert_string_equal(format_share(1e-9).text, "<0.1" NB "%");
    assert_string_equal(format_share(0.5).text, "50.0" NB "%");
    assert_string_equal(format_share(1).text, "100" NB "%");
}

static void nice_values_enclose(void **state)
{
    (void)state;
    for (double v = 1e-3; v < 1e15; v *= 1.37) {
        assert_true(nice_floor(v) <= v * (1 + 1e-8));
        assert_true(nice_floor(v) > v / 2.6);
        assert_true(nice_ceil(v) >= v * (1 - 1e-8));
        assert_true(nice_ceil(v) < v * 2.6);
    }
    assert_true(nice_ceil(0) == 0 && nice_floor(-1) == 0 && nice_floor(NAN) == 0);
    assert_true(nice_ceil(1000) == 1000);
    assert_true(nice_ceil_unit(600, "/s") == 1000 && nice_ceil_unit(600, "B/s") == 1024);
    assert_true(nice_ceil_unit(512, "B") == 512 && nice_floor_unit(513, "B") == 512 &&
                nice_ceil_unit(0, "B") == 0);
    assert_true(nice_time_step(INT64_C(7000000000)) == INT64_C(10000000000));
    assert_true(nice_time_step(INT64_C(200000) * 1000000000) == INT64_C(3) * 86400 * 1000000000);
}

static double lightness(color_t c)
{
    double sum = 0;
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; i++)
        sum += weight[i] * pow((c >> (24 - 8 * i) & 0xff) / 255.0, 2.2);
    return sum;
}

/* Order must survive any kind of colour blindness: it is carried by lightness. */
static void maps_grow_steadily_lighter_or_darker(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEMES; kind++) {
        struct theme t;
        theme_init(&t, (enum theme_kind)kind);
        for (int i = 8; i < 256; i += 8) {
            double step = lightness(t.map[i]) - lightness(t.map[i - 8]);
            assert_true(kind == THEME_DARK ? step > 0 : step < 0);
        }
    }
}

static double contrast(color_t a, color_t b)
{
    double x = lightness(a) + 0.05, y = lightness(b) + 0.05;
    return x > y ? x / y : y / x;
}

/* WCAG 2.1, 1.4.3: 4.5 for text, 3 for large text and marks. */
static void texts_stand_out_from_their_ground(void **state)
{
    (void)state;
    for (int kind = 0; kind < THEMES; kind++) {
        struct theme t;
        theme_init(&t, (enum theme_kind)kind);
        assert_true(contrast(t.text, t.panel) > 7);
        assert_true(contrast(t.second, t.panel) > 4.5);
        assert_true(contrast(t.second, t.ground) > 4.5);
        assert_true(contrast(t.bad, t.panel) > 4.5);
        assert_true(contrast(t.bad, t.bad_ground) > 4.5);
        assert_true(contrast(t.accent, t.panel) > 3);
        assert_true(contrast(t.good, t.good_ground) > 3);
    }
}

static void ratios_and_slopes_read_as_people_say_them(void **state)
{
    (void)state;
    assert_string_equal(format_ratio(2.44).text, "2.4x");
    assert_string_equal(format_ratio(1).text, "1.0x");
    assert_string_equal(format_ratio(9.96).text, "10x");
    assert_string_equal(format_ratio(1e300).text, ">9999x");
    assert_string_equal(format_ratio(NAN).text, "\xe2\x80\x93");
    assert_string_equal(format_slope(0.031).text, "+3.1\xc2\xa0%/min");
    assert_string_equal(format_slope(-0.2).text, "-20\xc2\xa0%/min");
    assert_string_equal(format_slope(NAN).text, "");
}

static void uncertainty_stands_beside_a_figure_where_it_shows(void **state)
{
    (void)state;
    assert_string_equal(format_ratio_within(1.3, 0.42).text, "1.3x \xc2\xb1 0.4x");
    assert_string_equal(format_ratio_within(1.3, 0.04).text, "1.3x");
    assert_string_equal(format_ratio_within(NAN, 0.4).text, "\xe2\x80\x93");
    assert_string_equal(format_duration_within(40, 0).text, "40\xc2\xa0ns");
    assert_string_equal(format_duration_within(40, 3).text, "40\xc2\xa0ns \xc2\xb1 "
                                                            "3\xc2\xa0ns");
}

/* This test runs in another time zone. */
static void times_are_utc_as_in_the_texts_of_alerts(void **state)
{
    (void)state;
    assert_string_equal(format_clock(INT64_C(1790000000250000000), 0).text, "14:13:20");
    assert_string_equal(format_clock(INT64_C(1790000000250000000), 1).text, "14:13:20.2");
    assert_string_equal(format_date(INT64_C(1790000000250000000)).text, "2026-09-21 14:13:20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_and_slopes_read_as_people_say_them),
        cmocka_unit_test(uncertainty_stands_beside_a_figure_where_it_shows),
        cmocka_unit_test(times_are_utc_as_in_the_texts_of_alerts),
        cmocka_unit_test(figures_have_three_digits_and_a_unit),
        cmocka_unit_test(durations_are_read_at_a_glance),
        cmocka_unit_test(a_small_share_is_not_none),
        cmocka_unit_test(nice_values_enclose),
        cmocka_unit_test(maps_grow_steadily_lighter_or_darker),
        cmocka_unit_test(texts_stand_out_from_their_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
