/* Reads numbers with units. */
#include "daemon/alert/rules_entry.h"

#include "holter/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    double factor;
};

static const struct scale {
    const char *expected, *example;
    struct unit units[6]; /* the first is that of messages */
} scales[] = {
    [MEASURE_TIME] = {"us, ms, s, min or h",
                      "2s",
                      {{"s", 1e9}, {"ms", 1e6}, {"min", 60e9}, {"h", 3600e9}, {"us", 1e3}}},
    [MEASURE_RATIO] = {"x", "1.5x", {{"x", 1}}},
    [MEASURE_GROWTH] = {"%/min, %/h or %/s",
                        "10%/min",
                        {{"%/min", 0.01}, {"%/h", 0.01 / 60}, {"%/s", 0.6}}},
    [MEASURE_COUNT] = {"no unit", "20", {{"", 1}}},
};

static int rules_value_refuse(char *why, size_t capacity, const char *text, const char *is,
                              const struct scale *scale)
{
    snprintf(why, capacity, "'%.40s' %s; %s is expected, as in %s", text, is, scale->expected,
             scale->example);
    return -HOLTER_EUSAGE;
}

static int rules_value_out_of_range(char *why, size_t capacity, const char *text,
                                    const struct value_range *range)
{
    const struct unit *unit = &scales[range->measure].units[0];
    snprintf(why, capacity, "'%.40s' is out of range: %.6g%s to %.6g%s", text,
             range->minimum / unit->factor, unit->name, range->maximum / unit->factor, unit->name);
    return -HOLTER_EUSAGE;
}

int rules_value_parse_number(const char *text, const struct value_range *range, double *out,
                             char *why, size_t capacity)
{
    const struct scale *scale = &scales[range->measure];
    const struct unit *unit = NULL;
    char number[32], *end;
    if (text[0] == '-' && strspn(text + 1, "0123456789.") > 0)
        return rules_value_refuse(why, capacity, text, "is negative", scale);
    size_t digits = strspn(text, "0123456789.");
    if (digits == 0 || digits >= sizeof(number))
        return rules_value_refuse(why, capacity, text, "is no number", scale);
    memcpy(number, text, digits);
    number[digits] = '\0';
    double value = strtod(number, &end);
    if (*end != '\0' || end == number ||
        (range->measure == MEASURE_COUNT && strchr(number, '.') != NULL))
        return rules_value_refuse(
            why, capacity, text,
            range->measure == MEASURE_COUNT ? "is no whole number" : "is no number", scale);
    const char *rest = text + digits + strspn(text + digits, " ");
    for (size_t i = 0; i < sizeof(scale->units) / sizeof(scale->units[0]); i++) {
        if (scale->units[i].name != NULL && strcmp(rest, scale->units[i].name) == 0)
            unit = &scale->units[i];
    }
    if (unit == NULL)
        return rules_value_refuse(why, capacity, text,
                                  rest[0] == '\0' ? "has no unit" : "has a wrong unit", scale);
    value *= unit->factor;
    if (!(value >= range->minimum && value <= range->maximum))
        return rules_value_out_of_range(why, capacity, text, range);
    *out = value;
    return 0;
}
