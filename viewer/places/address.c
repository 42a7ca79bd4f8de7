/* Addresses as text. */
#include "viewer/places/address.h"

#include "holter/plain_text.h"
#include "holter/refusal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double longest = 1e9; /* seconds */

/* ---- reading ---- */

static int address_read_number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno)
        return 0;
    *out = value;
    return 1;
}

static int address_read_seconds(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(fabs(value) <= longest))
        return 0;
    *out = value;
    return 1;
}

static int address_hex_digit(char c)
{
    const char *digits = "0123456789abcdef",
               *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Replaces each %XX by its byte. @return 0: it is not well-formed, or has a zero byte */
static int address_unescape(char *text)
{
    char *to = text;
    for (const char *c = text; *c; c++) {
        int high = -1, low = -1;
        if (*c != '%') {
            *to++ = *c;
            continue;
        }
        high = address_hex_digit(c[1]);
        low = high < 0 ? -1 : address_hex_digit(c[2]);
        if (low < 0 || high * 16 + low == 0)
            return 0;
        *to++ = (char)(high * 16 + low);
        c += 2;
    }
    *to = 0;
    return 1;
}

/* ROOM[/PLACE[/ALERT]] */
static int address_read_path(struct address *a, char *path, const struct refusal *fault)
{
    char *place = strchr(path, '/'), *alert = NULL;
    int room = 0;
    if (place)
        *place++ = 0;
    if (place && (alert = strchr(place, '/')))
        *alert++ = 0;
    while (room < ROOMS && strcmp(room_names[room].name, path) != 0)
        room++;
    if (room == ROOMS)
        return refusal_set(fault,
                           "there is no room '%.60s'; the rooms are overview, communication, "
                           "latency, network and system",
                           path);
    int view = place ? place_find(place) : (int)room_first((enum room_id)room);
    if (view < 0 || (int)place_names[view].room != room)
        return refusal_set(fault, "room '%s' has no place '%.60s'", path, place);
    a->view = (enum view_id)view;
    if (!alert)
        return 0;
    if (view != VIEW_ALERTS)
        return refusal_set(fault, "nothing can follow '%s/%.60s/'", path, place);
    a->alert_given = address_read_number(alert, &a->alert);
    return a->alert_given ? 0 : refusal_set(fault, "'%.60s' is no number of an alert", alert);
}

/* One "name=value". */
static int address_read_value(struct address *a, const char *name, char *value,
                              const struct refusal *fault)
{
    if (!address_unescape(value))
        return refusal_set(fault, "%.40s: '%.60s' has a wrong %% sequence", name, value);
    if (!strcmp(name, "alert")) {
        a->alert_given = address_read_number(value, &a->alert);
        return a->alert_given
                   ? 0
                   : refusal_set(fault, "alert: '%.60s' is no number of an alert", value);
    }
    if (!strcmp(name, "select")) {
        if (!*value || strlen(value) >= sizeof a->select)
            return refusal_set(fault, "select: '%.60s' is empty or too long", value);
        strcpy(a->select, value);
        return 0;
    }
    if (!strcmp(name, "from") || !strcmp(name, "to"))
        return address_read_seconds(value, *name == 'f' ? &a->from : &a->to)
                   ? 0
                   : refusal_set(fault, "%s: '%.60s' is no number of seconds", name, value);
    if (!strcmp(name, "sums")) {
        a->since_start = !strcmp(value, "start");
        return a->since_start ? 0 : refusal_set(fault, "sums: '%.60s' is not 'start'", value);
    }
    return refusal_set(fault, "'%.40s' is none of alert, select, from, to and sums", name);
}

int address_parse(struct address *out, const char *text, char *why, size_t capacity)
{
    const struct refusal fault = {why, capacity};
    struct address a = {.from = NAN, .to = NAN};
    char copy[ADDRESS_TEXT];
    if (strlen(text) >= sizeof copy)
        return refusal_set(&fault, "the address is longer than %zu bytes", sizeof copy - 1);
    strcpy(copy, text);
    char *values = strchr(copy, '?');
    if (values)
        *values++ = 0;
    int error = address_read_path(&a, copy, &fault);
    for (char *name; !error && values && (name = strsep(&values, "&"));) {
        char *value = strchr(name, '=');
        if (!value)
            return refusal_set(&fault, "'%.60s' has no value", name);
        *value++ = 0;
        error = address_read_value(&a, name, value, &fault);
    }
    /* which is first of a time since the start and one before the end is known with the job only */
    if (!error && a.from > a.to && !signbit(a.from) == !signbit(a.to))
        error = refusal_set(&fault, "from %g is after to %g", a.from, a.to);
    if (!error)
        *out = a;
    return error;
}

/* ---- writing ---- */

struct address_pen {
    char *out;
    size_t capacity;
    char next; /* separator of the next value */
};

static void address_add_name(struct address_pen *pen, const char *name)
{
    text_append(pen->out, pen->capacity, "%c%s=", pen->next, name);
    pen->next = '&';
}

static void address_add_seconds(struct address_pen *pen, const char *name, double seconds)
{
    char text[40];
    if (isnan(seconds))
        return;
    snprintf(text, sizeof text, "%.3f", seconds);
    char *end = text + strlen(text);
    while (end[-1] == '0')
        *--end = 0;
    if (end[-1] == '.')
        *--end = 0;
    address_add_name(pen, name);
    text_append(pen->out, pen->capacity, "%s", text);
}

char *address_print(const struct address *a, char *out, size_t capacity)
{
    struct address_pen pen = {out, capacity, '?'};
    const struct place_name *place = &place_names[a->view];
    *out = 0;
    text_append(out, capacity, "%s", room_names[place->room].name);
    int in_path = a->alert_given && a->view == VIEW_ALERTS;
    if (in_path || a->view != room_first(place->room))
        text_append(out, capacity, "/%s", place->other ? place->other : place->name);
    if (in_path)
        text_append(out, capacity, "/%llu", (unsigned long long)a->alert);
    if (a->alert_given && !in_path) {
        address_add_name(&pen, "alert");
        text_append(out, capacity, "%llu", (unsigned long long)a->alert);
    }
    if (a->select[0]) {
        address_add_name(&pen, "select");
        for (const char *c = a->select; *c; c++)
            text_append(out, capacity,
                        (unsigned char)*c <= ' ' || strchr("%&?#'\"", *c) ? "%%%02X" : "%c",
                        (unsigned char)*c);
    }
    address_add_seconds(&pen, "from", a->from);
    address_add_seconds(&pen, "to", a->to);
    if (a->since_start) {
        address_add_name(&pen, "sums");
        text_append(out, capacity, "start");
    }
    return out;
}
