/* Counts of transfer times by locality and size class: see time_counts.h. */
#include "daemon/analysis/latency/time_counts.h"

#include <stdlib.h>

static void time_counts_clear(struct time_counts *counts)
{
    for (size_t i = 0; counts->cells != NULL && i < counts->cells->count; i++) {
        struct histogram *cell = counts->cells->of[counts->cells->used[i]];
        if (cell->messages > 0)
            histogram_finish(cell);
    }
}

void time_counts_finish(struct time_counts *counts)
{
    time_counts_clear(counts);
    for (size_t i = 0; counts->cells != NULL && i < counts->cells->count; i++)
        free(counts->cells->of[counts->cells->used[i]]);
    free(counts->cells);
    *counts = (struct time_counts){0};
}

struct histogram *time_counts_cell(struct time_counts *counts, unsigned class_)
{
    if (counts->cells == NULL)
        counts->cells = calloc(1, sizeof(*counts->cells));
    struct time_cells *cells = counts->cells;
    if (cells == NULL)
        return NULL;
    if (cells->of[class_] == NULL) {
        cells->of[class_] = calloc(1, sizeof(*cells->of[class_]));
        if (cells->of[class_] != NULL)
            cells->used[cells->count++] = (uint16_t)class_;
    }
    return cells->of[class_];
}

void time_counts_remove(struct time_counts *counts, unsigned class_, uint32_t time_class,
                        uint64_t messages)
{
    if (counts->cells != NULL && counts->cells->of[class_] != NULL)
        (void)histogram_remove(counts->cells->of[class_], time_class, messages);
}

/* Add all counts. @return 0 or -ENOMEM: then nothing was added */
static int time_counts_merge(struct time_counts *to, const struct time_cells *from)
{
    for (size_t i = 0; i < from->count; i++) {
        unsigned class_ = from->used[i];
        struct histogram *cell = time_counts_cell(to, class_);
        if (cell != NULL && histogram_merge(cell, from->of[class_]) == 0)
            continue;
        while (i-- > 0)
            (void)histogram_subtract(to->cells->of[from->used[i]], from->of[from->used[i]]);
        return -ENOMEM;
    }
    return 0;
}

int time_counts_move(struct time_counts *to, struct time_counts *from)
{
    if (from->cells == NULL)
        return 0;
    int code = time_counts_merge(to, from->cells);
    if (code == 0)
        time_counts_clear(from);
    return code;
}

void time_counts_copy_state(struct state_bytes *b, struct time_counts *counts)
{
    if (!STATE_OBJECT(b, counts->cells))
        return;
    for (size_t i = 0; i < counts->cells->count; i++) {
        struct histogram **cell = &counts->cells->of[counts->cells->used[i]];
        if (STATE_OBJECT(b, *cell))
            histogram_copy_state(b, *cell);
        else /* after an error */
            counts->cells->count = i;
    }
}
