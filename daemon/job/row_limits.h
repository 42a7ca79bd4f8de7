/* Limits of columns in rows that agents send, four columns at a time: nearly always all rows keep
 * within, and then a message takes half the instructions of looking at each value. What they say is
 * that all is well, or that the rows have to be looked at one by one. */
#ifndef HOLTER_DAEMON_JOB_ROW_LIMITS_H
#define HOLTER_DAEMON_JOB_ROW_LIMITS_H

#include "daemon/analysis/tables/wide.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Four columns side by side, as a whole vector. */
typedef uint64_t row_four __attribute__((vector_size(32)));

/** Which column of its row a field is. */
#define ROW_COLUMN(row, name) (offsetof(struct row, name) / sizeof(uint64_t))

/** Note in the highest bit of its lane whether one is above its most.
 *  @param more  is added to them first, modulo 2^64 @param most  below 2^63; of a lane that is not
 * asked for any */
WIDE_LOOP void row_note_above(row_four *above, const uint64_t *columns, const row_four *more,
                              const row_four *most)
{
    row_four some;
    memcpy(&some, columns, sizeof(some));
    some += *more;
    *above |= some | (*most - some);
}

/** All lanes, or-ed. */
WIDE_LOOP uint64_t row_any(const row_four *some)
{
    return (*some)[0] | (*some)[1] | (*some)[2] | (*some)[3];
}

#endif
