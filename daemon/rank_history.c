#include "daemon/rank_history.h"

#include "daemon/analysis/array.h"

#include <stdlib.h>

enum column {
#define X(name) COLUMN_##name,
    RANK_SUMS(X)
#undef X
        COLUMNS
};

void rank_history_init(struct rank_history *h)
{
    *h = (struct rank_history){.item_room = 0};
    history_init(&h->history, COLUMNS, 0, RANK_HISTORY_BYTES);
}

void rank_history_finish(struct rank_history *h)
{
    history_clear(&h->history);
    free(h->items);
    free(h->values);
    free(h->rows);
    rank_history_init(h);
}

void rank_history_put(struct rank_history *h, uint64_t window, const struct rank_row *rows,
                      size_t count)
{
    if (count > WIRE_PART_ROWS && !h->left_out) {
        h->left_out = 1;
        history_clear(&h->history);
    }
    if (h->left_out || count == 0 ||
        array_fit(&h->items, sizeof(*h->items), &h->item_room, count) != 0 ||
        array_fit(&h->values, sizeof(*h->values), &h->value_room, count * COLUMNS) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t *to = h->values + i * COLUMNS;
        h->items[i] = rows[i].rank;
#define X(name) to[COLUMN_##name] = rows[i].name;
        RANK_SUMS(X)
#undef X
    }
    (void)history_put(&h->history, window, h->items, h->values, (uint32_t)count);
}

int rank_history_message(struct rank_history *h, size_t i, struct wire_history *out)
{
    if (i >= h->history.count)
        return 0;
    const struct history_slot *slot = &h->history.slots[i];
    if (array_fit(&h->rows, sizeof(*h->rows), &h->row_room, slot->count) != 0)
        return 0;
    for (uint32_t n = 0; n < slot->count; n++) {
        const uint64_t *from = slot->values + (size_t)n * COLUMNS;
        h->rows[n] = (struct wire_rank_row){
#define X(name) .name = from[COLUMN_##name],
            RANK_SUMS(X)
#undef X
                .rank = slot->items[n]};
    }
    *out = (struct wire_history){
        .first = slot->first, .last = slot->last, .ranks = h->rows, .ranks_count = slot->count};
    return 1;
}
