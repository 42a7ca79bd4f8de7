/* The memory layout of burst_items.h, private to its source files. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_BURST_ARRAY_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_BURST_ARRAY_H

#include "daemon/analysis/phases/burst_items.h"

struct burst_item {
    struct burst burst; /* with the bursts that were folded into it */
    int64_t height;     /* of the boundary before it */
    uint32_t folded;    /* bursts that were folded into it */
};

struct burst_items {
    struct burst_item *item; /* owned; ordered by time */
    size_t count, capacity, maximum;
    uint64_t folded;
};

/* Finds the first item at or after a time; the count when there is none. */
size_t burst_items_find(const struct burst_items *items, int64_t time_ns);

/* Adds the sums of a phase that follows. The height stays that of the first. */
void burst_sum_add(struct phase *sum, const struct phase *more);

#endif
