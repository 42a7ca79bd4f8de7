/* Captures as text for people: the last calls of each rank, the newest last. */
#ifndef HOLTER_AGENT_CLI_TEXT_CAPTURE_TEXT_H
#define HOLTER_AGENT_CLI_TEXT_CAPTURE_TEXT_H

#include "holter/wire.h"

#include <stdio.h>

/** Messages of one capture: one or more of each node. Zero-initialised: empty. */
struct capture_view {
    struct capture_part {
        struct wire_arena arena;
        struct wire_message message;
    } * parts; /**< owned */
    size_t count, room;
    struct wire_buffer buffer;
};

void capture_view_finish(struct capture_view *view);

/** Store a copy of a message. @return 0 or a negative error */
int capture_view_add(struct capture_view *view, const struct wire_capture *message);

/** Print all stored messages: a line about the capture, for each thread a line and a table of its
 *  calls, and at the end what is missing. */
void capture_print(FILE *out, const struct capture_view *view);

/** Print the message of one node: a line, and one for each thread with its newest call. */
void capture_brief(FILE *out, const struct wire_capture *message);

#endif
