#include "daemon/analysis/attribution_table.h"

#include "daemon/analysis/array.h"

#include <stdlib.h>

int attribution_table_fit(struct attribution_table *table, uint32_t columns, uint32_t ranks)
{
    return array_fit_zero(&table->low, columns * sizeof(*table->low), &table->room, ranks);
}

void attribution_table_finish(struct attribution_table *table)
{
    free(table->low);
    free(table->high);
    *table = (struct attribution_table){0};
}

size_t attribution_table_bytes(const struct attribution_table *table, uint32_t columns)
{
    return columns * (table->room * sizeof(*table->low) + table->high_room * sizeof(*table->high));
}

static void add_high(struct attribution_table *table, uint32_t columns, size_t at, uint64_t value)
{
    if (array_fit_zero(&table->high, columns * sizeof(*table->high), &table->high_room,
                       at / columns + 1) != 0) {
        table->failed = 1;
        return;
    }
    table->high[at] += value;
    table->carried = 1;
}

void attribution_table_carry(struct attribution_table *table, uint32_t columns, size_t at)
{
    table->low[at] &= INT32_MAX;
    add_high(table, columns, at, 1);
}

/* Sums are those of 64 bits, also where they wrap around: 2^33 times 2^31 is 0. */
void attribution_table_add_large(struct attribution_table *table, uint32_t columns, size_t at,
                                 uint64_t value)
{
    attribution_table_add_small(table, columns, at, (int32_t)(value & INT32_MAX));
    add_high(table, columns, at, value >> ATTRIBUTION_LOW_BITS);
}
