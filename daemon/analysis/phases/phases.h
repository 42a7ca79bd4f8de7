/* Phases of a job: temporal clustering of bursts of communication (CommGram, section F), online.
 *
 * Each burst has a representative time. Of all neighbouring clusters the two whose times are
 * closest merge, until one is left; of equal gaps the earliest. The time of the new cluster is the
 * plain average of the two, as in the paper (not weighted by sizes), rounded down to a whole
 * nanosecond: rounding errors halve with every merge, so a time is never off by more than 1 ns, and
 * since integers cannot rise or fall by rounding, gaps never shrink and a merge is never below the
 * merges that made its clusters. Merges therefore happen in the order of (height, place), and the
 * tree is described entirely by the height of the boundary between any two neighbours: the gap at
 * which it went.
 *
 * Which merges are made early. At most `clusters` are live. When there are more, two neighbours
 * merge whose gap is smaller than that on its left and not larger than that on its right: whatever
 * comes later in order, no merge can come before this one and touch either (the smallest gap of all
 * is such a gap, but not the only one). So for bursts in order the tree is that of a batch exactly,
 * however few are live, unless gaps shrink steadily for as long as there are clusters: then the
 * last two merge, which is counted as forced. Gaps of a real program shrink from pauses of a second
 * to messages a microsecond apart, so 32 live clusters are needed for none to be forced (measured
 * on one rank's 911 events: with 14, most are, and cuts are no longer the batch's). Of such gaps
 * the oldest is taken, so that the youngest bursts are still apart when late ones come among them,
 * and those too are placed as by a batch. Where clusters have merged already it is too late for
 * that: a late burst within one, or as near to it as the two that merged last to make it, joins it
 * (joined); its distance to the nearer neighbour becomes the height there, and no other height
 * changes. What is still live is merged to the root when a cut asks for it, without changing
 * anything: O(clusters).
 *
 * Cuts. By gap: boundaries higher than the gap stand. By count: the highest stand, of equal heights
 * the latest. Over any interval of representative times, at any time, O(clusters + items / 512 +
 * phases x (512 + log phases)). A cut is a view: it has no ids, and the heights at its open end
 * move.
 *
 * Online phases are the cut at one gap g. Let the gaps of live clusters below g be merged wherever
 * that is settled as above. Then the gaps that are left are above g, or are a tail of gaps that
 * shrink toward the open end. Nothing that comes later in order can move a boundary before the
 * tail. So what is before the tail is closed by phases_close():
 * - stable: id, begin, end and number of a closed phase, for ever. Its sums grow only by bursts
 *   that come late, which are added to the nearest closed phase and counted (late). As long as g
 *   stays, nothing was forced and no burst came before a horizon, closed phases are the batch's cut
 *   at g;
 * - not stable: the open end, phases_open(), and all cuts.
 * A dense stream without any gap above g is closed piece by piece as well. Boundaries above g wait
 * for their phases to be closed before they may merge; when all that is live waits, phases are
 * closed without being asked to, as if no burst could come before the newest.
 *
 * The gap g is given, or chosen: at 64 bursts and whenever they have doubled, at least every 4,096,
 * the merge heights of about the last 4,096 bursts are sorted, and g is put into the largest ratio
 * of two heights that follow each other, their geometric mean, if at least three boundaries are
 * above and the ratio is 2 or more. Heights count as at least 1 us. A g that lies within that jump
 * already is kept; without a jump nothing changes. Until one is found g is what it starts with, or
 * all is open. Where g has bounds, only the part of a jump that lies between them counts.
 * Whenever g changes, phases that are closed stay as they are.
 *
 * Memory: chunks of 512 items of 52 bytes, allocated as needed, for at most `items` of them; 128
 * bytes a live cluster and 72 a closed phase, allocated with the state. With the defaults at most
 * 159 MB. A day of 32 bursts a second (2,764,800) in order takes 155 MB and keeps every merge. When
 * chunks are used up, the lowest heights are folded until a quarter is free, of equal ones the
 * oldest first: finer cuts are gone, coarser ones stay as they were. Bursts that come late leave
 * chunks half full, so that folding may begin at three quarters. A cut by count borrows 16 bytes a
 * phase.
 *
 * Pure: no clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASES_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASES_H

#include "daemon/analysis/phases/burst_items.h"

#include <stddef.h>
#include <stdint.h>

/** Times must be within this many nanoseconds of 0, on either side. */
#define PHASES_TIME_MOST (INT64_MAX / 4)

struct phases_params {
    uint32_t clusters; /**< live; 8 to 2^20 */
    uint32_t items;    /**< kept apart; at least 8,192 and four times the clusters */
    uint32_t closed;   /**< phases kept; the oldest are forgotten and counted; 1 to 2^20 */
    int64_t gap_ns;    /**< g of the online phases; 0: chosen */
    /** Where it is chosen, else not looked at: */
    int64_t gap_start_ns;              /**< g until a jump is found; 0: all is open until then */
    int64_t gap_least_ns, gap_most_ns; /**< bounds of g, but for the start; 0: none */
};

#define PHASES_DEFAULTS                                                                            \
    ((struct phases_params){.clusters = 4096, .items = 3000000, .closed = 16384, .gap_ns = 0})

struct phases_counts {
    uint64_t bursts;    /**< taken */
    uint64_t items;     /**< kept apart */
    uint64_t folded;    /**< merges that are no longer kept */
    uint64_t joined;    /**< came late into a cluster that had merged, or at the time of another */
    uint64_t late;      /**< came before the end of the last closed phase */
    uint64_t forced;    /**< merges that a later burst might have come before */
    uint64_t closed;    /**< phases, those forgotten included */
    uint64_t forgotten; /**< closed phases that are no longer listed */
    uint32_t clusters;  /**< live now */
    int64_t gap_ns;     /**< g as it is now; INT64_MAX: none found yet */
};

struct phases;

/** @param out  owned by the caller; set on success
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE when a parameter is outside its range (bounds that
 *          cross included) */
int phases_create(struct phases **out, const struct phases_params *params);
void phases_destroy(struct phases *phases);

/** Take one burst, in any order; cheap near the end. O(log clusters + log items).
 *  @param burst  copied; first_ns <= time_ns <= last_ns
 *  @return 0, -HOLTER_ERANGE for times that are not, or -ENOMEM: the burst was not taken */
int phases_add(struct phases *phases, const struct burst *burst);

/** Close what is settled. Meant to be called once a window.
 *  @param horizon_ns  no burst before this time is expected any more (one that comes is late). In
 *                     silence it closes the last phase as well, once it is more than g after it
 *  @return 0 or -ENOMEM: nothing was closed */
int phases_close(struct phases *phases, int64_t horizon_ns);

/** Closed phases with at least this id, by id.
 *  @param out  room for `room`
 *  @return how many were written */
size_t phases_closed(const struct phases *phases, uint64_t id, struct phase *out, size_t room);

/** What is after the last closed phase, cut by g. Arguments as those of phases_cut_gap(). */
int phases_open(struct phases *phases, struct phase *out, size_t room, size_t *count);

/** Cut by gap.
 *  @param from_ns, to_ns  interval of representative times, both included; items outside it are
 *                         left out of the phases, so the outer ones may be pieces
 *  @param gap_ns          boundaries above it stand
 *  @param out             phases by time; room for `room`
 *  @param count           how many there are, those without room included
 *  @return 0 or -ENOMEM */
int phases_cut_gap(struct phases *phases, int64_t from_ns, int64_t to_ns, int64_t gap_ns,
                   struct phase *out, size_t room, size_t *count);

/** Cut into so many phases, or as many as there are items in the interval.
 *  @param most   at least 1, else -HOLTER_ERANGE
 *  @param out    room for `most`
 *  @param count  how many there are
 *  @return 0, -ENOMEM or -HOLTER_ERANGE */
int phases_cut_count(struct phases *phases, int64_t from_ns, int64_t to_ns, size_t most,
                     struct phase *out, size_t *count);

void phases_count(const struct phases *phases, struct phases_counts *out);

/** Bytes on the heap. */
size_t phases_bytes(const struct phases *phases);

#endif
