/* The tables of the codec, expanded from the lists of holter/wire.h.
 *
 * They drive encoder, decoder, the JSON printer and the tables of SPEC.md. Every column and
 * field is a slot of eight bytes in its struct (a ROWS or BIN field is two: the rows or bytes,
 * then their count), so a table and an offset are enough to reach any value. */
#ifndef HOLTER_PROTO_WIRE_TABLE_H
#define HOLTER_PROTO_WIRE_TABLE_H

#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

enum wire_kind {
    WIRE_KIND_U64,
    WIRE_KIND_I64,
    WIRE_KIND_F64,
    WIRE_KIND_STR,
    WIRE_KIND_ROWS,
    WIRE_KIND_BIN
};

struct wire_column {
    const char *name;
    const char *doc;
    enum wire_kind kind; /**< never ROWS, never BIN */
    size_t offset;       /**< in the row's struct, bytes */
    uint64_t limit;      /**< largest value, or most bytes */
};

struct wire_rows {
    const char *name; /**< "pair" */
    const struct wire_column *columns;
    size_t count; /**< columns */
    size_t base;  /**< columns that every row has */
    size_t size;  /**< of the row's struct, bytes */
};

struct wire_field {
    const char *name;
    const char *doc;
    enum wire_kind kind;
    const struct wire_rows *(*rows)(void); /**< kind ROWS: its table; NULL otherwise */
    size_t offset;                         /**< in the message's struct, bytes */
    uint64_t limit;                        /**< largest value, most bytes or most rows */
    unsigned key;                          /**< 1 to 63 */
    int required;
};

struct wire_table {
    enum wire_type type;
    const char *constant;  /**< "WINDOW" */
    const char *name;      /**< "window" */
    const char *direction; /**< sender and receiver, or "topic " and its name */
    const struct wire_field *fields;
    size_t count; /**< fields */
    size_t size;  /**< of the message's struct, bytes */
};

/** Table of a type. @return static, or NULL for an unknown type */
const struct wire_table *wire_table(unsigned type);

/** All message types, in the order of their numbers. @return NULL after the last one */
const struct wire_table *wire_table_at(size_t index);

/** Job that a published message is about: the first field of each of them. @return NULL for
 *  other types */
const char *wire_job_of(const struct wire_message *message);

/** For decoders other than wire_decode(), besides proto/wire_arena.h: default value of an absent
 * field or column; of all fields. */
void wire_set_default(enum wire_kind kind, void *slot);
void wire_set_defaults(const struct wire_table *table, void *message);

/** Rows of a field, or bytes. @param slot  of the field, of kind ROWS or BIN */
uint64_t wire_count_of(const uint8_t *slot);

/** Does wire_encode() write this field: is it required, or has it not its default? */
int wire_is_present(const struct wire_field *field, const uint8_t *slot);

/** @return NULL: the table has no such field */
const struct wire_field *wire_field_by_key(const struct wire_table *table, uint64_t key);

/** A message whose lists are sent in parts of at most WIRE_PART_ROWS rows together: the lists one
 * after the other, in the order of their keys. Lists before the first that is cut are repeated in
 * every part. */
struct wire_parts {
    void *message;
    const struct wire_table *table;
    const char *first; /**< the first list that is cut */
    uint64_t left[64]; /**< by field: rows that were not in a part before this one */
    int begun;
    uint64_t *more; /**< in the message */
};

/** @param message  struct of the type, which has a field "more"; it becomes each part in turn */
struct wire_parts wire_parts_of(enum wire_type type, void *message, const char *first);

/** Turn the message into the next part, at first the first. @return 0: that was the last */
int wire_parts_next(struct wire_parts *parts);

/** All row tables. @return NULL after the last one */
const struct wire_rows *wire_rows_at(size_t index);

#endif
