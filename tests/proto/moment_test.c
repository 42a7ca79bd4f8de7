/* Points in time as people write them. */
#include "holter/error.h"
#include "proto/moment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define BEGIN (UINT64_C(1763787600) * S) /* 2025-11-22T05:00:00Z */
#define END (BEGIN + 3600 * S)

static uint64_t parsed(const char *text)
{
    char why[300] = "";
    uint64_t out = 1;
    int code = moment_parse(text, BEGIN, END, &out, why, sizeof(why));
    if (code != 0)
        fail_msg("%s: %s", text, why);
    assert_int_equal(moment_check(text, why, sizeof(why)), 0);
    return out;
}

static void refused(const char *text, int code)
{
    char why[300] = "";
    uint64_t out = 7;
    assert_int_equal(moment_parse(text, BEGIN, END, &out, why, sizeof(why)), code);
    assert_int_equal(out, 7);
    assert_non_null(strstr(why, text));
    assert_int_equal(moment_check(text, why, sizeof(why)), code == -HOLTER_ERANGE ? 0 : code);
}

static void a_time_of_day_is_the_first_in_the_recording(void **state)
{
    (void)state;
    assert_true(parsed("05:00") == BEGIN);
    assert_true(parsed("05:10") == BEGIN + 600 * S);
    assert_true(parsed("05:10Z") == BEGIN + 600 * S);
    assert_true(parsed("05:10:30.5") == BEGIN + 630 * S + S / 2);
    refused("04:59:59", -HOLTER_ERANGE);
    refused("06:00:01", -HOLTER_ERANGE);
    refused("24:00", -HOLTER_EUSAGE);
    refused("5:10", -HOLTER_EUSAGE);
    refused("05:10:", -HOLTER_EUSAGE);
    refused("05:10x", -HOLTER_EUSAGE);
}

static void a_moment_outside_is_refused_with_the_limits_of_the_recording(void **state)
{
    char why[300] = "";
    uint64_t out;
    (void)state;
    assert_int_equal(moment_parse("2h", BEGIN, END, &out, why, sizeof(why)), -HOLTER_ERANGE);
    assert_string_equal(why, "2h is outside the recording, which is 3600.000 s long, from "
                             "2025-11-22T05:00:00.000Z to 2025-11-22T06:00:00.000Z");
}

static uint64_t found(const char *text, uint64_t begin, uint64_t end)
{
    char why[300] = "";
    uint64_t out = 1;
    if (moment_find(text, begin, end, &out, why, sizeof(why)) != 0)
        fail_msg("%s: %s", text, why);
    return out;
}

static void a_time_of_day_that_the_recording_does_not_have_is_the_nearest(void **state)
{
    const uint64_t midnight = BEGIN + 19 * 3600 * S, m = 60 * S; /* of the next day */
    (void)state;
    assert_true(found("04:58", BEGIN, END) == BEGIN - 2 * m);
    assert_true(found("06:02", BEGIN, END) == END + 2 * m);
    assert_true(found("00:05", midnight - 10 * m, midnight + 20 * m) == midnight + 5 * m);
    assert_true(found("00:30", midnight - 10 * m, midnight + 20 * m) == midnight + 30 * m);
    assert_true(found("23:50", midnight + 10 * m, midnight + 30 * m) == midnight - 10 * m);
    assert_true(found("00:05", midnight - 10 * m, midnight + 3000 * m) == midnight + 5 * m);
}

static void points_outside_are_found_where_that_is_allowed(void **state)
{
    char why[300] = "";
    uint64_t out = 7;
    (void)state;
    assert_true(found("+2h", BEGIN, END) == END + 3600 * S);
    assert_true(found("-2h", BEGIN, END) == BEGIN - 3600 * S);
    assert_int_equal(moment_find("-2000000h", BEGIN, END, &out, why, sizeof(why)), -HOLTER_ERANGE);
    assert_int_equal(moment_find("soon", BEGIN, END, &out, why, sizeof(why)), -HOLTER_EUSAGE);
    assert_true(out == 7);
}

static void from_the_begin_and_before_the_end(void **state)
{
    (void)state;
    assert_true(parsed("+0") == BEGIN);
    assert_true(parsed("+12.5s") == BEGIN + 12 * S + S / 2);
    assert_true(parsed("+12.5") == BEGIN + 12 * S + S / 2);
    assert_true(parsed("+10m") == BEGIN + 600 * S);
    assert_true(parsed("+10min") == BEGIN + 600 * S);
    assert_true(parsed("+0.5h") == BEGIN + 1800 * S);
    assert_true(parsed("+250ms") == BEGIN + S / 4);
    assert_true(parsed("+1.5us") == BEGIN + 1500);
    assert_true(parsed("+7ns") == BEGIN + 7);
    assert_true(parsed("+1.9ns") == BEGIN + 1);
    assert_true(parsed("12.5s") == BEGIN + 12 * S + S / 2);
    assert_true(parsed("12.5") == BEGIN + 12 * S + S / 2);
    assert_true(parsed("10m") == BEGIN + 600 * S);
    assert_true(parsed("90") == BEGIN + 90 * S);
    assert_true(parsed("29m30s") == BEGIN + 1770 * S);
    assert_true(parsed("+1min2.5s250ms") == BEGIN + 62 * S + 3 * S / 4);
    assert_true(parsed("1m30") == BEGIN + 90 * S);
    assert_true(parsed("-10m5s") == END - 605 * S);
    assert_true(parsed("0") == BEGIN);
    assert_true(parsed("-10s") == END - 10 * S);
    assert_true(parsed("-0") == END);
    assert_true(parsed("+1h") == END);
    refused("+3600.000000001", -HOLTER_ERANGE);
    refused("-1.0001h", -HOLTER_ERANGE);
    refused("59m61s", -HOLTER_ERANGE);
    refused("30s29m", -HOLTER_EUSAGE);
    refused("1m1min", -HOLTER_EUSAGE);
    refused("1m 30s", -HOLTER_EUSAGE);
    refused("1ms5", -HOLTER_EUSAGE);
    refused("18446744073s1h", -HOLTER_EUSAGE);
}

static void shares_of_the_recording(void **state)
{
    (void)state;
    assert_true(parsed("0%") == BEGIN);
    assert_true(parsed("40%") == BEGIN + 1440 * S);
    assert_true(parsed("12.5%") == BEGIN + 450 * S);
    assert_true(parsed("100%") == END);
    refused("100.1%", -HOLTER_EUSAGE);
    refused("101%", -HOLTER_EUSAGE);
    refused("-1%", -HOLTER_EUSAGE);
}

static void absolute_times(void **state)
{
    (void)state;
    assert_true(parsed("1763787600000000000") == BEGIN);
    assert_true(parsed("1763787600000000001") == BEGIN + 1);
    assert_true(parsed("2025-11-22T05:00:00Z") == BEGIN);
    assert_true(parsed("2025-11-22t05:00:00.5z") == BEGIN + S / 2);
    assert_true(parsed("2025-11-22 05:30:00.000000001Z") == BEGIN + 1800 * S + 1);
    assert_true(parsed("2025-11-22T06:00:01+01:00") == BEGIN + S);
    assert_true(parsed("2025-11-21T20:30:00-08:30") == BEGIN);
    assert_true(parsed("2025-11-22T05:00:60Z") == BEGIN + 60 * S);
    refused("2025-11-22T04:59:59Z", -HOLTER_ERANGE);
    refused("9999999999", -HOLTER_ERANGE);
    refused("10000000000", -HOLTER_ERANGE);
    refused("18446744073709551615", -HOLTER_ERANGE);
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "+",
        "-",
        "%",
        "+s",
        "+1.s",
        "+.5s",
        "+1x",
        "+1 s",
        "++1s",
        "1 s",
        "1.5.5",
        "1y",
        "nan",
        "+nan",
        "+1e3",
        "0x10",
        " 5",
        "5 ",
        "5%%",
        "18446744073709551616",
        "+99999999999999999999s",
        "+6000000h",
        "2025-11-22",
        "2025-11-22T05:00:00",
        "2025-13-01T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "2025-00-10T00:00:00Z",
        "2025-11-22T24:00:00Z",
        "2025-11-22T05:60:00Z",
        "2025-11-22T05:00:61Z",
        "2025-11-22T05:00:00.Z",
        "2025-11-22T05:00:00+1:00",
        "2025-11-22T05:00:00Zx",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
        "2555-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z",
    };
    char text[200];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        refused(wrong[i], -HOLTER_EUSAGE);
    memset(text, '1', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    uint64_t out;
    char why[300];
    assert_int_equal(moment_parse(text, BEGIN, END, &out, why, sizeof(why)), -HOLTER_EUSAGE);
    assert_int_equal(moment_parse("2025-02-28T23:59:59.99999999999999999999999999999999999999Z", 0,
                                  UINT64_MAX, &out, why, sizeof(why)),
                     0);
    assert_true(out % S == 999999999);
}

static void dates_are_those_of_the_calendar(void **state)
{
    (void)state;
    char text[64], why[300];
    uint64_t out, seed = 7;
    for (int i = 0; i < 20000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        time_t at = (time_t)((seed >> 33) * 8 % UINT64_C(18446744072));
        struct tm tm;
        gmtime_r(&at, &tm);
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
        assert_int_equal(moment_parse(text, 0, UINT64_MAX, &out, why, sizeof(why)), 0);
        assert_true(out == (uint64_t)at * S);
    }
}

static void a_recording_of_one_message_has_one_point(void **state)
{
    (void)state;
    char why[300];
    uint64_t out;
    static const char *const all[] = {"+0s", "-0s", "0%", "50%", "100%", "0"};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_int_equal(moment_parse(all[i], 5, 5, &out, why, sizeof(why)), 0);
        assert_int_equal(out, 5);
    }
    assert_int_equal(moment_parse("+1ns", 5, 5, &out, why, sizeof(why)), -HOLTER_ERANGE);
}

static void any_bytes_are_read_or_refused(void **state)
{
    (void)state;
    static const char letters[] = "0123456789+-:.TZtz %smnuhi2025-11-22";
    char text[80], why[300];
    uint64_t seed = 3, out;
    for (int i = 0; i < 100000; i++) {
        size_t length = (seed >> 20) % 40;
        for (size_t c = 0; c < length; c++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            text[c] = letters[(seed >> 33) % (sizeof(letters) - 1)];
        }
        text[length] = '\0';
        out = BEGIN;
        moment_parse(text, BEGIN, END, &out, why, sizeof(why));
        assert_true(out >= BEGIN && out <= END);
        seed++;
    }
}

static void only_durations_and_shares_need_the_begin(void **state)
{
    (void)state;
    assert_true(moment_needs_begin("+10s"));
    assert_true(moment_needs_begin("90"));
    assert_true(moment_needs_begin("40%"));
    assert_false(moment_needs_begin("-10s"));
    assert_false(moment_needs_begin("10:05"));
    assert_false(moment_needs_begin("2026-11-22T05:00:00Z"));
    assert_false(moment_needs_begin("1763788800000000000"));
    assert_false(moment_needs_begin("soon"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_of_day_is_the_first_in_the_recording),
        cmocka_unit_test(a_moment_outside_is_refused_with_the_limits_of_the_recording),
        cmocka_unit_test(a_time_of_day_that_the_recording_does_not_have_is_the_nearest),
        cmocka_unit_test(points_outside_are_found_where_that_is_allowed),
        cmocka_unit_test(from_the_begin_and_before_the_end),
        cmocka_unit_test(shares_of_the_recording),
        cmocka_unit_test(absolute_times),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(dates_are_those_of_the_calendar),
        cmocka_unit_test(a_recording_of_one_message_has_one_point),
        cmocka_unit_test(any_bytes_are_read_or_refused),
        cmocka_unit_test(only_durations_and_shares_need_the_begin),
    };
    return cmocka_run_group_tests_name("moment", tests, NULL, NULL);
}
