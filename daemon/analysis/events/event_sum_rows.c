/* Rows of the window message from what the summariser counted. */
#include "daemon/analysis/events/event_sum_state.h"

#include "daemon/analysis/tables/array.h"

#include <errno.h>

static struct wire_rank_row event_sum_rows_rank_row(const struct rank_sum *rank)
{
    struct wire_rank_row row = rank->row;
    row.send_ns = rank->class_ns[CALL_SEND];
    row.recv_ns = rank->class_ns[CALL_RECV];
    row.wait_ns = rank->class_ns[CALL_WAIT];
    row.poll_ns = rank->class_ns[CALL_POLL];
    row.collective_ns = rank->class_ns[CALL_COLLECTIVE];
    row.one_sided_ns = rank->class_ns[CALL_ONE_SIDED];
    row.io_ns = rank->class_ns[CALL_IO];
    row.other_ns = rank->class_ns[CALL_OTHER];
    return row;
}

static void event_sum_rows_fill_rows(struct event_sum *sum)
{
    for (uint32_t i = 0; i < sum->rank_count; i++)
        sum->rows.ranks[i] = event_sum_rows_rank_row(&sum->ranks[i]);
    for (uint32_t i = 0; i < sum->pair_index.count; i++) {
        struct key key = sum->pair_index.keys[i];
        sum->rows.pairs[i] = (struct wire_pair_row){
            .source = key.hi >> 32,
            .destination = (int32_t)(uint32_t)key.hi,
            .comm = key.lo >> 32,
            .region = key.lo >> 16 & 0xffff,
            .size_class = key.lo & 0xffff,
            .messages = sum->pairs[i].messages,
            .bytes = sum->pairs[i].bytes,
        };
    }
    for (uint32_t i = 0; i < sum->call_index.count; i++) {
        struct key key = sum->call_index.keys[i];
        sum->rows.calls[i] = (struct wire_call_row){
            .rank = key.hi >> 32,
            .call = key.lo >> 16,
            .comm = (uint32_t)key.hi,
            .region = key.lo & 0xffff,
            .calls = sum->calls[i].calls,
            .bytes = sum->calls[i].bytes,
            .bytes_in = sum->calls[i].bytes_in,
            .time_ns = sum->calls[i].time_ns,
            .longest_ns = sum->calls[i].longest_ns,
            .polls = sum->calls[i].polls,
            .collective_ns = sum->calls[i].collective_ns,
        };
    }
    for (uint32_t i = 0; i < sum->comm_index.count; i++) {
        sum->rows.comms[i] = sum->comms[i].row;
        sum->rows.comms[i].name = sum->comms[i].name;
    }
    for (uint32_t i = 0; i < sum->regions.count; i++)
        sum->rows.regions[i].name = sum->regions.names[i];
}

static int event_sum_rows_reserve_rows(struct event_sum *sum)
{
    if (ARRAY_FIT(sum->rows.ranks, sum->rows.rank_capacity, sum->rank_count) != 0 ||
        ARRAY_FIT(sum->rows.pairs, sum->rows.pair_capacity, sum->pair_index.count) != 0 ||
        ARRAY_FIT(sum->rows.calls, sum->rows.call_capacity, sum->call_index.count) != 0 ||
        ARRAY_FIT(sum->rows.comms, sum->rows.comm_capacity, sum->comm_index.count) != 0 ||
        ARRAY_FIT(sum->rows.regions, sum->rows.region_capacity, sum->regions.count) != 0)
        return -ENOMEM;
    return 0;
}

int event_sum_rows(struct event_sum *sum, struct window_rows *out)
{
    if (event_sum_rows_reserve_rows(sum) != 0)
        return -ENOMEM;
    event_sum_rows_fill_rows(sum);
    *out = (struct window_rows){
        .comms = sum->rows.comms,
        .regions = sum->rows.regions,
        .ranks = sum->rows.ranks,
        .pairs = sum->rows.pairs,
        .calls = sum->rows.calls,
        .comms_count = sum->comm_index.count,
        .regions_count = sum->regions.count,
        .ranks_count = sum->rank_count,
        .pairs_count = sum->pair_index.count,
        .calls_count = sum->call_index.count,
        .folded = sum->folded,
    };
    return 0;
}
