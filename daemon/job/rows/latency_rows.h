/* What agents report of message times in one window, as rows for the analyses: collected until the
 * window is closed. Messages have been validated (daemon/job/job_validate.h). */
#ifndef HOLTER_DAEMON_JOB_LATENCY_LATENCY_ROWS_H
#define HOLTER_DAEMON_JOB_LATENCY_LATENCY_ROWS_H

#include "daemon/analysis/latency/latency.h"
#include "daemon/analysis/latency/time_counts.h"
#include "daemon/analysis/matching/join.h"
#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

/** Rows of one window. Zero-initialised is empty. Rows of the same key may stand more than once. */
struct latency_rows {
    struct transfers transfers;
    struct time_counts times; /**< transfer times, where they are known one by one */
};

void latency_rows_finish(struct latency_rows *rows);

/** Add the rows of a message that was validated. @return 0 or -ENOMEM; then nothing was added */
int latency_rows_add(struct latency_rows *rows, const struct wire_window *window);

/** Remove those of the message that was added last. */
void latency_rows_undo(struct latency_rows *rows, const struct wire_window *window);

/** Add a message that was joined from both ends, unless the error of its times is not known.
 *  @param recent  by size class: above which transfer time one is delayed; NaN: it is not
 *  @return 0 or -ENOMEM; then it was not added */
int latency_rows_add_joined(struct latency_rows *rows, const struct joined *message,
                            const double *recent);

/** Move all rows to another window's, which they then belong to. @return 0 or -ENOMEM; then nothing
 *  moved */
int latency_rows_move(struct latency_rows *to, struct latency_rows *from);

/** See state_bytes.h. */
void latency_rows_copy_state(struct state_bytes *b, struct latency_rows *rows);

#endif
