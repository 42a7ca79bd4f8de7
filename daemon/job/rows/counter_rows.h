/* What agents report of network interfaces in one window: collected until the window is closed. */
#ifndef HOLTER_DAEMON_JOB_NETWORK_COUNTER_ROWS_H
#define HOLTER_DAEMON_JOB_NETWORK_COUNTER_ROWS_H

#include "daemon/analysis/tables/state_bytes.h"
#include "holter/wire.h"

/** An interface of a node. Figures as in the columns of WIRE_COUNTER_ROW. */
struct counter {
    uint32_t node; /**< of the job */
    char name[65];
    uint64_t medium, unit, sent, received, dropped, speed, length_ns;
};

/** Zero-initialised is empty. */
struct counter_rows {
    struct counter *list; /**< owned */
    size_t count, capacity;
};

void counter_rows_finish(struct counter_rows *rows);

/** Reserve space for the rows of a message. @return 0 or -ENOMEM; then nothing changed */
int counter_rows_reserve(struct counter_rows *rows, const struct wire_window *window);

/** Add the rows; counter_rows_reserve() comes before. */
void counter_rows_add(struct counter_rows *rows, const struct wire_window *window, uint32_t node);

/** Sort by node, then name, and add up what an agent reported in several messages; sums are
 * clamped to the largest number. The result does not depend on the order of messages. */
void counter_rows_sort(struct counter_rows *rows);

/** See state_bytes.h. */
void counter_rows_copy_state(struct state_bytes *b, struct counter_rows *rows);

#endif
