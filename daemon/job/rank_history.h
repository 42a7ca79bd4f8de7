/* The activity of each rank of a job since the start, by stretches of time, in bounded memory: for
 * late subscribers. Stretches get longer with age, as the slots of a history do
 * (daemon/analysis/sums/history.h). */
#ifndef HOLTER_DAEMON_JOB_RANK_HISTORY_H
#define HOLTER_DAEMON_JOB_RANK_HISTORY_H

#include "daemon/analysis/sums/history.h"
#include "daemon/analysis/sums/window_sum.h"
#include "holter/wire.h"

#define RANK_HISTORY_BYTES (8u << 20) /**< of all stretches together */

struct rank_history {
    struct history stretches;
    uint32_t *ranks;   /**< owned: of the window that is entered */
    uint64_t *figures; /**< owned: likewise, RANK_HISTORY_COLUMNS a rank */
    size_t rank_capacity, figure_capacity;
    struct wire_rank_row *rows;         /**< owned: of the newest message */
    struct wire_crossing_row *crossing; /**< owned: likewise */
    size_t row_capacity, crossing_capacity;
    int too_many; /**< there are more than WIRE_PART_ROWS ranks: nothing is kept */
};

void rank_history_init(struct rank_history *history);
void rank_history_finish(struct rank_history *history);

/** Enter a window, or add to it what came late. Without memory, and from more than WIRE_PART_ROWS
 * ranks on, nothing is kept.
 *  @param rows  ascending by rank */
void rank_history_put(struct rank_history *history, uint64_t window, const struct rank_row *rows,
                      size_t count);

/** Stretch number i, the oldest is 0, as a message; job and length of a window are the caller's to
 * set.
 *  @param out  borrowed until the next call @return whether there is one */
int rank_history_message(struct rank_history *history, size_t i, struct wire_history *out);

#endif
