/* Parses durations. */
#include "proto/duration.h"

#include "holter/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int duration_parse(const char *text, uint64_t *out)
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
