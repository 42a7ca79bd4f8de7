/* Parser for the argument of the request "commgram". */
#include "daemon/job/phases/picture_ask.h"

#include "daemon/analysis/tables/rank_list.h"
#include "holter/error.h"
#include "proto/command_option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void picture_ask_finish(struct picture_ask *ask)
{
    free(ask->only);
    *ask = (struct picture_ask){0};
}

static int picture_ask_set_ranks(void *user, const struct command_option *option, const char *value)
{
    struct picture_ask *ask = user;
    uint32_t *only;
    size_t count;
    int code = rank_list_parse(&only, &count, value, PICTURE_RANKS);
    (void)option;
    if (code != 0)
        return code == -ENOMEM ? ENOMEM : -1;
    free(ask->only);
    ask->only = only;
    ask->only_count = count;
    return 0;
}

int picture_ask_parse(struct picture_ask *out, const char *argument, char *why, size_t capacity)
{
    static const char time[] = "a number of nanoseconds up to 2^61",
                      counted[] = "a number from 1 to 4294967295";
    static const char *const no_yes[] = {"0", "1", NULL};
    struct picture_ask ask = {.phases = PICTURE_PHASES, .modelled = 1};
    uint64_t from = UINT64_MAX, to = INT64_MAX;
    const struct command_option words[] = {
        {"from", .number = &from, .most = 0x1p61, .expected = time},
        {"to", .number = &to, .most = 0x1p61, .expected = time},
        {"phases", .number = &ask.phases, .least = 1, .most = UINT32_MAX, .expected = counted},
        {"communities", .number = &ask.communities, .most = UINT32_MAX,
         .expected = "a number up to 4294967295, 0 for those that are found"},
        {"ranks", .set = picture_ask_set_ranks, .expected = "a list of ranks such as 3,8-11"},
        {"modelled", .word = &ask.modelled, .words = no_yes, .expected = "0 or 1"},
        {0},
    };
    int code = command_words_read("commgram", words, &ask, argument, why, capacity);
    if (code == 0 && from != UINT64_MAX && from > to) {
        snprintf(why, capacity, "commgram: from= is after to=");
        code = -HOLTER_EUSAGE;
    }
    if (code != 0) {
        picture_ask_finish(&ask);
        return code;
    }
    ask.from_ns = from == UINT64_MAX ? INT64_MIN : (int64_t)from;
    ask.to_ns = (int64_t)to;
    *out = ask;
    return 0;
}
