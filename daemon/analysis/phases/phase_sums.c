/* Sums by edge over several segments, listed in the order of edges. */
#include "daemon/analysis/phases/phase_sums.h"

#include <errno.h>
#include <stdlib.h>

int phase_sums_init(struct phase_sums *sums, uint32_t edges)
{
    *sums = (struct phase_sums){.of = calloc((size_t)edges + 1, sizeof(*sums->of))};
    return sums->of != NULL ? 0 : -ENOMEM;
}

void phase_sums_finish(struct phase_sums *sums)
{
    free(sums->of);
    *sums = (struct phase_sums){0};
}

void phase_sums_add(struct phase_sums *sums, const struct phase_rows *table)
{
    const struct phase_row *row = table->rows;
    for (uint32_t i = 0; i < table->count; i++, row++) {
        struct phase_sum *sum = &sums->of[row->edge];
        sums->count += sum->messages == 0; /* every row has messages */
        sum->messages += row->messages;
        sum->bytes += row->bytes;
    }
}

int phase_sums_list(const struct phase_sums *sums, struct phase_edge_numbers *numbers,
                    struct phase_graph *out)
{
    if (sums->count == 0)
        return 0;
    struct phase_edge *edges = malloc(sums->count * sizeof(*edges));
    if (edges == NULL || phase_edge_numbers_sort(numbers) != 0) {
        free(edges);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < numbers->ordered; i++) {
        const struct phase_sum *sum = &sums->of[numbers->order[i]];
        if (sum->messages == 0)
            continue;
        edges[out->count] = phase_edge_numbered(numbers, numbers->order[i]);
        edges[out->count].messages = sum->messages;
        edges[out->count++].bytes = sum->bytes;
        out->messages += sum->messages;
        out->bytes += sum->bytes;
    }
    out->edges = edges;
    return 0;
}
