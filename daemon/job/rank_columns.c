#include "daemon/job/rank_columns.h"

#include "daemon/analysis/tables/fetch.h"

#include <string.h>

/* Loops over a whole block, whose length is known when this is compiled, do several rows at a time.
 */
#define INLINE static inline __attribute__((always_inline))

#define FIRST_FIGURE offsetof(struct rank_row, events)
_Static_assert(offsetof(struct rank_row, untracked) - FIRST_FIGURE ==
                   (RANK_COLUMNS - 1) * sizeof(uint64_t),
               "figures of a row follow each other, in the order of columns");

typedef uint64_t two_figures __attribute__((vector_size(16)));
#define OFTEN ((uint32_t)RANK_COLUMN_lost) /* columns that are often told: the first */
#define OFTEN_PAIRS (OFTEN / 2u)
_Static_assert(RANK_COLUMN_lost % 2 == 0, "they are pairs");

/* ---- packing ------------------------------------------------------------- */

/* Bytes that figures need of which these bits are set: 0, 1, 2, 4 or 8. */
static uint8_t width_for(uint64_t bits)
{
    return bits == 0            ? 0
           : bits <= UINT8_MAX  ? 1
           : bits <= UINT16_MAX ? 2
           : bits <= UINT32_MAX ? 4
                                : 8;
}

static uint8_t width_of(const uint64_t *column)
{
    uint64_t even = 0, odd = 0;
    for (uint32_t i = 0; i < RANK_BLOCK_ROWS; i += 8) {
        even |= column[i] | column[i + 2] | column[i + 4] | column[i + 6];
        odd |= column[i + 1] | column[i + 3] | column[i + 5] | column[i + 7];
    }
    return width_for(even | odd);
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

/* Figures of a row, by column. */
INLINE const uint64_t *figures_of(const struct rank_row *row)
{
    return (const uint64_t *)(const void *)((const char *)row + FIRST_FIGURE);
}

INLINE void put_figure(uint64_t figure, uint8_t width, uint8_t *to)
{
    uint32_t four = (uint32_t)figure;
    uint16_t two = (uint16_t)figure;
    switch (width) {
    case 1:
        *to = (uint8_t)figure;
        break;
    case 2:
        memcpy(to, &two, sizeof(two));
        break;
    case 4:
        memcpy(to, &four, sizeof(four));
        break;
    default:
        memcpy(to, &figure, sizeof(figure));
    }
}

INLINE void put_rows(const struct rank_row *from, uint32_t c, uint32_t rows, uint8_t width,
                     uint8_t *to)
{
#pragma GCC unroll 8
    for (uint32_t i = 0; i < rows; i++)
        put_figure(figures_of(&from[i])[c], width, to + (size_t)i * width);
}

/* Which bits are set in any row, by column that is often told. @return whether any row has others
 */
static uint32_t find_often(const struct rank_row *from, uint32_t rows, uint64_t *bits)
{
    two_figures some[OFTEN_PAIRS] = {{0}}, two;
    uint32_t seldom = 0;
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t *figures = figures_of(&from[i]);
        fetch_ahead(from, sizeof(*from), rows, i, RANK_ROW_OFTEN);
        seldom |= from[i].seldom;
#pragma GCC unroll 8
        for (uint32_t c = 0; c < OFTEN_PAIRS; c++) {
            memcpy(&two, &figures[2 * c], sizeof(two));
            some[c] |= two;
        }
    }
    memcpy(bits, some, sizeof(some));
    return seldom;
}

/* The same of columns that are seldom told: where a row has none they are zeros. */
static void find_seldom(const struct rank_row *from, uint32_t rows, uint64_t *bits)
{
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t c = OFTEN; c < RANK_COLUMNS && from[i].seldom; c++)
            bits[c] |= figures_of(&from[i])[c];
    }
}

/* Widths first: then each figure is read once more, and written as wide as it will be. */
size_t rank_rows_pack(const struct rank_row *from, uint32_t rows, uint8_t *to)
{
    uint64_t bits[RANK_COLUMNS] = {0};
    uint8_t *at = to + RANK_COLUMNS;
    if (find_often(from, rows, bits))
        find_seldom(from, rows, bits);
    for (uint32_t c = 0; c < RANK_COLUMNS; c++) {
        to[c] = width_for(bits[c]);
        switch (to[c]) {
#define PUT(bytes)                                                                                 \
    case bytes:                                                                                    \
        put_rows(from, c, rows, bytes, at);                                                        \
        break
            PUT(1);
            PUT(2);
            PUT(4);
            PUT(8);
#undef PUT
        }
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

/* ---- adding ---------------------------------------------------------------- */

/* A column that several parts have. @return bytes of a figure of the sums */
static uint8_t add_column(const uint8_t *const *from, const uint8_t *widths, uint32_t count,
                          uint32_t rows, uint8_t *to)
{
    uint64_t sums[RANK_BLOCK_ROWS];
    if (rows < RANK_BLOCK_ROWS)
        memset(sums, 0, sizeof(sums));
    take_column(sums, from[0], widths[0], rows, 0);
    for (uint32_t i = 1; i < count; i++)
        take_column(sums, from[i], widths[i], rows, 1);
    uint8_t width = width_of(sums);
    pack_column(sums, rows, width, to);
    return width;
}

size_t rank_packed_add(const uint8_t **from, uint32_t count, uint32_t rows, uint8_t *to)
{
    const uint8_t *columns[RANK_PARTS_MOST], *some[RANK_PARTS_MOST];
    uint8_t *at = to + RANK_COLUMNS, widths[RANK_PARTS_MOST];
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = from[i];
        from[i] += RANK_COLUMNS;
    }
    for (uint32_t c = 0; c < RANK_COLUMNS; c++) {
        uint32_t have = 0; /* parts where it is not all zeros */
        for (uint32_t i = 0; i < count; i++) {
            some[have] = from[i];
            widths[have] = columns[i][c];
            from[i] += (size_t)rows * columns[i][c];
            have += columns[i][c] != 0;
        }
        to[c] = have == 0 ? 0 : widths[0];
        if (have > 1)
            to[c] = add_column(some, widths, have, rows, at);
        else if (have == 1)
            memcpy(at, some[0], (size_t)rows * widths[0]);
        at += (size_t)rows * to[c];
    }
    return (size_t)(at - to);
}
