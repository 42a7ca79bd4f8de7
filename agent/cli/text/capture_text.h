/* Captures as text for people: the last calls of each rank, the newest last. */
#ifndef HOLTER_AGENT_CLI_TEXT_CAPTURE_TEXT_H
#define HOLTER_AGENT_CLI_TEXT_CAPTURE_TEXT_H

#include "holter/wire.h"

#include <stdio.h>

/** The messages of one capture, which come node by node, each in parts. Zero-initialised is empty.
 */
struct capture_view {
    struct capture_part {
        struct wire_arena arena;
        struct wire_message message;
    } * parts; /**< owned */
    size_t count, room;
    struct wire_buffer buffer;
};

void capture_view_finish(struct capture_view *view);

/** Take a copy of a message. @return 0 or a negative error */
int capture_view_add(struct capture_view *view, const struct wire_capture *message);

/** One line about a capture: number, time, why, how much. */
void capture_head(FILE *out, const struct wire_capture *message);

/** All that was taken: a line about the capture, then for each thread a line and its calls in a
 * table; behind those what is missing. */
void capture_print(FILE *out, const struct capture_view *view);

/** One node's part as it comes: a line, and one for each thread with its newest call. */
void capture_brief(FILE *out, const struct wire_capture *message);

#endif
