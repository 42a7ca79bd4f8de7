/* Sums of the latencies of a window's messages: see latency.h. */
#include "daemon/analysis/latency/latency.h"

#include <math.h>
#include <stdbool.h>

#define LATENCY_UNIT 1024.0 /* latencies are summed in 1/LATENCY_UNIT ... */
#define LOG2_UNIT 65536.0   /* ... and their logarithms in 1/LOG2_UNIT */
#define MAXIMUM_LATENCY 1e6 /* of a row's mean, so that no sum can overflow */

/* The criteria of one locality and size class. */
struct class_criteria {
    double recent, reference;           /* nanoseconds */
    int64_t reference_log2, moved_log2; /* in 1/LOG2_UNIT */
    bool judged;                        /* both criteria are known */
};

/* A row as what it adds to sums of messages that have criteria. */
struct judged_row {
#define X(type, name) type name;
    LATENCY_JUDGED(X)
#undef X
    uint64_t error; /* of latencies by reference criterion, in 1/LATENCY_UNIT */
};

static void latency_list_criteria(const struct latency_scale *scale,
                                  struct class_criteria (*out)[SIZE_CLASSES])
{
    for (unsigned locality = 0; locality < LOCALITIES; locality++) {
        for (unsigned class_ = 0; class_ < SIZE_CLASSES; class_++) {
            struct class_criteria *criteria = &out[locality][class_];
            *criteria = (struct class_criteria){.recent = scale->recent[locality][class_],
                                                .reference = scale->reference[locality][class_]};
            criteria->judged = criteria->recent > 0 && criteria->reference > 0;
            if (!criteria->judged)
                continue;
            criteria->reference_log2 = llround(log2(criteria->reference) * LOG2_UNIT);
            criteria->moved_log2 = llround(scale->moved[locality][class_] * LOG2_UNIT);
        }
    }
}

/* @return the mean latency of messages, times their number, in 1/LATENCY_UNIT */
static uint64_t latency_sum_of(double mean_ns, double criterion_ns, double messages)
{
    double latency = fmin(mean_ns / (criterion_ns / LATENCY_UNIT), MAXIMUM_LATENCY * LATENCY_UNIT);
    return (uint64_t)(int64_t)(latency * messages + 0.5);
}

static struct judged_row latency_judge_row(const struct transfer *row,
                                           const struct class_criteria *criteria)
{
    if (!criteria->judged || row->messages == 0)
        return (struct judged_row){.judged = 0};
    const int64_t count = (int64_t)row->messages;
    const double messages = (double)row->messages, mean_ns = (double)row->transfer_ns / messages;
    return (struct judged_row){
        .judged = row->messages,
        .recent = latency_sum_of(mean_ns, criteria->recent, messages),
        .reference = latency_sum_of(mean_ns, criteria->reference, messages),
        .reference_log2 = (int64_t)row->log2_sum - criteria->reference_log2 * count,
        .moved_log2 = criteria->moved_log2 * count,
        .error = row->error_ns == 0 ? 0
                                    : latency_sum_of((double)row->error_ns / messages,
                                                     criteria->reference, messages)};
}

static void latency_add_to_sum(struct latency_sum *sum, const struct transfer *row,
                               const struct judged_row *judged)
{
#define X(name) sum->name += row->name;
    TRANSFER_SUMS(X)
#undef X
#define X(type, name) sum->name += judged->name;
    LATENCY_JUDGED(X)
#undef X
    sum->error_ns += row->error_ns;
}

static void latency_add_to_rank(struct latency_groups *groups, uint32_t rank,
                                const struct judged_row *judged)
{
    if (rank >= groups->rank_count)
        return;
    groups->ranks[rank].messages += judged->judged;
    groups->ranks[rank].reference += judged->reference;
    groups->ranks[rank].reference_log2 += judged->reference_log2;
    groups->ranks[rank].error += judged->error;
}

/* Time that messages take by the reference criterion; 0: there is no criterion, and their network
 * time cannot be judged. */
static uint64_t latency_expected_ns(const struct class_criteria *criteria, uint64_t messages)
{
    const double product = criteria->reference * (double)(int64_t)messages;
    return product >= 1 && product < 1e18 ? (uint64_t)(int64_t)product : 0;
}

static void latency_add_to_messages(struct message_ranks *messages, const struct transfer *row,
                                    const struct class_criteria *criteria)
{
    const bool near = row->locality == LOCALITY_INTRA;
    const uint64_t expected_ns = latency_expected_ns(criteria, row->messages);
    uint64_t *sender = messages->figures[row->source],
             *receiver = messages->figures[row->destination];
    sender[MESSAGES_AWAITED] += row->late_sender_ns;
    receiver[MESSAGES_WAITED] += row->late_sender_ns;
    receiver[MESSAGES_CAME_LATE] += row->late_receiver_ns;
    if (expected_ns == 0)
        return;
    receiver[near ? MESSAGES_NEAR : MESSAGES_FAR] += row->messages;
    receiver[near ? MESSAGES_NEAR_EXPECTED : MESSAGES_FAR_EXPECTED] += expected_ns;
    receiver[near ? MESSAGES_NEAR_NETWORK : MESSAGES_FAR_NETWORK] += row->network_ns;
    receiver[near ? MESSAGES_NEAR_JOINT : MESSAGES_FAR_JOINT] += row->joint_ns;
    if (near)
        return;
    sender[MESSAGES_NETWORK_OUT] += row->network_ns;
    sender[MESSAGES_EXPECTED_OUT] += expected_ns;
}

/* @return index of the rank's region; region_count: none */
static size_t latency_region_of(const struct latency_groups *groups, uint32_t rank)
{
    return rank < groups->rank_count ? groups->region_of[rank] : groups->region_count;
}

static void latency_add_row(struct latency_groups *groups, const struct transfer *row,
                            const struct class_criteria *criteria)
{
    const struct judged_row judged = latency_judge_row(row, criteria);
    const size_t from = latency_region_of(groups, row->source),
                 to = latency_region_of(groups, row->destination);
    latency_add_to_sum(&groups->job, row, &judged);
    latency_add_to_sum(&groups->localities[row->locality], row, &judged);
    if (from < groups->region_count)
        latency_add_to_sum(&groups->regions[from], row, &judged);
    if (to < groups->region_count && to != from)
        latency_add_to_sum(&groups->regions[to], row, &judged);
    latency_add_to_rank(groups, row->source, &judged);
    if (row->destination != row->source)
        latency_add_to_rank(groups, row->destination, &judged);
    if (groups->messages != NULL && row->source < groups->messages->count &&
        row->destination < groups->messages->count)
        latency_add_to_messages(groups->messages, row, criteria);
}

void latency_add(struct latency_groups *groups, const struct latency_scale *scale,
                 const struct transfers *rows)
{
    struct class_criteria criteria[LOCALITIES][SIZE_CLASSES];
    if (rows->count == 0)
        return;
    latency_list_criteria(scale, criteria);
    for (size_t i = 0; i < rows->count; i++) {
        const struct transfer row = rows->rows[i];
        latency_add_row(groups, &row, &criteria[row.locality][row.size_class]);
    }
}

/* ---- means ---------------------------------------------------------------- */

static double latency_mean(uint64_t sum, uint64_t messages)
{
    return messages == 0 ? NAN : (double)sum / LATENCY_UNIT / (double)messages;
}

static double latency_geometric_mean(int64_t log2_sum, uint64_t messages)
{
    return messages == 0 ? NAN : exp2((double)log2_sum / LOG2_UNIT / (double)messages);
}

double latency_recent(const struct latency_sum *sum)
{
    return latency_mean(sum->recent, sum->judged);
}

double latency_reference(const struct latency_sum *sum)
{
    return latency_mean(sum->reference, sum->judged);
}

double latency_typical(const struct latency_sum *sum)
{
    return latency_geometric_mean(sum->reference_log2, sum->judged);
}

double latency_moved(const struct latency_sum *sum)
{
    return sum->judged == 0 ? 0 : (double)sum->moved_log2 / LOG2_UNIT / (double)sum->judged;
}

double latency_rank_typical(const struct latency_rank *rank)
{
    return latency_geometric_mean(rank->reference_log2, rank->messages);
}

double latency_rank_error(const struct latency_rank *rank)
{
    return latency_mean(rank->error, rank->messages);
}

double latency_rank_reference(const struct latency_rank *rank)
{
    return latency_mean(rank->reference, rank->messages);
}
