/* The memory layout of burst_items.h, private to its source files. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CHUNK_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_BURST_CHUNK_H

#include "daemon/analysis/phases/burst_items.h"

struct extent {
    int64_t first_ns, last_ns;
    uint64_t messages, bytes;
};

/* height[i] is of the boundary before item i. */
struct chunk {
    uint32_t count;
    int64_t highest; /* of the boundaries with a final height; -1: none */
    struct phase sum;
    int64_t time[BURST_CHUNK];
    int64_t height[BURST_CHUNK];
    struct extent extent[BURST_CHUNK];
    uint32_t folded[BURST_CHUNK]; /* items that were folded into this one */
};

struct slot {
    int64_t from_ns; /* time of the first item */
    struct chunk *chunk;
};

struct burst_items {
    struct slot *slots; /* owned, and so are the chunks; ordered by time */
    uint32_t count, maximum;
    uint64_t kept, folded;
};

/* Position of an item: slot of its chunk, index in the chunk. */
struct place {
    uint32_t slot, index;
};

/* Finds the first item at or after a time; its slot is slot_count when there is none. */
struct place burst_items_find(const struct burst_items *items, int64_t time_ns);

/* One item as a phase. */
struct phase burst_sum_of(const struct chunk *c, uint32_t i);

/* Adds the sums of a phase that follows. The height stays that of the first. */
void burst_sum_add(struct phase *sum, const struct phase *more);

#endif
