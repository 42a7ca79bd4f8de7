/* Loops over the values of a column, for the writer of blocks: compiled for any processor, and for
 * those with AVX2. */
#ifndef HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FOLD_H
#define HOLTER_DAEMON_STORAGE_BLOCK_BLOCK_FOLD_H

#include <stddef.h>
#include <stdint.h>

/** What numbers have in common. */
struct block_common {
    uint64_t all;    /**< they, or-ed */
    uint64_t differ; /**< bits in which one is not as the first; 0: all are the same */
};

/** Folded differences of `values` to `likely`: out[i] is block_fold(values[i] - likely[i]). */
typedef struct block_common block_folder(const uint64_t *values, const uint64_t *likely,
                                         size_t count, uint64_t *out);

/** Where bits are written to. Zero, but `at`, at first. */
struct block_bits {
    uint8_t *at;
    uint64_t waiting; /**< bits that fill no byte yet */
    unsigned filled;  /**< how many: below 8 */
};

/** @return behind the bits */
static inline uint8_t *block_bits_end(const struct block_bits *bits)
{
    return bits->at + (bits->filled > 0);
}

/** The loops that are fastest here. */
struct block_loops {
    block_folder *fold;
    /** The same of what `likely` is more than `less`. */
    struct block_common (*fold_rest)(const uint64_t *values, const uint64_t *likely,
                                     const uint64_t *less, size_t count, uint64_t *out);
    /** Of the values themselves. */
    struct block_common (*fold_plain)(const uint64_t *values, size_t count, uint64_t *out);
    /** Only look at them. */
    struct block_common (*look)(const uint64_t *values, size_t count);
    /** The inverse of narrowing numbers, to 1, 2, 4 or 8 bytes each; or all are the same, which
     * stands there in eight: 0.
     *  @param in  from a multiple of so many bytes on */
    void (*grow)(const void *in, size_t count, unsigned width, uint64_t *out);
    /** Numbers in seven bits a byte.
     *  @param all  they, or-ed @param out  room for ten bytes each and 16 @return behind them */
    uint8_t *(*put_bytes)(const uint64_t *numbers, size_t count, uint64_t all, uint8_t *out);
    /** Numbers below 2^57: classes, a byte each, and the bits that are left.
     *  @param bits  room for seven bytes each and 16 */
    void (*put_split)(const uint64_t *numbers, size_t count, uint8_t *classes,
                      struct block_bits *bits);
};

/** What is not known before it is looked for, which takes a while: keep it. */
const struct block_loops *block_loops(void);

/** Those for any processor. */
extern const struct block_loops block_loops_any;

#ifdef __x86_64__
extern const struct block_loops block_loops_avx2;
#endif

#endif
