/* The table of one segment of phase_graphs.h: what each edge sent, as rows sorted by edge number.
 *
 * A row takes 16 bytes, so its count of messages is limited to 2^32 - 1. An edge with more messages
 * has several rows, at most PHASE_ROWS_PER_EDGE: all but the last are full, and the first holds the
 * bytes. What does not fit even then is returned as excess.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_ROWS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_ROWS_H

#include <stdint.h>

#define PHASE_ROWS_PER_EDGE 4u

struct phase_row {
    uint32_t edge;     /**< number of the edge */
    uint32_t messages; /**< at least 1 */
    uint64_t bytes;
};

/** Zero-initialised is empty. */
struct phase_rows {
    struct phase_row *rows; /**< owned; ascending by edge */
    uint32_t count;
};

/** Messages that exceed the rows of their edge. */
struct phase_excess {
    uint64_t messages, bytes;
};

void phase_rows_finish(struct phase_rows *table);

/** Releases the memory that the rows do not need. */
void phase_rows_fit(struct phase_rows *table);

/** Rows that an edge with so many messages needs. */
uint32_t phase_rows_needed(uint64_t messages);

/** Appends an edge, which is above all edges of the table. The array has space for its rows.
 *  @param messages  at least 1 */
void phase_rows_append(struct phase_rows *table, uint32_t edge, uint64_t messages, uint64_t bytes,
                       struct phase_excess *excess);

/** Adds the rows of `from` to `to`; `from` is empty afterwards.
 *  @param excess  increased by what does not fit
 *  @return 0 or -ENOMEM: nothing has changed */
int phase_rows_merge(struct phase_rows *to, struct phase_rows *from, struct phase_excess *excess);

/** Rows that merging two tables saves: for each edge the smaller of its two numbers of rows. Exact
 *  unless the sum of an edge's messages needs more or fewer rows. */
uint32_t phase_rows_common(const struct phase_rows *left, const struct phase_rows *right);

#endif
