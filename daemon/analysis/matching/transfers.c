/* Rows of matched messages: see transfers.h. */
#include "daemon/analysis/matching/transfers.h"

#include "daemon/analysis/tables/array.h"

#include <stdlib.h>

void transfers_finish(struct transfers *transfers)
{
    free(transfers->rows);
    *transfers = (struct transfers){0};
}

int transfers_reserve(struct transfers *transfers, size_t further)
{
    return ARRAY_FIT(transfers->rows, transfers->capacity, transfers->count + further);
}

int transfers_add(struct transfers *transfers, const struct transfer *row)
{
    int code = transfers_reserve(transfers, 1);
    if (code == 0)
        transfers->rows[transfers->count++] = *row;
    return code;
}

void transfers_copy_state(struct state_bytes *b, struct transfers *transfers)
{
    STATE_VALUE(b, *transfers);
    STATE_ARRAY(b, transfers->rows, transfers->count, transfers->capacity);
}
