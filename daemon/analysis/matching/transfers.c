#include "daemon/analysis/matching/transfers.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdlib.h>

void transfers_finish(struct transfers *rows)
{
    free(rows->heads);
    free(rows->times);
    free(rows->wide);
    *rows = (struct transfers){0};
}

int transfers_room(struct transfers *rows, size_t more)
{
    size_t need = rows->count + more;
    int code = array_fit(&rows->heads, sizeof(*rows->heads), &rows->head_room, need);
    return code != 0 ? code : array_fit(&rows->times, sizeof(*rows->times), &rows->time_room, need);
}

static int transfers_add_wide(struct transfers *rows, const struct transfer *row)
{
    if (rows->wide_count >= UINT32_MAX ||
        array_fit(&rows->wide, sizeof(*rows->wide), &rows->wide_room, rows->wide_count + 1) != 0)
        return -ENOMEM;
    rows->times[rows->count] = (struct transfer_times){0};
    rows->heads[rows->count++] = (struct transfer_head){
        .source = row->source,
        .destination = row->destination,
        .log2_sum = (uint32_t)rows->wide_count,
        .packed = (uint32_t)row->locality | (uint32_t)row->size_class << 1 | TRANSFER_WIDE,
    };
    rows->wide[rows->wide_count++] = *row;
    return 0;
}

int transfers_add_slowly(struct transfers *rows, const struct transfer *row)
{
    if (transfers_room(rows, 1) != 0)
        return -ENOMEM;
    if (!transfer_fits(row))
        return transfers_add_wide(rows, row);
    transfers_put(rows, row);
    return 0;
}

void transfers_cut(struct transfers *rows, size_t count)
{
    while (rows->count > count)
        rows->wide_count -= transfer_is_wide(&rows->heads[--rows->count]);
    rows->near_count = rows->near_count < count ? rows->near_count : count;
}
