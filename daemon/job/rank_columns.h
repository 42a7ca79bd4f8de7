/* Figures of ranks, packed: of up to 64 rows at a time each column takes as many bytes a figure as
 * the largest of them needs, and one of zeros takes none. Most columns are small or zero in all
 * rows. */
#ifndef HOLTER_DAEMON_JOB_RANK_COLUMNS_H
#define HOLTER_DAEMON_JOB_RANK_COLUMNS_H

#include "daemon/analysis/sums/window_sum.h"

#include <stddef.h>
#include <stdint.h>

enum rank_column {
#define X(name) RANK_COLUMN_##name,
    RANK_SUMS(X)
#undef X
        RANK_COLUMNS
};

#define RANK_BLOCK_ROWS 64u
/** Bytes that so many rows take at most. */
#define RANK_COLUMNS_MOST(rows)                                                                    \
    (((size_t)(rows) + RANK_BLOCK_ROWS) * RANK_COLUMNS * sizeof(uint64_t))

#define RANK_PARTS_MOST 8u /**< that are added up at once */

/** Up to 64 rows, by column. */
struct rank_block {
    uint64_t figures[RANK_COLUMNS][RANK_BLOCK_ROWS];
};

/** @param rows  at most RANK_BLOCK_ROWS @param to  room for RANK_COLUMNS_MOST(rows) @return bytes
 * written */
size_t rank_block_pack(const struct rank_block *block, uint32_t rows, uint8_t *to);

/** The same of rows of a result as they are: what is seldom told is read of those alone that have
 * some. */
size_t rank_rows_pack(const struct rank_row *from, uint32_t rows, uint8_t *to);

/** Set a block from what was packed of as many rows. @return bytes read */
size_t rank_block_unpack(struct rank_block *block, uint32_t rows, const uint8_t *from);

/** Add up what was packed of as many rows in each of several parts, packed again.
 *  @param from   parts; moved on behind what was read @param count  of them, at most
 * RANK_PARTS_MOST
 *  @param to     room for RANK_COLUMNS_MOST(rows) @return bytes written */
size_t rank_packed_add(const uint8_t **from, uint32_t count, uint32_t rows, uint8_t *to);

#endif
