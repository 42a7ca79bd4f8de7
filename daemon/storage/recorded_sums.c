#include "daemon/storage/recorded_sums.h"

#include "daemon/analysis/tables/saturate.h"

static void add(uint64_t *sum, uint64_t value)
{
    *sum = saturated_sum(*sum, value);
}

void recorded_calls_add(struct recorded_calls *sum, const struct wire_call_row *row)
{
    add(&sum->calls, row->calls);
    add(&sum->bytes, row->bytes);
    add(&sum->bytes_in, row->bytes_in);
    add(&sum->time_ns, row->time_ns);
    sum->longest_ns = row->longest_ns > sum->longest_ns ? row->longest_ns : sum->longest_ns;
}

void recorded_rank_add(struct wire_rank_row *sum, const struct wire_rank_row *row)
{
    add(&sum->events, row->events);
    add(&sum->lost, row->lost);
    add(&sum->calls, row->calls);
    add(&sum->polls, row->polls);
    add(&sum->sent, row->sent);
    add(&sum->sent_bytes, row->sent_bytes);
    add(&sum->received, row->received);
    add(&sum->received_bytes, row->received_bytes);
    add(&sum->send_ns, row->send_ns);
    add(&sum->recv_ns, row->recv_ns);
    add(&sum->wait_ns, row->wait_ns);
    add(&sum->poll_ns, row->poll_ns);
    add(&sum->collective_ns, row->collective_ns);
    add(&sum->one_sided_ns, row->one_sided_ns);
    add(&sum->io_ns, row->io_ns);
    add(&sum->other_ns, row->other_ns);
    add(&sum->untracked, row->untracked);
    sum->threads = row->threads > sum->threads ? row->threads : sum->threads;
}
