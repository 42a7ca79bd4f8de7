/* Phases of a job: temporal clustering of bursts of communication (CommGram, section III-F),
 * online. Each burst has a representative time. Of all neighbouring clusters the two whose times
 * are closest merge, until one is left; of equal gaps the earliest. The time of the new cluster is
 * the plain average of the two, as in the paper (not weighted by sizes), rounded down to a whole
 * nanosecond: rounding errors halve with every merge, so a time is never off by more than 1 ns, and
 * since integers cannot rise or fall by rounding, gaps never shrink and a merge is never below the
 * merges that made its clusters. Merges therefore happen in the order of (height, place), and the
 * tree is described entirely by the height of the boundary between any two neighbours: the gap at
 * which they merged.
 * Early merges. At most `clusters` are live. When there are more, two neighbours merge whose gap is
 * smaller than that on its left and not larger than that on its right: whatever arrives later in
 * order, no merge can precede this one and touch either (the smallest gap of all is such a gap, but
 * not the only one). So for bursts in order the tree is exactly that of a batch, however few
 * clusters are live, unless gaps shrink steadily over all clusters: then the last two merge, which
 * is counted as forced. Gaps of a real program shrink from pauses of a second to messages a
 * microsecond apart, so 32 live clusters are needed for none to be forced (measured on one rank's
 * 911 events: with 14, most are, and cuts are no longer the batch's). Of such gaps the oldest is
 * merged, so that the youngest bursts are still apart when late ones arrive among them, and those
 * too are placed as by a batch. Where clusters have merged already it is too late for that: a late
 * burst within a cluster, or as near to it as the two parts that merged last, joins it (joined);
 * its distance to the nearer neighbour becomes the height there, and no other height changes. When
 * a cut needs it, the live clusters are merged up to the root in a copy: O(clusters). A cut
 * into a number of phases has the highest boundaries, of equal heights the latest: over any
 * interval of representative times, at any time, O(clusters + items x log phases). It is a view: it
 * has no ids, and the heights at its open end change. Online phases are not cuts of the tree, whose
 * heights are distances between means: in a stream without pauses they grow with what has merged,
 * so that a cut of the tree parts it somewhere, and may rather do so than at a pause. An online
 * phase ends where no burst follows for more than a gap g. A stream without such a pause ends when
 * it has lasted `length_ns`, at the widest pause of its second half. What is older than the horizon
 * of phases_close() is
 * - stable, once it is closed: id, begin, end and number of a closed phase, for ever. Its sums grow
 *   only by bursts that arrive late, which are added to the nearest closed phase and counted
 * (late);
 * - not stable: the open end, phases_open(), and all cuts.
 * Boundaries above g do not merge before their phases are closed; when all live gaps are held back
 * in this way, phases are closed without a call of phases_close(), as if no burst could arrive
 * before the newest. The gap g is given, or chosen: at 64 bursts and whenever they have doubled, at
 * least every 4,096, the pauses between about the last 4,096 bursts are sorted, and g is set to the
 * geometric mean of two consecutive ones, if at least three are above it: of the shortest whose
 * ratio is 8 or more, so that a few very long pauses do not hide those of the usual rhythm, or else
 * of those with the largest ratio from 2 up. Pauses count as at least 1 us. A g that lies within
 * that jump already stays; without a jump nothing changes. Until a jump is found, g is its start
 * value, or all is open. Where g has bounds, only the part of a jump that lies between them counts.
 * Whenever g changes, phases that are closed stay as they are. Memory: chunks of 512 items of 56
 * bytes, allocated as needed, for at most `items` of them; 80 bytes a live cluster and 72 a closed
 * phase, allocated with the state. With the defaults at most 170 MB. A day of 32 bursts a second
 * (2,764,800) in order takes 165 MB and stores every merge. When chunks are used up, the lowest
 * heights are folded until a quarter is free, of equal ones the oldest first: finer cuts are lost,
 * coarser ones stay as they were. Bursts that arrive late leave chunks half full, so that folding
 * may begin at three quarters. A cut by count temporarily allocates 16 bytes a phase. Pure: no
 * clock, no file, no socket. Not thread-safe. */
#ifndef HOLTER_DAEMON_ANALYSIS_PHASES_PHASES_H
#define HOLTER_DAEMON_ANALYSIS_PHASES_PHASES_H

#include "daemon/analysis/phases/burst_items.h"
#include "daemon/analysis/tables/state_bytes.h"

#include <stddef.h>
#include <stdint.h>

/** Times must be within this many nanoseconds of 0, on either side. */
#define PHASES_TIME_MAXIMUM (INT64_MAX / 4)

struct phases_params {
    uint32_t clusters; /**< live; 8 to 2^20 */
    uint32_t items;    /**< stored individually; at least 8,192 and four times the clusters */
    uint32_t closed;   /**< phases stored; the oldest are dropped and counted; 1 to 2^20 */
    int64_t gap_ns;    /**< g of the online phases; 0: chosen */
    int64_t length_ns; /**< that online phases have at most; 0: any */
    /** Used only when g is chosen: */
    int64_t gap_start_ns; /**< g until a jump is found; 0: all is open until then */
    int64_t gap_minimum_ns, gap_maximum_ns; /**< bounds of g after its start value; 0: none */
};

#define PHASES_DEFAULTS                                                                            \
    ((struct phases_params){.clusters = 4096, .items = 3000000, .closed = 16384, .gap_ns = 0})

struct phases_counts {
    uint64_t bursts; /**< added */
    uint64_t items;  /**< stored individually */
    uint64_t folded; /**< merges that are no longer stored */
    uint64_t joined; /**< arrived late into a cluster that had merged, or at the time of another */
    uint64_t late;   /**< arrived before the end of the last closed phase */
    uint64_t forced; /**< merges that a later burst might have preceded */
    uint64_t closed; /**< phases, dropped ones included */
    uint64_t forgotten; /**< closed phases that are no longer listed */
    uint32_t clusters;  /**< live now */
    int64_t gap_ns;     /**< g as it is now; INT64_MAX: none found yet */
};

struct phases;

/** @param out  owned by the caller; set on success
 *  @return 0, -ENOMEM, or -HOLTER_ERANGE when a parameter is outside its range or the bounds of g
 *          exclude each other */
int phases_create(struct phases **out, const struct phases_params *params);
void phases_destroy(struct phases *phases);

/** Adds one burst, in any order; cheap near the end. O(clusters after it + log items).
 *  @param burst  copied; first_ns <= time_ns <= last_ns
 *  @return 0, -HOLTER_ERANGE for times outside their range, or -ENOMEM: the burst was not added */
int phases_add(struct phases *phases, const struct burst *burst);

/** Id of the closed phase that the newest burst was added to, as it came late. @return 0: none */
uint64_t phases_late(const struct phases *phases);

/** Closes the phases whose boundaries are final. Meant to be called once a window.
 *  @param horizon_ns  no burst before this time is expected any more (one that arrives is late).
 * During silence it closes the last phase as well, once it is more than g after it
 *  @return 0 or -ENOMEM: nothing was closed */
int phases_close(struct phases *phases, int64_t horizon_ns);

/** Closed phases with at least this id, ordered by id.
 *  @param out  at most `capacity` are written
 *  @return how many were written */
size_t phases_closed(const struct phases *phases, uint64_t id, struct phase *out, size_t capacity);

/** What is after the last closed phase, as phases that would be closed if no burst came any more.
 *  @param out  at most `capacity` are written
 *  @return how many there are, those not written included */
size_t phases_open(const struct phases *phases, struct phase *out, size_t capacity);

/** Cuts into a number of phases, or as many as there are items in the interval.
 *  @param from_ns, to_ns  interval of representative times, both included; items outside it are
 *                         left out of the phases, so the outer ones may be pieces
 *  @param maximum   at least 1, else -HOLTER_ERANGE
 *  @param out    capacity for `maximum`
 *  @param count  how many there are
 *  @return 0, -ENOMEM or -HOLTER_ERANGE */
int phases_cut_count(struct phases *phases, int64_t from_ns, int64_t to_ns, size_t maximum,
                     struct phase *out, size_t *count);

void phases_count(const struct phases *phases, struct phases_counts *out);

/** See state_bytes.h. */
void phases_copy_state(struct state_bytes *b, struct phases **phases);

#endif
