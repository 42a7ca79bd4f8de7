/* Rows of messages of agents, summed over windows. Sums stay at the largest number. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDED_SUMS_H
#define HOLTER_DAEMON_STORAGE_RECORDED_SUMS_H

#include "holter/wire.h"

/** Of calls, as struct wire_call_row has them. */
struct recorded_calls {
    uint64_t calls, bytes, bytes_in, time_ns, longest_ns;
};

void recorded_calls_add(struct recorded_calls *sum, const struct wire_call_row *row);

/** Add a rank's figures to others: counts and times, and the larger number of threads. Whose they
 * are, and what it was doing when the window ended, stays as it is. */
void recorded_rank_add(struct wire_rank_row *sum, const struct wire_rank_row *row);

#endif
