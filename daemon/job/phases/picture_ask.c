/* Parser for the argument of the request "commgram". */
#include "daemon/job/phases/picture_ask.h"

#include "holter/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word of the argument, which is not terminated, and the buffer for an error about it. */
struct word {
    const char *text;
    size_t length;
    char *why;
    size_t why_size;
};

void picture_ask_finish(struct picture_ask *ask)
{
    free(ask->only);
    *ask = (struct picture_ask){0};
}

static int picture_ask_reject(const struct word *w, const char *expected)
{
    snprintf(w->why, w->why_size, "commgram: '%.*s': %s", w->length < 60 ? (int)w->length : 60,
             w->text, expected);
    return -HOLTER_EUSAGE;
}

/* Digits up to the first other character. @return that, or NULL: there is no number, or it is above
 */
static const char *picture_ask_read_number(const char *at, const char *end, uint64_t maximum,
                                           uint64_t *out)
{
    const char *begin = at;
    uint64_t value = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (digit > maximum || value > (maximum - digit) / 10)
            return NULL;
        value = value * 10 + digit;
    }
    *out = value;
    return at == begin ? NULL : at;
}

static int picture_ask_set_number(const struct word *w, const char *value, uint64_t minimum,
                                  uint64_t maximum, uint64_t *out)
{
    char expected[80];
    const char *end = w->text + w->length;
    uint64_t number = 0;
    if (picture_ask_read_number(value, end, maximum, &number) == end && number >= minimum) {
        *out = number;
        return 0;
    }
    snprintf(expected, sizeof(expected), "a number from %" PRIu64 " to %" PRIu64 " is expected",
             minimum, maximum);
    return picture_ask_reject(w, expected);
}

/* By words of 64: an argument may name all ranks many times, and must not block the loop. */
static void picture_ask_mark_span(uint64_t *marks, uint64_t first, uint64_t last)
{
    for (uint64_t at = first / 64; at <= last / 64; at++) {
        uint64_t from = at == first / 64 ? first % 64 : 0, to = at == last / 64 ? last % 64 : 63;
        marks[at] |= UINT64_MAX << from & UINT64_MAX >> (63 - to);
    }
}

/* One bit a rank: lists may repeat and come in any order. */
static int picture_ask_mark_ranks(const char *at, const char *end, uint64_t *marks)
{
    while (at != NULL && at < end) {
        uint64_t first, last;
        at = picture_ask_read_number(at, end, PICTURE_RANKS - 1, &first);
        last = first;
        if (at != NULL && at < end && *at == '-')
            at = picture_ask_read_number(at + 1, end, PICTURE_RANKS - 1, &last);
        if (at == NULL || last < first || (at < end && *at != ','))
            return -HOLTER_EUSAGE;
        picture_ask_mark_span(marks, first, last);
        if (at < end && ++at == end)
            return -HOLTER_EUSAGE;
    }
    return at == NULL ? -HOLTER_EUSAGE : 0;
}

static int picture_ask_set_ranks(struct picture_ask *ask, const struct word *w, const char *value)
{
    const char *end = w->text + w->length;
    uint64_t *marks = calloc(PICTURE_RANKS / 64, sizeof(*marks));
    size_t count = 0;
    int code = marks == NULL  ? -ENOMEM
               : value == end ? -HOLTER_EUSAGE
                              : picture_ask_mark_ranks(value, end, marks);
    for (size_t i = 0; code == 0 && i < PICTURE_RANKS / 64; i++)
        count += (size_t)__builtin_popcountll(marks[i]);
    uint32_t *only = code != 0 ? NULL : malloc((count + 1) * sizeof(*only));
    if (code == 0 && only != NULL) {
        size_t at = 0;
        for (uint32_t rank = 0; rank < PICTURE_RANKS; rank++) {
            if (marks[rank / 64] >> (rank % 64) & 1)
                only[at++] = rank;
        }
        free(ask->only);
        ask->only = only;
        ask->only_count = count;
    } else if (code == 0) {
        code = -ENOMEM;
    }
    free(marks);
    if (code == -HOLTER_EUSAGE)
        return picture_ask_reject(w, "a list of ranks is expected, such as 3,8-11");
    return code;
}

static const char *picture_ask_value(const struct word *w, const char *name)
{
    size_t length = strlen(name);
    int is = w->length > length && memcmp(w->text, name, length) == 0 && w->text[length] == '=';
    return is ? w->text + length + 1 : NULL;
}

static int picture_ask_set_word(struct picture_ask *ask, const struct word *w)
{
    const char *value;
    uint64_t number;
    int code;
    if ((value = picture_ask_value(w, "from")) != NULL ||
        (value = picture_ask_value(w, "to")) != NULL) {
        code = picture_ask_set_number(w, value, 0, INT64_MAX / 4, &number);
        if (code == 0)
            *(w->text[0] == 'f' ? &ask->from_ns : &ask->to_ns) = (int64_t)number;
        return code;
    }
    if ((value = picture_ask_value(w, "phases")) != NULL)
        return picture_ask_set_number(w, value, 1, UINT32_MAX, &ask->phases);
    if ((value = picture_ask_value(w, "communities")) != NULL)
        return picture_ask_set_number(w, value, 1, UINT32_MAX, &ask->communities);
    if ((value = picture_ask_value(w, "modelled")) != NULL) {
        code = picture_ask_set_number(w, value, 0, 1, &number);
        ask->modelled = code == 0 ? (int)number : 0;
        return code;
    }
    if ((value = picture_ask_value(w, "ranks")) != NULL)
        return picture_ask_set_ranks(ask, w, value);
    return picture_ask_reject(w,
                              "from=, to=, phases=, communities=, ranks= or modelled= is expected");
}

int picture_ask_parse(struct picture_ask *out, const char *argument, char *why, size_t capacity)
{
    struct picture_ask ask = {.from_ns = INT64_MIN,
                              .to_ns = INT64_MAX,
                              .phases = PICTURE_PHASES,
                              .communities = PICTURE_COMMUNITIES,
                              .modelled = 1};
    const char *at = argument == NULL ? "" : argument;
    int code = 0;
    snprintf(why, capacity, "no memory");
    while (code == 0 && *(at += strspn(at, " ")) != '\0') {
        struct word word = {at, strcspn(at, " "), why, capacity};
        code = picture_ask_set_word(&ask, &word);
        at += word.length;
    }
    if (code == 0 && ask.from_ns > ask.to_ns) {
        snprintf(why, capacity, "commgram: from= is after to=");
        code = -HOLTER_EUSAGE;
    }
    if (code != 0) {
        picture_ask_finish(&ask);
        return code;
    }
    *out = ask;
    return 0;
}
