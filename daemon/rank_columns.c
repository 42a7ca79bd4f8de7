#include "daemon/rank_columns.h"

#include "daemon/analysis/fetch.h"

#include <string.h>

/* Loops over a whole block, whose length is known when this is compiled, do several rows at a time. */
#define INLINE static inline __attribute__((always_inline))

void rank_block_fill(struct rank_block *block, const struct rank_row *from, uint32_t rows)
{
    if (rows < RANK_BLOCK_ROWS)
        *block = (struct rank_block){0};
    for (uint32_t i = 0; i < rows; i++) {
        fetch_ahead(from, sizeof(*from), rows, i, sizeof(*from));
#define X(name) block->figures[RANK_COLUMN_##name][i] = from[i].name;
        RANK_SUMS(X)
#undef X
    }
}

/* ---- packing ------------------------------------------------------------- */

/* Bytes that each figure of a column needs: 0, 1, 2, 4 or 8. */
static uint8_t width_of(const uint64_t *column)
{
    uint64_t even = 0, odd = 0;
    for (uint32_t i = 0; i < RANK_BLOCK_ROWS; i += 8) {
        even |= column[i] | column[i + 2] | column[i + 4] | column[i + 6];
        odd |= column[i + 1] | column[i + 3] | column[i + 5] | column[i + 7];
    }
    uint64_t all = even | odd;
    return all == 0 ? 0 : all <= UINT8_MAX ? 1 : all <= UINT16_MAX ? 2 : all <= UINT32_MAX ? 4 : 8;
}

static void pack_column(const uint64_t *column, uint32_t rows, uint8_t width, uint8_t *to)
{
    union {
        uint8_t one[RANK_BLOCK_ROWS];
        uint16_t two[RANK_BLOCK_ROWS];
        uint32_t four[RANK_BLOCK_ROWS];
    } narrow;
    for (uint32_t i = 0; width == 1 && i < RANK_BLOCK_ROWS; i++)
        narrow.one[i] = (uint8_t)column[i];
    for (uint32_t i = 0; width == 2 && i < RANK_BLOCK_ROWS; i++)
        narrow.two[i] = (uint16_t)column[i];
    for (uint32_t i = 0; width == 4 && i < RANK_BLOCK_ROWS; i++)
        narrow.four[i] = (uint32_t)column[i];
    memcpy(to, width == 8 ? (const void *)column : (const void *)&narrow, (size_t)rows * width);
}

size_t rank_block_pack(const struct rank_block *block, uint32_t rows, uint8_t *to)
{
    uint8_t *at = to + RANK_COLUMNS;
    for (uint32_t c = 0; c < RANK_COLUMNS; c++) {
        to[c] = width_of(block->figures[c]);
        if (to[c] == 0)
            continue;
        pack_column(block->figures[c], rows, to[c], at);
        at += (size_t)rows * to[c];
    }
    return (size_t)(at - to);
}

/* ---- unpacking ----------------------------------------------------------- */

INLINE uint64_t figure_at(const uint8_t *from, uint8_t width, uint32_t i)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    switch (width) {
    case 1:
        return from[i];
    case 2:
        memcpy(&two, from + sizeof(two) * i, sizeof(two));
        return two;
    case 4:
        memcpy(&four, from + sizeof(four) * i, sizeof(four));
        return four;
    default:
        memcpy(&eight, from + sizeof(eight) * i, sizeof(eight));
        return eight;
    }
}

INLINE void take_rows(uint64_t *restrict column, const uint8_t *restrict from, uint8_t width,
                      uint32_t rows, int add)
{
    for (uint32_t i = 0; i < rows; i++)
        column[i] = (add ? column[i] : 0) + figure_at(from, width, i);
}

INLINE void take_column(uint64_t *column, const uint8_t *from, uint8_t width, uint32_t rows,
                        int add)
{
    const int whole = rows == RANK_BLOCK_ROWS;
#define TAKE(bytes)                                                                                \
    case bytes:                                                                                    \
        if (whole)                                                                                 \
            take_rows(column, from, bytes, RANK_BLOCK_ROWS, add);                                  \
        else                                                                                       \
            take_rows(column, from, bytes, rows, add);                                             \
        break
    switch (width) {
        TAKE(1);
        TAKE(2);
        TAKE(4);
        TAKE(8);
    }
#undef TAKE
}

size_t rank_block_unpack(struct rank_block *block, uint32_t rows, const uint8_t *from)
{
    const uint8_t *at = from + RANK_COLUMNS;
    for (uint32_t c = 0; c < RANK_COLUMNS; c++) {
        if (from[c] == 0 || rows < RANK_BLOCK_ROWS)
            memset(block->figures[c], 0, sizeof(block->figures[c]));
        take_column(block->figures[c], at, from[c], rows, 0);
        at += (size_t)rows * from[c];
    }
    return (size_t)(at - from);
}

size_t rank_block_add(struct rank_block *block, uint32_t rows, const uint8_t *from)
{
    const uint8_t *at = from + RANK_COLUMNS;
    for (uint32_t c = 0; c < RANK_COLUMNS; c++) {
        take_column(block->figures[c], at, from[c], rows, 1);
        at += (size_t)rows * from[c];
    }
    return (size_t)(at - from);
}
