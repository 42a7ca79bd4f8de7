/* Columns that a block writer fills: values by type, key and place, and how they are packed. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_COLUMNS_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_COLUMNS_H

#include "daemon/storage/block/block_format.h"

#include <stddef.h>
#include <stdint.h>

/** Bytes that grow. Zero-initialised is empty. */
struct block_bytes {
    uint8_t *at; /**< owned */
    size_t length, capacity;
};

/** @return 0 or -ENOMEM */
int block_bytes_reserve(struct block_bytes *bytes, size_t further);
int block_bytes_append_number(struct block_bytes *bytes, uint64_t number);

struct block_column {
    enum block_kind kind;
    enum block_coding coding; /**< set when it is packed */
    size_t count;
    uint64_t *values; /**< owned; BLOCK_INTEGER */
    size_t capacity;
    struct block_bytes bytes; /**< BLOCK_BYTES_KIND: length and bytes of each value */
};

/** All columns of one field. */
struct block_field {
    struct block_column *columns; /**< owned: the field's own and one of each row's column */
    unsigned count;
};

/** Zero-initialised is empty. */
struct block_columns {
    struct block_field fields[BLOCK_TYPES][BLOCK_KEYS];
    uint64_t *residuals; /**< owned: working memory of packing */
    size_t residual_capacity;
    struct block_key_slots slots; /**< likewise */
    int has_keys;                 /**< a column was packed as BLOCK_KEYS_CODING: one at most */
};

void block_columns_finish(struct block_columns *columns);

/** Remove all values. Memory is kept. */
void block_columns_clear(struct block_columns *columns);

/** Columns of a field, made when they are first needed.
 *  @param count  how many columns the field has, 1 to BLOCK_PLACES
 *  @return borrowed array of `count` columns; NULL: no memory */
struct block_column *block_columns_of(struct block_columns *columns, unsigned type, unsigned key,
                                      unsigned count);

/** @return 0 or -ENOMEM: the column is as before */
int block_column_reserve(struct block_column *column, size_t further);
int block_column_add_integer(struct block_column *column, uint64_t value);
int block_column_add_bytes(struct block_column *column, const void *bytes, size_t length);

/** Append all columns that have values: descriptions, then values. @return 0 or -ENOMEM */
int block_columns_pack(struct block_columns *columns, struct block_bytes *out);

#endif
