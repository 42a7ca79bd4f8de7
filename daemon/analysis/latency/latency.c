#include "daemon/analysis/latency/latency.h"

#include "daemon/analysis/tables/wide.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define PART 1024.0       /* latencies are summed in 1/PART ... */
#define LOG2_PART 65536.0 /* ... and their logarithms in 1/LOG2_PART */
#define KNOWN 64u         /* classes that are at hand: messages of a job have few sizes */
#define LATENCY_MOST 1e6  /* of a row's mean, so that no sum can overflow */

/* What is added to figures that may be negative, for each message, while they are summed up in 31
 * bits. */
#define LOG2_BIAS (INT64_C(1) << 18)  /* to the logarithm of a latency: few are below 1/16 */
#define MOVED_BIAS (INT64_C(1) << 16) /* to what a criterion has moved by: few become half */

typedef double two_numbers __attribute__((vector_size(16)));
typedef uint64_t halves __attribute__((vector_size(16)));
/* Four figures of 31 bits that are added at once; where sums of them are; and where times are. */
typedef uint32_t four __attribute__((vector_size(16)));
typedef uint32_t four_sums __attribute__((vector_size(16), may_alias));
typedef uint32_t four_times __attribute__((vector_size(16), aligned(4), may_alias));

/* What all rows of one class share. */
struct judge {
    uint32_t of;          /* number of the class, plus 1; 0: of none */
    uint32_t single;      /* packed in heads of one message, unless it is delayed; 0: see most_ns */
    uint32_t most_ns;     /* figures of one message that took less are narrow; 0: none is */
    two_numbers criteria; /* reference, recent, by PART, which is a power of two: no bit is lost */
    /* What one message adds beside what its times say: to a part, to latencies of a rank, where it
     * was received and where it was sent; and what the latter adds. */
    four part, rest, latency, received, sent, sent_bits;
    two_numbers half;
    double reference;
    int64_t reference_log2, moved_log2; /* in 1/LOG2_PART */
    uint32_t received_at; /* enum message_figure, first of those where it was received */
    uint32_t column;      /* locality */
    uint32_t column_at;   /* of a part, in figures */
    bool judged, narrow;  /* narrow: figures of a message that is not wide may be of 31 bits */
} __attribute__((aligned(64)));

/* What messages take by the reference criterion; 0: without one nothing can be said of their
 * network time. */
static inline uint64_t expected_of(const struct judge *judge, uint64_t messages)
{
    const double product = judge->reference * (double)(int64_t)messages;
    return product >= 1 && product < 1e18 ? (uint64_t)(int64_t)product : 0;
}

static void share(struct judge *judge, unsigned class_)
{
    const unsigned locality = class_ % LOCALITIES;
    const uint64_t expected = expected_of(judge, 1);
    const uint32_t all = UINT32_MAX, far = locality == LOCALITY_INTRA ? 0 : all;
    const int64_t moved = judge->moved_log2 + MOVED_BIAS;
    judge->narrow = expected > 0 && expected >> NARROW_BITS == 0 && judge->reference_log2 >= 0 &&
                    moved >= 0 && moved <= 2 * MOVED_BIAS;
    if (!judge->narrow)
        return;
    const double most =
        judge->criteria[0] < judge->criteria[1] ? judge->criteria[0] : judge->criteria[1];
    judge->most_ns = (uint32_t)fmin(most * PART * LATENCY_MOST * 0.999, INT32_MAX);
    judge->single = transfer_packed(locality, (uint16_t)(class_ / LOCALITIES), 1, 0);
    judge->part = (four){0, 0, (uint32_t)judge->reference_log2, (uint32_t)moved};
    judge->rest = (four){0, 1, 0, 0};
    judge->latency = (four){0, (uint32_t)(LOG2_BIAS - judge->reference_log2), 0, 0};
    judge->received = (four){1, (uint32_t)expected, 0, 0};
    judge->sent = (four){0, 0, (uint32_t)expected, 1};
    judge->sent_bits = (four){all, far, far, all};
}

static __attribute__((noinline)) void make_judge(struct judge *judge,
                                                 const struct latency_scale *scale, unsigned class_)
{
    const unsigned locality = class_ % LOCALITIES, size_class = class_ / LOCALITIES;
    double recent = scale->recent[locality][size_class];
    double reference = scale->reference[locality][size_class];
    double moved = scale->moved[locality][size_class];
    *judge =
        (struct judge){.of = class_ + 1,
                       .criteria = {reference / PART, recent / PART},
                       .reference = reference,
                       .half = {0.5, 0.5},
                       .column = locality,
                       .column_at = locality * PART_FIGURES,
                       .received_at = locality == LOCALITY_INTRA ? MESSAGES_NEAR : MESSAGES_FAR,
                       .judged = recent > 0 && reference > 0};
    if (judge->judged) {
        judge->reference_log2 = llround(log2(reference) * LOG2_PART);
        judge->moved_log2 = moved == 0 ? 0 : llround(moved * LOG2_PART);
        share(judge, class_);
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
                           .recent = latency_of(mean, judge->criteria[1], messages),
                           .reference = latency_of(mean, judge->criteria[0], messages),
                           .reference_log2 = (int64_t)row->log2_sum - judge->reference_log2 * count,
                           .moved_log2 = judge->moved_log2 * count};
}

/* Where rows go; nothing of it changes while they are added. */
struct ends {
    struct message_ranks *messages;
    int32_t *sums; /* of those by rank */
    struct latency_rank *apart;
    const uint32_t *region_of;
    struct latency_part *parts; /* the last one: of ranks in no region */
    size_t rank_count, region_count;
    size_t reported, narrow; /* ranks that `messages` has; likewise, and that there are */
};

static inline struct latency_part *part_of(const struct ends *ends, uint32_t rank)
{
    return &ends->parts[ends->region_of[rank]];
}

/* ---- any row --------------------------------------------------------------- */

static void add_to_part(struct latency_sum *sum, const struct transfer *row,
                        const struct judged *judged)
{
#define X(name) sum->name += row->name;
    TRANSFER_SUMS(X)
#undef X
#define X(type, name) sum->name += judged->name;
    LATENCY_JUDGED(X)
#undef X
}

/* See latency_rank_of() for what it makes of this. */
static void add_apart(const struct ends *ends, uint32_t rank, const struct judged *judged)
{
    if (rank >= ends->rank_count)
        return;
    ends->apart[rank].messages += judged->judged;
    ends->apart[rank].reference += judged->reference;
    ends->apart[rank].reference_log2 +=
        judged->reference_log2 + (int64_t)judged->judged * LOG2_BIAS;
}

/* Of what others take: messages that count there and not for latency are taken off apart. */
static void add_to_reported(const struct ends *ends, const struct judge *judge,
                            const struct transfer *row)
{
    struct message_ranks *messages = ends->messages;
    const uint32_t from = row->source, to = row->destination;
    const uint64_t expected = expected_of(judge, row->messages);
    message_ranks_add(messages, from, MESSAGES_AWAITED, row->late_sender_ns);
    message_ranks_add(messages, to, MESSAGES_WAITED, row->late_sender_ns);
    message_ranks_add(messages, to, MESSAGES_CAME_LATE, row->late_receiver_ns);
    if (expected == 0)
        return;
    const unsigned at = judge->received_at - MESSAGES_NEAR;
    message_ranks_add(messages, to, at + MESSAGES_NEAR, row->messages);
    message_ranks_add(messages, to, at + MESSAGES_NEAR_EXPECTED, expected);
    message_ranks_add(messages, to, at + MESSAGES_NEAR_NETWORK, row->network_ns);
    message_ranks_add(messages, to, at + MESSAGES_NEAR_JOINT, row->joint_ns);
    if (to < ends->rank_count)
        ends->apart[to].messages -= row->messages;
    if (row->locality == LOCALITY_INTRA)
        return;
    message_ranks_add(messages, from, MESSAGES_NETWORK_OUT, row->network_ns);
    message_ranks_add(messages, from, MESSAGES_EXPECTED_OUT, expected);
}

static __attribute__((noinline)) void add_any(struct ends ends, const struct judge *judge,
                                              const struct transfer *row)
{
    const uint32_t source = row->source, destination = row->destination;
    struct latency_part *none = &ends.parts[ends.region_count],
                        *from = source < ends.rank_count ? part_of(&ends, source) : none,
                        *to = destination < ends.rank_count ? part_of(&ends, destination) : none;
    const struct judged judged = judged_of(row, judge);
    add_to_part(&from->sums[row->locality], row, &judged);
    if (to != from)
        add_to_part(&to->sums[LOCALITIES], row, &judged);
    add_apart(&ends, source, &judged);
    if (destination != source)
        add_apart(&ends, destination, &judged);
    if (source < ends.reported && destination < ends.reported)
        add_to_reported(&ends, judge, row);
}

/* ---- rows of which no figure has more than 31 bits ---------------------------- */

/* A row as it is added. */
struct narrow {
    four times;    /* the first four of struct transfer_times */
    four rest;     /* sum of logarithms, messages, delayed messages, joint time */
    four judged;   /* latencies by both criteria; logarithms: reference, what it moved by */
    four received; /* messages, what they take by the reference, network and joint time */
    four waited;   /* late-sender and late-receiver time; latencies and their logarithms */
    four sent;     /* late-sender and network time, what they take by the reference, messages */
};

_Static_assert(offsetof(struct transfer_times, transfer_ns) == 0 &&
                   offsetof(struct transfer_times, late_sender_ns) == 4 &&
                   offsetof(struct transfer_times, late_receiver_ns) == 8 &&
                   offsetof(struct transfer_times, network_ns) == 12 &&
                   offsetof(struct transfer_times, joint_ns) == 16 &&
                   offsetof(struct transfer_head, log2_sum) == 8 &&
                   sizeof(struct transfer_head) == sizeof(four),
               "figures are read at once");
_Static_assert(MESSAGES_NEAR == 0 && MESSAGES_NEAR_EXPECTED == 1 && MESSAGES_NEAR_NETWORK == 2 &&
                   MESSAGES_NEAR_JOINT == 3 && MESSAGES_FAR == 4 && MESSAGES_FAR_EXPECTED == 5 &&
                   MESSAGES_FAR_NETWORK == 6 && MESSAGES_FAR_JOINT == 7 && MESSAGES_WAITED == 8 &&
                   MESSAGES_CAME_LATE == 9 && MESSAGES_REFERENCE == 10 && MESSAGES_LOG2 == 11 &&
                   MESSAGES_AWAITED == 12 && MESSAGES_NETWORK_OUT == 13 &&
                   MESSAGES_EXPECTED_OUT == 14 && MESSAGES_SENT == 15,
               "figures are added at once");

/* Does one have more than 31 bits? */
WIDE_LOOP bool too_large(four figures)
{
#ifdef __SSE2__
    return _mm_movemask_ps((__m128)figures) != 0;
#else
    return ((figures[0] | figures[1] | figures[2] | figures[3]) >> NARROW_BITS) != 0;
#endif
}

/* Numbers below 2^31 without their fractions, and two zeros. */
WIDE_LOOP four whole_of(two_numbers numbers)
{
#ifdef __SSE2__
    return (four)_mm_cvttpd_epi32((__m128d)numbers);
#else
    return (four){(uint32_t)numbers[0], (uint32_t)numbers[1], 0, 0};
#endif
}

/* Sums of a column go where there is room for them, and begin anew. */
static void settle(struct latency_part *part, unsigned column)
{
    int32_t *low = part->low[column];
    struct latency_sum *sum = &part->sums[column];
    const uint64_t log2_sum = (uint32_t)low[4], messages = (uint32_t)low[5];
    sum->transfer_ns += (uint32_t)low[0];
    sum->late_sender_ns += (uint32_t)low[1];
    sum->late_receiver_ns += (uint32_t)low[2];
    sum->network_ns += (uint32_t)low[3];
    sum->log2_sum += log2_sum;
    sum->delayed += (uint32_t)low[6];
    sum->messages += messages;
    sum->judged += messages;
    sum->joint_ns += (uint32_t)low[7];
    sum->reference += (uint32_t)low[8];
    sum->recent += (uint32_t)low[9];
    sum->reference_log2 += (int64_t)log2_sum - (uint32_t)low[10];
    sum->moved_log2 += (uint32_t)low[11] - (int64_t)messages * MOVED_BIAS;
    memset(low, 0, sizeof(part->low[column]));
}

static void carry_rank(struct message_ranks *messages, uint32_t rank)
{
    const size_t first = (size_t)rank * MESSAGE_FIGURES;
    for (size_t at = first; at < first + MESSAGE_FIGURES; at++) {
        if (messages->table.low[at] < 0)
            narrow_table_carry(&messages->table, MESSAGE_FIGURES, at);
    }
}

/* Some sum that a row was added to has become too large. */
static __attribute__((noinline)) void carry(struct message_ranks *messages,
                                            const struct transfer_head *head,
                                            struct latency_part *from, struct latency_part *to)
{
    settle(from, head->packed % LOCALITIES);
    settle(to, LOCALITIES);
    carry_rank(messages, head->source);
    carry_rank(messages, head->destination);
}

/* Sums below 2^31 and figures below it: none runs into its neighbour. @return the sums */
WIDE_LOOP four add_four(int32_t *sums, four figures)
{
    four_sums *at = (four_sums *)sums;
    const four sum = *at + figures;
    *at = sum;
    return sum;
}

WIDE_LOOP four add_column(int32_t *low, const struct narrow *row)
{
    return add_four(low, row->times) | add_four(low + 4, row->rest) |
           add_four(low + 8, row->judged);
}

WIDE_LOOP void add_narrow(const struct ends *ends, const struct judge *judge,
                          const struct transfer_head *head, const struct narrow *row)
{
    int32_t *sender = &ends->sums[(size_t)head->source * MESSAGE_FIGURES],
            *receiver = &ends->sums[(size_t)head->destination * MESSAGE_FIGURES];
    struct latency_part *from = part_of(ends, head->source), *to = part_of(ends, head->destination);
    const four latency = (four)__builtin_shufflevector((halves){0, 0}, (halves)row->waited, 0, 3);
    four all = add_four(receiver + judge->received_at, row->received) |
               add_four(receiver + MESSAGES_WAITED, row->waited);
    all |= add_four(sender + MESSAGES_WAITED, latency) |
           add_four(sender + MESSAGES_AWAITED, row->sent);
    all |= add_column((int32_t *)from->low + judge->column_at, row);
    if (to != from)
        all |= add_column(to->low[LOCALITIES], row);
    if (__builtin_expect(too_large(all), 0))
        carry(ends->messages, head, from, to);
}

/* As add_any(), of one message. Known of it: sum of logarithms, network time, what is packed, joint
 * time.
 * @return whether it was added: all its figures have 31 bits */
WIDE_LOOP bool add_single(const struct ends *ends, const struct judge *judge,
                          const struct transfer_head *head, const struct transfer_times *times)
{
    const double ns = (double)times->transfer_ns;
    const four latencies = whole_of((two_numbers){ns, ns} / judge->criteria + judge->half);
    const four waits = *(const four_times *)&times->late_sender_ns,
               whole = *(const four_times *)head,
               known = __builtin_shufflevector(whole, waits, 2, 6, 3, 7),
               delayed = known >> (TRANSFER_CLASS_BITS + 1 + TRANSFER_COUNT_BITS),
               rest = __builtin_shufflevector(known, judge->rest, 0, 5, 2, 3),
               latency = __builtin_shufflevector(latencies, known, 0, 4, 1, 5) + judge->latency;
    const struct narrow row = {
        .times = *(const four_times *)&times->transfer_ns,
        .rest = __builtin_shufflevector(rest, delayed, 0, 1, 6, 3),
        .judged = latencies | judge->part,
        .received = (four)__builtin_shufflevector((halves)judge->received, (halves)waits, 0, 3),
        .waited = (four)__builtin_shufflevector((halves)waits, (halves)latency, 0, 2),
        .sent = __builtin_shufflevector(waits, judge->sent, 0, 2, 6, 7) & judge->sent_bits,
    };
    if (too_large(row.times | known | latency))
        return false;
    add_narrow(ends, judge, head, &row);
    return true;
}

/* The same of several. */
static __attribute__((noinline)) bool add_several(struct ends ends, const struct judge *judge,
                                                  const struct transfer_head *head,
                                                  const struct transfer_times *times)
{
    const struct transfer wide = transfer_of(head, times);
    const struct judged judged = judged_of(&wide, judge);
    const uint64_t count = wide.messages, expected = expected_of(judge, count),
                   log2s = (uint64_t)judge->reference_log2 * count,
                   moved = (uint64_t)(judge->moved_log2 + MOVED_BIAS) * count,
                   latency_log2 = (uint64_t)judged.reference_log2 + (uint64_t)LOG2_BIAS * count;
    const uint64_t all = judged.recent | judged.reference | expected | log2s | moved | latency_log2;
    const uint32_t messages = (uint32_t)count, narrow = (uint32_t)expected;
    const bool far = judge->column != LOCALITY_INTRA;
    const struct narrow row = {
        .times = *(const four_times *)&times->transfer_ns,
        .rest = {head->log2_sum, messages, (uint32_t)wide.delayed, times->joint_ns},
        .judged = {(uint32_t)judged.reference, (uint32_t)judged.recent, (uint32_t)log2s,
                   (uint32_t)moved},
        .received = {messages, narrow, times->network_ns, times->joint_ns},
        .waited = {times->late_sender_ns, times->late_receiver_ns, (uint32_t)judged.reference,
                   (uint32_t)latency_log2},
        .sent = {times->late_sender_ns, far ? times->network_ns : 0, far ? narrow : 0, messages},
    };
    if (all >> NARROW_BITS != 0 || count == 0 || expected == 0 || too_large(row.times | row.rest))
        return false;
    add_narrow(&ends, judge, head, &row);
    return true;
}

/* ---- all rows ------------------------------------------------------------------ */

/* Are both ranks others that reported? */
WIDE_LOOP bool among_narrow(const struct ends *ends, const struct transfer_head *head)
{
    return head->source < ends->narrow && head->destination < ends->narrow &&
           head->source != head->destination;
}

static bool add_narrowly(const struct ends *ends, const struct judge *judge,
                         const struct transfer_head *head, const struct transfer_times *times)
{
    if (!judge->narrow || !among_narrow(ends, head) || transfer_is_wide(head))
        return false;
    if (transfer_is_single(head) && times->transfer_ns < judge->most_ns)
        return add_single(ends, judge, head, times);
    return add_several(*ends, judge, head, times);
}

/* Add any row. @return whether something was added that counts for ranks apart */
static __attribute__((noinline)) int add_one(const struct ends ends, struct judge *known,
                                             const struct latency_scale *scale,
                                             const struct transfers *rows, size_t at)
{
    const struct transfer_head *head = &rows->heads[at];
    const struct judge *judge = judge_of(known, scale, transfer_class(head));
    if (add_narrowly(&ends, judge, head, &rows->times[at]))
        return 0;
    const struct transfer row = transfer_at(rows, at);
    add_any(ends, judge, &row);
    return 1;
}

/* @return as add_one() */
WIDE_LOOP int add_rows(const struct ends ends, const struct latency_scale *scale,
                       const struct transfers *rows)
{
    const uint32_t delayed = TRANSFER_MOST << (TRANSFER_CLASS_BITS + 1 + TRANSFER_COUNT_BITS);
    struct judge known[KNOWN] = {0};
    const struct transfer_head *head = rows->heads, *const end = head + rows->count;
    const struct transfer_times *times = rows->times;
    int is_apart = 0;
    for (; head < end; head++, times++) {
        const struct judge *judge = &known[head->packed % KNOWN];
        if ((head->packed & ~delayed) != judge->single || !among_narrow(&ends, head) ||
            times->transfer_ns >= judge->most_ns || !add_single(&ends, judge, head, times))
            is_apart |= add_one(ends, known, scale, rows, (size_t)(head - rows->heads));
    }
    return is_apart;
}

WIDE static int add_rows_wide(const struct ends *ends, const struct latency_scale *scale,
                              const struct transfers *rows)
{
    return add_rows(*ends, scale, rows);
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

/* What rows came to in one region. */
static void fold(struct latency_groups *groups, size_t region)
{
    struct latency_part *part = &groups->parts[region];
    for (unsigned column = 0; column <= LOCALITIES; column++) {
        settle(part, column);
        if (region < groups->region_count)
            add(&groups->regions[region], &part->sums[column]);
        if (column == LOCALITIES)
            break;
        add(&groups->job, &part->sums[column]);
        add(&groups->localities[column], &part->sums[column]);
    }
}

void latency_add(struct latency_groups *groups, const struct latency_scale *scale,
                 const struct transfers *rows)
{
    for (size_t i = 0; i <= groups->region_count; i++)
        groups->parts[i] = (struct latency_part){0};
    const size_t reported = groups->messages == NULL ? 0 : groups->messages->count;
    const struct ends ends = {.messages = groups->messages,
                              .sums = reported == 0 ? NULL : groups->messages->table.low,
                              .apart = groups->apart,
                              .region_of = groups->region_of,
                              .parts = groups->parts,
                              .rank_count = groups->rank_count,
                              .region_count = groups->region_count,
                              .reported = reported,
                              .narrow =
                                  reported < groups->rank_count ? reported : groups->rank_count};
    if (rows->count > 0)
        groups->is_apart |=
            wide_is_here() ? add_rows_wide(&ends, scale, rows) : add_rows(ends, scale, rows);
    for (size_t i = 0; i <= groups->region_count; i++)
        fold(groups, i);
}

struct latency_rank latency_rank_of(const struct latency_groups *groups, size_t rank)
{
    struct latency_rank sum = groups->apart[rank];
    const struct message_ranks *messages = groups->messages;
    if (messages != NULL && rank < messages->count) {
        const uint32_t r = (uint32_t)rank;
        sum.messages += message_ranks_at(messages, r, MESSAGES_NEAR) +
                        message_ranks_at(messages, r, MESSAGES_FAR) +
                        message_ranks_at(messages, r, MESSAGES_SENT);
        sum.reference += message_ranks_at(messages, r, MESSAGES_REFERENCE);
        sum.reference_log2 += (int64_t)message_ranks_at(messages, r, MESSAGES_LOG2);
    }
    sum.reference_log2 -= (int64_t)sum.messages * LOG2_BIAS;
    return sum;
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
