/* Formats quantities for people. */
#include "proto/quantity.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Three significant digits, with the first unit that keeps the number below its step. */
static const char *quantity_scale(struct quantity *out, double value, double step,
                                  const char *const *units, int last)
{
    int unit = 0;
    /* 999.5 would be rounded to a fourth digit. */
    while (unit < last && fabs(value) >= step - 0.5) {
        value /= step;
        unit++;
    }
    int digits = unit == 0 || fabs(value) >= 99.95 ? 0 : fabs(value) >= 9.995 ? 1 : 2;
    snprintf(out->text, sizeof out->text, "%.*f%s", digits, value, units[unit]);
    return out->text;
}

const char *quantity_count(struct quantity *out, double count)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
    return quantity_scale(out, count, 1000, units, 6);
}

const char *quantity_things(struct quantity *out, uint64_t count, const char *noun)
{
    snprintf(out->text, sizeof out->text, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
    return out->text;
}

const char *quantity_bytes(struct quantity *out, double bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    return quantity_scale(out, bytes, 1024, units, 6);
}

static const char *quantity_format_two(struct quantity *out, unsigned long long high,
                                       const char *high_unit, unsigned long long low,
                                       const char *low_unit)
{
    snprintf(out->text, sizeof out->text, "%llu %s %llu %s", high, high_unit, low, low_unit);
    return out->text;
}

const char *quantity_duration(struct quantity *out, double ns)
{
    static const char *const units[] = {" ns", " µs", " ms", " s"};
    if (fabs(ns) < 119.5e9)
        return quantity_scale(out, ns, 1000, units, 3);
    if (!(ns > 0 && ns < 1e18)) {
        snprintf(out->text, sizeof out->text, "%.3g s", ns / 1e9);
        return out->text;
    }
    unsigned long long seconds = (unsigned long long)(ns / 1e9 + 0.5);
    if (seconds < 7200)
        return quantity_format_two(out, seconds / 60, "min", seconds % 60, "s");
    if (seconds < 172800)
        return quantity_format_two(out, seconds / 3600, "h", seconds / 60 % 60, "min");
    return quantity_format_two(out, seconds / 86400, "d", seconds / 3600 % 24, "h");
}

const char *quantity_measured(struct quantity *out, double ns, double error_ns)
{
    struct quantity time, error;
    if (!(error_ns > 0))
        return quantity_duration(out, ns);
    snprintf(out->text, sizeof out->text, "%.12s ± %.12s", quantity_duration(&time, ns),
             quantity_duration(&error, error_ns));
    return out->text;
}

const char *quantity_clock(struct quantity *out, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm local;
    char day[16];
    if (ns == 0 || !localtime_r(&seconds, &local) || !strftime(day, sizeof day, "%H:%M:%S", &local))
        snprintf(out->text, sizeof out->text, "-");
    else
        snprintf(out->text, sizeof out->text, "%s.%03u", day, (unsigned)(ns / 1000000 % 1000));
    return out->text;
}

const char *quantity_share(struct quantity *out, double part, double whole)
{
    if (whole > 0)
        snprintf(out->text, sizeof out->text, "%.1f %%", 100 * part / whole);
    else
        snprintf(out->text, sizeof out->text, "-");
    return out->text;
}

const char *quantity_matched(struct quantity *out, uint64_t matched, uint64_t unmatched)
{
    double share = 1e4 * (double)matched / ((double)matched + (double)unmatched);
    if (unmatched == 0)
        snprintf(out->text, sizeof out->text, "%s", matched == 0 ? "-" : "100 %");
    else
        snprintf(out->text, sizeof out->text, "%.2f %%", fmin(floor(share), 9999) / 100);
    return out->text;
}

const char *quantity_ratio(struct quantity *out, double ratio)
{
    if (isnan(ratio))
        snprintf(out->text, sizeof out->text, "-");
    else if (ratio >= 9999.5)
        snprintf(out->text, sizeof out->text, ">9999x");
    else
        snprintf(out->text, sizeof out->text, "%.*fx", ratio < 9.95 ? 1 : 0, ratio);
    return out->text;
}

int quantity_parse_bytes(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    uint64_t size;
    const char *end = text_number(text, UINT64_MAX, &size);
    if (end == NULL)
        return -HOLTER_EUSAGE;
    const char *unit = *end == '\0' ? NULL : strchr(units, *end);
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    if (size > UINT64_MAX >> shift)
        return -HOLTER_EUSAGE;
    end += unit != NULL;
    if (strcmp(end, "") != 0 && (unit == NULL || (strcmp(end, "iB") != 0 && strcmp(end, "B") != 0)))
        return -HOLTER_EUSAGE;
    *out = size << shift;
    return 0;
}

int quantity_parse_duration(const char *text, uint64_t *out)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"min", 60e9}};
    size_t digits = strspn(text, "0123456789.");
    char number[32], *end;
    if (text[0] < '0' || text[0] > '9' || digits >= sizeof(number))
        return -HOLTER_EUSAGE;
    memcpy(number, text, digits);
    number[digits] = '\0';
    double value = strtod(number, &end);
    if (*end != '\0')
        return -HOLTER_EUSAGE;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text + digits, units[i].name) != 0)
            continue;
        double ns = value * units[i].ns;
        if (ns > 9e18)
            return -HOLTER_EUSAGE;
        *out = (uint64_t)llround(ns);
        return 0;
    }
    return -HOLTER_EUSAGE;
}
