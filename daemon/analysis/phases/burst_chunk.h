/* How burst_items.h keeps items: for its own parts only. */
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
    int64_t highest; /* of the settled boundaries; -1: none */
    struct phase sum;
    int64_t time[BURST_CHUNK];
    int64_t height[BURST_CHUNK];
    struct extent extent[BURST_CHUNK];
    uint32_t folded[BURST_CHUNK]; /* items besides the one */
};

struct slot {
    int64_t from_ns; /* time of the first item */
    struct chunk *chunk;
};

struct burst_items {
    struct slot *slots; /* owned, and so are the chunks; by time */
    uint32_t count, most;
    uint64_t kept, folded;
};

/* A place in the order. */
struct place {
    uint32_t slot, index;
};

/* First item of this time or later; its slot is beyond the last where there is none. */
struct place burst_items_find(const struct burst_items *items, int64_t time_ns);

/* One item as a run. */
struct phase burst_sum_of(const struct chunk *c, uint32_t i);

/* Add what follows, or, without boundaries, anything. The height stays that of the first. */
void burst_sum_add(struct phase *sum, const struct phase *more);

#endif
