/* Figures, durations, shares and times as text. */
#include "viewer/layout/format.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/* Three significant digits of a value below 1000. */
static int format_digits(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

struct scaled {
    double value; /* below 1000; below 1024 of bytes without a prefix */
    const char *prefix;
};

static int unit_is_bytes(const char *unit)
{
    return *unit == 'B';
}

static struct scaled format_scale(double value, const char *unit)
{
    enum { PREFIXES = 7 };
    static const char *const decimal[PREFIXES] = {"", "k", "M", "G", "T", "P", "E"},
                             *const binary[PREFIXES] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    const double step = unit_is_bytes(unit) ? 1024 : 1000;
    size_t k = 0;
    double v = fabs(value);
    while (v >= (k ? 999.5 : step - 0.5) && k + 1 < PREFIXES) {
        v /= step;
        k++;
    }
    return (struct scaled){v, unit_is_bytes(unit) ? binary[k] : decimal[k]};
}

struct quantity format_si(double value, const char *unit)
{
    struct scaled s = format_scale(value, unit);
    const char *gap = *s.prefix || *unit ? "\xc2\xa0" : "";
    int whole = !*s.prefix && s.value == floor(s.value);
    return quantity_print("%s%.*f%s%s%s", value < 0 ? "-" : "", whole ? 0 : format_digits(s.value),
                          s.value, gap, s.prefix, unit);
}

struct quantity format_axis(double value, const char *unit)
{
    struct scaled s = format_scale(value, unit);
    const char *gap = *s.prefix || *unit ? "\xc2\xa0" : "";
    if (value == 0)
        return quantity_print("0");
    return quantity_print("%s%.*g%s%s%s", value < 0 ? "-" : "", s.value < 1000 ? 3 : 4, s.value,
                          gap, s.prefix, unit);
}

struct quantity format_duration(double ns)
{
    static const struct {
        double below, unit_ns;
        const char *unit;
    } steps[] = {
        {999.5, 1, "ns"}, {999.5e3, 1e3, "\xc2\xb5s"}, {999.5e6, 1e6, "ms"}, {119.5e9, 1e9, "s"}};
    /* at most three significant digits, without trailing zeros: 60, 1.2, 12.4 */
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (ns < steps[i].below)
            return quantity_print("%.3g\xc2\xa0%s", ns / steps[i].unit_ns, steps[i].unit);
    double s = floor(ns / 1e9);
    if (ns < 3600e9)
        return quantity_print("%.0f\xc2\xa0min\xc2\xa0%.0f\xc2\xa0s", floor(s / 60), fmod(s, 60));
    return quantity_print("%.0f\xc2\xa0h\xc2\xa0%02.0f\xc2\xa0min", floor(s / 3600),
                          fmod(floor(s / 60), 60));
}

struct quantity format_share(double share)
{
    double percent = share * 100;
    if (percent > 0 && percent < 0.05)
        return quantity_print("<0.1\xc2\xa0%%");
    return quantity_print("%.*f\xc2\xa0%%", percent < 99.95 ? 1 : 0, percent);
}

struct quantity format_ratio(double ratio)
{
    return isnan(ratio) ? quantity_print("\xe2\x80\x93") : quantity_ratio(ratio);
}

struct quantity format_ratio_within(double ratio, double error)
{
    if (!(error >= 0.05) || isnan(ratio))
        return format_ratio(ratio);
    return quantity_print("%s \xc2\xb1 %s", format_ratio(ratio).text, quantity_ratio(error).text);
}

struct quantity format_duration_within(double ns, double error_ns)
{
    if (!(error_ns > 0))
        return format_duration(ns);
    return quantity_print("%s \xc2\xb1 %s", format_duration(ns).text,
                          format_duration(error_ns).text);
}

struct quantity format_slope(double slope)
{
    double percent = slope * 100;
    if (isnan(slope))
        return quantity_print("%s", "");
    return quantity_print("%+.*f\xc2\xa0%%/min", fabs(percent) < 9.95 ? 1 : 0, percent);
}

struct quantity format_clock(int64_t ns, int tenths)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    char clock[16];
    gmtime_r(&seconds, &parts);
    strftime(clock, sizeof clock, "%H:%M:%S", &parts);
    return quantity_print(tenths ? "%s.%d" : "%s", clock, (int)(ns / 100000000 % 10));
}

struct quantity format_date(int64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct quantity out = {""};
    struct tm parts;
    if (gmtime_r(&seconds, &parts))
        strftime(out.text, sizeof out.text, "%Y-%m-%d %H:%M:%S", &parts);
    return out;
}

struct quantity format_elapsed(int64_t ns)
{
    int64_t s = ns > 0 ? ns / 1000000000 : 0;
    return quantity_print("%02lld:%02lld:%02lld", (long long)(s / 3600), (long long)(s / 60 % 60),
                          (long long)(s % 60));
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

double nice_ceil_unit(double value, const char *unit)
{
    if (!unit_is_bytes(unit) || !(value > 0))
        return nice_ceil(value);
    return exp2(ceil(log2(value) - 1e-9));
}

double nice_floor_unit(double value, const char *unit)
{
    if (!unit_is_bytes(unit) || !(value > 0))
        return nice_floor(value);
    return exp2(floor(log2(value) + 1e-9));
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
