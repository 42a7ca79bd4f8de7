/* Figures, durations, shares and times as text. */
#include "viewer/layout/format.h"

#include "proto/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Three significant digits of a value below 1000. */
static int format_digits(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

struct scaled {
    double value; /* below 1000 */
    const char *prefix;
};

static struct scaled format_scale(double value)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t k = 0;
    double v = fabs(value);
    while (v >= 999.5 && k + 1 < sizeof prefix / sizeof *prefix) {
        v /= 1000;
        k++;
    }
    return (struct scaled){v, prefix[k]};
}

char *format_si(char *out, size_t room, double value, const char *unit)
{
    struct scaled s = format_scale(value);
    const char *gap = *s.prefix || *unit ? "\xc2\xa0" : "";
    int whole = !*s.prefix && s.value == floor(s.value);
    snprintf(out, room, "%s%.*f%s%s%s", value < 0 ? "-" : "", whole ? 0 : format_digits(s.value),
             s.value, gap, s.prefix, unit);
    return out;
}

char *format_axis(char *out, size_t room, double value, const char *unit)
{
    struct scaled s = format_scale(value);
    const char *gap = *s.prefix || *unit ? "\xc2\xa0" : "";
    if (value == 0)
        snprintf(out, room, "0");
    else
        snprintf(out, room, "%s%.3g%s%s%s", value < 0 ? "-" : "", s.value, gap, s.prefix, unit);
    return out;
}

char *format_count(char *out, size_t room, uint64_t value)
{
    char plain[24];
    int length = snprintf(plain, sizeof plain, "%llu", (unsigned long long)value);
    size_t n = 0;
    for (int i = 0; i < length && n + 2 < room; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[n++] = ',';
        out[n++] = plain[i];
    }
    out[n] = 0;
    return out;
}

/* At most three significant digits, without trailing zeros: 60, 1.2, 12.4. */
static char *format_plain(char *out, size_t room, double value, const char *unit)
{
    snprintf(out, room, "%.3g\xc2\xa0%s", value, unit);
    return out;
}

char *format_duration(char *out, size_t room, double ns)
{
    double s = floor(ns / 1e9);
    if (ns < 999.5)
        return format_plain(out, room, ns, "ns");
    if (ns < 999.5e3)
        return format_plain(out, room, ns / 1e3, "\xc2\xb5s");
    if (ns < 999.5e6)
        return format_plain(out, room, ns / 1e6, "ms");
    if (ns < 119.5e9)
        return format_plain(out, room, ns / 1e9, "s");
    if (ns < 3600e9)
        snprintf(out, room, "%.0f\xc2\xa0min\xc2\xa0%.0f\xc2\xa0s", floor(s / 60), fmod(s, 60));
    else
        snprintf(out, room, "%.0f\xc2\xa0h\xc2\xa0%02.0f\xc2\xa0min", floor(s / 3600),
                 fmod(floor(s / 60), 60));
    return out;
}

char *format_share(char *out, size_t room, double share)
{
    double percent = share * 100;
    if (percent > 0 && percent < 0.05)
        snprintf(out, room, "<0.1\xc2\xa0%%");
    else
        snprintf(out, room, "%.*f\xc2\xa0%%", percent < 99.95 ? 1 : 0, percent);
    return out;
}

char *format_ratio(char *out, size_t room, double ratio)
{
    struct quantity text;
    if (isnan(ratio))
        snprintf(out, room, "\xe2\x80\x93");
    else
        snprintf(out, room, "%s", quantity_ratio(&text, ratio));
    return out;
}

char *format_ratio_within(char *out, size_t room, double ratio, double error)
{
    size_t length = strlen(format_ratio(out, room, ratio));
    struct quantity text;
    if (error >= 0.05 && !isnan(ratio))
        snprintf(out + length, room - length, " \xc2\xb1 %s", quantity_ratio(&text, error));
    return out;
}

char *format_duration_within(char *out, size_t room, double ns, double error_ns)
{
    size_t length = strlen(format_duration(out, room, ns));
    char error[FORMAT_CAPACITY];
    if (error_ns > 0)
        snprintf(out + length, room - length, " \xc2\xb1 %s",
                 format_duration(error, sizeof error, error_ns));
    return out;
}

char *format_slope(char *out, size_t room, double slope)
{
    double percent = slope * 100;
    if (isnan(slope))
        *out = 0;
    else
        snprintf(out, room, "%+.*f\xc2\xa0%%/min", fabs(percent) < 9.95 ? 1 : 0, percent);
    return out;
}

char *format_clock(char *out, size_t room, int64_t ns, int tenths)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    char clock[16];
    localtime_r(&seconds, &parts);
    strftime(clock, sizeof clock, "%H:%M:%S", &parts);
    if (tenths)
        snprintf(out, room, "%s.%d", clock, (int)(ns / 100000000 % 10));
    else
        snprintf(out, room, "%s", clock);
    return out;
}

char *format_date(char *out, size_t room, int64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    char date[32];
    *out = 0;
    if (localtime_r(&seconds, &parts) && strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts))
        snprintf(out, room, "%s", date);
    return out;
}

char *format_elapsed(char *out, size_t room, int64_t ns)
{
    int64_t s = ns > 0 ? ns / 1000000000 : 0;
    snprintf(out, room, "%02lld:%02lld:%02lld", (long long)(s / 3600), (long long)(s / 60 % 60),
             (long long)(s % 60));
    return out;
}

double nice_floor(double value)
{
    if (!(value > 0))
        return 0;
    double ten = pow(10, floor(log10(value) + 1e-9)), m = value / ten * (1 + 1e-9);
    return ten * (m >= 5 ? 5 : m >= 2 ? 2 : 1);
}

double nice_ceil(double value)
{
    double low = nice_floor(value);
    if (!(low > 0) || low >= value * (1 - 1e-9))
        return low;
    double lead = low / pow(10, floor(log10(low) + 1e-9));
    return low * (lead > 1.5 && lead < 3 ? 2.5 : 2);
}

int64_t nice_time_step(int64_t least_ns)
{
    static const int64_t seconds[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                      600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    static const int64_t second = 1000000000;
    if (least_ns <= second / 10)
        return second / 10;
    if (least_ns <= second / 5)
        return second / 5;
    if (least_ns <= second / 2)
        return second / 2;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        if (seconds[i] * second >= least_ns)
            return seconds[i] * second;
    int64_t day = 86400 * second;
    return (least_ns + day - 1) / day * day;
}
