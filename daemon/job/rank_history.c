/* What each rank of a job did, and how late it was, stretch by stretch since the start. */
#include "daemon/job/rank_history.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/job/job_publish.h"

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
    rank_history_init(history);
}

void rank_history_put(struct rank_history *history, uint64_t window,
                      const struct wire_rank_row *rows, size_t count)
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
        history->ranks[i] = (uint32_t)rows[i].rank;
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
    if (ARRAY_FIT(history->rows, history->row_capacity, stretch->count) != 0)
        return 0;
    for (uint32_t r = 0; r < stretch->count; r++) {
        const uint64_t *figures = &stretch->values[(size_t)r * RANK_HISTORY_COLUMNS];
        history->rows[r] = (struct wire_rank_row){
#define X(name) .name = figures[RANK_COLUMN_##name],
            RANK_SUMS(X)
#undef X
                .rank = stretch->items[r],
        };
    }
    *out = (struct wire_history){.first = stretch->first,
                                 .last = stretch->last,
                                 .ranks = history->rows,
                                 .ranks_count = stretch->count};
    return 1;
}

/* ---- lateness ------------------------------------------------------------ */

enum { LATE, CAUSED, COLUMNS };

void job_lateness_init(struct job_lateness *l)
{
    *l = (struct job_lateness){.count = 0};
    history_init(&l->stretches, COLUMNS, 0, JOB_LATENESS_BYTES);
}

void job_lateness_finish(struct job_lateness *l)
{
    history_clear(&l->stretches);
    free(l->ranks);
    free(l->figures);
    free(l->rows);
    job_lateness_init(l);
}

/* @return 0 or -ENOMEM */
static int job_lateness_list(struct job_lateness *l, const struct closed_window *window,
                             const struct waits_row *waits)
{
    l->count = 0;
    int code = ARRAY_FIT(l->ranks, l->rank_capacity, window->rank_count);
    code =
        code != 0 ? code : ARRAY_FIT(l->figures, l->figure_capacity, window->rank_count * COLUMNS);
    for (size_t i = 0; code == 0 && i < window->rank_count; i++) {
        if (waits[i].late_ns == 0 || waits[i].late_ns < window->length_ns / JOB_LATENESS_LEAST)
            continue;
        l->ranks[l->count] = (uint32_t)window->ranks[i].rank;
        l->figures[l->count * COLUMNS + LATE] = waits[i].late_ns;
        l->figures[l->count * COLUMNS + CAUSED] = waits[i].caused_ns;
        l->count++;
    }
    return code;
}

static void job_lateness_publish(struct job_lateness *l, const struct job_stream *stream,
                                 const struct history_slot *slot, uint64_t length_ns)
{
    if (ARRAY_FIT(l->rows, l->row_capacity, slot->count) != 0)
        return;
    for (uint32_t i = 0; i < slot->count; i++)
        l->rows[i] = (struct wire_lateness_row){slot->items[i], slot->values[i * COLUMNS + LATE],
                                                slot->values[i * COLUMNS + CAUSED]};
    struct wire_lateness message = {.job = stream->job,
                                    .window = slot->last,
                                    .windows = slot->last - slot->first + 1,
                                    .length_ns = length_ns,
                                    .ranks = l->rows,
                                    .ranks_count = slot->count};
    job_publish_parts(stream, WIRE_TYPE_LATENESS, &message, "ranks");
}

void job_lateness_update(struct job_lateness *l, const struct job_stream *stream,
                         const struct closed_window *window, const struct waits_row *waits)
{
    if (job_lateness_list(l, window, waits) != 0)
        return;
    if (l->count > 0)
        history_put(&l->stretches, window->number, l->ranks, l->figures, (uint32_t)l->count);
    const struct history_slot newest = {.first = window->number,
                                        .last = window->number,
                                        .items = l->ranks,
                                        .values = l->figures,
                                        .count = (uint32_t)l->count};
    if (job_stream_wants(stream, WIRE_TYPE_LATENESS))
        job_lateness_publish(l, stream, &newest, window->length_ns);
}

void job_lateness_publish_all(struct job_lateness *l, const struct job_stream *stream,
                              uint64_t length_ns)
{
    for (size_t i = 0; i < l->stretches.count; i++)
        job_lateness_publish(l, stream, &l->stretches.slots[i], length_ns);
}

/* ---- state ---------------------------------------------------------------- */

void rank_history_copy_state(struct state_bytes *b, struct rank_history *history)
{
    STATE_VALUE(b, history->too_many);
    history_copy_state(b, &history->stretches);
}

void job_lateness_copy_state(struct state_bytes *b, struct job_lateness *l)
{
    history_copy_state(b, &l->stretches);
}
