/* Figures of matched messages in one window: a list of rows, each of the messages from one rank to
 * another of one size class.
 *
 * A window of a large job has some ten thousand rows, which several analyses go through: what they
 * take is the time to fetch them from memory. So they are kept in 36 bytes, sums in 32 bits: those
 * which do not fit, of many messages or long times, are kept apart in full. Heads stand apart from
 * times, since not everybody reads those. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_TRANSFERS_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_TRANSFERS_H

#include "holter/size_class.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum locality { LOCALITY_INTRA, LOCALITY_INTER, LOCALITIES };

/** Figures of matched messages; meaning as in the columns of WIRE_TRANSFER_ROW. */
#define TRANSFER_SUMS(X)                                                                           \
    X(messages)                                                                                    \
    X(delayed)                                                                                     \
    X(transfer_ns)                                                                                 \
    X(late_receiver_ns)                                                                            \
    X(late_sender_ns)                                                                              \
    X(network_ns)                                                                                  \
    X(joint_ns)                                                                                    \
    X(log2_sum)

/** Messages from one rank to another of one size class. */
struct transfer {
    uint32_t source, destination; /**< ranks; destination UINT32_MAX: several together */
    uint16_t size_class;          /**< below SIZE_CLASSES */
    uint8_t locality;             /**< enum locality */
#define X(name) uint64_t name;
    TRANSFER_SUMS(X)
#undef X
};

#define TRANSFER_CLASS_BITS 11u /**< of locality and size class together */
#define TRANSFER_COUNT_BITS 10u
#define TRANSFER_WIDE (1u << TRANSFER_CLASS_BITS)
#define TRANSFER_MOST ((1u << TRANSFER_COUNT_BITS) - 1) /**< messages, unless the row is wide */
_Static_assert(LOCALITIES *SIZE_CLASSES <= TRANSFER_WIDE &&
                   TRANSFER_CLASS_BITS + 1 + 2 * TRANSFER_COUNT_BITS <= 32,
               "a head fits its bits");

/** A row but for its times. */
struct transfer_head {
    uint32_t source, destination;
    uint32_t log2_sum; /**< of a wide row: its position among those */
    uint32_t packed; /**< from the lowest bit up: number of the class, whether it is wide, messages,
                            delayed ones */
};

/** Times of a row that is not wide. */
struct transfer_times {
    uint32_t transfer_ns, late_sender_ns, late_receiver_ns, network_ns, joint_ns;
};

/** Rows. Zero-initialised is empty. Several may have the same key. */
struct transfers {
    struct transfer_head *heads;  /**< owned, all arrays */
    struct transfer_times *times; /**< by row */
    size_t count, head_room, time_room;
    size_t near_count;     /**< at least so many of the first rows are of LOCALITY_INTRA */
    struct transfer *wide; /**< rows that do not fit, in their order */
    size_t wide_count, wide_room;
};

void transfers_finish(struct transfers *rows);

/** Make room for so many further rows, unless they are wide. @return 0 or -ENOMEM */
int transfers_room(struct transfers *rows, size_t more);

/** For transfers_add(), of a row that is wide or has no room. */
int transfers_add_slowly(struct transfers *rows, const struct transfer *row);

/** Make it empty, and keep its room. */
static inline void transfers_clear(struct transfers *rows)
{
    rows->count = rows->near_count = rows->wide_count = 0;
}

/** Leave out the rows from one on. */
void transfers_cut(struct transfers *rows, size_t count);

/** Does it fit without being wide? */
static inline bool transfer_fits(const struct transfer *row)
{
    uint64_t all = row->transfer_ns | row->late_sender_ns | row->late_receiver_ns |
                   row->network_ns | row->joint_ns | row->log2_sum;
    return ((row->messages | row->delayed) >> TRANSFER_COUNT_BITS | all >> 32) == 0;
}

/** Of a row that is not wide: its class, messages and delayed ones. */
static inline uint32_t transfer_packed(enum locality locality, uint16_t size_class,
                                       uint32_t messages, uint32_t delayed)
{
    return (uint32_t)locality | (uint32_t)size_class << 1 | messages << (TRANSFER_CLASS_BITS + 1) |
           delayed << (TRANSFER_CLASS_BITS + 1 + TRANSFER_COUNT_BITS);
}

/** Write a row that fits where it is to be. */
static inline void transfer_write(struct transfer_head *head, struct transfer_times *times,
                                  const struct transfer *row)
{
    *head = (struct transfer_head){
        .source = row->source,
        .destination = row->destination,
        .log2_sum = (uint32_t)row->log2_sum,
        .packed = transfer_packed(row->locality, row->size_class, (uint32_t)row->messages,
                                  (uint32_t)row->delayed),
    };
    *times = (struct transfer_times){
        .transfer_ns = (uint32_t)row->transfer_ns,
        .late_sender_ns = (uint32_t)row->late_sender_ns,
        .late_receiver_ns = (uint32_t)row->late_receiver_ns,
        .network_ns = (uint32_t)row->network_ns,
        .joint_ns = (uint32_t)row->joint_ns,
    };
}

/** Write a row that fits, and has room, behind the others. */
static inline void transfers_put(struct transfers *rows, const struct transfer *row)
{
    transfer_write(&rows->heads[rows->count], &rows->times[rows->count], row);
    rows->count++;
}

/** Add a row; locality and size class must be in range. @return 0 or -ENOMEM: it was not added */
static inline int transfers_add(struct transfers *rows, const struct transfer *row)
{
    if (rows->count >= rows->time_room || rows->count >= rows->head_room || !transfer_fits(row)) {
        const struct transfer copy = *row; /* so that the other one need not be in memory */
        return transfers_add_slowly(rows, &copy);
    }
    transfers_put(rows, row);
    return 0;
}

/** Number of locality and size class together. */
static inline unsigned transfer_class(const struct transfer_head *head)
{
    return head->packed & (TRANSFER_WIDE - 1);
}

static inline bool transfer_is_wide(const struct transfer_head *head)
{
    return (head->packed & TRANSFER_WIDE) != 0;
}

/** Of a row that is not wide. */
static inline uint32_t transfer_messages(const struct transfer_head *head)
{
    return head->packed >> (TRANSFER_CLASS_BITS + 1) & TRANSFER_MOST;
}

static inline uint32_t transfer_delayed(const struct transfer_head *head)
{
    return head->packed >> (TRANSFER_CLASS_BITS + 1 + TRANSFER_COUNT_BITS);
}

/** Is it one message, and not wide? */
static inline bool transfer_is_single(const struct transfer_head *head)
{
    const uint32_t messages = TRANSFER_MOST << (TRANSFER_CLASS_BITS + 1);
    return (head->packed & (messages | TRANSFER_WIDE)) == 1u << (TRANSFER_CLASS_BITS + 1);
}

/** In full, of a row that is not wide. */
static inline struct transfer transfer_of(const struct transfer_head *head,
                                          const struct transfer_times *times)
{
    return (struct transfer){
        .source = head->source,
        .destination = head->destination,
        .size_class = (uint16_t)(transfer_class(head) >> 1),
        .locality = (uint8_t)(head->packed & 1),
        .messages = transfer_messages(head),
        .delayed = transfer_delayed(head),
        .transfer_ns = times->transfer_ns,
        .late_sender_ns = times->late_sender_ns,
        .late_receiver_ns = times->late_receiver_ns,
        .network_ns = times->network_ns,
        .joint_ns = times->joint_ns,
        .log2_sum = head->log2_sum,
    };
}

/** In full, of one that is. */
static inline const struct transfer *transfer_wide(const struct transfers *rows, size_t at)
{
    return &rows->wide[rows->heads[at].log2_sum];
}

/** A row in full, whatever it is. Who reads many of them does so in two branches: what comes of
 * both is copied, figure by figure. */
static inline struct transfer transfer_at(const struct transfers *rows, size_t at)
{
    return transfer_is_wide(&rows->heads[at]) ? *transfer_wide(rows, at)
                                              : transfer_of(&rows->heads[at], &rows->times[at]);
}

#endif
