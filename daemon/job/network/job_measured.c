/* What counters measured on the links of a network in the windows before the newest. */
#include "daemon/job/network/job_measured.h"

#include "daemon/analysis/tables/array.h"
#include "holter/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void job_measured_finish(struct job_measured *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->windows[i].rows);
    free(m->windows);
    free(m->message_rows);
    *m = (struct job_measured){0};
}

ORDER_FUNCTION(measured_compare_links, struct measured_row, ORDER(a->link, b->link))

/* Merge the oldest window into the second oldest. */
static int measured_merge_oldest(struct job_measured *m)
{
    struct measured_window *a = &m->windows[0], *b = &m->windows[1];
    struct measured_row *rows = malloc((a->count + b->count) * sizeof(*rows) + 1);
    size_t i = 0, k = 0, n = 0;
    if (rows == NULL)
        return -ENOMEM;
    while (i < a->count || k < b->count) {
        int first = k == b->count || (i < a->count && a->rows[i].link <= b->rows[k].link);
        int both = i < a->count && k < b->count && a->rows[i].link == b->rows[k].link;
        rows[n] = first ? a->rows[i] : b->rows[k];
        rows[n++].amount += both ? b->rows[k].amount : 0;
        i += (size_t)(first || both);
        k += (size_t)(!first || both);
    }
    m->rows -= a->count + b->count - n;
    free(a->rows);
    free(b->rows);
    b->rows = rows;
    b->count = n;
    memmove(a, b, --m->count * sizeof(*a));
    return 0;
}

void job_measured_set_network(struct job_measured *m, uint64_t network)
{
    if (m->network != network)
        job_measured_finish(m);
    m->network = network;
}

int job_measured_add(struct job_measured *m, const struct wire_links *links)
{
    struct measured_window fresh = {.window = links->window};
    if (m->count > 0 && links->window <= m->windows[m->count - 1].window)
        return 0;
    for (uint64_t i = 0; i < links->links_count; i++)
        fresh.count += links->links[i].measured != UINT64_MAX;
    if (fresh.count == 0)
        return 0;
    fresh.rows = malloc(fresh.count * sizeof(*fresh.rows));
    if (fresh.rows == NULL || ARRAY_FIT(m->windows, m->capacity, m->count + 1) != 0) {
        free(fresh.rows);
        return -ENOMEM;
    }
    size_t n = 0;
    for (uint64_t i = 0; i < links->links_count; i++) {
        const struct wire_link_row *row = &links->links[i];
        if (row->measured != UINT64_MAX)
            fresh.rows[n++] =
                (struct measured_row){(uint32_t)row->link, (uint32_t)row->from, (uint32_t)row->to,
                                      (uint8_t)row->unit, row->measured};
    }
    int sorted = 1;
    for (size_t i = 1; sorted && i < n; i++)
        sorted = fresh.rows[i - 1].link <= fresh.rows[i].link;
    if (!sorted)
        qsort(fresh.rows, n, sizeof(*fresh.rows), measured_compare_links);
    m->windows[m->count++] = fresh;
    m->rows += n;
    while (m->rows > JOB_MEASURED_ROWS && m->count > 1)
        if (measured_merge_oldest(m) != 0)
            return -ENOMEM;
    return 0;
}

int job_measured_message(struct job_measured *m, size_t number, struct wire_links *out)
{
    if (number >= m->count ||
        ARRAY_FIT(m->message_rows, m->row_capacity, m->windows[number].count) != 0)
        return 0;
    const struct measured_window *w = &m->windows[number];
    for (size_t i = 0; i < w->count; i++)
        m->message_rows[i] = (struct wire_link_row){.link = w->rows[i].link,
                                                    .from = w->rows[i].from,
                                                    .to = w->rows[i].to,
                                                    .since = w->window,
                                                    .share = NAN,
                                                    .latency = NAN,
                                                    .measured = w->rows[i].amount,
                                                    .unit = w->rows[i].unit,
                                                    .ratio = NAN};
    *out =
        (struct wire_links){.window = w->window, .links = m->message_rows, .links_count = w->count};
    return 1;
}

void job_measured_copy_state(struct state_bytes *b, struct job_measured *m)
{
    STATE_NO_ARRAY(b, m->message_rows, m->row_capacity);
    STATE_ARRAY(b, m->windows, m->count, m->capacity);
    if (m->windows == NULL)
        m->count = m->capacity = 0;
    for (size_t i = 0; i < m->count; i++)
        STATE_ARRAY(b, m->windows[i].rows, m->windows[i].count, 0);
}
