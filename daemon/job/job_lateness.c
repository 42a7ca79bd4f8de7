/* Lateness of ranks, window by window. */
#include "daemon/job/job_lateness.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/job/job_publish.h"

#include <stdlib.h>

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
        l->ranks[l->count] = window->ranks[i].rank;
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
    for (struct job_part part = {.rows = slot->count}; job_part_next(&part);) {
        const struct wire_lateness message = {.job = stream->job,
                                              .window = slot->last,
                                              .windows = slot->last - slot->first + 1,
                                              .length_ns = length_ns,
                                              .ranks = l->rows + part.from,
                                              .ranks_count = part.count,
                                              .more = part.more};
        job_stream_publish(stream, WIRE_TYPE_LATENESS, &message);
    }
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
