/* Sums by edge over several segments, listed in the order of edges. */
#include "daemon/analysis/phases/phase_sums.h"

#include "daemon/analysis/tables/key_order.h"

#include <errno.h>
#include <stdlib.h>

int phase_sums_init(struct phase_sums *sums, uint32_t edges)
{
    size_t capacity = (size_t)edges + 1;
    *sums = (struct phase_sums){.of = calloc(capacity, sizeof(*sums->of)),
                                .edges = malloc(capacity * sizeof(*sums->edges))};
    if (sums->of != NULL && sums->edges != NULL)
        return 0;
    phase_sums_finish(sums);
    return -ENOMEM;
}

void phase_sums_finish(struct phase_sums *sums)
{
    free(sums->of);
    free(sums->edges);
    *sums = (struct phase_sums){0};
}

void phase_sums_add(struct phase_sums *sums, const struct phase_rows *table)
{
    const struct phase_row *row = table->rows;
    for (uint32_t i = 0; i < table->count; i++, row++) {
        struct phase_sum *sum = &sums->of[row->edge];
        if (sum->messages == 0) /* every row has messages */
            sums->edges[sums->count++] = row->edge;
        sum->messages += row->messages;
        sum->bytes += row->bytes;
    }
}

int phase_sums_list(const struct phase_sums *sums, const struct phase_edge_numbers *numbers,
                    struct phase_graph *out)
{
    size_t count = sums->count;
    if (count == 0)
        return 0;
    struct key_place *places = malloc(2 * count * sizeof(*places)), *sorted;
    struct phase_edge *edges = places == NULL ? NULL : malloc(count * sizeof(*edges));
    if (edges == NULL) {
        free(places);
        return -ENOMEM;
    }
    /* Radix sort by the lower word of the key, then by the higher: the sort is stable. */
    for (size_t i = 0; i < count; i++)
        places[i] = (struct key_place){numbers->table.keys[sums->edges[i]].lo, sums->edges[i]};
    sorted = key_order(places, places + count, count);
    for (size_t i = 0; i < count; i++)
        sorted[i].key = numbers->table.keys[sorted[i].place].hi;
    sorted = key_order(sorted, sorted == places ? places + count : places, count);
    for (size_t i = 0; i < count; i++) {
        const struct phase_sum *sum = &sums->of[sorted[i].place];
        edges[i] = phase_edge_numbered(numbers, sorted[i].place);
        edges[i].messages = sum->messages;
        edges[i].bytes = sum->bytes;
        out->messages += sum->messages;
        out->bytes += sum->bytes;
    }
    out->edges = edges;
    out->count = count;
    free(places);
    return 0;
}
