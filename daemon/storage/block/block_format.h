/* The bytes of a block, which writer and reader share.
 *
 * A block is one Zstandard frame with these contents:
 *
 *   form, number of messages, number of columns       numbers
 *   for each column, in ascending order of type, key, place:
 *     type, key, place, kind, coding, width, count    numbers
 *     length                                          number, bytes of its values
 *   the values of each column, in the same order
 *
 * Numbers are written with seven bits a byte, lowest first (LEB128).
 *
 * A column holds one value of each message or row that has it. Type and key are those of the wire
 * message and its field (holter/wire.h); place 0 is the value of the field itself, or how many rows
 * it has; places from 1 are the columns of its rows. Columns of type 0 describe the messages
 * themselves (enum block_head).
 *
 * Integers are `width` planes of `count` bytes: first the lowest byte of each value, then the next.
 * Of bytes and texts each value is its length, as a number, and its bytes. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FORMAT_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FORMAT_H

#include "holter/message_key.h"

#include <stddef.h>
#include <stdint.h>

#define BLOCK_FORM 1u    /**< first number of a block */
#define BLOCK_TYPES 128u /**< types of messages are below this */
#define BLOCK_KEYS 64u   /**< keys of fields are below this */
#define BLOCK_PLACES 64u /**< places are below this */
/** Maximum of bytes inside the frame: every value takes at most eight bytes, and at least one byte
 * in its message. */
#define BLOCK_MAX_PLAIN ((size_t)192 << 20)

enum block_kind { BLOCK_INTEGER, BLOCK_BYTES_KIND };

/** How an integer is stored, modulo 2^64. Differences are zig-zag numbers (block_zigzag()). */
enum block_coding {
    BLOCK_PLAIN,       /**< the value */
    BLOCK_DELTA,       /**< difference to the value before it in the column */
    BLOCK_KEYS_CODING, /**< first column of rows: message_key(); the next three columns are 1 for a
                          receive, source, destination. See struct block_key_slots */
    BLOCK_CODINGS
};

/** Keys of the columns of type 0: one value of each message. */
enum block_head {
    BLOCK_HEAD_MESSAGE = 1, /**< type of the message in columns; 0: it is kept as bytes */
    BLOCK_HEAD_FIELDS,      /**< bit of the key of each field that is present */
    BLOCK_HEAD_LENGTH,      /**< bytes of the message */
    BLOCK_HEAD_TYPE,        /**< this and the rest: struct recorded */
    BLOCK_HEAD_AGENT,
    BLOCK_HEAD_SEQ,
    BLOCK_HEAD_WINDOW,
    BLOCK_HEAD_TIME,
    BLOCK_HEAD_RECEIVED,
    BLOCK_HEAD_BYTES, /**< the bytes of messages that are kept as bytes */
    BLOCK_HEADS
};

/** 0, -1, 1, -2 ... become 0, 1, 2, 3 ...: small differences have small numbers. */
static inline uint64_t block_zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t block_unzigzag(uint64_t number)
{
    return number >> 1 ^ (0 - (number & 1));
}

#define BLOCK_KEY_SLOT_BITS 14u

/** Keys of messages look random. But once they are unmixed and the number of their ranks is
 * subtracted, successive keys of a channel are successive numbers (holter/message_key.h). So a key
 * is stored as the difference from the last one in its slot, which is chosen by end and ranks. */
struct block_key_slots {
    uint64_t last[1u << BLOCK_KEY_SLOT_BITS];
};

static inline uint64_t *block_key_slot(struct block_key_slots *slots, uint64_t receive,
                                       uint64_t source, uint64_t destination)
{
    uint64_t x = source * UINT64_C(0x9e3779b97f4a7c15) +
                 destination * UINT64_C(0xd1b54a32d192ed03) +
                 receive * UINT64_C(0x8cb92ba72f3d8dd7);
    return &slots->last[x >> (64 - BLOCK_KEY_SLOT_BITS)];
}

static inline uint64_t block_key_encode(struct block_key_slots *slots, uint64_t key,
                                        const uint64_t next[3])
{
    uint64_t *slot = block_key_slot(slots, next[0], next[1], next[2]);
    uint64_t sum = message_key_unmix(key) - message_key_ranks(next[1], next[2]), last = *slot;
    *slot = sum;
    return block_zigzag(sum - last);
}

static inline uint64_t block_key_decode(struct block_key_slots *slots, uint64_t number,
                                        const uint64_t next[3])
{
    uint64_t *slot = block_key_slot(slots, next[0], next[1], next[2]);
    *slot += block_unzigzag(number);
    return message_key_mix(*slot + message_key_ranks(next[1], next[2]));
}

#endif
