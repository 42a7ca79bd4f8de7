#include "daemon/analysis/latency.h"

#include <math.h>
#include <stdbool.h>

#define PART 1024.0       /* latencies are summed in 1/PART ... */
#define LOG2_PART 65536.0 /* ... and their logarithms in 1/LOG2_PART */
#define KNOWN 64u         /* classes that are at hand: messages of a job have few sizes */
#define LATENCY_MOST 1e6  /* of a row's mean, so that no sum can overflow */

#define ALWAYS static inline __attribute__((always_inline))

/* What all rows of one class share. */
struct judge {
    uint32_t of; /* number of the class, plus 1; 0: of none */
    bool judged;
    double recent, reference;           /* by PART, which is a power of two: no bit is lost */
    int64_t reference_log2, moved_log2; /* in 1/LOG2_PART */
};

static __attribute__((noinline)) void make_judge(struct judge *judge,
                                                 const struct latency_scale *scale, unsigned class_)
{
    const unsigned locality = class_ % LOCALITIES, size_class = class_ / LOCALITIES;
    double recent = scale->recent[locality][size_class];
    double reference = scale->reference[locality][size_class];
    double moved = scale->moved[locality][size_class];
    *judge = (struct judge){.of = class_ + 1,
                            .judged = recent > 0 && reference > 0,
                            .recent = recent / PART,
                            .reference = reference / PART};
    if (judge->judged) {
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
    if (row->messages == 1) /* as most rows have it */
        return (struct judged){.judged = 1,
                               .recent = latency_of(ns, judge->recent, 1),
                               .reference = latency_of(ns, judge->reference, 1),
                               .reference_log2 = (int64_t)row->log2_sum - judge->reference_log2,
                               .moved_log2 = judge->moved_log2};
    const int64_t count = (int64_t)row->messages;
    double messages = (double)row->messages, mean = ns / messages;
    return (struct judged){.judged = row->messages,
                           .recent = latency_of(mean, judge->recent, messages),
                           .reference = latency_of(mean, judge->reference, messages),
                           .reference_log2 = (int64_t)row->log2_sum - judge->reference_log2 * count,
                           .moved_log2 = judge->moved_log2 * count};
}

/* Positions of sums in a part. */
#define AT(name) (offsetof(struct latency_sum, name) / sizeof(uint64_t))

/* Sums of one column stand apart, and those of two ranks are added to by turns: compilers that would
 * put neighbours together into vectors take twice as many instructions. */
static inline void add_figures(struct latency_part *part, unsigned column,
                               const struct transfer *row)
{
#define X(name) part->sums[AT(name)][column] += row->name;
    TRANSFER_SUMS(X)
#undef X
}

static inline void add_judged(struct latency_part *part, unsigned column,
                              const struct judged *judged)
{
#define X(type, name) part->sums[AT(name)][column] += (uint64_t)judged->name;
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

ALWAYS void add_transfer(const struct ends *ends, const struct judge *judge,
                         const struct transfer *row)
{
    const struct end from = end_of(ends, row->source);
    struct end to = end_of(ends, row->destination);
    add_figures(from.part, row->locality, row);
    if (to.part != from.part)
        add_figures(to.part, LOCALITIES, row);
    if (to.rank == from.rank)
        to.rank = ends->none;
    const struct judged judged = judged_of(row, judge);
    if (judged.judged == 0)
        return;
    add_to_ranks(from.rank, to.rank, &judged);
    add_judged(from.part, row->locality, &judged);
    if (to.part != from.part)
        add_judged(to.part, LOCALITIES, &judged);
}

static __attribute__((noinline)) void add_wide(struct ends ends, const struct judge *judge,
                                               const struct transfer *row)
{
    add_transfer(&ends, judge, row);
}

static void add_transfers(const struct ends ends, const struct latency_scale *scale,
                          const struct transfers *rows)
{
    struct judge known[KNOWN] = {0};
    const struct transfer_head *head = rows->heads, *const end = head + rows->count;
    const struct transfer_times *times = rows->times;
    for (; head < end; head++, times++) {
        const struct judge *judge = judge_of(known, scale, transfer_class(head));
        struct transfer row;
        if (transfer_is_single(head)) { /* as most are: its number of messages is a constant */
            row = transfer_of(head, times);
            row.messages = 1;
            add_transfer(&ends, judge, &row);
        } else if (transfer_is_wide(head)) {
            add_wide(ends, judge, &rows->wide[head->log2_sum]);
        } else {
            row = transfer_of(head, times);
            add_transfer(&ends, judge, &row);
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
#define X(name) sum.name = part->sums[AT(name)][column];
    TRANSFER_SUMS(X)
#undef X
#define X(type, name) sum.name = (type)part->sums[AT(name)][column];
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
