/* Measured traffic of links, by window. */
#include "viewer/model/measured.h"

#include "daemon/analysis/network/topology.h"
#include "holter/order.h"

#include <errno.h>
#include <stdlib.h>

void measured_init(struct measured *m)
{
    *m = (struct measured){0};
    history_init(&m->history, 1, 0, MEASURED_BYTES);
}

void measured_clear(struct measured *m)
{
    history_clear(&m->history);
    m->unit = 0;
    m->more = 0;
    m->newest = m->version = 0;
}

struct reading {
    uint64_t value;
    uint32_t link;
};

ORDER_FUNCTION(measured_compare_by_link, struct reading, ORDER(a->link, b->link))

int measured_apply(struct measured *m, const struct wire_links *w)
{
    int part = m->more && w->window == m->newest;
    if (m->version && w->window <= m->newest && !part)
        return 0;
    m->more = w->more != 0;
    struct reading *rows = malloc(w->links_count * sizeof *rows + 1);
    uint32_t *items = malloc(w->links_count * sizeof *items + 1), n = 0, kept = 0;
    uint64_t *values = malloc(w->links_count * sizeof *values + 1);
    int error = rows && items && values ? 0 : -ENOMEM;
    for (uint64_t i = 0; i < w->links_count && !error; i++) {
        const struct wire_link_row *row = &w->links[i];
        if (row->measured == UINT64_MAX || row->link >= TOPOLOGY_MAXIMUM_LINKS)
            continue;
        rows[n++] = (struct reading){row->measured, (uint32_t)row->link};
        m->unit = row->unit != 0;
    }
    if (n)
        qsort(rows, n, sizeof *rows, measured_compare_by_link);
    for (uint32_t i = 0; i < n; i++) {
        if (kept && items[kept - 1] == rows[i].link)
            continue;
        items[kept] = rows[i].link;
        values[kept++] = rows[i].value;
    }
    m->newest = m->version && w->window > m->newest ? w->window : m->newest;
    if (kept) {
        error = history_put(&m->history, w->window, items, values, kept);
        m->version += !error;
        m->newest = error ? m->newest : w->window;
    }
    free(rows);
    free(items);
    free(values);
    return error;
}
