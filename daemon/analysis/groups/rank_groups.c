/* Window messages with groups of consecutive ranks in place of ranks. */
#include "daemon/analysis/groups/rank_groups.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/key_table.h"
#include "holter/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The tables that are added up have columns of 64-bit numbers only, and begin with the columns that
 * identify a row, so that a row is handled as an array of numbers. Sums are found by a hash of
 * these columns: sorting rows instead takes a sixth of the daemon's time for a job with groups. */
#define COLUMN_OF(table, column) (offsetof(struct wire_##table##_row, column) / sizeof(uint64_t))

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
    free(groups->processes);
    free(groups->index);
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

static void group_add_row(const struct group_table *table, uint64_t *sum, const uint64_t *row)
{
    for (size_t i = table->keys; i < table->columns; i++) {
        if (i != table->maximum)
            sum[i] += row[i];
        else if (row[i] > sum[i])
            sum[i] = row[i];
    }
}

/* @return places of an index for that many rows: a power of two, at most half of it in use */
static size_t group_index_places(uint64_t rows)
{
    size_t places = 2;
    while (places < 2 * rows)
        places *= 2;
    return places;
}

/* @return rows of the largest table that is added up; a burst's rows are among burst_pairs */
static uint64_t group_most_rows(const struct wire_window *window)
{
    const uint64_t counts[] = {window->ranks_count,       window->pairs_count,
                               window->calls_count,       window->transfers_count,
                               window->burst_pairs_count, window->processes_count};
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        most = counts[i] > most ? counts[i] : most;
    return most;
}

static int group_is_sum_of(const struct group_table *table, const uint64_t *sum,
                           const uint64_t *row)
{
    size_t same = 0;
    while (same < table->keys && sum[same] == row[same])
        same++;
    return same == table->keys;
}

/* @return the place of a row's key in the index: 1 + the number of the sum, or 0 while none is */
static uint32_t *group_find_sum(uint32_t *index, size_t mask, const struct group_table *table,
                                const uint64_t *rows, const uint64_t *row)
{
    uint64_t mixed = 0;
    for (size_t i = 0; i < table->keys; i++)
        mixed = mixed * UINT64_C(0x9e3779b97f4a7c15) + row[i];
    const size_t hash = key_table_hash_of((struct key){.hi = mixed, .lo = row[0]});
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        if (index[at] == 0 || group_is_sum_of(table, &rows[(index[at] - 1) * table->columns], row))
            return &index[at];
    }
}

/* Replace ranks by their groups, and add up the rows of the same key. @return rows that are left */
static uint64_t group_add_up(uint32_t *index, const struct group_table *table, void *rows,
                             uint64_t count, unsigned shift)
{
    const size_t columns = table->columns, mask = group_index_places(count) - 1;
    uint64_t *numbers = rows;
    uint32_t left = 0;
    memset(index, 0, (mask + 1) * sizeof(*index));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *row = &numbers[i * columns];
        for (size_t c = 0; c < table->ranks; c++) {
            if (row[c] != UINT64_MAX) /* all other ranks */
                row[c] = row[c] >> shift << shift;
        }
        uint32_t *place = group_find_sum(index, mask, table, numbers, row);
        if (*place != 0) {
            group_add_row(table, &numbers[(*place - 1) * columns], row);
            continue;
        }
        memmove(&numbers[left * columns], row, columns * sizeof(*row));
        *place = ++left;
    }
    return left;
}

static void group_convert_ranks(struct rank_groups *groups, struct wire_window *out, unsigned shift)
{
    struct wire_rank_row *rows = groups->ranks;
    const struct group_table table = GROUP_TABLE(rank, 1, 1, COLUMN_OF(rank, threads));
    for (uint64_t i = 0; i < out->ranks_count; i++) {
        struct wire_rank_row *r = &rows[i];
        r->in_call = r->in_call_ns = r->in_call_comm = 0;
        r->in_call_peer = 0; /* added up like the others; set below */
        r->process_state = r->awaited = r->awaited_ns = 0;
        r->ranks = 1;
    }
    out->ranks = rows;
    out->ranks_count = group_add_up(groups->index, &table, rows, out->ranks_count, shift);
    for (uint64_t i = 0; i < out->ranks_count; i++)
        rows[i].in_call_peer = PEER_NONE;
}

static void group_convert_processes(struct rank_groups *groups, struct wire_window *out,
                                    uint32_t node)
{
    const struct group_table table = GROUP_TABLE(process, 1, 1, 0);
    const uint64_t count = out->processes_count;
    uint64_t clocks = 0; /* those that are known */
    for (uint64_t i = 0; i < count; i++) {
        groups->processes[i].rank = node;
        clocks += groups->processes[i].clock_khz != 0;
    }
    out->processes = groups->processes;
    out->processes_count = group_add_up(groups->index, &table, groups->processes, count, 0);
    if (clocks > 0)
        groups->processes[0].clock_khz /= clocks;
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
            b->pairs = group_add_up(groups->index, &table, &rows[from], count, shift);
            memmove(&rows[left], &rows[from], b->pairs * sizeof(*rows));
            left += b->pairs;
        }
        from += count;
    }
    out->bursts = groups->bursts;
    out->burst_pairs = rows;
    out->burst_pairs_count = left;
}

int rank_groups_add_up_pairs(struct rank_groups *groups, struct wire_pair_row *rows,
                             uint64_t *count)
{
    const struct group_table table = GROUP_TABLE(pair, 2, 2, 0);
    if (ARRAY_FIT(groups->index, groups->index_capacity, group_index_places(*count)) != 0)
        return -ENOMEM;
    *count = group_add_up(groups->index, &table, rows, *count, 0);
    return 0;
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
        !GROUP_COPY(groups, window, burst_pairs, burst_pair_capacity) ||
        !GROUP_COPY(groups, window, processes, process_capacity) ||
        ARRAY_FIT(groups->index, groups->index_capacity,
                  group_index_places(group_most_rows(window))) != 0)
        return -ENOMEM;
    const struct group_table pairs = GROUP_TABLE(pair, 2, 5, 0),
                             calls = GROUP_TABLE(call, 1, 4, COLUMN_OF(call, longest_ns)),
                             transfers = GROUP_TABLE(transfer, 2, 3, 0);
    *out = *window;
    group_convert_ranks(groups, out, shift);
    out->pairs = groups->pairs;
    out->pairs_count = group_add_up(groups->index, &pairs, groups->pairs, out->pairs_count, shift);
    out->calls = groups->calls;
    out->calls_count = group_add_up(groups->index, &calls, groups->calls, out->calls_count, shift);
    for (uint64_t i = 0; i < out->transfers_count; i++)
        groups->transfers[i].source = groups->transfers[i].destination = node;
    out->transfers = groups->transfers;
    out->transfers_count =
        group_add_up(groups->index, &transfers, groups->transfers, out->transfers_count, 0);
    group_convert_bursts(groups, out, shift);
    group_convert_processes(groups, out, node);
    out->pending_count = 0;
    out->collectives_count = out->comm_members_count = 0;
    return 0;
}
