/* Phases, curve and picture of the CommGram as text for people. */
#ifndef HOLTER_AGENT_CLI_TEXT_TAP_PHASES_H
#define HOLTER_AGENT_CLI_TEXT_TAP_PHASES_H

#include "holter/wire.h"

#include <stdio.h>

/** Print a message of topic "phases" or "curve": a line, and one for each row. */
void tap_phases(FILE *out, const struct wire_phases *phases);
void tap_curve(FILE *out, const struct wire_curve *curve);

/** Print a part of a picture: its columns, bars with their ranks, and ribbons. */
void tap_commgram(FILE *out, const struct wire_commgram *picture);

#endif
