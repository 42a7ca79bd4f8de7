/* The form of blocks, see block.h and docs/recording.md: what writer and reader share. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FORM_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FORM_H

#include "holter/message_key.h"
#include "holter/size_class.h"

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_FORM 2u /**< first number of a block */
#define BLOCK_FORM_OLD                                                                             \
    1u /**< that of files of versions 5 and 6: columns of one shape, fewer codings */
#define BLOCK_TYPES 64u /**< types of messages and keys of fields below this */
#define BLOCK_KEYS 64u
#define BLOCK_WIDTH 64u /**< columns of rows at most */
#define BLOCK_REACH 3u  /**< how many columns to the left codings look at most */
#define BLOCK_MOST_KEYS                                                                            \
    (1u << 17) /**< values of columns told as BLOCK_KEYED or BLOCK_TWIN, at most */
#define BLOCK_MOST_PAST (1u << 24) /**< of all these columns of a block */
#define BLOCK_NO_TWIN UINT32_MAX
#define BLOCK_LAYOUTS 255u /**< different layouts in a block at most */

/** What a value is. ROWS: of fields only; then width, and one of the others for each column. */
enum block_kind { BLOCK_INTEGER = 1, BLOCK_REAL, BLOCK_TEXT, BLOCK_ROWS };

/** How integers of a column are told, modulo 2^64: as themselves, or as differences to what they
 * are likely to be. That is made of the value before, or of values further left in the same row. */
enum block_coding {
    BLOCK_PLAIN,
    BLOCK_DELTA, /**< the value before */
    BLOCK_LEFT,  /**< the value to the left */
    BLOCK_LEFT2, /**< the one to the left of that */
    BLOCK_REST,  /**< the value three to the left, less the one to the left: parts of a sum */
    BLOCK_SIZES, /**< not a difference: bytes of messages, see block_sizes() */
    BLOCK_LEFT3, /**< the one three to the left */
    BLOCK_KEYED, /**< not a difference: of the first column of rows, keys that two rows have each */
    BLOCK_TWIN,  /**< the same column of the earlier row with this key, if there is one; else 0 */
    BLOCK_HASHED,  /**< not a difference: of the first column of rows, message_key()s of what stands
                      in the next  three: 1 for a receive, source, destination */
    BLOCK_CHAIN,   /**< the value before and that to the right of it: begins of what follows one
                      another */
    BLOCK_CHAINED, /**< not a difference: right of such a column, what that adds */
    BLOCK_CODINGS
};

/** How the numbers of a column are written. */
enum block_shape {
    BLOCK_BYTES_EACH, /**< seven bits a byte */
    BLOCK_SPLIT, /**< a class in a byte each, see block_class(), and the bits below behind the zstd
                    frame */
    BLOCK_ALL_SAME, /**< only the one */
    BLOCK_SHAPES
};

#define BLOCK_MOST_SPLIT 57u /**< bits of numbers of shape BLOCK_SPLIT at most */
#define BLOCK_MOST_CLASS (8u + 4u * (BLOCK_MOST_SPLIT - 4u) + 3u)

/** Bits of a number that its class leaves: all but the highest three, as good as noise. */
static inline unsigned block_noise_bits(uint64_t number)
{
    return 61u - (unsigned)__builtin_clzll(number | 4);
}

/** Class of a number: below 8 itself, else by its highest bit and the two below. */
static inline unsigned block_class(uint64_t number)
{
    unsigned noise = block_noise_bits(number);
    return 4 * noise + (unsigned)(number >> noise);
}

/** Bits that are left of a number of a class. */
static inline unsigned block_class_bits(unsigned number_class)
{
    return number_class < 8 ? 0 : (number_class - 8) / 4 + 1;
}

#define BLOCK_SLOT_BITS 14u

/** Rows with message keys: which place remembers the last one of the same end and the same ranks.
 */
static inline uint32_t block_slot(uint64_t receive, uint64_t source, uint64_t destination)
{
    uint64_t x = source * UINT64_C(0x9e3779b97f4a7c15) +
                 destination * UINT64_C(0xd1b54a32d192ed03) +
                 receive * UINT64_C(0x8cb92ba72f3d8dd7);
    return (uint32_t)(x >> (64 - BLOCK_SLOT_BITS));
}

/** How many columns to the left a coding looks. */
static inline unsigned block_reach(enum block_coding coding)
{
    static const unsigned reach[BLOCK_CODINGS] = {0, 0, 1, 2, 3, 2, 3, 0, 0, 0, 0, 0};
    return reach[coding];
}

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

/** Bytes of so many messages of a class of sizes: they are `messages` times the smallest size of
 * the class and something, that is, in the middle, `more` a message, and `left` over; told as 1 +
 * left * width of the class + more. Where all have one size, that is the same number for any number
 * of messages.
 *  @return 0: these bytes are not of this class; they are told as themselves after this 0 */
static inline uint64_t block_sizes(uint64_t bytes, uint64_t messages, uint64_t size_class)
{
    if (size_class >= SIZE_CLASSES || messages == 0 || messages > UINT32_MAX || bytes >> 48)
        return 0;
    unsigned bits = size_class_bits(size_class);
    uint64_t least = size_class_floor((uint16_t)size_class), mean = bytes / messages;
    if (mean < least || (mean - least) >> bits != 0 || bits > 30)
        return 0;
    return 1 + (bytes % messages << bits) + (mean - least);
}

/** The inverse, for a number above 0. */
static inline uint64_t block_unsizes(uint64_t number, uint64_t messages, uint64_t size_class)
{
    if (size_class >= SIZE_CLASSES)
        return 0;
    unsigned bits = size_class_bits(size_class);
    uint64_t least = size_class_floor((uint16_t)size_class), told = number - 1;
    return messages * (least + (told & ((UINT64_C(1) << bits) - 1))) + (told >> bits);
}

/** 0, -1, 1, -2 ... become 0, 1, 2, 3 ...: small differences take few bytes. */
static inline uint64_t block_fold(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t block_unfold(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

/** Seven bits a byte, lowest first (LEB128). @param at  room for ten bytes @return behind it */
static inline uint8_t *block_put(uint8_t *at, uint64_t number)
{
    if (number < 128) { /* most are */
        *at = (uint8_t)number;
        return at + 1;
    }
    if (number < UINT64_C(1) << 28) { /* four bytes at once: how many count nobody can foretell */
        uint32_t n = (uint32_t)number;
        unsigned more = (31u - (unsigned)__builtin_clz(n | 1)) / 7; /* bytes behind the first */
        uint32_t spread =
            (n & 0x7f) | (n & 0x3f80) << 1 | (n & 0x1fc000) << 2 | (n & 0xfe00000) << 3;
        spread |= 0x808080 & ((UINT32_C(1) << 8 * more) - 1);
        spread = htole32(spread);
        memcpy(at, &spread, sizeof(spread));
        return at + 1 + more;
    }
    for (; number >= 128; number >>= 7)
        *at++ = (uint8_t)(number | 128);
    *at++ = (uint8_t)number;
    return at;
}

#endif
