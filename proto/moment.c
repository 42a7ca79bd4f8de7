/* Parses points in time of a recording. */
#include "proto/moment.h"

#include "holter/error.h"
#include "proto/quantity.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)
#define DAY (86400 * SECOND)
#define MOST_SECONDS 10u /* digits: a date in nanoseconds has 19 of them */

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_signed;

/* A parsed point in time, not yet applied to a recording. */
struct moment {
    enum { ABSOLUTE, TIME_OF_DAY, FROM_BEGIN, BEFORE_END, SHARE } kind;
    uint64_t ns;        /* of all but SHARE; TIME_OF_DAY: since midnight */
    uint64_t billionth; /* SHARE: of the span, 0 to 10^9 */
};

static int moment_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Exactly so many digits. */
static int read_digits(const char **at, int digits, int least, int most, int *out)
{
    *out = 0;
    for (int i = 0; i < digits; i++) {
        if (!moment_is_digit((*at)[i]))
            return -HOLTER_EUSAGE;
        *out = 10 * *out + ((*at)[i] - '0');
    }
    *at += digits;
    return *out < least || *out > most ? -HOLTER_EUSAGE : 0;
}

static int read_mark(const char **at, const char *marks)
{
    if (**at == '\0' || strchr(marks, **at) == NULL)
        return -HOLTER_EUSAGE;
    (*at)++;
    return 0;
}

/* "Z", or the offset of local time. @param seconds  to be taken off */
static int read_offset(const char **at, int64_t *seconds)
{
    int hours, minutes, negative = **at == '-';
    *seconds = 0;
    if (**at == 'Z' || **at == 'z') {
        (*at)++;
        return 0;
    }
    if (read_mark(at, "+-") != 0 || read_digits(at, 2, 0, 23, &hours) != 0 ||
        read_mark(at, ":") != 0 || read_digits(at, 2, 0, 59, &minutes) != 0)
        return -HOLTER_EUSAGE;
    *seconds = (negative ? -1 : 1) * (3600 * (int64_t)hours + 60 * (int64_t)minutes);
    return 0;
}

/* A fraction of a second, which may be missing. */
static int read_fraction(const char **at, uint64_t *billionth)
{
    char fraction[MOMENT_BYTES + 2] = "0";
    uint64_t zero;
    *billionth = 0;
    if (**at != '.')
        return 0;
    size_t length = 1 + strspn(*at + 1, "0123456789");
    memcpy(fraction + 1, *at, length);
    *at += length;
    return quantity_decimal(fraction, &zero, billionth) == NULL ? -HOLTER_EUSAGE : 0;
}

/* RFC 3339, section 5.6; a leap second counts as the first of the next minute. */
static int read_date(const char *at, uint64_t *out)
{
    int year, month, day, hour, minute, second;
    uint64_t billionth;
    int64_t offset;
    if (read_digits(&at, 4, 1970, 2554, &year) != 0 || read_mark(&at, "-") != 0 ||
        read_digits(&at, 2, 1, 12, &month) != 0 || read_mark(&at, "-") != 0 ||
        read_digits(&at, 2, 1, 31, &day) != 0 || read_mark(&at, "Tt ") != 0 ||
        read_digits(&at, 2, 0, 23, &hour) != 0 || read_mark(&at, ":") != 0 ||
        read_digits(&at, 2, 0, 59, &minute) != 0 || read_mark(&at, ":") != 0 ||
        read_digits(&at, 2, 0, 60, &second) != 0 || read_fraction(&at, &billionth) != 0 ||
        read_offset(&at, &offset) != 0 || *at != '\0')
        return -HOLTER_EUSAGE;
    struct tm minutes = {.tm_year = year - 1900,
                         .tm_mon = month - 1,
                         .tm_mday = day,
                         .tm_hour = hour,
                         .tm_min = minute};
    int64_t seconds = timegm(&minutes) + second - offset;
    if (minutes.tm_mday != day || seconds < 0 || (uint64_t)seconds > UINT64_MAX / SECOND - 1)
        return -HOLTER_EUSAGE;
    *out = (uint64_t)seconds * SECOND + billionth;
    return 0;
}

/* "10:05", "10:05:30.5", perhaps with "Z". @param out  set to nanoseconds since midnight */
static int read_time_of_day(const char *at, uint64_t *out)
{
    int hour, minute, second = 0;
    uint64_t billionth = 0;
    if (read_digits(&at, 2, 0, 23, &hour) != 0 || read_mark(&at, ":") != 0 ||
        read_digits(&at, 2, 0, 59, &minute) != 0)
        return -HOLTER_EUSAGE;
    if (*at == ':') {
        at++;
        if (read_digits(&at, 2, 0, 59, &second) != 0 || read_fraction(&at, &billionth) != 0)
            return -HOLTER_EUSAGE;
    }
    at += *at == 'Z';
    *out = (uint64_t)(3600 * hour + 60 * minute + second) * SECOND + billionth;
    return *at == '\0' ? 0 : -HOLTER_EUSAGE;
}

static int read_share(const char *at, uint64_t *out)
{
    uint64_t whole, billionth;
    at = quantity_decimal(at, &whole, &billionth);
    if (at == NULL || strcmp(at, "%") != 0 || whole > 100 || (whole == 100 && billionth > 0))
        return -HOLTER_EUSAGE;
    *out = whole * (SECOND / 100) + billionth / 100;
    return 0;
}

static int read_moment(const char *text, struct moment *out)
{
    size_t length = strnlen(text, MOMENT_BYTES + 1), digits = strspn(text, "0123456789");
    *out = (struct moment){.kind = ABSOLUTE};
    if (length == 0 || length > MOMENT_BYTES)
        return -HOLTER_EUSAGE;
    if (text[0] == '+' || text[0] == '-') {
        out->kind = text[0] == '+' ? FROM_BEGIN : BEFORE_END;
        return quantity_parse_duration(text + 1, &out->ns);
    }
    if (text[length - 1] == '%') {
        out->kind = SHARE;
        return read_share(text, &out->billionth);
    }
    if (read_time_of_day(text, &out->ns) == 0) {
        out->kind = TIME_OF_DAY;
        return 0;
    }
    if (digits <= MOST_SECONDS && quantity_parse_duration(text, &out->ns) == 0) {
        out->kind = FROM_BEGIN;
        return 0;
    }
    if (digits < length)
        return read_date(text, &out->ns);
    uint64_t nothing;
    return quantity_decimal(text, &out->ns, &nothing) == NULL ? -HOLTER_EUSAGE : 0;
}

static int moment_report_fault(const char *text, char *why, size_t capacity)
{
    snprintf(
        why, capacity,
        "'%.*s' is no point in time: 12.5s or 1m30s (from the begin), -10s (before the end), 40%%, "
        "10:05 (UTC), 2026-11-22T05:00:00Z or nanoseconds since 1970 are expected",
        (int)MOMENT_BYTES, text);
    return -HOLTER_EUSAGE;
}

int moment_check(const char *text, char *why, size_t capacity)
{
    struct moment moment;
    return read_moment(text, &moment) == 0 ? 0 : moment_report_fault(text, why, capacity);
}

int moment_needs_begin(const char *text)
{
    struct moment moment;
    return read_moment(text, &moment) == 0 && (moment.kind == FROM_BEGIN || moment.kind == SHARE);
}

static uint64_t moment_distance(uint64_t ns, uint64_t begin_ns, uint64_t end_ns)
{
    return ns < begin_ns ? begin_ns - ns : ns > end_ns ? ns - end_ns : 0;
}

/* The first time of day within a span, or the nearest one. */
static uint64_t moment_on_its_day(uint64_t ns, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t midnight = begin_ns / DAY * DAY, best = midnight + ns;
    uint64_t before = midnight >= DAY ? best - DAY : best, after = best + DAY;
    if (moment_distance(after, begin_ns, end_ns) < moment_distance(best, begin_ns, end_ns))
        best = after;
    if (moment_distance(before, begin_ns, end_ns) < moment_distance(best, begin_ns, end_ns))
        best = before;
    return best;
}

/* The point in time that a text means, wide enough for any text. */
static wide_signed moment_resolve(const struct moment *moment, uint64_t begin_ns, uint64_t end_ns)
{
    switch (moment->kind) {
    case TIME_OF_DAY:
        return moment_on_its_day(moment->ns, begin_ns, end_ns);
    case FROM_BEGIN:
        return (wide_signed)begin_ns + moment->ns;
    case BEFORE_END:
        return (wide_signed)end_ns - moment->ns;
    case SHARE:
        return begin_ns + (uint64_t)((wide)(end_ns - begin_ns) * moment->billionth / SECOND);
    default:
        return moment->ns;
    }
}

int moment_find(const char *text, uint64_t begin_ns, uint64_t end_ns, uint64_t *out, char *why,
                size_t capacity)
{
    struct moment moment;
    if (read_moment(text, &moment) != 0)
        return moment_report_fault(text, why, capacity);
    wide_signed at = moment_resolve(&moment, begin_ns, end_ns);
    if (at < 0 || at > UINT64_MAX) {
        snprintf(why, capacity, "%.*s is before 1970 or after 2554", (int)MOMENT_BYTES, text);
        return -HOLTER_ERANGE;
    }
    *out = (uint64_t)at;
    return 0;
}

int moment_parse(const char *text, uint64_t begin_ns, uint64_t end_ns, uint64_t *out, char *why,
                 size_t capacity)
{
    uint64_t at = 0;
    int code = moment_find(text, begin_ns, end_ns, &at, why, capacity);
    if (code == -HOLTER_EUSAGE)
        return code;
    if (code != 0 || at < begin_ns || at > end_ns) {
        snprintf(why, capacity,
                 "%.*s is outside the recording, which is %.3f s long, from %s to %s",
                 (int)MOMENT_BYTES, text, (double)(end_ns - begin_ns) * 1e-9,
                 quantity_moment(begin_ns).text, quantity_moment(end_ns).text);
        return -HOLTER_ERANGE;
    }
    *out = at;
    return 0;
}
