/* How the numbers of a column are told (enum block_coding), for the writer of blocks. */
#ifndef HOLTER_DAEMON_BLOCK_CODING_H
#define HOLTER_DAEMON_BLOCK_CODING_H

#include "daemon/block_fold.h"
#include "daemon/block_parse.h"

#include <zstd.h>

/** Columns of integers beside one, of the same rows. */
struct block_near {
    struct block_column *lefts[BLOCK_REACH]; /**< [0] is the next one to the left */
    unsigned count;                          /**< how many of these there are */
    struct block_column *left;               /**< the next one; NULL: it has no integers */
    struct block_column *right;              /**< likewise */
    const uint32_t *twins;                   /**< by row of the block; NULL: it has no keys */
    int is_end; /**< keys are made of it: it may be told by itself, and by what is left of it behind the key */
};

/** What differs from block to block while one is written. */
struct block_coder {
    const struct block_column *keys; /**< the column of keys of the block; NULL: none yet */
    const struct block_loops *loops;
    ZSTD_CCtx *trial; /**< owned */
    /* Owned, all: rows by their keys, and which row has the key of another one before it; numbers of a column. */
    uint32_t *twins, *slots;
    uint64_t *sums, *numbers;
    size_t twin_room, slot_room, sum_room, number_room;
};

/** @return 0 or -ENOMEM */
int block_coder_init(struct block_coder *coder);
void block_coder_finish(struct block_coder *coder);

/** Does a place hold integers only, as many as another? Then those of one row stand side by side.
 *  @return its column, or NULL */
struct block_column *block_integers_at(const struct block_columns *columns,
                                       const struct block_column *c, unsigned place);

/** Find the column of keys: of several that could be it the longest one that is taken. @return 0 or -ENOMEM */
int block_settle_keys(struct block_coder *coder, struct block_columns *columns);

/** Decide how all columns of a block are told, where that is not known. @return 0 or -ENOMEM */
int block_coder_settle(struct block_coder *coder, struct block_columns *columns);

/** The numbers that a column is told by. */
struct block_numbers {
    const uint64_t *at;
    size_t count; /**< more than there are values where BLOCK_SIZES told some by two */
    struct block_common common;
};

/** @param column  of any coding but BLOCK_KEYED @param out  valid until the next call @return 0 or -ENOMEM */
int block_coder_numbers(struct block_coder *coder, struct block_columns *columns,
                        struct block_column *column, struct block_numbers *out);

/** Keys of a column of BLOCK_KEYED. @param at  room for 11 bytes each @return behind them */
uint8_t *block_coder_keys(const struct block_coder *coder, const struct block_column *column,
                          uint8_t *at);

/** Numbers in seven bits a byte.
 *  @param at   room for ten bytes each and 16
 *  @param all  the numbers, or-ed @return behind them */
uint8_t *block_put_bytes(const struct block_coder *coder, uint8_t *at, const uint64_t *numbers,
                         size_t count, uint64_t all);

/** Numbers below 2^57: classes, a byte each, and the bits that are left.
 *  @param bits  room for seven bytes each and 16 @return behind the bits */
uint8_t *block_put_split(uint8_t *classes, uint8_t *bits, const uint64_t *numbers, size_t count);

#endif
