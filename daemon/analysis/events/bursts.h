/* Bursts: micro-clusters in time of a window's messages (CommGram, section III-F, made to stream).
 *
 * CommGram merges, again and again, the two events or clusters whose times are nearest. In one
 * dimension only neighbours merge, so a set keeps at most a budget of bursts in order of time and
 * merges its two nearest neighbours when there is one more. A burst's time is the mean of the times
 * of its messages, each counted once (CommGram takes the mean of the two clusters' times, which
 * depends on the order of merging); it is exact, from a 128-bit sum, and rounded down to a
 * nanosecond. Of pairs that are equally near the earlier one merges.
 *
 * Which burst something belongs to. Time is divided into cells of cell_ns, counted from time 0. A
 * burst that is added, a single message among them, joins the burst whose time is in the cell of
 * its own; else it stays a burst, though their messages may interleave: or nodes that talk all the
 * time would chain to one burst as long as the window.
 * The mean of two times in a cell is in that cell, so no two bursts ever have their times in one.
 *
 * What holds while the budget is not exceeded: each burst is a cell with its messages. The set does
 * not depend on the order of messages, and with cells of 1 ns it is one burst for each distinct
 * time: what CommGram begins with, so bursts_reduce() then gives the batch clustering of the
 * messages exactly; with wider cells that of the cells. Merging of sets is commutative and
 * associative, also of sets that were over their own budgets, as long as the merged set is not over
 * its own; so a relay that makes its budget the sum of its nodes' and then calls bursts_reduce()
 * has the batch clustering of their bursts, whatever the order in which they came.
 *
 * What is lost beyond it: a merge is never undone, so the bounds between bursts are those that were
 * best when the budget was exceeded, and depend on the order of what came. Sums stay exact. Runs of
 * messages are found exactly, in
 * whatever order messages come, if there are no more than the budget and every pause is longer than
 * every run and than a cell. Where there may be more, gather with a larger budget and reduce at the
 * end (tests/bench/bursts_bench.c measures how close to the batch clustering the result is).
 *
 * Sums. Messages and bytes of a set are below 2^64: what would take them beyond is refused whole,
 * so no sum within can overflow, nor can the sum of times, below 2^64 * 2^64. The messages of a
 * burst are those of its pairs and of its others together, always; bytes likewise.
 *
 * Memory, at most: 2 * pairs rows of 32 bytes for each of budget + 1 bursts, 148 bytes for each
 * burst, and while a burst is read twice the rows of all bursts that were merged into it, and to
 * add these up 8 bytes for each. Rows are taken as they are needed, and kept until the set is
 * destroyed. Where memory is refused, pairs are folded as if the limit were lower. To sort rows 32
 * bytes for each are borrowed.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_EVENTS_BURSTS_H
#define HOLTER_DAEMON_ANALYSIS_EVENTS_BURSTS_H

#include "daemon/analysis/events/burst_pairs.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stddef.h>
#include <stdint.h>

#define BURSTS_MAXIMUM 65536u            /**< largest budget */
#define BURSTS_MAXIMUM_PAIRS (1u << 24)  /**< largest limit of pairs */
#define BURSTS_MAXIMUM_CELL (1ull << 40) /**< widest cell, nanoseconds */

struct bursts_params {
    uint32_t budget;  /**< bursts; at least 1 */
    uint32_t pairs;   /**< rows of a burst as it is read; at least BURST_PAIRS_MINIMUM */
    uint64_t cell_ns; /**< closer times are not distinguished; a power of two */
};

/** What an agent keeps for a window. A microsecond is what clocks of nodes agree to at best. */
#define BURSTS_DEFAULTS ((struct bursts_params){.budget = 32, .pairs = 4096, .cell_ns = 1024})

/** A burst of a set. */
struct burst_sums {
    uint64_t time_ns; /**< mean of the messages' times, rounded down; not read by bursts_add() */
    uint64_t first_ns, last_ns;           /**< earliest and latest message */
    uint64_t time_sum_high, time_sum_low; /**< sum of the messages' times, 128 bits, nanoseconds */
    uint64_t messages;                    /**< at least 1 */
    uint64_t bytes;
    struct burst_others others; /**< of these messages, those without a row */
    /** Ordered by key when read; in any order, and repeated, for
     *  bursts_add(). Borrowed. */
    const struct burst_pair *pairs;
    size_t pair_count;
};

struct bursts;

/** An empty set. @return 0, -ENOMEM, or -EINVAL: a parameter is out of its range */
int bursts_create(struct bursts **out, const struct bursts_params *params);

/** NULL is fine. */
void bursts_destroy(struct bursts *set);

/** Forget everything but the parameters, and keep the memory: for the next window. */
void bursts_clear(struct bursts *set);

/** Reserve space for the rows of the burst that is added next; rows written there are preserved
 * when more space is reserved. @return NULL: there is no memory */
struct burst_pair *bursts_reserve_rows(struct bursts *set, size_t rows);

/** Add a burst. It is one that a set can give: it has messages, whose mean is within first to last,
 *  and its rows and others add up to them; of another process that was checked before (see
 *  daemon/job/job_validate.h).
 *  @return 0, or -EOVERFLOW: nothing was added */
int bursts_add(struct bursts *set, const struct burst_sums *burst);

/** Merge nearest neighbours until there are at most so many bursts; at least one is kept. Later
 *  additions may again make as many as the budget allows. */
void bursts_reduce(struct bursts *set, uint32_t maximum);

/** Merge nearest neighbours until no two are nearer than this. */
void bursts_join_near(struct bursts *set, uint64_t apart_ns);

uint32_t bursts_count(const struct bursts *set);

/** Messages and bytes of all bursts together. */
uint64_t bursts_messages(const struct bursts *set);
uint64_t bursts_bytes(const struct bursts *set);

/** A burst; reading changes no later result.
 *  @param number  0 is the earliest
 *  @param out     its pairs stay the set's, and valid until the next call for it
 *  @return 0, -ENOMEM, or -ERANGE: there are fewer bursts */
int bursts_read(struct bursts *set, uint32_t number, struct burst_sums *out);
/** The same with rows in any order, of which a pair may have several: what is cheaper to read. */
int bursts_gather(struct bursts *set, uint32_t number, struct burst_sums *out);

/** See state_bytes.h. */
void bursts_copy_state(struct state_bytes *b, struct bursts **set);

#endif
