/* A block that is being read (block.h): what opening it and taking messages out of it share. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_READER_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_READER_H

#include "daemon/storage/block/block.h"
#include "daemon/storage/block/block_form.h"
#include "proto/wire_table.h"

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#define BLOCK_ROWS_AT_ONCE 64u   /**< rows put together at once: they fit a cache */
#define BLOCK_TAKEN_AT_ONCE 256u /**< rows taken at once: more of them cost fewer steps each */
/** Room of a column of these, in lines of the cache: some more are written where it is easier. */
#define BLOCK_PITCH (BLOCK_TAKEN_AT_ONCE + 8u)
/** Bytes behind a block that may be read, and mean nothing: those of a number each, by whole
 * vectors. */
#define BLOCK_SLACK (BLOCK_TAKEN_AT_ONCE + 64u)
/** Likewise behind the bits of split numbers: those of BLOCK_TAKEN_AT_ONCE numbers. */
#define BLOCK_BITS_SLACK (8u * BLOCK_TAKEN_AT_ONCE)
#define BLOCK_AS_BYTES 1 /**< wire_decode() must see a message */

/* What is looked at for each message stands first, in one line of the cache: a block has above a
 * hundred columns. */
struct read_column {
    _Alignas(64) uint64_t left_over; /* values that were not read yet */
    const uint8_t *at;
    uint64_t before; /* the value read last; of keys the row behind the one referred to last */
    uint64_t bit;    /* of BLOCK_SPLIT: the next one */
    const uint8_t *end;
    uint64_t same;  /* of BLOCK_ALL_SAME: the number */
    uint8_t kind;   /* enum block_kind */
    uint8_t coding; /* enum block_coding */
    /* enum block_shape; of form 2. Numbers of most columns of rows are read in their shape; those
     * of others were made ones of seven bits a byte, BLOCK_BYTES_EACH, when the block was opened.
     */
    uint8_t shape;
    uint8_t negative;
    uint8_t is_short;    /* integers of one byte each */
    uint8_t unwanted;    /* of rows that nobody wants: it is never read, see block_want() */
    uint8_t type, key;   /* whose column it is */
    const uint8_t *bits; /* of BLOCK_SPLIT; in `wide` of the reader */
    const uint8_t *bits_end;
    uint64_t *ready; /* the values, all or those that were made; NULL: they are to be read. In
                        `ready` of the reader */
    uint32_t
        *twin_of; /* of keys that are ready: the rows before, by row; NULL: nobody asks for them */
    /* Of keys and what is told by twins: */
    uint64_t total; /* values */
    uint64_t *past; /* those read so far; in `past` of the reader. Before them, where no twin refers
                       to, is 0 */
    uint32_t *twins; /* of the reader */
    uint8_t place;
};

/* A field of a layout, with its columns in `columns` of the reader. */
struct read_field {
    uint8_t key;
    enum block_kind kind;
    struct read_column *value; /* NULL: the block has none; of rows how many there are */
    unsigned width;
    size_t first;                  /* of `row_columns` */
    const struct wire_field *wire; /* of a layout that has a table */
    int straight; /* rows of integers alone, told by values to the left that are there */
    /* Of such rows: the columns that must be read row by row, and those in which one value stands
     * for all. */
    uint8_t differ[BLOCK_WIDTH], same[BLOCK_WIDTH];
    unsigned differ_count, same_count;
    size_t same_bytes; /* of a row, in the latter, as MessagePack */
};

struct read_layout {
    uint8_t type;
    size_t first, count; /* of `fields` */
    /** What such messages are decoded by; NULL: by their bytes, as fields are missing or of another
     * kind. */
    const struct wire_table *table;
};

/* Where a column was before a message: what it begins with. */
struct read_mark {
    uint64_t left_over;
    const uint8_t *at;
    uint64_t before, bit;
};

/* Keys of coding BLOCK_HASHED: made as the rows are read whose ends they are made of, or before. */
struct key_maker {
    struct read_column *keys; /* NULL: no such column, or all of it is made */
    struct read_column *ends[3];
    /* Copies, which stand at the row that is made next: */
    struct read_column numbers, ends_there[3];
    uint64_t made; /* rows */
    uint64_t sum;  /* that the last key was made of */
};

struct block_filler;

struct block_reader {
    ZSTD_DCtx *zstd;
    uint8_t *plain; /* owned */
    size_t plain_room, plain_length;
    const uint8_t *at; /* in plain, while the directory is read */
    struct read_column *columns;
    size_t column_count, column_room, column_likely; /* the one that is asked for next, mostly */
    struct read_layout layouts[BLOCK_LAYOUTS];
    size_t layout_count;
    struct read_field *fields;
    size_t field_count, field_room;
    struct read_column **row_columns;
    size_t row_column_count, row_column_room;
    struct read_column *head[BLOCK_HEAD_BYTES + 1];
    uint64_t form, messages, read;
    uint64_t wanted, wanted_next; /* fields of windows, see block_want(); from the next block on */
    size_t total;                 /* bytes of messages read so far */
    uint8_t *out;                 /* owned: one message */
    size_t out_room, out_length;
    uint64_t *past; /* owned */
    size_t past_room;
    uint8_t *wide; /* owned: numbers of other shapes, seven bits a byte; behind them the bits of
                      split ones */
    uint64_t *ready;
    uint32_t *twin_of; /* owned, both */
    size_t wide_room, ready_room, twin_room;
    /* While keys are made: row + 1 by block_slot(); by that the sum that its key was made of. */
    uint32_t slots[1u << BLOCK_SLOT_BITS];
    uint64_t *sums; /* owned */
    size_t sum_room;
    struct key_maker maker;
    uint32_t twins[BLOCK_TAKEN_AT_ONCE]; /* rows with the same keys as those that are read */
    int broken;
    const struct block_filler *filler;
    /* The message taken last, when it was decoded without its bytes: these can still be made. */
    uint64_t layout;         /* 0: it was not */
    struct read_mark *marks; /* owned: of the columns of its layout */
    size_t mark_room, decoded_bytes;
    const void *last; /* its bytes, where they were made */
    size_t last_length;
    /** By column and row; what stands before the first column is 0. Of a column without integers:
     * what was there before, which nothing sound refers to. */
    uint64_t values[BLOCK_REACH + BLOCK_WIDTH][BLOCK_ROWS_AT_ONCE];
    /** Rows that are made of integers only, by column. */
    _Alignas(64) uint64_t taken[BLOCK_WIDTH][BLOCK_PITCH];
};

/** The next number of seven bits a byte. @return 0 when there is none, or it has more than 64 bits
 */
static inline int block_take_number(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t number = 0;
    const uint8_t *p = *at;
    if (p < end && *p < 128) { /* most are small */
        *out = *p;
        *at = p + 1;
        return 1;
    }
    if (end - p >= 8) { /* up to eight bytes at once */
        memcpy(&number, p, sizeof(number));
        number = le64toh(number);
        uint64_t ends = ~number & UINT64_C(0x8080808080808080);
        if (ends != 0) {
            unsigned bits = (unsigned)__builtin_ctzll(ends) + 1;
            number &= UINT64_C(0x7f7f7f7f7f7f7f7f) & UINT64_MAX >> (64 - bits);
            number = (number & UINT64_C(0x007f007f007f007f)) |
                     (number & UINT64_C(0x7f007f007f007f00)) >> 1;
            number = (number & UINT64_C(0x00003fff00003fff)) |
                     (number & UINT64_C(0x3fff00003fff0000)) >> 2;
            *out = (number & 0x0fffffff) | number >> 32 << 28;
            *at = p + bits / 8;
            return 1;
        }
        number = 0;
    }
    for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
        uint8_t byte = *p++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = number;
            *at = p;
            return shift < 63 || byte <= 1;
        }
    }
    return 0;
}

/** The next number of a class. Behind the bits there may be too few for it: see
 * block_split_ended().
 *  @param at  of its bits; moved behind them */
static inline uint64_t block_take_split(unsigned number_class, const uint8_t *bits, uint64_t *at)
{
    /* As block_class_bits(), and the highest three bits, without branches. */
    unsigned count = (number_class < 4 ? 4 : number_class) / 4 - 1;
    uint64_t top = number_class - 4 * count, word;
    memcpy(&word, bits + *at / 8, sizeof(word));
    word = le64toh(word) >> *at % 8;
    *at += count;
    return top << count | (word & ((UINT64_C(1) << count) - 1));
}

/** Are there fewer bits than were taken? */
static inline int block_split_ended(const struct read_column *c, uint64_t at)
{
    return at > 8 * (uint64_t)(c->bits_end - c->bits);
}

/** The next integers of a column.
 *  @param lefts  values of the same rows in the columns to the left, rows each; [-1] is the next
 * one
 *  @return 0 when the column has no more, or a damaged one */
int block_next_integers(struct read_column *column, size_t count,
                        const uint64_t (*lefts)[BLOCK_ROWS_AT_ONCE], uint64_t *out);

/** Of a value that stands alone. @param column  NULL is fine: it has none */
int block_next_integer(struct read_column *column, uint64_t *out);
int block_next_text(struct read_column *column, const uint8_t **bytes, size_t *length);

/** Are there columns that are not read? */
static inline int block_is_partial(const struct block_reader *r)
{
    return r->wanted != BLOCK_ALL_ROWS;
}

/** The parts of block_next(): what is known of the next message, its bytes, its end.
 *  @param layout  of it @return 0: there is none */
int block_take_head(struct block_reader *reader, struct recorded *head, uint64_t *layout);
/** @return 0 or negative */
int block_take_bytes(struct block_reader *reader, uint64_t layout, const void **bytes,
                     size_t *length);
/** @param code  of what came before @return as block_next() */
int block_end_message(struct block_reader *reader, int code, size_t length);

/** Largest value of a column that its kind and limit let pass, modulo 2^64. */
static inline uint64_t block_largest(const struct read_column *c, enum wire_kind kind,
                                     uint64_t limit)
{
    if (kind == WIRE_KIND_I64)
        return c->negative ? UINT64_MAX : INT64_MAX;
    return c->negative && limit > INT64_MAX ? INT64_MAX : limit;
}

/** block_whole.c: check the shapes of numbers, and make those that are not read in their shape ones
 * of seven bits a byte; then work out the columns that cannot be told row by row.
 *  @param bits  behind the frame; needed no more afterwards
 *  @param most  bytes of all numbers, if they had seven bits a byte @return 0, -HOLTER_ECORRUPT or
 * -ENOMEM */
int block_widen(struct block_reader *reader, const uint8_t *bits, size_t length, size_t most);
int block_make_whole(struct block_reader *reader);

/** Make the keys of the next rows, if the column is one whose keys are made as it is read. @return
 * 0: one is damaged */
int block_make_keys(struct block_reader *reader, const struct read_column *keys, size_t count);

/** Do the columns of some rows stand where the keys are to be made that stand before them? @param
 * width  of the rows */
int block_are_keys_next(const struct block_reader *reader, struct read_column *const *columns,
                        unsigned width);

/** Then make them of ends that were taken. @param ends  side by side @return 0: one is damaged */
int block_make_keys_of(struct block_reader *reader, const uint64_t *ends, size_t count);

/** Column of integers in rows of a field. @return NULL: there is none */
struct read_column *block_column(struct block_reader *reader, uint64_t type, uint64_t key,
                                 uint64_t place);

/** Find out what messages of a layout are decoded by. */
void block_layout_resolve(struct block_reader *reader, struct read_layout *layout);

#endif
