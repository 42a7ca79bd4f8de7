/* Lateness of ranks by window. */
#include "viewer/model/model_lateness.h"

#include <errno.h>
#include <stdlib.h>

#define LATENESS_BYTES (16u << 20)

void model_lateness_init(struct rank_lateness_known *l)
{
    *l = (struct rank_lateness_known){.version = 0};
    history_init(&l->history, LATE_COLUMNS, 0, LATENESS_BYTES);
}

void model_lateness_clear(struct rank_lateness_known *l)
{
    history_clear(&l->history);
    l->version = 0;
}

int model_lateness_apply(struct rank_lateness_known *l, const struct wire_lateness *m,
                         uint32_t maximum_ranks)
{
    uint32_t *ranks = malloc((m->ranks_count + 1) * sizeof *ranks), count = 0;
    uint64_t *figures = malloc((m->ranks_count + 1) * LATE_COLUMNS * sizeof *figures);
    int code = ranks && figures ? 0 : -ENOMEM;
    for (uint64_t i = 0; code == 0 && i < m->ranks_count; i++) {
        const struct wire_lateness_row *row = &m->ranks[i];
        if (row->rank >= maximum_ranks || (count && row->rank <= ranks[count - 1]))
            continue;
        figures[count * LATE_COLUMNS + LATE_NS] = row->late_ns;
        figures[count * LATE_COLUMNS + LATE_CAUSED_NS] = row->caused_ns;
        ranks[count++] = (uint32_t)row->rank;
    }
    if (code == 0 && count && m->windows > 1 && m->windows <= m->window + 1)
        code = history_put_span(&l->history, m->window + 1 - m->windows, m->window, ranks, figures,
                                count);
    else if (code == 0 && count)
        code = history_put(&l->history, m->window, ranks, figures, count);
    l->version++;
    free(ranks);
    free(figures);
    return code < 0 ? code : 0; /* what is known already is known better */
}
