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

/* A row as what it adds to sums of messages with criteria. */
struct judged {
    uint64_t messages, recent, reference;
    int64_t reference_log2, moved_log2;
};

static inline struct judged judged_of(const struct transfer *row, const struct judge *judge)
{
    struct judged out = {0};
    if (!judge->judged || row->messages == 0)
        return out;
    double messages = (double)row->messages, transfer_ns = (double)row->transfer_ns;
    /* Divisions take longest of all here; most rows have but one message. */
    double mean = row->messages == 1 ? transfer_ns : transfer_ns / messages;
    double recent = mean / judge->recent, reference = mean / judge->reference;
    recent = recent < LATENCY_MOST ? recent : LATENCY_MOST;
    reference = reference < LATENCY_MOST ? reference : LATENCY_MOST;
    out.messages = row->messages;
    out.recent = (uint64_t)(int64_t)(recent * messages * PART + 0.5);
    out.reference = (uint64_t)(int64_t)(reference * messages * PART + 0.5);
    out.reference_log2 = (int64_t)row->log2_sum - judge->log2 * (int64_t)row->messages;
    out.moved_log2 = judge->moved_log2 * (int64_t)row->messages;
    return out;
}

static inline void add_row(struct latency_sum *restrict to, const struct transfer *restrict row,
                           const struct judged *restrict judged)
{
#define X(name) to->name += row->name;
    TRANSFER_SUMS(X)
#undef X
    to->judged += judged->messages;
    to->recent += judged->recent;
    to->reference += judged->reference;
    to->reference_log2 += judged->reference_log2;
    to->moved_log2 += judged->moved_log2;
}

static void add(struct latency_sum *restrict to, const struct latency_sum *restrict from)
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

/* To the rank at one end of a message. @return its region; region_count: it is in none */
static inline size_t add_to_rank(const struct latency_groups *groups, uint32_t number,
                                 const struct judged *judged)
{
    if (number >= groups->rank_count)
        return groups->region_count;
    struct latency_rank *rank = &groups->ranks[number];
    rank->messages += judged->messages;
    rank->reference += judged->reference;
    rank->reference_log2 += judged->reference_log2;
    size_t region = groups->region_of[number];
    return region < groups->region_count ? region : groups->region_count;
}

/* What rows came to in one region. */
static void fold(struct latency_groups *groups, size_t region)
{
    const struct latency_part *part = &groups->parts[region];
    for (unsigned l = 0; l < LOCALITIES; l++) {
        add(&groups->job, &part->sent[l]);
        add(&groups->localities[l], &part->sent[l]);
        if (region < groups->region_count)
            add(&groups->regions[region], &part->sent[l]);
    }
    if (region < groups->region_count)
        add(&groups->regions[region], &part->received);
}

void latency_add(struct latency_groups *groups, const struct latency_scale *scale,
                 const struct transfers *rows)
{
    struct judge known[KNOWN] = {0};
    for (size_t i = 0; i <= groups->region_count; i++)
        groups->parts[i] = (struct latency_part){0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct transfer full = transfer_at(rows, i), *const row = &full;
        const struct judged judged = judged_of(row, judge_of(known, scale, row));
        size_t from = add_to_rank(groups, row->source, &judged), to = from;
        if (row->destination != row->source)
            to = add_to_rank(groups, row->destination, &judged);
        add_row(&groups->parts[from].sent[row->locality], row, &judged);
        if (to != from)
            add_row(&groups->parts[to].received, row, &judged);
    }
    for (size_t i = 0; i <= groups->region_count; i++)
        fold(groups, i);
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
