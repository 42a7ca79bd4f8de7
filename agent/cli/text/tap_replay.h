/* State of the replay of a recording, as text for people. */
#ifndef HOLTER_AGENT_CLI_TEXT_TAP_REPLAY_H
#define HOLTER_AGENT_CLI_TEXT_TAP_REPLAY_H

#include "holter/wire.h"

#include <stdio.h>

/** Print a message of topic "replay": one line, and one for each alert in it. */
void tap_replay(FILE *out, const struct wire_replay *replay);

#endif
