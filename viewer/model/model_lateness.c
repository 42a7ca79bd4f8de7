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
    l->version = l->newest = 0;
    l->more = 0;
}

/* Enters the rows of a message: a stretch of several windows once, then its further parts.
 * @return 0, 1: something is known of that stretch, or -ENOMEM */
static int model_lateness_enter(struct rank_lateness_known *l, const struct wire_lateness *m,
                                const uint32_t *ranks, const uint64_t *figures, uint32_t count)
{
    const int goes_on = l->more && m->window == l->newest;
    if (!count)
        return 0;
    if (goes_on || m->windows <= 1 || m->windows > m->window + 1)
        return history_put(&l->history, m->window, ranks, figures, count);
    return history_put_span(&l->history, m->window + 1 - m->windows, m->window, ranks, figures,
                            count);
}

int model_lateness_apply(struct rank_lateness_known *l, const struct wire_lateness *m, int snapshot,
                         uint32_t maximum_ranks)
{
    const int goes_on = l->more && m->window == l->newest;
    if (snapshot && l->version && m->window <= l->newest && !goes_on)
        return 0;
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
    code = code ? code : model_lateness_enter(l, m, ranks, figures, count);
    l->more = m->more && code == 0;
    l->newest = m->window > l->newest ? m->window : l->newest;
    l->version++;
    free(ranks);
    free(figures);
    return code < 0 ? code : 0; /* what is known already is known better */
}
