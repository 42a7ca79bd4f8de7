/* What agents report of message times in one window, as rows for the analyses: checked, since
 * nothing that an agent sends is believed, and collected until the window is closed. */
#ifndef HOLTER_DAEMON_JOB_LATENCY_LATENCY_ROWS_H
#define HOLTER_DAEMON_JOB_LATENCY_LATENCY_ROWS_H

#include "daemon/analysis/latency/latency.h"
#include "daemon/analysis/latency/time_counts.h"
#include "daemon/analysis/matching/join.h"
#include "holter/time_class.h"
#include "holter/wire.h"

#include <errno.h>

/** Rows of one window. Zero-initialised is empty. Rows of the same key may stand more than once. */
struct latency_rows {
    struct transfers transfers;
    struct time_counts times; /**< transfer times, where they are known one by one */
};

void latency_rows_finish(struct latency_rows *rows);

/** Make it empty, and keep its room. */
void latency_rows_clear(struct latency_rows *rows);

/** Do the rows of a message contradict themselves or a bound?
 *  @param world  ranks of the job
 *  @param why    set when they do
 *  @return 0 or -HOLTER_ERANGE */
int latency_rows_check(const struct wire_window *message, uint64_t world, char *why, size_t room);

/** Add the rows of a message that was checked. @return 0 or -ENOMEM; then nothing was added */
int latency_rows_take(struct latency_rows *rows, const struct wire_window *message);

/** Take back those of the message that was taken last. */
void latency_rows_give_back(struct latency_rows *rows, const struct wire_window *message);

/** Add messages that were joined from both ends, but for uncertain ones.
 *  @param recent  by size class: above which transfer time one is delayed; NaN: it is not
 *  @return 0 or -ENOMEM; then some may be missing */
int latency_rows_joined(struct latency_rows *rows, const struct joined_some *messages,
                        const double *recent);

/** Move all rows to another window's, which they then belong to. @return 0 or -ENOMEM; then nothing
 *  moved */
int latency_rows_move(struct latency_rows *to, struct latency_rows *from);

/** Tell the ends of messages in a message that was checked, with absolute times. Does nothing when
 *  there is nothing to tell.
 *  @param window  in which they count @return as join_add() */
int latency_rows_halves(const struct wire_window *message, uint32_t node, uint64_t window,
                        struct join *join);

#endif
