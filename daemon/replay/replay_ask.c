#include "daemon/replay/replay_ask.h"

#include "daemon/replay/replay_pace.h"
#include "holter/error.h"
#include "proto/moment.h"

#include <stdio.h>
#include <string.h>

/* Words that say all by themselves. */
static const struct {
    const char *words;
    enum replay_verb verb;
    int on;
} fixed[] = {
    {"", REPLAY_LOOK, 0},         {"pause", REPLAY_PAUSE, 0},         {"play", REPLAY_PLAY, 0},
    {"step", REPLAY_STEP, 0},     {"step back", REPLAY_STEP_BACK, 0}, {"loop on", REPLAY_LOOP, 1},
    {"loop off", REPLAY_LOOP, 0},
};

/* What stands behind a word and a space. @return NULL: another word */
static const char *behind(const char *text, const char *word)
{
    size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && text[length] == ' ' ? text + length + 1 : NULL;
}

int replay_ask_parse(struct replay_ask *out, const char *argument, char *why, size_t room)
{
    const char *text = argument == NULL ? "" : argument, *rest;
    *out = (struct replay_ask){.verb = REPLAY_LOOK};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        if (strcmp(text, fixed[i].words) != 0)
            continue;
        out->verb = fixed[i].verb;
        out->on = fixed[i].on;
        return 0;
    }
    if ((rest = behind(text, "seek")) != NULL) {
        out->verb = REPLAY_SEEK;
        snprintf(out->moment, sizeof(out->moment), "%s", rest);
        return moment_check(rest, why, room);
    }
    if ((rest = behind(text, "speed")) != NULL) {
        out->verb = REPLAY_SPEED;
        if (replay_pace_parse(rest, &out->speed) == 0)
            return 0;
        snprintf(why, room, "speed '%.40s': %g to %.0f, or max, is wanted", rest, PACE_SLOWEST,
                 PACE_FASTEST);
        return -HOLTER_EUSAGE;
    }
    snprintf(
        why, room,
        "'%.60s': pause, play, step, step back, seek T, speed X, loop on or loop off is wanted",
        text);
    return -HOLTER_EUSAGE;
}
