/* Sums by item over any span of time, in bounded memory.
 *
 * A history is a row of slots from old to new; a slot holds, for the windows it covers, a row of
 * figures for each item (a rank, a pair, a call) that had any. When the slots together take more
 * than the budget, two neighbours become one: the pair whose span is smallest against its age. So
 * resolution is finest at the newest end and falls off in proportion to age, and no figure is ever
 * lost, only its place in time. */
#ifndef HOLTER_DAEMON_ANALYSIS_SUMS_HISTORY_H
#define HOLTER_DAEMON_ANALYSIS_SUMS_HISTORY_H

#include "daemon/analysis/tables/state_bytes.h"
#include <stddef.h>
#include <stdint.h>

struct history_slot {
    uint64_t first, last; /**< windows covered, both included */
    uint32_t *items;      /**< owned; ascending, without repeats */
    uint64_t *values;     /**< owned; columns figures for each item */
    uint32_t count;       /**< items */
    int whole;            /**< part of it came by history_put_span(): all that there is of it */
};

struct history {
    struct history_slot *slots; /**< owned; from old to new, disjoint */
    size_t count, capacity;
    size_t bytes;         /**< taken by all slots */
    size_t budget;        /**< most bytes */
    unsigned columns;     /**< figures for each item */
    uint32_t max_columns; /**< bit c: column c is merged as maximum, not as sum */
    uint64_t changes;     /**< incremented by what changes sums other than of the newest windows */
};

/** @param budget  most bytes of all slots together; the newest slot is kept whatever it takes */
void history_init(struct history *history, unsigned columns, uint32_t max_columns, size_t budget);

/** Free what it owns; it stays usable and empty. */
void history_clear(struct history *history);

/** Enter a window, or add to it what came late.
 *  @param items   ascending, without repeats; copied
 *  @param values  columns figures for each item; copied
 *  @return 0 or -ENOMEM (nothing changed) */
int history_put(struct history *history, uint64_t window, const uint32_t *items,
                const uint64_t *values, uint32_t count);

/** Enter the sums of several windows at one time, unless something is known of any of them.
 *  @param first, last  both included
 *  @param items, values, count  as for history_put()
 *  @return 0; 1: something is known of them (nothing changed); -ENOMEM (nothing changed) */
int history_put_span(struct history *history, uint64_t first, uint64_t last, const uint32_t *items,
                     const uint64_t *values, uint32_t count);

/** Whether all that there is of a window was entered by history_put_span(). */
int history_whole(const struct history *history, uint64_t window);

/** Remove a window. @return 0; 1: it was merged with others, and stays */
int history_drop(struct history *history, uint64_t window);

/** What a sum really covers. */
struct history_span {
    uint64_t first, last; /**< windows at both ends of the slots that were summed */
    uint64_t coarsest;    /**< most windows in one of them */
    uint64_t windows;     /**< in all of them: fewer than between both ends where some have none */
    int found;            /**< 0: there was no slot */
};

/** Add up all slots that overlap the windows first to last.
 *  @param sums  space for items * columns figures, which are overwritten
 *  @param items items from 0 up; others are skipped
 *  @return what was covered: slots are not cut, so it may reach beyond what was asked */
struct history_span history_sum(const struct history *history, uint64_t first, uint64_t last,
                                uint64_t *sums, uint32_t items);

/** What a row of sums holds: zero-initialised is nothing. */
struct history_total {
    const struct history *of;
    uint64_t changes;     /**< of it at that time */
    uint64_t first, last; /**< windows at both ends of the slots that were summed */
    uint32_t items;
};

/** As history_sum(), for a span that moves with time: where `sums` are those of the call before,
 *  only the slots are added and subtracted that came and left since.
 *  @param total  describes `sums`, and is updated */
struct history_span history_sum_on(const struct history *history, uint64_t first, uint64_t last,
                                   uint64_t *sums, uint32_t items, struct history_total *total);

/** See state_bytes.h. */
void history_copy_state(struct state_bytes *b, struct history *history);

#endif
