/* Figures of matched messages in one window: a list of rows, each of the messages from one rank to
 * another of one size class. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_MATCHING_TRANSFERS_H
#define HOLTER_DAEMON_ANALYSIS_MATCHING_TRANSFERS_H

#include "daemon/analysis/tables/state_bytes.h"
#include "holter/size_class.h"

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
    X(log2_sum)                                                                                    \
    X(send_wait_ns)

/** Messages from one rank to another of one size class. */
struct transfer {
    uint32_t source, destination; /**< ranks; destination UINT32_MAX: several together */
    uint16_t size_class;          /**< below SIZE_CLASSES */
    uint8_t locality;             /**< enum locality */
#define X(name) uint64_t name;
    TRANSFER_SUMS(X)
#undef X
    uint64_t error_ns; /**< bounds of the clocks' errors, over its messages; 0: one clock */
};

/** Rows. Zero-initialised is empty. Several may have the same ranks and class. */
struct transfers {
    struct transfer *rows; /**< owned */
    size_t count, capacity;
};

void transfers_finish(struct transfers *transfers);

/** Reserve space for this many further rows. @return 0 or -ENOMEM */
int transfers_reserve(struct transfers *transfers, size_t further);

/** Add a row; locality and size class must be in range. @return 0 or -ENOMEM: it was not added */
int transfers_add(struct transfers *transfers, const struct transfer *row);

/** Empty the list, and keep its memory. */
static inline void transfers_clear(struct transfers *transfers)
{
    transfers->count = 0;
}

/** Number of a row's locality and size class together. */
static inline unsigned transfer_class(const struct transfer *row)
{
    return (unsigned)row->locality | (unsigned)row->size_class << 1;
}

/** See state_bytes.h. */
void transfers_copy_state(struct state_bytes *b, struct transfers *transfers);

#endif
