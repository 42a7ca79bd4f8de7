/* Captures on their way from agents to those who want them. */
#ifndef HOLTER_PROTO_CAPTURE_REQUEST_H
#define HOLTER_PROTO_CAPTURE_REQUEST_H

#include "holter/wire.h"

/** What an agent captured, as topic "captures" tells it; texts and rows are borrowed. How many have
 *  answered and how many records there are so far is not known from one message: 0. */
struct wire_capture wire_capture_from_captured(const struct wire_captured *message);

#endif
