/* Captured messages of agents as messages of topic "captures". */
#ifndef HOLTER_PROTO_CAPTURE_REQUEST_H
#define HOLTER_PROTO_CAPTURE_REQUEST_H

#include "holter/wire.h"

/** Convert a captured message to one of topic "captures"; texts and rows are borrowed. The numbers
 * of answers and records so far are not known from one message: 0. */
struct wire_capture wire_capture_from_captured(const struct wire_captured *message);

#endif
