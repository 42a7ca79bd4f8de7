/* Loops over the values of a column, for the writer of blocks: compiled for any processor, and for those with AVX2. */
#ifndef HOLTER_DAEMON_BLOCK_FOLD_H
#define HOLTER_DAEMON_BLOCK_FOLD_H

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
    /** Numbers below 256. */
    void (*narrow)(const uint64_t *numbers, size_t count, uint8_t *out);
    /** Numbers that fit into 1, 2, 4 or 8 bytes each; the inverse, where 0 tells the same number, in eight, for all.
     *  @param out, in  from a multiple of so many bytes on */
    void (*shrink)(const uint64_t *numbers, size_t count, unsigned width, void *out);
    void (*grow)(const void *in, size_t count, unsigned width, uint64_t *out);
};

const struct block_loops *block_loops(void);

#ifdef __x86_64__
extern const struct block_loops block_loops_avx2;
#endif

#endif
