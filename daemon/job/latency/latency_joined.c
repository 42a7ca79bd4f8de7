/* Messages that were joined from both ends become rows. */
#include "daemon/job/latency/latency_rows.h"

#include "daemon/analysis/tables/wide.h"
#include "holter/time_class.h"

#include <stdbool.h>
#include <string.h>

#define EXACT_DOUBLE (UINT64_C(1) << 53)

/* ---- one after the other ------------------------------------------------- */

/* What size_class_of() says of a size, and time_class_of() and time_log2() of a time. A number that
 * is not small has its binary logarithm in the exponent of a double, and what follows the first bit
 * behind. */
struct marks {
    uint32_t time_class, log2;
    uint16_t size_class;
};

static inline uint64_t bits_of(uint64_t number)
{
    const double as_double = (double)(int64_t)number;
    uint64_t bits;
    memcpy(&bits, &as_double, sizeof(bits));
    return bits;
}

static inline struct marks marks_of(uint64_t bytes, uint64_t ns)
{
    if (bytes - 64 >= EXACT_DOUBLE - 64 || ns - 64 >= EXACT_DOUBLE - 64)
        return (struct marks){time_class_of(ns), (uint32_t)time_log2(ns), size_class_of(bytes)};
    const uint32_t time = (uint32_t)(bits_of(ns) >> 36) - (1023u << 16);
    const uint32_t size = (uint32_t)(bits_of(bytes) >> 48) - (1023u << 4);
    const uint32_t f = time & 0xffff;
    return (struct marks){
        .time_class = (time >> 10) - (6u * 64 - 64),
        .log2 = time + ((f * (22711u - ((f * 22711u) >> 16))) >> 16),
        .size_class = (uint16_t)(size - (6u * 16 - 64)),
    };
}

/* Times of all of them, or beyond their count of some before. */
static bool times_fit(const struct joined_some *m)
{
    uint64_t any = 0;
    for (size_t i = 0; i < JOINED_AT_ONCE; i++)
        any |= m->transfer_ns[i] | m->late_sender_ns[i] | m->late_receiver_ns[i] |
               m->network_ns[i] | m->joint_ns[i];
    return any >> 32 == 0;
}

static inline void put_joined(struct transfers *rows, const struct joined_some *m, size_t i,
                              const struct marks *marks, bool delayed)
{
    rows->heads[rows->count] = (struct transfer_head){
        .source = m->source[i],
        .destination = m->destination[i],
        .log2_sum = marks->log2,
        .packed = transfer_packed(LOCALITY_INTER, marks->size_class, 1, delayed),
    };
    rows->times[rows->count++] = (struct transfer_times){
        .transfer_ns = (uint32_t)m->transfer_ns[i],
        .late_sender_ns = (uint32_t)m->late_sender_ns[i],
        .late_receiver_ns = (uint32_t)m->late_receiver_ns[i],
        .network_ns = (uint32_t)m->network_ns[i],
        .joint_ns = (uint32_t)m->joint_ns[i],
    };
}

static __attribute__((noinline)) int add_wide(struct transfers *rows, const struct joined_some *m,
                                              size_t i, const struct marks *marks, bool delayed)
{
    return transfers_add(rows, &(struct transfer){
                                   .source = m->source[i],
                                   .destination = m->destination[i],
                                   .size_class = marks->size_class,
                                   .locality = LOCALITY_INTER,
                                   .messages = 1,
                                   .delayed = delayed,
                                   .transfer_ns = m->transfer_ns[i],
                                   .late_sender_ns = m->late_sender_ns[i],
                                   .late_receiver_ns = m->late_receiver_ns[i],
                                   .network_ns = m->network_ns[i],
                                   .joint_ns = m->joint_ns[i],
                                   .log2_sum = marks->log2,
                               });
}

/* @return as latency_rows_joined() */
static int put_any(struct latency_rows *rows, const struct joined_some *m, const double *recent)
{
    const bool fit = times_fit(m);
    int code = 0;
    for (size_t i = 0; code == 0 && i < m->count; i++) {
        if (m->uncertain[i])
            continue;
        const struct marks marks = marks_of(m->bytes[i], m->transfer_ns[i]);
        const bool delayed = (double)(int64_t)m->transfer_ns[i] > recent[marks.size_class];
        const unsigned class_ = time_counts_class(LOCALITY_INTER, marks.size_class);
        code = time_counts_add(&rows->times, class_, marks.time_class, 1);
        if (code != 0)
            break;
        if (fit)
            put_joined(&rows->transfers, m, i, &marks, delayed);
        else if ((code = add_wide(&rows->transfers, m, i, &marks, delayed)) != 0)
            time_counts_remove(&rows->times, class_, marks.time_class, 1);
    }
    return code;
}

/* ---- many at once, column by column -------------------------------------- */

/* Four figures, and where some lie. */
typedef uint32_t four __attribute__((vector_size(16)));
typedef uint32_t four_at __attribute__((vector_size(16), aligned(4), may_alias));

#define EXACT_BITS 51u /* of numbers that many_marks() takes, 64 taken off */

/* As struct marks; of all messages. */
struct many_marks {
    uint32_t time_class[JOINED_AT_ONCE], log2[JOINED_AT_ONCE], size_class[JOINED_AT_ONCE];
    uint32_t packed[JOINED_AT_ONCE]; /* as of a head; at first as if none were delayed */
};

/* Are these as many as there can be, all of them certain, with times that fit, none so small that
 * it is a class of its own? */
WIDE_LOOP bool all_plain(const struct joined_some *m)
{
    uint64_t times = 0, marked = 0, uncertain = 0;
    if (m->count != JOINED_AT_ONCE)
        return false;
    for (size_t i = 0; i < JOINED_AT_ONCE; i++) {
        times |= m->transfer_ns[i] | m->late_sender_ns[i] | m->late_receiver_ns[i] |
                 m->network_ns[i] | m->joint_ns[i];
        marked |= (m->transfer_ns[i] - 64) | (m->bytes[i] - 64);
        uncertain |= m->uncertain[i];
    }
    return (times >> 32 | marked >> EXACT_BITS | uncertain) == 0;
}

/* As bits_of(), of numbers below 2^52: put behind the first bit of a double, which is taken off
 * then. */
WIDE_LOOP uint64_t small_bits_of(uint64_t number)
{
    uint64_t bits = number | UINT64_C(0x4330000000000000);
    double as_double;
    memcpy(&as_double, &bits, sizeof(as_double));
    as_double -= 0x1p52;
    memcpy(&bits, &as_double, sizeof(bits));
    return bits;
}

WIDE_LOOP void mark_many(const struct joined_some *restrict m, struct many_marks *restrict marks)
{
    for (size_t i = 0; i < JOINED_AT_ONCE; i++) {
        const uint64_t time = small_bits_of(m->transfer_ns[i]) >> 36,
                       size = small_bits_of(m->bytes[i]) >> 48;
        marks->log2[i] = (uint32_t)time - (1023u << 16);
        marks->size_class[i] = (uint32_t)size - ((1023u << 4) + (6u * 16 - 64));
    }
    for (size_t i = 0; i < JOINED_AT_ONCE; i++) {
        const uint32_t time = marks->log2[i], f = time & 0xffff;
        marks->time_class[i] = (time >> 10) - (6u * 64 - 64);
        marks->packed[i] = (marks->size_class[i] << 1) + transfer_packed(LOCALITY_INTER, 0, 1, 0);
        marks->log2[i] = time + ((f * (22711u - ((f * 22711u) >> 16))) >> 16);
    }
}

/* @param counted  set to how many were @return 0 or -ENOMEM: of the next one */
WIDE_LOOP int count_many(struct time_counts *counts, const struct joined_some *m,
                         struct many_marks *marks, const double *recent, size_t *counted)
{
    int code = 0;
    size_t i = 0;
    for (; i < JOINED_AT_ONCE; i++) {
        const uint32_t size_class = marks->size_class[i];
        const bool delayed = (double)(int64_t)m->transfer_ns[i] > recent[size_class];
        marks->packed[i] |= transfer_packed(0, 0, 0, delayed);
        code = time_counts_add(counts, time_counts_class(LOCALITY_INTER, size_class),
                               marks->time_class[i], 1);
        if (code != 0)
            break;
    }
    *counted = i;
    return code;
}

/* The lower halves of four. */
WIDE_LOOP four narrow_four(const uint64_t *from)
{
    const four first = *(const four_at *)from, last = *(const four_at *)(from + 2);
    return __builtin_shufflevector(first, last, 0, 2, 4, 6);
}

/* Four columns of four become rows. */
WIDE_LOOP void turn_four(four *a, four *b, four *c, four *d)
{
    const four low = __builtin_shufflevector(*a, *b, 0, 4, 1, 5),
               high = __builtin_shufflevector(*a, *b, 2, 6, 3, 7),
               low_last = __builtin_shufflevector(*c, *d, 0, 4, 1, 5),
               high_last = __builtin_shufflevector(*c, *d, 2, 6, 3, 7);
    *a = __builtin_shufflevector(low, low_last, 0, 1, 4, 5);
    *b = __builtin_shufflevector(low, low_last, 2, 3, 6, 7);
    *c = __builtin_shufflevector(high, high_last, 0, 1, 4, 5);
    *d = __builtin_shufflevector(high, high_last, 2, 3, 6, 7);
}

_Static_assert(offsetof(struct transfer_head, source) == 0 &&
                   offsetof(struct transfer_head, destination) == 4 &&
                   offsetof(struct transfer_head, log2_sum) == 8 &&
                   offsetof(struct transfer_head, packed) == 12 &&
                   offsetof(struct transfer_times, transfer_ns) == 0 &&
                   offsetof(struct transfer_times, late_sender_ns) == 4 &&
                   offsetof(struct transfer_times, late_receiver_ns) == 8 &&
                   offsetof(struct transfer_times, network_ns) == 12,
               "rows are written at once");

WIDE_LOOP void write_many(struct transfer_head *head, struct transfer_times *times,
                          const struct joined_some *m, const struct many_marks *marks)
{
    for (size_t i = 0; i < JOINED_AT_ONCE; i += 4, head += 4, times += 4) {
        four a = *(const four_at *)&m->source[i], b = *(const four_at *)&m->destination[i],
             c = *(const four_at *)&marks->log2[i], d = *(const four_at *)&marks->packed[i];
        turn_four(&a, &b, &c, &d);
        *(four_at *)&head[0] = a;
        *(four_at *)&head[1] = b;
        *(four_at *)&head[2] = c;
        *(four_at *)&head[3] = d;
        a = narrow_four(&m->transfer_ns[i]);
        b = narrow_four(&m->late_sender_ns[i]);
        c = narrow_four(&m->late_receiver_ns[i]);
        d = narrow_four(&m->network_ns[i]);
        turn_four(&a, &b, &c, &d);
        *(four_at *)&times[0] = a;
        *(four_at *)&times[1] = b;
        *(four_at *)&times[2] = c;
        *(four_at *)&times[3] = d;
        for (size_t j = 0; j < 4; j++)
            times[j].joint_ns = (uint32_t)m->joint_ns[i + j];
    }
}

/* As put_any(). */
WIDE_LOOP int put_many(struct latency_rows *rows, const struct joined_some *m, const double *recent)
{
    struct transfers *to = &rows->transfers;
    struct many_marks marks;
    size_t counted;
    if (!all_plain(m))
        return put_any(rows, m, recent);
    mark_many(m, &marks);
    int code = count_many(&rows->times, m, &marks, recent, &counted);
    write_many(to->heads + to->count, to->times + to->count, m, &marks);
    to->count += counted;
    return code;
}

WIDE static int put_many_wide(struct latency_rows *rows, const struct joined_some *m,
                              const double *recent)
{
    return put_many(rows, m, recent);
}

int latency_rows_joined(struct latency_rows *rows, const struct joined_some *m,
                        const double *recent)
{
    int code = transfers_room(&rows->transfers, m->count);
    if (code != 0)
        return code;
    return wide_is_here() ? put_many_wide(rows, m, recent) : put_many(rows, m, recent);
}
