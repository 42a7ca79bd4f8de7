/* Formats quantities for people. */
#include "proto/quantity.h"

#include "holter/error.h"
#include "holter/plain_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

__extension__ typedef unsigned __int128 wide;

struct quantity quantity_print(const char *format, ...)
{
    struct quantity out;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out.text, sizeof out.text, format, arguments);
    va_end(arguments);
    return out;
}

/* Three significant digits, with the first unit that keeps the number below its step. */
static struct quantity quantity_scale(double value, double step, const char *const *units, int last)
{
    int unit = 0;
    /* 999.5 would be rounded to a fourth digit. */
    while (unit < last && fabs(value) >= step - 0.5) {
        value /= step;
        unit++;
    }
    int digits = unit == 0 || fabs(value) >= 99.95 ? 0 : fabs(value) >= 9.995 ? 1 : 2;
    return quantity_print("%.*f%s", digits, value, units[unit]);
}

struct quantity quantity_count(double count)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
    return quantity_scale(count, 1000, units, 6);
}

struct quantity quantity_grouped(uint64_t count)
{
    struct quantity plain = quantity_print("%" PRIu64, count), out;
    size_t length = strlen(plain.text), n = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.text[n++] = ',';
        out.text[n++] = plain.text[i];
    }
    out.text[n] = '\0';
    return out;
}

struct quantity quantity_things(uint64_t count, const char *noun)
{
    return quantity_print("%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}

struct quantity quantity_bytes(double bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    return quantity_scale(bytes, 1024, units, 6);
}

struct quantity quantity_duration(double ns)
{
    static const char *const units[] = {" ns", " µs", " ms", " s"};
    if (fabs(ns) < 119.5e9)
        return quantity_scale(ns, 1000, units, 3);
    if (!(ns > 0 && ns < 1e18))
        return quantity_print("%.3g s", ns / 1e9);
    unsigned long long seconds = (unsigned long long)(ns / 1e9 + 0.5);
    if (seconds < 7200)
        return quantity_print("%llu min %llu s", seconds / 60, seconds % 60);
    if (seconds < 172800)
        return quantity_print("%llu h %llu min", seconds / 3600, seconds / 60 % 60);
    return quantity_print("%llu d %llu h", seconds / 86400, seconds / 3600 % 24);
}

struct quantity quantity_measured(double ns, double error_ns)
{
    if (!(error_ns > 0))
        return quantity_duration(ns);
    return quantity_print("%s ± %s", quantity_duration(ns).text, quantity_duration(error_ns).text);
}

struct quantity quantity_clock(uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm utc;
    char day[16];
    if (ns == 0 || !gmtime_r(&seconds, &utc) || !strftime(day, sizeof day, "%H:%M:%S", &utc))
        return quantity_print("-");
    return quantity_print("%s.%03u", day, (unsigned)(ns / 1000000 % 1000));
}

struct quantity quantity_moment(uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm utc;
    char day[40];
    if (!gmtime_r(&seconds, &utc) || !strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc))
        return quantity_print("?");
    return quantity_print("%s.%03uZ", day, (unsigned)(ns / 1000000 % 1000));
}

struct quantity quantity_share(double part, double whole)
{
    return whole > 0 ? quantity_print("%.1f %%", 100 * part / whole) : quantity_print("-");
}

struct quantity quantity_matched(uint64_t matched, uint64_t unmatched)
{
    double share = 1e4 * (double)matched / ((double)matched + (double)unmatched);
    if (unmatched == 0)
        return quantity_print("%s", matched == 0 ? "-" : "100 %");
    return matched == 0 ? quantity_print("none")
                        : quantity_print("%.2f %%", fmin(floor(share), 9999) / 100);
}

struct quantity quantity_ranks(uint64_t rank, uint64_t group, uint64_t world)
{
    if (group <= 1)
        return quantity_print("rank %" PRIu64, rank);
    const uint64_t first = rank - rank % group, end = first + group;
    return quantity_print("ranks %" PRIu64 "-%" PRIu64, first,
                          (world > first && end > world ? world : end) - 1);
}

struct quantity quantity_ratio(double ratio)
{
    if (isnan(ratio))
        return quantity_print("-");
    if (ratio >= 9999.5)
        return quantity_print(">9999x");
    return quantity_print("%.*fx", ratio < 9.95 ? 1 : 0, ratio);
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

const char *quantity_decimal(const char *at, uint64_t *whole, uint64_t *billionth)
{
    uint64_t unit = SECOND;
    at = text_number(at, UINT64_MAX, whole);
    *billionth = 0;
    if (at == NULL || *at != '.')
        return at;
    const char *first = ++at;
    for (; *at >= '0' && *at <= '9'; at++) {
        unit /= 10;
        *billionth += unit * (uint64_t)(*at - '0');
    }
    return at == first ? NULL : at;
}

/* A number with its unit. @param most  nanoseconds of a unit that is too large; set to those of
 * this one
 * @return what follows, or NULL: there is none */
static const char *quantity_parse_part(const char *at, uint64_t *most, uint64_t *out)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", SECOND}, {"s", SECOND},      {"ms", 1000000},      {"us", 1000},
                 {"ns", 1},    {"m", 60 * SECOND}, {"min", 60 * SECOND}, {"h", 3600 * SECOND}};
    uint64_t whole, billionth, ns;
    at = quantity_decimal(at, &whole, &billionth);
    size_t length = at == NULL ? 0 : strcspn(at, "0123456789");
    for (size_t i = 0; at != NULL && i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) != length || strncmp(at, units[i].name, length) != 0)
            continue;
        wide part = (wide)billionth * units[i].ns / SECOND;
        if (units[i].ns >= *most || __builtin_mul_overflow(whole, units[i].ns, &ns) ||
            __builtin_add_overflow(ns, (uint64_t)part, out))
            return NULL;
        *most = units[i].ns;
        return at + length;
    }
    return NULL;
}

int quantity_parse_duration(const char *text, uint64_t *out)
{
    uint64_t most = UINT64_MAX, sum = 0, part;
    do {
        text = quantity_parse_part(text, &most, &part);
        if (text == NULL || __builtin_add_overflow(sum, part, &sum))
            return -HOLTER_EUSAGE;
    } while (*text != '\0');
    *out = sum;
    return 0;
}
