/* How many messages of one window took how long, by locality and size class. Most rows of times of
 * a job are of few classes, so they are counted as they arrive, not stored. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_LATENCY_TIME_COUNTS_H
#define HOLTER_DAEMON_ANALYSIS_LATENCY_TIME_COUNTS_H

#include "daemon/analysis/latency/histogram.h"
#include "daemon/analysis/matching/transfers.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <errno.h>

#define TIME_COUNTS (LOCALITIES * SIZE_CLASSES)

struct time_cells {
    struct histogram *of[TIME_COUNTS]; /**< owned, by number of the class; NULL: none yet */
    uint16_t used[TIME_COUNTS];        /**< numbers of those that are not NULL */
    size_t count;
};

/** Zero-initialised is empty. */
struct time_counts {
    struct time_cells *cells; /**< owned; NULL: none yet */
};

/** @return the number of locality and size class together, as transfer_class() */
static inline unsigned time_counts_class(unsigned locality, unsigned size_class)
{
    return size_class * LOCALITIES + locality;
}

void time_counts_finish(struct time_counts *counts);

/** Make the cell of a class, for time_counts_add(). @return NULL: there is no memory */
struct histogram *time_counts_cell(struct time_counts *counts, unsigned class_);

/** Count messages.
 *  @param class_      its number, in range
 *  @param time_class  below TIME_CLASSES @return 0 or -ENOMEM: they were not counted */
static inline int time_counts_add(struct time_counts *counts, unsigned class_, uint32_t time_class,
                                  uint64_t messages)
{
    struct histogram *cell = counts->cells == NULL ? NULL : counts->cells->of[class_];
    if (cell == NULL)
        cell = time_counts_cell(counts, class_);
    return cell == NULL ? -ENOMEM : histogram_add(cell, time_class, messages);
}

/** Subtract messages that were counted. */
void time_counts_remove(struct time_counts *counts, unsigned class_, uint32_t time_class,
                        uint64_t messages);

/** Move all to other counts. @return 0 or -ENOMEM; then nothing moved */
int time_counts_move(struct time_counts *to, struct time_counts *from);

/** See state_bytes.h. */
void time_counts_copy_state(struct state_bytes *b, struct time_counts *counts);

#endif
