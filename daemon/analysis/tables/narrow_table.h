/* Whole numbers by rank, as narrow as they mostly are: 31 bits of each lie together, what some have
 * above them lies apart. So they are half as wide as they may get, and become doubles several at a
 * time. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_NARROW_TABLE_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_NARROW_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NARROW_BITS 31

/** Zero-initialised is empty. Columns are how many figures a rank has: the same in all calls. */
struct narrow_table {
    int32_t *low;   /**< owned; figures of rank 0, then those of rank 1, ...: below 2^31 */
    uint64_t *high; /**< owned, likewise, in 2^31; NULL: never needed so far */
    uint32_t room;  /**< ranks */
    uint32_t high_room;
    int carried; /**< of the rows since narrow_table_begin() some have more than low says */
    int failed;  /**< there was no memory for what some have more: they are not what they should be
                  */
};

/** Make room. @return 0 or -ENOMEM */
int narrow_table_fit(struct narrow_table *table, uint32_t columns, uint32_t ranks);
void narrow_table_finish(struct narrow_table *table);
size_t narrow_table_bytes(const struct narrow_table *table, uint32_t columns);

/** Become a copy of the first ranks of another one; further ones are 0.
 *  @param known, ranks  of the other one, and wanted @return 0 or -ENOMEM */
int narrow_table_copy(struct narrow_table *table, const struct narrow_table *other,
                      uint32_t columns, uint32_t known, uint32_t ranks);

/** What it holds is of no use any more; rows are cleared before they are used. */
static inline void narrow_table_begin(struct narrow_table *table)
{
    table->carried = table->failed = 0;
}

/** All figures of a rank become 0. There is room for it. */
static inline void narrow_table_clear(struct narrow_table *table, uint32_t columns, uint32_t rank)
{
    memset(&table->low[(size_t)rank * columns], 0, columns * sizeof(*table->low));
    if (rank < table->high_room)
        memset(&table->high[(size_t)rank * columns], 0, columns * sizeof(*table->high));
}

/** A figure has become one of more than 31 bits, which made it negative. */
void narrow_table_carry(struct narrow_table *table, uint32_t columns, size_t at);

/** Add a value of more than 31 bits. */
void narrow_table_add_large(struct narrow_table *table, uint32_t columns, size_t at,
                            uint64_t value);

/** Add to a figure. @param at  rank * columns + figure @param value  not negative */
static inline void narrow_table_add_small(struct narrow_table *table, uint32_t columns, size_t at,
                                          int32_t value)
{
    int32_t *figure = &table->low[at];
    if (__builtin_expect(__builtin_add_overflow(*figure, value, figure), 0))
        narrow_table_carry(table, columns, at);
}

/** The same of any value. */
static inline void narrow_table_add(struct narrow_table *table, uint32_t columns, size_t at,
                                    uint64_t value)
{
    if (value >> NARROW_BITS == 0)
        narrow_table_add_small(table, columns, at, (int32_t)value);
    else
        narrow_table_add_large(table, columns, at, value);
}

static inline uint64_t narrow_table_at(const struct narrow_table *table, uint32_t columns,
                                       uint32_t rank, uint32_t figure)
{
    size_t at = (size_t)rank * columns + figure;
    uint64_t high = table->carried && rank < table->high_room ? table->high[at] : 0;
    return (high << NARROW_BITS) + (uint64_t)table->low[at];
}

#endif
