/* Saturating sums of the rows of window messages. */
#include "daemon/storage/recorded_sums.h"

#include "daemon/analysis/tables/saturate.h"

static void recorded_sum_add(uint64_t *sum, uint64_t value)
{
    *sum = saturated_sum(*sum, value);
}

void recorded_calls_add(struct recorded_calls *sum, const struct wire_call_row *row)
{
    recorded_sum_add(&sum->calls, row->calls);
    recorded_sum_add(&sum->bytes, row->bytes);
    recorded_sum_add(&sum->bytes_in, row->bytes_in);
    recorded_sum_add(&sum->time_ns, row->time_ns);
    recorded_sum_add(&sum->polls, row->polls);
    recorded_sum_add(&sum->collective_ns, row->collective_ns);
    sum->longest_ns = row->longest_ns > sum->longest_ns ? row->longest_ns : sum->longest_ns;
}

void recorded_rank_add(struct wire_rank_row *sum, const struct wire_rank_row *row)
{
    recorded_sum_add(&sum->events, row->events);
    recorded_sum_add(&sum->lost, row->lost);
    recorded_sum_add(&sum->calls, row->calls);
    recorded_sum_add(&sum->polls, row->polls);
    recorded_sum_add(&sum->sent, row->sent);
    recorded_sum_add(&sum->sent_bytes, row->sent_bytes);
    recorded_sum_add(&sum->received, row->received);
    recorded_sum_add(&sum->received_bytes, row->received_bytes);
    recorded_sum_add(&sum->send_ns, row->send_ns);
    recorded_sum_add(&sum->recv_ns, row->recv_ns);
    recorded_sum_add(&sum->wait_ns, row->wait_ns);
    recorded_sum_add(&sum->poll_ns, row->poll_ns);
    recorded_sum_add(&sum->collective_ns, row->collective_ns);
    recorded_sum_add(&sum->one_sided_ns, row->one_sided_ns);
    recorded_sum_add(&sum->io_ns, row->io_ns);
    recorded_sum_add(&sum->other_ns, row->other_ns);
    recorded_sum_add(&sum->untracked, row->untracked);
    recorded_sum_add(&sum->tallied, row->tallied);
    recorded_sum_add(&sum->absent_ns, row->absent_ns);
    recorded_sum_add(&sum->service_ns, row->service_ns);
    sum->threads = row->threads > sum->threads ? row->threads : sum->threads;
}
