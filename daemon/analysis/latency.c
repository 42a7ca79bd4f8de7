#include "daemon/analysis/latency.h"

#include <math.h>

#define PART 1024.0       /* latencies are summed in 1/PART ... */
#define LOG2_PART 65536.0 /* ... and their logarithms in 1/LOG2_PART */
#define KNOWN_LOGS 64u
#define LATENCY_MOST 1e6 /* of a row's mean, so that no sum can overflow */

/* A row's latencies by one criterion. */
static uint64_t scaled(const struct transfer *row, double criterion)
{
    double mean = (double)row->transfer_ns / (double)row->messages / criterion;
    mean = mean < LATENCY_MOST ? mean : LATENCY_MOST;
    return (uint64_t)(mean * (double)row->messages * PART + 0.5);
}

static void add_row(struct latency_sum *to, const struct transfer *row)
{
#define X(name) to->name += row->name;
    TRANSFER_SUMS(X)
#undef X
}

/* Logarithms of criteria that were asked for last, in 1/LOG2_PART: messages of a job have few sizes. */
struct known_logs {
    double reference[KNOWN_LOGS];
    int64_t parts[KNOWN_LOGS];
};

static int64_t log_of(struct known_logs *known, uint16_t size_class, double reference)
{
    unsigned at = size_class % KNOWN_LOGS;
    if (known->reference[at] != reference) {
        known->reference[at] = reference;
        known->parts[at] = llround(log2(reference) * LOG2_PART);
    }
    return known->parts[at];
}

struct row_latency {
    int judged;
    uint64_t recent, reference;
    int64_t log2, moved_log2;
};

static struct row_latency judge(const struct transfer *row, const struct latency_scale *scale,
                                struct known_logs *known)
{
    double recent = scale->recent[row->locality][row->size_class];
    double reference = scale->reference[row->locality][row->size_class];
    struct row_latency out = {0};
    if (row->messages == 0 || !(recent > 0) || !(reference > 0))
        return out;
    out.judged = 1;
    out.recent = scaled(row, recent);
    out.reference = scaled(row, reference);
    out.log2 =
        (int64_t)row->log2_sum - log_of(known, row->size_class, reference) * (int64_t)row->messages;
    double moved = scale->moved[row->locality][row->size_class];
    out.moved_log2 = moved == 0 ? 0 : llround(moved * LOG2_PART) * (int64_t)row->messages;
    return out;
}

static void add_latency(struct latency_sum *to, const struct transfer *row,
                        const struct row_latency *latency)
{
    add_row(to, row);
    if (!latency->judged)
        return;
    to->judged += row->messages;
    to->recent += latency->recent;
    to->reference += latency->reference;
    to->reference_log2 += latency->log2;
    to->moved_log2 += latency->moved_log2;
}

static void add_to_rank(struct latency_groups *groups, uint32_t rank, const struct transfer *row,
                        const struct row_latency *latency)
{
    if (rank >= groups->rank_count || !latency->judged)
        return;
    groups->ranks[rank].messages += row->messages;
    groups->ranks[rank].reference += latency->reference;
    groups->ranks[rank].reference_log2 += latency->log2;
}

static uint32_t region_of(const struct latency_groups *groups, uint32_t rank)
{
    return rank < groups->rank_count ? groups->region_of[rank] : UINT32_MAX;
}

static void add_to_regions(struct latency_groups *groups, const struct transfer *row,
                           const struct row_latency *latency)
{
    if (groups->region_count == 0)
        return;
    uint32_t from = region_of(groups, row->source), to = region_of(groups, row->destination);
    if (from < groups->region_count)
        add_latency(&groups->regions[from], row, latency);
    if (to < groups->region_count && to != from)
        add_latency(&groups->regions[to], row, latency);
}

void latency_add(struct latency_groups *groups, const struct latency_scale *scale,
                 const struct transfer *rows, size_t count)
{
    struct known_logs known = {0};
    for (size_t i = 0; i < count; i++) {
        const struct transfer *row = &rows[i];
        struct row_latency latency = judge(row, scale, &known);
        add_latency(&groups->job, row, &latency);
        add_latency(&groups->localities[row->locality], row, &latency);
        add_to_regions(groups, row, &latency);
        add_to_rank(groups, row->source, row, &latency);
        if (row->destination != row->source)
            add_to_rank(groups, row->destination, row, &latency);
    }
}

static double mean_of(uint64_t sum, uint64_t count)
{
    return count == 0 ? NAN : (double)sum / PART / (double)count;
}

double latency_recent(const struct latency_sum *sum)
{
    return mean_of(sum->recent, sum->judged);
}

double latency_reference(const struct latency_sum *sum)
{
    return mean_of(sum->reference, sum->judged);
}

static double geometric_mean(int64_t log2_sum, uint64_t messages)
{
    return messages == 0 ? NAN : exp2((double)log2_sum / LOG2_PART / (double)messages);
}

double latency_typical(const struct latency_sum *sum)
{
    return geometric_mean(sum->reference_log2, sum->judged);
}

double latency_moved(const struct latency_sum *sum)
{
    return sum->judged == 0 ? 0 : (double)sum->moved_log2 / LOG2_PART / (double)sum->judged;
}

double latency_rank_typical(const struct latency_rank *rank)
{
    return geometric_mean(rank->reference_log2, rank->messages);
}

double latency_rank_reference(const struct latency_rank *rank)
{
    return mean_of(rank->reference, rank->messages);
}
