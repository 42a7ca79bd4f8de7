/* Published messages as text for people. */
#ifndef HOLTER_AGENT_CLI_TEXT_TAP_TEXT_H
#define HOLTER_AGENT_CLI_TEXT_TAP_TEXT_H

#include "agent/cli/text/tap_network.h"
#include "holter/wire.h"

#include <stdio.h>

/** Print a message of a topic: a line, and a table of its rows.
 *  @param snapshot  1: part of a snapshot: sums are since the start
 *  @param names     of vertices and nodes, for topic "links" */
void tap_text(FILE *out, const struct wire_message *message, int snapshot,
              const struct network_names *names);

/** Print a cell of a table, at least width characters (not bytes) wide, right-aligned if width is
 *  negative. Control characters become '?'. */
void tap_cell(FILE *out, int width, const char *text);

/** Print as fprintf(3) does, but with '?' for control characters, which texts of others may have; a
 *  newline is printed only where the format ends with it. */
void tap_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Print how every topic begins: its name and the job. */
void tap_head(FILE *out, const char *topic, const char *job);

/** Print a right-aligned cell of a number and its unit; "-" if it is not known. */
void tap_real(FILE *out, int width, int digits, const char *unit, double value);

/** Print right-aligned cells of numbers: 12.3 k, 4.56 MiB. */
void tap_count(FILE *out, int width, uint64_t count);
void tap_bytes(FILE *out, int width, uint64_t bytes);

#endif
