/* The form of blocks, see block.h and docs/recording.md: what writer and reader share. */
#ifndef HOLTER_DAEMON_BLOCK_FORM_H
#define HOLTER_DAEMON_BLOCK_FORM_H

#include <stddef.h>
#include <stdint.h>

#define BLOCK_FORM 1u   /**< first number of a block */
#define BLOCK_TYPES 64u /**< types of messages and keys of fields below this */
#define BLOCK_KEYS 64u
#define BLOCK_WIDTH 64u    /**< columns of rows at most */
#define BLOCK_LAYOUTS 255u /**< different layouts in a block at most */

/** What a value is. ROWS: of fields only; then width, and one of the others for each column. */
enum block_kind { BLOCK_INTEGER = 1, BLOCK_REAL, BLOCK_TEXT, BLOCK_ROWS };

/** How integers of a column are told. LEFT: as the difference to the same row's value in the column
 *  before. */
enum block_coding { BLOCK_PLAIN, BLOCK_DELTA, BLOCK_LEFT, BLOCK_CODINGS };

/** Columns of type 0, which no message has: one value a message. */
enum block_head_key {
    BLOCK_HEAD_LAYOUT = 1, /**< 0: kept as it is; else number of its layout, from 1 */
    BLOCK_HEAD_TYPE,
    BLOCK_HEAD_AGENT,
    BLOCK_HEAD_SEQ,
    BLOCK_HEAD_WINDOW,
    BLOCK_HEAD_TIME,
    BLOCK_HEAD_RECEIVED,
    BLOCK_HEAD_BYTES, /**< a text: the message, of layout 0 only */
};

/** 0, -1, 1, -2 ... become 0, 1, 2, 3 ...: small differences take few bytes. */
static inline uint64_t block_fold(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t block_unfold(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

/** Seven bits a byte, lowest first (LEB128). @return behind it; ten bytes at most */
static inline uint8_t *block_put(uint8_t *at, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        *at++ = (uint8_t)(number | 128);
    *at++ = (uint8_t)number;
    return at;
}

#endif
