/* What each pair of ranks sent within a burst, by size class.
 *
 * Rows are appended; only when the table is full are they sorted and the rows of a pair added up.
 * So a message costs one row written, and two bursts are merged by copying rows.
 * Of more pairs than the limit those with the most bytes keep their row and the rest is added to
 * "others": counted, never dropped.
 *
 * Part of bursts.[ch]. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_EVENTS_BURST_PAIRS_H
#define HOLTER_DAEMON_ANALYSIS_EVENTS_BURST_PAIRS_H

#include "daemon/analysis/tables/state_bytes.h"
#include "holter/order.h"
#include <stddef.h>
#include <stdint.h>

/** Messages of one size class from one rank to another. They are ordered by `modelled`, source,
 * destination and size class: the key. */
struct burst_pair {
    uint32_t source, destination;
    uint32_t size_class; /**< see holter/size_class.h */
    uint32_t modelled;   /**< 1: they stand for a collective; else 0 */
    uint64_t messages;   /**< at least 1 */
    uint64_t bytes;
};

/** Source above destination. */
static inline uint64_t burst_pair_ranks(const struct burst_pair *pair)
{
    return (uint64_t)pair->source << 32 | pair->destination;
}

/** By key: below 0, 0 or above 0. */
static inline int burst_pair_compare(const struct burst_pair *a, const struct burst_pair *b)
{
    uint64_t left = burst_pair_ranks(a), right = burst_pair_ranks(b);
    return 4 * ORDER(a->modelled, b->modelled) + 2 * ORDER(left, right) +
           ORDER(a->size_class, b->size_class);
}

/** Pairs that have no row. */
struct burst_others {
    uint64_t messages;
    uint64_t bytes;
    uint64_t pairs; /**< rows that were folded; a pair that came back and went again counts twice */
};

static inline void burst_others_add(struct burst_others *to, const struct burst_others *by)
{
    to->messages += by->messages;
    to->bytes += by->bytes;
    to->pairs += by->pairs;
}

struct burst_pairs {
    struct burst_pair *rows; /**< owned; a pair may have several */
    uint32_t count, capacity;
    uint32_t ordered; /**< so many, the first, have one row for each pair, in the order of keys */
    struct burst_others others;
};

#define BURST_PAIRS_MINIMUM 8u /**< smallest limit */

/** An empty table with space for a few rows. @return 0 or -ENOMEM */
int burst_pairs_init(struct burst_pairs *pairs);
void burst_pairs_finish(struct burst_pairs *pairs);

/** Forget the rows, keep the memory. */
void burst_pairs_clear(struct burst_pairs *pairs);

/** The same, and release the memory of many rows: of the bursts of a set it is each time others
 * that are large, and in the end all would keep memory for the largest. */
void burst_pairs_release(struct burst_pairs *pairs);

/** Add rows. Never fails: where memory is refused, more pairs are folded.
 *  Sums must not pass 2^64: the set sees to that. */
void burst_pairs_append(struct burst_pairs *pairs, uint32_t limit, const struct burst_pair *rows,
                        size_t count);

/** Add all of one table to another; either may be left with the memory of the other. */
void burst_pairs_move(struct burst_pairs *to, struct burst_pairs *from, uint32_t limit);

/** Copy all of a table into one without a limit. @return 0, or -ENOMEM: nothing has changed */
int burst_pairs_gather(struct burst_pairs *to, const struct burst_pairs *from);

/** One row for each pair, at most as many as the limit, in the order of their keys. @param pairs at
 * least one row */
void burst_pairs_order(struct burst_pairs *pairs, uint32_t limit);

/** See state_bytes.h. */
void burst_pairs_copy_state(struct state_bytes *b, struct burst_pairs *pairs);

#endif
