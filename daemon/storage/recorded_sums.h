/* Sums of rows of window messages over windows. Sums saturate at the largest number. */
#ifndef HOLTER_DAEMON_STORAGE_RECORDED_SUMS_H
#define HOLTER_DAEMON_STORAGE_RECORDED_SUMS_H

#include "holter/wire.h"

/** Sums of one MPI call, as in struct wire_call_row. */
struct recorded_calls {
    uint64_t calls, bytes, bytes_in, time_ns, longest_ns, polls, collective_ns;
};

void recorded_calls_add(struct recorded_calls *sum, const struct wire_call_row *row);

/** Add a rank's figures to the sums: counts and times are added, of threads the larger number is
 * kept. Columns that identify the rank or its state at the end of the window are not changed. */
void recorded_rank_add(struct wire_rank_row *sum, const struct wire_rank_row *row);

#endif
