/* Sorted tables of edges: append, merge, compare. */
#include "daemon/analysis/phases/phase_rows.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 uint128;

void phase_rows_finish(struct phase_rows *table)
{
    free(table->rows);
    *table = (struct phase_rows){0};
}

void phase_rows_fit(struct phase_rows *table)
{
    (void)ARRAY_RESIZE(table->rows, table->count + 1);
}

uint32_t phase_rows_needed(uint64_t messages)
{
    uint64_t rows = messages / UINT32_MAX + (messages % UINT32_MAX > 0);
    return rows < PHASE_ROWS_PER_EDGE ? (uint32_t)rows : PHASE_ROWS_PER_EDGE;
}

void phase_rows_append(struct phase_rows *table, uint32_t edge, uint64_t messages, uint64_t bytes,
                       struct phase_excess *excess)
{
    const uint64_t maximum = (uint64_t)PHASE_ROWS_PER_EDGE * UINT32_MAX;
    if (messages > maximum) {
        uint64_t over = messages - maximum;
        uint64_t over_bytes = (uint64_t)((uint128)bytes * over / messages);
        excess->messages += over;
        excess->bytes += over_bytes;
        messages = maximum;
        bytes -= over_bytes;
    }
    for (; messages > UINT32_MAX; messages -= UINT32_MAX) {
        table->rows[table->count++] = (struct phase_row){edge, UINT32_MAX, bytes};
        bytes = 0;
    }
    table->rows[table->count++] = (struct phase_row){edge, (uint32_t)messages, bytes};
}

/* An iteration over the edges of two tables, with the sums of each edge. */
struct phase_rows_walk {
    const struct phase_rows *tables[2];
    uint32_t at[2];
    uint32_t edge;
    uint64_t messages, bytes;
};

static bool phase_rows_walk_next(struct phase_rows_walk *walk)
{
    uint32_t edge[2];
    for (int i = 0; i < 2; i++)
        edge[i] = walk->at[i] < walk->tables[i]->count ? walk->tables[i]->rows[walk->at[i]].edge
                                                       : UINT32_MAX;
    walk->edge = edge[0] < edge[1] ? edge[0] : edge[1];
    walk->messages = walk->bytes = 0;
    for (int i = 0; i < 2; i++)
        for (const struct phase_rows *t = walk->tables[i];
             walk->at[i] < t->count && t->rows[walk->at[i]].edge == walk->edge; walk->at[i]++) {
            walk->messages += t->rows[walk->at[i]].messages;
            walk->bytes += t->rows[walk->at[i]].bytes;
        }
    return walk->messages > 0; /* every row has messages */
}

/* The sums overwrite one of the tables if it has as many rows as the result: then both have the
 * same edges, each with as many rows as before, and no row is written before it is read. */
int phase_rows_merge(struct phase_rows *to, struct phase_rows *from, struct phase_excess *excess)
{
    struct phase_rows_walk count = {.tables = {to, from}}, sum = count;
    struct phase_rows merged = {0};
    uint32_t rows = 0;
    while (phase_rows_walk_next(&count))
        rows += phase_rows_needed(count.messages);
    if (rows == 0)
        return 0;
    if (rows == to->count)
        merged.rows = to->rows;
    else if (rows == from->count)
        merged.rows = from->rows;
    else
        merged.rows = malloc(rows * sizeof(*merged.rows));
    if (merged.rows == NULL)
        return -ENOMEM;
    while (phase_rows_walk_next(&sum))
        phase_rows_append(&merged, sum.edge, sum.messages, sum.bytes, excess);
    if (merged.rows != to->rows)
        free(to->rows);
    if (merged.rows != from->rows)
        free(from->rows);
    *to = merged;
    *from = (struct phase_rows){0};
    return 0;
}

uint32_t phase_rows_common(const struct phase_rows *left, const struct phase_rows *right)
{
    uint32_t common = 0;
    for (uint32_t i = 0, j = 0; i < left->count && j < right->count;) {
        uint32_t a = left->rows[i].edge, b = right->rows[j].edge;
        common += a == b;
        i += a <= b;
        j += b <= a;
    }
    return common;
}
