/* Lateness of ranks, window by window: how much later a rank came to what it did together with
 * others than these did, and how much of that it caused itself (Isaacs et al., "Ordering traces
 * logically", of which daemon/analysis/dependencies has the form for single events).
 *
 * What ranks do together is a logical step of all of them: a matched message, or a collective that
 * no rank leaves before all have entered it. Single steps are not known of a window, but their
 * sums:
 *
 * - late: the greatest of: for each other rank, the time that this one waited for it in their
 *   messages; for each kind of collective on each communicator, the time by which it came later
 *   than the first of its ranks, over all calls of the window. All leave such a collective at one
 *   time, so that this is the difference of the times in it: exact where the same rank comes first
 *   in all calls, else less than the sum of the single ones.
 * - waited: likewise the time that it waited itself, for one rank in messages, or for the last of a
 *   collective; waiting for messages in flight counts here: no rank has caused that. So does the
 *   time in a call that is in progress at the end of the window. Where a collective took longer
 *   than the window, what the rank waited without a break in the windows before counts, too.
 * - caused: late less waited, at least 0: what it inherited from those that it waited for is not
 *   its own. Where one rank is late and all others wait for it, directly or for each other, the
 *   others have caused nothing.
 *
 * Waits for one rank shorter than 1/1024 of a window do not count. Ranks whose numbers of calls of
 * a kind differ within a window, because it cut a collective, are compared with those that have as
 * many. Only collectives of which each rank waits for all: the times in the calls of a scan do not
 * show which of the ranks before the first one that waited was late. Linear in rows. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_WAITS_RANK_LATENESS_H
#define HOLTER_DAEMON_ANALYSIS_WAITS_RANK_LATENESS_H

#include "daemon/analysis/hang/hang.h"
#include "daemon/analysis/tables/key_table.h"

/** Of a rank in a window. */
struct rank_lateness {
    uint64_t late_ns, waited_ns;
};

static inline uint64_t rank_lateness_caused_ns(const struct rank_lateness *row)
{
    return row->late_ns > row->waited_ns ? row->late_ns - row->waited_ns : 0;
}

/** A rank waited for another one. */
static inline void rank_lateness_add_wait(struct rank_lateness *waiter,
                                          struct rank_lateness *awaited, uint64_t ns)
{
    waiter->waited_ns = ns > waiter->waited_ns ? ns : waiter->waited_ns;
    awaited->late_ns = ns > awaited->late_ns ? ns : awaited->late_ns;
}

/** A rank waited for another one and for its messages. */
static inline void rank_lateness_add_flight(struct rank_lateness *waiter, uint64_t ns)
{
    waiter->waited_ns = ns > waiter->waited_ns ? ns : waiter->waited_ns;
}

struct late_group;

/** Memory for collectives. Zero-initialised is empty. */
struct late_collectives {
    struct key_table callers; /**< hi: communicator, lo: call and rank */
    struct hang_calls *sums;  /**< owned; by number: all calls of the rank, in whatever region */
    size_t sum_capacity;
    struct key_table keys;     /**< hi: communicator, lo: call and how often it was made */
    struct late_group *groups; /**< owned; by number */
    size_t capacity;
};

void late_collectives_finish(struct late_collectives *collectives);

/** Add the collectives of a window, of all ranks. Several rows of a rank, as for code regions, add
 *  up.
 *  @param rows  by rank, below count; calls of other ranks are ignored @return 0 or -ENOMEM */
int rank_lateness_add_collectives(struct late_collectives *collectives,
                                  const struct hang_calls *calls, size_t call_count,
                                  struct rank_lateness *rows, uint32_t count);

#endif
