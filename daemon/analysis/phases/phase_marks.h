/* Which blocks of rows the sums of phase_sums.h are made of, and what two such sums have apart from
 * each other: phases of a job that repeats itself are made of the same blocks, but for those that
 * lie across bursts which were put together in another way.
 *
 * Memory: 32 bytes a block, of up to 2^16; to compare 384 more for each that only one of two has,
 * of up to 2^12.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_MARKS_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_MARKS_H

#include "daemon/analysis/phases/phase_rows.h"
#include "daemon/analysis/tables/key_order.h"

#include <stdbool.h>

/** The number and the place of each block (phase_store.h). Zero-initialised: of none. */
struct phase_marks {
    struct key_place *of; /**< owned; in the order of the numbers once they are sorted */
    size_t count, room;
    bool lost; /**< a block had no number or is there several times, or there was no room for it */
};

void phase_marks_finish(struct phase_marks *marks);
void phase_marks_clear(struct phase_marks *marks);

/** Note the blocks of a list. */
void phase_marks_add(struct phase_marks *marks, const struct phase_pool *pool,
                     const struct phase_list *list);

/** All are there. */
void phase_marks_sort(struct phase_marks *marks);

/** Blocks that only one of two has, which are sorted. */
struct phase_difference {
    const struct key_place *at[2], *end[2];
};

static inline struct phase_difference phase_marks_compare(const struct phase_marks *one,
                                                          const struct phase_marks *other)
{
    return (struct phase_difference){{one->of, other->of},
                                     {one->of + one->count, other->of + other->count}};
}

/** @param side  set to which of the two has it @return the next block, or NULL */
const struct key_place *phase_difference_next(struct phase_difference *difference, int *side);

/** Are so many blocks of both the same that it is worth while to look at the others, and are these
 * still where they were? */
bool phase_marks_can_compare(const struct phase_store *store, const struct phase_marks *one,
                             const struct phase_marks *other);

/** Rows of a block whose edges follow each other. */
struct phase_stretch {
    const struct phase_row *rows;
    uint32_t count;
};

/** Room to compare. Zero-initialised is empty. */
struct phase_stretches {
    struct phase_stretch *of; /**< owned; of both sides */
    struct key_place *places; /**< owned; of each its first edge, and as many to sort them */
    size_t room, place_room;
};

void phase_stretches_finish(struct phase_stretches *stretches);

/** Do the blocks that only one of two has consist of the same rows? What they add up to may be the
 * same where they do not, or where there was no memory, or blocks are many or their edges lie
 * scattered.
 *  @param one, other  can be compared */
bool phase_marks_have_same_rows(struct phase_stretches *room, const struct phase_store *store,
                                const struct phase_marks *one, const struct phase_marks *other);

#endif
