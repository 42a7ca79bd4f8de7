/* Exact conversion of decimal numbers in text to scaled whole numbers: csv_number() and
 * csv_whole(). */
#include "daemon/import/csv/csv_message.h"

#include "holter/error.h"

#define EXPONENT_MOST 1000
/* Further digits are below a nanosecond, unless the number is out of range. */
#define DIGITS_MOST 30

__extension__ typedef unsigned __int128 wide;

struct decimal {
    wide digits;
    int power, any;
    int broken; /* a nonzero fraction was rounded away */
};

static int csv_number_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read digits with at most one decimal point among them. @return the first byte after them */
static const char *csv_number_read_mantissa(struct decimal *d, const char *at, const char *end,
                                            int comma)
{
    int point = 0, kept = 0;
    for (; at < end; at++) {
        if (!csv_number_is_digit(*at)) {
            if (point || (*at != '.' && !(comma && *at == ',')))
                break;
            point = 1;
            continue;
        }
        d->any = 1;
        if (kept < DIGITS_MOST) {
            d->digits = d->digits * 10 + (unsigned)(*at - '0');
            kept += d->digits != 0;
            d->power -= point;
        } else {
            d->power += !point;
        }
    }
    return at;
}

/* Read an exponent. @return the first byte after it; NULL: it is malformed */
static const char *csv_number_read_exponent(struct decimal *d, const char *at, const char *end)
{
    int value = 0, negative = 0;
    if (at == end || (*at != 'e' && *at != 'E'))
        return at;
    at++;
    if (at < end && (*at == '+' || *at == '-'))
        negative = *at++ == '-';
    if (at == end || !csv_number_is_digit(*at))
        return NULL;
    for (; at < end && csv_number_is_digit(*at); at++)
        if (value < EXPONENT_MOST)
            value = value * 10 + (*at - '0');
    d->power += negative ? -value : value;
    return at;
}

static int csv_number_scale(struct decimal *d, uint64_t *out)
{
    wide value = d->digits;
    if (value == 0) {
        *out = 0;
        return 0;
    }
    for (; d->power > 0; d->power--)
        if ((value *= 10) > CSV_MAX_TIME)
            return -HOLTER_ERANGE;
    int half = 0;
    for (; d->power < 0 && (value > 0 || half); d->power++) {
        half = value % 10 >= 5;
        d->broken |= value % 10 != 0;
        value /= 10;
    }
    value += (unsigned)half;
    if (value > CSV_MAX_TIME)
        return -HOLTER_ERANGE;
    *out = (uint64_t)value;
    return 0;
}

static int csv_number_read_number(struct decimal *d, const char *text, size_t length, int comma,
                                  int64_t *out)
{
    const char *at = text, *end = text + length;
    uint64_t value;
    int negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    at = csv_number_read_mantissa(d, at, end, comma);
    at = d->any ? csv_number_read_exponent(d, at, end) : NULL;
    if (at != end)
        return -HOLTER_EUSAGE;
    int code = csv_number_scale(d, &value);
    if (code == 0)
        *out = negative ? -(int64_t)value : (int64_t)value;
    return code;
}

int csv_number(const char *text, size_t length, int power, int comma, int64_t *out)
{
    struct decimal d = {.power = power};
    return csv_number_read_number(&d, text, length, comma, out);
}

int csv_whole(const char *text, size_t length, int comma, int64_t *out)
{
    struct decimal d = {.power = 0};
    int code = csv_number_read_number(&d, text, length, comma, out);
    return code == 0 && d.broken ? -HOLTER_EUSAGE : code;
}
