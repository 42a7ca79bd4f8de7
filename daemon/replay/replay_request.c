/* Parses the requests of clients of a replay. */
#include "daemon/replay/replay_request.h"

#include "daemon/replay/replay_pace.h"
#include "holter/error.h"
#include "proto/moment.h"

#include <stdio.h>
#include <string.h>

/* Requests without an argument. */
static const struct {
    const char *words;
    enum replay_verb verb;
    int on;
} replay_request_words[] = {
    {"", REPLAY_REPORT, 0},       {"pause", REPLAY_PAUSE, 0},         {"play", REPLAY_PLAY, 0},
    {"step", REPLAY_STEP, 0},     {"step back", REPLAY_STEP_BACK, 0}, {"loop on", REPLAY_LOOP, 1},
    {"loop off", REPLAY_LOOP, 0},
};

/* @return what follows a word and a space; NULL: the text begins with another word */
static const char *replay_request_argument(const char *text, const char *word)
{
    size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && text[length] == ' ' ? text + length + 1 : NULL;
}

int replay_request_parse(struct replay_request *out, const char *argument, char *why,
                         size_t capacity)
{
    const char *text = argument == NULL ? "" : argument, *rest;
    *out = (struct replay_request){.verb = REPLAY_REPORT};
    for (size_t i = 0; i < sizeof(replay_request_words) / sizeof(replay_request_words[0]); i++) {
        if (strcmp(text, replay_request_words[i].words) != 0)
            continue;
        out->verb = replay_request_words[i].verb;
        out->on = replay_request_words[i].on;
        return 0;
    }
    if ((rest = replay_request_argument(text, "seek")) != NULL) {
        out->verb = REPLAY_SEEK;
        snprintf(out->moment, sizeof(out->moment), "%s", rest);
        return moment_check(rest, why, capacity);
    }
    if ((rest = replay_request_argument(text, "speed")) != NULL) {
        out->verb = REPLAY_SPEED;
        if (replay_pace_parse(rest, &out->speed) == 0)
            return 0;
        snprintf(why, capacity, "speed '%.40s': %g to %.0f, or max, is expected", rest,
                 PACE_SLOWEST, PACE_FASTEST);
        return -HOLTER_EUSAGE;
    }
    snprintf(
        why, capacity,
        "'%.60s': pause, play, step, step back, seek T, speed X, loop on or loop off is expected",
        text);
    return -HOLTER_EUSAGE;
}
