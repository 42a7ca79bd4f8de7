/* The memory layout of burst_items.h, private to its source files. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CHUNK_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CHUNK_H

#include "daemon/analysis/phases/burst_items.h"

struct burst_item {
    struct burst burst; /* with the bursts that were folded into it */
    int64_t height;     /* of the boundary before it */
    uint32_t folded;    /* bursts that were folded into it */
};

struct chunk {
    uint32_t count;
    struct burst_item item[BURST_CHUNK];
};

struct burst_items {
    struct chunk **chunks; /* owned, each owned; ordered by time; one more than the maximum fits */
    uint32_t count, maximum;
    uint64_t kept, folded;
};

/* Position of an item: its chunk, and its index there. */
struct place {
    uint32_t slot, index;
};

/* Finds the first item at or after a time; its slot is the count of chunks when there is none. */
struct place burst_items_find(const struct burst_items *items, int64_t time_ns);

/* Adds the sums of a phase that follows. The height stays that of the first. */
void burst_sum_add(struct phase *sum, const struct phase *more);

#endif
