/* The job's totals, window by window, for the strip. Stored for SERIES_WINDOWS windows (three days
 * of one-second windows), then the oldest are dropped. */
#ifndef HOLTER_VIEWER_MODEL_SERIES_H
#define HOLTER_VIEWER_MODEL_SERIES_H

#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define SERIES_WINDOWS (UINT64_C(1) << 18)

enum { MODEL_CLASSES = 8 }; /**< classes of time, in the order of enum call_class */

/** One window of the whole job. Times are nanoseconds summed over ranks. */
struct window_totals {
    uint64_t start_ns; /**< daemon time */
    uint64_t length_ns;
    uint64_t events, lost, calls, polls;
    uint64_t sent, sent_bytes, received, received_bytes;
    uint64_t class_ns[MODEL_CLASSES];
    uint64_t absent_ns;      /**< time before ranks initialised MPI and after they ended */
    uint32_t ranks;          /**< ranks that reported it */
    uint32_t agents;         /**< nodes that did */
    uint32_t agents_missing; /**< nodes that should have reported and did not, so far */
    uint8_t present;         /**< 0: this window was not received: a gap */
};

/** Zero-initialised is empty. */
struct series {
    struct window_totals *windows; /**< owned; windows[i] is window number first + i */
    uint64_t first;                /**< number of the oldest one stored */
    uint64_t count;                /**< windows from the oldest to the newest, gaps included */
    size_t capacity;
    uint64_t missing; /**< gaps between oldest and newest */
    uint64_t dropped; /**< windows dropped because the maximum was reached */
};

/** Stores a window; an earlier version of it is replaced.
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE when it is older than the stored span, or its times are
 *  beyond those of a job */
int series_put(struct series *series, const struct wire_totals *totals);

/** A window by number; NULL when it was not received or was dropped. */
const struct window_totals *series_at(const struct series *series, uint64_t window);

/** Newest window; NULL when there is none. */
const struct window_totals *series_newest(const struct series *series);

/** Free what it owns and make it empty. */
void series_finish(struct series *series);

#endif
