/* Which edges the rows of a segment of phase_graphs.h have, as ranges of their numbers: those of a
 * burst are a few (phase_numbers.h), and so are those of bursts that were put together. What two
 * segments have in common is told by their ranges, however many rows and blocks they have.
 *
 * Memory: 8 bytes a range, at most PHASE_RANGES_MOST.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_RANGES_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PHASE_RANGES_MOST 256u

struct phase_range {
    uint32_t first, end; /**< edges; the last is the one before the end */
};

/** Zero-initialised is not known. */
struct phase_ranges {
    struct phase_range
        *of; /**< owned; ascending, none reaches the next; NULL: they are not known */
    uint32_t count;
};

void phase_ranges_finish(struct phase_ranges *ranges);

static inline bool phase_ranges_are_known(const struct phase_ranges *ranges)
{
    return ranges->of != NULL;
}

/** Add a range to some that are being put together, behind the others or where the last ends.
 *  @param of  room for PHASE_RANGES_MOST
 *  @return whether there was room */
bool phase_ranges_append(struct phase_range *of, uint32_t *count, uint32_t first, uint32_t end);

/** Set ranges. Without memory they are not known.
 *  @param of  copied */
void phase_ranges_set(struct phase_ranges *ranges, const struct phase_range *of, uint32_t count);

/** Edges that two have in common, both of which are known. */
uint32_t phase_ranges_common(const struct phase_ranges *one, const struct phase_ranges *other);

/** Add one to another; it is not known after that. Nor is the other where one was not, where they
 * would be more than PHASE_RANGES_MOST, and without memory. */
void phase_ranges_join(struct phase_ranges *to, struct phase_ranges *from);

#endif
