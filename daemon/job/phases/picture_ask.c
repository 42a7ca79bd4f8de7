/* Parser for the argument of the request "commgram". */
#include "daemon/job/phases/picture_ask.h"

#include "daemon/analysis/tables/rank_list.h"
#include "holter/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void picture_ask_finish(struct picture_ask *ask)
{
    free(ask->only);
    *ask = (struct picture_ask){0};
}

/* @return NULL, or what is expected in place of the value, as all functions below */
static const char *picture_ask_set_number(const char *value, uint64_t minimum, uint64_t maximum,
                                          uint64_t *out, const char *expected)
{
    uint64_t number;
    const char *end = rank_list_number(value, maximum, &number);
    if (end == NULL || *end != '\0' || number < minimum)
        return expected;
    *out = number;
    return NULL;
}

static const char *picture_ask_set_time(const char *value, int64_t *out)
{
    uint64_t number = (uint64_t)*out;
    const char *wrong = picture_ask_set_number(value, 0, INT64_MAX / 4, &number,
                                               "nanoseconds are expected, less than 2^61");
    *out = (int64_t)number;
    return wrong;
}

static const char *picture_ask_set_ranks(struct picture_ask *ask, const char *value)
{
    uint32_t *only;
    size_t count;
    int code = rank_list_parse(&only, &count, value, PICTURE_RANKS);
    if (code != 0)
        return code == -ENOMEM ? "no memory" : "a list of ranks is expected, such as 3,8-11";
    free(ask->only);
    ask->only = only;
    ask->only_count = count;
    return NULL;
}

static const char *picture_ask_set_word(struct picture_ask *ask, const char *name,
                                        const char *value)
{
    static const char counted[] = "a number from 1 to 4294967295 is expected";
    uint64_t modelled = (uint64_t)ask->modelled;
    if (strcmp(name, "from") == 0)
        return picture_ask_set_time(value, &ask->from_ns);
    if (strcmp(name, "to") == 0)
        return picture_ask_set_time(value, &ask->to_ns);
    if (strcmp(name, "phases") == 0)
        return picture_ask_set_number(value, 1, UINT32_MAX, &ask->phases, counted);
    if (strcmp(name, "communities") == 0)
        return picture_ask_set_number(value, 1, UINT32_MAX, &ask->communities, counted);
    if (strcmp(name, "ranks") == 0)
        return picture_ask_set_ranks(ask, value);
    if (strcmp(name, "modelled") != 0)
        return "from=, to=, phases=, communities=, ranks= or modelled= is expected";
    const char *wrong = picture_ask_set_number(value, 0, 1, &modelled, "0 or 1 is expected");
    ask->modelled = (int)modelled;
    return wrong;
}

int picture_ask_parse(struct picture_ask *out, const char *argument, char *why, size_t capacity)
{
    struct picture_ask ask = {.from_ns = INT64_MIN,
                              .to_ns = INT64_MAX,
                              .phases = PICTURE_PHASES,
                              .communities = PICTURE_COMMUNITIES,
                              .modelled = 1};
    char *copy = strdup(argument == NULL ? "" : argument), *rest = NULL;
    const char *wrong = NULL;
    snprintf(why, capacity, "no memory");
    if (copy == NULL)
        return -ENOMEM;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && wrong == NULL;
         word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchrnul(word, '='), *value = *equals == '=' ? equals + 1 : equals;
        *equals = '\0';
        wrong = picture_ask_set_word(&ask, word, value);
        if (wrong != NULL)
            snprintf(why, capacity, "commgram: '%.30s=%.60s': %s", word, value, wrong);
    }
    free(copy);
    if (wrong == NULL && ask.from_ns > ask.to_ns) {
        wrong = "from= is after to=";
        snprintf(why, capacity, "commgram: %s", wrong);
    }
    if (wrong != NULL) {
        picture_ask_finish(&ask);
        return -HOLTER_EUSAGE;
    }
    *out = ask;
    return 0;
}
