/* Where the rows of phase_rows.h lie: blocks of them, and those alike once only.
 *
 * Most jobs repeat themselves: burst after burst the same pairs send the same. So a block whose
 * rows are complete is looked for by a hash of them, and where another one has the same rows, all
 * of them compared, that is used by both. Bursts repeat, so the block that was shared last of those
 * that begin and end with the same edges is tried before. Who changes rows gets a copy first.
 *
 * There are as many places for blocks as blocks are used, whether or not some are alike: sharing
 * never fails for want of memory, and places that were never needed are never touched.
 *
 * Part of phase_graphs.h. Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_STORE_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PHASE_BLOCK 256u /**< rows of a block */
#define PHASE_BLOCK_NONE UINT32_MAX

struct phase_row {
    uint32_t edge;
    uint32_t messages; /**< at least 1 */
    uint64_t bytes;
};

/** Of a place. */
struct phase_place {
    uint64_t number; /**< while they can be found: of these rows; no others ever had it */
    uint32_t users;  /**< blocks whose rows these are; and PHASE_NOTED */
    uint32_t rows;   /**< while they can be found: how many; else 0 */
    uint32_t hash;
    uint32_t after; /**< the next of those found together with it, or the next free one */
};

#define PHASE_NOTED (1u << 31) /**< for as long as lists are compared; there are fewer users */

struct phase_store {
    struct phase_row **slabs;   /**< owned, each owned; PHASE_BLOCK places */
    struct phase_place *places; /**< owned */
    uint32_t *heads;            /**< owned; by hash, as many as there is room for places */
    uint32_t *guesses; /**< owned; as many; places by the first and last edge of their rows */
    uint64_t numbers;  /**< given to rows so far */
    uint32_t slab_count, slab_room;
    uint32_t free; /**< place */
};

#define PHASE_STORE_EMPTY ((struct phase_store){.free = PHASE_BLOCK_NONE})

void phase_store_finish(struct phase_store *store);

/** Have PHASE_BLOCK more places, which follow those there are. @return 0 or -ENOMEM: nothing has
 * changed */
int phase_store_grow(struct phase_store *store);

size_t phase_store_bytes(const struct phase_store *store);

static inline struct phase_row *phase_store_rows(const struct phase_store *store, uint32_t place)
{
    return store->slabs[place / PHASE_BLOCK] + (size_t)(place % PHASE_BLOCK) * PHASE_BLOCK;
}

/** A place for one user, who may write there. One is free: there are fewer users than places. */
uint32_t phase_store_take(struct phase_store *store);

/** One more user of rows that were shared there. There are fewer users than places. */
static inline void phase_store_use(struct phase_store *store, uint32_t place)
{
    store->places[place].users++;
}

/** A user needs it no more. */
void phase_store_give(struct phase_store *store, uint32_t place);

/** The rows are complete, and stay as they are until phase_store_own(). Unless it was shared
 *  before, the place has one user.
 *  @return the place where they lie now: this, or another one, and this is given back */
uint32_t phase_store_share(struct phase_store *store, uint32_t place, uint32_t rows);

/** A user is to write. One is free if another one uses the place: else there are as many users as
 * places at most.
 *  @param rows  as they were shared
 *  @return the place where to */
uint32_t phase_store_own(struct phase_store *store, uint32_t place, uint32_t rows);

/** Number of the rows that lie there; equal numbers are equal rows. @return 0: they have none */
static inline uint64_t phase_store_number(const struct phase_store *store, uint32_t place)
{
    return store->places[place].rows > 0 ? store->places[place].number : 0;
}

/** Note a place, or that it is not noted any more. Between two comparisons none is. */
static inline void phase_store_note(struct phase_store *store, uint32_t place, bool noted)
{
    uint32_t users = store->places[place].users & ~PHASE_NOTED;
    store->places[place].users = noted ? users | PHASE_NOTED : users;
}

static inline bool phase_store_is_noted(const struct phase_store *store, uint32_t place)
{
    return (store->places[place].users & PHASE_NOTED) != 0;
}

/** Is it not shared, or its rows might have changed since? */
static inline bool phase_store_is_open(const struct phase_store *store, uint32_t place)
{
    return store->places[place].rows == 0;
}

#endif
