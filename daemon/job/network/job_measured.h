/* What counters measured on the links of a job's network in the windows before the newest, for
 * late subscribers.
 *
 * Kept are the newest windows with JOB_MEASURED_ROWS rows together (24 bytes each, 57 when they are
 * sent: 3.7 MB for each late subscriber), or the newest alone where it has more. Beyond that the
 * two oldest become one, which has their sums and the later one's number: sums since the start stay
 * exact. When the network becomes another, what was before is dropped. */
#ifndef HOLTER_DAEMON_JOB_NETWORK_JOB_MEASURED_H
#define HOLTER_DAEMON_JOB_NETWORK_JOB_MEASURED_H

#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

#include <stddef.h>
#include <stdint.h>

#define JOB_MEASURED_ROWS (1u << 16)

struct measured_row {
    uint32_t link, from, to;
    uint8_t unit;
    uint64_t amount;
};

struct measured_window {
    uint64_t window;
    struct measured_row *rows; /**< owned; ascending by link */
    size_t count;
};

/** Zero-initialised is empty. */
struct job_measured {
    struct measured_window *windows; /**< owned; from old to new */
    size_t count, capacity, rows;
    uint64_t network;                   /**< number of the network that the links belong to */
    struct wire_link_row *message_rows; /**< owned; of the newest message */
    size_t row_capacity;
};

void job_measured_finish(struct job_measured *measured);

/** The network has this number: what was measured in another network is dropped. */
void job_measured_set_network(struct job_measured *measured, uint64_t network);

/** Add the measured links of a window. @return 0 or -ENOMEM */
int job_measured_add(struct job_measured *measured, const struct wire_links *links);

/** A message with the measured loads of a window, 0 the oldest.
 *  @param out  without the job; borrowed until the next call  @return 1; 0: there is none, or no
 * memory */
int job_measured_message(struct job_measured *measured, size_t number, struct wire_links *out);

/** See state_bytes.h. */
void job_measured_copy_state(struct state_bytes *b, struct job_measured *measured);

#endif
