#include "daemon/analysis/tables/narrow_table.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int narrow_table_fit(struct narrow_table *table, uint32_t columns, uint32_t ranks)
{
    return array_fit_zero(&table->low, columns * sizeof(*table->low), &table->room, ranks);
}

void narrow_table_finish(struct narrow_table *table)
{
    free(table->low);
    free(table->high);
    *table = (struct narrow_table){0};
}

size_t narrow_table_bytes(const struct narrow_table *table, uint32_t columns)
{
    return columns * (table->room * sizeof(*table->low) + table->high_room * sizeof(*table->high));
}

static void add_high(struct narrow_table *table, uint32_t columns, size_t at, uint64_t value)
{
    if (array_fit_zero(&table->high, columns * sizeof(*table->high), &table->high_room,
                       at / columns + 1) != 0) {
        table->failed = 1;
        return;
    }
    table->high[at] += value;
    table->carried = 1;
}

void narrow_table_carry(struct narrow_table *table, uint32_t columns, size_t at)
{
    table->low[at] &= INT32_MAX;
    add_high(table, columns, at, 1);
}

/* Sums are those of 64 bits, also where they wrap around: 2^33 times 2^31 is 0. */
void narrow_table_add_large(struct narrow_table *table, uint32_t columns, size_t at, uint64_t value)
{
    narrow_table_add_small(table, columns, at, (int32_t)(value & INT32_MAX));
    add_high(table, columns, at, value >> NARROW_BITS);
}

int narrow_table_copy(struct narrow_table *table, const struct narrow_table *other,
                      uint32_t columns, uint32_t known, uint32_t ranks)
{
    uint32_t high = other->carried ? other->high_room : 0;
    known = known < ranks ? known : ranks;
    high = high < known ? high : known;
    if (narrow_table_fit(table, columns, ranks) != 0 ||
        array_fit_zero(&table->high, columns * sizeof(*table->high), &table->high_room, high) != 0)
        return -ENOMEM;
    const size_t row = columns * sizeof(*table->low), high_row = columns * sizeof(*table->high);
    if (known > 0)
        memcpy(table->low, other->low, known * row);
    if (ranks > known)
        memset(table->low + (size_t)known * columns, 0, (ranks - known) * row);
    if (table->high_room > 0)
        memset(table->high, 0, table->high_room * high_row);
    if (high > 0)
        memcpy(table->high, other->high, high * high_row);
    table->carried = high > 0;
    table->failed = other->failed;
    return 0;
}
