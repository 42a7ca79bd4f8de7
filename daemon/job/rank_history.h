/* What each rank of a job did, stretch by stretch since the start, in bounded memory: for viewers
 * that come late. Stretches get longer with age, as those of a history
 * (daemon/analysis/sums/history.h).
 */
#ifndef HOLTER_DAEMON_JOB_RANK_HISTORY_H
#define HOLTER_DAEMON_JOB_RANK_HISTORY_H

#include "daemon/analysis/sums/window_sum.h"
#include "daemon/job/rank_columns.h"
#include "holter/wire.h"

#define RANK_HISTORY_BYTES (8u << 20) /**< of all stretches together, were they not packed */

#define RANK_HISTORY_PARTS 8u /**< of stretches, that are not added up yet */

/** Figures of the ranks of a stretch. */
struct rank_part {
    uint8_t *packed; /**< owned; see rank_columns.h */
    size_t bytes;
};

/** Where stretches become one their figures wait to be added up until there are more of them:
 * several at once take less time than one by one. */
struct rank_stretch {
    uint64_t first, last; /**< windows covered, both included */
    uint32_t *ranks;      /**< owned; ascending, without repeats */
    uint32_t count;       /**< ranks */
    uint32_t part_count;
    struct rank_part parts[RANK_PARTS_MOST]; /**< what they come to together */
};

struct rank_history {
    struct rank_stretch *stretches; /**< owned; from old to new, disjoint */
    size_t count, room;
    size_t bytes;    /**< of all stretches, were they not packed and added up */
    size_t waiting;  /**< parts beside the first of each stretch */
    uint32_t *ranks; /**< owned: of the rows at hand */
    uint8_t *fresh;  /**< owned: what was packed of them */
    uint8_t *packed; /**< owned: room for sums */
    size_t rank_room, fresh_room, packed_room;
    uint32_t rank_count, rank_most; /**< rows at hand, and there may be */
    size_t fresh_bytes, last_bytes; /**< of the rows at hand, and of the window before */
    struct wire_rank_row *rows;     /**< owned: of the message told last */
    size_t row_room;
    int left_out; /**< there are more ranks than are told of */
};

void rank_history_init(struct rank_history *history);
void rank_history_finish(struct rank_history *history);

/** Enter a window, or add to it what came late. Without memory, and from more than WIRE_PART_ROWS
 * ranks on, nothing is kept.
 *  @param rows  by rank; of a result, so that `seldom` is set */
void rank_history_put(struct rank_history *history, uint64_t window, const struct rank_row *rows,
                      size_t count);

/** The same in parts: count of all rows, then rows as they come, RANK_BLOCK_ROWS at a time but for
 * the last, then their window. */
void rank_history_begin(struct rank_history *history, size_t count);
void rank_history_rows(struct rank_history *history, const struct rank_row *rows, uint32_t count);
void rank_history_end(struct rank_history *history, uint64_t window);

/** Stretch number i, the oldest is 0, as a message; job and length of a window are the caller's to
 * set.
 *  @param out  borrowed until the next call @return whether there is one */
int rank_history_message(struct rank_history *history, size_t i, struct wire_history *out);

#endif
