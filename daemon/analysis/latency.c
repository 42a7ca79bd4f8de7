#include "daemon/analysis/latency.h"

#include <math.h>
#include <stdbool.h>

#define PART 1024.0       /* latencies are summed in 1/PART ... */
#define LOG2_PART 65536.0 /* ... and their logarithms in 1/LOG2_PART */
#define KNOWN 64u         /* classes that are at hand: messages of a job have few sizes */
#define LATENCY_MOST 1e6  /* of a row's mean, so that no sum can overflow */

#define ALWAYS static inline __attribute__((always_inline))

/* Two figures at once, also where they are neighbours in memory. */
typedef uint64_t two __attribute__((vector_size(16)));
typedef uint64_t two_sums __attribute__((vector_size(16), aligned(8), may_alias));
typedef uint64_t two_times __attribute__((vector_size(16), aligned(4), may_alias));
typedef double two_numbers __attribute__((vector_size(16)));
typedef int32_t two_ints __attribute__((vector_size(8)));

/* What all rows of one class share. */
struct judge {
    uint32_t of;          /* number of the class, plus 1; 0: of none */
    uint32_t most_ns;     /* no latency of one message that took less is larger than counts */
    two_numbers criteria; /* recent, reference, by PART, which is a power of two: no bit is lost */
    int64_t reference_log2, moved_log2; /* in 1/LOG2_PART */
    bool judged;
} __attribute__((aligned(64)));

static __attribute__((noinline)) void make_judge(struct judge *judge,
                                                 const struct latency_scale *scale, unsigned class_)
{
    const unsigned locality = class_ % LOCALITIES, size_class = class_ / LOCALITIES;
    double recent = scale->recent[locality][size_class];
    double reference = scale->reference[locality][size_class];
    double moved = scale->moved[locality][size_class];
    *judge = (struct judge){.of = class_ + 1,
                            .criteria = {recent / PART, reference / PART},
                            .judged = recent > 0 && reference > 0};
    if (judge->judged) {
        const double most = fmin(recent, reference) * LATENCY_MOST * 0.999;
        judge->most_ns = (uint32_t)fmin(most, UINT32_MAX);
        judge->reference_log2 = llround(log2(reference) * LOG2_PART);
        judge->moved_log2 = moved == 0 ? 0 : llround(moved * LOG2_PART);
    }
}

static inline const struct judge *judge_of(struct judge *known, const struct latency_scale *scale,
                                           unsigned class_)
{
    struct judge *judge = &known[class_ % KNOWN];
    if (judge->of != class_ + 1)
        make_judge(judge, scale, class_);
    return judge;
}

/* A row as what it adds to sums of messages with criteria. */
struct judged {
#define X(type, name) type name;
    LATENCY_JUDGED(X)
#undef X
};

/* The mean latency of messages, times their number. */
static inline uint64_t latency_of(double mean_ns, double criterion, double messages)
{
    double latency = mean_ns / criterion;
    latency = latency < LATENCY_MOST * PART ? latency : LATENCY_MOST * PART;
    return (uint64_t)(int64_t)(latency * messages + 0.5);
}

static inline struct judged judged_of(const struct transfer *row, const struct judge *judge)
{
    if (!judge->judged || row->messages == 0)
        return (struct judged){0};
    double ns = (double)row->transfer_ns;
    const int64_t count = (int64_t)row->messages;
    double messages = (double)row->messages, mean = ns / messages;
    return (struct judged){.judged = row->messages,
                           .recent = latency_of(mean, judge->criteria[0], messages),
                           .reference = latency_of(mean, judge->criteria[1], messages),
                           .reference_log2 = (int64_t)row->log2_sum - judge->reference_log2 * count,
                           .moved_log2 = judge->moved_log2 * count};
}

/* Positions of sums in a part. */
#define AT(name) (offsetof(struct latency_sum, name) / sizeof(uint64_t))

static inline void add_figures(struct latency_part *part, unsigned column,
                               const struct transfer *row)
{
#define X(name) part->sums[column][AT(name)] += row->name;
    TRANSFER_SUMS(X)
#undef X
}

static inline void add_judged(struct latency_part *part, unsigned column,
                              const struct judged *judged)
{
#define X(type, name) part->sums[column][AT(name)] += (uint64_t)judged->name;
    LATENCY_JUDGED(X)
#undef X
}

static inline void add_to_ranks(struct latency_rank *from, struct latency_rank *to,
                                const struct judged *judged)
{
    from->messages += judged->judged;
    to->messages += judged->judged;
    from->reference += judged->reference;
    to->reference += judged->reference;
    from->reference_log2 += judged->reference_log2;
    to->reference_log2 += judged->reference_log2;
}

/* What the rows of a rank are added to. */
struct end {
    struct latency_rank *rank;
    struct latency_part *part; /* of its region, or of ranks in none */
};

/* Where to find that; nothing of it changes while rows are added. */
struct ends {
    struct latency_rank *ranks, *none; /* by rank; takes what counts for no rank */
    const uint32_t *region_of;
    struct latency_part *parts; /* the last one: of ranks in no region */
    size_t rank_count, region_count;
};

static inline struct end end_of(const struct ends *ends, uint32_t rank)
{
    if (rank >= ends->rank_count)
        return (struct end){ends->none, &ends->parts[ends->region_count]};
    const size_t region = ends->region_of[rank];
    return (struct end){&ends->ranks[rank],
                        &ends->parts[region < ends->region_count ? region : ends->region_count]};
}

/* Any row. */
static __attribute__((noinline)) void add_any(struct ends ends, const struct judge *judge,
                                              const struct transfer *row)
{
    const struct end from = end_of(&ends, row->source);
    struct end to = end_of(&ends, row->destination);
    add_figures(from.part, row->locality, row);
    if (to.part != from.part)
        add_figures(to.part, LOCALITIES, row);
    if (to.rank == from.rank)
        to.rank = ends.none;
    const struct judged judged = judged_of(row, judge);
    if (judged.judged == 0)
        return;
    add_to_ranks(from.rank, to.rank, &judged);
    add_judged(from.part, row->locality, &judged);
    if (to.part != from.part)
        add_judged(to.part, LOCALITIES, &judged);
}

/* ---- rows of one message ------------------------------------------------- */

/* Figures in the order of struct latency_sum, but for the last one. Times, which lie in four bytes each,
 * become figures of eight by one step for two that are not neighbours. */
struct pairs {
    two counts, even, odd, rest, recent, reference;
};

ALWAYS void add_pairs(struct latency_part *part, unsigned column, const struct pairs *pairs,
                      const struct judge *judge)
{
    two_sums *sums = (two_sums *)part->sums[column];
    sums[0] += pairs->counts;
    sums[1] += pairs->even;
    sums[2] += pairs->odd;
    sums[3] += pairs->rest;
    sums[4] += pairs->recent;
    sums[5] += pairs->reference;
    part->sums[column][AT(moved_log2)] += (uint64_t)judge->moved_log2;
}

_Static_assert(AT(messages) == 0 && AT(delayed) == 1 && AT(transfer_ns) == 2 &&
                   AT(late_receiver_ns) == 3 && AT(late_sender_ns) == 4 && AT(network_ns) == 5 &&
                   AT(joint_ns) == 6 && AT(log2_sum) == 7 && AT(judged) == 8 && AT(recent) == 9 &&
                   AT(reference) == 10 && AT(reference_log2) == 11 && AT(moved_log2) == 12,
               "sums are added in pairs");

ALWAYS struct latency_part *part_of(const struct ends *ends, uint32_t rank)
{
    const size_t region = ends->region_of[rank];
    return &ends->parts[region < ends->region_count ? region : ends->region_count];
}

/* As add_any(), of one message whose latencies are not cut, and of ranks that there are. */
ALWAYS void add_single(const struct ends *ends, const struct judge *judge,
                       const struct transfer_head *head, const struct transfer_times *times)
{
    static const two_numbers halves = {0.5, 0.5};
    struct latency_part *from = part_of(ends, head->source), *to = part_of(ends, head->destination);
    struct latency_rank *sender = &ends->ranks[head->source],
                        *receiver = &ends->ranks[head->destination];
    const double ns = (double)times->transfer_ns;
    const two_ints ints =
        __builtin_convertvector((two_numbers){ns, ns} / judge->criteria + halves, two_ints);
    const two latencies = (two)__builtin_shufflevector(ints, (two_ints){0, 0}, 0, 2, 1, 3);
    const two four = *(const two_times *)&times->transfer_ns;
    struct pairs pairs = {.counts = {1, transfer_delayed(head)},
                          .even = four & UINT32_MAX,
                          .odd = four >> 32,
                          .rest = {times->joint_ns, head->log2_sum}};
    pairs.recent = __builtin_shufflevector(pairs.counts, latencies, 0, 2);
    pairs.reference = __builtin_shufflevector(latencies, pairs.rest, 1, 3);
    pairs.reference -= (two){0, (uint64_t)judge->reference_log2};
    add_pairs(from, head->packed % LOCALITIES, &pairs, judge);
    if (to != from)
        add_pairs(to, LOCALITIES, &pairs, judge);
    sender->messages++;
    *(two_sums *)&sender->reference += pairs.reference;
    if (receiver == sender)
        return;
    receiver->messages++;
    *(two_sums *)&receiver->reference += pairs.reference;
}

static void add_transfers(const struct ends ends, const struct latency_scale *scale,
                          const struct transfers *rows)
{
    struct judge known[KNOWN] = {0};
    const struct transfer_head *head = rows->heads, *const end = head + rows->count;
    const struct transfer_times *times = rows->times;
    for (; head < end; head++, times++) {
        const struct judge *judge = judge_of(known, scale, transfer_class(head));
        if (transfer_is_single(head) && times->transfer_ns < judge->most_ns &&
            head->source < ends.rank_count && head->destination < ends.rank_count) {
            add_single(&ends, judge, head, times);
        } else {
            const struct transfer row = transfer_at(rows, (size_t)(head - rows->heads));
            add_any(ends, judge, &row);
        }
    }
}

static void add(struct latency_sum *restrict to, const struct latency_sum *restrict from)
{
#define X(name) to->name += from->name;
    TRANSFER_SUMS(X)
#undef X
#define X(type, name) to->name += from->name;
    LATENCY_JUDGED(X)
#undef X
}

static struct latency_sum column_of(const struct latency_part *part, unsigned column)
{
    struct latency_sum sum;
#define X(name) sum.name = part->sums[column][AT(name)];
    TRANSFER_SUMS(X)
#undef X
#define X(type, name) sum.name = (type)part->sums[column][AT(name)];
    LATENCY_JUDGED(X)
#undef X
    return sum;
}

/* What rows came to in one region. */
static void fold(struct latency_groups *groups, size_t region)
{
    for (unsigned column = 0; column <= LOCALITIES; column++) {
        const struct latency_sum sum = column_of(&groups->parts[region], column);
        if (region < groups->region_count)
            add(&groups->regions[region], &sum);
        if (column == LOCALITIES)
            break;
        add(&groups->job, &sum);
        add(&groups->localities[column], &sum);
    }
}

void latency_add(struct latency_groups *groups, const struct latency_scale *scale,
                 const struct transfers *rows)
{
    struct latency_rank none = {0};
    for (size_t i = 0; i <= groups->region_count; i++)
        groups->parts[i] = (struct latency_part){0};
    const struct ends ends = {.ranks = groups->ranks,
                              .none = &none,
                              .region_of = groups->region_of,
                              .parts = groups->parts,
                              .rank_count = groups->rank_count,
                              .region_count = groups->region_count};
    if (rows->count > 0)
        add_transfers(ends, scale, rows);
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
