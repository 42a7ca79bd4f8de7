/* The bars of each column of a picture, and the ranks in them.
 *
 * Part of commgram.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_BARS_H
#define HOLTER_DAEMON_ANALYSIS_COMMGRAM_COMMGRAM_BARS_H

#include "daemon/analysis/commgram/commgram.h"
#include "daemon/analysis/tables/key_order.h"

/** The bars of all columns so far. Zero-initialised is empty. */
struct commgram_bars {
    struct wire_bar_row *bars;       /**< owned */
    struct wire_bar_ranks_row *runs; /**< owned */
    size_t bar_count, bar_capacity, run_count, run_capacity;
};

/** Which bar of a column stands for an identity. Zero-initialised is empty. */
struct commgram_names {
    struct key_place *names; /**< owned; key: identity, ascending; place: bar */
    uint32_t count;
};

/** The input for a column. Borrowed. */
struct commgram_seats {
    uint32_t column;
    const struct wire_bar_row *own; /**< communities of its phase: identities and sums */
    uint32_t own_count;
    const uint32_t *identity; /**< by rank; of silent ranks their last one; or ABSENT */
    uint32_t ranks;
    uint32_t communities; /**< that have bars at most */
};

/** Add the bars and runs of a column.
 *  @param names  replaced
 *  @return 0 or -ENOMEM */
int commgram_bars_add(struct commgram_bars *bars, const struct commgram_seats *seats,
                      struct commgram_names *names);

/** @return the bar of an identity that the column has; else COMMGRAM_SILENT */
uint32_t commgram_names_find(const struct commgram_names *names, uint64_t identity);

void commgram_bars_finish(struct commgram_bars *bars);
void commgram_names_finish(struct commgram_names *names);

#endif
