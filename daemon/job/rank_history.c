/* What each rank of a job did, stretch by stretch since the start. */
#include "daemon/job/rank_history.h"

#include "daemon/analysis/tables/array.h"

#include <stdlib.h>

enum {
#define X(name) RANK_COLUMN_##name,
    RANK_SUMS(X)
#undef X
        RANK_HISTORY_COLUMNS
};

void rank_history_init(struct rank_history *history)
{
    *history = (struct rank_history){.too_many = 0};
    history_init(&history->stretches, RANK_HISTORY_COLUMNS, 0, RANK_HISTORY_BYTES);
}

void rank_history_finish(struct rank_history *history)
{
    history_clear(&history->stretches);
    free(history->ranks);
    free(history->figures);
    free(history->rows);
    free(history->crossing);
    rank_history_init(history);
}

void rank_history_put(struct rank_history *history, uint64_t window, const struct rank_row *rows,
                      size_t count)
{
    if (count > WIRE_PART_ROWS && !history->too_many) {
        history->too_many = 1;
        history_clear(&history->stretches);
    }
    if (history->too_many || count == 0 ||
        ARRAY_FIT(history->ranks, history->rank_capacity, count) != 0 ||
        ARRAY_FIT(history->figures, history->figure_capacity, count * RANK_HISTORY_COLUMNS) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t *figures = &history->figures[i * RANK_HISTORY_COLUMNS];
        history->ranks[i] = rows[i].rank;
#define X(name) figures[RANK_COLUMN_##name] = rows[i].name;
        RANK_SUMS(X)
#undef X
    }
    history_put(&history->stretches, window, history->ranks, history->figures, (uint32_t)count);
}

int rank_history_message(struct rank_history *history, size_t i, struct wire_history *out)
{
    if (i >= history->stretches.count)
        return 0;
    const struct history_slot *stretch = &history->stretches.slots[i];
    if (ARRAY_FIT(history->rows, history->row_capacity, stretch->count) != 0 ||
        ARRAY_FIT(history->crossing, history->crossing_capacity, stretch->count) != 0)
        return 0;
    for (uint32_t r = 0; r < stretch->count; r++) {
        const uint64_t *figures = &stretch->values[(size_t)r * RANK_HISTORY_COLUMNS];
        history->rows[r] = (struct wire_rank_row){
#define X(name) .name = figures[RANK_COLUMN_##name],
            RANK_REPORTED(X)
#undef X
                .rank = stretch->items[r],
        };
        history->crossing[r] = (struct wire_crossing_row){figures[RANK_COLUMN_crossing],
                                                          figures[RANK_COLUMN_crossing_bytes]};
    }
    *out = (struct wire_history){.first = stretch->first,
                                 .last = stretch->last,
                                 .ranks = history->rows,
                                 .ranks_count = stretch->count,
                                 .crossing = history->crossing,
                                 .crossing_count = stretch->count};
    return 1;
}
