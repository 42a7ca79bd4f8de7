#include "daemon/analysis/latency.h"

#include <math.h>
#include <stdbool.h>

#define PART 1024.0       /* latencies are summed in 1/PART ... */
#define LOG2_PART 65536.0 /* ... and their logarithms in 1/LOG2_PART */
#define KNOWN 64u         /* classes that are at hand: messages of a job have few sizes */
#define LATENCY_MOST 1e6  /* of a row's mean, so that no sum can overflow */

/* What all rows of one class share. */
struct judge {
    uint32_t of; /* locality and size class, plus 1; 0: of none */
    bool judged;
    double recent, reference;
    int64_t log2, moved_log2; /* of the reference, in 1/LOG2_PART */
};

static const struct judge *judge_of(struct judge *known, const struct latency_scale *scale,
                                    const struct transfer *row)
{
    uint32_t of = (uint32_t)row->size_class * LOCALITIES + row->locality + 1;
    struct judge *judge = &known[of % KNOWN];
    if (judge->of == of)
        return judge;
    double recent = scale->recent[row->locality][row->size_class];
    double reference = scale->reference[row->locality][row->size_class];
    double moved = scale->moved[row->locality][row->size_class];
    *judge = (struct judge){
        .of = of, .judged = recent > 0 && reference > 0, .recent = recent, .reference = reference};
    if (judge->judged) {
        judge->log2 = llround(log2(reference) * LOG2_PART);
        judge->moved_log2 = moved == 0 ? 0 : llround(moved * LOG2_PART);
    }
    return judge;
}

/* Latencies of messages whose mean transfer time is given, by one criterion. */
static uint64_t scaled(double transfer_ns, double messages, double criterion)
{
    double mean = transfer_ns / criterion;
    mean = mean < LATENCY_MOST ? mean : LATENCY_MOST;
    return (uint64_t)(int64_t)(mean * messages * PART + 0.5);
}

/* A row as what it adds to sums. */
static struct latency_sum sum_of(const struct transfer *row, const struct judge *judge)
{
    struct latency_sum out = {
#define X(name) .name = row->name,
        TRANSFER_SUMS(X)
#undef X
    };
    if (!judge->judged || row->messages == 0)
        return out;
    double messages = (double)row->messages, mean = (double)row->transfer_ns / messages;
    out.judged = row->messages;
    out.recent = scaled(mean, messages, judge->recent);
    out.reference = scaled(mean, messages, judge->reference);
    out.reference_log2 = (int64_t)row->log2_sum - judge->log2 * (int64_t)row->messages;
    out.moved_log2 = judge->moved_log2 * (int64_t)row->messages;
    return out;
}

static inline void add(struct latency_sum *restrict to, const struct latency_sum *restrict from)
{
#define X(name) to->name += from->name;
    TRANSFER_SUMS(X)
#undef X
    to->judged += from->judged;
    to->recent += from->recent;
    to->reference += from->reference;
    to->reference_log2 += from->reference_log2;
    to->moved_log2 += from->moved_log2;
}

static inline void add_to_rank(struct latency_rank *rank, const struct latency_sum *sum)
{
    rank->messages += sum->judged;
    rank->reference += sum->reference;
    rank->reference_log2 += sum->reference_log2;
}

static uint32_t region_of(const struct latency_groups *groups, uint32_t rank)
{
    return rank < groups->rank_count && groups->region_of[rank] < groups->region_count
               ? groups->region_of[rank]
               : UINT32_MAX;
}

/* To the regions at both ends. */
static void add_to_regions(struct latency_groups *groups, const struct transfer *row,
                           const struct latency_sum *sum)
{
    uint32_t from = region_of(groups, row->source), to = region_of(groups, row->destination);
    if (from != UINT32_MAX)
        add(&groups->regions[from], sum);
    if (to != UINT32_MAX && to != from)
        add(&groups->regions[to], sum);
}

void latency_add(struct latency_groups *groups, const struct latency_scale *scale,
                 const struct transfer *rows, size_t count)
{
    struct judge known[KNOWN] = {0};
    struct latency_sum localities[LOCALITIES] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct transfer *row = &rows[i];
        struct latency_sum sum = sum_of(row, judge_of(known, scale, row));
        add(&localities[row->locality], &sum);
        if (groups->region_count > 0)
            add_to_regions(groups, row, &sum);
        if (row->source < groups->rank_count)
            add_to_rank(&groups->ranks[row->source], &sum);
        if (row->destination < groups->rank_count && row->destination != row->source)
            add_to_rank(&groups->ranks[row->destination], &sum);
    }
    for (unsigned l = 0; l < LOCALITIES; l++) {
        add(&groups->localities[l], &localities[l]);
        add(&groups->job, &localities[l]);
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
