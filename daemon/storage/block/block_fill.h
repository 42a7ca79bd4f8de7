/* Columns of integers of a block, and rows of them. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FILL_H

#include "daemon/storage/block/block_reader.h"

struct block_filled {
    uint64_t any; /**< no value has a bit that is not set here */
    size_t bytes; /**< of the values as MessagePack */
};

/** Loops over columns. Where columns stand side by side, one begins BLOCK_PITCH behind the one
 * before. */
struct block_filler {
    /** Take the next integers of a column, up to BLOCK_TAKEN_AT_ONCE.
     *  @param out  room for BLOCK_PITCH; those to the left, as far as the coding reaches, stand in
     * the columns before
     *  @return 0 when the column has no more, or a damaged one: then it stands somewhere */
    int (*fill)(struct read_column *column, size_t count, uint64_t *out,
                struct block_filled *filled);
    /** Likewise numbers, as they stand there, of a coding that has one for each value. */
    int (*numbers)(struct read_column *column, size_t count, uint64_t *out);
    /** The same value. */
    void (*repeat)(uint64_t value, size_t count, uint64_t *out);
    /** Rows, one behind the other, of columns. @param columns  side by side */
    void (*lay)(const uint64_t *columns, size_t width, size_t count, uint64_t *rows);
    /** Of messages: block_slot() and message_key_ranks(). @param ends  receive, source,
     * destination, side by side */
    void (*hash)(const uint64_t *ends, size_t count, uint32_t *slots, uint64_t *ranks);
    /** message_key_mix(), in place. */
    void (*mix)(uint64_t *keys, size_t count);
};

/** For any processor. */
extern const struct block_filler block_filler_any;

#ifdef __x86_64__
/** With AVX2 and BMI2, as most of this kind have; and with AVX-512, of which some have what this
 * takes. */
extern const struct block_filler block_filler_bmi2, block_filler_avx512;
#endif

/** The one that is fastest here. */
const struct block_filler *block_filler_best(void);

/** Bytes of an integer as MessagePack. @param negative  of its column: 2^63 and more are below 0 */
size_t block_size_of_integer(uint64_t number, int negative);

#endif
