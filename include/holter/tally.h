/* The tally of a ring: exact sums of what its records do not show, by MPI function, flags, peer,
 * communicator, code region and size class.
 *
 * It holds records that were overwritten before the agent took them (holter/ring.h), and polling
 * calls that found nothing, which have no record. The ring's thread adds to rows in place; they
 * only grow, so that the agent counts the difference to what it has counted before. A row whose
 * figures are just being added to may miss the newest record, which is then counted next time.
 *
 * Bound: rows are a power of two. Once half of them are in use, what would need another row is
 * added up without size class (TALLY_ALL_SIZES); from three quarters on by function and flags
 * alone, with the peer PEER_UNKNOWN (PEER_NULL stays), no communicator and no region.
 */
#ifndef HOLTER_TALLY_H
#define HOLTER_TALLY_H

#include "holter/event.h"

#include <stdatomic.h>
#include <stdint.h>

#define TALLY_ALL_SIZES 0xffffu /**< in place of a size class */

/** Rows of a ring of that many records. */
static inline uint32_t tally_rows_of(uint32_t capacity)
{
    uint32_t rows = capacity / 8;
    return rows < 256 ? 256 : rows > 1024 ? 1024 : rows;
}

/** Figures of a row, since the start. */
struct tally_figures {
    uint64_t records;  /**< records, or polling calls */
    uint64_t bytes;    /**< sum of event.bytes */
    uint64_t bytes_in; /**< sum of event.bytes_in, where it holds bytes */
    uint64_t ticks;    /**< time in the calls */
};

/** Writer and agent store to different cache lines. */
struct tally_row {
    /** As ring_what() has it, with the size class of a posted send instead of the parts. Stored
     *  last (release), not 0. */
    _Alignas(64) _Atomic uint64_t what;
    /** Low half: destination of a posted send, else PEER_NULL or PEER_NONE; high half: communicator
     *  slot and region, as ring_place() has them. */
    _Atomic uint64_t where;
    _Atomic uint64_t records, bytes, bytes_in, ticks; /**< see struct tally_figures; records last */
    uint32_t first; /**< row + 1 of the first row whose hash is the number of this one; 0: none */
    uint32_t next;  /**< row + 1 of the next row with the same hash; 0: none */
    /** What the agent has counted: committed, and in the open window. The number of the committed
     *  ones is the epoch's lowest bit, so that both change in one store. */
    _Alignas(64) struct tally_figures counted[2];
};

_Static_assert(sizeof(struct tally_row) == 128, "rows of the tally are part of the contract");

struct ring_writer;

/** Find the row of polling calls that found nothing.
 *  @return NULL: there is no row left */
struct tally_row *tally_find_polls(struct ring_writer *w, uint16_t call, uint16_t region);

/** Writer: add a polling call that found nothing. */
static inline void tally_add_poll(struct tally_row *row, uint64_t ticks)
{
    uint64_t calls = atomic_load_explicit(&row->records, memory_order_relaxed);
    uint64_t spent = atomic_load_explicit(&row->ticks, memory_order_relaxed);
    atomic_store_explicit(&row->ticks, spent + ticks, memory_order_relaxed);
    atomic_store_explicit(&row->records, calls + 1, memory_order_release);
}

/** Copy the figures of a row. */
struct tally_figures tally_read(const struct tally_row *row);

#endif
