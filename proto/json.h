/* Messages as JSON (RFC 8259), driven by the wire tables: every field under its name, rows as
 * objects.
 *
 * Always valid: texts are escaped, numbers that are none are null. Integers are written as numbers
 * in full. Readers that keep numbers as doubles, such as JavaScript, lose digits beyond 2^53, so
 * that larger ones, times since 1970 among them, follow as texts as well: "at_ns":
 * 1795705469500000001, "at_ns_text": "1795705469500000001". Where a column holds the number of a
 * call, its name is added: "call": 3, "call_name": "MPI_Isend". */
#ifndef HOLTER_PROTO_JSON_H
#define HOLTER_PROTO_JSON_H

#include "holter/wire.h"

#include <stdio.h>

/** A text in quotes. NULL is written as "". */
void json_text(FILE *out, const char *text);

/** A number; null for infinities and NaN. */
void json_number(FILE *out, double value);

/** A member of an object: its name and value; integers that a double does not hold exactly are
 *  followed by their text, ,"NAME_text":"DIGITS".
 *  @param before  what is written first: "{", ",", ",{" or "" */
void json_put_text(FILE *out, const char *before, const char *name, const char *value);
void json_put_real(FILE *out, const char *before, const char *name, double value);
void json_put_count(FILE *out, const char *before, const char *name, uint64_t value);
void json_put_integer(FILE *out, const char *before, const char *name, int64_t value);

/** That text alone, if it is needed. */
void json_signed_digits(FILE *out, const char *name, int64_t value);

/** Base64 (RFC 4648, section 4), without quotes. */
void json_base64(FILE *out, const uint8_t *bytes, uint64_t count);

/** The fields of a message, without braces: "job":"a.0","window":3,... */
void json_fields(FILE *out, const struct wire_message *message);

/** One field of a message, by name; the value alone. @return 0, or -HOLTER_EMISSING: nothing was
 *  written */
int json_field(FILE *out, const struct wire_message *message, const char *name);

#endif
