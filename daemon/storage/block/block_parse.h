/* Messages taken apart into columns, for blocks (block.h). */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_PARSE_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_PARSE_H

#include "daemon/storage/block/block_form.h"

#include <stddef.h>
#include <stdint.h>

struct block_loops;

struct bytes {
    uint8_t *at; /* owned */
    size_t length, room;
};

/** Integers of a message that stand in slices, see block_slice(). */
struct block_chunk {
    const uint8_t *at; /**< borrowed; a multiple of eight */
    uint32_t count;
    uint32_t
        width; /**< bytes of each: 1, 2, 4 or 8; 0: all are the one that stands there in eight */
};

/** All values of one column, in the order of their messages. What is read and written for each
 * message stands first, in one line of the cache: a window has above a hundred columns. */
struct block_column {
    _Alignas(64) uint64_t stamp; /**< of the message that last added to it */
    /** Owned. Where there are any, values from `solid` on stand in these, and only when they were
     *  fetched in `values`, too. */
    struct block_chunk *chunks;
    size_t chunk_count, chunk_room, solid;
    size_t count;
    int negative, big; /**< one value below 0, one of 2^63 or more: never both */
    int fetched;
    enum block_kind kind;
    uint64_t *values; /**< owned; of texts none. Reals by their bits */
    size_t room;
    struct bytes text;  /**< owned: length and bytes of each text */
    unsigned type, key; /**< of the message and the field; type 0: see enum block_head_key */
    unsigned place;     /**< 0: the field's own value, or how many rows; else column, from 1 */
    enum block_coding coding;
    enum block_shape shape; /**< when its numbers are neither small nor all the same */
    unsigned chosen_for;    /**< blocks for which the coding stands; 0: choose */
    int fresh;              /**< it was just chosen */
    size_t cost;            /**< bytes of a sample in it */
    /* In the block that is being made: */
    enum block_shape written;
    size_t packed, bits; /**< bytes; of the bits behind the frame */
};

/** How a column was before the message that is being added. */
struct block_mark {
    struct block_column *column;
    size_t count, chunk_count, text_length;
    int negative, big;
};

struct block_columns {
    struct block_column **list; /**< owned, in order of their first values */
    size_t count, room;
    /** By type, key, and 4 * place + kind: owned, made when needed. */
    struct block_column **by_key[BLOCK_TYPES][BLOCK_KEYS];
    struct bytes layout_bytes; /**< layouts one behind the other */
    size_t layout_at[BLOCK_LAYOUTS + 1];
    unsigned layout_count, layout_last;
    uint64_t stamp;
    struct block_mark
        *marks; /**< owned: columns that the message that is being added has touched */
    size_t mark_count, mark_room;
    /** Owned: memory of values that are not needed now. What was used last is used next, as it is
     * in the cache. */
    struct block_spare {
        uint64_t *values;
        size_t room;
    } * spares;
    size_t spare_count, spare_room;
    /** Owned: columns of the last message that was cut, in the order of its layout. */
    struct block_column **route;
    size_t route_room;
    struct bytes route_layout;       /**< owned; empty: there is none */
    const struct block_loops *loops; /**< NULL: not looked for yet, which takes its time */
};

void block_columns_finish(struct block_columns *columns);

/** A message begins; take it back. */
void block_columns_begin(struct block_columns *columns);
void block_columns_undo(struct block_columns *columns);

/** @return NULL: there is none */
struct block_column *block_columns_find(const struct block_columns *columns, unsigned type,
                                        unsigned key, unsigned place, enum block_kind kind);

/** Likewise, and where there is none it is made. @return NULL: no memory */
struct block_column *block_columns_get(struct block_columns *columns, unsigned type, unsigned key,
                                       unsigned place, enum block_kind kind);

/** So many values will be added to a column; or one chunk. @return 0 or -ENOMEM */
int block_columns_touch(struct block_columns *columns, struct block_column *column, size_t further);
int block_columns_touch_chunks(struct block_columns *columns, struct block_column *column);

/** Make the values of chunks. @return 0 or -ENOMEM */
int block_column_fetch(struct block_columns *columns, struct block_column *column);

/** Are all values the same, as far as chunks tell without a look at each? @param value  set to it
 */
int block_column_is_same(const struct block_column *column, uint64_t *value);

/** Can it have numbers of 2^32 and more? Told without a look at them. */
int block_column_may_be_wide(const struct block_column *column);

/** Values are not needed now. They are fetched again where they can be. */
void block_column_release(struct block_columns *columns, struct block_column *column);

/** Add a text to a column that was touched. @return 0 or -ENOMEM */
int block_column_put_text(struct block_column *column, const void *bytes, size_t length);

#define BLOCK_MOST_LAYOUT 8192u /**< bytes of one: 64 fields of 64 columns */

/** Which fields a message has, and columns of what kind: see docs/recording.md. */
struct block_layout {
    uint8_t bytes[BLOCK_MOST_LAYOUT];
    size_t length;
};

/** Append a byte. @return 0 when there is no room */
int block_layout_note(struct block_layout *layout, uint8_t byte);

/** @return number of a layout from 1, 0: no room for one more, -ENOMEM */
int block_columns_layout(struct block_columns *columns, const uint8_t *layout, size_t length);

/** One value of a column of place 0. @return 0 or -ENOMEM */
int block_columns_integer(struct block_columns *columns, unsigned type, unsigned key,
                          uint64_t value);
int block_columns_text(struct block_columns *columns, unsigned type, unsigned key,
                       const void *bytes, size_t length);

/** Nothing is in them any more. @param keep  bytes of memory that each may keep */
void block_columns_clear(struct block_columns *columns, size_t keep);

/** Room for so many bytes. @return 0 or -ENOMEM */
int block_bytes_fit(struct bytes *bytes, size_t room);

/** Take a message apart.
 *  @param layout  set to the number of its layout, from 1
 *  @return 0, -ENOMEM, or -HOLTER_EPROTOCOL: it could not be put together again byte for byte */
int block_parse(struct block_columns *columns, const void *bytes, size_t length, unsigned *layout);

/** The same of a message that block_slice() has cut.
 *  @param slices  must stay until block_columns_clear(), also after a failure @return as
 * block_parse() */
int block_add_columns(struct block_columns *columns, const void *slices, unsigned *layout);

#endif
