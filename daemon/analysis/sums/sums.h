/* What window_sum.c and the files sum_*.c share: the keys of a run and the figures kept for them.
 */
#ifndef HOLTER_DAEMON_ANALYSIS_SUMS_SUMS_H
#define HOLTER_DAEMON_ANALYSIS_SUMS_SUMS_H

#include "daemon/analysis/sums/window_sum.h"
#include "daemon/analysis/tables/key_table.h"

/** Pairs that share a bit which says that any of them has figures: a window of one late node is
 *  then added in the time its own pairs take, not that of all pairs of the job. */
#define PAIR_BLOCK 256u

/** Of one call, communicator and region, over all ranks. */
struct call_figures {
    uint64_t ranks, calls, bytes, bytes_in, time_ns, longest_ns;
};

/** Figures for the keys of a run: those of one window, or the run's own. Arrays are indexed by the
 *  number of the key; they may be shorter than the table, the rest being zero. */
struct figures {
    /** Where the rank did not report they are, in a window, not zero; but what is seldom told is
     * zero wherever `seldom` says so, and each is one of its rank, or was never written. */
    struct rank_row *ranks;
    uint64_t *rank_newest;  /**< number of the newest window that the rank reported */
    uint64_t *rank_present; /**< bits: the rank reported */
    /** Bits: the row was added to the run, but is not in its figures yet: it will when it is
     * written once more, or when these are asked for. So it is not read for this alone. */
    uint64_t *rank_owed;
    uint64_t owed_number;         /**< of the window that it was added as */
    uint32_t rank_room;           /**< whole words of bits */
    struct narrow_figures *pairs; /**< see figures_pair() */
    struct pair_figures *wide;    /**< as many; NULL: not needed yet */
    int has_wide;                 /**< some of a window's may not be zero */
    uint64_t *pair_blocks;        /**< bits, by number / PAIR_BLOCK: something was added there */
    uint32_t pair_room;           /**< whole blocks */
    struct call_figures *calls;
    uint32_t call_room;
    uint64_t *callers; /**< bits, by caller: this rank made this call */
    uint32_t caller_room;
};

/** Numbers of keys in canonical order, brought up to date when a result is asked for. */
struct order {
    uint32_t *numbers; /**< owned */
    uint32_t count;
};

struct run_sum {
    struct run_sum_limits limits;
    struct key_table ranks;   /**< hi: rank */
    struct key_table pairs;   /**< hi: source, destination + 1; lo: comm, region, size class */
    struct key_table callers; /**< hi: rank; lo: comm, region, call */
    struct key_table calls;   /**< lo: comm, region, call */
    struct key_table comm_ids;
    struct key_table region_names; /**< hi: hash of the name; lo: which of those with that hash */
    uint32_t *call_of;             /**< by caller: number in calls */
    uint32_t call_of_room;
    struct comm_row *comms;
    uint32_t comm_room;
    struct region_row *regions;
    uint32_t region_room;
    uint32_t ranks_in_order; /**< the first so many ranks have numbers in the order of ranks */
    uint32_t windows;        /**< that are open */
    struct figures *owing;   /**< those that have rank_owed; NULL: none */
    struct figures total;
    struct figures
        spare; /**< those of a window that is over, as if nothing had been added: the next one's */
    /** Rows that were added to the rest because the table of pairs was full. */
    uint64_t turned_away;
    uint64_t
        names; /**< goes up when a communicator or a region is new, or told otherwise; above 0 */
    struct order rank_order, pair_order, call_order;
    uint32_t *comm_position; /**< by number: place in the order of ids */
    uint32_t comm_positions; /**< how many of them are up to date */
    uint32_t *region_position;
    uint32_t region_positions;
};

struct window_sum {
    struct run_sum *run;
    struct figures figures;
    struct sum_totals totals; /**< of its ranks */
};

static inline struct key sums_pair_key(uint32_t source, int32_t destination, uint64_t comm,
                                       uint32_t region, uint32_t size_class)
{
    return (struct key){.hi = (uint64_t)source << 32 | (uint32_t)(destination + 1),
                        .lo = comm << 32 | (uint64_t)region << 16 | size_class};
}

static inline int bit_get(const uint64_t *bits, uint32_t i)
{
    return (int)(bits[i / 64] >> (i % 64) & 1);
}

static inline void bit_set(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << (i % 64);
}

/** Is one of these bits set? */
static inline int bits_any(const uint64_t *bits, uint32_t from, uint32_t count)
{
    for (; count > 0 && from % 64 != 0; from++, count--)
        if (bit_get(bits, from))
            return 1;
    for (; count >= 64; from += 64, count -= 64)
        if (bits[from / 64] != 0)
            return 1;
    return count > 0 && (bits[from / 64] & ((UINT64_C(1) << count) - 1)) != 0;
}

static inline void bits_set(uint64_t *bits, uint32_t from, uint32_t count)
{
    for (; count > 0 && from % 64 != 0; from++, count--)
        bit_set(bits, from);
    for (; count >= 64; from += 64, count -= 64)
        bits[from / 64] = UINT64_MAX;
    if (count > 0)
        bits[from / 64] |= (UINT64_C(1) << count) - 1;
}

/** Grow an array to hold index need - 1, new elements zero. `room` is in elements and is shared by
 *  arrays that grow together, so the caller updates it. @return 0 or -ENOMEM */
int sums_grow(void **array, size_t element, uint32_t room, uint32_t need);

/** Room for the keys that the run has. @return 0 or -ENOMEM */
int figures_fit(struct figures *f, const struct run_sum *run);
int figures_fit_ranks(struct figures *f, uint32_t need);
/** As if nothing had been added, or nothing to pairs. */
void figures_clear(struct figures *f);
void figures_clear_pairs(struct figures *f);
void figures_finish(struct figures *f);
size_t figures_bytes(const struct figures *f);

/** Room for wide figures of as many pairs as there is for others. @return 0 or -ENOMEM */
int figures_fit_wide(struct figures *f);

static inline struct pair_figures figures_pair(const struct figures *f, uint32_t i)
{
    struct pair_figures all = {f->pairs[i].messages, f->pairs[i].bytes};
    if (f->wide != NULL) {
        all.messages += f->wide[i].messages;
        all.bytes += f->wide[i].bytes;
    }
    return all;
}

/** Add what is told of pairs, which are brought up to date in numbers. Room for them is there.
 *  @return 0 or -ENOMEM; then nothing was added */
int window_pairs_add(struct window_sum *w, const struct window_rows *rows,
                     struct row_numbers *numbers);
/** Room for them is there, wide figures included. */
void run_pairs_absorb(struct run_sum *run, const struct figures *f);

/** Change what is kept for ranks with the other one. */
void figures_swap_ranks(struct figures *a, struct figures *b);

/** Add what is told of ranks. Room for them is there. */
void window_ranks_add(struct window_sum *w, const struct window_rows *rows,
                      struct row_numbers *numbers);
/** Add those of a window to the run. Room for them is there. */
void run_ranks_owe(struct run_sum *run, struct figures *f, uint64_t number);
/** Have them in the run's figures. */
void run_ranks_pay(struct run_sum *run);
/** Figures have moved, or will be no more. @param to  where they are; NULL: they are still there,
 * and will not be */
void run_ranks_moved(struct run_sum *run, const struct figures *from, struct figures *to);

/** While no window is open, give ranks numbers in their order: rows of a window are then a result
 * as they lie. Without memory they keep those they have. */
void run_ranks_settle(struct run_sum *run);

static inline uint64_t sums_maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/** The larger of two reports about one rank's call in progress wins, whatever their order. */
void rank_row_merge_in_call(struct rank_row *into, const struct rank_row *from);

/** Bring positions and orders up to date. @return 0 or -ENOMEM */
int order_positions(struct run_sum *run);
int order_update(struct order *order, const struct key_table *table, const struct run_sum *run);

#endif
