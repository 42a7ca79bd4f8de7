/* How the numbers of a column are told (enum block_coding), for the writer of blocks. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_CODING_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_CODING_H

#include "daemon/storage/block/block_fold.h"
#include "daemon/storage/block/block_parse.h"
#include "holter/size_class.h"

#include <zstd.h>

/** Columns of integers beside one, of the same rows. */
struct block_near {
    struct block_column *lefts[BLOCK_REACH]; /**< [0] is the next one to the left */
    unsigned count;                          /**< how many of these there are */
    struct block_column *left;               /**< the next one; NULL: it has no integers */
    struct block_column *right;              /**< likewise */
    const uint32_t *twins;                   /**< by row of the block; NULL: it has no keys */
    int is_end; /**< keys are made of it: it may be told by itself, and by what is left of it behind
                   the key */
};

#define BLOCK_AT_ONCE                                                                              \
    512u /**< numbers made before they are written: all of it stays in the cache */

/** Messages of a class of sizes have had this size. */
struct block_guess {
    uint64_t mean, number; /**< the number that tells it */
};

/** What differs from block to block while one is written. */
struct block_coder {
    const struct block_column *keys; /**< the column of keys of the block; NULL: none yet */
    const struct block_loops *loops;
    ZSTD_CCtx *trial; /**< owned */
    /* Owned, all: rows by their keys, and which row has the key of another one before it. */
    uint32_t *twins, *slots;
    uint64_t *sums;
    size_t twin_room, slot_room, sum_room;
    /* Of the column that is being written: values of it and of columns to the left, and its
     * numbers. */
    uint64_t rooms[1 + BLOCK_REACH][BLOCK_AT_ONCE], numbers[2 * BLOCK_AT_ONCE];
    struct block_guess guesses[SIZE_CLASSES + 1];
};

/** @return 0 or -ENOMEM */
int block_coder_init(struct block_coder *coder);
void block_coder_finish(struct block_coder *coder);

/** Does a place hold integers only, as many as another? Then those of one row stand side by side.
 *  @return its column, or NULL */
struct block_column *block_integers_at(const struct block_columns *columns,
                                       const struct block_column *c, unsigned place);

/** Find the column of keys: of several that could be it the longest one that is taken. @return 0 or
 * -ENOMEM */
int block_settle_keys(struct block_coder *coder, struct block_columns *columns);

/** Decide how all columns of a block are told, where that is not known. @return 0 or -ENOMEM */
int block_coder_settle(struct block_coder *coder, struct block_columns *columns);

/** Columns beside a column. */
void block_look_around(const struct block_coder *coder, const struct block_columns *columns,
                       const struct block_column *column, struct block_near *out);

/** All values that numbers of a column are made of. @return 0 or -ENOMEM */
int block_fetch_near(struct block_columns *columns, struct block_column *column,
                     const struct block_near *near);

/* ---- numbers ------------------------------------------------------------- */

/** Numbers that values are told by. */
struct block_numbers {
    const uint64_t *at;
    size_t count; /**< more than there are values where BLOCK_SIZES told some by two */
    struct block_common common;
};

/** Of some values of a column that was fetched with what stands near it.
 *  @param end  behind them; there is one at least @param out  room for two each */
struct block_numbers block_numbers_between(struct block_coder *coder,
                                           const struct block_column *column,
                                           const struct block_near *near, enum block_coding coding,
                                           size_t from, size_t end, uint64_t *out);

/** Where reading a column, front to back, has come to. */
struct block_view {
    const struct block_column *column;
    size_t chunk, within; /**< values read of the chunk */
};

/** A column that is being told. */
struct block_told {
    struct block_coder *coder;
    struct block_near near;
    struct block_view values, lefts[BLOCK_REACH];
    size_t at;       /**< values told */
    uint64_t before; /**< the last one */
};

/** @param column  of any coding but BLOCK_KEYED @return 0 or -ENOMEM */
int block_told_begin(struct block_told *told, struct block_coder *coder,
                     struct block_columns *columns, struct block_column *column);

/** Numbers of the next values. @param out  valid until the next call @return 0 when there are none
 */
int block_told_next(struct block_told *told, struct block_numbers *out);

/** Keys of a column of BLOCK_KEYED. @param at  room for 11 bytes each @return behind them */
uint8_t *block_coder_keys(const struct block_coder *coder, const struct block_column *column,
                          uint8_t *at);

#endif
