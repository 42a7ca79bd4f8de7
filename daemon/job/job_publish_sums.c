/* Sums of ranks, pairs and calls as messages, in parts. */
#include "daemon/job/job_publish.h"

/* What messages of pairs and of calls have in common. */
#define SUM_FIELDS                                                                                 \
    .job = stream->job, .window = sum->window, .windows = sum->windows, .comms = r->comms,         \
    .comms_count = r->comm_count, .regions = r->regions, .regions_count = r->region_count

/* A sum without rows is published too, as one part. */
void job_publish_sum(const struct job_stream *stream, const struct job_sum *sum)
{
    const struct sum_result *r = sum->result;
    struct wire_rank_window ranks = {.job = stream->job,
                                     .window = sum->window,
                                     .length_ns = sum->window_ns,
                                     .ranks = r->ranks,
                                     .ranks_count = r->rank_count,
                                     .windows = sum->windows};
    struct wire_pair_window pairs = {SUM_FIELDS, .pairs = r->pairs, .pairs_count = r->pair_count,
                                     .folded = r->folded};
    if (sum->nodes != NULL) {
        pairs.node_pairs = sum->nodes->pairs;
        pairs.node_pairs_count = sum->nodes->pair_count;
    }
    struct wire_call_window calls = {SUM_FIELDS, .calls = r->calls, .calls_count = r->call_count};
    struct wire_caller_window callers = {SUM_FIELDS, .calls = r->calls,
                                         .calls_count = r->call_count, .left_out = r->left_out,
                                         .left_out_ns = r->left_out_ns};
    switch (sum->part) {
    case SUM_RANKS:
        job_publish_parts(stream, WIRE_TYPE_RANK_WINDOW, &ranks, "ranks");
        break;
    case SUM_PAIRS:
        job_publish_parts(stream, WIRE_TYPE_PAIR_WINDOW, &pairs, "pairs");
        break;
    case SUM_CALLS:
        job_publish_parts(stream, WIRE_TYPE_CALL_WINDOW, &calls, "calls");
        break;
    case SUM_CALLERS:
        job_publish_parts(stream, WIRE_TYPE_CALLER_WINDOW, &callers, "calls");
        break;
    }
}

void job_publish_window_sums(const struct job_stream *stream, struct job_sums *sums,
                             const struct closed_window *window, size_t maximum_pairs)
{
    static const struct {
        enum wire_type type;
        enum sum_part part;
    } parts[] = {{WIRE_TYPE_RANK_WINDOW, SUM_RANKS},
                 {WIRE_TYPE_PAIR_WINDOW, SUM_PAIRS},
                 {WIRE_TYPE_CALL_WINDOW, SUM_CALLS},
                 {WIRE_TYPE_CALLER_WINDOW, SUM_CALLERS}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct job_sum sum = {parts[i].part,     window->number, 1,
                              window->length_ns, &sums->result,  NULL};
        if (!job_stream_wants(stream, parts[i].type) ||
            window_sum_result(window->sum, parts[i].part, maximum_pairs, &sums->result) != 0)
            continue;
        if (sum.part == SUM_PAIRS && sums->closing_nodes != NULL &&
            window_sum_result(sums->closing_nodes, SUM_PAIRS, maximum_pairs, &sums->node_pairs) ==
                0)
            sum.nodes = &sums->node_pairs;
        job_publish_sum(stream, &sum);
    }
}
