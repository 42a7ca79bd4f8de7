/* Window messages with groups of consecutive ranks in place of ranks. */
#include "daemon/analysis/groups/rank_groups.h"

#include "daemon/analysis/tables/array.h"
#include "holter/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The tables that are added up have columns of 64-bit numbers only, and begin with the columns that
 * identify a row, so that a row is handled as an array of numbers. */
#define COLUMN_OF(table, column) (offsetof(struct wire_##table##_row, column) / sizeof(uint64_t))
#define LEADING_COLUMNS 5 /* every table has so many, and none has a longer key */

struct group_table {
    size_t columns;
    size_t ranks;   /* leading columns that are ranks */
    size_t keys;    /* leading columns that identify a row */
    size_t maximum; /* column of which the maximum stays; 0: none */
};

#define GROUP_TABLE(table, rank_columns, key_columns, maximum_column)                              \
    (struct group_table)                                                                           \
    {                                                                                              \
        .columns = sizeof(struct wire_##table##_row) / sizeof(uint64_t), .ranks = (rank_columns),  \
        .keys = (key_columns), .maximum = (maximum_column)                                         \
    }

void rank_groups_finish(struct rank_groups *groups)
{
    free(groups->ranks);
    free(groups->pairs);
    free(groups->calls);
    free(groups->transfers);
    free(groups->bursts);
    free(groups->burst_pairs);
    *groups = (struct rank_groups){0};
}

unsigned rank_groups_shift(uint64_t world, uint64_t most_ranks)
{
    uint64_t most = most_ranks < RANK_GROUPS_MAXIMUM ? most_ranks : RANK_GROUPS_MAXIMUM;
    unsigned shift = 0;
    while (world > most_ranks && (world - 1) >> shift >= most)
        shift++;
    return shift;
}

static int group_compare_rows(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    for (size_t i = 0; i < LEADING_COLUMNS; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

static void group_add_row(const struct group_table *table, uint64_t *sum, const uint64_t *row)
{
    for (size_t i = table->keys; i < table->columns; i++) {
        if (i != table->maximum)
            sum[i] += row[i];
        else if (row[i] > sum[i])
            sum[i] = row[i];
    }
}

/* Replace ranks by their groups, and add up the rows of the same key. @return rows that are left */
static uint64_t group_add_up(const struct group_table *table, void *rows, uint64_t count,
                             unsigned shift)
{
    const size_t columns = table->columns;
    uint64_t *numbers = rows, left = 0;
    for (uint64_t i = 0; i < count; i++) {
        for (size_t c = 0; c < table->ranks; c++) {
            uint64_t *rank = &numbers[i * columns + c];
            *rank =
                *rank == UINT64_MAX ? *rank : *rank >> shift << shift; /* the largest: all others */
        }
    }
    if (count > 0)
        qsort(numbers, count, columns * sizeof(*numbers), group_compare_rows);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *row = &numbers[i * columns], *last = &numbers[(left - (left > 0)) * columns];
        if (left > 0 && memcmp(row, last, table->keys * sizeof(*row)) == 0)
            group_add_row(table, last, row);
        else
            memmove(&numbers[left++ * columns], row, columns * sizeof(*row));
    }
    return left;
}

static void group_convert_ranks(struct wire_rank_row *rows, struct wire_window *out, unsigned shift)
{
    const struct group_table table = GROUP_TABLE(rank, 1, 1, COLUMN_OF(rank, threads));
    for (uint64_t i = 0; i < out->ranks_count; i++) {
        struct wire_rank_row *r = &rows[i];
        r->in_call = r->in_call_ns = r->in_call_comm = 0;
        r->in_call_peer = 0; /* added up like the others; set below */
        r->process_state = r->awaited = r->awaited_ns = 0;
        r->ranks = 1;
    }
    out->ranks = rows;
    out->ranks_count = group_add_up(&table, rows, out->ranks_count, shift);
    for (uint64_t i = 0; i < out->ranks_count; i++)
        rows[i].in_call_peer = PEER_NONE;
}

static void group_convert_bursts(struct rank_groups *groups, struct wire_window *out,
                                 unsigned shift)
{
    const struct group_table table = GROUP_TABLE(burst_pair, 2, 3, 0);
    struct wire_burst_pair_row *rows = groups->burst_pairs;
    uint64_t from = 0, left = 0;
    for (uint64_t i = 0; i < out->bursts_count; i++) {
        struct wire_burst_row *b = &groups->bursts[i];
        const uint64_t count = b->pairs;
        if (b->collective) { /* the algorithm's messages are between ranks, not between groups */
            b->other_messages = b->messages;
            b->other_bytes = b->bytes;
            b->other_pairs += count;
            b->pairs = 0;
        } else {
            b->pairs = group_add_up(&table, &rows[from], count, shift);
            memmove(&rows[left], &rows[from], b->pairs * sizeof(*rows));
            left += b->pairs;
        }
        from += count;
    }
    out->bursts = groups->bursts;
    out->burst_pairs = rows;
    out->burst_pairs_count = left;
}

/* Copy the rows of a table of the message. @return whether there was memory */
#define GROUP_COPY(groups, window, table, capacity)                                                \
    (ARRAY_FIT((groups)->table, (groups)->capacity, (window)->table##_count + 1) == 0 &&           \
     ((window)->table##_count == 0 || memcpy((groups)->table, (window)->table,                     \
                                             (window)->table##_count * sizeof(*(groups)->table))))

int rank_groups_convert(struct rank_groups *groups, const struct wire_window *window,
                        unsigned shift, uint32_t node, struct wire_window *out)
{
    if (!GROUP_COPY(groups, window, ranks, rank_capacity) ||
        !GROUP_COPY(groups, window, pairs, pair_capacity) ||
        !GROUP_COPY(groups, window, calls, call_capacity) ||
        !GROUP_COPY(groups, window, transfers, transfer_capacity) ||
        !GROUP_COPY(groups, window, bursts, burst_capacity) ||
        !GROUP_COPY(groups, window, burst_pairs, burst_pair_capacity))
        return -ENOMEM;
    const struct group_table pairs = GROUP_TABLE(pair, 2, 5, 0),
                             calls = GROUP_TABLE(call, 1, 4, COLUMN_OF(call, longest_ns)),
                             transfers = GROUP_TABLE(transfer, 2, 3, 0);
    *out = *window;
    group_convert_ranks(groups->ranks, out, shift);
    out->pairs = groups->pairs;
    out->pairs_count = group_add_up(&pairs, groups->pairs, out->pairs_count, shift);
    out->calls = groups->calls;
    out->calls_count = group_add_up(&calls, groups->calls, out->calls_count, shift);
    for (uint64_t i = 0; i < out->transfers_count; i++)
        groups->transfers[i].source = groups->transfers[i].destination = node;
    out->transfers = groups->transfers;
    out->transfers_count = group_add_up(&transfers, groups->transfers, out->transfers_count, 0);
    group_convert_bursts(groups, out, shift);
    out->pending_count = out->processes_count = 0;
    out->collectives_count = out->comm_members_count = 0;
    return 0;
}
