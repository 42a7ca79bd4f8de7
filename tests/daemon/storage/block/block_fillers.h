/* The loops over columns that can be tried on this processor. */
#ifndef TESTS_DAEMON_STORAGE_BLOCK_BLOCK_FILLERS_H
#define TESTS_DAEMON_STORAGE_BLOCK_BLOCK_FILLERS_H

#include "daemon/storage/block/block_fill.h"

#include <stddef.h>

/** Those for any processor, and what of the others this one has. @return how many */
static inline size_t block_fillers(const struct block_filler *out[3])
{
    size_t count = 0;
    out[count++] = &block_filler_any;
#ifdef __x86_64__
    if (block_filler_best() == &block_filler_avx512)
        out[count++] = &block_filler_bmi2;
#endif
    if (block_filler_best() != &block_filler_any)
        out[count++] = block_filler_best();
    return count;
}

#endif
