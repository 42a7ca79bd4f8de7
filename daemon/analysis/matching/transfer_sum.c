/* Sums of the messages of a node in one window, and its sample of ends of messages between nodes.
 */
#include "daemon/analysis/matching/transfer_sum.h"

#include "daemon/analysis/tables/array.h"
#include "daemon/analysis/tables/heap.h"
#include "daemon/analysis/tables/key_order.h"
#include "daemon/analysis/tables/key_table.h"
#include "holter/order.h"
#include "holter/size_class.h"
#include "holter/time_class.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_OTHERS (1u << 20)         /* rows for messages that have no row of their own */
#define MAXIMUM_BUCKETS (1u << 18)        /* classes of sizes by classes of times */
#define LOG_STEPS 1024u                   /* to an octave: at most 0.0007 from the logarithm */
#define LONGEST_NS INT64_C(3600000000000) /* that a half row holds */

struct pair {
    uint64_t messages, delayed, transfer_ns, late_sender_ns, late_receiver_ns, network_ns, joint_ns,
        log2_sum, send_wait_ns;
};

struct transfer_sum {
    struct key_table pair_index, bucket_index;
    struct pair *pairs;
    uint64_t *buckets;
    size_t pair_capacity, bucket_capacity;
    uint32_t most_pairs;
    int folded;
    struct match_half *halves; /* a heap: the largest key first */
    uint32_t half_count, most_halves;
    uint64_t keys_below; /* smallest key that was left out; 0: none was */
    uint64_t passed_over;
    struct wire_pending_row *pending;
    uint32_t pending_count;
    uint64_t recent_ns[SIZE_CLASSES]; /* 0: no criterion yet */
    uint32_t logs[LOG_STEPS];         /* of 1 to 2, in 1/65536 */
    struct key_place *order;          /* of buckets, and as many to sort them */
    size_t order_capacity;
    struct {
        struct wire_transfer_row *transfers;
        struct wire_latency_row *latencies;
        struct wire_half_row *halves;
        size_t transfer_capacity, latency_capacity;
    } rows;
};

int transfer_sum_create(struct transfer_sum **out, uint32_t most_pairs)
{
    struct transfer_sum *sum = calloc(1, sizeof *sum);
    if (sum == NULL)
        return -ENOMEM;
    sum->most_pairs = most_pairs;
    sum->most_halves = TRANSFER_MAXIMUM_HALVES;
    for (uint32_t i = 0; i < LOG_STEPS; i++)
        sum->logs[i] = (uint32_t)lround(65536 * log2(1 + (i + 0.5) / LOG_STEPS));
    sum->halves = malloc(TRANSFER_MAXIMUM_HALVES * sizeof *sum->halves);
    sum->rows.halves = malloc(TRANSFER_MAXIMUM_HALVES * sizeof *sum->rows.halves);
    sum->pending = malloc(TRANSFER_MAXIMUM_PENDING * sizeof *sum->pending);
    if (sum->halves == NULL || sum->rows.halves == NULL || sum->pending == NULL) {
        transfer_sum_destroy(sum);
        return -ENOMEM;
    }
    *out = sum;
    return 0;
}

void transfer_sum_destroy(struct transfer_sum *sum)
{
    if (sum == NULL)
        return;
    key_table_finish(&sum->pair_index);
    key_table_finish(&sum->bucket_index);
    free(sum->pairs);
    free(sum->buckets);
    free(sum->order);
    free(sum->halves);
    free(sum->pending);
    free(sum->rows.transfers);
    free(sum->rows.latencies);
    free(sum->rows.halves);
    free(sum);
}

/* ---- messages within the node -------------------------------------------- */

static struct pair *transfer_sum_find_pair(struct transfer_sum *sum, struct key key, uint32_t limit)
{
    uint32_t number =
        KEY_TABLE_EXTEND(&sum->pair_index, key, limit, sum->pairs, sum->pair_capacity);
    return number == KEY_NONE ? NULL : &sum->pairs[number];
}

static struct pair *transfer_sum_pair_of(struct transfer_sum *sum,
                                         const struct match_message *message, uint32_t size_class)
{
    struct key key = {(uint64_t)message->source << 32 | message->destination, size_class};
    struct pair *pair = transfer_sum_find_pair(sum, key, sum->most_pairs);
    if (pair != NULL)
        return pair;
    sum->folded = 1;
    key.hi = (uint64_t)message->source << 32 | UINT32_MAX; /* ranks are below 2^31 */
    return transfer_sum_find_pair(sum, key, sum->most_pairs + MAXIMUM_OTHERS);
}

static void transfer_sum_add_bucket(struct transfer_sum *sum, uint32_t size_class,
                                    uint64_t transfer_ns)
{
    struct key key = {(uint64_t)size_class << 32 | time_class_of(transfer_ns), 0};
    uint32_t number = KEY_TABLE_EXTEND(&sum->bucket_index, key, MAXIMUM_BUCKETS, sum->buckets,
                                       sum->bucket_capacity);
    if (number != KEY_NONE)
        sum->buckets[number]++;
}

/* Binary logarithm in 1/65536; 0 for 0. */
static uint64_t transfer_sum_log2(const struct transfer_sum *sum, uint64_t ns)
{
    if (ns == 0)
        return 0;
    unsigned octave = 63u - (unsigned)__builtin_clzll(ns);
    uint64_t step = octave >= 10 ? ns >> (octave - 10) : ns << (10 - octave);
    return (uint64_t)octave * 65536u + sum->logs[step % LOG_STEPS];
}

void transfer_sum_message(void *user, const struct match_message *message)
{
    struct transfer_sum *sum = user;
    uint32_t size_class = size_class_of(message->bytes);
    struct pair *pair = transfer_sum_pair_of(sum, message, size_class);
    if (pair == NULL)
        return;
    uint64_t criterion = sum->recent_ns[size_class];
    pair->messages++;
    pair->delayed += criterion != 0 && message->transfer_ns > criterion;
    pair->transfer_ns += message->transfer_ns;
    pair->late_sender_ns += message->late_sender_ns;
    pair->late_receiver_ns += message->late_receiver_ns;
    pair->send_wait_ns += message->send_wait_ns;
    pair->network_ns += message->network_ns;
    pair->joint_ns += message->joint_ns;
    pair->log2_sum += transfer_sum_log2(sum, message->transfer_ns);
    transfer_sum_add_bucket(sum, size_class, message->transfer_ns);
}

void transfer_sum_criteria(struct transfer_sum *sum, const struct wire_criteria *criteria)
{
    memset(sum->recent_ns, 0, sizeof sum->recent_ns);
    for (uint64_t i = 0; i < criteria->criteria_count; i++) {
        const struct wire_criterion_row *row = &criteria->criteria[i];
        if (row->locality == 0 && row->size_class < SIZE_CLASSES)
            sum->recent_ns[row->size_class] = row->recent_ns;
    }
    sum->most_halves = criteria->most_halves != 0 && criteria->most_halves < TRANSFER_MAXIMUM_HALVES
                           ? (uint32_t)criteria->most_halves
                           : TRANSFER_MAXIMUM_HALVES;
}

void transfer_sum_pending(struct transfer_sum *sum, const struct wire_pending_row *row)
{
    if (sum->pending_count < TRANSFER_MAXIMUM_PENDING)
        sum->pending[sum->pending_count++] = *row;
}

/* ---- ends of messages between nodes -------------------------------------- */

static void transfer_sum_exclude(struct transfer_sum *sum, uint64_t key)
{
    sum->passed_over++;
    if (sum->keys_below == 0 || key < sum->keys_below)
        sum->keys_below = key;
}

static int transfer_sum_is_larger(const struct match_half *a, const struct match_half *b)
{
    return a->key > b->key;
}

HEAP(half_heap, struct match_half, transfer_sum_is_larger)

static void transfer_sum_drop_largest(struct transfer_sum *sum)
{
    transfer_sum_exclude(sum, sum->halves[0].key);
    sum->half_count--;
    half_heap_sink(sum->halves, sum->half_count, 0, sum->halves[sum->half_count]);
}

void transfer_sum_half(void *user, const struct match_half *half)
{
    struct transfer_sum *sum = user;
    if (sum->keys_below != 0 && half->key >= sum->keys_below) {
        sum->passed_over++; /* so that all that is kept is below all that is not */
        return;
    }
    while (sum->half_count >= sum->most_halves)
        transfer_sum_drop_largest(sum);
    if (sum->keys_below != 0 && half->key >= sum->keys_below) {
        sum->passed_over++;
        return;
    }
    half_heap_rise(sum->halves, sum->half_count++, *half);
}

uint64_t transfer_sum_sampled(const struct transfer_sum *sum)
{
    return sum->half_count;
}

uint64_t transfer_sum_passed_over(const struct transfer_sum *sum)
{
    return sum->passed_over;
}

/* ---- rows ---------------------------------------------------------------- */

static int transfer_sum_reserve_rows(struct transfer_sum *sum)
{
    size_t buckets = sum->bucket_index.count;
    if (ARRAY_FIT(sum->rows.transfers, sum->rows.transfer_capacity, sum->pair_index.count) != 0 ||
        ARRAY_FIT(sum->rows.latencies, sum->rows.latency_capacity, buckets) != 0 ||
        ARRAY_FIT(sum->order, sum->order_capacity, 2 * buckets) != 0)
        return -ENOMEM;
    return 0;
}

/* By class of size, then by class of time: so rows pack to a third, in recordings. */
static const struct key_place *transfer_sum_sort_buckets(struct transfer_sum *sum)
{
    const uint32_t count = sum->bucket_index.count;
    for (uint32_t i = 0; i < count; i++)
        sum->order[i] = (struct key_place){sum->bucket_index.keys[i].hi, i};
    return key_order(sum->order, sum->order + count, count);
}

static void transfer_sum_fill_sums(struct transfer_sum *sum)
{
    const struct key_place *order = transfer_sum_sort_buckets(sum);
    for (uint32_t i = 0; i < sum->pair_index.count; i++) {
        struct key key = sum->pair_index.keys[i];
        const struct pair *pair = &sum->pairs[i];
        uint32_t destination = (uint32_t)key.hi;
        sum->rows.transfers[i] = (struct wire_transfer_row){
            .source = key.hi >> 32,
            .destination = destination == UINT32_MAX ? TRANSFER_OTHERS : destination,
            .size_class = key.lo,
            .messages = pair->messages,
            .delayed = pair->delayed,
            .transfer_ns = pair->transfer_ns,
            .late_sender_ns = pair->late_sender_ns,
            .late_receiver_ns = pair->late_receiver_ns,
            .network_ns = pair->network_ns,
            .joint_ns = pair->joint_ns,
            .log2_sum = pair->log2_sum,
            .send_wait_ns = pair->send_wait_ns,
        };
    }
    for (uint32_t i = 0; i < sum->bucket_index.count; i++) {
        sum->rows.latencies[i] =
            (struct wire_latency_row){.size_class = order[i].key >> 32,
                                      .bucket = (uint32_t)order[i].key,
                                      .messages = sum->buckets[order[i].place]};
    }
}

static int64_t transfer_sum_to_window_ns(const struct transfer_clock *clock, uint64_t mono_ns)
{
    int64_t ns = (int64_t)(clock->at(clock->user, mono_ns) - clock->begin_ns);
    return ns > LONGEST_NS ? LONGEST_NS : ns < -LONGEST_NS ? -LONGEST_NS : ns;
}

ORDER_FUNCTION(transfer_sum_compare_by_key, struct match_half,
               2 * ORDER(a->key, b->key) + ORDER(a->receive, b->receive))

static void transfer_sum_fill_halves(struct transfer_sum *sum, const struct transfer_clock *clock)
{
    qsort(sum->halves, sum->half_count, sizeof *sum->halves, transfer_sum_compare_by_key);
    for (uint32_t i = 0; i < sum->half_count; i++) {
        const struct match_half *half = &sum->halves[i];
        uint64_t length = half->exit_ns > half->enter_ns ? half->exit_ns - half->enter_ns : 0;
        int64_t begin = transfer_sum_to_window_ns(clock, half->enter_ns);
        sum->rows.halves[i] = (struct wire_half_row){
            .key = half->key,
            .receive = (uint64_t)half->receive,
            .source = half->source,
            .destination = half->destination,
            .bytes = half->bytes,
            .begin_ns = begin,
            .length_ns = length > (uint64_t)LONGEST_NS ? (uint64_t)LONGEST_NS : length,
            .together = half->together,
            .local_ns =
                half->local_ns == 0 ? begin : transfer_sum_to_window_ns(clock, half->local_ns),
        };
    }
    /* In descending order it is a heap again. */
    for (uint32_t i = 0, j = sum->half_count; i + 1 < j; i++) {
        struct match_half swap = sum->halves[i];
        sum->halves[i] = sum->halves[--j];
        sum->halves[j] = swap;
    }
}

int transfer_sum_rows(struct transfer_sum *sum, const struct transfer_clock *clock,
                      struct transfer_rows *out)
{
    if (transfer_sum_reserve_rows(sum) != 0)
        return -ENOMEM;
    transfer_sum_fill_sums(sum);
    transfer_sum_fill_halves(sum, clock);
    *out = (struct transfer_rows){
        .transfers = sum->rows.transfers,
        .latencies = sum->rows.latencies,
        .halves = sum->rows.halves,
        .pending = sum->pending,
        .transfers_count = sum->pair_index.count,
        .latencies_count = sum->bucket_index.count,
        .halves_count = sum->half_count,
        .pending_count = sum->pending_count,
        .keys_below = sum->keys_below,
        .folded = sum->folded,
    };
    return 0;
}

void transfer_sum_clear(struct transfer_sum *sum)
{
    key_table_clear(&sum->pair_index);
    key_table_clear(&sum->bucket_index);
    sum->folded = 0;
    sum->half_count = 0;
    sum->keys_below = 0;
    sum->passed_over = 0;
    sum->pending_count = 0;
}
