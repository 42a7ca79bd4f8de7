/* What a node reported last: the keys of its rows of pairs and of calls. A node of a job that goes
 * on as it did lists the same ones in each window, in the same order: then they need neither be
 * checked nor looked up once more, and figures alone are taken.
 *
 * Memory: 16 bytes a row of pairs, 16 one of calls. */
#ifndef HOLTER_DAEMON_JOB_REPORT_ROWS_H
#define HOLTER_DAEMON_JOB_REPORT_ROWS_H

#include "daemon/analysis/sums/window_sum.h"
#include "holter/wire.h"

/** A row of pairs, or of calls, but for its figures. Communicator and region are positions in the
 * message. Rows with larger ones, which no job has, are not kept. */
struct report_pair {
    uint32_t source;
    int32_t destination;
    uint32_t names; /**< communicator, region, size class: 11, 11 and 10 bits, the lowest first */
};
struct report_call {
    uint32_t rank;
    uint32_t names; /**< call, communicator, region: 12, 10 and 10 bits, the lowest first */
};

/** Zero-initialised is empty: nothing was reported. */
struct report_rows {
    uint64_t world;            /**< ranks that it was checked against */
    uint64_t comms, regions;   /**< of the message */
    uint32_t *names;           /**< owned: the run's numbers of these, one behind the other */
    struct report_pair *pairs; /**< owned */
    struct report_call *calls; /**< owned */
    uint32_t *counting;        /**< owned: positions of calls that hang_counts() */
    size_t name_room, pair_count, pair_room, call_count, call_room, counting_count, counting_room;
    struct row_numbers numbers;
};

void report_rows_finish(struct report_rows *rows);

/** Are the rows of pairs, of calls, of a message those of the last one, but for their figures?
 *  @param world  ranks of the job */
int report_rows_pairs(const struct report_rows *rows, const struct wire_window *message,
                      uint64_t world);
int report_rows_calls(const struct report_rows *rows, const struct wire_window *message,
                      uint64_t world);

/** Do its communicators and regions have the numbers that those of the last one had? */
int report_rows_named(const struct report_rows *rows, const uint32_t *names, size_t count);

/** Keep those of a message that was checked, and for which numbers were brought up to date. Without
 * memory nothing is kept. @param names  the run's numbers of its communicators, then of its
 * regions: one of each at least */
void report_rows_keep(struct report_rows *rows, const struct wire_window *message, uint64_t world,
                      const uint32_t *names, size_t count);

#endif
