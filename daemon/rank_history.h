/* What each rank of a job did, stretch by stretch since the start, in bounded memory: for viewers that come late.
 * Stretches get longer with age, as those of a history (daemon/analysis/history.h). */
#ifndef HOLTER_DAEMON_RANK_HISTORY_H
#define HOLTER_DAEMON_RANK_HISTORY_H

#include "daemon/analysis/window_sum.h"
#include "daemon/rank_columns.h"
#include "holter/wire.h"

#define RANK_HISTORY_BYTES (8u << 20) /**< of all stretches together, were they not packed */

struct rank_stretch {
    uint64_t first, last; /**< windows covered, both included */
    uint32_t *ranks;      /**< owned; ascending, without repeats */
    uint8_t *packed;      /**< owned; figures, see rank_columns.h */
    size_t packed_bytes;
    uint32_t count; /**< ranks */
};

struct rank_history {
    struct rank_stretch *stretches; /**< owned; from old to new, disjoint */
    size_t count, room;
    size_t bytes;    /**< of all stretches, were they not packed */
    uint32_t *ranks; /**< owned: of the rows at hand */
    uint8_t *packed; /**< owned: likewise */
    size_t rank_room, packed_room;
    uint32_t rank_count, rank_most; /**< rows at hand, and there is room for */
    size_t packed_bytes;
    struct wire_rank_row *rows; /**< owned: of the message told last */
    size_t row_room;
    int left_out; /**< there are more ranks than are told of */
};

void rank_history_init(struct rank_history *history);
void rank_history_finish(struct rank_history *history);

/** Enter a window, or add to it what came late. Without memory, and from more than WIRE_PART_ROWS ranks on,
 *  nothing is kept.
 *  @param rows  by rank; of a result, so that `seldom` is set */
void rank_history_put(struct rank_history *history, uint64_t window, const struct rank_row *rows,
                      size_t count);

/** The same in parts: count of all rows, then rows as they come, RANK_BLOCK_ROWS at a time but for the last, then
 *  their window. */
void rank_history_begin(struct rank_history *history, size_t count);
void rank_history_rows(struct rank_history *history, const struct rank_row *rows, uint32_t count);
void rank_history_end(struct rank_history *history, uint64_t window);

/** Stretch number i, the oldest is 0, as a message; job and length of a window are the caller's to set.
 *  @param out  borrowed until the next call @return whether there is one */
int rank_history_message(struct rank_history *history, size_t i, struct wire_history *out);

#endif
